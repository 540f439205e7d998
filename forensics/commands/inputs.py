"""Input of commands: evidence, or a case that was made from it, with the same rows for both.

Here: which of the two the paths are, and how each gives the rows that a command shows. Not here: the reading of evidence (evidence), a
case's files (forensics.case), or the commands.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from forensics import rule_files
from forensics.commands.evidence import (
    InvalidInput,
    Opened,
    Progress,
    chosen_cluster,
    clocks,
    given_clocks,
    limits,
    log_patterns,
    open_evidence,
    pattern_files,
    reading_words,
)
from forensics.commands.tables import local_tables
from parsers.cached import cached_property

if TYPE_CHECKING:
    import pyarrow as pa

    from forensics.case.read import Case
    from forensics.case.write import Origin
    from forensics.incidents.judging import Asked, Conclusion
    from forensics.model.clock.resolver import EventResolver
    from forensics.model.cluster.facts import Cluster, Measure
    from forensics.tools.ordered_records import RecordFilter, Show
    from forensics.views.proof import Proof
    from forensics.views.story.step import Wanted as OfStory
    from spark.ipc import Packed
    from spark.pipeline import Change, Identified, SparkEvents

CASES = "forensics.cases"
"""In the context: the cases that were given."""
LOAD_METRICS = "load-metrics"
"""Kind of the sources with load measured by the user."""


class Input(ABC):
    """The data collected about a cluster, and the rows of its partitions."""

    def __init__(self, paths: Sequence[str], cluster: Cluster, resolver: EventResolver) -> None:
        self.paths, self.cluster, self.resolver = paths, cluster, resolver
        self.words: tuple[str, ...] = tuple(paths)
        """The input, and the options for reading it, as words of a command."""
        """Paths in the form in which they may be shown: without secrets in a URI."""
        self.to_keep = False
        """Whether a case will be made: then partitions are judged once, for the report and for the case."""

    @abstractmethod
    def measure(self) -> None:
        """Adds the user's load metrics to the cluster."""

    @abstractmethod
    def conclusion(self, asked: Asked | None) -> Conclusion:
        """All results; of the results in partitions, only the requested ones."""

    @abstractmethod
    def proven_story(self, topic: str, partition: int, wanted: OfStory) -> tuple[list[dict[str, Any]], Proof | None]:
        """Rows of STORY of one partition, oldest incarnation of the topic first; and the proof of its verdict, if it has a verdict."""

    @abstractmethod
    def partitions(self) -> set[tuple[str, int]]:
        """Names of the partitions with events."""

    @abstractmethod
    def judged(self) -> tuple[list[dict[str, Any]], Conclusion]:
        """Rows of forensics.model.cluster.final_state.SCHEMA and all results, at once."""

    @abstractmethod
    def compared(self, topics: Sequence[str], partitions: Sequence[int], before: Input | None, *, everything: bool) -> list[dict[str, Any]]:
        """Rows of forensics.tools.checkpoint_diff.SCHEMA."""

    @abstractmethod
    def merged(self, wanted: RecordFilter, show: Show, *, stated: bool) -> Iterator[str]:
        """Log records in order of time, displayed form; with their events only if `stated`."""


class EvidenceInput(Input):
    """Read by Spark."""

    def __init__(self, opened: Opened) -> None:
        from forensics.case.write import told_options
        from parsers.containers.storage import without_secrets

        super().__init__([without_secrets(path) for path in opened.paths], opened.cluster, opened.resolver)
        self.opened = opened
        self.words += reading_words(told_options(opened.options, log_patterns(), limits(), pattern_files()))

    def _identified(self, change: Change | None = None) -> Identified:
        from forensics.jobs import identified

        return identified(self.opened.events, self.resolver, self.cluster, change)

    def measure(self) -> None:
        self.cluster.measures = measures_of(self.opened.events, self.resolver, self.cluster)

    def conclusion(self, asked: Asked | None) -> Conclusion:
        from forensics.incidents.judging import VERDICTS, conclude, judge_partition
        from forensics.jobs import verdicts
        from forensics.words.rows import Worded

        if self.to_keep:
            return conclude((rows.select(VERDICTS.names) for rows in self._rows.batches()), self.cluster, asked)
        return conclude(verdicts(self._identified(), self.cluster, Worded(judge_partition), VERDICTS).on_driver(), self.cluster, asked)

    def proven_story(self, topic: str, partition: int, wanted: OfStory) -> tuple[list[dict[str, Any]], Proof | None]:
        from forensics.jobs import verdicts
        from forensics.views.story.assembly import PROVEN, proven
        from forensics.views.story.step import in_order

        own = self._identified(partial(of_places, topics=(topic,), partitions=(partition,)))
        rows = verdicts(own, self.cluster, partial(proven, wanted=wanted), PROVEN, ways=1).table()
        return in_order(rows["story"].drop_null().to_pylist()), next(iter(rows["proof"].drop_null().to_pylist()), None)

    def partitions(self) -> set[tuple[str, int]]:
        return self._identified().partitions()

    def judged(self) -> tuple[list[dict[str, Any]], Conclusion]:
        from forensics.incidents.judging import AND_STANDING, VERDICTS, conclude, judge_and_standing
        from forensics.jobs import verdicts
        from forensics.words.rows import Worded

        rows = verdicts(self._identified(), self.cluster, Worded(judge_and_standing), AND_STANDING).table()
        return rows["standing"].drop_null().to_pylist(), conclude(rows.select(VERDICTS.names).to_batches(), self.cluster)

    def compared(self, topics: Sequence[str], partitions: Sequence[int], before: Input | None, *, everything: bool) -> list[dict[str, Any]]:
        from forensics.jobs import verdicts
        from forensics.tools.checkpoint_diff import SCHEMA, as_before, comparison
        from spark.pipeline import identified

        chosen = partial(of_places, topics=topics, partitions=partitions)
        other = before.opened if isinstance(before, EvidenceInput) else None
        events = identified(self.opened.events, self.resolver, chosen, like=other.events if other is not None else None)
        if other is not None:
            files = identified(other.events, other.resolver, lambda rows: as_before(chosen(rows)), like=self.opened.events)
            events = events.union(files)
        judge = comparison(self.cluster, before.cluster if before is not None else None, everything=everything)
        return verdicts(events, self.cluster, judge, SCHEMA).table().to_pylist()  # type: ignore[no-any-return]

    def merged(self, wanted: RecordFilter, show: Show, *, stated: bool) -> Iterator[str]:
        from forensics.jobs import record_text
        from forensics.tools.ordered_records import merger

        reading = merger(self.cluster, self.resolver, wanted, log_patterns(), stated=stated)
        return record_text(self.opened.session, self.opened.units, reading, show)

    def keep(self, directory: Path, progress: Progress, command: Sequence[str] | None = None, *, replace: bool = False) -> None:
        """Writes a case. `command` as in forensics.case.run.write_run; `replace`: an existing one. Raises OSError."""
        from forensics.case.run import write_run
        from forensics.case.write import Origin
        from forensics.output.files import whole_directory

        origin = Origin(self.paths, ("analyze", *self.words), self.opened.options, log_patterns(), limits(), pattern_files())
        weights, self.cluster.weights = self.cluster.weights, {}  # they are of one report, and not of the case
        try:
            with whole_directory(directory, replace=replace) as to:
                self.write(to, origin, self.records(), progress)
                write_run(to, command)
        finally:
            self.cluster.weights = weights

    @cached_property
    def _rows(self) -> Packed:
        """Rows of forensics.case.judge.ROW, which Spark keeps."""
        from forensics.case.judge import ROW, judge
        from forensics.jobs import verdicts

        self.measure()
        rows = verdicts(self._identified(), self.cluster, judge(self.cluster), ROW)
        rows.keep()
        return rows

    def records(self) -> Iterator[pa.RecordBatch]:
        """All log records in order of time, rows of forensics.tools.ordered_records.KEPT."""
        from forensics.jobs import sorted_records
        from forensics.tools.ordered_records import merger

        return sorted_records(self.opened.session, self.opened.units, merger(self.cluster, self.resolver, None, log_patterns()))

    def write(self, to: Path, origin: Origin, records: Iterator[pa.RecordBatch], progress: Progress) -> Conclusion:
        """Writes a case's tables into a directory, and returns the results."""
        from forensics.case.write import write

        with progress.stage("Judging partitions") if "_rows" not in vars(self) else nullcontext():
            rows = self._rows
        try:
            with progress.stage("Writing the case"):
                return write(to, origin, self.opened.cluster_events(), self.cluster, self.resolver, rows.batches(), records)
        finally:
            rows.forget()
            del self._rows


class CaseInput(Input):
    """Read from the tables, without Spark."""

    def __init__(self, case: Case) -> None:
        super().__init__(case.paths, case.cluster, case.resolver)
        rule_files.put_in_force(case.rules)
        self.words += reading_words(case.manifest["options"])
        self.case = case

    def measure(self) -> None:
        self.cluster.measures = self.case.measures()

    def conclusion(self, asked: Asked | None) -> Conclusion:
        return self.case.conclusion(asked)

    def proven_story(self, topic: str, partition: int, wanted: OfStory) -> tuple[list[dict[str, Any]], Proof | None]:
        return self.story(topic, partition, wanted), self.case.proof(topic, partition)

    def story(self, topic: str, partition: int, wanted: OfStory) -> list[dict[str, Any]]:
        """Rows of STORY of one partition, oldest incarnation of the topic first."""
        from itertools import groupby

        from forensics.views.story.narration import narrated
        from forensics.views.story.step import in_order, steps_of

        found: list[dict[str, Any]] = []
        for (cluster, generation), own in groupby(self.case.steps(topic, partition), key=lambda r: (r["cluster"], r["generation"])):
            steps = list(own)
            incarnation = {"cluster": cluster, "generation": generation, "topic_id": steps[0]["topic_id"]}
            found.extend({**row, **incarnation, "number": n} for n, row in enumerate(narrated(steps_of(steps), wanted)))
        return in_order(found)

    def offsets(self, topic: str, partition: int) -> list[dict[str, Any]]:
        """Rows of the table `offsets`."""
        return self.case.offsets(topic, partition)

    def around(self, places: Collection[tuple[str, int]], reach: int) -> dict[tuple[str, int], list[tuple[int, str]]]:
        """The log records at these lines of these sources, with the records before and after."""
        return self.case.around(places, reach)

    def partitions(self) -> set[tuple[str, int]]:
        return self.case.partitions()

    def judged(self) -> tuple[list[dict[str, Any]], Conclusion]:
        return self.case.standing(), self.case.conclusion(None)

    def compared(self, topics: Sequence[str], partitions: Sequence[int], before: Input | None, *, everything: bool) -> list[dict[str, Any]]:
        from forensics.tools.checkpoint_diff import brief

        rows = self.case.checkpoints()
        chosen = (r for r in rows if (not topics or r["topic"] in topics) and (not partitions or r["partition"] in partitions))
        return [dict(r if everything else brief(r)) for r in chosen]

    def merged(self, wanted: RecordFilter, show: Show, *, stated: bool) -> Iterator[str]:
        from forensics.tools.ordered_records import blocks

        if not self.case.with_records:
            raise InvalidInput(
                f"{self.case.directory}: the audit was made with --no-records and has no log lines; run `audit` again without --no-records and with --force"
            )
        return blocks(self.case.records(wanted, stated=stated), show)


@contextmanager
def in_case(found: Input, progress: Progress) -> Iterator[CaseInput]:
    """The given case, or a temporary case made from the evidence. Raises OSError."""
    from forensics.case.read import Case

    if isinstance(found, CaseInput):
        yield found
        return
    assert isinstance(found, EvidenceInput)
    with TemporaryDirectory(prefix="kafka-forensics-") as directory:
        path = Path(directory) / "of-a-report.case"
        found.keep(path, progress)
        yield CaseInput(Case(path))


def of_places(rows: pa.Table, topics: Sequence[str], partitions: Sequence[int]) -> pa.Table:
    """Events of these topics and partitions; of all, if none are named."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if topics:
        rows = rows.filter(pc.is_in(rows["topic"], pa.array(topics, pa.string())))
    return rows.filter(pc.is_in(rows["partition"], pa.array(partitions, pa.int32()))) if partitions else rows


def measures_of(events: SparkEvents, resolver: EventResolver, cluster: Cluster) -> Sequence[Measure]:
    """Means of the user's load metrics; a separate Spark job, run only if the evidence has such metrics."""
    if not any(s.kind == LOAD_METRICS for s in cluster.sources):
        return ()
    from forensics.model.cluster.balance import MEASURES, measures, sums
    from spark.pipeline import unplaced

    return measures(unplaced(events, resolver, sums, MEASURES).table().to_pylist())


def open_input(
    paths: Sequence[str],
    progress: Progress,
    *,
    keep: bool = True,
) -> Input:
    """Evidence, a case or a cluster of an audit. Raises Unusable if none can be used. `keep` as in open_evidence."""
    from forensics.audit.audited import is_audit
    from forensics.case.read import is_case
    from parsers.limits import DEFAULTS

    if chosen_cluster() is not None:
        paths = [str(local_tables(path)[0]) for path in paths]
    kept = [path for path in paths if is_case(Path(path)) or is_audit(Path(path))]
    if not kept:
        if chosen_cluster() is not None:
            raise InvalidInput(f"{paths[0]}: --cluster needs the tables of an audit, and this is evidence; leave out --cluster")
        return EvidenceInput(open_evidence(paths, progress, keep=keep))
    if len(paths) > 1:
        raise InvalidInput(f"{kept[0]}: give either one case or evidence paths, not both")
    if given_clocks() != clocks(None, ()) or log_patterns() or pattern_files() or rule_files.in_force() or limits() != DEFAULTS:
        raise InvalidInput(
            f"{paths[0]}: --timezone, --clock-offset, --log-pattern, --patterns, --rules and --limit apply to evidence, and this is a case; give the evidence instead"
        )
    return open_case(paths[0])


def open_case(path: str) -> CaseInput:
    """A case, or the cluster of an audit that --cluster names. Raises Unusable if the path is neither."""
    return CaseInput(kept_case(Path(path)))


def kept_case(path: Path, *, of_one: bool = False, tolerant: bool = False) -> Case:
    """The same without loading the cluster again. `of_one`: --cluster is meant for another path, and is ignored if this is the case of one
    cluster. `tolerant` as in Case."""
    from forensics.audit.audited import Audit, is_audit
    from forensics.case.read import Case, is_case

    cluster = chosen_cluster()
    if (context := click.get_current_context(silent=True)) is not None:
        context.meta.setdefault(CASES, []).append(path)
    if is_audit(path):
        audit = Audit(path)
        if cluster is None:
            raise InvalidInput(f"{path}: the audit has {len(audit.clusters)} clusters; choose one with --cluster NAME")
        return audit.case(cluster, tolerant=tolerant)
    if not is_case(path):
        what = "this is not a case" if path.exists() else "no such directory"
        raise InvalidInput(f"{path}: {what}; give a case, which `kafka-forensics analyze PATH --case DIR` makes")
    if cluster is not None and not of_one:
        raise InvalidInput(f"{path}: --cluster needs the tables of an audit, and this is the case of one cluster; leave out --cluster")
    return Case(path, tolerant=tolerant)

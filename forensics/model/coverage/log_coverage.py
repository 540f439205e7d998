"""Proofs by a missing line: since when a broker's logs were collected, which lines they contain, and which premises about them do not hold.

Silence is evidence only if the line would be there: the log covers the time, the logger prints at INFO in that run of the broker, no line
is missing or cut off, lines are sorted by time and the clock did not step. `would_show` alone decides that, and gives the reason if it
would not, so that the report can say what to collect. Nothing else says that a file would show something.

Which loggers print is learned from the lines of each run, by lines that occur together: a broker that takes up a replica has loaded or
created its log (measured over 450 runs of recorded brokers, 0.8.2 to 4.3).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime, timedelta
from itertools import pairwise

from forensics.model.clock.shared_logs import rolled_from, rolled_logs
from forensics.model.clock.sources import Source
from forensics.model.cluster.facts import Cluster, cached_on_cluster
from forensics.model.events import Event
from forensics.model.findings import Finding
from forensics.model.message import Message, said
from forensics.model.partition.replicas import Replica
from forensics.model.partition.states import Gap, State
from forensics.model.partition.timeline import PartitionTimeline, cached_on_timeline
from forensics.model.presence.availability import is_own_log_line
from forensics.model.settings.versions import versions
from forensics.model.times import grouped, is_later, not_after, undated_first
from forensics.thresholds import MAX_CLOCK_STEPS, MIN_FILTERED_BY_LEVEL, MIN_FILTERED_BY_WORD, MIN_SKEW_MS, TIME_PRECISION
from parsers.cached import cached_property
from parsers.frozen import dataclass
from parsers.kinds import By, Role, named, of

LOG, PARTITION, REPLICA, FETCHER, PROCESS, STATE = "log", "partition", "replica", "fetcher", "process", "state"
"""Facets of parsers.patterns.facets."""
ORDER, CLOCK, COMPLETE, READ = "order", "clock", "complete", "read"
"""Premises of a broker's logs: lines are sorted by time, the clock did not step, no line is missing or cut off, all were read."""
PLACED = (ORDER, CLOCK, READ)
"""Premises of the place of a line among others."""
_PREMISES = (*PLACED, COMPLETE)
_REGISTRATIONS = of(role=Role.REGISTERED) | named("broker-epoch-known")
_BEGINS = of(role=Role.BEGINS, by=By.BROKER)
_OF_A_START = _BEGINS | of(role=Role.MARKER) | named("broker-started", "controller-thread", "process-starting", "broker-state")
"""Lines that a process prints only at its start."""
_CREATES_LOG = named("log-created", "hw-loaded", "hw-missing")
PARTITION_ALWAYS_PRINTS = (0, 9)
"""From this version on every broker prints INFO lines of kafka.cluster.Partition as it takes up its replicas."""
ALWAYS_LOADED = (2, 4)
"""From this version on every log that is taken up has a line about its first high watermark."""
_ISR_CHANGES = of(role=Role.ISR_INTENT | Role.ISR, by=By.LEADER)
_WITHOUT_THE_LOG = frozenset({"state-change-log", "controller-log", "log-cleaner-log", "request-log", "authorizer-log", "gc-log"})
"""Kinds of log files in which kafka.log and kafka.cluster.Partition do not print."""
_LOGGERS = {
    LOG: "kafka.log",
    PARTITION: "kafka.cluster.Partition",
    FETCHER: "kafka.server.ReplicaFetcherManager",
    PROCESS: "kafka.server.KafkaServer",
    STATE: "state.change.logger",
}
_FACETS = (*_LOGGERS, REPLICA)


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a broker's process, and the facets without INFO lines in it."""

    begin: datetime
    end: datetime
    silent: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Answer:
    """True if a line would be in the evidence, and trusted; else with the reason that decides."""

    why_not: Message | None = None

    def __bool__(self) -> bool:
        return self.why_not is None


SHOWN = Answer()


@dataclass(frozen=True)
class LogCoverage:
    """The coverage by one broker's logs: whether the absence of a line proves anything."""

    broker: int
    begin: datetime | None = None
    """Since when its logs are there without a gap; None: no log with lines about its partitions was collected."""
    states_begin: datetime | None = None
    """The same for its logs with lines of state.change.logger, which may be files of their own."""
    runs: tuple[Run, ...] = ()
    failed: Mapping[str, Message] = field(default_factory=dict)
    """Premises that do not hold, each with the reason."""

    end: datetime | None = None
    """The time of its last line that shows that its process ran."""

    def would_show(self, *statement: str, since: datetime | None = None, until: datetime | None = None) -> Answer:
        """As the function."""
        at_no_time, facets, begin = self._of(statement)
        if at_no_time is not None:
            return at_no_time
        if is_later(begin, since):
            return Answer(said("coverage/begins-later", broker=self.broker, at=begin if begin < datetime.max else None))
        if facets and is_later(until, self.end):
            return Answer(said("coverage/ends-before", broker=self.broker, at=self.end))
        silent = self._silent(facets, since, until) if self._silent_runs else None
        return Answer(said("coverage/silent", logger=_LOGGERS[silent], broker=self.broker)) if silent is not None else SHOWN

    def _of(self, statement: tuple[str, ...]) -> tuple[Answer | None, Sequence[str], datetime | None]:
        """The answer if it is the same for all times, the facets of the statement, and since when the logs cover all of them. Hundreds of
        thousands of questions have a few dozen different statements."""
        if statement not in self._known:
            facets = [one for one in statement if one not in _PREMISES]
            begins = [self.states_begin if facet == STATE else self.begin for facet in facets]
            rests_on = (COMPLETE, READ, *statement) if facets or COMPLETE in statement else statement
            why_not = next((self.failed[premise] for premise in rests_on if premise in self.failed), None)
            if None in begins:
                why_not = said("coverage/server-log", broker=self.broker)
            begin = max((at for at in begins if at is not None), default=None)
            self._known[statement] = (Answer(why_not) if why_not is not None else None, facets, begin)
        return self._known[statement]

    @cached_property
    def _known(self) -> dict[tuple[str, ...], tuple[Answer | None, Sequence[str], datetime | None]]:
        return {}

    @cached_property
    def reasons(self) -> list[Message]:
        """Why silence in these logs proves nothing."""
        quiet = dict.fromkeys(facet for run in self.runs for facet in sorted(run.silent & _LOGGERS.keys()))
        return [*self.failed.values(), *(said("coverage/silent", logger=_LOGGERS[facet], broker=self.broker) for facet in quiet)]

    def _silent(self, facets: Sequence[str], since: datetime | None, until: datetime | None) -> str | None:
        """The first of these facets of which a run between the two times prints no lines."""
        runs = [r for r in self._silent_runs if (since is None or r.end >= since) and (until is None or r.begin <= until)]
        return next((facet for facet in facets if any(facet in run.silent for run in runs)), None)

    @cached_property
    def _silent_runs(self) -> Sequence[Run]:
        return [run for run in self.runs if run.silent]


def log_coverage(broker: int | None, cluster: Cluster) -> LogCoverage:
    """The coverage of one broker's logs; if nothing was collected from a broker, no time is covered."""
    return _coverages(cluster).get(-1 if broker is None else broker) or LogCoverage(-1 if broker is None else broker)


@cached_on_cluster
def _coverages(cluster: Cluster) -> dict[int, LogCoverage]:
    return {broker: _coverage(broker, cluster) for broker in sorted({b for s in cluster.sources for b in s.nodes})}


def _coverage(broker: int, cluster: Cluster) -> LogCoverage:
    logs = _logs(broker, cluster)
    own = [s for s in logs if s.kind not in _WITHOUT_THE_LOG]
    node = cluster.nodes.get(broker)  # none in a cluster that does not occur in its logs
    known = node.collections if node is not None else ()
    others = sorted({s.collection for s in own} - {*known})  # a log of several brokers is in the collection of one
    begin, states_begin = (_reach_back(of, (*known, *others)) if of else None for of in (own, [s for s in logs if s.printed.get(STATE)]))
    runs, end = tuple(_runs(broker, logs, cluster)), cluster.last_line(broker)
    return LogCoverage(broker, begin, states_begin, runs, _failed(broker, logs, cluster), end)


def _logs(broker: int, cluster: Cluster) -> list[Source]:
    return [s for s in cluster.sources_of(broker) if s.kind.endswith("-log") and s.lines]


def _reach_back(logs: Sequence[Source], collections: Sequence[str]) -> datetime:
    """Since when a broker's logs are there without a gap: those of an earlier collection count if they reach the first line of the
    later. Logs without any time reach nowhere."""
    begin = datetime.max
    for collection in reversed(collections):
        own = [(s.first, s.last or datetime.max) for s in logs if s.collection == collection and s.first is not None]
        if any(last >= begin for _, last in own) or begin == datetime.max:
            begin = min([begin, *(first for first, _ in own)])
    return begin


# loggers that do not print


def _runs(broker: int, logs: Sequence[Source], cluster: Cluster) -> Iterable[Run]:
    """The runs of a broker that did not fail to start, by its starts."""
    node = cluster.nodes.get(broker)
    starts = [(run.begin_at, run.outcome) for run in node.runs if run.begin_at is not None] if node is not None else []
    failed = {at for at, outcome in starts if outcome == "failed"}
    anywhere = _printed_anywhere(broker, logs, cluster)
    times = {facet: [at for s in logs for _, at in s.printed.get(facet, ())] for facet in _FACETS}
    undated = {facet for facet, own in times.items() if None in own}
    dated = {facet: sorted(at for at in own if at is not None) for facet, own in times.items()}
    for begin, end in pairwise((datetime.min, *sorted(at for at, _ in starts), datetime.max)):
        printed = undated | {facet for facet, own in dated.items() if bisect_left(own, begin) < bisect_left(own, end)}
        if begin not in failed and printed:
            yield Run(begin, end, frozenset(_silent(printed, anywhere)))


def _printed_anywhere(broker: int, logs: Sequence[Source], cluster: Cluster) -> set[str]:
    """Facets with lines in any run, or that need none."""
    anywhere = {facet for facet in _FACETS if any(s.printed.get(facet) for s in logs)}
    if REPLICA in anywhere or any(v < PARTITION_ALWAYS_PRINTS for v in versions(cluster, broker, None)):
        anywhere.add(PARTITION)
    return anywhere


def _silent(printed: Collection[str], anywhere: Collection[str]) -> Iterable[str]:
    """Facets that print nothing although they should. A broker that takes up a replica has loaded or created its log. A broker with
    fetchers has replicas, so kafka.log and kafka.cluster.Partition print. A log with lines of neither kafka.log nor the process was
    filtered."""
    replicas = REPLICA in anywhere or PROCESS not in anywhere or (FETCHER in anywhere and PARTITION not in anywhere)
    if LOG not in printed and (REPLICA in printed or (LOG not in anywhere and replicas)):
        yield LOG
    if PROCESS not in anywhere and (LOG not in anywhere or (FETCHER in anywhere and PARTITION not in anywhere)):
        yield PROCESS
    if PARTITION not in anywhere and LOG not in anywhere and FETCHER in anywhere:
        yield PARTITION  # one of them alone may have had no reason to print
    if STATE not in anywhere:
        yield STATE


# premises about lines


def _failed(broker: int, logs: Sequence[Source], cluster: Cluster) -> dict[str, Message]:
    found: dict[str, Message] = {}
    for s in logs:
        joined = bool(s.parts and s.steps_back)
        if joined or s.unsorted or (s.descents > s.ascents and s.ascents + s.descents > MAX_CLOCK_STEPS):
            found.setdefault(ORDER, said("coverage/unsorted", path=s.path))
        elif s.steps_back and s.shared:
            size = s.largest_step_back.total_seconds()
            found.setdefault(ORDER, said("coverage/shared", brokers=tuple(s.shared), path=s.path, seconds=size))
        elif s.steps_back:
            found.setdefault(CLOCK, said("coverage/steps-back", path=s.path, seconds=s.largest_step_back.total_seconds()))
    if broker in cluster.nodes and cluster.nodes[broker].clock.conflict:
        found.setdefault(CLOCK, said("coverage/clocks-contradict", broker=broker))
    of_all = [s for s in logs if s.kind not in _WITHOUT_THE_LOG and {*s.printed} != {STATE}]
    if of_all and not any(s.informed for s in logs):
        found.setdefault(COMPLETE, said("coverage/filtered-by-level", path=of_all[0].path, more=len(of_all) - 1 or None, files=len(of_all)))
    if denied_error(broker, cluster) is not None:
        found.setdefault(CLOCK, said("coverage/error-denied", broker=broker))
    if (other := doubtful_reference(broker, cluster)) is not None:
        found.setdefault(CLOCK, said("coverage/doubtful-reference", broker=broker, other=other))
    if differing := [s.path for s in logs if s.path in cluster.copies.differing]:
        found.setdefault(CLOCK, said("coverage/copies-differ", path=differing[0]))
    for _, (premise, reason) in _lacking(logs, cluster):
        found.setdefault(premise, reason)
    if missing := _rolled_together(cluster).get(broker) or _unregistered(broker, cluster) or _half_a_start(broker, cluster):
        found.setdefault(COMPLETE, missing)
    return found


def doubtful_reference(node: int, cluster: Cluster) -> int | None:
    """A node by whose lines the error of this node's clock was measured, if its clock was set back, or lines of one of the two are out of
    order: it may be no error of this clock."""
    clock = cluster.nodes[node].clock if node in cluster.nodes else None
    if clock is None or abs(clock.skew_ms) < MIN_SKEW_MS or clock.basis == "given":
        return None
    logs = ((n, s) for n in (node, *clock.compared) for s in cluster.sources_of(n))
    return next((n for n, s in logs if s.unsorted or (s.clock_set_back and n != node)), None)


def denied_error(node: int, cluster: Cluster) -> tuple[Event, int] | None:
    """The last line in which a process of the node printed the time in UTC by the clock whose error was estimated, and the error in ms by
    that line, if that is nearer to none: one clock gave both times of the line, so lines and error are of other zones or were moved."""
    skew = cluster.nodes[node].clock.skew_ms if node in cluster.nodes else 0
    e = next((e for e in reversed(cluster.of("start-time")) if e.writer == node and e.at is not None and e.count is not None), None)
    if abs(skew) < MIN_SKEW_MS or e is None or e.at is None or e.count is None:
        return None
    apart = e.count - round((e.at - datetime(1970, 1, 1)).total_seconds() * 1000)
    return (e, apart) if abs(apart) < abs(apart - skew) else None


@cached_on_cluster
def lacking(cluster: Cluster) -> dict[str, tuple[str, Message]]:
    """Logs with missing lines, by path: the premise that does not hold, and the reason. A log of the same broker and hours from which none
    are missing makes up for them: often a log was collected as a file, and a part of it once more as an export."""
    return {s.path: flaw for broker in _coverages(cluster) for s, flaw in _lacking(_logs(broker, cluster), cluster)}


def _lacking(logs: Sequence[Source], cluster: Cluster) -> Iterator[tuple[Source, tuple[str, Message]]]:
    flaws = {s.path: flaw for s in logs if (flaw := _flaw(s, cluster)) is not None}
    flawed = {_log_of(s) for s in logs if s.path in flaws}
    whole = [s for s in logs if _log_of(s) not in flawed]
    covers = any(s.kind not in _WITHOUT_THE_LOG for s in whole)
    begin = min((s.first for s in whole if s.first is not None), default=datetime.max)
    end = max((s.last for s in whole if s.last is not None), default=datetime.min)
    for s in logs:
        covered = (
            covers and s.first is not None and s.last is not None and begin <= s.first + TIME_PRECISION and s.last - TIME_PRECISION <= end
        )
        if s.path in flaws and not covered:
            yield s, flaws[s.path]


def _flaw(log: Source, cluster: Cluster) -> tuple[str, Message] | None:
    """The premise that does not hold for a log with missing lines, and the reason."""
    if log.cut_at is not None:
        return COMPLETE, said("coverage/cut", path=log.path, characters=log.cut_at)
    if log.suppressed:
        return COMPLETE, said("coverage/rate-limit", messages=log.suppressed, path=log.path)
    if filtered := filtered_files(cluster).get(log.path.partition("#")[0]):
        return COMPLETE, filtered
    return (READ, said("coverage/not-read", path=log.path, problem=log.problem)) if log.problem else None


def _log_of(part: Source) -> str:
    """The log that a file is a part of: rolled files are one log."""
    return rolled_from(part.path.partition("#")[0])


@cached_on_cluster
def filtered_files(cluster: Cluster) -> dict[str, Message]:
    """Files that hold a log of a broker, or an export of many, whose lines were filtered, each with the reason. A file without loggers that
    print all sorts of lines shows nothing. Rolled files are one log: in a quiet hour, all lines may be of one kind."""
    logs = grouped(
        (_log_of(s), s)
        for s in cluster.sources
        if s.kind.endswith("-log") and s.lines and s.layout is None and (s.node is not None or s.shared)
    )
    found: dict[str, Message] = {}
    for own in logs.values():
        files = sorted({s.path.partition("#")[0] for s in own})
        if (reason := _filter_of(own, files)) is not None:
            found |= dict.fromkeys(files, reason)
    return found


def _filter_of(log: Sequence[Source], files: Sequence[str]) -> Message | None:
    """How the lines of a log were filtered; None if nothing shows that they were."""
    words = [word for word in log[0].common_words if all(word in s.common_words for s in log)]
    of_one_logger = all(s.kind in _WITHOUT_THE_LOG for s in log) or {facet for s in log for facet in s.printed} == {STATE}
    lines = 0 if of_one_logger else sum(s.lines or 0 for s in log)
    more = len(files) - 1 or None
    if lines >= MIN_FILTERED_BY_LEVEL and not any(s.informed for s in log):
        return said("coverage/filtered-by-level", path=files[0], more=more, files=len(files))
    if lines >= MIN_FILTERED_BY_WORD and words:
        return said("coverage/filtered-by-word", path=files[0], more=more, files=len(files), word=words[0])
    return None


@cached_on_cluster
def _rolled_together(cluster: Cluster) -> dict[int, Message]:
    """Brokers that roll their log together with other brokers. Before an appender renames its file to that of the hour, it deletes a file
    of that name (DailyRollingFileAppender#rollOver in log4j): the file that another process has just rolled, or still writes to."""
    logs = sorted(
        rolled_logs({s.path: s.nodes for s in cluster.sources if s.kind.endswith("-log")}), key=lambda log: log.name, reverse=True
    )
    shared = (log for log in logs if len(log.files) > 1 and len(log.writers) > 1)
    return {b: said("coverage/rolled-together", brokers=log.writers, path=log.name) for log in shared for b in log.writers}


def _unregistered(broker: int, cluster: Cluster) -> Message | None:
    """Every registration of a broker gets a broker epoch that is higher than all before (KIP-380, KIP-631). If others name an epoch that
    the broker's own log lacks, though the log begins earlier, lines are missing there."""
    own = {e.broker_epoch for e in cluster.of("broker-registered") if e.writer == broker == e.broker and e.broker_epoch is not None}
    heard = {e.broker_epoch for e in cluster.of(*_REGISTRATIONS) if e.broker == broker and e.broker_epoch is not None}
    missing = sorted(epoch for epoch in heard - own if own and epoch > min(own))
    return said("coverage/unregistered", broker=broker, broker_epoch=missing[0]) if missing else None


def _half_a_start(broker: int, cluster: Cluster) -> Message | None:
    """The log has lines that only a start prints, but not the first line of that start."""
    running = fresh = False
    for e in sorted(
        cluster.of(*_OF_A_START), key=lambda e: (undated_first(e), e.event not in _BEGINS)
    ):  # other files may have the same time
        if e.writer != broker or e.line is None:
            continue
        if e.event == "process-starting":
            fresh = True
        elif e.event in _BEGINS or (e.event == "broker-state" and e.reason == "STARTING"):
            running = fresh = False
        elif running and not (e.event == "controller-thread" and fresh) and e.event != "broker-state":
            return said("coverage/half-a-start", broker=broker, at=e.at)
        running = running or e.event == "broker-started"
    return None


# conclusions for a partition


def would_show(
    broker: int | None,
    cluster: Cluster,
    *statement: str,
    since: datetime | None = None,
    until: datetime | None = None,
    of: PartitionTimeline | None = None,
) -> Answer:
    """Whether a line of the broker between the two times would be in the evidence. `statement`: the facets of the line, and the premises
    about the broker's logs on which the conclusion rests; facets rest on COMPLETE, and what is COMPLETE was READ. `of`: the line is about
    this partition."""
    shown = log_coverage(broker, cluster).would_show(*statement, since=since, until=until)
    if shown and of is not None and broker in _with_missing_lines(of, cluster):
        return Answer(said("coverage/lines-missing", broker=broker))
    return shown


def changes_wanted(gap: Gap, cluster: Cluster) -> Message:
    """What would show the changes of a partition's state between two others."""
    if cluster.mode == "kraft":
        return said("coverage/metadata-log")
    replicas = {b for s in (gap.before, gap.after) for b in (*s.isr, *(s.replicas or ()))}
    brokers = sorted(replicas.union(n for n, node in cluster.nodes.items() if node.broker))
    since, until = gap.before.at or datetime.min, gap.after.at
    lacking = tuple(b for b in brokers if not would_show(b, cluster, STATE, since=since, until=until))
    return said("coverage/state-changes", brokers=lacking) if lacking else said("coverage/no-log")


def elections_recorded(until: datetime | None, cluster: Cluster) -> bool:
    """The metadata log was collected up to this time. The active controller writes to it twice a second (KIP-835), and whatever it
    elects."""
    last = max((e.at for e in cluster.of("metadata-written") if e.at is not None), default=None)
    return not_after(until, last)


def ends_soon(node: int | None, at: datetime | None, within: timedelta, cluster: Cluster) -> bool:
    """Whether the log of a node ends within this time after `at`: it would not show what came later."""
    until = cluster.last_own_line(node) if node is not None else None
    return at is not None and until is not None and until - at <= within


def was_running(node: int, since: datetime, until: datetime, cluster: Cluster) -> bool:
    """Whether the node's own log shows that its process was running: a line of that time, or a run that continued beyond it, in a log from
    which no line is missing."""
    begin, end = (cut(cluster.events, at, key=undated_first) for cut, at in ((bisect_left, since), (bisect_right, until)))
    if any(e.writer == node and is_own_log_line(e) for e in cluster.events[begin:end]):
        return True
    last = cluster.last_own_line(node)
    run = next(cluster.availability(node).living(since, until), None)
    if run is not None and run.outcome == "crashed":  # it ended before the start that shows the crash
        last = run.last_seen.at if run.last_seen is not None else None
    return bool(would_show(node, cluster, COMPLETE)) and run is not None and last is not None and last >= until


@cached_on_timeline
def _with_missing_lines(timeline: PartitionTimeline, cluster: Cluster) -> set[int]:
    """Brokers whose lines about this partition are missing: the creation of a log is always followed by the line about its first high
    watermark (Partition#createLog). Until 2.3 it is printed only if the checkpoint has none."""
    return {broker for broker, replica in timeline.replicas.items() if _lacks_watermark(broker, replica, cluster)}


def _lacks_watermark(broker: int, replica: Replica, cluster: Cluster) -> bool:
    taken_up = [e for e in replica.events if e.event in _CREATES_LOG and e.reason != "future"]
    if not taken_up or taken_up[-1].event != "log-created":
        return False
    known = versions(cluster, broker, taken_up[-1].at)
    return all(e.event == "log-created" for e in taken_up) or not known or known[-1] >= ALWAYS_LOADED


def isr_changes_observable(leader: int, timeline: PartitionTimeline, cluster: Cluster, since: datetime | None = None) -> bool:
    """Whether the ISR changes that this leader made are in the evidence: its own log, from that time on at least, or the metadata log was
    collected."""
    if cluster.holds_metadata:
        return True
    if log_coverage(leader, cluster).begin is not None:
        return bool(would_show(leader, cluster, PARTITION, ORDER, CLOCK, since=since, of=timeline))
    return any(e.writer == leader and (since is None or not_after(e.at, since)) for e in timeline.of(*_ISR_CHANGES))


def silent_leaders(states: Iterable[State], timeline: PartitionTimeline, cluster: Cluster) -> tuple[int, ...]:
    """Leaders of these states whose ISR changes are missing from the evidence: how long a state lasted is unknown."""
    since: dict[int, datetime | None] = {}
    for s in states:
        since.setdefault(s.leader, s.at)
    return tuple(b for b, at in since.items() if b >= 0 and not isr_changes_observable(b, timeline, cluster, at))


# claims that rely on order and time


def weakened(finding: Finding, rests_on: frozenset[str], cluster: Cluster, *, of_file: bool = False) -> Finding:
    """The finding, at most possible if something is known against a file that it quotes, or against the lines of one of its brokers that it
    rests on, as its rule declares. `of_file`: it says what is in its files, which no doubt about them changes."""
    if finding.confidence == "possible":
        return finding
    doubtful = {} if of_file else _doubtful(cluster)
    reason = next((doubtful[e.source] for e in finding.evidence if e.source in doubtful), None) if doubtful else None
    reason = reason or _against_lines(finding, rests_on, cluster)
    return finding.doubted(reason) if reason is not None else finding


def _against_lines(finding: Finding, rests_on: frozenset[str], cluster: Cluster) -> Message | None:
    if not (found := _doubted(cluster, rests_on)):
        return None
    wanted, doubted = found
    quoted = {b for e in finding.evidence for b in _writers(cluster).get(e.source, ())}
    compared = {b for b, node in cluster.nodes.items() if node.clock.conflict} if "time" in rests_on else ()
    known = (doubted[b] for b in sorted({*finding.brokers, *quoted, *compared} & doubted.keys()))
    return next((failed[premise] for failed in known for premise in _PREMISES if premise in wanted & failed.keys()), None)


@cached_on_cluster
def _doubtful(cluster: Cluster) -> dict[str, Message]:
    """Files whose content is doubtful, each with the reason: a line or a number is cut, or a copy of the file has another."""
    cut = {e.source: said("coverage/cut-file", path=e.source) for e in cluster.of("problem") if e.reason == "checkpoint-cut"}
    return {path: said("coverage/copies-differ", path=path) for path in sorted(cluster.copies.differing)} | cut


@cached_on_cluster
def _doubted(cluster: Cluster, rests_on: frozenset[str]) -> tuple[frozenset[str], Mapping[int, Mapping[str, Message]]] | None:
    """The premises of the logs, and what does not hold of the logs of each broker for which one of them does not hold; None if all hold."""
    wanted = frozenset(premise for on in rests_on for premise in _RESTING[on])
    doubted = {b: c.failed for b, c in _coverages(cluster).items() if not wanted.isdisjoint(c.failed)}
    return (wanted, doubted) if doubted else None


@cached_on_cluster
def all_read(cluster: Cluster) -> bool:
    """Whether all premises of the logs of all nodes hold, and all lines were understood and name their node: what compares brokers rests on
    all."""
    whole = not any(coverage.failed for coverage in _coverages(cluster).values())
    return whole and not any(s.unrecognised or s.shared for s in cluster.sources)


_RESTING = {"order": (ORDER, CLOCK), "time": (ORDER, CLOCK), "silence": (COMPLETE, READ)}
"""Premises of what the findings of a rule rest on."""


@cached_on_cluster
def _writers(cluster: Cluster) -> dict[str, tuple[int, ...]]:
    return {s.path: s.nodes for s in cluster.sources}

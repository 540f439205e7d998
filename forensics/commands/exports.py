"""Output formats of a report besides the terminal: shared by `analyze`, `report` and `audit`.

Here: an option for each format, and the output of each requested format to its file, its directory or stdout. Not here: the formats
themselves (forensics.formats).
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from forensics.commands.options import F, Option, options
from forensics.commands.output import write_pieces
from forensics.commands.targets import STDOUT, OutputDirectory, OutputFile, noted, reason, written
from forensics.formats import FORMATS
from forensics.output.format import DirectoryFormat, FileFormat, Format

if TYPE_CHECKING:
    from forensics.commands.inputs import CaseInput
    from forensics.views.clusters import Clusters
    from forensics.views.document import Report


@dataclass(frozen=True)
class Exports:
    """Requested output: the file or directory of each format."""

    targets: Sequence[tuple[Format, str]] = ()

    def check(self, evidence: Iterable[str] = ()) -> None:
        """Rejects directories that a format cannot use. Raises click.ClickException."""
        for format, target in self.targets:
            if isinstance(format, DirectoryFormat):
                format.check(Path(target), evidence)

    @property
    def needs_case(self) -> bool:
        """Whether one of the formats needs a case."""
        return any(format.needs_case for format, _ in self.targets)

    @property
    def to_stdout(self) -> bool:
        """Whether one of the formats goes to stdout."""
        return any(isinstance(format, FileFormat) and target == STDOUT for format, target in self.targets)

    def write(self, report: Report, source: CaseInput | None) -> None:
        """Writes the formats. If one cannot be written, that is noted (targets.noted), and the others are written. `source` None: the
        formats that need a case are left out."""
        for format, target in self.targets:
            if source is not None or not format.needs_case:
                with noted(target):
                    write(format, target, report, source)

    def without_case(self, error: OSError) -> None:
        """Notes that the formats that need a case cannot be written, because the case cannot."""
        why = f"a temporary case is needed for it, and could not be written: {reason(error)}; TMPDIR chooses another place"
        written().failed += [(target, why) for format, target in self.targets if format.needs_case]

    def check_summary(self) -> None:
        """Like `check`, for all clusters of an audit."""
        for format, _ in self.targets:
            if not isinstance(format, FileFormat) or format.summary is None:
                raise click.UsageError(f"{format.option} is for the report of one cluster; choose the cluster with --cluster NAME")
        self.check()

    def write_summary(self, clusters: Clusters, cluster_files: Callable[[FileFormat, str], Mapping[str, str]]) -> None:
        """Writes the formats for all clusters of an audit. What cannot be written is noted (targets.noted). `cluster_files` writes a file
        for each cluster next to a target, and returns their paths relative to the target."""
        for format, target in self.targets:
            assert isinstance(format, FileFormat) and format.summary is not None
            links = cluster_files(format, target) if format.summary.cluster_files and target != STDOUT else {}
            with noted(target):
                write_pieces(format.summary.pieces(clusters, links), target)

    def go_on(self, case: str, words: Sequence[str]) -> list[str]:
        """Lines with the command that writes from a case, or from the tables of an audit, the formats that could not be written. `words`:
        its other options."""
        missing = {path for path, _ in written().failed}
        options = [word for format, target in self.targets if target in missing for word in (format.option, target)]
        lines = [f"The analysis is kept in {case}."]
        if options:
            command = shlex.join(["kafka-forensics", "report", case, *options, *words])
            lines += ["Free some space or choose another place, then run this command, which does not need the evidence:", f"  {command}"]
        return lines


def write(format: Format, target: str, report: Report, source: CaseInput | None) -> None:
    """Writes one format. Raises OSError."""
    if isinstance(format, FileFormat):
        write_pieces(format.pieces(report, source) if format.needs_case else format.pieces(report), target)
    elif isinstance(format, DirectoryFormat):
        format.write(report, Path(target), *((source,) if format.needs_case else ()))


def _format_option(format: Format, help: str) -> Option[Any]:
    if isinstance(format, DirectoryFormat):
        return click.option(format.option, format.parameter, metavar="DIR", type=OutputDirectory(), help=help)
    stdout = not isinstance(format, FileFormat) or format.stdout
    return click.option(format.option, format.parameter, metavar="FILE", type=OutputFile(stdout=stdout), help=help)


def _format_options(command: F, formats: Mapping[Format, str]) -> F:
    @wraps(command)
    def with_exports(**given: Any) -> Any:
        targets = [(format, target) for format in formats if (target := given.pop(format.parameter)) is not None]
        return command(exports=Exports(targets), **given)

    return options(*(_format_option(*item) for item in reversed([*formats.items()])))(with_exports)  # type: ignore[no-any-return]


def export_options(command: F) -> F:
    """An option for each format; the command receives them as `exports`."""
    return _format_options(command, {f: f.help for f in FORMATS})


def summary_options(command: F) -> F:
    """The same for the formats that can show all clusters of an audit."""
    return _format_options(command, {f: f.summary.help for f in FORMATS if isinstance(f, FileFormat) and f.summary is not None})

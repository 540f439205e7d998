"""Output formats of a report besides the terminal: shared by `analyze`, `report` and `audit`.

Here: an option for each format, and the output of each requested format to its file, its directory or stdout. Not here: the formats
themselves, a module each (forensics.formats).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from forensics.commands.output import write_pieces
from forensics.formats import FORMATS
from forensics.output.format import DirectoryFormat, FileFormat, Format

if TYPE_CHECKING:
    from forensics.commands.inputs import Input
    from forensics.views.clusters import Clusters
    from forensics.views.document import Report

F = TypeVar("F", bound=Callable[..., Any])
STDOUT = "-"


@dataclass(frozen=True)
class Exports:
    """Requested output: the file or directory of each format."""

    targets: Sequence[tuple[Format, str]] = ()

    def check(self, evidence: Iterable[str] = ()) -> None:
        """Rejects impossible targets before anything is read. Raises click.UsageError and other click.ClickExceptions."""
        to_stdout = [f for f, target in self.targets if isinstance(f, FileFormat) and target == STDOUT]
        if refused := [f for f in to_stdout if not f.stdout]:
            raise click.UsageError(f"{refused[0].option} cannot go to stdout; give a file")
        if len(to_stdout) > 1:
            raise click.UsageError(f"only one of {' and '.join(f.option for f in to_stdout)} can go to stdout")
        for format, target in self.targets:
            if isinstance(format, DirectoryFormat):
                format.check(Path(target), evidence)

    @property
    def needs_case(self) -> bool:
        """Whether one of the formats needs a case."""
        return any(isinstance(format, FileFormat) and format.needs_case for format, _ in self.targets)

    def write(self, report: Report, source: Input) -> bool:
        """Writes the formats; returns whether one of them went to stdout. Raises click.FileError."""
        for format, target in self.targets:
            if isinstance(format, FileFormat):
                write_pieces(format.pieces(report, source) if format.needs_case else format.pieces(report), target)
            elif isinstance(format, DirectoryFormat):
                try:
                    format.write(report, Path(target))
                except OSError as error:
                    raise click.FileError(target, error.strerror or str(error)) from None
        return self._stdout_used()

    def check_summary(self) -> None:
        """Like `check`, for all clusters of an audit."""
        for format, _ in self.targets:
            if not isinstance(format, FileFormat) or format.summary is None:
                raise click.UsageError(f"{format.option} shows one cluster; choose it with --cluster NAME")
        self.check()

    def write_summary(self, clusters: Clusters, cluster_files: Callable[[FileFormat, str], Mapping[str, str]]) -> bool:
        """Writes the formats for all clusters of an audit; returns whether one of them went to stdout. Raises click.FileError.
        `cluster_files` writes a file for each cluster next to a target, and returns their paths relative to the target."""
        for format, target in self.targets:
            assert isinstance(format, FileFormat) and format.summary is not None
            links = cluster_files(format, target) if format.summary.cluster_files and target != STDOUT else {}
            write_pieces(format.summary.pieces(clusters, links), target)
        return self._stdout_used()

    def _stdout_used(self) -> bool:
        return any(isinstance(format, FileFormat) and target == STDOUT for format, target in self.targets)


def _format_option(format: Format, help: str) -> Callable[[F], F]:
    if isinstance(format, DirectoryFormat):
        kind = click.Path(file_okay=False)
        return click.option(format.option, format.parameter, metavar="DIR", type=kind, help=help)
    return click.option(format.option, format.parameter, metavar="FILE", type=click.Path(dir_okay=False, allow_dash=True), help=help)


def _as_exports(command: F, formats: Sequence[Format]) -> F:
    @wraps(command)
    def with_exports(**given: Any) -> Any:
        targets = [(format, target) for format in formats if (target := given.pop(format.parameter)) is not None]
        return command(exports=Exports(targets), **given)

    return with_exports  # type: ignore[return-value]


def export_options(command: F) -> F:
    """An option for each format; the command receives them as `exports`."""
    command = _as_exports(command, FORMATS)
    for format in reversed(FORMATS):
        command = _format_option(format, format.help)(command)
    return command


def summary_options(command: F) -> F:
    """The same for the formats that can show all clusters of an audit."""
    summaries = {f: f.summary for f in FORMATS if isinstance(f, FileFormat) and f.summary is not None}
    command = _as_exports(command, list(summaries))
    for format, summary in reversed(summaries.items()):
        command = _format_option(format, summary.help)(command)
    return command

"""Output formats of a report besides the terminal: shared by `analyze` and `report`.

Here: an option for each format, defined once, and the output of each requested format to its file, its directory or stdout. Not here: the
formats themselves, a module each (forensics.views).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from forensics.commands.output import opened_file, to_stdout

if TYPE_CHECKING:
    from forensics.commands.inputs import Input
    from forensics.views.document import Report

F = TypeVar("F", bound=Callable[..., Any])

FILES: Mapping[str, str] = {
    "html": "The report as one page for everybody, that needs nothing beside itself.",
    "json": "The whole report as JSON.",
    "markdown": "The draft of a post-incident review, as Markdown.",
    "timesketch": "What happened as JSON lines that Timesketch imports.",
    "perfetto": "What happened as a trace for ui.perfetto.dev, a process for each broker.",
    "sarif": "The findings as SARIF 2.1.0, for code scanning and editors.",
}
"""Formats that are one file, with their help texts; forensics.views.NAME returns its `pieces`."""
MODULES: Mapping[str, str] = {"json": "document", "html": "html.page"}
"""Module names that differ from the format's name."""
OF_CASE = frozenset({"html"})
"""Formats that also use the content of a case: steps, offsets and lines of a few partitions."""


@dataclass(frozen=True)
class Exports:
    """Requested output: files by format, and a directory of tables."""

    files: Mapping[str, str]
    parquet: Path | None = None

    def check(self, evidence: Iterable[str] = ()) -> None:
        """Rejects impossible targets before anything is read."""
        if len(to_stdout := [name for name, file in self.files.items() if file == "-"]) > 1:
            raise click.UsageError(f"only one of {' and '.join(f'--{name}' for name in to_stdout)} can go to stdout")
        if self.parquet is not None:
            from forensics.case.parquet import check

            check(self.parquet, evidence)

    @property
    def of_case(self) -> bool:
        """Whether any of them needs a case."""
        return not OF_CASE.isdisjoint(self.files)

    def write(self, report: Report, found: Input) -> bool:
        """Writes the formats; returns whether stdout was used by one of them. Raises click.FileError."""
        for name, file in self.files.items():
            given = (report, found) if name in OF_CASE else (report,)
            pieces: Iterable[str] = import_module(f"forensics.views.{MODULES.get(name, name)}").pieces(*given)
            if file == "-":
                to_stdout(pieces)
                continue
            with opened_file(file) as out:
                out.writelines(pieces)
        if self.parquet is not None:
            from forensics.case.parquet import write

            try:
                write(report, self.parquet)
            except OSError as error:
                raise click.FileError(str(self.parquet), error.strerror or str(error)) from None
        return "-" in self.files.values()


def export_options(command: F) -> F:
    """An option for each format; the command has them as `exports`."""

    @wraps(command)
    def collected(**given: Any) -> Any:
        asked = {name: file for name in FILES if (file := given.pop(f"{name}_file")) is not None}
        return command(exports=Exports(asked, given.pop("parquet")), **given)

    file = click.Path(dir_okay=False, allow_dash=True)
    options: Sequence[Callable[[Any], Any]] = [
        *(click.option(f"--{name}", f"{name}_file", metavar="FILE", type=file, help=words) for name, words in FILES.items()),
        click.option(
            "--parquet",
            metavar="DIR",
            type=click.Path(file_okay=False, path_type=Path),
            help="The tables of the report as Parquet, for DuckDB, polars or pandas.",
        ),
    ]
    told: Any = collected
    for option in reversed(options):
        told = option(told)
    return told  # type: ignore[no-any-return]

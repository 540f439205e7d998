"""What an output format of a report is: its option, its help text, and the function that writes it.

Here: the classes. Not here: the formats (forensics.formats), or the opening of files (forensics.commands.exports).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from forensics.views.clusters import Clusters


@dataclass(frozen=True)
class AuditSummary:
    """The same format for all clusters of an audit."""

    help: str
    """Help text of the option of `audit`."""
    pieces: Callable[[Clusters, Mapping[str, str]], Iterable[str]]
    """The text, in parts; the mapping has the file of each cluster, relative to the summary."""
    cluster_files: bool = False
    """Whether each cluster gets a file, in a directory next to the summary."""


@dataclass(frozen=True, kw_only=True)
class Format:
    """An output format of `analyze` and `report`."""

    name: str
    """The option is `--NAME`."""
    help: str
    """Help text of the option, one sentence."""
    needs_case: bool = False
    """Whether the text needs steps, offsets and log lines, which only a case has."""

    @property
    def option(self) -> str:
        return f"--{self.name}"

    @property
    def parameter(self) -> str:
        """Name of the option's value in the command's arguments."""
        return self.name.replace("-", "_")


@dataclass(frozen=True, kw_only=True)
class FileFormat(Format):
    """A format that is one text file."""

    pieces: Callable[..., Iterable[str]]
    """The text of a report (`Report`), in parts. With `needs_case`, the second argument is the case (`CaseInput`)."""
    extension: str
    """Usual end of the file's name, as .json."""
    stdout: bool = True
    """Whether `-` may mean standard output."""
    summary: AuditSummary | None = None
    """None: the format is for one cluster."""


@dataclass(frozen=True, kw_only=True)
class DirectoryFormat(Format):
    """A format that is a directory of files."""

    write: Callable[..., None]
    """Writes a report (`Report`) into a directory (`Path`). With `needs_case`, the third argument is the case (`CaseInput`)."""
    check: Callable[[Path, Iterable[str]], None]
    """Raises click.ClickException if the directory cannot be written, or is part of the evidence (the second argument)."""


def on_demand(name: str) -> Callable[..., Any]:
    """The function `MODULE:FUNCTION`, imported when it is called: `--help` loads every format, and must be quick."""
    module, _, function = name.partition(":")

    def call(*args: Any) -> Any:
        return getattr(import_module(module), function)(*args)

    return call

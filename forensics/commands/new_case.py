"""The case that `analyze --case` makes: where it goes, and its writing.

Here: the checks of the place before anything is read, and the copy to an S3 bucket. Not here: the tables (forensics.case.write).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from forensics.commands.evidence import Progress
from forensics.commands.inputs import CaseInput, EvidenceInput, Input
from forensics.commands.tables import temporary
from parsers.containers.storage import is_object_store

if TYPE_CHECKING:
    from forensics.audit.remote import Remote


@dataclass(frozen=True)
class NewCase:
    """A place where a case can be written."""

    given: str
    """The place without secrets, as it may be shown."""
    place: Path
    remote: Remote | None
    """Where the case is copied to from `place`."""
    replace: bool
    """Whether it replaces an existing case."""

    def write(self, found: Input, progress: Progress) -> CaseInput:
        """Writes the case and opens it. Raises OSError."""
        from forensics.case.read import Case

        assert isinstance(found, EvidenceInput)
        found.keep(self.place, progress, replace=self.replace)
        if self.remote is not None:
            self.remote.push({str(path.relative_to(self.place)) for path in self.place.rglob("*") if path.is_file()})
            click.echo(f"Wrote {self.remote.shown}", err=True)
        return CaseInput(Case(self.place))


def new_case(path: str, evidence: Sequence[str], *, replace: bool) -> NewCase:
    """Raises Refused or Unreadable if no case of this evidence can be written there."""
    from forensics.case.write import CaseRefused, check

    place, remote = Path(path), None
    if is_object_store(path):
        from forensics.audit.remote import Remote
        from forensics.case.tables import MANIFEST

        remote = Remote(path, MANIFEST)
        remote.check()
        if remote.sizes:
            raise CaseRefused(f"{remote.shown}: there are objects already; give another URI")
        place = temporary(remote.shown)
        remote.pull(place)
    check(place, evidence, force=replace)
    return NewCase(path if remote is None else remote.shown.partition("?")[0].rstrip("/"), place, remote, replace)

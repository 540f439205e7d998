"""The tables of an audit, or the case, that a path names, as a local directory: of those in an S3 bucket, what is needed is copied to a
temporary one.

Here: the copy, for the time that a command runs. Not here: requests and commits (forensics.audit.remote).
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from forensics.commands.evidence import chosen_cluster
from parsers.containers.storage import is_object_store

if TYPE_CHECKING:
    from forensics.audit.remote import Remote


COPIES = f"{__name__}.copies"
"""In the context: the URI that was given, without secrets, by the directory with its copy."""


def local_tables(path: str, *, to_write: bool = False) -> tuple[Path, Remote | None]:
    """The directory, and where it was copied from: the manifest, and the files of the cluster that --cluster names; a case is copied whole.
    `to_write`: only the manifest of an audit. Raises Refused or Unreadable."""
    if not is_object_store(path):
        return Path(path), None
    from forensics.audit.audited import Audit
    from forensics.audit.remote import Remote
    from forensics.case.read import Unreadable
    from forensics.case.tables import MANIFEST as CASE

    remote = Remote(path)
    if to_write:
        remote.check()
    place = temporary(remote.shown)
    if remote.pull(place):
        cluster = chosen_cluster()
        if not to_write and cluster is not None and cluster in (audit := Audit(place, remote.bring)).clusters:
            remote.bring(audit.files(cluster))
    elif not to_write:
        case = Remote(path, CASE)
        if not case.pull(place):
            raise Unreadable(f"{remote.shown}: there are no tables of an audit and no case; check the URI")
        case.bring_all()
    return place, remote


def as_given(text: str) -> str:
    """A message for people, in which directories with copies are the URIs that were given."""
    context = click.get_current_context(silent=True)
    for place, uri in (context.meta.get(COPIES, {}) if context is not None else {}).items():
        text = text.replace(place, uri)
    return text


def temporary(uri: str) -> Path:
    context = click.get_current_context()
    place = Path(context.with_resource(TemporaryDirectory(prefix="kafka-forensics-"))) / "tables"
    context.meta.setdefault(COPIES, {}).update(dict.fromkeys((str(place.resolve()), str(place)), uri.partition("?")[0].rstrip("/")))
    return place

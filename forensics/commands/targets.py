"""Where results go: the files and directories that options name, checked before anything is read, and listed at the end.

Here: the parameter types, the checks, and what was written or could not be. Not here: the writing (output), or the rules of one kind of
directory, such as a case (forensics.case.write).
"""

from __future__ import annotations

import os
import re
import shlex
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import click

from parsers.containers.storage import is_object_store as is_remote
from parsers.containers.storage import without_secrets

META = "forensics.targets"
STDOUT = "-"
TEMPORARY = ("/tmp", "/var/tmp", "/usr/tmp")  # noqa: S108
"""Where Python creates temporary files if the environment names no directory for them; after these, in the working directory."""
AGAIN = ("Free some space or give another path, and run the command again.",)
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
INPUTS = ("against",)
"""Options that name evidence. All arguments do, too."""


class Target(click.Path):
    """The value of an option that names a file or directory to write."""

    kind: str
    remote = False
    """Whether an s3:// URI may be given."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not str(value).strip():
            self.fail(f"{str(value)!r} is not a name; give the name of a {self.kind}", param, ctx)
        if _URI.match(str(value)) and not (self.remote and is_remote(str(value))):
            self.fail(
                f"{without_secrets(str(value))}: results can only be written to a file system; give the path of a {self.kind}, and copy the "
                "result to the store",
                param,
                ctx,
            )
        return str(value)

    def trouble(self, path: str, *, force: bool = False) -> str | None:
        """Why nothing can be written there, and what to do; None if it can. `force`: an earlier result may be replaced. Raises OSError, for
        example if the name is too long."""
        raise NotImplementedError

    def _above(self, place: Path, shown: str) -> str | None:
        """Why nothing can be created in the directory above a place. Creates and removes a file without a name there: access rights do not
        show a read-only or a full disk."""
        if not os.path.lexists(place.parent):
            return f"the directory {shown} does not exist; create it (mkdir -p {shlex.quote(shown)}), or give another {self.kind}"
        if not place.parent.is_dir():
            return f"{shown} is not a directory; give another {self.kind}"
        try:
            with tempfile.TemporaryFile(dir=place.parent):
                return None
        except OSError as error:
            return f"the directory {shown} cannot be written to ({error.strerror}); give another {self.kind}"


class OutputFile(Target):
    """A file. `stdout`: whether - may be given for standard output; `new`: whether nothing may exist at the path."""

    kind = "file"

    def __init__(self, *, stdout: bool = True, new: bool = False) -> None:
        super().__init__()
        self.stdout, self.new = stdout, new

    def trouble(self, path: str, *, force: bool = False) -> str | None:
        if path == STDOUT:
            return None if self.stdout else "cannot go to stdout; give the name of a file"
        place = Path(os.path.realpath(path))
        if place.is_dir():
            return f"this is a directory; give the name of a file, for example {Path(path) / 'result'}"
        if self.new and os.path.lexists(path) and not force:
            return "the file exists already; give another name, or --force to replace it"
        if os.path.lexists(place) and not place.is_file():  # a pipe or a device
            return None if os.access(place, os.W_OK) else "cannot be written to; give another file"
        return self._above(place, _shown(path, place.parent))


class OutputDirectory(Target):
    """A directory, created with its parents if it does not exist. `empty`: whether an existing one must be empty, or with --force have the
    `mark` of an earlier result: the name of a JSON document, and the family of its schema. `remote` as in Target."""

    kind = "directory"

    def __init__(self, *, empty: bool = False, remote: bool = False, mark: tuple[str, str] | None = None) -> None:
        super().__init__()
        self.empty, self.remote, self.mark = empty or mark is not None, remote, mark

    def trouble(self, path: str, *, force: bool = False) -> str | None:
        if _URI.match(path):
            return None
        if path == STDOUT:
            return "a directory cannot go to stdout; give the name of a directory"
        place = Path(os.path.realpath(path))
        if os.path.lexists(place):
            if not place.is_dir():
                return "this is not a directory; give the name of a new directory"
            if self.empty and any(place.iterdir()) and not (force and self._is_own(place)):
                earlier = "--force replaces only what this command wrote" if force else "or --force to replace an earlier result"
                return f"the directory is not empty; give a new or an empty one{'; ' if force else ', '}{earlier}"
        while not os.path.lexists(place.parent):
            place = place.parent
        return self._above(place, _shown(path, place.parent))

    def _is_own(self, place: Path) -> bool:
        from forensics.case.files import is_marked

        return self.mark is not None and is_marked(place, *self.mark)


def _shown(path: str, directory: Path) -> str:
    """A directory above a path, as its user wrote it if possible."""
    return next((str(above) for above in Path(path).parents if Path(os.path.realpath(above)) == directory), str(directory))


@dataclass
class WrittenFiles:
    """What a command wrote, and what it could not write."""

    paths: list[str] = field(default_factory=list)
    failed: list[tuple[str, str]] = field(default_factory=list)
    """Paths with the reasons."""
    advice: list[str] = field(default_factory=list)
    """How to go on after a failure; printed after the failures."""


def written() -> WrittenFiles:
    """Of the running command."""
    context = click.get_current_context(silent=True)
    found: WrittenFiles = context.meta.setdefault(META, WrittenFiles()) if context is not None else WrittenFiles()
    return found


@contextmanager
def noted(path: str | Path) -> Iterator[None]:
    """Notes a file or directory that the block writes: as written, or, if the block raises OSError, as failed. After a failure the command
    goes on, so that its result is not lost, and its exit code is 2. For stdout, nothing is noted."""
    try:
        yield
    except OSError as error:
        if str(path) == STDOUT:
            raise
        written().failed.append((str(path), reason(error)))
    else:
        if str(path) != STDOUT and os.path.lexists(path):
            written().paths.append(str(path))


def reason(error: OSError) -> str:
    """The words of the system; pyarrow has a longer sentence in place of them."""
    return os.strerror(error.errno) if error.errno else str(error)


def check(context: click.Context) -> None:
    """Checks every file and directory that the command is to write. Raises click.UsageError, and Unusable as check_temporary."""
    check_temporary()
    given = list(_given(context))
    to_stdout = [option for option, target, path in given if path == STDOUT and isinstance(target, OutputFile) and target.stdout]
    if len(to_stdout) > 1:
        raise click.UsageError(f"only one of {' and '.join(to_stdout)} can go to stdout; give a file for the other")
    _apart([(option, path) for option, _, path in given if path != STDOUT], context)
    for option, target, path in given:
        usable(context, option, target, path)


def check_temporary() -> None:
    """Raises Unusable if the directory for temporary files that the environment names cannot be used: Python would take another one without
    a word, in the end the working directory. That one is never taken."""
    from forensics.commands.evidence import InvalidInput

    if (name := next((name for name in ("TMPDIR", "TEMP", "TMP") if os.environ.get(name)), None)) is not None:
        directory = os.environ[name]
        if (trouble := OutputDirectory()._above(Path(directory, "x"), directory)) is not None:
            raise InvalidInput(f"{name}: {trouble}")
    elif tempfile.tempdir is None:
        with suppress(FileNotFoundError):
            if tempfile.gettempdir() in TEMPORARY:
                return
        tempfile.tempdir = TEMPORARY[0]  # what needs a temporary file fails there, and names the directory


def usable(context: click.Context, option: str, target: Target, path: str) -> None:
    """Raises click.BadParameter if the path cannot be written, or lies in the evidence."""
    from forensics.output.files import forbidden

    try:
        local = path != STDOUT and not _URI.match(path)
        trouble = (forbidden(path, _inputs(context)) if local else _in_store(path, _inputs(context))) or target.trouble(
            path, force=bool(context.params.get("force"))
        )
    except OSError as error:
        trouble = f"{reason(error)}; give another {target.kind}"
    if trouble is not None:
        raise click.BadParameter(f"{path}: {trouble}", context, param_hint=f"'{option}'")


def _in_store(path: str, evidence: Iterable[str]) -> str | None:
    """The same as files.forbidden, for a URI."""
    place = without_secrets(path).rstrip("/") + "/"
    for one in evidence:
        if "://" in one and place.startswith(without_secrets(one).rstrip("/") + "/"):
            return f"it lies in the evidence ({without_secrets(one)}), which is never written to; give a path outside of it"
    return None


def _given(context: click.Context) -> Iterator[tuple[str, Target, str]]:
    for param in context.command.params:
        value = context.params.get(param.name or "")
        if isinstance(param, click.Option) and isinstance(param.type, Target) and value is not None:
            yield param.opts[0], param.type, value


def _inputs(context: click.Context) -> Iterator[str]:
    for param in context.command.params:
        if isinstance(param, click.Argument) or param.name in INPUTS:
            value = context.params.get(param.name or "")
            yield from map(_local, value if isinstance(value, tuple) else [] if value is None else [str(value)])


def _local(path: str) -> str:
    """The path in a file URI; any other path as it is."""
    return unquote(urlsplit(path).path) if path.lower().startswith("file://") else path


def _apart(given: Sequence[tuple[str, str]], context: click.Context) -> None:
    places = [(option, path, Path(os.path.realpath(path))) for option, path in given]
    for n, (option, path, place) in enumerate(places):
        for other, _, there in places[:n]:
            if place == there and (place.is_file() or not os.path.lexists(place)):
                raise click.UsageError(f"{other} and {option} both name {path}; give each a path of its own", context)
        for other, outer, there in places:
            if place != there and place.is_relative_to(there):
                raise click.UsageError(
                    f"{option} {path} lies in {other} {outer}, which is written as a whole; give a path outside", context
                )


def conclude() -> None:
    """Lists what was written, then what was not and how to go on. Raises click.exceptions.Exit if something was not."""
    from forensics.output.sanitise import clean

    found = written()
    for path in found.paths:
        click.echo(f"Wrote {clean(path)}", err=True)
    for path, reason in found.failed:
        click.echo(f"Error: {clean(path)} could not be written: {reason}", err=True)
    for line in (found.advice or AGAIN) if found.failed else ():
        click.echo(clean(line), err=True)
    if found.failed:
        raise click.exceptions.Exit(2)

"""Start of the command, before another module of it is imported: signals, the search path, and whether the packages are ours.

Here: what needs only the standard library. Not here: the commands (cli). A wheel has this file also as the module `kafka_forensics`, in
which the command starts: `parsers`, `spark` and `forensics` are common names, and of two packages with one name Python imports the first.
"""

from __future__ import annotations

import os
import signal
import sys

# Until main runs, Ctrl-C is a traceback: what takes time to import is imported later.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

PACKAGES = ("parsers", "spark", "forensics")
MARK = b'PART_OF = "kafka-forensics"'
"""A line in the `__init__.py` of each package."""
ENDS: dict[int, str] = {signal.SIGINT: "Interrupted", signal.SIGTERM: "Terminated", signal.SIGHUP: "Hung up"}
"""Signals that end the process, with the word printed for each."""


def main() -> None:
    """Entry point of the command."""
    guard()
    from importlib import import_module

    import_module("forensics.cli").main()


def guard() -> None:
    """Handles signals, makes the search path safe, and ends the process with exit code 2 if one of the packages is not ours."""
    for number in ENDS:
        signal.signal(number, ended)
    sys.path[:] = safe(sys.path)
    if (message := foreign()) is not None:
        print(f"Error: {message}", file=sys.stderr)
        sys.exit(2)


def ended(number: int, *_: object) -> NoReturn:
    """Ends the process at once on a signal. A normal unwind would let Python, Spark's workers and the JVM each print a traceback about the
    others' end. The JVM and its files go when this process does (spark.java)."""
    forget()
    if number != signal.SIGHUP:  # SIGHUP: the terminal is gone
        shown = "\x1b[?25h\n" if os.isatty(2) else ""  # the progress line hides the cursor
        os.write(2, f"{shown}{ENDS[number]}.\n".encode())  # sys.stderr may be in the middle of a write, and would refuse another one
    os._exit(128 + number)


def forget() -> None:
    """Removes unfinished output and temporary directories."""
    for module, name in (("forensics.output.files", "forget"), ("spark.temporary", "remove_all")):
        getattr(sys.modules.get(module), name, lambda: None)()  # a module that is still being imported has created nothing


def safe(path: list[str]) -> list[str]:
    """The search path without the working directory, which may be the evidence, and without relative directories of PYTHONPATH, unless they
    contain this package. Directories after those of the standard library are installed ones, and stay."""
    named = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    try:
        unsafe = {os.path.abspath(entry) for entry in ("", *named)} - {own, *filter(os.path.isabs, named)}
    except FileNotFoundError:  # the working directory was removed, so nothing can be imported from it
        return path
    library = os.path.dirname(os.__file__)
    installed = path.index(library) if library in path else 0
    return [entry for entry in path[:installed] if os.path.abspath(entry) not in unsafe] + path[installed:]


def foreign() -> str | None:
    """Which package is not ours, and what to do, in one line; None if all are ours. Imports none of them."""
    from importlib.util import find_spec

    found = {name: find_spec(name) for name in PACKAGES}
    files = {name: spec.origin for name, spec in found.items() if spec is not None and spec.origin}
    if (missing := next((name for name in PACKAGES if name not in files), None)) is not None:
        return (
            f"the package {missing!r} of kafka-forensics is not complete: perhaps another program that was removed had a package of this name; "
            "install kafka-forensics again, in an environment of its own (pipx)"
        )
    tops = [os.path.dirname(os.path.dirname(file)) for file in files.values()]
    apart = [file for file, top in zip(files.values(), tops, strict=True) if tops.count(top) == 1]
    if others := [file for name, file in files.items() if not _ours(found[name])] or apart:
        return (
            f"{others[0]!r} belongs to another program, and hides or has replaced a package of kafka-forensics with the same name; take its directory out of "
            "PYTHONPATH, or install kafka-forensics in an environment of its own (pipx)"
        )
    return None


def _ours(spec: Any) -> bool:
    try:
        return MARK in spec.loader.get_data(spec.origin)
    except (AttributeError, OSError):
        return False


if __name__ == "__main__":
    main()

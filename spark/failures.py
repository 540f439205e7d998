"""Failures of Spark and of the machines it runs on, in one line that says what to do.

Here: which errors are of the user's installation, disks or cluster, and their messages. Not here: defects of this tool, for which there is
no message, or the check of a master before Spark starts (masters).
"""

from __future__ import annotations

import errno
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from pickle import PickleError

NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Errors of a write to a disk that is full, or to a file that may not grow."""
MANY_FILES = "too many files are open at a time; raise the limit, for example with ulimit -n 4096"
LEAST_ROOM = 1 << 20
"""Bytes: a temporary directory with less room counts as full."""
OWN = ("parsers", "spark", "forensics")
"""Packages that are sent to the workers: if one is missing there, the workers' Python is not the reason."""
_FULL = re.compile(r"No space left on device|Disk quota exceeded|File too large")
_PATH = re.compile(r"\[Errno \d+\][^\n]*?'(/[^'\n]+)'|(/[^\s:'()]+) ?\((?:No space left on device|Disk quota exceeded)\)")
_OF_SESSION = ("kafka-forensics-", "spark-", "blockmgr-", "tmp")
"""How the names of temporary directories of this tool and of Spark begin."""
_MODULE = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")
_VERSION = re.compile(r"Python in worker has different version: (\S+) than that in driver: (\S+?)[,.]?\s")
_DAEMON = re.compile(r"Error from python worker:(?:\n[^\n]*){0,60}?\n *(\w+(?:Error|Exception): [^\n]{1,200})")
_PROGRAM = re.compile(r'Cannot run program "([^"]+)"[^\n]*?error=\d+, ([^\n,]+)')


class TooLarge(RuntimeError):
    """What is to be sent to all tasks is larger than a message to a Connect server. The message is one line."""


def explained(error: BaseException) -> str | None:
    """The message for an error that the user or the operator of the cluster can repair; None for any other."""
    if isinstance(error, MemoryError):
        return "Python ran out of memory; analyze less at once, or use a machine with more memory"
    if isinstance(error, TooLarge):
        return str(error)
    if isinstance(error, OSError):
        return _of_disk(error) if error.errno in NO_ROOM else _of_system(error)
    if not _of_spark(error):
        return None
    text = _text(error)
    return next((message for explain in EXPLANATIONS if (message := explain(text))), None)


def _of_spark(error: BaseException) -> bool:
    """Whether Spark raised the error; pickle raises what went wrong while pyspark wrote its files."""
    return isinstance(error, PickleError) or type(error).__module__.partition(".")[0] in ("pyspark", "py4j")


def _text(error: BaseException) -> str:
    """The messages of an error and of its causes, with those of the JVM."""
    return "\n".join(map(str, _causes(error)))


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield cause
        cause = cause.__cause__ or cause.__context__


def _of_disk(error: OSError) -> str:
    words = os.strerror(error.errno or errno.ENOSPC)
    if error.filename:
        return _no_room(str(error.filename), words)
    # Python's own error without a name is of a standard stream; pyarrow has a longer sentence in place of the system's words.
    return f"standard output: {words}" if error.strerror == words else _no_room(None, words)


def _of_system(error: OSError) -> str | None:
    """Errors of the machine that are not of one file."""
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return MANY_FILES
    temporary = tempfile.gettempdir()
    if error.filename and _is_temporary(str(error.filename), temporary):
        return f"{temporary}: {error.strerror}; set TMPDIR to a directory that can be written to"
    return None


def _no_room(place: str | None, words: str) -> str:
    """The message for a disk that is full. `place`: the file that was written, if the error names it."""
    temporary = tempfile.gettempdir()
    if place is None and not _is_full(temporary):
        return f"{words} while results were written; free some space or give another place"
    if place is None or _is_temporary(place, temporary):
        return f"{temporary}: {words}; free some space there, or set TMPDIR to a directory with more room"
    return f"{place}: {words}; free some space or give another place"


def _is_temporary(place: str, temporary: str) -> bool:
    path = Path(place)
    return (
        path.is_relative_to(temporary)
        and path.relative_to(temporary).parts[:1] != ()
        and path.relative_to(temporary).parts[0].startswith(_OF_SESSION)
    )


def _is_full(directory: str) -> bool:
    try:
        found = os.statvfs(directory)
    except OSError:
        return False
    return found.f_bavail * found.f_frsize < LEAST_ROOM


def _module(text: str) -> str | None:
    found = _MODULE.search(text)
    if found is None or found[1].partition(".")[0] in OWN:
        return None
    python = os.environ.get("PYSPARK_PYTHON", "python3")
    return (
        f"the Python of the Spark workers ({python}) has no module {found[1]!r}; install the packages there that kafka-forensics needs, or set "
        "PYSPARK_PYTHON to a Python that has them"
    )


def _full(text: str) -> str | None:
    found = _FULL.search(text)
    if found is None:
        return None
    place = _PATH.search(text)
    return _no_room(next((name for name in place.groups() if name), None) if place is not None else None, found[0])


def _version(text: str) -> str | None:
    found = _VERSION.search(text)
    if found is None and "PYTHON_VERSION_MISMATCH" not in text:
        return None
    worker = f"Python {found[1]}" if found is not None else "another Python"
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    return f"the Spark workers have {worker}, and this command runs in Python {here}; set PYSPARK_PYTHON to a Python {here} on the workers"


def _program(text: str) -> str | None:
    found = _PROGRAM.search(text)
    return f"a Spark worker cannot run {found[1]} ({found[2]}); set PYSPARK_PYTHON to a Python that all workers have" if found else None


def _daemon(text: str) -> str | None:
    found = _DAEMON.search(text)
    if found is None:
        return None
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    return f"the Python of the Spark workers does not start ({found[1]}); set PYSPARK_PYTHON to a Python {here} with the packages that kafka-forensics needs"


def _memory(text: str) -> str | None:
    if "java.lang.OutOfMemoryError" in text or "MemoryError" in text:
        return "Spark ran out of memory: give it more with --memory, or run it on a larger machine"
    return None


def _executors(text: str) -> str | None:
    if re.search(r"ExecutorLostFailure|Executor heartbeat timed out|Remote RPC client disassociated", text):
        return "Spark lost its executors again and again, most likely because they ran out of memory; give executors more memory"
    if re.search(
        r"All masters are unresponsive|Cannot call methods on a stopped SparkContext|Application (?:has been killed|was removed by master)"
        "|Master removed our application",
        text,
    ):
        return "the Spark master ended the application or does not answer; check the port, and see the log of the master"
    return None


def _files(text: str) -> str | None:
    return MANY_FILES if "Too many open files" in text else None


def _killed(text: str) -> str | None:
    if re.search(r"Python worker exited unexpectedly|EOFException occurred while reading the port number", text):
        return (
            "a Python worker of Spark was killed, most likely because the machine or container ran out of memory; give it more memory, or read "
            "with fewer workers (--master local[1])"
        )
    return None


EXPLANATIONS: tuple[Callable[[str], str | None], ...] = (_module, _full, _version, _program, _daemon, _memory, _files, _executors, _killed)

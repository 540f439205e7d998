"""Real bundles taken apart and laid out as other tools and people hand evidence over.

Here: the files of a bundle of fixtures/bundles, writers of archives and trees, and the shapes. Not here: what is expected.
"""

from __future__ import annotations

import io
import json
import os
import re
import tarfile
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta, timezone
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from tests.support.paths import BUNDLES


class File(NamedTuple):
    content: bytes
    modified: float
    """Seconds since 1970."""


Files = dict[str, File]
"""Files by the path they are handed over under."""


@cache
def _of(name: str) -> tuple[tuple[str, File], ...]:
    found = []
    with tarfile.open(BUNDLES / f"{name}.tar.gz") as whole:
        for member in whole:
            if (content := whole.extractfile(member)) is not None:
                found.append((member.name.split("/", 1)[1], File(content.read(), member.mtime)))
    _BUNDLE_OF.update(dict.fromkeys(found, name))
    return tuple(found)


_BUNDLE_OF: dict[tuple[str, File], str] = {}


def bundle_of(path: str, file: File) -> str | None:
    """The bundle that has this file under this path, of those that were opened."""
    return _BUNDLE_OF.get((path, file))


def bundle(name: str) -> Files:
    """Files of a bundle as broker-1/logs/server.log, without its root."""
    return dict(_of(name))


def renamed(files: Files, rename: Callable[[str], str | None]) -> Files:
    """Files under other paths; those renamed to None are left out."""
    return {new: file for path, file in files.items() if (new := rename(path)) is not None}


def only(files: Files, expression: str) -> Files:
    return {path: file for path, file in files.items() if re.search(expression, path)}


def without(files: Files, expression: str) -> Files:
    return {path: file for path, file in files.items() if not re.search(expression, path)}


def nodes(files: Files) -> list[str]:
    """Names of the nodes' own directories, before-restart/broker-1 among them."""
    return sorted({found[0] for path in files if (found := re.match(r"(?:[^/]+/)?(?:broker|controller)-\d+(?=/)", path))})


# writers


def tar(files: Files, *, mode: str = "w") -> File:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode, format=tarfile.PAX_FORMAT) as archive:  # type: ignore[call-overload]
        for name, file in files.items():
            info = tarfile.TarInfo(name)
            info.size, info.mtime = len(file.content), file.modified
            archive.addfile(info, io.BytesIO(file.content))
    return File(out.getvalue(), latest(files))


def zipped(files: Files) -> File:
    """A zip with the local times of a machine in UTC."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, file in files.items():
            at = datetime.fromtimestamp(file.modified, timezone.utc)
            archive.writestr(zipfile.ZipInfo(name, at.timetuple()[:6]), file.content, compress_type=zipfile.ZIP_DEFLATED)
    return File(out.getvalue(), latest(files))


def latest(files: Mapping[str, File]) -> float:
    return max((f.modified for f in files.values()), default=0.0)


def put(root: Path, files: Files) -> Path:
    for name, file in files.items():
        path = root / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.content)
        os.utime(path, (file.modified, file.modified))
    return root


# logs

HEAD = re.compile(rb"^\[(\d{4}-\d\d-\d\d) (\d\d):(\d\d):(\d\d),(\d{3})\]")


def records(content: bytes) -> list[bytes]:
    """A log's records, each with the lines that continue it."""
    found: list[bytes] = []
    for line in content.splitlines(keepends=True):
        if found and not HEAD.match(line):
            found[-1] += line
        else:
            found.append(line)
    return found


def moment(record: bytes) -> float:
    """A record's wall clock, taken as UTC."""
    found = HEAD.match(record)
    assert found is not None
    at = datetime.fromisoformat(found[0][1:-1].decode().replace(",", "."))
    return at.replace(tzinfo=timezone.utc).timestamp()


def merged(logs: Iterable[bytes]) -> bytes:
    """Records of several logs in the order of their time, as one stream of standard output holds them."""
    keyed = []
    for number, content in enumerate(logs):
        at = 0.0
        for place, record in enumerate(records(content)):
            at = max(at, moment(record)) if HEAD.match(record) else at
            keyed.append((at, number, place, record))
    return b"".join(record if record.endswith(b"\n") else record + b"\n" for *_, record in sorted(keyed))


def cut(file: File, at: Iterable[int]) -> list[File]:
    """A log cut before these of its lines, oldest piece first, each modified when its last line was written."""
    lines = file.content.splitlines(keepends=True)
    edges = [0, *sorted(set(at)), len(lines)]
    pieces = [b"".join(lines[a:b]) for a, b in pairwise(edges) if a < b]
    found = []
    for number, piece in enumerate(pieces, 1):
        stated = [r for r in piece.splitlines() if HEAD.match(r)]
        found.append(File(piece, file.modified if number == len(pieces) or not stated else moment(stated[-1])))
    return found


def by_pod(files: Files, pod: Callable[[str], str]) -> Files:
    """All logs of each node in one stream, as `pod` names it; the rest is left out."""
    own: dict[str, list[File]] = defaultdict(list)
    for path, file in files.items():
        if (found := re.match(r"(broker|controller)-(\d+)/logs/", path)) and file.content:
            own[pod(found[0].split("/")[0])].append(file)
    return {name: File(merged(f.content for f in logs), max(f.modified for f in logs)) for name, logs in own.items()}


_RECORD = re.compile(rb"\[(\S+) ([\d:]+),(\d{3})\] (\w+) (.*) \(([\w.$]+)\)\n?", re.DOTALL)

Layout = Callable[[str, str, str, str, str, str], str]
"""Writes a record from its date, time, milliseconds, level, message and logger."""


def relaid(log: File, layout: Layout, kept: Callable[[list[bytes]], Iterable[bytes]] = iter) -> File:
    """The kept records of a log in another layout."""
    found = (_RECORD.fullmatch(record) for record in kept(records(log.content)))
    lines = (layout(*(part.decode() for part in record.groups())) for record in found if record is not None)
    return File("".join(f"{line}\n" for line in lines).encode(), log.modified)


def later(log: File, by: timedelta) -> File:
    """A log whose times are all later."""

    def moved(found: re.Match[bytes]) -> bytes:
        at = datetime.fromisoformat(found[0][1:-1].decode().replace(",", ".")) + by
        return f"[{at:%Y-%m-%d %H:%M:%S},{at.microsecond // 1000:03}]".encode()

    return File(re.sub(HEAD.pattern, moved, log.content, flags=re.MULTILINE), log.modified)


def of_docker(date: str, time: str, milliseconds: str, level: str, message: str, logger: str) -> str:
    """The lines of a record as docker keeps them."""
    lines = f"[{date} {time},{milliseconds}] {level} {message} ({logger})".split("\n")
    return "\n".join(json.dumps({"log": f"{line}\n", "stream": "stdout", "time": f"{date}T{time}.{milliseconds}123456Z"}) for line in lines)


def of_strimzi(date: str, time: str, milliseconds: str, level: str, message: str, logger: str) -> str:
    """A record in the layout of Strimzi's images, in a thread that depends on it."""
    thread = ("main", "kafka-scheduler-3", "data-plane-kafka-request-handler-1", "QuorumController-100-event-handler")[len(message) % 4]
    return f"{date} {time},{milliseconds} {level} {message} ({logger}) [{thread}]"


def of_elastic(date: str, time: str, milliseconds: str, level: str, message: str, logger: str) -> str:
    """A record as Elastic's layout writes it, with microseconds."""
    return json.dumps({"@timestamp": f"{date}T{time}.{milliseconds}437", "log.level": level, "log.logger": logger, "message": message})


def of_seconds(date: str, time: str, milliseconds: str, level: str, message: str, logger: str) -> str:
    """A record of an export with whole seconds."""
    return json.dumps({"timestamp": f"{date} {time}", "level": level, "logger": logger, "message": message})

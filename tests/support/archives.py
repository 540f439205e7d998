"""Archives and trees of made files, and what a walk reads of them: for tests of containers."""

from __future__ import annotations

import io
import os
import tarfile
import zipfile
from pathlib import Path

from parsers.containers.units import Unit
from parsers.containers.walk import members, read_unit
from parsers.limits import Limits

LINE = b"[2024-05-01 13:00:00,123] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)\n"


FILES = {
    "broker-1/logs/server.log": LINE * 40,
    "broker-1/data/clicks-0/00000000000000000000.log": bytes(range(256)) * 20,
    "broker-1/data/clicks-0/leader-epoch-checkpoint": b"0\n1\n0 0\n",
    "broker-1/data/recovery-point-offset-checkpoint": b"",
}


MTIME = 1714568400  # 2024-05-01T13:00:00Z


def tar(files: dict[str, bytes], mode: str = "w", **header: object) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:  # type: ignore[call-overload]
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size, info.mtime = len(content), MTIME
            for key, value in header.items():
                setattr(info, key, value)
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


def zipped(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, (2024, 5, 1, 13, 0, 0)), content, compress_type=method)
    return out.getvalue()


def put(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def spread(root: Path, files: dict[str, bytes] = FILES) -> Path:
    for name, content in files.items():
        os.utime(put(root / name, content), (MTIME, MTIME))
    return root


def read(path: Path) -> dict[str, bytes]:
    """Contents by path; any problem fails the test."""
    out = {}
    for member, stream, problem in members(path):
        assert problem is None
        assert stream is not None
        assert member.path not in out
        out[member.path] = stream.read()
    return out


def walk(path: Path, **limits: int) -> tuple[dict[str, bytes], list[tuple[str, str]]]:
    contents, problems = {}, []
    for member, stream, problem in read_unit(Unit(str(path), None, 0, limits=Limits(**limits))):
        assert (stream is None) != (problem is None)
        if stream is not None:
            contents[member.path] = stream.read()
        if problem is not None:
            assert problem.startswith(f"{member.path}: ")
            problems.append((member.path, problem))
    return contents, problems

"""What the fuzzer begins with: the beginnings of the fixtures' files, and what the readers' own tests hold as literals."""

from __future__ import annotations

import ast
import bz2
import gzip
import lzma
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from io import BytesIO

import zstandard

from fixtures.exports import FORMS
from fixtures.exports.rows import Options, Record, arranged
from parsers.decoding.batches import Batch, headers
from parsers.decoding.bodies import UnreadableBatch, records
from parsers.decoding.encoding import Malformed
from parsers.evidence import HEAD, LOG_KINDS, kind_of
from parsers.paths import partition_of
from parsers.patterns import PATTERNS
from parsers.schemas import Member
from tests.forensics.proof.tables import LENGTH
from tests.fuzzing.targets import BETWEEN, NULL, OF_INTERNAL, SECRETS, TARGETS, WITHIN, path_of, records_at_random
from tests.support.archives import FILES, tar, zipped
from tests.support.paths import ROOT
from tests.support.shapes import BUNDLES, bundle

MOST, SIZE = 40, 2000
"""Seeds of a target, and bytes of one."""
READERS_TESTS: Mapping[str, Sequence[str]] = {
    "log": ["test_log_file", "test_unwrapper", "test_layouts", "test_records"],
    "learned-layout": ["test_layout", "test_layouts"],
    "log-pattern": ["test_log_pattern"],
    "gc-log": ["test_gc"],
    "load-metrics": ["test_load_metrics"],
    "describe": ["test_describe"],
    "znode": ["test_assignments"],
    "reassignment-json": ["test_assignments"],
    "election-json": ["test_assignments"],
    "segment": ["test_batches"],
    "groups-output": ["test_clients"],
    **dict.fromkeys(("meta-properties", "partition-metadata", "server-properties", "quorum-state", "clean-shutdown"), ("test_properties",)),
    **dict.fromkeys(("reassignment-output", "election-output", "log-dirs", "metadata-quorum", "config-output"), ("test_cluster_tools",)),
    **dict.fromkeys(("offsets-output", "features-output", "cluster-id"), ("test_cluster_tools",)),
}
"""Tests by name, wherever they lie."""


def _literals(module: str) -> Iterator[bytes]:
    paths = sorted((ROOT / "tests").rglob(f"{module}.py"))
    assert paths, f"no test {module}"
    for node in (node for path in paths for node in ast.walk(ast.parse(path.read_text()))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes) and len(node.value) > 9:
            yield node.value.encode() if isinstance(node.value, str) else node.value


def _exports() -> Iterator[bytes]:
    """Three records in each form of export, in both directions."""
    at = datetime(2026, 11, 21)
    texts = ("[2026-11-21 00:00:00,000] INFO [Log partition=a-0, dir=/d] Truncating to offset 7 (kafka.log.Log)", "\tat kafka.Kafka")
    stated = [Record("broker-1", "server.log", at + timedelta(seconds=n), "INFO", texts[: 1 + n % 2]) for n in range(3)]
    for form in FORMS.values():
        for newest_first in (False, True) if form.newest_first is not None else (False,):
            rows = arranged(stated, form, Options(newest_first=newest_first))
            yield from (content[:SIZE] for _, content in form.render(rows))


def _bodies(data: bytes) -> Iterator[bytes]:
    """Batches of a segment as `framed` reads them."""
    for batch in headers(BytesIO(data), payload=1 << 20):
        if isinstance(batch, Batch):
            try:
                lines = list(records(batch, 1 << 20))[:9]
            except (Malformed, UnreadableBatch):
                continue
            framed = BETWEEN.join(WITHIN.join(NULL if p is None else p for p in (r.key, r.value)) for r in lines)
            yield bytes([32 * batch.control]) + framed


def _short(files: dict[str, bytes]) -> bytes:
    """A tar with no more zeros at its end than one must have."""
    data = tar(files).rstrip(b"\0")
    return data + b"\0" * (-len(data) % 512 + 1024)


def seeds() -> dict[str, list[bytes]]:
    """By target."""
    found: dict[str, dict[bytes, None]] = defaultdict(dict)
    internal = {topic: target for target, topic in OF_INTERNAL.items()}
    for name in sorted(p.name.removesuffix(".tar.gz") for p in BUNDLES.glob("*.tar.gz"))[::3]:
        for path, file in bundle(name).items():
            data, member = file.content, Member(path, None, None)
            kind = kind_of(member, data[:HEAD], ())
            target = "log" if kind in LOG_KINDS else kind
            if target in TARGETS and len(found[target]) < MOST:
                for own in ("learned-layout",) if target == "log" else ("salvage",) if target == "segment" else ():
                    found[own][data[:SIZE]] = None
                found[target][data[:SIZE]] = None
                for own in ("any-kind", "redaction"):
                    found[own][f"{path}\n".encode() + data[:SIZE]] = None
            where = partition_of(path)
            own = internal.get(where[0] if where else "", "metadata-records" if kind == "metadata-segment" else "snapshot-records")
            if kind in ("segment", "metadata-segment", "metadata-snapshot") and (kind != "segment" or (where and where[0] in internal)):
                number = [*OF_INTERNAL, "metadata-records", "snapshot-records"].index(own)
                for stated in [b for b in _bodies(data) if len(b) < SIZE][:MOST]:
                    if len(found[own]) < 4 * MOST:
                        found[own][stated] = None
                        found["redacted-records"][bytes([number]) + stated] = None
    for target, modules in READERS_TESTS.items():
        for module in modules:
            found[target].update(dict.fromkeys(_literals(module)))
            found["any-kind"].update((f"{path_of(target)}\n".encode() + data, None) for data in _literals(module))
    samples = [sample.line.encode() for pattern in PATTERNS for sample in pattern.samples]
    found["log"].update((data, None) for data in _exports())
    for target in ("log", "learned-layout"):
        found[target].update((b"\n".join(samples[at : at + 9]), None) for at in range(0, len(samples), 9))
    found["log-pattern"].update((b"[%d] %p %m (%c)%n\n" + data, None) for data in list(found["log"])[:MOST])
    chance = random.Random(0)
    found["hand-overs"].update((chance.randbytes(LENGTH), None) for _ in range(MOST))
    found["hand-overs-of-a-case"].update((records_at_random(chance.randbytes(LENGTH)), None) for _ in range(MOST))
    found["wrapper"].update((data, None) for data in found["log"])
    found["container"].update(
        dict.fromkeys([tar(FILES), zipped(FILES), gzip.compress(tar(FILES)), zipped({"a.tar.gz": tar(FILES, "w:gz")})])
    )
    few = {"a/x.log": b"x\n" * 9, "a/./y": b"", "b\\z": b"z", "../up": b"u", "a/x.log.gz": gzip.compress(b"x\n" * 9)}
    packed = (
        _short(few),
        zipped(few),
        tar(few, "w:bz2"),
        tar(few, "w:xz"),
        _short({"in.zip": zipped(few), "in.tgz": tar(few, "w:gz")}),
        zipped({"in.tar": _short(few)}),
    )
    found["container"].update(
        dict.fromkeys(
            [
                *packed,
                *(way(data) for way in (gzip.compress, bz2.compress, lzma.compress, zstandard.compress) for data in (b"x\n", packed[0])),
            ]
        )
    )
    planted = [data for data in found["redaction"] if len(data) < SIZE // 2]
    found["planted"].update((bytes([n % len(SECRETS), n % 12, n % 7, n * 37 % 256]) + data, None) for n, data in enumerate(planted))
    found["codecs"].update((bytes([codec, 3 * 5 + 2]) + data, None) for codec in range(6) for data in [b"\0" * 9, gzip.compress(b"\0" * 9)])
    return {target: list(found[target]) for target in TARGETS}

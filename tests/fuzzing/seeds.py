"""What the fuzzer begins with: the beginnings of the fixtures' files, and what the readers' own tests hold as literals."""

from __future__ import annotations

import ast
import gzip
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO

from parsers.decoding.batches import Batch, headers
from parsers.decoding.bodies import Unreadable, records
from parsers.decoding.encoding import Malformed
from parsers.evidence import HEAD, LOG_KINDS, kind_of
from parsers.paths import partition_of
from parsers.patterns import PATTERNS
from parsers.schemas import Member
from tests.fuzzing.targets import BETWEEN, NULL, OF_INTERNAL, TARGETS, WITHIN, path_of
from tests.support.archives import FILES, tar, zipped
from tests.support.paths import ROOT
from tests.support.shapes import BUNDLES, bundle

MOST, SIZE = 40, 3000
"""Seeds of a target, and bytes of one."""
READERS_TESTS: Mapping[str, Sequence[str]] = {
    "log": ["catalogue/test_log_file", "wrappers/test_unwrapper", "test_layouts", "test_records"],
    "learned-layout": ["catalogue/test_learning", "test_layouts"],
    "log-pattern": ["test_log_pattern"],
    "gc-log": ["test_gc"],
    "load-metrics": ["test_load_metrics"],
    "describe": ["test_describe"],
    "znode": ["test_assignments"],
    "reassignment-json": ["test_assignments"],
    "election-json": ["test_assignments"],
    "segment": ["test_batches"],
    "groups-output": ["../forensics/test_clients"],
    **dict.fromkeys(("meta-properties", "partition-metadata", "server-properties", "quorum-state", "clean-shutdown"), ("test_properties",)),
    **dict.fromkeys(("reassignment-output", "election-output", "log-dirs", "metadata-quorum", "config-output"), ("test_cluster_tools",)),
    **dict.fromkeys(("offsets-output", "features-output", "cluster-id"), ("test_cluster_tools",)),
}


def _literals(module: str) -> Iterator[bytes]:
    for node in ast.walk(ast.parse((ROOT / "parsers" / f"{module}.py").read_text())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes) and len(node.value) > 9:
            yield node.value.encode() if isinstance(node.value, str) else node.value


def _bodies(data: bytes) -> Iterator[bytes]:
    """Batches of a segment as `framed` reads them."""
    for batch in headers(BytesIO(data), payload=1 << 20):
        if isinstance(batch, Batch):
            try:
                told = list(records(batch, 1 << 20))[:9]
            except (Malformed, Unreadable):
                continue
            framed = BETWEEN.join(WITHIN.join(NULL if p is None else p for p in (r.key, r.value)) for r in told)
            yield bytes([32 * batch.control]) + framed


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
                for told in [b for b in _bodies(data) if len(b) < SIZE][:MOST]:
                    if len(found[own]) < 4 * MOST:
                        found[own][told] = None
                        found["redacted-records"][bytes([number]) + told] = None
    for target, modules in READERS_TESTS.items():
        for module in modules:
            found[target].update(dict.fromkeys(_literals(module)))
            found["any-kind"].update((f"{path_of(target)}\n".encode() + data, None) for data in _literals(module))
    samples = [sample.line.encode() for pattern in PATTERNS for sample in pattern.samples]
    for target in ("log", "learned-layout"):
        found[target].update((b"\n".join(samples[at : at + 9]), None) for at in range(0, len(samples), 9))
    found["log-pattern"].update((b"[%d] %p %m (%c)%n\n" + data, None) for data in list(found["log"])[:MOST])
    found["container"].update(
        dict.fromkeys([tar(FILES), zipped(FILES), gzip.compress(tar(FILES)), zipped({"a.tar.gz": tar(FILES, "w:gz")})])
    )
    found["codecs"].update((bytes([codec, 3 * 5 + 2]) + data, None) for codec in range(6) for data in [b"\0" * 9, gzip.compress(b"\0" * 9)])
    return {target: list(found[target]) for target in TARGETS}

"""One number of a recording is another one: in a line, a checkpoint or a segment. And what must not be surer in the report on such evidence.

Here: the edits and the relation. Not here: which edits a test tries (test_forged_numbers), or evidence that is taken away (taken).
"""

from __future__ import annotations

import random
import re
import struct
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from forensics.model.findings import CONFIDENCES
from forensics.proof.verdict import UNKNOWN
from tests.support.damaged import frames
from tests.support.shapes import File, Files
from tests.support.taken import Claim, Judged, _events

OFFSETS = ("log_end_offset", "high_watermark", "offset", "previous_offset")
NUMBERS = (*OFFSETS, "leader_epoch", "partition_epoch")
NOTICES = frozenset(
    {"evidence-conflict", "checkpoint-inconsistent", "checkpoint-corrupt", "epoch-history-damaged", "log-divergence", "hw-regression"}
)
"""Kinds that name numbers which contradict each other."""
OF_RECORDS = frozenset(
    {"data-loss", "unclean-election", "hw-stuck", "zombie-leader", "offset-commit-loss", "transaction-marker-loss", "log-wiped-at-load"}
    | {"truncate-to-start", "empty-replica-joins", "missed-epoch-change", "read-then-lost", "consumer-skip", "consumer-reset"}
    | {"stale-isr-candidate"}
)
"""Kinds that tell what became of records."""


class Edit(NamedTuple):
    """Bytes of a file from `start` to before `end` are others."""

    path: str
    place: str
    start: int
    end: int
    other: bytes

    def of(self, files: Files) -> Files:
        content = files[self.path].content
        return files | {self.path: files[self.path]._replace(content=content[: self.start] + self.other + content[self.end :])}


def edits(files: Files) -> dict[str, list[Edit]]:
    """All of them, by kind of number. What the files of a broker that was stopped show has no second witness."""
    pools = defaultdict[str, list[Edit]](list)
    for path, file in files.items():
        if "__" not in path and not path.startswith("before-"):
            for kind, edit in (*_of_lines(path, file), *_of_checkpoint(path, file.content), *_of_segment(path, file.content)):
                pools[kind].append(edit)
    return pools


def chosen(files: Files, seed: str, each: int) -> list[Edit]:
    """So many of each kind."""
    chance = random.Random(seed)
    return [edit for _, pool in sorted(edits(files).items()) for edit in chance.sample(pool, min(each, len(pool)))]


def _others(value: int) -> list[int]:
    return sorted({value + 300, value + 1, value // 2} - {value})


def _of_lines(path: str, file: File) -> Iterator[tuple[str, Edit]]:
    starts = [0, *(end.end() for end in re.finditer(b"\n", file.content))]
    for e in _events(path, file).to_pylist() if "/logs/" in path else ():
        if e["line"] is None or e["partition"] is None or (e["topic"] or "__").startswith("__"):
            continue
        name, begin, end = f"{e['topic']}-{e['partition']}".encode(), *(starts[e["line"] - 1 : e["line"] + 1])
        after = max(file.content.find(name, begin, end), begin) + len(name)
        for field in (f for f in NUMBERS if e[f] is not None):
            for found in re.compile(rb"(?<![\w.:-])%d(?![\w.:-])" % e[field]).finditer(file.content, after, end):
                for other in _others(e[field]):
                    place = f"line {e['line']}: {e[field]} is {other}"
                    yield f"{e['event']} {field}", Edit(path, place, *found.span(), str(other).encode())


def _of_checkpoint(path: str, content: bytes) -> Iterator[tuple[str, Edit]]:
    name = path.rpartition("/")[2]
    for found in re.finditer(rb"(?m)^(?:(?!__)\S+ \d+|\d+) (\d+)$", content) if name.endswith("checkpoint") else ():
        for other in _others(int(found[1])):
            yield name, Edit(path, f"{found[0].decode()} is {other}", *found.span(1), str(other).encode())


def _of_segment(path: str, content: bytes) -> Iterator[tuple[str, Edit]]:
    own = frames(content) if re.search(r"/\d{20}\.log$", path) else []
    for batch in own:
        at = batch.position + 12
        yield "epoch of a batch", Edit(path, f"epoch at {batch.base}", at, at + 4, struct.pack(">i", batch.epoch + 1))
    if own:
        last = own[-1]
        tail, size = content[last.position + 8 : last.end], last.last - last.base + 1
        more = b"".join(struct.pack(">q", last.last + 1 + n * size) + tail for n in range(50))
        yield "appended batches", Edit(path, f"50 batches after {last.last}", last.end, last.end, more)


def surer(part: Judged, whole: Judged) -> Iterator[str]:
    """Claims about records that the whole evidence does not make, or not as surely."""
    for c in part.claims:
        if c.kind in OF_RECORDS and c.confidence > 0:
            same = [o for o in whole.claims if (o.kind, o.place) == (c.kind, c.place) and o.confidence >= c.confidence]
            same = [o for o in same if c.committed in (None, o.committed)]
            if not same or not c.offsets <= frozenset().union(*(o.offsets for o in same)):
                yield f"{c.kind} {CONFIDENCES[c.confidence]}: {c.summary}"
    for name, verdict in part.verdicts.items():
        if verdict not in (UNKNOWN, whole.verdicts.get(name)):
            yield f"{name}: {whole.verdicts.get(name)} became {verdict}"


def noticed(part: Judged, whole: Judged) -> set[Claim]:
    return {c for c in part.claims if c.kind in NOTICES} - {*whole.claims}

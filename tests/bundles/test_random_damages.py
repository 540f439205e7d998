"""Recorded incidents with random damage in segments, checkpoints and metadata logs: no claim becomes surer than with whole evidence."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable

import pytest

from forensics.model.findings import Finding
from tests.bundles.test_damaged_segments import Checked, checked
from tests.support.shapes import Files, bundle

CLAIMS = ("data-loss", "log-divergence", "unclean-election")
SURE = ("probable", "certain")
_BLOCK = 512


def damage(content: bytes, chance: random.Random) -> bytes:
    """Bits are flipped, the end is cut off, a block is zeroed or comes twice, or two blocks change places."""
    data = bytearray(content)
    at, other = (chance.randrange(0, len(data), min(_BLOCK, len(data))) for _ in range(2))
    how = chance.choice(("flip", "cut", "zero", "twice", "swap"))
    if how == "flip":
        for _ in range(chance.choice((1, 9))):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    elif how == "cut":
        del data[chance.randrange(len(data)) :]
    elif how == "zero":
        data[at : at + _BLOCK] = bytes(len(data[at : at + _BLOCK]))
    elif how == "twice":
        data[at:at] = data[at : at + _BLOCK]
    else:
        data[at : at + _BLOCK], data[other : other + _BLOCK] = data[other : other + _BLOCK], data[at : at + _BLOCK]
    return bytes(data)


def damaged(files: Files, chance: random.Random) -> Files:
    binary = [path for path, file in files.items() if re.search(r"/\d{20}\S*$|checkpoint$", path) and file.content]
    return files | {path: files[path]._replace(content=damage(files[path].content, chance)) for path in chance.sample(binary, 3)}


def claims(found: Checked) -> Iterable[tuple[Finding, str]]:
    return ((f, f"{f.kind} {f.name}") for f in found.findings if f.kind in CLAIMS and f.confidence in SURE)


@pytest.mark.parametrize("name", ["unclean-election-0.8.2.2-zk", "unclean-election-2.8.2-zk", "last-replica-standing-3.9.1-kraft"])
def test_no_claim_becomes_surer(name: str) -> None:
    whole, chance = checked(bundle(name)), random.Random(name)
    known = {(what, f.committed) for f, what in claims(whole)} | {(what, None) for _, what in claims(whole)}
    certain = {what for f, what in claims(whole) if f.confidence == "certain"}
    for _ in range(4):
        found = checked(damaged(bundle(name), chance))
        changed = {p: v for p, v in found.verdicts.items() if v != whole.verdicts.get(p)}
        assert {*changed.values()} <= {"unknown"}, changed
        assert {(what, f.committed) for f, what in claims(found)} <= known
        assert {what for f, what in claims(found) if f.confidence == "certain"} <= certain

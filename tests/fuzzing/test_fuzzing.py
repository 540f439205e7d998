"""What the fuzzer runs is whole: every reader is in it, and each holds what it promises of some bytes."""

from __future__ import annotations

import pytest

from parsers import evidence
from parsers.sniff import KINDS
from tests.fuzzing.targets import TARGETS


def test_every_reader_is_fuzzed() -> None:
    of_no_reader = {"document", "empty", "index", "pointer", "producer-snapshot", "redaction"}
    assert TARGETS.keys() >= KINDS.keys() - evidence.LOG_KINDS - evidence.UNCLAIMED - of_no_reader


@pytest.mark.parametrize(
    "data", [b"", b"0\n1\norders 0 5\n", b"x=\xff\0\n{", b"[2026-11-21 02:15:38,147] INFO x (a.B)\n" * 3], ids=range(4)
)
def test_every_target_holds(data: bytes) -> None:
    for target in TARGETS.values():
        target(data)

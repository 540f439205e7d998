"""Lines know their places, and none is too long."""

from __future__ import annotations

from io import BytesIO

import pytest

from parsers.lines import Outer, lines


def test_long_line_comes_as_its_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parsers.lines.MAX_LOG_LINE", 1000)
    monkeypatch.setattr("parsers.lines._BLOCK", 64)
    outer = Outer(BytesIO(b"a\n" + b"x" * 5000 + b"\nb\n" + b"y" * 1000))
    found = []
    while (line := outer.next()) is not None:
        found.append((len(line[0]), *line[1:]))
    assert found == [(1, 1, 0), (1000, 2, 2), (1, 3, 5003), (1000, 4, 5005)]
    assert (outer.cut, outer.line, outer.byte, outer.unended) == (1, 4, 6005, True)


def test_lines_know_their_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parsers.lines.MAX_LINE", 4)
    found = list(lines(BytesIO(b"ab\r\n\nabcdefghij\nz")))
    assert found == [(1, 0, b"ab"), (2, 4, b""), (3, 5, b"abcd"), (4, 16, b"z")]

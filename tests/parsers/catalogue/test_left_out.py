"""The words that all lines of a log have in common, however the lines are distributed over chunks."""

from __future__ import annotations

import re
from functools import reduce

from hypothesis import example, given
from hypothesis import strategies as st

from parsers.catalogue.left_out import LeftOut

LOGGER = re.compile(r" \([\w.$-]+\)( \[[^\[\]]*\])?[ \t]*$", re.ASCII)
LEVELS = {"TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"}
PIECES = st.sampled_from(
    [
        "leader",
        "epoch",
        "leaders",
        "topic",
        "INFO",
        " ",
        " ",
        "=",
        ".",
        ",",
        "[",
        "] ",
        "]",
        "-7",
        " (state.change.logger)",
        " [leader]",
        "\t",
    ]
)
LINES = st.lists(st.lists(PIECES, max_size=12).map("".join), max_size=40)


def common(lines: list[str]) -> list[str]:
    """As a person would find them; more than sixty letters are not a word."""
    own = [set(re.findall("(?<![A-Za-z])[A-Za-z]{4,60}(?![A-Za-z])", LOGGER.sub("", line))) - LEVELS for line in lines if line.strip()]
    return sorted(reduce(set.__and__, own, own[0]) if own else (), key=lambda word: (-len(word), word))


def printed(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


@given(st.lists(LINES, max_size=4))
@example([["leader" * 11]])
def test_a_word_is_common_if_it_is_in_every_line_that_is_not_blank(chunks: list[list[str]]) -> None:
    signs = LeftOut()
    for lines in chunks:
        signs.chunk(printed(lines))
    assert signs.collected()["common_words"] == common([line for lines in chunks for line in lines])


@given(LINES, LINES)
def test_two_parts_of_a_log_have_in_common_what_both_have(first: list[str], second: list[str]) -> None:
    parts = LeftOut(), LeftOut()
    for part, lines in zip(parts, (first, second), strict=True):
        part.chunk(printed(lines))
    parts[0].take_over(parts[1])
    assert parts[0].collected()["common_words"] == common(first + second)


def test_the_logger_before_a_thread_is_not_part_of_the_message() -> None:
    signs = LeftOut()
    threads = {"Rolled": "main", "Loaded": "kafka-0-raft-io-thread", "Flushed": "kafka-scheduler-3"}
    signs.chunk(printed([f"2026-11-21 01:55:06,128 INFO {word} (org.apache.kafka.raft.Log) [{t}]" for word, t in threads.items()]))
    assert signs.collected()["common_words"] == []


def test_a_word_that_lines_print_in_many_ways_is_common() -> None:
    signs = LeftOut()
    lines = [f"{chr(before)}leader{chr(after)}" for before in range(33, 65) for after in range(33, 65)]
    signs.chunk(printed([*lines, "the leader"]) * 3)
    assert signs.collected()["common_words"] == ["leader"]
    signs.chunk(b"the leaders\n")
    assert signs.collected()["common_words"] == []


def test_long_lines_may_have_many_words_in_common() -> None:
    signs = LeftOut()
    words = ["a" * length + last for length in range(4, 14) for last in "bcdefghijk"]
    signs.chunk(printed([" ".join(words), " ".join(reversed(words))]))
    assert signs.collected()["common_words"] == sorted(words, key=lambda word: (-len(word), word))[:20]
    signs.chunk(printed([" ".join(words[:60]), " ".join(words[:3]), words[2]]))
    assert signs.collected()["common_words"] == [words[2]]

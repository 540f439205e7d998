"""Line patterns from TOML files: the form, its errors, and the place of a user's patterns among the built-in ones."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path

import pytest

from parsers import package_data, pattern_files
from parsers.catalogue.log_file import LogFile, read_log_by_columns
from parsers.catalogue.samples import check
from parsers.containers.units import units
from parsers.evidence import events
from parsers.own_files import OwnFile
from parsers.patterns import FILES, PATTERNS
from parsers.patterns.expand import FUNCTIONS
from parsers.patterns.facets import facet_of_line
from parsers.patterns.in_force import pattern_set
from parsers.patterns.pattern import Pattern
from parsers.patterns.pattern_toml import read, write
from parsers.schemas import EVENTS, Member, Row, batches
from tests.support.paths import ROOT

if sys.version_info < (3, 11):
    pytest.importorskip("tomli")

DOCUMENT = ROOT / "docs" / "own-patterns.md"
EXAMPLE = re.findall(r"```toml\n(.*?)```", DOCUMENT.read_text("utf-8"), re.DOTALL)[0]
NAME = "segment-tail-truncated"
"""The pattern of the example in the documentation."""
LINE = (
    "[2024-05-01 12:00:01,123] DEBUG Truncated 61 invalid bytes at the end of segment /data/orders-0/00000000000000000100.log during recovery"
    " (kafka.log.LogSegment)"
)
BUILT_IN = "[2024-05-01 12:00:02,123] WARN [Log partition=orders-0, dir=/data] Corruption found in segment 100, truncating to offset 180 (kafka.log.Log)"
REPLACEMENT = """
[[pattern]]
name = 'segment-corrupt'
event = 'segment-roll'
literal = 'Corruption found in segment '
regex = 'Corruption found in segment (?P<offset>\\d+), .*'
versions = ['0.8.2', '4.3']

[[pattern.samples]]
line = '[2024-05-01 12:00:02,123] WARN [Log partition=t-0, dir=/data] Corruption found in segment 100, truncating to offset 180 (kafka.log.Log)'
fields = { topic = 't', partition = 0, offset = 100 }
"""


@pytest.fixture(autouse=True)
def nothing_in_force() -> Iterator[None]:
    yield
    pattern_files.put_in_force(())


def both_ways(*lines: str) -> list[Row]:
    """Events of lines, which are the same with the reader by columns and the reader by lines."""
    data = "".join(f"{line}\n" for line in lines).encode()
    member = Member("server.log", None, None)
    found = [
        [row for batch in batches(stated) for row in batch.to_pylist() if row["event"] not in ("source", "problem")]
        for stated in (read_log_by_columns(BytesIO(data), member, "server-log"), LogFile(member, "server-log").rows(BytesIO(data)))
    ]
    assert found[0] == found[1]
    return found[0]


def in_force(*texts: str) -> None:
    pattern_files.put_in_force(tuple(OwnFile(f"{number}.toml", text) for number, text in enumerate(texts)))


def test_the_built_in_patterns_are_equal_when_they_are_read_again_and_read_their_samples() -> None:
    text = "\n".join(map(write, PATTERNS))
    for read_again, pattern in zip(read(text, "all.toml"), PATTERNS, strict=True):
        assert read_again == pattern
    check([OwnFile("all.toml", text)])


@pytest.mark.parametrize(
    "text", ["it's", "a\\d'''b'", "tab\there", "two\nlines", "'''", "bell\x07 del\x7f", 'quote " and \\', "'end'", "\nfirst"]
)
def test_every_text_is_the_same_when_it_is_read_again(text: str) -> None:
    pattern = next(p for p in PATTERNS if p.name == "segment-corrupt")
    noted = Pattern(**{**{name: getattr(pattern, name) for name in Pattern.__dataclass_fields__}, "note": text})
    assert read(write(noted), "printed.toml")[0].note == text


def test_a_pattern_of_the_user_reads_lines_in_both_readers() -> None:
    assert both_ways(LINE) == []
    in_force(EXAMPLE)
    (row,) = both_ways(LINE)
    assert (row["event"], row["pattern"], row["topic"], row["partition"], row["bytes"]) == ("log-corruption", NAME, "orders", 0, 61)
    assert (row["level"], row["line"], row["text"]) == ("DEBUG", 1, LINE)


def test_a_pattern_of_the_user_shows_what_its_logger_prints() -> None:
    in_force(EXAMPLE)
    assert facet_of_line(NAME, "INFO", "") == "log"


def test_a_pattern_of_the_user_is_tried_first_and_others_stay() -> None:
    other = REPLACEMENT.replace("'segment-corrupt'", "'mine'")
    assert [row["pattern"] for row in both_ways(BUILT_IN)] == ["segment-corrupt"]
    in_force(other)
    assert [(row["pattern"], row["event"]) for row in both_ways(BUILT_IN)] == [("mine", "segment-roll")]
    assert {p.name for p in pattern_set().patterns} == {"mine", *(p.name for p in PATTERNS)}


def test_of_two_patterns_of_the_user_the_first_one_reads_the_line() -> None:
    first, second = (REPLACEMENT.replace("'segment-corrupt'", f"'{name}'") for name in ("first", "second"))
    in_force(first, second)
    assert [row["pattern"] for row in both_ways(BUILT_IN)] == ["first"]
    with pytest.raises(
        ValueError, match=r"^1\.toml: pattern 1 `second`: sample 1: the pattern `first`, which is tried before, reads the line$"
    ):
        check([OwnFile("0.toml", first), OwnFile("1.toml", second)])


def test_a_pattern_of_the_user_replaces_the_built_in_one_of_its_name() -> None:
    in_force(REPLACEMENT)
    assert [row["event"] for row in both_ways(BUILT_IN)] == ["segment-roll"]
    assert both_ways(BUILT_IN.replace("100,", "100 of log orders-0,")) == [], "the built-in one would read it"
    assert len(pattern_set().patterns) == len(PATTERNS)


def test_units_carry_the_patterns_to_the_reader(tmp_path: Path) -> None:
    (tmp_path / "server.log").write_text(f"{BUILT_IN}\n{LINE}\n")

    def names(files: Sequence[OwnFile]) -> set[str]:
        planned = units([str(tmp_path)], patterns=files)
        pattern_files.put_in_force(())  # as in the process of a worker
        return {row["pattern"] for unit in planned for batch in events(unit) for row in batch.to_pylist()} & {NAME, "segment-corrupt"}

    assert names([OwnFile("a.toml", EXAMPLE)]) == {NAME, "segment-corrupt"}
    assert names([]) == {"segment-corrupt"}, "the next unit is read without"


@pytest.mark.parametrize(
    ("written", "regex"),
    [
        ("(?P<isr>{IDS})", r"(?P<isr>(?:\w+\()?\[?[-\d, ]*\]?\)?)"),
        ("a{3}b{1,20}c{,4}", "a{3}b{1,20}c{,4}"),
        (r"\{TOPIC} \\{TOPIC} \p{Lu}", r"\{TOPIC} \\[a-zA-Z0-9._-]{1,249} \p{Lu}"),
        ("one\n two\nthree", "one twothree"),
    ],
)
def test_names_in_braces_are_fragments_and_lines_are_joined(written: str, regex: str) -> None:
    text = re.sub(r"regex = .*", lambda _: f"regex = '''\n{written}'''", EXAMPLE)
    assert read(text, "x.toml")[0].regex == regex


def test_the_built_in_files_are_valid_and_use_every_fragment_and_function() -> None:
    texts = [package_data.text("parsers.patterns", f"{name}.toml") for name in FILES]
    found = [pattern for name, text in zip(FILES, texts, strict=True) for pattern in read(text, name)]
    assert found == [pattern for pattern in PATTERNS if pattern.event != "irrelevant"]
    assert {pattern.expand for pattern in found} - {None} == set(FUNCTIONS.values())
    fragments = package_data.table("parsers.patterns", "fragments")
    used = {name for text in (*texts, *fragments.values()) for name in re.findall(r"\{([A-Z]\w+)\}", text)}
    assert used == set(fragments)
    assert {path.stem for path in (ROOT / "parsers" / "patterns").glob("*.toml")} == {*FILES, "fragments"}


def test_structures_have_their_missing_fields() -> None:
    text = EXAMPLE.replace("fields = {", "fields = { replica_offsets = [{ broker = 1 }],")
    (pattern,) = read(text, "x.toml")
    assert pattern.samples[0].fields["replica_offsets"] == [{"broker": 1, "log_end_offset": None, "last_caught_up_ms": None}]
    assert EVENTS.field("replica_offsets").type.value_type.num_fields == 3


P = f"my.toml: pattern 1 `{NAME}`: "


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("event = ", "evnt = ", P + "key `evnt` is not known (did you mean `event`?)"),
        ("regex = ", "expression = ", P + "key `expression` is not known (did you mean `regex`?)"),
        ("event = ", "xyzzy = ", P + "key `xyzzy` is not known"),
        ("line = ", "lime = ", P + "sample 1: key `lime` is not known (did you mean `line`?)"),
        ("event = 'log-corruption'\n", "", P + "key `event` is missing"),
        ("'log-corruption'", "3", P + "key `event`: must be a string"),
        ("'log-corruption'", "'problem'", P + "key `event`: `problem` is not a kind of event; "),
        ("'log-corruption'", "'log-coruption'", P + "key `event`: `log-coruption` is not a kind of event; near ones: `log-corruption`, "),
        (f"'{NAME}'", "'My pattern'", "my.toml: pattern 1 `My pattern`: key `name`: must be made of lower-case letters"),
        (f"'{NAME}'", "7", "my.toml: pattern 1: key `name`: must be a string"),
        (" invalid bytes at the end of segment '", "a'", P + "key `literal`: must be text within one line, of at least 4 characters"),
        ("'4.3'", "'four'", P + "key `versions`: must be the first and the last version"),
        ("'4.3'", "'0.9.0'", P + "key `versions`: the first version, 0.11.0, is after the last, 0.9.0"),
        ("(?P<bytes>", "(?P<byts>", P + "key `regex`: group `byts` is not a column of events (did you mean `bytes`?)"),
        ("(?P<bytes>", "(?P<line>", P + "key `regex`: group `line` is not a column of events"),
        ("(?P<bytes>", "((?P<bytes>", P + "key `regex`: missing )"),
        ("loggers = [", "loggers = [3, ", P + "key `loggers`: must be a list of strings"),
        ("fixed = {", "fixed = { time = 1,", P + "key `fixed`: column `time` comes from the line and cannot be fixed"),
        ("fixed = {", "fixed = { reson = 'x',", P + "key `fixed`: `reson` is not a column of events (did you mean `reason`?)"),
        ("fixed = {", "multiline = 'yes'\nfixed = {", P + "key `multiline`: must be true or false"),
        ("fixed = {", "expand = 'os.system'\nfixed = {", P + "key `expand`: `os.system` is not a function of a built-in pattern"),
        ("fixed = {", "expand = 'each_partition'\nfixed = {", P + "sample 1: the function `each_partition` of `expand` needs other groups in the regex: '_partitions'"),
        ("fixed = {", "explode = 'with_state'\nfixed = {", P + "key `explode` is not known (did you mean `expand`?)"),
        ("{TP}", "{TPP}", P + "key `regex`: there is no fragment `{TPP}` (did you mean `{TP}`?); write `\\{` for a brace in the message"),
        ("{TP}", "{tp}", P + "key `regex`: there is no fragment `{tp}` (did you mean `{TP}`?); write `\\{` for a brace in the message"),
        ("bytes = 61", "bytes = '61'", P + "sample 1: key `fields`: column `bytes` has values of type int64, not '61'"),
        ("partition = 0", "partition = 3000000000", P + "sample 1: key `fields`: column `partition` has values of type int32, not 3000000000"),
        ("bytes = 61", "bytes = true", P + "sample 1: key `fields`: column `bytes` has values of type int64, not True"),
        ("fields = {", "absent = ['topic']\nfields = {", P + "sample 1: column `topic` is in `fields` and in `absent`"),
        ("[[pattern]]", "[pattern]", "my.toml: it has no table [[pattern]]"),
        ("[[pattern]]", "x = 1\n[[pattern]]", "my.toml: key `x` is not known; each pattern is a table [[pattern]]"),
        ("event = ", "event : ", "my.toml: not valid TOML: "),
        # samples
        ("end of segment '", "end of a segment '", P + "sample 1: the literal ` invalid bytes at the end of a segment ` is not in the line"),
        ("Truncated 61", "Cut 61", P + "sample 1: the regex does not match the message `Cut 61 invalid bytes at the end of segment "),
        ("'kafka.log.LogSegment', ", "", P + "sample 1: the logger `kafka.log.LogSegment` is not one of `loggers`"),
        ("bytes = 61", "bytes = 62", P + "sample 1: column `bytes` is 61, not 62"),
        ("fields = {", "absent = ['value']\nfields = {", P + "sample 1: column `value` is '/data/orders-0/00000000000000000100.log', not None"),
        ("Truncated 61", "Truncated 99999999999999999999", P + "sample 1: a number does not fit its column: "),
    ],
)  # fmt: skip
def test_errors_name_file_pattern_and_key(before: str, after: str, message: str) -> None:
    assert before in EXAMPLE
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        check([OwnFile("my.toml", EXAMPLE.replace(before, after, 1))])


def test_names_are_unique_in_a_file_and_among_files() -> None:
    with pytest.raises(ValueError, match=f"^my.toml: pattern 2 `{NAME}`: another pattern of the file has the same name$"):
        check([OwnFile("my.toml", EXAMPLE + EXAMPLE)])
    with pytest.raises(ValueError, match=f"^b.toml: pattern `{NAME}`: a.toml has a pattern of this name already$"):
        check([OwnFile("a.toml", EXAMPLE), OwnFile("b.toml", EXAMPLE)])


def test_a_check_leaves_nothing_in_force() -> None:
    check([OwnFile("a.toml", EXAMPLE)])
    assert pattern_files.in_force() == ()
    with pytest.raises(ValueError, match="sample 1"):
        check([OwnFile("a.toml", EXAMPLE.replace("bytes = 61", "bytes = 62"))])
    assert pattern_files.in_force() == ()

"""YAML as PyYAML writes it: strings of any content, folded, quoted or in blocks."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.wrappers.yaml_records import mapping
from tests.support.wrapped import RECORD, unwrapped

LINE_BREAKS = "\x85\u2028\u2029"
TEXT = st.text(st.sampled_from("ab:'\"# \\\n\t-[{|>&*!%@,é\x07"), max_size=40) | st.text(
    st.characters(codec="utf-8", exclude_characters=LINE_BREAKS), max_size=30
)
VALUES = st.recursive(TEXT, lambda inner: st.dictionaries(st.sampled_from(["pod_name", "k8s-pod/app", "-x", "a b"]), inner, min_size=1))


class Literal(yaml.SafeDumper):
    """Writes strings of several lines as blocks."""


Literal.add_representer(str, lambda d, s: d.represent_scalar("tag:yaml.org,2002:str", s, style="|" if "\n" in s else None))


def ended(value: Any) -> Any:
    """Without the line feeds at the ends of strings, of which a record needs none."""
    return {key: ended(inner) for key, inner in value.items()} if isinstance(value, dict) else value.rstrip("\n")


@settings(max_examples=100)
@given(st.dictionaries(st.sampled_from(["textPayload", "labels"]), VALUES, min_size=1), st.sampled_from([30, 80, 10**9]))
def test_mappings_of_strings(value: dict[str, Any], width: int) -> None:
    for dumper in (yaml.SafeDumper, Literal):
        text = yaml.dump(value, Dumper=dumper, default_flow_style=False, width=width, allow_unicode=True)
        assert ended(mapping(text.split("\n"))) == ended(value)


@pytest.mark.parametrize(
    "text", ["a: &x\n  b: *x", "- a: b", "a: [1, {", "a:\n" * 3, "? a\n: b", "".join(f"{' ' * n}a:\n" for n in range(3000))]
)
def test_other_yaml_does_no_harm(text: str) -> None:
    mapping(text.split("\n"))


def test_the_pod_of_each_document_is_the_writer() -> None:
    entry = "---\nresource:\n  labels:\n    pod_name: {0}\n  type: k8s_container\ntextPayload: '{1}'\n"
    data = entry.format("kafka-1", RECORD) + entry.format("kafka-2", RECORD + "\n\n  \tat a.B")
    first, second = unwrapped(data)
    assert (first.writer, first.text.decode(), first.line) == ("kafka-1", RECORD, 1)
    assert (second.writer, second.text.decode(), second.byte) == ("kafka-2", f"{RECORD}\nat a.B", data.rindex("---"))

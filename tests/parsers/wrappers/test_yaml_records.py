"""Records in YAML: strings of any content, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.wrappers.yaml_records import mapping
from tests.support.wrapped import RECORD, unwrapped

VALUES = st.recursive(
    st.text(st.characters(codec="utf-8", exclude_characters="\x85\u2028\u2029"), max_size=30).filter(
        lambda text: text not in ("", "~", "null")
    ),
    lambda inner: st.dictionaries(st.sampled_from(["pod_name", "k8s-pod/app", "-x", "a b"]), inner, min_size=1),
    max_leaves=8,
)


@settings(max_examples=100)
@given(st.dictionaries(st.sampled_from(["textPayload", "labels"]), VALUES, min_size=1), st.sampled_from([30, 80, 10**9]))
def test_mappings_of_strings(value: dict[str, Any], width: int) -> None:
    assert mapping(yaml.safe_dump(value, default_flow_style=False, width=width, allow_unicode=True)) == value


def test_nulls_are_left_out() -> None:
    assert mapping("a: null\nb: {c: ~, d: 1}\ne:\n") == {"b": {"d": "1"}}


@pytest.mark.parametrize(
    "text", ["a: &x [1]\nb: *x", "a: &x\n  b: *x", "- a: b", "a: [1, {", "a\tb: \0", "".join(f"{' ' * n}a:\n" for n in range(3000))]
)
def test_other_yaml_is_refused(text: str) -> None:
    assert mapping(text) is None


@given(st.text(max_size=200))
def test_any_text_is_a_mapping_or_none(text: str) -> None:
    assert isinstance(mapping(text) or {}, dict)


def test_the_pod_of_each_document_is_the_writer() -> None:
    entry = "---\nresource:\n  labels:\n    pod_name: {0}\n  type: k8s_container\ntextPayload: '{1}'\n"
    data = entry.format("kafka-1", RECORD) + entry.format("kafka-2", RECORD + "\n\n  \tat a.B")
    first, second = unwrapped(data)
    assert (first.writer, first.text.decode(), first.line) == ("kafka-1", RECORD, 1)
    assert (second.writer, second.text.decode(), second.byte) == ("kafka-2", f"{RECORD}\nat a.B", data.rindex("---"))

"""The detector of errors: what a table finds, and that the sentences of its kinds name values that it gives."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from typing import Any

import pytest

from forensics.model.findings import Finding
from forensics.rules import declared
from forensics.rules.detectors import conditions, errors
from forensics.words import formatted, text
from forensics.words.template import filled, names
from tests.forensics.staged import report

KINDS = [kind for kind, content in declared().items() if content.get("detector") == "errors"]
KEYS = set(re.findall(r"^    ([a-z]+)(?:\.FIELD)? =", errors.__doc__ or "", re.MULTILINE)) | {"confidence"}
GIVEN = {"who", "span", "thrown", "why", "cause_steps", "value", "back", "meanwhile"}
LINE = "[2026-11-21 {at},000] ERROR [kafka-log-cleaner-thread-{n}]: Error due to (kafka.log.LogCleaner)\njava.io.IOException: No space left on device\n"
STARTED = "[2026-11-21 04:00:00,000] INFO Starting (kafka.server.KafkaServer)\n"


def found(find: Mapping[str, Any], *lines: str) -> list[Finding]:
    """The findings of a table, in the log of broker 1."""
    log = "[2026-11-21 01:00:00,000] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)\n" + "".join(lines)
    cluster = report({"broker-1/logs/server.log": log}).cluster
    judge = errors.judges("made-up", {"find": [{"events": ["fatal-error"], **find}]})["of_cluster"]
    return sorted((f.of_rule("made-up", "high") for f in judge(cluster, [])), key=lambda f: (f.start, f.severity))


def test_errors_of_one_node_within_an_hour_are_one_finding() -> None:
    (first, second) = found({}, LINE.format(at="02:00:00", n=0), LINE.format(at="02:50:00", n=1), LINE.format(at="04:00:00", n=0))
    assert [len(f.evidence) for f in (first, second)] == [2, 1]
    assert (first.severity, first.brokers, first.cause) == ("high", (1,), None)
    assert text(dict(first.values)["span"]) == "2 times from 2026-11-21 02:00:00.000 to 02:50:00.000 UTC"  # type: ignore[arg-type]
    assert len(found({"whenever": True}, LINE.format(at="02:00:00", n=0), LINE.format(at="04:00:00", n=0))) == 1


def test_conditions_choose_the_errors() -> None:
    lines = [LINE.format(at="02:00:00", n=0), LINE.format(at="02:00:01", n=1)]
    assert [len(f.evidence) for f in found({"where": {"text": "thread-0"}}, *lines)] == [1]
    assert [len(f.evidence) for f in found({"unless": {"text": "thread-0"}}, *lines)] == [1]
    assert found({"where": {"text": "thread-0", "reason": "process"}}, *lines) == []
    assert found({"where": {"topic": "."}}, *lines) == [], "a field without a value matches nothing"
    assert found({"lasting": True}, *lines) == []
    assert len(found({"lasting": True}, *lines, LINE.format(at="02:01:01", n=0))) == 1


def test_the_exception_can_be_the_cause_and_what_errors_have_in_common() -> None:
    other = LINE.format(at="02:00:02", n=0).replace("IOException: No space left on device", "lang.OutOfMemoryError: Java heap space")
    both = found({"group": ["writer", "exception"], "cause": "{why}", "severity": "low"}, LINE.format(at="02:00:00", n=0), other)
    assert [f.cause for f in both] == ["disk-full", "out-of-memory"]
    assert {f.severity for f in both} == {"low"}
    assert [f.cause for f in found({"cause": "{reason}"}, other)] == ["thread"]


def test_a_finding_ends_with_the_last_error_or_with_what_ends_it() -> None:
    (own,) = found({}, LINE.format(at="02:00:00", n=0))
    assert own.end == own.start
    (open_,) = found({"until": ["broker-starting"]}, LINE.format(at="02:00:00", n=0))
    assert open_.end is None
    (over,) = found({"until": ["broker-starting"]}, LINE.format(at="02:00:00", n=0), STARTED)
    assert over.end is not None
    assert over.end.hour == 4
    assert any("Starting" in e.text for e in over.evidence)


def words_in(function: str) -> set[str]:
    """The words of a function of declarations, of the functions that it calls, and of the tables that it reads."""
    own = set(re.findall(r"\w+", inspect.getsource(getattr(conditions, function))))
    others = {name: getattr(conditions, name, None) for name in own - {function}}
    called = (words_in(name) for name, value in others.items() if inspect.isfunction(value) and value.__module__ == conditions.__name__)
    return own.union(*called, *(re.findall(r"\w+", repr(value)) for value in others.values() if isinstance(value, dict)))


@pytest.mark.parametrize("kind", KINDS)
def test_tables_have_known_keys_and_sentences_name_known_values(kind: str) -> None:
    content = declared()[kind]
    assert {key for find in content["find"] for key in find} <= KEYS
    assert {f.get("message", "found") for f in content["find"]} == content["message"].keys()
    (some,) = found({}, LINE.format(at="02:00:00", n=0))
    always = some.stated | {name: value for name, value in some.values if name in ("who", "span")}
    for find in content["find"]:
        message = content["message"][find.get("message", "found")]
        more = words_in(find["values"]) if "values" in find else set()
        for template in (message["summary"], *message["explanation"], *message["next_steps"]):
            assert names(template) <= GIVEN | some.stated.keys() | more, template
        assert more or filled(message["summary"], always, formatted), message["summary"]

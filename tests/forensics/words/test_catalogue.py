"""The catalogue against the code: every template is valid, what it names exists, every message is there and is used; and only the catalogue makes
sentences, only the rules know the kinds of findings."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.model.findings import ALL_STATE, Finding, Lasting, Purpose
from forensics.model.message import Message, Range, Value, decoded, encoded, packed, unpacked
from forensics.model.presence import process_errors
from forensics.model.record import reader
from forensics.proof import verdict
from forensics.rules import RULES, declared, named_in_steps
from forensics.words import CLIENT_PARTITIONS, SAVES
from forensics.words.formats import FORMATS, OF_TEXTS, natural
from forensics.words.template import holes
from parsers.kinds import KINDS
from parsers.package_data import table
from tests.support.paths import ROOT

KINDS_OF_FINDINGS = {rule.kind for rule in RULES}
OTHERS = [f.name.removesuffix(".toml") for f in files("forensics.words").iterdir() if f.name.endswith(".toml")]
CATALOGUE: Mapping[str, Mapping[str, Any]] = {
    **{kind: declared()[kind] for kind in sorted(KINDS_OF_FINDINGS)},
    **{name: table("forensics.words", name) for name in sorted(OTHERS)},
    "cause": {"phrase": process_errors.PHRASES},
}
"""Its files, by the name in the ids of their messages."""
MODULES = {path.relative_to(ROOT): ast.parse(path.read_text("utf-8")) for path in sorted((ROOT / "forensics").rglob("*.py"))}


def listed(parts: Any) -> list[str]:
    return [parts] if isinstance(parts, str) else list(parts)


PHRASES = {
    f"{name}/{own}": listed(parts)
    for name, content in CATALOGUE.items()
    for own, parts in {**content.get("phrase", {}), **content.get("not-collected", {})}.items()
}
STEPS = {f"{kind}/{own}": m.get("next_steps", []) for kind in KINDS_OF_FINDINGS for own, m in CATALOGUE[kind].get("message", {}).items()}
MESSAGES = {
    f"{kind}/{own}": [template for parts in m.values() for template in listed(parts)]
    for kind in KINDS_OF_FINDINGS
    for own, m in CATALOGUE[kind].get("message", {}).items()
}


def strings(tree: ast.AST) -> Iterator[str]:
    return (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str))


def texts(tree: ast.AST) -> Iterator[tuple[ast.AST, list[str | None]]]:
    """The strings of a module in parts; None is what an f-string leaves open."""
    within = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield node, [str(part.value) if isinstance(part, ast.Constant) else None for part in node.values]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in within:
            yield node, [node.value]


# templates

COMPUTED = {
    **dict.fromkeys(("led_until", "led_more", "kept_until"), "forensics/model/presence/crash_times.py adds the endings"),
    "went_back": "the outcome 'went-back' of a group",
}
"""Names of values that the code puts together."""


@pytest.mark.parametrize("name", CATALOGUE)
def test_templates_are_valid_and_name_formats_that_exist(name: str) -> None:
    own = [template for id, templates in {**PHRASES, **MESSAGES}.items() if id.partition("/")[0] == name for template in templates]
    assert own
    for template in own:
        assert {format.partition(" ")[0] for _, format in holes(template)} <= {"", *FORMATS, *OF_TEXTS}, template


def test_every_value_that_a_template_names_is_given_by_the_code() -> None:
    """As a keyword, or by its name in a string."""
    keywords = {node.arg for tree in MODULES.values() for node in ast.walk(tree) if isinstance(node, ast.keyword)}
    stated = Finding(kind="", severity="", confidence="", evidence=()).stated
    given = {*stated, CLIENT_PARTITIONS, *keywords, *(text for tree in MODULES.values() for text in strings(tree))}
    unknown = {name for parts in {**PHRASES, **MESSAGES}.values() for template in parts for name, _ in holes(template)} - given
    assert unknown == {*COMPUTED}


def test_steps_name_all_partitions_of_the_findings_that_became_one() -> None:
    """`{place}` is the first one."""
    folded = {rule.kind for rule in RULES if rule.many is not None}
    named = {id: {name for template in steps for name, _ in holes(template)} for id, steps in STEPS.items()}
    assert named["unclean-election/found"] >= {"partitions", "silent"}
    assert {id for id, names in named.items() if "place" in names and id.partition("/")[0] in folded} == set()


def test_values_that_differ_between_steps_are_those_that_their_templates_name() -> None:
    """forensics.rules reads the names without forensics.words."""
    for id, steps in STEPS.items():
        assert named_in_steps(id) == {name for template in steps for name, _ in holes(template)} - ALL_STATE
    assert {*Finding(kind="", severity="", confidence="", evidence=()).stated} - {"broker"} <= ALL_STATE


def test_only_steps_begin_with_the_mark_of_those_that_save_something() -> None:
    marked = {template for parts in {**PHRASES, **MESSAGES}.values() for template in parts if template.startswith(SAVES)}
    assert {re.sub(r"{.*?}", "", template)[1:6] for template in marked} == {"Copy "}


# messages


def ids() -> Iterator[str]:
    """Regular expressions for the ids of messages in the code: FILE/NAME, of which an f-string may leave parts open."""
    for _, parts in (found for tree in MODULES.values() for found in texts(tree)):
        if re.fullmatch(r"[a-z-]+/[a-z0-9-]+(?:/steps)?", "".join(part if part is not None else "x" for part in parts)):
            yield "".join(part if part is not None else "[^/ ]*" for part in parts)


def test_every_phrase_is_said_and_every_message_that_is_said_exists() -> None:
    known, said = {*PHRASES, *MESSAGES}, {*ids()}
    of_files = {text for text in said if text.partition("/")[0] in CATALOGUE}
    assert len(of_files) > 300
    assert {text for text in of_files if not any(re.fullmatch(text, id) for id in known)} == set()
    assert {id for id in PHRASES if not any(re.fullmatch(text, id) for text in said) and not id.startswith("cause/")} == set()


@pytest.mark.parametrize("kind", sorted(KINDS_OF_FINDINGS))
def test_every_message_of_a_kind_is_chosen_by_its_rule(kind: str) -> None:
    own, module = CATALOGUE[kind], Path("forensics/rules") / f"{kind.replace('-', '_')}.py"
    detectors = {module, Path("forensics/rules/detectors") / f"{own.get('detector')}.py"} & MODULES.keys()
    of_tables = {find.get("message") for find in own.get("find", ()) if isinstance(find, dict)}
    chosen = {"found", *of_tables, *(text for path in detectors for text in strings(MODULES[path]))}
    assert {*own.get("message", {})} - chosen == set()


# values


SIMPLE = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.datetimes().map(lambda at: at.replace(fold=0))
)
RANGES = st.builds(Range, st.integers(0, 2**63 - 1), st.none() | st.integers(0, 2**63 - 1))


def messages(value: st.SearchStrategy[Value]) -> st.SearchStrategy[Message]:
    return st.builds(Message, st.text(), named(value))


def named(value: st.SearchStrategy[Value]) -> st.SearchStrategy[tuple[tuple[str, Value], ...]]:
    return st.dictionaries(st.text(), value, max_size=3).map(lambda own: tuple(own.items()))


VALUES: st.SearchStrategy[Value] = st.recursive(
    SIMPLE | RANGES, lambda value: st.lists(value, max_size=3).map(tuple) | messages(value), max_leaves=8
)


@given(VALUES)
def test_values_survive_their_way_as_json(value: Value) -> None:
    """Also their types: 1, 1.0 and true are equal."""
    assert repr(unpacked(packed(value))) == repr(value)


COLUMNS_OF_CASE = ("incident", "places", "folds")


@given(named(VALUES))
def test_the_values_of_a_finding_survive_their_way_as_a_row(values: tuple[tuple[str, Value], ...]) -> None:
    sent = Finding(kind="retention", severity="low", confidence="certain", values=values, evidence=())
    assert repr(decoded(encoded(values))) == repr(values)
    assert repr(reader(Finding)({**dict.fromkeys(COLUMNS_OF_CASE), **sent.row()}).values) == repr(values)


# the code


NAMES_OF_OTHER_THINGS = {
    *KINDS,  # kinds of events
    *(text for text in vars(verdict).values() if isinstance(text, str)),  # causes of losses
    *process_errors.PHRASES,  # causes that errors name
    *(member.value for member in (*Purpose, *Lasting)),
}
NAMED_ELSEWHERE = {
    ("forensics/views/perfetto.py", "under-replicated"): "a counter of partitions",
    ("forensics/model/partition/quiet_times.py", "retention"): "a reason in the lines about deleted segments",
    ("forensics/views/checkpoints.py", "checkpoint-corrupt"): "a reason in events about files",
}


def test_only_rules_know_kinds_of_findings() -> None:
    """Others ask for what a kind declares. A kind that is also the name of something else may be that."""
    named = {(str(path), text) for path, tree in MODULES.items() if "rules" not in path.parts[:2] for text in strings(tree)}
    for path in (path for ending in ("html", "js") for path in (ROOT / "forensics").rglob(f"*.{ending}")):
        named |= {(str(path.relative_to(ROOT)), text) for text in re.findall(r"""['"]([a-z-]+)['"]""", path.read_text("utf-8"))}
    kinds = KINDS_OF_FINDINGS - NAMES_OF_OTHER_THINGS
    assert len(kinds) > 60
    assert {(path, text) for path, text in named if text in kinds} == {*NAMED_ELSEWHERE}


QUOTING = {"Fact", "documented", "field", "Evidence", "Annotated"}
"""Functions, and types, whose strings document a column, or show what a file that is not text contains."""
SENTENCE = re.compile(r"[A-Za-z][a-z']*(?:,? [A-Za-z][a-z']*){3,}")
SENTENCES = {
    (
        "forensics/model/findings.py",
        "number of the cluster, if these brokers were in several one after the other: 0 the last one, -1 the one before it, and so on",
    ): "documents a column",
    ("forensics/model/record.py", "None if it is None else it"): "code that reads a record",
    ("forensics/model/record.py", "tuple([it for i in it or ()])"): "code that reads a record",
    ("forensics/model/record.py", "[it for i in it]"): "code that writes a record",
    ("forensics/model/findings.py", "segment it: it valid batches, log end offset it"): "quotes a binary file",
    ("forensics/model/settings/effective.py", "Kafka's default, version in it"): "the place of a value, as 'file:line' is",
    ("forensics/rules/detectors/conditions.py", "state change requests batch is not empty"): "the text of an exception of Kafka",
    ("forensics/rules/fetch_failing.py", "cannot be aborted and paused"): "the text of an exception of Kafka",
}


def _said(tree: ast.AST) -> Iterator[str]:
    """The strings of a module, without its docstrings, errors, documentation of columns and regular expressions."""
    silent: set[int] = set()
    for node in ast.walk(tree):
        function = node.func if isinstance(node, ast.Call) else node.value if isinstance(node, ast.Subscript) else None
        documents = getattr(function, "id", getattr(function, "attr", "")) in QUOTING
        if documents or isinstance(node, (ast.Raise, ast.Assert)) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            silent |= {id(below) for below in ast.walk(node)}
    for node, parts in texts(tree):
        text = "".join(part if part is not None else "it" for part in parts)
        if id(node) not in silent and not re.search(r"[\\|]", text):
            yield text


@pytest.mark.parametrize("room", ["model", "proof", "rules"])
def test_no_sentence_is_made_outside_the_catalogue(room: str) -> None:
    own = {str(path): tree for path, tree in MODULES.items() if path.parts[1] == room}
    found = {(path, text) for path, tree in own.items() for text in _said(tree) if SENTENCE.search(text)}
    assert found == {entry for entry in SENTENCES if entry[0] in own}
    assert len(own) > 10


@pytest.mark.parametrize("line", ['x = f"the log of {b} was not collected"', 'return "no line of it shows that"'])
def test_a_sentence_is_found(line: str) -> None:
    assert [*filter(SENTENCE.search, _said(ast.parse(f"def f(b):\n    {line}")))]


def test_names_are_in_the_order_in_which_people_count_and_stay_as_they_are() -> None:
    assert natural(["orders-10", "__offsets-0", "orders-2"]) == ["orders-2", "orders-10", "__offsets-0"]
    assert natural(["server.log.2026-11-21-03", "server.log.2026-11-21-02"]) == ["server.log.2026-11-21-02", "server.log.2026-11-21-03"]

"""No kind of event is forgotten: each is made, gathered or of a partition, and has its place wherever kinds are distinguished by name."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import fields

import pytest

from forensics.model.events import Event
from forensics.model.partition.floods import LEFT_OUT
from forensics.model.partition.replicas import STEPS
from forensics.views.story.words import COMPUTED, PRESENTATIONS
from forensics.words.template import holes
from parsers import sniff
from parsers.kinds import KINDS, By, Scope, named, of
from parsers.patterns import PATTERNS
from parsers.pieces import EVENT
from tests.support.paths import ROOT

_NAMES = re.compile(rf'\.event\b|"({"|".join(KINDS)})"')


def _nodes(*rooms: str) -> Iterator[tuple[str, ast.AST]]:
    """What is written in files that name kinds, but for the names that `named` checks."""
    for path in (p for room in rooms for p in sorted((ROOT / room).rglob("*.py")) if (p.parent.name, p.name) != ("parsers", "kinds.py")):
        if path.parent.name != "patterns" and _NAMES.search(text := path.read_text()):
            yield from ((str(path.relative_to(ROOT)), node) for node in _walk(ast.parse(text)))


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "named"):
        for child in ast.iter_child_nodes(node):
            yield from _walk(child)


def _texts(nodes: list[ast.expr] | list[ast.expr | None]) -> list[str]:
    return [n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)]


def test_every_kind_is_made_and_what_is_made_is_a_kind() -> None:
    made = {str(text) for p in PATTERNS for text in (p.event, *(s.fields.get("event", p.event) for s in p.samples))}
    texts = {LEFT_OUT, *of(by=By.OWN)}  # only users' patterns give these
    for _, node in _nodes("parsers"):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            texts.add(node.value)
        elif isinstance(node, ast.Dict):
            made.update(_texts([value for key, value in zip(node.keys, node.values, strict=True) if key and _texts([key]) == ["event"]]))
    assert KINDS.keys() - texts - made == set()
    assert made - KINDS.keys() == {"irrelevant"}


def test_a_kind_says_why_it_is_not_gathered_only_if_it_could_be() -> None:
    assert all(kind.scope is not Scope.PARTITION for kind in KINDS.values() if kind.ungathered)


def test_every_kind_of_a_replica_has_a_step_in_its_history_or_a_reason_why_not() -> None:
    of_replica = of(scope=Scope.PARTITION, by=By.LEADER | By.FOLLOWER | By.REPLICA | By.LOG | By.FILE)
    assert sorted([*STEPS, *(kind.name for kind in KINDS.values() if kind.without_step)]) == sorted(of_replica)


def test_every_kind_is_used_or_says_why_not() -> None:
    """Rules and the model name the kinds that they use, or select them by a role that is used; a kind shown only in views is not used."""
    names = re.compile(rf'"({"|".join(KINDS)})"')
    rooms = ("rules", "model", "proof", "incidents", "tools")
    files = (path for room in rooms for form in ("*.py", "*.toml") for path in (ROOT / "forensics" / room).rglob(form))
    used = {name for path in files for name in names.findall(path.read_text())}
    unreported = {kind.name for kind in KINDS.values() if kind.unreported}
    assert KINDS.keys() - used == unreported


def test_a_story_has_words_for_known_kinds_only() -> None:
    assert PRESENTATIONS.keys() <= KINDS.keys()
    named = {name for how in PRESENTATIONS.values() for template in how.words for name, _ in holes(template)}
    assert COMPUTED.keys() <= named <= COMPUTED.keys() | {f.name for f in fields(Event)}


def test_kinds_are_named_only_where_the_name_is_checked() -> None:
    """A set of names is asked for by attributes, or is `named`; a single one that is compared with is a kind."""
    wrong, tables = [], []
    for place, node in _nodes("spark", "forensics"):
        if isinstance(node, ast.Compare) and any(
            isinstance(n, ast.Attribute) and n.attr == "event" for n in (node.left, *node.comparators)
        ):
            wrong += [(place, text) for text in _texts([node.left, *node.comparators]) if text not in KINDS]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("of", "next_of"):
            if node.args and isinstance(node.args[0], ast.Name):  # a writer of rows of this class
                continue
            wrong += [(place, text) for text in _texts(node.args) if text not in KINDS]
        elif isinstance(node, ast.Set | ast.Tuple | ast.List | ast.Dict):
            texts = set(_texts(node.keys if isinstance(node, ast.Dict) else node.elts))
            if len(texts & KINDS.keys()) > 1 and not texts <= set(sniff.KINDS):
                (tables if isinstance(node, ast.Dict) else wrong).append((place, sorted(texts - KINDS.keys())))
    assert wrong == []
    assert tables == [
        ("forensics/model/partition/replicas.py", []),
        ("forensics/model/partition/replicas.py", []),
        ("forensics/model/presence/availability.py", []),
    ]


def test_a_misspelt_name_fails() -> None:
    with pytest.raises(KeyError):
        named("log-load", "log-laod")


def test_no_pattern_gives_the_event_whose_value_is_unpickled() -> None:
    assert EVENT not in KINDS
    assert EVENT not in {str(text) for p in PATTERNS for text in (p.event, *(s.fields.get("event", p.event) for s in p.samples))}

"""Kafka's wording is known in parsers/ alone: what a line says is in the columns of its event, its text is only quoted and compared."""

from __future__ import annotations

import ast

import pytest

from tests.support.paths import ROOT

MODULES = [path for package in ("spark", "forensics") for path in sorted((ROOT / package).rglob("*.py"))]
OF_THE_USER = {"ordered_records.py"}
"""`merge` searches for what its user asks for."""
SEARCHES = frozenset(
    {"count", "endswith", "find", "findall", "finditer", "fullmatch", "index", "match", "partition", "rpartition", "search", "startswith"}
)


def _is_text(node: ast.AST) -> bool:
    """`event.text` or `row["text"]`, or `event.text or ""`."""
    if isinstance(node, ast.BoolOp):
        return any(_is_text(value) for value in node.values)
    return (isinstance(node, ast.Attribute) and node.attr == "text") or (
        isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and node.slice.value == "text"
    )


def looks(source: str) -> list[int]:
    """Lines in which a text is looked into: by `in`, by a regular expression, or by a method of strings."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare):
            operands = [c for op, c in zip(node.ops, node.comparators, strict=True) if isinstance(op, (ast.In, ast.NotIn))]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in SEARCHES:
            operands = [node.func.value, *node.args]
        else:
            continue
        found += [node.lineno for operand in operands if _is_text(operand)]
    return found


def test_no_text_is_looked_into() -> None:
    found = {str(path.relative_to(ROOT)): looks(path.read_text(encoding="utf-8")) for path in MODULES if path.name not in OF_THE_USER}
    assert {path: lines for path, lines in found.items() if lines} == {}
    assert len(found) > 100


@pytest.mark.parametrize(
    "line",
    [
        '"QuorumController" in (e.text or "")',
        "any(words in e.text for words in KNOWN)",
        'GROUP.search(e.text or "")',
        'e.text.startswith("Truncating")',
        'WORDS.match(row["text"])',
    ],
)
def test_looking_is_found(line: str) -> None:
    assert looks(line) == [1]


@pytest.mark.parametrize("line", ["seen.setdefault((e.text, e.at), e)", "e.text in seen", 'quoted = e.text or "?"', "told == e.text"])
def test_quoting_and_comparing_are_none(line: str) -> None:
    assert looks(line) == []

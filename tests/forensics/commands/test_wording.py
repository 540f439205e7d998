"""Kafka's wording is known in parsers/ alone: what a line says is in the columns of its event, its text is only quoted and compared."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

import pytest

from forensics.rules import RULES, declared
from tests.support.paths import ROOT

MODULES = [path for package in ("spark", "forensics") for path in sorted((ROOT / package).rglob("*.py"))]
FINDS = [(rule.kind, find) for rule in RULES if isinstance(own := declared()[rule.kind].get("find"), list) for find in own]
"""What the families of rules search for."""
OF_THE_USER = {"ordered_records.py"}
"""`merge` searches for what its user asks for."""
SEARCHES = frozenset(
    {"count", "endswith", "find", "findall", "finditer", "fullmatch", "index", "match", "partition", "rpartition", "search", "startswith"}
)

PARTS = frozenset({"lower", "removeprefix", "removesuffix", "replace", "rstrip", "split", "splitlines", "strip", "upper"})
"""Methods whose result is a part of the text, or the text in other letters."""
IN_NO_COLUMN = {
    "forensics/model/presence/failed_starts.py": "the stack, which shows that the error is of a start",
    "forensics/model/presence/process_errors.py": "the thread of an error, and its message",
    "forensics/model/cluster/facts.py": "whether a client of the network asked for a controller: the line names it before its message",
    "forensics/proof/contradictions.py": "whether the directory of a loaded log waits for its deletion",
    "forensics/rules/detectors/conditions.py": "whose client of the network it is: the line names it before its message",
    "forensics/tools/redaction/logs.py": "the names in a line, which its copy must not have",
}
"""Files that look into a text for what no column has."""


def _is_text(node: ast.AST, names: frozenset[str] = frozenset()) -> bool:
    """`event.text` or `row["text"]`, `event.text or ""`, a string with it in, a part of it, or a name for one of these."""
    if isinstance(node, ast.BoolOp):
        return any(_is_text(value, names) for value in node.values)
    if isinstance(node, ast.JoinedStr):
        return any(_is_text(part.value, names) for part in node.values if isinstance(part, ast.FormattedValue))
    if isinstance(node, ast.BinOp):
        return _is_text(node.left, names) or _is_text(node.right, names)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in PARTS:
        return _is_text(node.func.value, names)
    if isinstance(node, ast.Subscript):
        return (isinstance(node.slice, ast.Constant) and node.slice.value == "text") or _is_text(node.value, names)
    return (isinstance(node, ast.Attribute) and node.attr == "text") or (isinstance(node, ast.Name) and node.id in names)


def _names(function: ast.AST) -> frozenset[str]:
    """Names that a function gives to a text or to a string with one in it, and those of its loops over parts of one."""
    names: set[str] = set()
    for node in ast.walk(function):
        pairs: list[tuple[ast.AST, ast.AST | None]] = []
        if isinstance(node, ast.Assign):
            pairs = [(target, node.value) for target in node.targets]
        elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)):
            pairs = [(node.target, node.value)]
        elif isinstance(node, (ast.For, ast.comprehension)) and isinstance(node.iter, ast.Call):
            pairs = [(node.target, node.iter)]
        for target, value in pairs:
            if value is not None and isinstance(target, ast.Name) and _is_text(value, frozenset(names)):
                names.add(target.id)
    return frozenset(names)


def _reads(source: str) -> bool:
    return ".text" in source or '["text"]' in source


def looks(source: str) -> list[int]:
    """Lines in which a text is looked into: by `in`, by a regular expression, or by a method of strings."""
    if not _reads(source):
        return []
    tree, lines = ast.parse(source), source.split("\n")
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    functions = [f for f in functions if _reads("\n".join(lines[f.lineno - 1 : f.end_lineno]))]
    found = [(node, _names(function)) for function in functions for node in ast.walk(function)]
    return sorted({*_looks(found), *_looks((node, frozenset()) for node in ast.walk(tree))})


def _looks(nodes: Iterable[tuple[ast.AST, frozenset[str]]]) -> Iterator[int]:
    for node, names in nodes:
        if isinstance(node, ast.Compare):
            operands = [c for op, c in zip(node.ops, node.comparators, strict=True) if isinstance(op, (ast.In, ast.NotIn))]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in SEARCHES:
            operands = [node.func.value, *node.args]
        else:
            continue
        yield from (node.lineno for operand in operands if _is_text(operand, names))


def test_no_text_is_looked_into() -> None:
    found = {str(path.relative_to(ROOT)): looks(path.read_text(encoding="utf-8")) for path in MODULES if path.name not in OF_THE_USER}
    assert {path for path, lines in found.items() if lines} == set(IN_NO_COLUMN)
    assert len(found) > 100


def test_no_rule_declares_to_look_into_a_text() -> None:
    columns = {kind: {*find.get("where", {}), *find.get("unless", {})} for kind, find in FINDS}
    assert "key" in columns["append-failed"]
    assert not [kind for kind, searched in columns.items() if "text" in searched]


@pytest.mark.parametrize(
    "line",
    [
        '"QuorumController" in (e.text or "")',
        "any(words in e.text for words in KNOWN)",
        'GROUP.search(e.text or "")',
        'e.text.startswith("Truncating")',
        'WORDS.match(row["text"])',
        'WORDS.search(f"{e.key} {e.text}")',
        '"ReplicaFetcher" in (e.text or "").split("\\n")[0]',
        'def f(e): said = f"{e.text}"; return WORDS.search(said)',
        'def f(e): return [line for line in e.text.split(" ") if line.startswith("x")]',
    ],
)
def test_looking_is_found(line: str) -> None:
    assert looks(line) == [1]


@pytest.mark.parametrize("line", ["seen.setdefault((e.text, e.at), e)", "e.text in seen", 'quoted = e.text or "?"', "told == e.text"])
def test_quoting_and_comparing_are_none(line: str) -> None:
    assert looks(line) == []

"""`python -m docs.tables` writes the generated parts of pages, each between `<!-- NAME: …writes this -->` and `<!-- end of NAME -->`. NAME is
one of PARTS, or a file that is shown.

Here: the parts of pages in the repository. Not here: whole pages that are made while the site is built (hooks).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

import pyarrow as pa

from benchmarks import history
from fixtures.templates import coverage
from forensics.case.tables import TABLES, Table
from forensics.model.findings import Rule, Unrefuted
from forensics.proof.contradictions import OF_CLUSTER, OF_PARTITION
from forensics.rules import RULES

ROOT = Path(__file__).parents[1]
_PART = re.compile(r"(<!-- (?P<name>[\w./-]+): `python -m docs\.tables` writes this -->\n).*?(<!-- end of (?P=name) -->)", re.DOTALL)


def written(text: str) -> str:
    """The text of a page with its generated parts as they are now. Raises OSError if a part is neither known nor a file."""
    return _PART.sub(lambda part: f"{part[1]}\n{PARTS.get(part['name'], partial(_file, part['name']))().strip()}\n\n{part[3]}", text)


def _file(name: str) -> str:
    return f"```{'toml' if name.endswith('.toml') else ''}\n{(ROOT / name).read_text('utf-8').rstrip()}\n```"


def _case() -> Iterator[str]:
    for table in TABLES:
        yield from _table(table)


def _table(table: Table) -> Iterator[str]:
    yield f"### `{table.file}`\n\n{table.doc}\n\n| column | type | holds |\n|---|---|---|"
    yield from map(_row, table.schema)
    yield ""


def _structs(fields: Iterable[pa.Field]) -> Iterator[tuple[str, pa.StructType]]:
    """The structs in these columns whose fields have docs, each after the one that it is in, by the name of a column of its type."""
    for field in fields:
        kind = field.type.value_type if pa.types.is_list(field.type) else field.type
        if pa.types.is_struct(kind):
            if all(f.metadata for f in kind):
                yield field.name, kind
            yield from _structs(kind)


NAMES = {kind: name for table in reversed(TABLES) for name, kind in reversed([*_structs(table.schema)])}
"""The name of each documented struct: that of the first column with it."""


def _of_structs() -> Iterator[str]:
    for name, kind in sorted((name, kind) for kind, name in NAMES.items()):
        yield f"### `{name}`\n\n| field | type | holds |\n|---|---|---|"
        yield from map(_row, kind)
        yield ""


def _row(field: pa.Field) -> str:
    doc = (field.metadata or {}).get(b"doc", b"").decode()
    return f"| `{field.name}` | {_type(field.type)} | {doc} |"


def _type(kind: pa.DataType) -> str:
    if pa.types.is_list(kind):
        return f"list of {_type(kind.value_type)}"
    if kind in NAMES:
        return f"struct [{NAMES[kind]}](#{NAMES[kind]})"
    if pa.types.is_struct(kind):
        return "struct(" + ", ".join(f"{f.name} {_type(f.type)}" for f in kind) + ")"
    return "timestamp" if pa.types.is_timestamp(kind) else str(kind)


REASONS = {
    Unrefuted.OWN_LINE: "a line of the node itself, or a setting that it or a tool printed, says it",
    Unrefuted.OWN_FILE: "the content of one file shows it",
    Unrefuted.STATES: "the states of partitions, brokers and controllers show it; states that contradict each other are an `evidence-conflict`",
    Unrefuted.HAND_OVER: "it is a row of the table of hand-overs, in which premises that contradict each other leave nothing certain",
    Unrefuted.EVIDENCE: "it is about the evidence, not about the cluster",
}


def _refuters() -> Iterator[str]:
    """What would contradict each kind, and the kinds for which nothing is asked."""
    yield "| asked before the finding is made | kinds |\n|---|---|"
    for name, refuter in {**OF_PARTITION, **OF_CLUSTER}.items():
        yield f"| {(refuter.__doc__ or '').rstrip('.')} | {_kinds(rule for rule in RULES if name in rule.refuters)} |"
    yield "\n| nothing is asked, because | kinds |\n|---|---|"
    yield from (f"| {why} | {_kinds(rule for rule in RULES if rule.unrefuted is reason)} |" for reason, why in REASONS.items())


def _kinds(rules: Iterable[Rule]) -> str:
    return ", ".join(f"`{rule.kind}`" for rule in rules)


PARTS: Mapping[str, Callable[[], str]] = {
    "case": lambda: "\n".join(_case()),
    "structs": lambda: "\n".join(_of_structs()),
    "coverage": coverage.tables,
    "refuters": lambda: "\n".join(_refuters()),
    "performance": lambda: history.table(history.HISTORY),
}


def pages() -> list[Path]:
    """The pages with generated parts."""
    return [page for page in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]) if _PART.search(page.read_text("utf-8"))]


if __name__ == "__main__":
    for page in pages():
        page.write_text(written(page.read_text("utf-8")), "utf-8")

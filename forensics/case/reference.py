"""`python -m forensics.case.reference` prints docs/case.md, the description of a case, from the schemas.

Here: the page. Not here: the tables (tables).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

import pyarrow as pa

from forensics.case.run import RUN
from forensics.case.tables import EXPORTED, MANIFEST, PROOF, SCHEMA, TABLES, Table

DUCKDB = (
    """SELECT severity, confidence, kind, summary FROM 'incident.case/findings.parquet' ORDER BY number""",
    """SELECT topic, sum(coalesce(r."end", r.start) - r.start) AS offsets
FROM (SELECT topic, unnest(offsets) AS r FROM 'incident.case/judged.parquet' WHERE kind = 'data-loss' AND committed)
GROUP BY topic ORDER BY topic""",
    """SELECT f.summary, q.source, q.line, q.text
FROM 'incident.case/findings.parquet' f JOIN 'incident.case/quotes.parquet' q ON q.finding = f.number
WHERE f.severity = 'critical' ORDER BY f.number, q.number""",
    """SELECT time, epoch, broker, text FROM 'incident.case/steps.parquet'
WHERE topic = 'orders' AND partition = 0 AND in_brief ORDER BY cluster_number, generation, number""",
    """SELECT row, leader_epoch, old_leader, new_leader, election, old_log_end.at_least AS old_log_end, new_log_end.at_most AS new_log_end,
  high_watermark.at_least AS high_watermark, decides
FROM 'incident.case/handovers.parquet' WHERE topic = 'orders' AND partition = 0 AND cluster_number = 0 ORDER BY row""",
)
POLARS = """import polars as pl

records = pl.scan_parquet("incident.case/records.parquet")
errors = records.filter(pl.col("level").is_in(["ERROR", "FATAL"])).group_by("broker", "logger").len()
print(errors.sort("len", "broker", "logger", descending=[True, False, False]).collect())

lost = pl.scan_parquet("incident.case/partitions.parquet").filter(pl.col("verdict") == "lost")
print(lost.select("topic", "partition", "leader", "isr", "why").collect())"""


def page() -> str:
    """The page for the current schemas."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield f"""# A case

`kafka-forensics analyze PATH... --case DIR` stores the results of an analysis: a directory of Parquet tables and a `{MANIFEST}`. `analyze`,
`report`, `inspect`, `timeline`, `merge`, `checkpoints` and `plan` accept a case instead of evidence, print the same text, and do not start Spark:

```sh
kafka-forensics analyze incident.tar.gz --case incident.case
kafka-forensics timeline incident.case --topic orders --partition 0
kafka-forensics report incident.case --json report.json
```

A case is complete or does not exist: it is written next to its final place and moved there at the end, and never into the evidence. An
existing case is replaced only with `--force`; any other file or directory is never replaced. The same evidence and options give the same
bytes, on any number of cores. Options for reading evidence (`--timezone`, `--clock-offset`, `--log-pattern`, `--patterns`) are given when the
case is made. `checkpoints --against` compares files, and accepts no case. `merge` needs every log line: `records` is the largest table.

`{MANIFEST}` contains the version of the schema (`{SCHEMA}`) and of the tool, the command, the digest of the rules, the paths of the evidence
and the directory they share (`root`, omitted from all paths), the options, the verdict, and the number of rows of each table. `{RUN}` states
when and by which command the case was made, on which platform, and with which packages; nothing else in a case differs from run to run.
`verify` compares a case with the evidence ([chain of custody](custody.md)). If a case has another schema version, or a part of it is missing
or damaged, the command prints one line on stderr and ends with exit code 2.

`kafka-forensics schema NAME` prints a JSON Schema of the rows of a table ([schemas and ids](schemas.md)), and `diff` compares two cases.

`{PROOF}` is the proof of the verdicts ([how a verdict follows](deciding.md#the-proof-hand-overs)). `verify CASE --proof` computes every
verdict again from this table alone ([recheck the verdicts](custody.md#recheck-the-verdicts)).

[Audits](audit.md) store the same tables for many clusters, by `cluster` and `date`; `place` is the position of a row in the order used here.
`cluster_number` distinguishes clusters that used the same brokers one after the other.

Times are UTC without a zone in the type, corrected for time zone and clock error, unless the column says otherwise.
`python -m forensics.case.reference` prints this page, and `tests/forensics/case/test_case.py` compares it with the schemas.

## With other tools

Any tool that reads Parquet can read a case. DuckDB:
"""
    for query in DUCKDB:
        yield f"```sql\n{query};\n```\n"
    yield f"polars:\n\n```python\n{POLARS}\n```\n"
    yield "## Tables\n"
    for table in TABLES:
        yield from _table(table)
    alike = [f"`{table.file}`" for table in EXPORTED if table in TABLES]
    yield f"""## What `--parquet` writes

With `--parquet DIR`, `analyze` and `report` write the tables of the report, restricted by `--topic` and similar options like the report itself:
{", ".join(alike[:-1])} and {alike[-1]} as above, and these:
"""
    for table in EXPORTED:
        if table not in TABLES:
            yield from _table(table)
    yield "## Structs\n\nNested columns, each by the name of a column that has it.\n"
    yield from _of_structs()


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


NAMES = {kind: name for table in reversed((*TABLES, *EXPORTED)) for name, kind in reversed([*_structs(table.schema)])}
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


if __name__ == "__main__":
    sys.stdout.write(page())

"""`python -m forensics.case.reference` prints docs/case.md: the content of a case, from the schemas themselves.

Here: the page. Not here: the tables (tables).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

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
WHERE topic = 'orders' AND partition = 0 AND in_brief ORDER BY incarnation, generation, number""",
    """SELECT row, leader_epoch, old_leader, new_leader, election, old_log_end.at_least AS old_log_end, new_log_end.at_most AS new_log_end,
  high_watermark.at_least AS high_watermark, decides
FROM 'incident.case/handovers.parquet' WHERE topic = 'orders' AND partition = 0 AND incarnation = 0 ORDER BY row""",
)
POLARS = """import polars as pl

records = pl.scan_parquet("incident.case/records.parquet")
graves = records.filter(pl.col("level").is_in(["ERROR", "FATAL"])).group_by("broker", "logger").len()
print(graves.sort("len", "broker", "logger", descending=[True, False, False]).collect())

lost = pl.scan_parquet("incident.case/partitions.parquet").filter(pl.col("verdict") == "lost")
print(lost.select("topic", "partition", "leader", "isr", "why").collect())"""


def page() -> str:
    """The page for the current schemas."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield f"""# A case

`kafka-forensics analyze PATH... --case DIR` keeps what was found: a directory of Parquet tables and a `{MANIFEST}`. `analyze`, `report`,
`inspect`, `timeline`, `merge`, `checkpoints` and `plan` take it in place of the evidence, say the same words, and start no Spark:

```sh
kafka-forensics analyze incident.tar.gz --case incident.case
kafka-forensics timeline incident.case --topic orders --partition 0
kafka-forensics report incident.case --json report.json
```

A case is there whole or not at all: it is written beside its place and moved there at the end, and never into the evidence. One that is
there already is replaced with `--force` only, anything else never. The same evidence and options make the same bytes, on however many cores.
What says how evidence is read (`--timezone`, `--clock-offset`, `--log-pattern`) is given when the case is made. `checkpoints --against`
compares files of evidence, and takes no case. `merge` needs every log line: `records` is most of a case.

`{MANIFEST}` holds the schema's version (`{SCHEMA}`), the tool's version, command and rules' digest, the paths of the evidence and the
directory they share (`root`, left out of all paths), the options the evidence was read with, the verdict, and how many rows each table has.
`{RUN}` says who made it: when, by which command, on which platform, with which packages; nothing else in a case differs from run to run. `verify`
holds a case against evidence ([chain of custody](custody.md)).
A case of another version, or one of which anything is missing or damaged, is one line on stderr and exit code 2. A case that was made before there was
a table `{PROOF}` opens, and shows its verdicts without the proof.

`{PROOF}` is the proof of the verdicts ([how a verdict follows](deciding.md#the-proof-hand-overs)). `verify CASE --proof` computes every verdict again
from this table alone ([recheck the verdicts](custody.md#recheck-the-verdicts)).

[Audits](audit.md) keep the same tables of many clusters, by `cluster` and `date`, with a row's place in the order they have here (`place`).
What is called `incarnation` tells clusters apart that followed each other on the same brokers.

Times are UTC, without a zone in the type, after correction of zone and skew, unless a column says otherwise. This page is printed by
`python -m forensics.case.reference`, and `tests/forensics/case/test_case.py` holds it to the schemas.

## With other tools

Nothing but Parquet is needed. DuckDB:
"""
    for query in DUCKDB:
        yield f"```sql\n{query};\n```\n"
    yield f"polars:\n\n```python\n{POLARS}\n```\n"
    yield "## Tables\n"
    for table in TABLES:
        yield from _table(table)
    alike = [f"`{table.file}`" for table in EXPORTED if table in TABLES]
    yield f"""## What `--parquet` writes

`analyze` and `report` write with `--parquet DIR` the tables of what they report, narrowed by `--topic` and the like as the report is:
{", ".join(alike[:-1])} and {alike[-1]} as above, and these:
"""
    for table in EXPORTED:
        if table not in TABLES:
            yield from _table(table)


def _table(table: Table) -> Iterator[str]:
    yield f"### `{table.file}`\n\n{table.doc}\n\n| column | type | holds |\n|---|---|---|"
    for field in table.schema:
        yield f"| `{field.name}` | {_type(field.type)} | {field.metadata[b'doc'].decode()} |"
    yield ""


def _type(kind: pa.DataType) -> str:
    if pa.types.is_list(kind):
        return f"list of {_type(kind.value_type)}"
    if pa.types.is_struct(kind):
        return "struct(" + ", ".join(f"{f.name} {_type(f.type)}" for f in kind) + ")"
    return "timestamp" if pa.types.is_timestamp(kind) else str(kind)


if __name__ == "__main__":
    sys.stdout.write(page())

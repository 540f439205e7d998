"""`kafka-forensics schema`: the JSON Schemas of the documents and tables.

Here: the names of all schemas. Not here: the schemas (forensics.views.document_schema, forensics.case.table_schema).
"""

from __future__ import annotations

import json as jsonlib
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

import click

from forensics.commands.help import described
from forensics.commands.names import one_line, similar

if TYPE_CHECKING:
    from forensics.output.json_schema import Schema


def _names(_context: click.Context, _argument: click.Parameter, begun: str) -> list[str]:
    return [name for name in schemas() if name.startswith(begun)]


@described(
    rank=140,
    summary="Print the JSON Schema of the report or of a table.",
    examples=(
        ("List all schemas", ""),
        ("The report that --json writes", "report > report.schema.json"),
        ("A row of a table of a case", "findings"),
    ),
)
@click.argument("name", required=False, metavar="[NAME]", shell_complete=_names)
def command(name: str | None) -> None:
    """Print a JSON Schema (draft 2020-12): of the report, of the output of diff, of the summary of an audit (clusters), or of the rows of a
    table of a case or an audit.

    Without NAME, the names of all schemas are printed.
    """
    known = schemas()
    if name is None:
        width = max(map(len, known))
        for each, make in known.items():
            click.echo(one_line(f"{each:{width}}  {_meaning(make())}"))
        return
    if name not in known:
        advice = similar(name, known, "`kafka-forensics schema` lists all schemas")
        raise click.BadParameter(f"{name!r} is not a schema; {advice}", param_hint="NAME")
    click.echo(text(known[name]()), nl=False)


def _meaning(schema: Schema) -> str:
    """What the document or the row describes, in one sentence."""
    return str(schema.get("description") or schema["title"]).split(". ")[0].removesuffix(".") + "."


def text(schema: Schema) -> str:
    return jsonlib.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def schemas() -> Mapping[str, Callable[[], Schema]]:
    """A function for each schema, by name."""
    from forensics.audit.history import TABLES
    from forensics.audit.table_schema import audit_row, history_row
    from forensics.case.table_schema import row
    from forensics.case.tables import BY_NAME
    from forensics.views.document_schema import clusters, difference, inventory, report

    documents = {"report": report, "inventory": inventory, "clusters": clusters, "diff": difference}
    of_audit = {f"audit-{name}": partial(audit_row, name) for name in BY_NAME}
    of_audit |= {f"audit-{name}": partial(history_row, name) for name in TABLES}
    return {**documents, **{name: partial(row, name) for name in BY_NAME}, **of_audit}

"""The JSON Schema of each table of an audit: of a row as JSON, with the columns that the path of its file names.

Here: the columns that an audit adds. Not here: those of a case (forensics.case.table_schema).
"""

from __future__ import annotations

import pyarrow as pa

from forensics.audit.audited import SCHEMA
from forensics.audit.dated import PLACE
from forensics.audit.history import TABLES
from forensics.case.table_schema import row
from forensics.output.json_schema import TEXT, Schema, described, document, nullable, of_arrow, of_field, record

DATE: Schema = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\d$"}


def audit_row(name: str) -> Schema:
    """The schema of a row of a table, by the name of the table."""
    own = row(name)
    added = {
        PLACE.name: of_field(PLACE),
        "cluster": described(TEXT, "name of the cluster, from the path of the file"),
        "date": described(nullable(DATE), "day of the row, from the path of the file; null: the row has no time"),
    }
    return document(f"{SCHEMA}/{name}", f"A row of the table {name} of an audit", {**own, **record({**own["properties"], **added})})


def history_row(name: str) -> Schema:
    """The schema of a row of the tables about runs, which are not by cluster and date."""
    return document(f"{SCHEMA}/{name}", f"A row of the table {name} of an audit", of_arrow(pa.struct(list(TABLES[name]))))

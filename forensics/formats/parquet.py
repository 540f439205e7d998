"""The tables of the report."""

from __future__ import annotations

from forensics.output.format import DirectoryFormat, on_demand

FORMAT = DirectoryFormat(
    name="parquet",
    help="Write the tables of the report, those of a case, as Parquet files, for DuckDB, polars or pandas.",
    needs_case=True,
    write=on_demand("forensics.case.parquet:write"),
    check=on_demand("forensics.case.parquet:check"),
)

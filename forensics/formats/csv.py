"""Findings, verdicts and timelines for spreadsheets."""

from __future__ import annotations

from forensics.output.format import DirectoryFormat, on_demand

FORMAT = DirectoryFormat(
    name="csv",
    help="Write findings.csv, partitions.csv and timeline.csv, for spreadsheets.",
    needs_case=True,
    write=on_demand("forensics.case.parquet:write_csv"),
    check=on_demand("forensics.case.parquet:check"),
)

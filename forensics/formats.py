"""All output formats of a report, by name.

Here: what declares each. Not here: their classes (forensics.output.format), or their text (forensics.views).
"""

from __future__ import annotations

from forensics.output.format import AuditSummary, DirectoryFormat, FileFormat, Format, on_demand

FORMATS: tuple[Format, ...] = (
    DirectoryFormat(
        name="csv",
        help="Write findings.csv, partitions.csv and timeline.csv, for spreadsheets.",
        needs_case=True,
        write=on_demand("forensics.case.parquet:write_csv"),
        check=on_demand("forensics.case.parquet:check"),
    ),
    FileFormat(
        name="findings-csv",
        help="Write the findings as one CSV file, a row for each place.",
        extension=".csv",
        pieces=on_demand("forensics.case.parquet:findings_csv"),
    ),
    FileFormat(
        name="html",
        help="Write the report as one self-contained page.",
        extension=".html",
        pieces=on_demand("forensics.views.html.page:pieces"),
        needs_case=True,
        summary=AuditSummary(
            "Write the summary as a page, and a page of each cluster into a directory next to it.",
            on_demand("forensics.views.html.overview:pieces"),
            cluster_files=True,
        ),
    ),
    FileFormat(
        name="json",
        help="Write the complete report as JSON.",
        extension=".json",
        pieces=on_demand("forensics.views.document:pieces"),
        summary=AuditSummary(
            "Write the summary as JSON; - is stdout, instead of the tables.", on_demand("forensics.views.clusters:pieces")
        ),
    ),
    FileFormat(
        name="markdown",
        help="Write the draft of a post-incident review, as Markdown.",
        extension=".md",
        pieces=on_demand("forensics.views.markdown:pieces"),
    ),
    DirectoryFormat(
        name="parquet",
        help="Write the tables of the report, those of a case, as Parquet files, for DuckDB, polars or pandas.",
        needs_case=True,
        write=on_demand("forensics.case.parquet:write"),
        check=on_demand("forensics.case.parquet:check"),
    ),
    FileFormat(
        name="perfetto",
        help="Write a trace for ui.perfetto.dev, with a process for each broker.",
        extension=".json",
        pieces=on_demand("forensics.views.perfetto:pieces"),
    ),
    FileFormat(
        name="sarif",
        help="Write the findings as SARIF 2.1.0, for code scanning and editors.",
        extension=".sarif",
        pieces=on_demand("forensics.views.sarif:pieces"),
    ),
    FileFormat(
        name="timesketch",
        help="Write the events as JSON lines that Timesketch imports.",
        extension=".jsonl",
        pieces=on_demand("forensics.views.timesketch:pieces"),
    ),
)

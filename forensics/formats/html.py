"""The report as a page."""

from __future__ import annotations

from forensics.output.format import AuditSummary, FileFormat, on_demand

FORMAT = FileFormat(
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
)

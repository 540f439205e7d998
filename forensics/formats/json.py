"""The whole report as JSON."""

from __future__ import annotations

from forensics.output.format import AuditSummary, FileFormat, on_demand

FORMAT = FileFormat(
    name="json",
    help="Write the complete report as JSON.",
    extension=".json",
    pieces=on_demand("forensics.views.document:pieces"),
    summary=AuditSummary("Write the summary as JSON; - is stdout, instead of the tables.", on_demand("forensics.views.clusters:pieces")),
)

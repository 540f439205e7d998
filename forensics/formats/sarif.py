"""Findings as SARIF 2.1.0."""

from __future__ import annotations

from forensics.output.format import FileFormat, on_demand

FORMAT = FileFormat(
    name="sarif",
    help="Write the findings as SARIF 2.1.0, for code scanning and editors.",
    extension=".sarif",
    pieces=on_demand("forensics.views.sarif:pieces"),
)

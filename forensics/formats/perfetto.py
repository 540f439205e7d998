"""A trace for Perfetto."""

from __future__ import annotations

from forensics.output.format import FileFormat, on_demand

FORMAT = FileFormat(
    name="perfetto",
    help="Write a trace for ui.perfetto.dev, with a process for each broker.",
    extension=".json",
    pieces=on_demand("forensics.views.perfetto:pieces"),
)

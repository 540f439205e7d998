"""Events for Timesketch."""

from __future__ import annotations

from forensics.output.format import FileFormat, on_demand

FORMAT = FileFormat(
    name="timesketch",
    help="Write the events as JSON lines that Timesketch imports.",
    extension=".jsonl",
    pieces=on_demand("forensics.views.timesketch:pieces"),
)

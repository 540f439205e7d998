"""The draft of a post-incident review."""

from __future__ import annotations

from forensics.output.format import FileFormat, on_demand

FORMAT = FileFormat(
    name="markdown",
    help="Write the draft of a post-incident review, as Markdown.",
    extension=".md",
    pieces=on_demand("forensics.views.markdown:pieces"),
)

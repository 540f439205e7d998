"""Many lines of a file in the same wrapper: most are whole, and hold a record or what goes on from one.

Here: the wrappers of which such lines can be told from their form alone, each as one expression for the line. Not here: any other line,
nor what is made of them (unwrapper). The text of these begins with a date in brackets or an indent, as nothing does that is wrapped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from parsers.wrappers.forms import FROM, ISO, SHORT


def _run(before: bytes, after: bytes = b"", quoted: bytes = b"") -> re.Pattern[bytes]:
    """Of what stands before the text and behind it, with the groups utc and host; `quoted`: what does not stand in it as it is."""
    rest = rb"[^\n\r\x1b" + quoted + rb"]*"
    return re.compile(before + rb"(?P<text>\[\d{4}-\d" + rest + rb"|[\t ]" + rest + rb"|)" + after + rb"\n")


RUNS: Sequence[re.Pattern[bytes]] = (
    _run(rb"(?P<utc>" + ISO + rb") (?:stdout|stderr) F (?P<host>)"),
    _run(rb'\{"log":"(?P<host>)', rb'\\n","stream":"(?:stdout|stderr)","time":"(?P<utc>[^"\\\n]{20,35})"\}', rb'"\\'),
    _run(SHORT + rb"(?P<host>" + FROM + rb":(?: |(?! ))(?P<utc>)"),
)
"""The container runtime interface's, docker's and syslog's."""


def run_of(line: bytes) -> re.Pattern[bytes] | None:
    """What reads lines such as this, its line feed included."""
    return next((run for run in RUNS if run.fullmatch(line)), None)

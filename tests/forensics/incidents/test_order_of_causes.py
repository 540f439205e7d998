"""Causes of one incident that nothing tells apart in time are named in the order in which they follow from each other."""

from __future__ import annotations

from forensics.exemplars import exemplars_of
from forensics.words import of_incident
from tests.support import local

FILES = next(e.files for e in exemplars_of("log-dir-emptied") if e.name == "disk-replaced")


def test_a_disk_is_found_empty_after_the_crash() -> None:
    killed = {path: b"".join(line for line in text.splitlines(True) if b"shut" not in line) for path, text in FILES.items()}
    (incident,) = local.report(local.events_of_files(killed)).incidents
    said = of_incident(incident).summary
    assert said.index("crashed") < said.index("empty logs")

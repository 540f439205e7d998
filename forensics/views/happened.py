"""What happened: the incidents on the first screen, in a few sentences each.

Here: which incidents the first screen shows, and their words. Not here: the incidents (forensics.incidents), or the look of a format.
"""

from __future__ import annotations

from collections.abc import Sequence

from forensics.incidents.incidents import Incident
from forensics.model.findings import LEVELS
from forensics.words import of_incident
from forensics.words.formats import began, capital, moment

SHOWN = 3


def first_screen(incidents: Sequence[Incident]) -> tuple[list[Incident], int]:
    """The worst incidents, and the number of others."""
    shown = [i for i in incidents if i.severity != LEVELS[0]][:SHOWN]
    return shown, len(incidents) - len(shown)


def course(incident: Incident) -> str:
    """The incident without its sentences on single losses; its times come first, because they are looked for."""
    begun = f"Began {began(incident.start, incident.start_latest)}. " if incident.start_latest is not None else ""
    ended = f"Ended {moment(incident.end)}. " if incident.end is not None else ""
    return f"{begun}{ended}{capital(of_incident(incident).summary)}."

"""Names of the states of brokers, for people.

Here: the names. Not here: the spans and the descriptions of the states (forensics.model.presence.broker_states).
"""

from __future__ import annotations

from collections.abc import Mapping

from forensics.model.presence.broker_states import CLOCK, ENDED, UNSTATED

LABELS: Mapping[str, str] = {ENDED: "crashed in this span", UNSTATED: "no collected log", CLOCK: "clock changed"}
"""Names of the states that are not their own names."""


def label(state: str) -> str:
    return LABELS.get(state, state)

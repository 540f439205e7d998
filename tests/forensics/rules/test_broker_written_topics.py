"""Losses of topics that only brokers write: no advice that needs other producers or consumers."""

from __future__ import annotations

import re
from itertools import cycle

import pytest

from forensics.exemplars import exemplars_of
from forensics.model.findings import Exemplar, Finding
from forensics.model.settings.settings import INTERNAL_TOPICS, WRITTEN_BY_BROKERS
from forensics.words import words
from tests.forensics.staged import report

FOUND = [e for e in exemplars_of("data-loss") if e.found]
TOPICS = sorted(WRITTEN_BY_BROKERS - {"__cluster_metadata"})
"""Each exemplar is about one of them: a report takes a fifth of a second."""
FOR_CLIENTS = ("roducers", "onsumers of ", "resend", "acks=0")


def _losses(exemplar: Exemplar, topic: str) -> list[Finding]:
    """What is lost if the exemplar is about another topic."""
    own = re.compile(rb"\b%s\b" % str(exemplar.fields.get("topic", "t")).encode())

    def renamed(text: str) -> str:
        return own.sub(topic.encode(), text.encode()).decode()

    files = {renamed(p): content if b"\0" in content else own.sub(topic.encode(), content) for p, content in exemplar.files.items()}
    modified = {renamed(p): at for p, at in exemplar.modified.items()}
    return [f for f in report(files, modified).findings if f.loss and topic in f.name]


@pytest.mark.parametrize(("exemplar", "topic"), [*zip(FOUND, cycle(TOPICS), strict=False)], ids=lambda of: getattr(of, "name", of))
def test_nobody_is_asked_to_send_records_of_a_broker_again(exemplar: Exemplar, topic: str) -> None:
    losses = _losses(exemplar, topic)
    assert losses
    for finding in losses:
        said = words(finding)
        assert not [step for step in said.next_steps if any(word in step for word in FOR_CLIENTS)]
        assert "acks=0" not in said.summary + said.explanation
        needs_help = finding.committed is not False and finding.confidence != "possible" and topic in INTERNAL_TOPICS
        assert not needs_help or any("--describe" in step or "read_committed" in step for step in said.next_steps)

"""Every line of Kafka's that the project knows, one module per family, each pattern with its proof.

Here: the tuple of all of them, in the order in which they are tried. Not here: how they are searched for (parsers.catalogue).
"""

from __future__ import annotations

from parsers.patterns import (
    brokers,
    clients,
    controller,
    early,
    fetching,
    forks,
    groups,
    identity,
    isr,
    kraft,
    leadership,
    loading,
    log_dirs,
    quorum,
    requests,
    settings,
    silent,
    topics,
    truncation,
)
from parsers.patterns.pattern import Pattern

PATTERNS: tuple[Pattern, ...] = (
    *leadership.PATTERNS,
    *isr.PATTERNS,
    *truncation.PATTERNS,
    *loading.PATTERNS,
    *fetching.PATTERNS,
    *requests.PATTERNS,
    *controller.PATTERNS,
    *kraft.PATTERNS,
    *quorum.PATTERNS,
    *brokers.PATTERNS,
    *identity.PATTERNS,
    *log_dirs.PATTERNS,
    *topics.PATTERNS,
    *clients.PATTERNS,
    *groups.PATTERNS,
    *settings.PATTERNS,
    *early.PATTERNS,
    *forks.PATTERNS,
    *silent.PATTERNS,
)

"""The built-in patterns of log lines, one module per family, each pattern with samples that prove it.

Here: the tuple of all patterns, in the order in which they are tried. Not here: the user's patterns (in_force), or the search for lines
(parsers.catalogue).
"""

from __future__ import annotations

from parsers.patterns import (
    brokers,
    clients,
    controller,
    early,
    failures,
    fetching,
    forks,
    groups,
    identity,
    isr,
    kraft,
    leadership,
    loading,
    log_dirs,
    migration,
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
    *migration.PATTERNS,
    *brokers.PATTERNS,
    *identity.PATTERNS,
    *log_dirs.PATTERNS,
    *topics.PATTERNS,
    *clients.PATTERNS,
    *groups.PATTERNS,
    *settings.PATTERNS,
    *early.PATTERNS,
    *failures.PATTERNS,
    *forks.PATTERNS,
    *silent.PATTERNS,
)

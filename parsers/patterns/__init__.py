"""The built-in patterns of log lines: a TOML file for each topic, each pattern with samples that prove it, and silent.tsv.

Here: all patterns, in the order in which they are tried. They are read when PATTERNS is first used, because most commands do not read
logs. Not here: the form of the files (pattern_toml), the user's patterns (in_force), or the search for lines (parsers.catalogue).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from parsers.patterns.pattern import Pattern

FILES = (
    *("leadership", "isr", "truncation", "loading", "fetching", "requests", "controller", "kraft", "quorum", "migration", "brokers"),
    *("identity", "log_dirs", "topics", "clients", "groups", "settings", "early", "failures", "forks"),
)
PATTERNS: tuple[Pattern, ...]


def __getattr__(name: str) -> tuple[Pattern, ...]:
    if name != "PATTERNS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from parsers.patterns import pattern_toml, silent

    global PATTERNS
    PATTERNS = (*(pattern for file in FILES for pattern in pattern_toml.built_in(file)), *silent.patterns())
    return PATTERNS

"""A limit on the problems that one file reports one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from parsers.schemas import Member, Row, problem

MAX_PROBLEMS = 20
"""Problems reported one by one; a last row counts the rest."""


def limited(rows: Iterable[Row], member: Member, rest: str = "problems", reason: str = "") -> Iterator[Row]:
    """The rows, with at most MAX_PROBLEMS problems; a last row counts the rest as `rest`, under `reason` or that of the last problem."""
    problems, last = 0, ""
    for row in rows:
        if row["event"] == "problem":
            problems += 1
            if problems > MAX_PROBLEMS:
                continue
            last = row.get("reason") or last
        yield row
    if problems > MAX_PROBLEMS:
        yield problem(reason or last, f"{member.path}: {problems - MAX_PROBLEMS} more {rest}")

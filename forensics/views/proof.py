"""The proof of a verdict in words: the table of hand-overs as a terminal, a page and the JSON report show it.

Here: what each cell says, what a row shows to be lost, which rows matter, and the rows as JSON. Not here: the table itself
(forensics.proof), or how it looks (proof_lines, html).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate
from typing import Any

from forensics.model.message import Range, timestamp
from forensics.model.rows import Rows
from forensics.model.times import grouped
from forensics.proof.verdict import (
    ANY_LOG,
    ANY_PROCESS,
    BEGIN,
    CELLS,
    END,
    INTACT,
    LOST,
    POSSIBLE,
    RESTART,
    TAIL_CUT,
    UNKNOWN,
    Cell,
    Handover,
    Interval,
    losses,
    rows_of,
)
from forensics.words.formats import cell_words, counted, moment, period

Row = Mapping[str, Any]
"""A record of forensics.proof.records.HANDOVER."""
Proof = Mapping[str, Any]
"""The verdict on a partition: verdict, why, since, until, from_creation, and its `handovers`."""

MEANING = (
    "Each row is a hand-over to a new leader, with what the evidence leaves possible: 200–310 is between the two, 200 or more has no upper "
    "bound. Row numbers are those of the verdict."
)
ELECTIONS = {
    frozenset({Cell.IN_ISR}): "clean",
    frozenset({Cell.ELIGIBLE}): "clean",
    frozenset({Cell.IN_ISR, Cell.ELIGIBLE}): "clean",
    frozenset({Cell.OUTSIDE}): "unclean",
}
STATES = {
    Cell.RUNNING: "kept running",
    Cell.STOPPED: "stopped cleanly",
    Cell.CRASHED: "crashed",
    Cell.KEPT: "kept",
    Cell.RECOVERED: "recovered",
    Cell.DAMAGED: "damaged",
    Cell.CUT: "cut to high watermark",
    Cell.WIPED: "wiped",
}
LABELS = {
    "unseen": "missing hand-overs",
    "old_log_end": "old log end",
    "new_log_end": "new log end",
    "high_watermark": "high watermark",
}
ON_BOUNDS = frozenset({*LABELS, "election", "log", "process"})
"""Cells that leave a verdict open because of the offsets of the row."""
UNUSED = "-"
"""A cell that this kind of row does not have."""
ALL, AROUND = 40, 20
"""Rows that are shown in full; of more, those that matter and so many at either end."""


@dataclass(frozen=True, slots=True)
class Quote:
    """A line behind a bound, with the cells that rest on it."""

    cells: str
    source: str
    line: int | None
    byte: int | None
    text: str | None

    @property
    def place(self) -> str:
        where = f":{self.line}" if self.line is not None else f"@{self.byte}" if self.byte is not None else ""
        return f"{self.source}{where}"


@dataclass(frozen=True, slots=True)
class GoneOffsets:
    """Offsets that a row shows to be gone, with what is known of their commitment."""

    words: str
    sure: bool
    """Certain or probable, and not known to have never been committed."""


@dataclass(frozen=True, slots=True)
class ShownRow:
    """A row of the table in words."""

    row: int
    at: datetime | None
    epoch: str
    leader: str
    election: str
    old_log_end: str
    new_log_end: str
    high_watermark: str
    removed: tuple[str, ...]
    process: str
    log: str
    lost: tuple[GoneOffsets, ...]
    open: tuple[tuple[str, str], ...]
    """Cells that leave the verdict open, each with what is missing."""
    quotes: tuple[Quote, ...]

    @property
    def places(self) -> Mapping[str, list[str]]:
        """Where the lines behind the bounds are, by cell."""
        return grouped((quote.cells, quote.place) for quote in self.quotes)

    @property
    def on_bounds(self) -> bool:
        """The evidence for the row is in the lines that it quotes."""
        return bool(self.removed or self.lost) or any(cell in ON_BOUNDS for cell, _ in self.open)


@dataclass(frozen=True, slots=True)
class Skipped:
    """Rows `first` to `last`, which are not shown."""

    first: int
    last: int
    open: int
    """Rows among them that leave the verdict open."""

    def __str__(self) -> str:
        many = f"rows {self.first} to {self.last}: {counted(self.last - self.first + 1, 'hand-over')}"
        return f"{many}, {self.open:,} of which leave the verdict open" if self.open else f"{many} in which nothing was lost or left open"


def shown(records: Sequence[Row]) -> list[ShownRow]:
    """All rows of one partition in words."""
    return [_shown(number, record, row) for number, (record, row) in enumerate(zip(records, rows_of(records), strict=True))]


def chosen(rows: Sequence[ShownRow], most: int = ALL, around: int = AROUND) -> list[ShownRow | Skipped]:
    """The rows that are shown of a long table: those that lost records or leave the verdict open, the first and the last."""
    if len(rows) <= most:
        return list(rows)
    lost = [row.row for row in rows if row.lost or row.removed]
    open_rows = [row.row for row in rows if row.open]
    kept = {0, len(rows) - 1, *(n for some in (lost, open_rows) for n in (*some[:around], *some[-around:]))}
    found: list[ShownRow | Skipped] = []
    for number, row in enumerate(rows):
        if number in kept:
            found.append(row)
        elif found and isinstance(last := found[-1], Skipped):
            found[-1] = Skipped(last.first, number, last.open + bool(row.open))
        else:
            found.append(Skipped(number, number, int(bool(row.open))))
    return found


@dataclass(frozen=True, slots=True)
class Section:
    """The table of one partition as it is shown."""

    rows: Sequence[ShownRow | Skipped]
    count: int
    """Hand-overs of the whole table."""
    premises: Sequence[str]
    """Premises that do not hold, each once."""
    period: str
    """The time that the verdict is about; empty if no leader epoch has a known time."""
    quoted: bool
    """Lines are quoted: the partition is not intact."""
    repeated: Mapping[tuple[int, str], int]
    """By row and cell, the earlier row that leaves this cell open for the same reason."""

    def opened(self, row: ShownRow) -> Iterator[tuple[str, str]]:
        """The cells of a row that leave the verdict open, in words, each with the reason; a reason is stated once."""
        for cell, note in row.open:
            before = self.repeated.get((row.row, cell))
            yield cell_words(cell), note if before is None else f"as in row {before}"


def section(proof: Proof, most: int | None = ALL, around: int = AROUND) -> Section:
    """`most` None: every row is shown."""
    records = proof["handovers"] or ()
    rows = shown(records)
    kept = rows if most is None else chosen(rows, most, around)
    return Section(kept, len(rows), premises(records), _period(proof), proof["verdict"] != INTACT, _repeated(kept))


def _repeated(rows: Sequence[ShownRow | Skipped]) -> Mapping[tuple[int, str], int]:
    first: dict[tuple[str, str], int] = {}
    repeated = {}
    for row in (r for r in rows if isinstance(r, ShownRow)):
        for cell, note in row.open:
            if (before := first.setdefault((cell, note), row.row)) != row.row:
                repeated[row.row, cell] = before
    return repeated


def premises(records: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(f"{p['premise']}: {p['reason']}" for r in records for p in r["premises"] or ()))


def _period(proof: Proof) -> str:
    since, until = proof["since"], proof["until"]
    if since is None:
        return ""
    begin = " The partition was created then." if proof["from_creation"] else ""
    return f"Covered: {period(since, until) if until is not None else f'from {moment(since)} on'}.{begin}"


# cells


def _shown(number: int, record: Row, row: Handover) -> ShownRow:
    hands_over = row.kind not in (BEGIN, END)
    other_log = hands_over and not (row.old_leader == row.new_leader and row.log.only(Cell.KEPT))
    return ShownRow(
        row=number,
        at=record["at"],
        epoch=str(row.leader_epoch) + (f" (process {row.restart + 1})" if row.restart else ""),
        leader=_leader(row),
        election=_election(row),
        old_log_end=interval(row.old_log_end) if other_log or row.old_log_end != Interval() else UNUSED,
        new_log_end=interval(row.new_log_end),
        high_watermark=interval(row.high_watermark) if row.kind != BEGIN or row.high_watermark != Interval() else UNUSED,
        removed=tuple(_removed(record["removed"] or ())),
        process=_words(row.process.values, ANY_PROCESS.values) if hands_over else UNUSED,
        log=_words(row.log.values, ANY_LOG.values) if hands_over else UNUSED,
        lost=tuple(_losses(number, row)),
        open=tuple(_open(text) for text in record["decides"] or ()),
        quotes=tuple(_quotes(record)),
    )


def _leader(row: Handover) -> str:
    if row.kind == END or row.old_leader is None:
        return str(row.new_leader)
    return f"{row.old_leader} -> {row.new_leader}"


def _election(row: Handover) -> str:
    kinds = {BEGIN: "first leader", RESTART: "restart", END: "end of evidence"}
    return kinds.get(row.kind) or ELECTIONS.get(row.election.values, UNKNOWN)


def _words(values: frozenset[str], everything: frozenset[str]) -> str:
    if values == everything:
        return UNKNOWN
    return " or ".join(words for value, words in STATES.items() if value in values) or "contradictory"


def interval(cell: Interval) -> str:
    """`200`, `200–310`, `200 or more`, or `unknown`."""
    if cell.at_most is None:
        return f"{cell.at_least} or more" if cell.at_least else UNKNOWN
    if cell.conflict:
        return f"contradictory: {cell.at_least} or more, {cell.at_most} or less"
    return str(cell.at_least) if cell.exact else f"{cell.at_least}–{cell.at_most}"


def _removed(found: Iterable[Row]) -> Iterator[str]:
    """The ranges that were removed, each with its broker and all the ways in which the evidence shows that."""
    ways: dict[tuple[str, int], list[str]] = {}
    for removed in found:
        start, end = removed["start"], removed["end"]
        begin = start["at_most"] if start["at_most"] is not None else start["at_least"]
        low = f", perhaps from {start['at_least']}" if start["at_least"] < begin else ""
        more = " or beyond" if end["at_most"] is None else ""
        how = ways.setdefault((f"{Range(begin, end['at_least'])}{more}{low}", removed["broker"]), [])
        how.extend([removed["how"]] if removed["how"] and removed["how"] not in how else ())
    for (offsets, broker), how in ways.items():
        yield f"{offsets} ({', '.join((f'broker {broker}', *how))})"


COMMITTED = {True: "committed", False: "never committed", None: "commit status unknown"}


def _losses(number: int, row: Handover) -> Iterator[GoneOffsets]:
    for part in losses(number, row):
        words = f"offsets {Range(part.start, part.end)}: {COMMITTED[part.committed]}, {part.confidence}"
        yield GoneOffsets(words, part.confidence != POSSIBLE and part.committed is not False)


def _open(text: str) -> tuple[str, str]:
    cell, _, note = text.partition(": ")
    return cell, note


def _quotes(record: Row) -> Iterator[Quote]:
    """The lines behind the bounds of a row, each once."""
    quotes = grouped(
        ((e["source"], e["line"], e["byte"], e["text"]), label) for label, cell in _bounds(record) for e in cell["evidence"] or ()
    )
    for (source, line, byte, text), labels in quotes.items():
        yield Quote(", ".join(dict.fromkeys(labels)), source, line, byte, text)


def _bounds(record: Row) -> Iterator[tuple[str, Row]]:
    yield from ((label, record[name]) for name, label in LABELS.items())
    for removed in record["removed"] or ():
        yield from (("removed", removed[name]) for name in ("start", "end"))


# JSON

MOST = 10_000
"""Rows of hand-overs in a JSON report."""
ALWAYS = ("old_log_end", "new_log_end", "high_watermark")
"""Cells that a row has in JSON even if nothing is known of them."""
_WIDEST = {name: getattr(Handover(BEGIN, 0), name) for name in CELLS}
_WORST_FIRST = {LOST: 0, UNKNOWN: 1, TAIL_CUT: 2, INTACT: 3}


def of_report(partitions: Sequence[Row]) -> tuple[list[list[dict[str, Any]] | None], int]:
    """The proof of each partition for a JSON report; and for how many partitions it was left out, those with the worst verdict last."""
    verdicts = [p["verdict"] for p in partitions]
    proofs: list[list[dict[str, Any]] | None] = [None] * len(verdicts)
    sizes, taken = _lists(partitions)
    order = sorted(range(len(verdicts)), key=lambda n: _WORST_FIRST.get(verdicts[n], 1))
    fitting = bisect_right(list(accumulate(sizes[n] for n in order)), MOST)
    for number, records in zip(order[:fitting], taken(order[:fitting]), strict=True):
        if records is not None:
            proofs[number] = [_of_report(r, quoted=verdicts[number] != INTACT) for r in records]
    return proofs, len(order) - fitting


def _lists(partitions: Sequence[Row]) -> tuple[Sequence[int], Callable[[Sequence[int]], Sequence[Any]]]:
    """How many hand-overs each partition has, and the way to those of some: decoding all of a large cluster takes seconds."""
    if not isinstance(partitions, Rows):
        lists = [p["handovers"] for p in partitions]
        return [len(rows or ()) for rows in lists], lambda numbers: [lists[n] for n in numbers]
    return partitions.lengths("handovers"), lambda numbers: partitions.at("handovers", numbers)


def proofs(partitions: Sequence[Row], numbers: Sequence[int]) -> list[Proof]:
    _, taken = _lists(partitions)
    rows = list(partitions)
    names = ("verdict", "why", "since", "until", "from_creation")
    return [{**{n: rows[k][n] for n in names}, "handovers": records} for k, records in zip(numbers, taken(numbers), strict=True)]


def _of_report(record: Row, *, quoted: bool) -> dict[str, Any]:
    """A row as JSON: without the cells in which everything is possible, and with `evidence` null if the partition is intact."""
    cells = {name: _cell(record[name], quoted=quoted) for name in CELLS if name in ALWAYS or not _everything(name, record[name])}
    return {
        **{name: record[name] for name in ("row", "kind")},
        "at": timestamp(record["at"]),
        **{name: record[name] for name in ("leader_epoch", "restart", "old_leader", "new_leader")},
        **cells,
        "removed": [_removal(r, quoted=quoted) for r in record["removed"] or ()],
        **({"resent_because": record["resent_because"]} if record["resent_because"] is not None else {}),
        **{name: record[name] or [] for name in ("premises", "contradictions", "decides")},
    }


def _everything(name: str, value: Any) -> bool:
    widest = _WIDEST[name]
    if isinstance(widest, Interval):
        return (value["at_least"], value["at_most"]) == (widest.at_least, widest.at_most)
    return bool(frozenset(value) == widest.values)


def _cell(value: Any, *, quoted: bool) -> Any:
    return value if quoted or not isinstance(value, Mapping) else {**value, "evidence": None}


def _removal(removed: Row, *, quoted: bool) -> dict[str, Any]:
    return {name: _cell(value, quoted=quoted) for name, value in removed.items()}


def of_timeline(record: Row) -> dict[str, Any]:
    """A row as JSON with all that the case holds of it."""
    return {**record, "at": timestamp(record["at"])}

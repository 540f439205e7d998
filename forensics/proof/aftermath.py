"""The effect of a loss: how many records, which disk still contains them, which groups had read them, and which groups do not get the
records written after the loss.

Here: the sentence that the timeline, incidents and findings print with each loss. Not here: how the effect is determined
(forensics.proof.readers, forensics.model.partition.salvageable), or what to do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from forensics.model.findings import NAMED, Client, Place, Statement, brokers_named, counted, some

_GOES_ON = {
    "skips": "will skip what is written anew at {skipped}",
    "skipped": "has skipped what was written anew at {skipped}",
    "unknown": "reads it, and nothing that was collected says where it stood",
    "reset": "is beyond the log's end: auto.offset.reset decides",
    "returns": "goes back if its clients check leader epochs",
    "went-back": "went back afterwards",
}
"""The worst first."""


def aftermath(loss: Statement, place: Place) -> str | None:
    """The effect of a loss in words: '158 records; still on broker 2's disk; group billing had read all of them'. None if only the number
    is known."""
    told = [*_held(loss, place), *of_groups(place.clients, place)]
    return "; ".join([_many(place), *told]) if told else None


def _many(place: Place) -> str:
    held = place.salvageable
    if held is not None and held.held and not held.missing:
        count = sum(p.records for p in held.producers)
        return counted(count, "record")
    if any(r.end is None for r in place.offsets):
        return "an unknown number of records"
    return counted(sum(r.length or 0 for r in place.offsets), "offset")


def _held(loss: Statement, place: Place) -> Iterator[str]:
    found = place.salvageable
    if found is None:
        return
    if not found.held:
        yield "on no disk that was collected"
        return
    brokers = sorted({h.broker for h in found.held if h.broker is not None})
    there = "still on the disk" if set(brokers) <= set(loss.still_on) else "in what was saved of the disk"
    whose = f"{there} of {brokers_named(brokers)}" if brokers else "in files that were collected"
    yield f"offsets {some([str(h.offsets) for h in found.held])} {whose}" if found.missing else whose


def of_groups(clients: Sequence[Client], place: Place) -> Iterator[str]:
    """Clauses for groups that had read lost records, or that go on at a wrong position."""
    hurt = sorted((c for c in clients if c.outcome != "untouched" or c.had_read is not None), key=_badly)
    whole = [(r.start, r.end) for r in place.offsets]
    for c in hurt[:NAMED]:
        read = (
            []
            if c.had_read is None
            else [f"had read {'all' if [(c.had_read.start, c.had_read.end)] == whole else str(c.had_read)} of them"]
        )
        on = [_GOES_ON[c.outcome].format(skipped=c.skipped)] if c.outcome in _GOES_ON else []
        yield f"{'share group' if c.protocol == 'share' else 'group'} {c.group} {' and '.join([*read, *on])}"
    if len(hurt) > NAMED:
        yield f"{len(hurt) - NAMED} groups more"


def _badly(client: Client) -> tuple[int, str]:
    return list(_GOES_ON).index(client.outcome) if client.outcome in _GOES_ON else len(_GOES_ON), client.group


def sentences(lost: Iterable[tuple[Statement, Place]]) -> Iterator[str]:
    """Sentences for the losses with most records, each with the name of its partition."""
    told = [(p, words) for f, p in lost if f.confidence != "possible" and (words := aftermath(f, p)) is not None]
    told.sort(key=lambda item: (-sum(r.length or 0 for r in item[0].offsets), item[0].name))
    yield from (f"{p.name}: {words}." for p, words in told[:NAMED])
    if len(told) > NAMED:
        yield f"{len(told) - NAMED} partitions more are told of in the findings."

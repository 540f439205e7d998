"""The effect of a loss: how many records, which disk still contains them, which groups had committed beyond them, and which groups do
not get the records written after the loss.

Here: the sentence that the timeline, incidents and findings print with each loss. Not here: how the effect is determined
(forensics.proof.readers, forensics.model.partition.salvageable), or what to do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from forensics.model.findings import NAMED, Client, Place, Statement, brokers_named, counted, some

_GOES_ON = {
    "skips": "will skip the new records at {skipped}",
    "skipped": "skipped the new records at {skipped}",
    "unknown": "reads the partition; its position is unknown",
    "reset": "is beyond the log's end: auto.offset.reset decides",
    "returns": "goes back if its clients check leader epochs",
    "went-back": "went back afterwards",
}
"""The worst first."""


def aftermath(loss: Statement, place: Place) -> str | None:
    """The effect of a loss in words: '158 records; still on broker 2's disk; group billing had committed beyond all of them'. None if only
    the number is known."""
    effects = [*_held(loss, place), *of_groups(place.clients, place)]
    return "; ".join([_many(place), *effects]) if effects else None


def _many(place: Place) -> str:
    held = place.salvageable
    if held is not None and held.held and not held.missing:
        return counted(sum(p.records for p in held.producers), "record")
    if any(r.end is None for r in place.offsets):
        return "an unknown number of records"
    return counted(sum(r.length or 0 for r in place.offsets), "offset")


def _held(loss: Statement, place: Place) -> Iterator[str]:
    saved = place.salvageable
    if saved is None:
        return
    if not saved.held:
        yield "not recoverable: no collected disk has them"
        return
    brokers = sorted({h.broker for h in saved.held if h.broker is not None})
    where = "still on the disk" if set(brokers) <= set(loss.still_on) else "in the collected files of the disk"
    place_words = f"{where} of {brokers_named(brokers)}" if brokers else "in collected files"
    yield f"offsets {some([str(h.offsets) for h in saved.held])} {place_words}" if saved.missing else place_words


def of_groups(clients: Sequence[Client], place: Place) -> Iterator[str]:
    """Clauses for groups that had committed beyond lost records, or that go on at a wrong position."""
    affected = sorted((c for c in clients if c.outcome != "untouched" or c.had_read is not None), key=_badly)
    lost = [(r.start, r.end) for r in place.offsets]
    yield from (_group_words(c, lost) for c in affected[:NAMED])
    if len(affected) > NAMED:
        yield f"{len(affected) - NAMED} more groups"


def _group_words(client: Client, lost: Sequence[tuple[int, int | None]]) -> str:
    words = []
    if client.had_read is not None:
        everything = [(client.had_read.start, client.had_read.end)] == lost
        words.append(f"had committed beyond {'all' if everything else client.had_read} of them")
    if client.outcome in _GOES_ON:
        words.append(_GOES_ON[client.outcome].format(skipped=client.skipped))
    return f"{'share group' if client.protocol == 'share' else 'group'} {client.group} {' and '.join(words)}"


def _badly(client: Client) -> tuple[int, str]:
    return list(_GOES_ON).index(client.outcome) if client.outcome in _GOES_ON else len(_GOES_ON), client.group


def sentences(lost: Iterable[tuple[Statement, Place]]) -> Iterator[str]:
    """Sentences for the losses of most offsets, each with the name of its partition."""
    losses = [(p, words) for f, p in lost if f.confidence != "possible" and (words := aftermath(f, p)) is not None]
    losses.sort(key=lambda item: (-sum(r.length or 0 for r in item[0].offsets), item[0].name))
    yield from (f"{p.name}: {words}." for p, words in losses[:NAMED])
    if len(losses) > NAMED:
        yield f"See the findings for {len(losses) - NAMED} more partitions."

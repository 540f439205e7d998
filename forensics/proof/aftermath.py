"""The effect of a loss: how many offsets, which disk still contains them, which groups had committed beyond them, and which groups do
not get the records written after the loss.

Here: what the timeline, incidents and findings print with each loss, as messages. Not here: how the effect is determined
(forensics.proof.readers, forensics.model.partition.salvageable), or what to do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from forensics.model.findings import Client, Place, Statement, disks
from forensics.model.message import Message, joined, said
from forensics.thresholds import NAMED

_GOES_ON = ("skips", "skipped", "unknown", "reset", "returns", "went-back")
"""Outcomes that are reported, the worst first."""


def aftermath(loss: Statement, place: Place) -> Message | None:
    """The effect of a loss: '158 offsets; still on broker 2's disk; group billing had committed beyond all of them'. None if only the
    number is known."""
    effects = (*_held(loss, place), *of_groups(place.clients, place))
    return said("aftermath/effects", effects=(_many(place), *effects)) if effects else None


def _many(place: Place) -> Message:
    if any(r.end is None for r in place.offsets):
        return said("aftermath/unknown-number")
    count, records = sum(r.length or 0 for r in place.offsets), place.records.count if place.records is not None else None
    at_least = any(part.at_least for part in place.parts)
    return said("aftermath/offsets", count=count, records=records if records != count else None, at_least=at_least)


def _held(loss: Statement, place: Place) -> Iterator[Message]:
    saved = place.salvageable
    if saved is None:
        return
    if not saved.held:
        yield said("aftermath/not-held")
        return
    brokers = tuple(sorted({h.broker for h in saved.held if h.broker is not None}))
    spans = tuple(h.offsets for h in saved.held) if saved.missing else ()
    yield said("aftermath/held", spans=spans, still={*brokers} <= {*disks(place.parts)[0]}, brokers=brokers)


def of_groups(clients: Sequence[Client], place: Place) -> Iterator[Message]:
    """Clauses for groups that had committed beyond lost records, or that go on at a wrong position."""
    affected = sorted((c for c in clients if c.outcome != "untouched" or c.had_read is not None), key=_badly)
    yield from (_of_group(c, place) for c in affected[:NAMED])
    if len(affected) > NAMED:
        yield said("aftermath/more-groups", count=len(affected) - NAMED)


def _of_group(client: Client, place: Place) -> Message:
    everything = (client.had_read,) == joined(part.offsets for part in place.parts) and not any(part.at_least for part in place.parts)
    return said(
        "aftermath/group",
        share=client.protocol == "share",
        group=client.group,
        everything=everything,
        had_read=client.had_read if not everything else None,
        and_then=client.had_read is not None,
        goes_on=said(f"aftermath/{client.outcome}", skipped=client.skipped) if client.outcome in _GOES_ON else None,
    )


def _badly(client: Client) -> tuple[int, str]:
    return _GOES_ON.index(client.outcome) if client.outcome in _GOES_ON else len(_GOES_ON), client.group


def sentences(lost: Iterable[tuple[Statement, Place]]) -> Iterator[Message]:
    """Sentences for the losses of most offsets, each with the name of its partition."""
    losses = [(p, effect) for f, p in lost if f.confidence != "possible" and (effect := aftermath(f, p)) is not None]
    losses.sort(key=lambda item: (-sum(r.length or 0 for r in item[0].offsets), item[0].name))
    yield from (said("aftermath/of-partition", name=p.name, effect=effect) for p, effect in losses[:NAMED])
    if len(losses) > NAMED:
        yield said("aftermath/more-partitions", count=len(losses) - NAMED)

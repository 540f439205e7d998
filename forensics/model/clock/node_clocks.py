"""The clock of each node: from what the user gives, from UTC times that its lines print, and by comparison with other nodes.

Here: the evidence by node, and the choice between its estimates. Not here: one zone (zones), comparisons (comparisons), or their solution
(clocks).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from forensics.model.clock.clocks import Clock, estimate
from forensics.model.clock.comparisons import FileSpans, relations
from forensics.model.clock.copies import LOG_SUFFIX
from forensics.model.clock.resolver import EventResolver
from forensics.model.clock.sources import Source
from forensics.model.clock.zones import (
    MINUTE_MS,
    QUARTER_MS,
    ClockEvidence,
    ClockOffset,
    Jump,
    PrintedUtc,
    ZoneStep,
    anchor,
    changes,
    changes_in,
    floor,
    in_zone,
    nearest_zone,
    offset_changes,
    steps,
)
from forensics.model.events import Event

_CALENDAR_MS = range(10**14)
"""Milliseconds since 1970 that are valid as a start time of Kafka."""


@dataclass(frozen=True)
class Options:
    """The user's clock options; they override every estimate."""

    zone_offset_ms: int | None = None
    """--timezone as an offset: wall clock of all brokers minus UTC."""
    zone_name: str | None = None
    """--timezone as a name of the time zone database, whose offset changes with the seasons."""
    clock_offsets_ms: Mapping[int, int] = field(default_factory=dict)
    """--clock-offset BROKER=±S: error of one broker's clock, on top of its zone."""

    @property
    def gives_zone(self) -> bool:
        return self.zone_offset_ms is not None or self.zone_name is not None


def _witnesses(
    table: Iterable[Mapping[str, Any]], nodes: Mapping[str, Sequence[int]], owned: EventResolver
) -> dict[int | None, list[ClockEvidence]]:
    """Clock evidence from each node's log files, from the rows about sources. UTC logs are used only if the node has no others, copies with
    other times only for the times in UTC that their lines contain."""
    found: dict[int | None, list[ClockEvidence]] = defaultdict(list)
    absolute: dict[int | None, list[ClockEvidence]] = defaultdict(list)
    for row in table:
        c = row["collected"] or {}
        if row["source"] in owned.shifts_ms:
            found[owned.nodes[row["source"]]].append(ClockEvidence(None, None, source=row["source"]))
        elif (c.get("kind") or "").endswith(LOG_SUFFIX) and c.get("last") is not None:
            jumps = tuple(Jump(j["line"], j["before"], j["after"]) for j in c.get("jumps") or () if None not in j.values())
            utc = c.get("clock") == "utc"
            stated = 0 if utc else c.get("wall_minus_utc_ms")
            stamped = row["source"] not in owned.unstamped and not c.get("parts")  # a joined file is as old as the joining
            modified = c.get("modified") if stamped else None
            witness = ClockEvidence(c["last"], modified, stated, row["source"], jumps, c.get("first"))
            for node in nodes[row["source"]] or (None,):
                (absolute if utc else found)[node].append(witness)
    return {**absolute, **found}


def _clocks(
    witnesses: Mapping[int | None, Sequence[ClockEvidence]],
    events: Sequence[Event],
    options: Options,
    hosts: Mapping[int, int],
    spans: FileSpans,
) -> dict[int | None, Clock]:
    """The clock of each node. `hosts`: nodes that share a host, and so a clock, mapped to one node per host."""
    nodes = {n for n in witnesses if n is not None} | {e.writer for e in events if e.writer is not None}
    of_host = _of_hosts(witnesses, hosts)
    anchors = {n: a for n, of_clock in of_host.items() if (a := _anchor(of_clock, options)) is not None}
    errors_ms = {hosts.get(n, n): error for n, error in options.clock_offsets_ms.items()}
    known = {n: replace(a, offset_ms=a.offset_ms + errors_ms.get(n, 0)) for n, a in anchors.items() if n is not None}
    host_of = {n: hosts.get(n, n) for n in nodes | errors_ms.keys()}
    all_hosts = sorted(set(host_of.values()))
    floors = {n: low for n in all_hosts if (low := floor(of_host.get(n, ()))) is not None}
    compared = relations(events, {n: known[host] for n, host in host_of.items() if host in known}, hosts, spans)
    clocks: dict[int | None, Clock] = dict(estimate(known, compared, all_hosts, floors).items())
    if (unowned := anchors.get(None)) is not None:
        clocks[None] = Clock.at_offset(unowned.offset_ms, unowned.uncertainty_ms, unowned.basis)
    for node, error in errors_ms.items():
        clocks[node] = _given_clock(clocks.get(node, Clock()), anchors.get(node), error)
    if options.gives_zone:
        clocks = {n: replace(c, shown_zone=_contradicting(c, of_host.get(n, ()))) for n, c in clocks.items()}
    changing = {n: _changing(c, of_host.get(n, ()), options) for n, c in clocks.items()}
    return {**changing, **{n: changing[host] for n, host in host_of.items()}}


def _contradicting(clock: Clock, found: Sequence[ClockEvidence]) -> int | None:
    """The zone in minutes that times in UTC show, if the user gave another one: printed by the node's processes or a container
    runtime, or of the metadata log's records. Modification times may be in any zone."""
    own = anchor(found)
    if own is not None and own.basis.split("+")[0] in ("start", "container"):
        shown = nearest_zone(own.offset_ms)
    elif "metadata" in clock.basis.split("+") and clock.uncertainty_ms is not None and clock.uncertainty_ms < QUARTER_MS:
        shown = nearest_zone(clock.offset_ms)
    else:
        return None
    return shown if abs(shown - clock.zone_minutes) * MINUTE_MS >= QUARTER_MS else None


def _given_clock(estimated: Clock, anchor: ClockOffset | None, error_ms: int) -> Clock:
    """The clock whose error the user gave."""
    zone = nearest_zone(anchor.offset_ms) if anchor is not None else estimated.zone_minutes
    return Clock(zone, error_ms, 0, "given", compared=estimated.compared)


def _of_hosts(witnesses: Mapping[int | None, Sequence[ClockEvidence]], hosts: Mapping[int, int]) -> dict[int | None, list[ClockEvidence]]:
    """Clock evidence by host. A file that several nodes write to counts once."""
    found: dict[int | None, dict[str, ClockEvidence]] = defaultdict(dict)
    for node, own in witnesses.items():
        host = hosts.get(node, node) if node is not None else None
        found[host].update({f"{w.source} {n}": w for n, w in enumerate(own) if w.source not in found[host]})
    return {host: list(own.values()) for host, own in found.items()}


def _anchor(found: Sequence[ClockEvidence], options: Options) -> ClockOffset | None:
    last = max((w.last for w in found if w.last is not None), default=None)
    if options.zone_name is not None and last is not None:
        return ClockOffset(in_zone(options.zone_name, last), 0, "given")
    if options.zone_offset_ms is not None:
        return ClockOffset(options.zone_offset_ms, 0, "given")
    return anchor(found)


def _changing(clock: Clock, found: Sequence[ClockEvidence], options: Options) -> Clock:
    """The clock with the changes of its zone's offset; a zone that the user gives as an offset has none."""
    if options.zone_name is not None:
        return replace(clock, changes=changes_in(options.zone_name, found, clock.skew_ms))
    if options.zone_offset_ms is not None:
        return clock
    return replace(clock, changes=changes(found, clock.offset_ms, clock.files_ms))


def _starts(events: Iterable[Event]) -> dict[str, list[PrintedUtc]]:
    """Lines of each file that state the UTC time of their printing. `events` have uncorrected times and are in file order."""
    found: dict[str, list[PrintedUtc]] = defaultdict(list)
    first: Event | None = None
    starting = False
    for e in events:
        if e.at is None or e.line is None:
            continue
        if e.event == "process-starting":
            first, starting = e, False
        elif e.event == "broker-starting":
            first = first if first is not None and first.source == e.source and not starting else e
            starting = True
        elif e.event == "start-time" and e.count is not None and e.count in _CALENDAR_MS:
            own = first if first is not None and first.source == e.source else e
            utc = datetime(1970, 1, 1) + timedelta(milliseconds=e.count)
            found[e.source].append(PrintedUtc(utc, e.at, own.line, own.at or e.at))
            first = None
    return found


def _stamps(events: Iterable[Event], clocks: Mapping[int | None, Clock]) -> dict[int, int]:
    """By controller epoch, the clock error of the controller that was active."""
    led = {e.controller_epoch: e.controller for e in events if e.event == "metadata-leader"}
    wrong = {epoch: clocks.get(node, Clock()).stamps_ms for epoch, node in led.items() if epoch is not None and node is not None}
    return {epoch: error for epoch, error in wrong.items() if error}


def with_clocks(
    owned: EventResolver,
    collected: Sequence[Mapping[str, Any]],
    sources: Sequence[Source],
    raw: Sequence[Event],
    options: Options,
    hosts: Mapping[int, int],
) -> tuple[EventResolver, dict[int | None, Clock]]:
    """The resolver with the corrections of all times, and the clock of each node; also corrects the modification times of `sources`."""
    starts = _starts(raw)
    uncertain = _witnesses(collected, {s.path: s.nodes for s in sources}, owned)
    witnesses = {n: [replace(w, starts=tuple(starts.get(owned.shown(w.source), ()))) for w in of_node] for n, of_node in uncertain.items()}
    spans = {owned.shown(s.path): (s.first, s.last) for s in sources if s.first is not None and s.last is not None}
    clocks = _clocks(witnesses, raw, options, hosts, spans)
    for s in (s for s in sources if s.shifted_ms):  # its logs show two times
        if (clock := clocks.setdefault(s.node, Clock())).assumed:
            clocks[s.node] = replace(clock, uncertainty_ms=max(clock.uncertainty_ms or 0, abs(s.shifted_ms)))
    jumps = {w.source: w.jumps for of_node in witnesses.values() for w in of_node}
    absolute = {row["source"] for row in collected if (row["collected"] or {}).get("clock") == "utc"}
    clock_of = {s.path: clocks.get(s.nodes[0] if s.nodes else None, Clock()) for s in sources}  # nodes that share a log share a host
    for s in sources:
        s.modified = s.modified - timedelta(milliseconds=clock_of[s.path].files_ms) if s.modified is not None else None
    steps_of = {s.path: _steps(s, clock_of[s.path], jumps.get(s.path, ())) for s in sources if s.path not in absolute}
    resolver = replace(
        owned,
        offsets_ms={path: c.skew_ms if path in absolute else c.offset_ms for path, c in clock_of.items()},
        steps={path: of_log for path, of_log in steps_of.items() if of_log},
        skews_ms={path: c.skew_ms for path, c in clock_of.items() if c.skew_ms},
        files_ms={path: c.files_ms for path, c in clock_of.items() if c.files_ms},
        stamps_ms=_stamps(raw, clocks),
    )
    return resolver, clocks


def _steps(source: Source, clock: Clock, jumps: Sequence[Jump]) -> tuple[ZoneStep, ...]:
    """The lines at which the offset changes in a source."""
    if source.shared and source.last is not None and (found := offset_changes(jumps, clock.offset_ms, (source.lines or 1, source.last))):
        return found
    return steps(clock.changes, source.first, jumps, source.path)

"""The report as a page: its content, order and limits.

Here: the values that the templates show and the data that the script draws from. Not here: any fact (the report, the case), geometry
(drawing), single partitions (details), or appearance (templates, static).
"""

from __future__ import annotations

import base64
import hashlib
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from forensics.incidents.folding import places
from forensics.model.clock.sources import Source, line_times
from forensics.model.findings import LEVELS, UNSETTLED, Evidence, Finding, Purpose, shortened
from forensics.model.findings import LOST as LOST_RECORDS
from forensics.model.message import said
from forensics.model.presence.broker_states import CLOCK, CONTROLLER, ENDED, FENCED, PAUSED, STATES, UNSTATED, StateSpan
from forensics.model.times import grouped
from forensics.proof.verdict import INTACT, LOST, TAIL_CUT, UNKNOWN
from forensics.rules import of_purpose, rule_of
from forensics.views.document import Report
from forensics.views.first_screen import Size, first_screen
from forensics.views.html import times
from forensics.views.html.details import Detail, Kept, Lane, SourcePaths, details, gravity, printed, ranked
from forensics.views.html.drawing import Drawn, DrawnWindow, window
from forensics.views.html.safe import block, visible
from forensics.views.losses import REMOVED, WORDS, losses
from forensics.views.proof import MEANING
from forensics.views.states import LABELS, label
from forensics.views.text import sized, subject
from forensics.words import of_incident, summary, text, title_of, words
from forensics.words.formats import began, is_internal, moment, period
from parsers.schemas import located

MEANINGS = {
    LOST: "committed records are lost",
    UNKNOWN: "evidence is missing: it is unknown whether records are lost",
    TAIL_CUT: "only records that were never committed were truncated",
    INTACT: "proven: no committed record is lost",
}
"""Verdicts, the worst first."""
SURE = {"certain": "certain", "probable": "probable", "possible": "possible, not proven"}

SHOWN = 40
"""Findings, and incidents, that are shown initially; further ones are shown on request."""
PAGE = 25
"""Rows of partitions at a time."""
HELD = 1_000
"""Findings that are on the page at all."""
NAMED = 24
"""Partitions of a finding that are listed one by one."""
QUOTED = 220_000
"""Characters of the log lines around what is quoted."""
REACH = 3
CUT = 300
LANES, FEW = 24, 9
"""Lanes of nodes with events that are shown initially; and nodes that all are."""
BANDS = 5
"""Bands through the lanes for the times of losses."""
LETTER = 0.66
"""Percent of a lane that a letter takes on a wide screen."""
FLAG_ROWS = 5
"""Rows of the words over the lanes."""
LOST_SHOWN = 10
"""Lost ranges on the first screen."""
OTHERS = "others"
BARS = 8
"""Topics in the bar of verdicts."""
FILES = 400
"""Files with their digests."""

ABOUT = ("ONLY", "NOT READ")
"""Labels of the lines that say what the verdict is about."""
OVER = {CONTROLLER, FENCED, PAUSED, UNSTATED, CLOCK}
"""States that are drawn over the state of the process."""
NAMES = {ENDED: "crash", **{state: state for state in ("down", "starting", "recovering", "stopping", PAUSED)}}
"""Words in spans that have room for them."""
WORTH = {FENCED, PAUSED, CLOCK, ENDED, "down", "recovering", "stopping"}


def page(report: Report, kept: Kept | None) -> str:
    """The whole file. `kept` None: without the data that only a case has."""
    return environment().get_template("report.html").render(**_Page(report, kept).values())


def pieces(report: Report, kept: Kept | None) -> Iterator[str]:
    """The file, with the interface of other formats."""
    yield page(report, kept)


@cache
def environment() -> Environment:
    """The templates, with the frame of every page."""
    environment = Environment(
        loader=PackageLoader("forensics.views.html"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value,
    )
    environment.filters.update(
        time=times.time,
        between=times.between,
        span=times.span,
        said=times.said,
        told=times.told,
        plain=times.plain,
        epoch_ms=times.epoch_ms,
        in_words=text,
        of_finding=words,
        title=lambda f: rule_of(f.kind).title,
        sized=sized,
        thousands=lambda n: f"{n:,}",
    )
    style = "\n".join(map(_file, ("vendor/uplot/uPlot.min.css", "static/page.css")))
    frame = "\n".join(map(_file, ("static/theme.js", "static/zone.js")))
    script = "\n".join((_file("vendor/uplot/uPlot.iife.min.js"), _file("static/page.js")))
    environment.globals.update(
        style=Markup(style),  # noqa: S704 - files of ours, no evidence in them
        frame=Markup(frame),  # noqa: S704
        script=Markup(script),  # noqa: S704
        licence=_file("vendor/uplot/LICENSE"),
        csp="; ".join(
            (
                "default-src 'none'",
                f"script-src {_digest(frame)} {_digest(script)}",
                f"style-src {_digest(style)}",
                "img-src data:",
                "base-uri 'none'",
                "form-action 'none'",
            )
        ),
    )
    return environment


def _file(name: str) -> str:
    return files("forensics.views.html").joinpath(name).read_text("utf-8")


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


class _Page:
    def __init__(self, report: Report, kept: Kept | None) -> None:
        self.report, self.kept = report, kept
        self.screen = first_screen(report)(Size(ranges=LOST_SHOWN))
        self.document = report.document(proof=False)
        self.partitions: Sequence[Mapping[str, Any]] = self.document["partitions"]
        self.place = {(p["topic"], p["partition"]): n for n, p in enumerate(self.partitions)}
        self.by_id = {f.id: f for f in report.findings}
        self.worst = gravity(report.findings)
        self.ranked = ranked(self.partitions, self.worst)
        self.window = self._window()
        self.sources = SourcePaths()
        self.quotes: list[list[Any]] = []
        """Quotes for the spans of lanes, by number."""
        self.details: list[Detail] = []
        if kept is not None:
            self.details = list(details(self.ranked, report, kept, self.window, self.sources))

    def _window(self) -> DrawnWindow:
        cluster = self.report.cluster
        covered = line_times(cluster.sources)
        grave = [i for i in self.report.incidents if i.severity != LEVELS[0]]
        starts = [at for i in grave for at in (i.start, i.start_latest, i.end) if at is not None]
        told = [at for line in self.screen.story for at in (line.at, line.latest) if at is not None]
        return window([at for at in (*covered, cluster.until) if at is not None], told or starts)

    def values(self) -> dict[str, Any]:
        findings = list(zip(self.report.findings, self.document["findings"], strict=True))[:HELD]
        contexts = self._contexts([f for f, _ in findings])
        values = {
            **self._headline(),
            **self._lane_values(),
            **self._finding_values(findings, contexts),
            "rows": [self.partitions[n] for n in self.ranked[:PAGE]],
            "details": [(d, self.partitions[d.number]) for d in self.details if self._notable(self.partitions[d.number])],
            "passed": [(d, self.partitions[d.number]) for d in self.details if not self._notable(self.partitions[d.number])],
            "proven": {f"{t}-{p}" for t, p in (d.name for d in self.details)},
            "printed": printed(self.details),
            "proof_meaning": MEANING,
            **self._evidence(),
            "command": shlex.join(("kafka-forensics", *self.report.command)),
        }
        data = block(self._data(contexts))  # last: it has the quotes and sources of all others
        return {**values, "data": Markup(data)}  # noqa: S704 - block() leaves nothing that a parser of HTML takes for markup

    def _headline(self) -> dict[str, Any]:
        report = self.report
        verdict = report.headline
        return {
            "tone": verdict.tone,
            "title": report.zone.brief(verdict.title, self.screen.day),
            "subject": subject(report),
            "document": self.document,
            "screen": self.screen,
            "main": next((line for line in self.screen.lines if line.label not in ABOUT), None),
            "strip": list(self._strip()),
            "flags": list(self._flags()),
            "topics": list(self._topics()),
            "removed": REMOVED,
            "kinds_of_loss": WORDS,
            "steps": report.next_steps,
            "verdicts": [(v, meaning, self.document["verdict"]["partitions"].get(v, 0)) for v, meaning in MEANINGS.items()],
            "sure": SURE,
            "levels": [*reversed(LEVELS)],
            "window": self.window,
            **times.switch(report.zone, self.window.begin, self.window.end, self.window.since),
        }

    def _strip(self) -> Iterator[tuple[str, str]]:
        """When it was, what clients noticed, and whether it is over: what a mail says first."""
        known = {i.id: i for i in self.report.incidents}
        of_losses = (known.get(r.finding.incident or "") for r in self.screen.ranges)
        main = next((i for i in (*of_losses, *self.report.incidents[:1]) if i is not None), None)
        if main is not None and main.start is not None:
            lasted = (main.end - main.start).total_seconds() if main.end is not None else None
            span = (main.start, main.end) if main.end is not None else None
            yield "When", text(said("page/when", begin=main.start, span=span, lasted=lasted))
        under, offline = (self.document["cluster"]["under_replication"][name]["peak"] or None for name in ("cluster", "offline"))
        if under or offline:
            yield "Impact", text(said("page/impact", offline=offline, under=under, both=under and offline))
        yield "State", "; ".join(self.screen.now) or text(said("page/over", until=self.screen.until))

    def _flags(self) -> Iterator[tuple[Drawn, str, int]]:
        """The lines of the story over the lanes, each with its words and row: words do not overlap, or there is only the number."""
        ends = [-LETTER] * FLAG_ROWS
        for n, line in enumerate(self.screen.story, 1):
            drawn = self.window.span("flag", line.at, line.latest or line.at, line.text, label=f"✗ {n}" if line.marked else str(n))
            width = (len(line.short) + len(drawn.label) + 3) * LETTER
            late = drawn.x + width > 100
            begin, end = (drawn.x - width, drawn.x) if late else (drawn.x, drawn.x + width)
            free = [row for row, taken in enumerate(ends) if taken + LETTER <= begin]
            row = free[0] if free else min(range(FLAG_ROWS), key=ends.__getitem__)
            ends[row] = max(end if free else drawn.x + len(drawn.label) * LETTER, ends[row])
            look = f"flag{' flag-marked' if line.marked else ''}{' flag-late' if late else ''}"
            yield replace(drawn, look=look), line.short if free else "", row

    def _topics(self) -> Iterator[Mapping[str, Any]]:
        """The topics of the bar, the worst first; what is intact, of internal topics, or has no room is one for each verdict."""
        order = list(MEANINGS)
        found = Counter((p["topic"], p["verdict"]) for p in self.partitions)
        named = (key for key in found if key[1] != INTACT and not is_internal(key[0]))
        worst = sorted(named, key=lambda key: (order.index(key[1]), key[0]))[:BARS]
        bars = {key: found.pop(key) for key in worst}
        for (_, verdict), count in sorted(found.items(), key=lambda item: order.index(item[0][1])):
            bars[OTHERS, verdict] = bars.get((OTHERS, verdict), 0) + count
        x = 0.0
        for (topic, verdict), count in bars.items():
            width = 100 * count / len(self.partitions)
            yield {"topic": topic, "verdict": verdict, "count": count, "x": round(x, 3), "width": round(width, 3)}
            x += width

    def _lane_values(self) -> dict[str, Any]:
        states = [s for spans in self.report.states.values() for s in spans]
        lanes = self._lanes()
        eventful = any(self._eventful(self.report.states.get(node.id, ())) for node, _, shown in lanes if not shown)
        return {
            "incidents": self._incidents(),
            "incident_lane": self._incident_lane(),
            "loss_lane": self._loss_lane(),
            "loss_words": {f"l-{kind}": words.lower() for kind, words in WORDS.items()},
            "lanes": lanes,
            "more_lanes": "more nodes" if eventful else "more nodes, without any events",
            "state_words": {state: text(said(f"broker-state/{state}")) for state in STATES},
            "labels": LABELS,
            "used": {s.state for s in states},
            "states": [(s, s.state) for s in states],
            "counts": self.document["cluster"]["under_replication"],
        }

    def _finding_values(self, held: Sequence[tuple[Finding, Mapping[str, Any]]], contexts: Mapping[tuple[str, int], Any]) -> dict[str, Any]:
        findings = self.report.findings
        return {
            "findings": [self._finding(f, row, contexts) for f, row in held],
            "shown": SHOWN,
            "findings_left_out": len(findings) - len(held),
            "kinds": sorted({f.kind for f in findings}),
            "brokers": sorted({b for f in findings for b in f.brokers} | set(self.report.cluster.nodes)),
            "severities": [level for level in reversed(LEVELS) if any(f.severity == level for f in findings)],
            "collect": list(dict.fromkeys(step for f in of_purpose(findings, Purpose.MISSING_EVIDENCE) for step in words(f).next_steps)),
        }

    def _evidence(self) -> dict[str, Any]:
        sources = self.report.cluster.sources
        files = [file for kind in ("archives", "sources", "ignored") for file in self.document["evidence"][kind]]
        return {
            "groups": self._groups(by_node=False),
            "by_node": self._groups(by_node=True),
            "files": files[:FILES],
            "files_left_out": max(len(files) - FILES, 0),
            "sources_total": (len(sources), sum(s.bytes or 0 for s in sources), sum(s.unrecognised or 0 for s in sources)),
        }

    # events

    def _incidents(self) -> list[dict[str, Any]]:
        shown = []
        for i in self.document["incidents"][:HELD]:
            known = [f for f in i["findings"] if f in self.by_id]
            shown.append({**i, "shown": [self.by_id[f] for f in known[:8]], "more": len(known) - 8})
        return shown

    def _incident_lane(self) -> Lane:
        spans = []
        for i in reversed(self.report.incidents):
            if i.start is not None and i.severity != LEVELS[0]:
                title = self.report.zone.sentence(f"{title_of(i)}: {of_incident(i).summary}")
                spans.append(self.window.span(f"i-{i.severity}", i.start, i.end, title, f"#i-{i.id}"))
                if i.start_latest is not None:
                    words = self.report.zone.sentence(f"{title_of(i)}: began {began(i.start, i.start_latest)}")
                    spans.append(self.window.span("began", i.start, i.start_latest, words, f"#i-{i.id}"))
        return Lane("incidents", spans, "; ".join(s.title for s in spans))

    def _loss_lane(self) -> Lane:
        seen: dict[tuple[int, str], Drawn] = {}
        for r in losses(self.report.findings):
            if r.at is not None:
                title = self.report.zone.sentence(summary(r.finding))
                drawn = self.window.span(f"l-{r.kind}", r.at, r.at, title, f"#f-{r.finding.id}")
                seen.setdefault((drawn.start // 100, r.finding.id), drawn)
        spans = sorted(seen.values(), key=lambda d: d.start)[:200]
        return Lane("losses", spans, "; ".join(dict.fromkeys(s.title for s in spans)))

    def _lanes(self) -> list[tuple[Any, Lane, bool]]:
        """Node, lane and whether it is shown initially: all lanes if few, else those with events, the most severe first."""
        nodes = list(self.report.cluster.nodes.values())
        bands = [self.window.span("band", at, at, "records were lost") for at in self._lost_at()]
        lanes = []
        for node in nodes:
            own = self.report.states.get(node.id, ())
            spans = [
                self.window.span(f"b-{s.state}", s.start, s.end, self._span_text(s), label=NAMES.get(s.state, ""), quotes=self._quoted(s))
                for s in sorted(own, key=lambda s: s.state in OVER)
            ]
            told = "; ".join(self._span_text(s) for s in own if s.state != UNSTATED)
            lanes.append(
                (node, Lane(f"{'broker' if node.broker else 'controller'} {node.id}", [*spans, *bands], told), self._eventful(own))
            )
        worst: Counter[int] = Counter()
        for f in self.report.findings:
            worst |= Counter(dict.fromkeys(f.brokers, LEVELS.index(f.severity)))
        eventful = sorted((n.id for n, _, own in lanes if own or len(nodes) <= FEW), key=lambda id: -worst[id])
        shown = eventful[:LANES] or [n.id for n in nodes[:FEW]]
        return [(node, lane, node.id in shown) for node, lane, _ in lanes]

    def _lost_at(self) -> list[datetime]:
        """When records were lost, at most so often that the lanes stay readable."""
        times = (r.at for r in losses(self.report.findings) if r.at is not None and r.kind in (LOST_RECORDS, UNSETTLED))
        return sorted({at.replace(microsecond=0) for at in times})[:BANDS]

    def _quoted(self, s: StateSpan) -> int | None:
        if not s.evidence:
            return None
        self.quotes.append([[self.sources.number(e.source), e.line, e.byte, shortened(e.text, CUT)] for e in s.evidence])
        return len(self.quotes) - 1

    def _eventful(self, spans: Sequence[StateSpan]) -> bool:
        """Whether something happened to the node in the time that is shown initially."""
        now = [s for s in spans if (s.start or datetime.min) <= self.window.until and (s.end or datetime.max) >= self.window.since]
        return any(s.state in WORTH or (s.state == CONTROLLER and sum(o.state == CONTROLLER for o in spans) > 1) for s in now)

    def _span_text(self, s: StateSpan) -> str:
        words = "; ".join(w for w in (text(s.detail) if s.detail is not None else "", f"cluster {s.cluster}" if s.cluster else "") if w)
        return self.report.zone.sentence(_in_words(s) + (f" ({words})" if words else ""))

    # findings

    def _finding(self, f: Finding, row: Mapping[str, Any], contexts: Mapping[tuple[str, int], Any]) -> dict[str, Any]:
        places = row.get("places") or ()
        return {
            **row,
            "title": rule_of(f.kind).title,
            "happened": f.happened,
            "loss": f.loss,
            "named": places[:NAMED],
            "more": len(places) - NAMED,
            "s": self.window.place(f.start or f.end),
            "e": self.window.place(f.end),
            "quotes": [
                {
                    **e,
                    "text": Evidence(**e).shown,
                    "key": f"{self.sources.number(e['source'])}:{e['line']}" if (e["source"], e["line"]) in contexts else None,
                }
                for e in row["evidence"]
            ],
        }

    def _contexts(self, findings: Sequence[Finding]) -> Mapping[tuple[str, int], Sequence[tuple[int, str]]]:
        """The lines around quotes, for the most severe findings first, as far as there is room."""
        if self.kept is None:
            return {}
        grave = [f for f in findings if f.severity in ("critical", "high", "medium") or f.loss]
        lines_quoted = list(dict.fromkeys((e.source, e.line) for f in grave[:200] for e in f.evidence if e.line is not None))[:600]
        near = self.kept.around(set(lines_quoted), REACH) if lines_quoted else {}
        contexts, room = {}, QUOTED
        for key in lines_quoted:
            if lines := [(line, shortened(text, CUT)) for line, text in near.get(key, ())]:
                room -= sum(len(text) + 8 for _, text in lines)
                if room < 0:
                    break
                contexts[key] = lines
        return contexts

    # the rest

    def _groups(self, *, by_node: bool) -> list[dict[str, Any]]:
        """The files read, by kind, and by node before that."""
        groups = grouped(((by_node and s.node is None, (s.node or 0) if by_node else 0, s.kind), s) for s in self.report.cluster.sources)
        return [_group(None if unknown else node, kind, sources) for (unknown, node, kind), sources in sorted(groups.items())]

    def _data(self, contexts: Mapping[tuple[str, int], Sequence[tuple[int, str]]]) -> dict[str, Any]:
        counts = self.document["cluster"]["under_replication"]
        shown = self.window.shown
        return {
            "t0": times.epoch_ms(self.window.begin),
            "end": self.window.ms(self.window.end),
            "window": list(shown),
            "under": self._steps(counts["cluster"]["steps"], "under_replicated", "reassigning"),
            "offline": self._steps(counts["offline"]["steps"], "offline"),
            "p": self._columns(),
            "f": {f.id: self._of(f) for f in self.report.findings[:HELD]},
            "order": [n for n in self.ranked if self._notable(self.partitions[n])],
            "b": self.quotes,
            "d": {str(d.number): d.data for d in self.details},
            "names": [f"{t}-{p}" for t, p in (d.name for d in self.details)],
            "c": {f"{self.sources.number(source)}:{line}": lines for (source, line), lines in contexts.items()},
            "src": list(self.sources.paths),
            "losses": {kind: words.lower() for kind, words in WORDS.items()},
            "page": PAGE,
        }

    def _notable(self, p: Mapping[str, Any]) -> bool:
        return p["verdict"] != INTACT or self.worst.get((p["topic"], p["partition"]), 0) >= LEVELS.index("medium")

    def _steps(self, steps: Sequence[Mapping[str, Any]], *names: str) -> list[list[int]]:
        known = [(0 if s["at"] is None else self.window.ms(times.parsed(s["at"])), *(s[name] for name in names)) for s in steps]
        return [list(column) for column in zip(*known, strict=True)] if known else []

    def _columns(self) -> dict[str, Any]:
        """One list per column; repeated values are stored once and referenced by number."""
        topics, lists, whys = _Once(), _Once(), _Once()
        verdicts = list(MEANINGS)
        rows = self.partitions
        columns = {
            "t": [topics.number(p["topic"]) for p in rows],
            "n": [p["partition"] for p in rows],
            "v": [verdicts.index(p["verdict"]) for p in rows],
            "l": [p["leader"] for p in rows],
            "e": [p["leader_epoch"] for p in rows],
            "r": [lists.number(",".join(map(str, p["replicas"] or ()))) for p in rows],
            "i": [lists.number(",".join(map(str, p["isr"] or ()))) for p in rows],
            "o": [p["log_end_offset"] for p in rows],
            "h": [p["high_watermark"] for p in rows],
            "w": [whys.number(p["why"] or "") for p in rows],
        }
        return {**columns, "topics": topics.values, "lists": lists.values, "whys": whys.values, "verdicts": verdicts}

    def _of(self, f: Finding) -> list[int]:
        """Partitions of a finding as runs: first index, count."""
        numbers = sorted({n for p in places(f) if (n := self.place.get((p.topic, p.partition))) is not None})
        runs: list[int] = []
        for n in numbers:
            if runs and runs[-2] + runs[-1] == n:
                runs[-1] += 1
            else:
                runs.extend((n, 1))
        return runs


class _Once:
    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def number(self, value: str) -> int:
        return self._known.setdefault(value, len(self._known))

    @property
    def values(self) -> list[str]:
        return list(self._known)


def _in_words(s: StateSpan) -> str:
    """'up from A to B', 'crashed between A and B'."""
    if s.state == CLOCK:
        return f"{label(s.state)} at {moment(s.start)}"
    if s.state == ENDED and s.start is not None and s.end is not None:
        return f"crashed between {period(s.start, s.end, 'and')}"
    if s.start is not None and s.end is not None:
        return f"{label(s.state)} from {period(s.start, s.end)}"
    start = moment(s.start) if s.start is not None else "before the evidence"
    return f"{label(s.state)} from {start} to {moment(s.end) if s.end is not None else 'the end of the evidence'}"


def _group(node: int | None, kind: str, sources: Sequence[Source]) -> dict[str, Any]:
    times = line_times(sources)
    return {
        "node": node,
        "nodes": len({n for s in sources for n in s.nodes}),
        "kind": kind,
        "files": len(sources),
        "bytes": sum(s.bytes or 0 for s in sources),
        "lines": sum(s.lines or 0 for s in sources),
        "unrecognised": sum(s.unrecognised or 0 for s in sources),
        "problems": [located(s.path, s.problem) for s in sources if s.problem],
        "first": min(times, default=None),
        "last": max(times, default=None),
    }

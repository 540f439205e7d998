"""Pages for tests: made in this process, of a bundle, a fleet or a story, with all that a case gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path

import pyarrow as pa

from forensics.case.judge import ROW, judge
from forensics.case.read import Case
from forensics.case.write import Origin, write
from forensics.commands.inputs import CaseInput
from forensics.incidents.judging import OF_REPORT, with_facts
from forensics.model.clock.node_clocks import Options
from forensics.model.timelines import judged
from forensics.output.files import whole_directory
from forensics.tools.ordered_records import KEPT
from forensics.views.document import Report
from forensics.views.html.page import page
from tests.forensics.staged import table
from tests.support import local

Files = Mapping[str, str | bytes]


def found(directory: Path, events: pa.Table, logs: Files | None = None) -> tuple[Report, CaseInput]:
    """A report and its case; `logs`: whose lines are kept as records, too, each line one."""
    cluster, resolver = local.gathered(events)
    origin = Origin(["evidence"], ["analyze", "evidence"], Options(), [])
    rows = judged(local.identified(events, resolver, cluster), cluster, judge(cluster), ROW)
    with whole_directory(directory) as to:
        write(
            to,
            origin,
            local.of_cluster(events),
            cluster,
            resolver,
            rows,
            _records({resolver.shown(path): text for path, text in (logs or {}).items()}),
        )
    case = CaseInput(Case(directory))
    concluded = case.conclusion(None)
    report = Report(
        case.cluster, concluded.findings, with_facts(concluded.partitions, OF_REPORT), concluded.incidents, ("analyze", *case.paths)
    )
    return report, case


def _records(logs: Files) -> Iterator[pa.RecordBatch]:
    for path, content in logs.items():
        lines = (content.encode() if isinstance(content, str) else content).rstrip(b"\n").split(b"\n")
        rows = [{"source": path, "number": n, "line": n + 1, "text": line.decode()} for n, line in enumerate(lines)]
        yield pa.RecordBatch.from_pylist([{name: row.get(name) for name in KEPT.names} for row in rows], schema=KEPT)


def of_files(directory: Path, files: Files) -> str:
    return page(*found(directory, table(files), {path: content for path, content in files.items() if path.endswith(".log")}))


def of_bundle(directory: Path, bundle: Path) -> str:
    return page(*found(directory, local.events_of(bundle)))


QUOTED = ("pre", "cite", "code")


class Parsed(HTMLParser):
    """A page as a browser's parser sees it: elements with their attributes, text by the id of the article, section or row it is in."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.blocks: dict[str, str] = {}
        self._open: str | None = None
        self._quotes = 0
        self.text = ""
        self.said = ""
        """The text without quoted lines and paths, and with what a screen reader reads."""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._quotes += tag in QUOTED
        self.said += "".join(f" {value} " for name, value in attrs if name in ("aria-label", "title") and value)
        if tag in ("script", "style"):
            self._open = f"{tag}:{dict(attrs).get('id', '')}"
            self.blocks[self._open] = ""

    def handle_endtag(self, tag: str) -> None:
        self._open = None if tag in ("script", "style") else self._open
        self._quotes -= tag in QUOTED

    def handle_data(self, data: str) -> None:
        if self._open is not None:
            self.blocks[self._open] += data
        else:
            self.text += data
            self.said += data if not self._quotes else ""

    @property
    def ids(self) -> list[str]:
        return [own["id"] or "" for _, own in self.elements if "id" in own]

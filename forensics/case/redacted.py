"""Redacted results: a case or a report as JSON in which names, addresses and paths are replaced, and verdicts, offsets and times stay.

Here: one walk over the values of tables and documents. Not here: the stand-ins (names), how a quoted line is rewritten (logs, text), or
what is computed again from the tables (forensics.case.write).
"""

from __future__ import annotations

import hmac
import json
import os
import re
import secrets
from collections import defaultdict
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from forensics.case.read import Case, Unreadable
from forensics.case.tables import BY_NAME, MANIFEST
from forensics.case.write import COMPUTED, Writer, brought_together, manifest
from forensics.output.files import whole_directory, whole_file
from forensics.output.json_text import encoded
from forensics.tools.redaction import reading, text
from forensics.tools.redaction.bundle import Leak, Redacted, write_mapping
from forensics.tools.redaction.logs import Unsafe
from forensics.tools.redaction.names import KeptWords, Names
from forensics.tools.redaction.stand_ins import StandIns
from forensics.tools.redaction.vocabulary import everything, of_reports, of_tools
from forensics.tools.salvage.places import OF_OWNER
from parsers.cached import cached_property
from parsers.catalogue.survey import REDACTED
from parsers.evidence import LOG_KINDS, read_source
from parsers.formats.unread import REDACTION
from parsers.schemas import Member

_NAMES = {"topic": "topic", "topics": "topic", "group": "group", "transactional_id": "transaction", "client_id": "client"}
"""Kinds of names by the field that holds them."""
_PATHS = frozenset({"source", "path", "collection", "collections", "root"})
_IDS = frozenset({"id", "incident", "findings"})
_DIGESTS = frozenset({"sha256"})
_SECRET = frozenset({"samples", "layout", "common_words", "log_patterns"})
"""Lines that no pattern reads, and what was learned from lines."""
_NOT_KEPT = "records"
"""The table of all log lines: only lines that are quoted are rewritten."""
_MARK = {"source": REDACTION, "event": "source", "clock": "mtime", "collected": {"kind": "redaction"}, "cluster_number": 0}
"""The fact by which reports know that names were replaced."""
_FIELD = re.compile(r"[a-z_]+")
_ID = re.compile(r"[0-9a-f]{12}")
_OF_PROGRAM = re.compile(r"sha256:[0-9a-f]{64}")
"""The digest of the rules; those of files have no prefix."""
_OWN = re.compile(r"[a-z][a-z0-9]*(?:[-_./][a-z0-9]+)*")
_APART = re.compile(
    r"(\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?Z?)?|(?<!\d)\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?!\d)|[–—×…→✗±·“”’µ≥≤+*%`!?&])"
)
"""Times, and marks of sentences that no token contains."""
_SENTENCES = frozenset({"summary", "explanation", "next_steps", "text", "why", "decides", "detail", "command", "elsewhere"})
_THROWN = re.compile(r"(?:Exception|Error)\b")
_OF_EVIDENCE = frozenset({"key", "problem", "thrown", "error"})
"""Fields with the text of an exception or of a damaged line: numbers in it do not stay, because anything may be there."""
_SETTING = re.compile(r"([\w.]+) = (.*)")
"""A line of the settings that a broker prints when it starts."""
_NUMBERS = re.compile(r"(?<![\w.])-?\d+(?:[.,]\d+){0,2}(?:ms|s|h|m|k|M|G)?(?!\w|\.\d)")


def redact_case(case: Case, out: Path, mapping: Path, *, replace: bool = False) -> Redacted:
    """Writes a case of the same results under other names, without the log lines that no result quotes. Raises Leak, Unreadable and
    OSError."""
    if case.rules:
        raise Unreadable(
            f"{case.directory}: the case was made with rules of your own, whose text cannot be redacted; analyze without --rules"
        )
    results = RedactedResults({s["path"]: s["kind"] for s in case.table("sources", ["path", "kind"]).to_pylist()})
    with whole_directory(out, OF_OWNER | 0o100, replace=replace) as to:
        kept = [table for table in BY_NAME if table not in COMPUTED and table != _NOT_KEPT]
        for name in kept:
            for batch in case.batches(name, BY_NAME[name].schema.names):
                results.note(batch.to_pylist(), batch if name == "facts" else None)
        results.settle()
        counts: dict[str, int] = {}
        for name, table in BY_NAME.items():
            with Writer(to, table) as writer:
                for batch in case.batches(name, table.schema.names) if name in kept else ():
                    writer.add(pa.Table.from_pylist(results.value(batch.to_pylist()), schema=table.schema))
                if name == "facts":
                    writer.add(pa.Table.from_pylist([_MARK], schema=table.schema))
            counts[name] = writer.rows
        head = {name: results.value(case.manifest[name]) for name in ("schema", "tool", "evidence", "options")}
        manifest(to, head, case.verdict, counts)
        brought_together(to, Case(to).cluster, head, counts)
        done = Case(to)
        for name, table in BY_NAME.items():
            for batch in done.batches(name, table.schema.names):
                results.check(batch.to_pylist(), name)
        write_mapping(mapping, to / MANIFEST, results.names, replace=replace)
    return Redacted(len(counts), names=results.names)


def is_report(path: str) -> bool:
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return re.match(rb'\s*\{\s*"schema":\s*"kafka-forensics/report/1"', file.read(1 << 10)) is not None


def redact_report(path: str, out: Path, mapping: Path, *, replace: bool = False) -> Redacted:
    """Writes a report as JSON under other names. Raises Unreadable, Leak and OSError."""
    try:
        report = json.loads(Path(path).read_bytes())
        results = RedactedResults({s["path"]: s["kind"] for s in report["evidence"]["sources"]})
        results.note(report)
        results.settle()
        done = results.value(report)
        done["evidence"]["redacted"] = True
    except (ValueError, KeyError, TypeError) as error:
        raise Unreadable(f"{path}: damaged ({type(error).__name__}); write the report again") from None
    results.check(done, path)
    with whole_file(out, OF_OWNER, new=not replace) as file:
        file.write((encoded(done, indent=1) + "\n").encode())
    write_mapping(mapping, out, results.names, replace=replace)
    return Redacted(1, names=results.names)


class RedactedResults:
    """The names in results, and results with their stand-ins. `kinds`: of the files, by path."""

    def __init__(self, kinds: Mapping[str, str]) -> None:
        self.names, self._kinds = Names(), kinds
        self._used, self._key = StandIns(), secrets.token_bytes(32)
        self._quotes: dict[str, dict[str, str]] = defaultdict(dict)
        self._own: Set[str] = frozenset()

    def note(self, value: Any, facts: pa.RecordBatch | None = None) -> None:
        """Collects the names in rows or in a document. `facts`: the rows as events."""
        if facts is not None:
            reading.note_all(facts, self.names)
        for key, found in _strings("", value):
            self._used.look(found.encode("utf-8", "replace"))
            if key in _NAMES:
                self.names.add(_NAMES[key], found)
            elif key in _PATHS:
                reading.note_member(Member(found, None, None), self.names)
        for source, quoted in _quoted(value):
            self._quotes[source][quoted] = ""

    def settle(self) -> None:
        """To be called when all names are noted: rewrites the quotes."""
        read = {source: self._noted(source, list(quotes)) for source, quotes in self._quotes.items()}
        self.names = self.names.settled(self._used.infixes, self._used.addresses)
        self._own = own_words() - self.names.whole.keys()
        for source, quotes in self._quotes.items():
            for some, taken in read[source]:
                lines = self._rewritten(source, some, taken)
                if len(lines) != len(some):
                    lines = ["\n".join(self._rewritten(source, [quote], reading.taken(_read(source, [quote])))) for quote in some]
                quotes.update(zip(some, lines, strict=True))
            settings = ((quote, setting) for quote in quotes if (setting := _SETTING.fullmatch(quote)) is not None)
            quotes.update((quote, f"{self._words(found[1])} = {self.names.setting(found[1], found[2])}") for quote, found in settings)

    def _noted(self, source: str, quotes: list[str]) -> list[tuple[list[str], reading.Taken]]:
        """Quotes that are read at once, with what is read: those of one line, and each of the others."""
        single = [quote for quote in quotes if "\n" not in quote]
        found: list[tuple[list[str], reading.Taken]] = []
        for some in (single, *([quote] for quote in quotes if "\n" in quote)):
            events = list(_read(source, some)) if self._kind(source) in LOG_KINDS else []
            for rows in events:
                reading.note_all(rows, self.names)
            found.append((some, reading.taken(events)))
        return found

    def _rewritten(self, source: str, quotes: list[str], taken: reading.Taken) -> list[str]:
        """The lines of these quotes, as a copy of their file has them."""
        try:
            lines = text.rewritten(_stream(quotes), self._kind(source), self.names, taken)
            return "".join(lines).rstrip("\n").split("\n") if lines is not None else list(map(self._words, quotes))
        except Unsafe:
            return [REDACTED] * len(quotes)

    def _kind(self, source: str) -> str:
        """`source`: with its writer, if the file has several."""
        return self._kinds.get(source) or self._kinds.get(source.rpartition("#")[0], "")

    def value(self, value: Any, key: str = "") -> Any:
        """Rows, a document, or a part of them."""
        if isinstance(value, Mapping):
            done = {name if _FIELD.fullmatch(name) else self.value(name): self.value(inner, name) for name, inner in value.items()}
            if isinstance(value.get("source"), str) and isinstance(value.get("text"), str):
                done["text"] = self._quotes[value["source"]][value["text"]]
            if value.get("event") == "config" and value.get("value"):
                done["value"] = self.names.setting(value["key"] or "", value["value"])
            return done
        if isinstance(value, list | tuple):
            return [] if key in _SECRET else [self.value(inner, key) for inner in value]
        return self._text(value, key) if isinstance(value, str) and value else value

    def _text(self, value: str, key: str) -> str | None:
        if key in _SECRET:
            return None
        if _OF_PROGRAM.fullmatch(value):
            return value
        if key in _DIGESTS or (key in _IDS and _ID.fullmatch(value)):
            return hmac.new(self._key, value.encode(), "sha256").hexdigest()[: len(value)]
        if value[0] in "{[" and (inner := _json(value)) is not None:
            return json.dumps(self.value(inner, key), separators=(",", ":"))
        if key in _NAMES:
            return self.names.add(_NAMES[key], value)
        if key in _PATHS:
            return self.names.path(value) + "/" * value.endswith("/")
        if _OWN.fullmatch(value) and (key == "message" or value in of_reports()):
            return value
        if key in _OF_EVIDENCE or (key not in _SENTENCES and _THROWN.search(value) is not None):
            return self.names.text(value, KeptWords(self._own, self._own))
        return "".join(self.names.whole.get(part, part) if n % 2 else self._words(part) for n, part in enumerate(_APART.split(value)))

    def _words(self, part: str) -> str:
        """Our own words with names and numbers in them."""
        kept = (
            n for n in _NUMBERS.findall(part) if n not in self.names.whole or (n.isdecimal() and len(n) < 6)
        )  # may be an offset, or an id
        return self.names.text(part, KeptWords(self._own, _Values(self._own, frozenset(kept))))

    def check(self, value: Any, place: str) -> None:
        """Raises Leak if a name is left that is not also a word of Kafka's or ours."""
        if (left := self._left) is None:
            return
        for _, found in _strings("", value):
            if (name := left.search(found)) is not None:
                raise Leak(f"{name[0]!r} is left in {place}")

    @cached_property
    def _left(self) -> re.Pattern[str] | None:
        """What finds these names; None if there are none. Asked for when all results are made, since names are added on the way."""
        known = (name for kind, own in self.names.known.items() if kind not in ("id", "word") for name in own)
        names = sorted(name for name in known if name not in own_words())
        return re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(map(re.escape, names))})(?![A-Za-z0-9])") if names else None


def _strings(key: str, value: Any) -> Iterator[tuple[str, str]]:
    """All texts with the name of their field."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _strings(name, inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _strings(key, inner)
    elif isinstance(value, str):
        yield key, value
        if value[:1] in ("{", "[") and (inner := _json(value)) is not None:
            yield from _strings(key, inner)


def _quoted(value: Any) -> Iterator[tuple[str, str]]:
    """All quotes: source and text."""
    if isinstance(value, Mapping):
        if isinstance(value.get("source"), str) and isinstance(value.get("text"), str):
            yield value["source"], value["text"]
        value = list(value.values())
    if isinstance(value, list | tuple):
        for inner in value:
            yield from _quoted(inner)


def _json(value: str) -> Any:
    try:
        return json.loads(value)
    except ValueError:
        return None


def _stream(quotes: list[str]) -> BytesIO:
    return BytesIO("\n".join((*quotes, "")).encode())


def _read(source: str, quotes: list[str]) -> Iterator[Any]:
    return read_source(Member(source, None, None), _stream(quotes))


@dataclass(frozen=True)
class _Values(Set[str]):
    """Words, and the numbers of one text."""

    words: Set[str]
    numbers: Set[str]

    def __contains__(self, value: object) -> bool:
        return value in self.numbers or value in self.words

    def __iter__(self) -> Iterator[str]:
        return chain(self.words, self.numbers)

    def __len__(self) -> int:
        return len(self.words) + len(self.numbers)


@lru_cache(maxsize=1)
def own_words() -> frozenset[str]:
    return everything() | of_tools() | frozenset(word for word in of_reports() if (len(word) > 1 or word in "as") and not word.isdecimal())

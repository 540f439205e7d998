"""Web pages and Markdown into which log lines were pasted, as the lines alone, and records in XML.

Here: which documents are mostly log lines; others quote them, and are left as they are. A heading above lines becomes the name of their
section, a row of a table and a record in XML a JSON object. Not here: which fields of it hold the line, its time and writer
(parsers.wrappers).
"""

from __future__ import annotations

import codecs
import html
import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any
from xml.parsers import expat

from parsers.containers.streams import Read

_BLOCK = 1 << 20
_LEVEL = r"(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL)"
_STAMP = r"\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d:\d\d"
LOG_LINE = re.compile(
    rf"{_STAMP}\S*\s[^\n]{{0,80}}?\b{_LEVEL}\b|\b{_LEVEL}\b[^\n]{{0,80}}?{_STAMP}"
    rf'|"(?i:level|severity|log\.level)" ?: ?"(?i:{_LEVEL})"|<[^<>\n]{{1,400}} level="(?i:{_LEVEL})"'
)
"""A line with a time and a level."""
_NAME = re.compile(r"\.(?:md|markdown|rst|adoc|html?|sarif)$", re.IGNORECASE)
_PAGE = re.compile(r"\s*<(?:!doctype html|html|h[1-6]|p|ac:)\b", re.IGNORECASE)
_XML = re.compile(
    r"\ufeff?\s*<(?:\?xml\b|(?:\w+:)?(?:events?|results?|resultset|response|rows?|records?|log|data|root|docs|entries)\b)", re.IGNORECASE
)
_MARKUP = re.compile(r"<(?:html|body|table|tr|pre|div|p|br|ac:plain-text-body)\b", re.IGNORECASE)
_OWN = re.compile(
    r'\A\s*\{\s*"schema": ?"kafka-forensics/|<title>[^<]* · kafka-forensics</title>|^_Draft by kafka-forensics, ', re.MULTILINE
)
"""A report of this tool."""
PASTED = 10
"""Log lines from which on they are pasted, and not quoted, if there are more of them than of other lines."""


def may_be_document(name: str, head: bytes) -> bool:
    """Whether a file with this name and beginning is a web page or a Markdown text."""
    begin = head[:200].decode("ascii", "replace")
    return _NAME.search(name) is not None or _PAGE.match(begin) is not None or _XML.match(begin) is not None


def is_own(text: str) -> bool:
    """Whether a text with this beginning is a report of this tool."""
    return _OWN.search(text) is not None


def is_document(name: str, text: str) -> bool:
    """Whether a text with this beginning quotes log lines, if it has any: a document that is not mostly log lines, or a report of this
    tool."""
    return (_NAME.search(name) is not None or _PAGE.match(text) is not None or is_own(text)) and lines_of(name, text) is None


def lines_of(name: str, text: str) -> Callable[[Read], Read] | None:
    """From a reader of the document to one of the log lines that were pasted into it; None for other texts."""
    xml = _XML.match(text) is not None and _PAGE.match(text) is None
    if not (xml or _NAME.search(name) or _PAGE.match(text)) or is_own(text):
        return None
    convert: type[_Xml | _WebPage | _Markdown] = _Xml if xml else _WebPage if _MARKUP.search(text) else _Markdown
    try:
        made = [line for line in convert().lines(text) if line.strip() and not line.startswith("==> ")]
    except ValueError:
        return None
    logged = sum(LOG_LINE.search(line) is not None or line[0].isspace() for line in made)
    return (lambda read: _Converted(read, convert()).read) if logged >= PASTED and 2 * logged > len(made) else None


class _Converted:
    """The converted text of a document, in bounded memory."""

    def __init__(self, read: Read, document: _Xml | _WebPage | _Markdown) -> None:
        self._read, self._document = read, document
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest, self._ended = b"", False

    def read(self, size: int) -> bytes:
        while not self._rest and not self._ended:
            data = self._read(_BLOCK)
            self._ended = not data
            made = self._document.lines(self._decoder.decode(data, final=self._ended), last=self._ended)
            self._rest = "".join(f"{line}\n" for line in made).encode("utf-8", "replace")
        if not self._rest and self._document.open:
            raise ValueError("ends within a record")
        data, self._rest = self._rest[:size], self._rest[size:]
        return data


class _Headings:
    """The headings above a line, outermost first, as one name."""

    def __init__(self) -> None:
        self._levels: dict[int, str] = {}

    def section(self, level: int, text: str) -> str:
        self._levels = {other: name for other, name in self._levels.items() if other < level}
        self._levels[level] = " ".join(text.split()).strip("`*#: ")[:200]
        return f"==> {'/'.join(self._levels[one] for one in sorted(self._levels))} <=="


class _Markdown:
    """The lines of a Markdown text without its marks."""

    open = False

    def __init__(self) -> None:
        self._rest = ""
        self._fenced = False
        self._headings = _Headings()

    def lines(self, text: str, *, last: bool = True) -> Iterator[str]:
        *lines, self._rest = (self._rest + text).split("\n")
        for line in [*lines, self._rest] if last else lines:
            bare = line.rstrip("\r")
            if _FENCE.match(bare):
                self._fenced = not self._fenced
            elif self._fenced:
                yield bare
            elif (heading := _HEADING.match(bare)) is not None:
                yield self._headings.section(len(heading[1]), heading[2])
            else:
                yield _INDENT.sub("", bare)


_FENCE = re.compile(r" {0,3}(?:`{3,}|~{3,})[^`]*$")
_HEADING = re.compile(r"(#{1,6}) (.+)")
_INDENT = re.compile(r"^(?:> ?| {4})")


class _WebPage:
    """The text of a web page as lines: of preformatted and other text, and an object for each row of a table."""

    open = False

    def __init__(self) -> None:
        self._rest = ""
        self._hidden = ""
        self._text: list[str] = []
        self._row: list[str] | None = None
        self._names: list[str] = []
        self._titles = self._pre = False
        self._headings = _Headings()

    def lines(self, text: str, *, last: bool = True) -> Iterator[str]:
        text = self._rest + text
        end = len(text) if last or (cut := max(text.rfind("<"), text.rfind("&"), len(text) - _LONGEST)) < 0 else cut
        self._rest = text[end:]
        for token in _TOKEN.finditer(text, 0, end):
            if token["tag"] is not None:
                yield from self._tag(token["tag"].lower(), closing=token["close"] == "/")
            elif not self._hidden and (token[0][0] != "<" or token[0] == "<"):
                self._add(html.unescape(token[0]).removesuffix("]]>"))
            if self._row is None and self._text and self._text[-1].endswith("\n"):
                yield from self._flush()
        if last:
            yield from self._flush()

    def _add(self, text: str) -> None:
        text = text if self._pre or self._row is not None else " ".join(line.strip() for line in text.split("\n"))
        lines = text.splitlines(keepends=True)
        self._text.extend(lines)

    def _tag(self, tag: str, *, closing: bool) -> Iterator[str]:
        if self._hidden or tag in ("script", "style", "title"):
            self._hidden = tag if not self._hidden and not closing else "" if closing and tag == self._hidden else self._hidden
        elif tag in ("pre", "ac:plain-text-body"):
            yield from self._flush()
            self._pre = not closing
        elif tag == "tr":
            yield from self._flush() if self._row is None else self._cells()
            self._row, self._titles = None if closing else [], True
        elif tag in ("td", "th") and self._row is not None:
            self._titles = self._titles and tag == "th"
            if closing:
                self._row.append("".join(self._text).strip("\n"))
            self._text = []
        elif tag == "table":
            self._names = []
        elif tag[0] == "h" and tag[1:].isdigit() and closing:
            yield self._headings.section(int(tag[1:]), "".join(self._text))
            self._text = []
        elif tag in _BREAKS and (tag == "br" or self._row is None):
            self._text.append("\n")

    def _flush(self) -> Iterator[str]:
        text, self._text = "".join(self._text), []
        yield from (
            line if self._pre else line.strip(" ") for line in text.split("\n")[: None if text[-1:] != "\n" else -1] if line.strip()
        )

    def _cells(self) -> Iterator[str]:
        cells, self._text = self._row or [], []
        if cells and self._titles:
            self._names = cells
        elif cells:
            names = self._names if len(self._names) == len(cells) else [f"column {n}" for n in range(1, len(cells) + 1)]
            yield json.dumps(dict(zip(names, cells, strict=True)), ensure_ascii=False)


class _Xml:
    """The records of a document or of a part without a root, each an object: log4j's layouts, java.util.logging, Splunk, Solr, rows of
    tables. Raises ValueError for what is not XML, has a document type, or is too deep or too large."""

    def __init__(self) -> None:
        self._parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = self._start, self._end, self._add
        self._record: dict[str, Any] | None = None
        self._at = self._size = 0
        self._path: list[tuple[str, list[str]]] = []
        self._made: list[str] = []
        parser.Parse("<all>", False)  # a document type, which may define entities, is an error within an element

    @property
    def open(self) -> bool:
        with suppress(expat.ExpatError):
            self._parser.Parse("<end/>", False)  # not allowed within a tag
            return self._record is not None
        return True

    def lines(self, text: str, *, last: bool = True) -> Iterator[str]:
        self._size += len(text)
        try:
            self._parser.Parse(_ILLEGAL.sub("\ufffd", _DECLARATION.sub("", text)), False)
        except expat.ExpatError as error:
            raise ValueError(f"the XML is damaged: {error}") from None
        if self._size > MAX_RECORD:
            raise ValueError(f"a record of more than {MAX_RECORD >> 20} MiB in XML")
        made, self._made = self._made, []
        yield from made

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition(":")[2]
        named = next((attributes[key] for key in ("k", "name", "key") if key in attributes), name)
        if len(self._path) > _DEEPEST:
            raise ValueError(f"XML with more than {_DEEPEST} elements in each other")
        values = {key: int(value) if value.isdecimal() else value for key, value in attributes.items()}
        if name.lower() in _RECORDS:
            self._record, self._at = dict(values), len(self._path)
        elif self._record is not None and "value" in attributes:
            self._record[named] = attributes["value"]
        elif self._record is not None and name.lower() in _PARTS:
            self._record[name.lower()] = values
        self._path.append((named, []))

    def _add(self, text: str) -> None:
        if self._path and self._record is not None:
            self._path[-1][1].append(text)

    def _end(self, tag: str) -> None:
        name, texts = self._path.pop()
        text = "".join(texts)
        if self._record is None or len(self._path) < self._at:
            return
        if len(self._path) == self._at:
            self._made.append(json.dumps(self._record, ensure_ascii=False))
            self._record, self._size = None, 0
        elif text.strip() and name.lower() in _WITHIN:
            self._path[-1][1].append(text)
        elif text.strip():
            self._record[name if name not in self._record else f"{name} {len(self._record)}"] = text


MAX_RECORD = 16 << 20
"""Characters of one record."""
_DEEPEST = 64
_RECORDS = frozenset(("event", "result", "row", "record", "entry", "doc", "hit"))
_PARTS = frozenset(("instant", "thrown"))
"""Elements whose attributes belong together."""
_WITHIN = frozenset(("v", "value", "text"))
"""Elements around the text of a field."""
_DECLARATION = re.compile(r"\ufeff?<\?xml[^<>]{0,200}\?>")
_ILLEGAL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_LONGEST = 4096
"""Characters of a tag."""
_TOKEN = re.compile(rf"<!--|<(?P<close>/?)(?P<tag>[A-Za-z][\w:-]{{0,30}})[^<>]{{0,{_LONGEST}}}>|<!\[CDATA\[|<[^<>]{{0,40}}>|[^<]+|<")
_BREAKS = frozenset(("br", "p", "div", "li", "pre"))

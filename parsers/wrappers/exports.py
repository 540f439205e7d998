"""The records of an export of a log store that are not lines of the file: rows of a CSV file, objects in JSON documents, or YAML documents.

Here: where the records of such a file are, and their places. Not here: the fields in which a record has its text, writer and time
(json_records; roles if their names are unknown), or exports with one JSON object in each line (unwrapper).
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import islice
from operator import eq
from typing import Any, NamedTuple

from parsers.lines import MAX_LOG_LINE, Outer
from parsers.wrappers.forms import unescaped
from parsers.wrappers.json_records import (
    column_of,
    expanded,
    has_text,
    is_record,
    known_names,
    names_in,
    of_object,
    path_to_last,
    row_of,
    with_objects,
)
from parsers.wrappers.peeled import RAW
from parsers.wrappers.roles import SAMPLE, TEXT, Roles, is_level, is_logger, roles, with_roles
from parsers.wrappers.yaml_records import SEPARATOR, mapping

_TIME = re.compile(r"\d\d:\d\d:\d\d|\b\d{13}\b")
DELIMITERS = (",", ";", "\t", "|", "^", "\x01")
MAX_COLUMNS = 500
TRIED = 50
"""Records at the beginning of a file of which one has to hold the text of a log line."""
MAX_RECORD = 16 * MAX_LOG_LINE
"""Bytes of one record of a JSON or YAML document; longer ones are skipped."""
_TOO_LONG = f"a record of more than {MAX_RECORD >> 20} MiB; nothing after it was read"
_BLOCK = 1 << 20
_AROUND = 1 << 20
"""Bytes before the first record of a JSON value that are read for what names its writer."""
_DONE = 1 << 16
"""Bytes of records that are dropped together once they were read."""
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*(?P<end>"?)|[{}\[\]]', re.DOTALL)
_OPENING = re.compile(r'(?:\[\s*){0,2}\{\s*"[^"\n]{1,200}"\s*:')
_MARK = "\ufeff"
_PREFACE = re.compile(r"(?:sep=.\r?\n|(?:#[a-zA-Z]+[ ,][^\n]{1,500}\n){1,5})")
"""First lines for Excel, of PowerShell's Export-Csv, or of InfluxDB."""
_ITEM = re.compile(r"- \w[\w.@-]*:(?: |$)")
"""How a list of records in YAML begins."""
_DECODER = json.JSONDecoder()


class ExportRecord(NamedTuple):
    """A record with the place at which it begins."""

    fields: Mapping[str, Any]
    line: int
    byte: int
    """Of several records in one element, the bytes after its first one, so that their order can be seen."""
    raw: bytes


Records = Callable[[Outer], Iterator[ExportRecord]]


class RecordReader(NamedTuple):
    """How the records of a file are read."""

    records: Records
    table: tuple[Sequence[str], str, bool] | None = None
    """Of a table, the known names of its columns, what is between them, and whether it has escapes."""


@lru_cache(maxsize=4)
def records_of(head: bytes) -> RecordReader | None:
    """The reader of a file that begins with these bytes; None if its records are lines, or none of the first ones holds the text of a log
    line."""
    text = head.decode("utf-8", "replace").removeprefix(_MARK)
    if text.lstrip()[:1] in ("{", "[") and not is_record(text[:RAW]):
        return _with_text(_objects, head) if _is_document(text.lstrip()) else None
    if (preface := _PREFACE.match(text)) is not None:
        text = text[preface.end() :]
    first = text.partition("\n")[0].rstrip("\r")
    if first == SEPARATOR or _ITEM.match(first):
        return _with_text(_documents, head)
    if names := _names_of_blocks(text):
        return _with_text(partial(_blocks, names=names), head)
    known = next((mark for mark in DELIMITERS if has_text(_names(first, mark))), None)
    tables = _tables(first, text) if known is None else [partial(_rows, delimiter=known, names=_names(first, known), header=True)]
    before = preface[0].count("\n") if preface is not None else 0
    made = (partial(rows, preface=before, escaped=rows.keywords["delimiter"] == "\t" and _escapes(text)) for rows in tables)
    return next((found for rows in made if (found := _with_text(rows, head)) is not None), None)


def _with_text(records: Records, head: bytes) -> RecordReader | None:
    """The reader with the known names of the fields; None if no record has the text of a log line, or if the log lines of a table are alone
    in their rows: then it is a log whose first line contains a delimiter."""
    first = list(islice(records(Outer(io.BytesIO(head))), SAMPLE))
    table = records.keywords if isinstance(records, partial) and "delimiter" in records.keywords else None
    if table is not None and _alone(first):
        return None
    whole = [record for record in first if table is None or len(record.fields) == len(table["names"])]
    learned = roles(record.fields for record in whole[:-1] or whole)  # the last one may be cut
    bare = (
        table is not None and not table["header"] and table["delimiter"] == "\t" and _QUOTED.search(head.decode("utf-8", "replace")) is None
    )
    if table is not None and bare and (text := next((name for name, role in learned.items() if role == TEXT), None)):
        return RecordReader(partial(_named, partial(_unquoted, columns=table["names"], text=table["names"].index(text)), learned))
    if not any(of_object(with_roles(record.fields, learned)) is not None for record in first[:TRIED]):
        return None
    columns = [learned.get(name, name) for name in known_names(table["names"])] if table is not None else []
    named = partial(_named, records, learned) if learned else records
    return RecordReader(named, (columns, table["delimiter"], table["escaped"]) if table is not None else None)


def _alone(rows: Sequence[ExportRecord]) -> bool:
    alone = sum(len(row.fields) == 1 and _have_record(row.fields.values()) for row in rows)
    return alone > 0 and alone > sum(len(row.fields) > 1 and _have_record(row.fields.values()) for row in rows)


def _have_record(cells: Iterable[str]) -> bool:
    return any(map(is_record, cells))


def _named(records: Records, roles: Roles, outer: Outer) -> Iterator[ExportRecord]:
    return (record._replace(fields=with_roles(record.fields, roles)) for record in records(outer))


def _escapes(head: str) -> bool:
    """Whether a table escapes with backslashes instead of quotes, as ClickHouse, MySQL and PostgreSQL print tab-separated rows."""
    return _QUOTED.search(head) is None and "\\" in head and _NO_ESCAPE.search(head) is None


_QUOTED = re.compile(r'(?:^|\t)"', re.MULTILINE)
_NO_ESCAPE = re.compile(r"(?<!\\)(?:\\\\)*\\[^\\ntr'\"0bfv/]")
"""A backslash before another character is one of the text, as in the paths of Windows."""


def _tables(first: str, text: str) -> Iterator[partial[Iterator[ExportRecord]]]:
    """The readers of a table whose first line this may be: names of columns that are unknown, or a row without names."""
    for mark in ("\t",) if is_record(first) else DELIMITERS:
        if names := _names(first, mark):
            yield partial(_rows, delimiter=mark, names=names, header=True)
        cells = next(_cells(io.StringIO(text), mark), [])
        others = [cell for cell in cells if not is_record(cell)]  # a number before each line is of `cat -n`
        # with tabs it is a layout of log4j, which is learned
        fields = len(others) < len(cells) or (mark != "\t" and any(map(is_level, cells)) and any(map(is_logger, cells)))
        if mark != "|" and fields and 1 < len(cells) <= MAX_COLUMNS and not all(cell.strip().isdigit() for cell in others):
            yield partial(_rows, delimiter=mark, names=[*map(COLUMN, range(1, len(cells) + 1))], header=False)


COLUMN = "column {}".format
"""The name of a column that has none."""


def _is_document(text: str) -> bool:
    """Whether the records are inside JSON values, and not the values of single lines."""
    line = text.partition("\n")[0].strip()
    try:
        value, end = _DECODER.raw_decode(line)
    except RecursionError:
        return False
    except ValueError:
        return _OPENING.match(text) is not None and _unfinished(line)
    if not isinstance(value, dict):
        return False
    return line[end:].lstrip("\0, ")[:1] == "{" or (of_object(value) is None and any(_of_objects(inner) for inner in _values(value, 3)))


def _unfinished(line: str) -> bool:
    """Whether a line is the beginning of a JSON value that goes on: of a document in several lines, or of a very long line."""
    depth = 0
    for token in _TOKEN.finditer(line.encode("utf-8", "replace")):
        depth += {b"{": 1, b"[": 1, b"}": -1, b"]": -1}.get(token[0], 0)
    return depth > 0


def _values(value: Mapping[str, Any], depth: int) -> Iterator[Any]:
    for inner in value.values():
        yield inner
        if depth and isinstance(inner, dict):
            yield from _values(inner, depth - 1)


def _of_objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict | list)


# CSV


def _names(header: str, delimiter: str) -> Sequence[str]:
    """The names of the columns; () if the line is not a header."""
    cells = next(_cells([header], delimiter), [])
    names = [cell.strip() or COLUMN(number) for number, cell in enumerate(cells, 1)]  # pandas gives its index no name
    if not 1 < len(names) <= MAX_COLUMNS or not any(map(str.strip, cells)) or len({*names}) < len(names) or max(map(len, names)) > 100:
        return ()
    if any(map(_TIME.search, names)):  # a row of a table without a header, or a log line with this mark between its parts
        return ()
    return names


def _cells(lines: Iterable[str], delimiter: str) -> Iterator[list[str]]:
    """The cells of each line; none for lines that are not CSV."""
    try:
        yield from csv.reader(lines, delimiter=delimiter, strict=True)
    except csv.Error:
        return


def _rows(
    outer: Outer,
    delimiter: str,
    names: Sequence[str],
    *,
    header: bool,
    escaped: bool = False,
    preface: int = 0,
) -> Iterator[ExportRecord]:
    """The rows of a table with these columns; `header`: the first row has their names; `escaped`: with backslashes; `preface`: the lines
    before it that describe it."""
    for _ in range(preface):
        outer.next()
    lines = _CsvLines(outer)
    if escaped:
        yield from _escaped(outer, known_names(names), header=header)
        return
    columns = known_names(names)
    csv.field_size_limit(max(csv.field_size_limit(), MAX_RECORD))
    reader = csv.reader(lines, delimiter=delimiter)
    while True:
        lines.begin()
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            outer.problem = f"line {lines.place[0]} is not CSV: {error}"
            return
        if header:
            header = False
        elif row:
            yield ExportRecord(with_objects(dict(zip(columns, row, strict=False))), *lines.place, lines.raw)


def _unquoted(outer: Outer, columns: Sequence[str], text: int) -> Iterator[ExportRecord]:
    """The rows of a table without names and quotes. The text, the column with this index, may contain tabs and line feeds: it ends before
    the columns after it, or else before the next row."""
    after, row, texts = len(columns) - text - 1, list[str](), list[str]()
    head, tail, place = list[str](), list[str](), (1, 0, b"")

    def record(last: Sequence[str] = ()) -> ExportRecord:
        return ExportRecord(dict(zip(columns, [*row, "\n".join(texts), *last], strict=False)), *place)

    while (line := outer.next()) is not None:
        cells = line[0].rstrip(b"\r").decode("utf-8", "replace").split("\t")
        forms = [_DIGITS.sub("0", cell) for cell in cells]
        if not texts or (len(cells) > text and (is_record(cells[text]) or _goes_with(forms[:text], head))):
            if texts:
                yield record()
            row, texts, head, place, cells = cells[:text], [], forms[:text], (line[1], line[2], line[0]), cells[text:]
        ends = len(cells) > after > 0 and (not tail or any(map(eq, forms[-after:], tail)))
        texts.append("\t".join(cells[:-after] if ends else cells))
        if ends:
            tail = forms[-after:]
            yield record(cells[-after:])
            texts = []
        elif sum(map(len, texts)) > MAX_RECORD:
            outer.problem = f"line {place[0]}: {_TOO_LONG}"
            return
    if texts:
        yield record()


def _goes_with(cells: Sequence[str], head: Sequence[str]) -> bool:
    """Whether cells begin a row like the one before: half of them have its forms, or one of them that is a time."""
    same = [*map(eq, cells, head)]
    return 2 * sum(same) >= len(cells) > 0 or any(alike and "0:0:0" in cell for alike, cell in zip(same, cells, strict=True))


_DIGITS = re.compile(r"\d+")


def _escaped(outer: Outer, columns: Sequence[str], *, header: bool) -> Iterator[ExportRecord]:
    while (line := outer.next()) is not None:
        text, number, byte = line
        cells = [unescaped(cell).decode("utf-8", "replace") for cell in text.rstrip(b"\r").split(b"\t")]
        if not header and text:
            yield ExportRecord(with_objects(dict(zip(columns, cells, strict=False))), number, byte, text)
        header = False


class _CsvLines(Iterator[str]):
    """The lines of a file for csv.reader, with the place of the first one of each row."""

    def __init__(self, outer: Outer) -> None:
        self._outer = outer
        self.place = (1, 0)
        self.raw = b""
        self._first = True

    def begin(self) -> None:
        """The next line begins a row."""
        self._first = True

    def __next__(self) -> str:
        line = self._outer.next()
        if line is None:
            raise StopIteration
        text, number, byte = line
        if self._first:
            self.place, self.raw, self._first = (number, byte), text, False
        return text.decode("utf-8", "replace").replace("\0", "\ufffd") + "\n"


# blocks


def _names_of_blocks(head: str) -> Sequence[str]:
    """The names of the fields in each block of a list of records, of which one has the lines; none in other texts. PowerShell's Format-List,
    `\\G` of MySQL and `\\x` of PostgreSQL print such lists."""
    found = [(match[1], match[2]) for line in head.split("\n", _SAMPLED)[:_SAMPLED] if (match := _FIELD.fullmatch(line.rstrip("\r")))]
    first = [name for name, _ in found[: next((n for n, (name, _) in enumerate(found) if n and name == found[0][0]), 0)]]
    records = {name for name, value in found if is_record(value)}
    again = sum(name == first[0] for name, _ in found) if first else 0
    return first if len({*first}) == len(first) > 1 and again >= _AGAIN and len(records) == 1 and records <= {*first} else ()


def _blocks(outer: Outer, names: Sequence[str]) -> Iterator[ExportRecord]:
    fields, key, size = dict[str, str](), "", 0
    place, raw = (1, 0), list[bytes]()

    def record() -> Iterator[ExportRecord]:
        if fields:
            yield ExportRecord(row_of(fields, fields.values()), *place, b"\n".join(raw))

    while (line := outer.next()) is not None:
        text = line[0].rstrip(b"\r").decode("utf-8", "replace")
        name, value = found.groups() if (found := _FIELD.fullmatch(text)) is not None else ("", "")
        if _RULED.match(text) or name == names[0]:
            yield from record()
            fields, key, size, place, raw = {}, "", 0, line[1:], []
        if name in names and name not in fields:
            key, fields[name] = name, value
        elif key and size < MAX_RECORD:
            before = fields[key].removesuffix("+") if _MARGIN.match(text) else fields[key]
            fields[key] = f"{before}\n{_MARGIN.sub('', text)}" if text else before
        size += len(text)
        raw.append(line[0])
    yield from record()


_SAMPLED, _AGAIN = 400, 3
_FIELD = re.compile(r" {0,30}([A-Za-z_@][\w.@/-]{0,60}) {0,60}(?::|\|) (.*)")
_RULED = re.compile(r"\*{3,80} \d+\. row \*|-\[ RECORD \d+ \]")
_MARGIN = re.compile(r" {4,60}(?:\| )?")


# YAML


def _documents(outer: Outer) -> Iterator[ExportRecord]:
    """The documents of a file that begins with their separator, or the items of a list."""
    texts: list[str] = []
    place, size = (outer.line, outer.byte), 0
    while (line := outer.next()) is not None:
        text, number, byte = line
        item = text.startswith(b"- ")
        if item or text.rstrip() == SEPARATOR.encode():
            yield from _document(texts, place, outer)
            texts, place, size = [], (number, byte), 0
        size += len(text)
        if size > MAX_RECORD:
            outer.problem = f"line {place[0]}: {_TOO_LONG}"
            return
        texts.append((b"  " + text[2:] if item else text).decode("utf-8", "replace").rstrip("\r"))
    yield from _document(texts, place, outer)


def _document(texts: Sequence[str], place: tuple[int, int], outer: Outer) -> Iterator[ExportRecord]:
    text = "\n".join(texts)
    if fields := mapping(text):
        yield ExportRecord(fields, *place, text.encode())
    elif text.strip().strip("-"):
        outer.problem = f"line {place[0]}: a document that cannot be read as a mapping in YAML"


# JSON


class _Bracket(NamedTuple):
    """An open bracket of a document."""

    mark: bytes
    place: int
    """Its position in the buffer; negative: before it."""
    element: int = -1
    """Where the last complete object or array in it ends."""


class _Document:
    """The bytes of a document from the begin of the record that is read, with their place, and the brackets that are open."""

    def __init__(self, outer: Outer) -> None:
        self._outer = outer
        self.line, self.byte = outer.line, outer.byte
        self.data = b""
        self.stack: list[_Bracket] = []
        self.names: list[str] = []
        """Columns of the rows that follow, where rows are lists: ES|QL, Kusto, Log Analytics, Trino."""
        self._ended = False
        self.around: Mapping[str, Any] | None = None
        """What names the writer in the objects around the records; None until a record begins."""

    def more(self) -> bool:
        """Reads on; False at the end of the file."""
        piece = self._outer.exactly(_BLOCK)
        self.data += piece
        return bool(piece)

    def begins(self) -> None:
        """A record begins: what is before it names the writer of all records in the same array."""
        if self.around is None:
            first = self.stack[0].place
            value = _value(self.data[first : self.stack[-1].place + 1], self.stack) if first >= 0 else None
            self.around = path_to_last(value)

    def records(self, begin: int, end: int, opened: Sequence[_Bracket] = ()) -> Iterator[ExportRecord]:
        """The records in one element of the outermost array, or in an object without one; none if it is not JSON. `opened`: the brackets
        that are not closed in it."""
        raw = self.data[begin:end]
        line = self.line + self.data.count(b"\n", 0, begin)
        value = _value(raw, opened)
        if (column := column_of(value)) is not None:
            self.names, self._ended = [*([] if self._ended else self.names), column], False
            return
        if isinstance(value, list) and len(value) == len(self.names) and not all(isinstance(cell, dict) for cell in value):
            value, self._ended = row_of(self.names, value), True
        try:
            for number, fields in enumerate(expanded(value, self.around or {})):
                yield ExportRecord(fields, line, self.byte + begin + number, raw)
        except RecursionError:
            return

    def unfinished(self, begin: int, depth: int) -> Iterator[ExportRecord]:
        """The complete records in an element that does not end; its brackets are those from `depth` on."""
        for number, bracket in enumerate(self.stack[depth:], depth + 1):
            if bracket.mark == b"[" and bracket.element > begin:
                yield from self.records(begin, bracket.element, self.stack[depth:number])
                return

    def needed_from(self, at: int) -> int:
        """Where what is needed of the bytes before `at` begins, between records: an array inside an array, which is a row if an object
        follows, or what is before the first record."""
        stack = self.stack
        if self.around is None and stack and stack[0].place >= 0 and at - stack[0].place < _AROUND:
            return stack[0].place
        row = len(stack) > 1 and stack[-1].mark == stack[-2].mark == b"[" and stack[-1].place >= 0
        return stack[-1].place if row else at

    def drop(self, count: int) -> int:
        self.line += self.data.count(b"\n", 0, count)
        self.byte += count
        self.data = self.data[count:]
        self.stack = [b._replace(place=max(b.place - count, -1), element=max(b.element - count, -1)) for b in self.stack]
        return count


def _objects(outer: Outer) -> Iterator[ExportRecord]:
    """The objects, or arrays of objects, in the outermost array of each JSON value, or the value itself if it is an object without one."""
    document = _Document(outer)
    begin: int | None = None
    depth = at = 0
    while True:
        token = _TOKEN.search(document.data, at)
        if token is None or (token[0][:1] == b'"' and not token["end"]):
            at = token.start() if token is not None else len(document.data)
            if begin is None:
                at -= document.drop(document.needed_from(at))
            elif len(document.data) > MAX_RECORD:
                outer.problem = f"line {document.line}: {_TOO_LONG}"
                return
            if not document.more():
                break
            continue
        mark, at = token[0], token.end()
        stack = document.stack
        if mark in (b"{", b"["):
            in_array = bool(stack) and stack[-1].mark == b"["
            if begin is None and in_array and (mark == b"{" or document.names):
                nested = mark == b"{" and len(stack) > 1 and stack[-2].mark == b"[" and stack[-1].place >= 0
                begin, depth = (stack[-1].place, len(stack) - 1) if nested else (token.start(), len(stack))
                document.begins()
            stack.append(_Bracket(mark, token.start()))
        elif mark in (b"}", b"]") and stack:
            first = stack.pop().place
            if mark == b"]" and begin is None and first >= 0 and document.data[first + 1 : first + 9].lstrip()[:1] == b'"':
                document.names = names_in(_value(document.data[first:at], ())) or document.names
            if stack and stack[-1].mark == b"[":
                stack[-1] = stack[-1]._replace(element=at)
            if begin is not None and len(stack) == depth:
                yield from document.records(begin, at)
                begin = None
                if at >= _DONE:
                    at -= document.drop(at)
            if not stack:
                if document.around is None and first >= 0:
                    yield from document.records(first, at)
                document.around = None
    if begin is not None:
        yield from document.unfinished(begin, depth)
    if document.stack:
        outer.problem = "the JSON document is incomplete; the records up to here were read"


def _value(raw: bytes, opened: Sequence[_Bracket]) -> Any:
    """The JSON value in these bytes and the ends of these brackets; None if it is none."""
    ends = "".join("}" if bracket.mark == b"{" else "]" for bracket in reversed(opened))
    try:
        return json.loads(raw.decode("utf-8", "replace") + ends)
    except (ValueError, RecursionError):
        return None

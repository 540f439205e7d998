"""Reads many lines of a file in the same wrapper at once: most contain a whole record or its continuation.

Here: the wrappers for which the form of a line alone is sufficient, each as one expression for the line; the expressions for JSON objects
and rows of a table are learned from one of them. Not here: all other lines, or the further processing (unwrapper). The unwrapped text
begins with a date in brackets or an indent, so it cannot be wrapped again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from parsers.wrappers.forms import ESCAPED, FROM, ISO, SHORT, unescaped
from parsers.wrappers.json_records import Flat, flat, merged
from parsers.wrappers.roles import Roles

TAB = rb"(?:\\t)+"
"""How a quoted text that is indented by tabs begins."""


class LineForm:
    """Lines in the same wrapper, one expression for all of them."""

    def __init__(self, expression: re.Pattern[bytes], plain: Callable[[bytes], bytes] | None = None) -> None:
        self.match = expression.match
        at = expression.groupindex
        self.text, self.utc = at["text"], at.get("utc")
        self.level, self.logger = at.get("level", 0), at.get("logger", 0)
        """Groups of the fields from which a record is rendered; 0 if the text is a line."""
        self.keys = [place for name, place in at.items() if name[0] in "wh"] or [expression.groups]
        """Groups of what names the writer; the last group, which is empty, if nothing does."""
        self.writers: dict[bytes | tuple[bytes, ...], tuple[str, str]] = {}
        """Writer and host by these groups, as far as lines were read one by one."""
        self.plain = plain
        """Removes the escapes from a text that has some; None if it has none."""
        self.escape = b'"' if plain is _unquoted else b"\\"


def _form(before: bytes, after: bytes = b"", quoted: bytes = b"") -> re.Pattern[bytes]:
    """Expressions for the text before and after the message, with the groups utc and host; `quoted`: characters that the message does not
    contain unescaped."""
    rest = rb"[^\n\r\x1b" + quoted + rb"]*"
    indent = rb"(?: |" + TAB + rb")" if quoted else rb"[\t ]"
    return re.compile(before + rb"(?P<text>\[\d{4}-\d" + rest + rb"|" + indent + rest + rb"|)" + after + rb"\n")


_FORMS = (
    (_form(rb"(?P<utc>" + ISO + rb") (?:stdout|stderr) F (?P<host>)"), None),
    (_form(rb'\{"log":"(?P<host>)', rb'\\n","stream":"(?:stdout|stderr)","time":"(?P<utc>[^"\\\n]{20,35})"\}', rb'"\\'), unescaped),
    (_form(rb"(?![^\n]*" + ESCAPED + rb")" + SHORT + rb"(?P<host>" + FROM + rb":(?: |(?! ))(?P<utc>)"), None),
)
"""The wrappers of the container runtime interface, docker and syslog, each with what removes escapes."""


def run_of(line: bytes) -> LineForm | None:
    """The run of lines like this one, including the line feed."""
    return next((LineForm(form, plain) for form, plain in _FORMS if form.fullmatch(line)), None)


_CHARACTER = rb"[ !#-\[\]-~]*"
_STRING = _CHARACTER + rb"(?:\\[\"\\/nt]" + _CHARACTER + rb")*"
"""Content of a string, without other escapes."""
_RECORD = rb"\[\d{4}-\d"
_WHOLE = rb'(?=\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\] [A-Z]{4,5} [^\n"\\]* \([\w.$]+\)["\r\n,;\t])'
"""A record in Kafka's own layout in one line: a level in another field is that of the record, and not of a message."""
_NUMBER = rb"-?(?:0|[1-9]\d{0,30})(?:\.\d{1,30})?"
_TIME = rb"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?|[1-9]\d{9,18}"
_MANY = 200
"""Members of an object from which on no expression is learned."""
_TOKEN = re.compile(
    rb'[ \t]*(?:(?P<string>"' + _STRING + rb'")|(?P<number>' + _NUMBER + rb")|(?P<word>true|false|null)|(?P<mark>[{}\[\],:]))"
)


def learned(line: bytes, renamed: Roles) -> LineForm | None:
    """The same for a JSON object: lines with the same members in this order, if these determine text, writer and time. `renamed`: known
    names of fields by their path."""
    members = _members(line)
    names = [renamed.get(path, name) for (path, _), name in zip(members, merged([path for path, _ in members]), strict=True)]
    fields = flat(names) if names else None
    if fields is None:
        return None
    forms = (_of_members(line, members, names, fields, apart=apart) for apart in (False, True)[: 1 + bool(fields.level and fields.logger)])
    return next((LineForm(form, unescaped) for form in forms if form.fullmatch(line)), None)


def _of_members(
    line: bytes, members: Sequence[tuple[str, re.Match[bytes]]], names: Sequence[str], fields: Flat, *, apart: bool
) -> re.Pattern[bytes]:
    """`apart`: level, logger and message are in fields of their own."""
    pieces, at, number = list[bytes](), 0, 0
    for name, (_, token) in zip(names, members, strict=True):
        quote = rb'"' if token["string"] is not None else b""
        if name == fields.text:
            value = rb"(?P<text>" + (_MESSAGE if apart else _begins(fields, rb'[ ]|\\t|(?=")')) + _STRING + rb")"
        elif apart and quote and name in (fields.level, fields.logger):
            value = _LEVEL if name == fields.level else _NAME
        elif apart and name in fields.empty:
            value = b""
        elif name == fields.time:
            value = rb"(?P<utc>" + _TIME + rb")"
        elif name in fields.fixed or (name in fields.writers and not quote):
            value, quote = re.escape(token[0].lstrip()), b""
        elif name in fields.writers:
            value, number = rb"(?P<w%d>" % number + _CHARACTER + rb")", number + 1
        else:
            value = _STRING if quote else _NUMBER if token["number"] is not None else rb"(?:true|false|null)"
        begin = token.end() - len(token[0].lstrip())
        pieces += [re.escape(line[at:begin]), quote, value, quote]
        at = token.end()
    return re.compile(b"".join(pieces) + re.escape(line[at:]) + b"()")


_LEVEL = rb"(?P<level>(?i:trace|debug|info|warn|warning|error|fatal))"
_NAME = rb"(?P<logger>[\w.$-]+)"
_MESSAGE = rb'(?=[A-Za-z\[<(])(?!\[?\d{4}-|\[?(?i:trace|debug|info|warn|error|fatal)\b|[^\n"\\]{0,40}\d\d:\d\d:\d\d)'
"""The text of a record whose other fields are apart begins with a letter or a bracket, and with no record."""


def _members(line: bytes) -> list[tuple[str, re.Match[bytes]]]:
    """The members of a JSON object and of the objects in it, by path, with their values; lists of strings and numbers have none. Nothing
    for other lines."""
    members: list[tuple[str, re.Match[bytes]]] = []
    path: list[str] = []
    key, lists, at = "", 0, 0
    while len(members) < _MANY and (token := _TOKEN.match(line, at)) is not None:
        at = token.end()
        mark = token["mark"]
        if mark == b"{":
            if lists or (not path and at > 1):
                return []
            path.append(key)
        elif mark == b"}" and path:
            path.pop()
            if not path:
                break
        elif mark in (b"[", b"]"):
            lists += 1 if mark == b"[" else -1
        elif mark is None and not lists and line[at : at + 2].lstrip()[:1] == b":":
            key = token[0].strip()[1:-1].decode()
        elif mark is None:
            members.append((".".join([*path[1:], key]) + "[]" * lists, token))
    return members if not path and line[at:] == b"\n" else []


def _begins(fields: Flat, indented: bytes) -> bytes:
    """How a text begins that is a whole line: as a record, or `indented` as a line that continues one if its time or its writer is
    known."""
    return rb"(?:" + (_WHOLE if fields.level else _RECORD + (b"|" + indented if fields.time or fields.writers else b"")) + rb")"


_CELL = rb"[\t\n -!#-~]*"
_QUOTED = _CELL + rb'(?:""' + _CELL + rb")*"


def of_table(names: Sequence[str], delimiter: str, escaped: bool) -> list[LineForm]:
    """The same for a row of a table with these columns, by their known names. `escaped`: with backslashes instead of quotes."""
    fields = flat(names, cells=True)
    if fields is None or len({*names}) < len(names):
        return []
    both = (False, True)[: 1 + bool(fields.level and fields.logger)]
    return [LineForm(_of_columns(names, delimiter, fields, escaped, apart), unescaped if escaped else _unquoted) for apart in both]


def _of_columns(names: Sequence[str], delimiter: str, fields: Flat, escaped: bool, apart: bool) -> re.Pattern[bytes]:
    mark = re.escape(delimiter.encode())
    bare = rb'[^\x00-\x08\x0b-\x1f"\n\x7f-\xff' + mark + rb"]*" if not escaped else rb"[^\t\n\x00-\x08\x0b-\x1f\x7f-\xff]*"
    cells = []
    for number, name in enumerate(names):
        if name == fields.text:
            begins = _MESSAGE if apart else _begins(fields, rb'[\t ]|\\t|(?=["\n' + mark + rb"])")
            cell = rb'(?P<quote>")?(?P<text>' + begins + rb"(?(quote)" + _QUOTED + rb"|" + bare + rb'))(?(quote)")'
        elif apart and name in (fields.level, fields.logger):
            cell = rb'"?' + (_LEVEL if name == fields.level else _NAME) + rb'"?'
        elif apart and name in fields.empty:
            cell = b'(?:"")?'
        elif name == fields.time and apart:
            cell = rb'"?(?P<utc>' + _TIME + rb')"?'
        elif name == fields.time:
            cell = rb'(?P<quoted>")?(?P<utc>(?(quoted)[ !#-~]*|' + bare + rb'))(?(quoted)")'
        elif name in fields.writers or name in fields.fixed:
            cell = rb"(?P<w%d>" % number + rb'"' + _QUOTED + rb'"|' + bare + rb")"
        else:
            cell = rb'(?:"' + _QUOTED + rb'"|' + bare + rb")"
        cells.append(cell)
    return re.compile(mark.join(cells) + rb"\r?\n()")


def _unquoted(text: bytes) -> bytes:
    return text.replace(b'""', b'"')

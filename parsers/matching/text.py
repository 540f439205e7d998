"""Lines of a chunk of a log as text, without what torn writes leave at their ends.

Here: where lines end, what noise is, and which text identifies a log. Not here: where records begin (layouts_in_use).
"""

from __future__ import annotations

import regex

_NOISE = bytes(set(range(0x20)) - set(b"\t\n\r\x1b"))
_FIRST_NOISE = regex.compile(b"[" + b"".join(b"\\x%02x" % code for code in _NOISE) + b"]")
_EDGES = _NOISE.decode() + "\r\ufeff"
EXCEPTION = rb"(?:(?:Error: )?Exception in thread \"[^\"]*\" |Caused by: |Exception: )?(?:[a-z]\w*\.)+[A-Z][\w$]*(?:Exception|Error)\b"
"""The beginning of what Java prints of an exception."""
THROWN = EXCEPTION + (
    rb"|#? ?There is insufficient memory for the Java|(?:# ?)*An? (?:unexpected )?fatal error has been detected by the Java|Terminating due to java\."
    rb"|(?:Error: )?Could not (?:create the Java Virtual|reserve enough space for)|Unrecognized VM option|Error occurred during initialization of VM"
    rb"|(?:OpenJDK|Java HotSpot\(TM\)) [\w-]+ Server VM "
)
"""The beginning of what Java prints of an exception, or of its own end."""
LOG_MARK = regex.compile(rb"\d\d:\d\d:\d\d|\d{1,4}[-./]\d\d?[-./]\d{1,4}|\b(?:TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL)\b")
"""A time, a date or a level: text that identifies a line as part of a log."""


def text_of(raw: bytes) -> str:
    """The text of a line, or of several."""
    return raw.decode("utf-8", "replace").strip(_EDGES)


def without_quotes(text: str) -> str:
    """The text without the quotes of a page or a chat before a record or an exception, and those after it. Only the first line of a quoted
    block may have them."""
    marks = _MARKS.match(text) if text[:1] in "> \t`\"'*“" else None
    return text[marks.end() :].rstrip("`\"'”" if marks[0].strip("> \t*") else "") if marks is not None else text


_MARKS = regex.compile(
    r"[ \t]*+[>`\"'*“][> \t`\"'*“]*+(?=\[?\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:,\d{3})?\]? +[A-Z]|(?:\[[^\[\]]+\] )?(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL) |"
    + THROWN.decode()
    + ")"
)


def line_end(data: bytes, at: int) -> int:
    """End of the line at `at`, without its line feed."""
    end = data.find(b"\n", at)
    return len(data) if end < 0 else end


def leading_noise(line: bytes) -> int:
    """Control bytes before a line."""
    return len(line) - len(line.lstrip(_NOISE))


def noise_in(data: bytes) -> int:
    """Control bytes (NUL and the like) in a chunk."""
    return len(data) - len(data.translate(None, _NOISE))


def first_noise(data: bytes) -> int:
    """Position of the first one; 0 if there is none."""
    match = _FIRST_NOISE.search(data)
    return match.start() if match else 0

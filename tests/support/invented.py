"""Forms that were invented from products' documentation before anyone looked at whether they are read, and that showed something new.

Here: the forms, each as a function of the rows of a recording. Not here: how forms are tried (forms).
"""

from __future__ import annotations

import base64
import csv
import html
import io
import json
import random
import tarfile
from collections.abc import Mapping
from typing import Any
from xml.sax.saxutils import quoteattr

from fixtures.exports.rows import Row, by_node
from tests.support.products import by_log
from tests.support.writing import Rows, Write, document, each, fields, objects, table


def whole(row: Row) -> str:
    """The message with its stack trace."""
    f = fields(row)
    return f["message"] + (f"\n{f['trace']}" if "trace" in f else "")


def german(row: Row) -> str:
    return f"{row.stamp:%d.%m.%Y %H:%M:%S},{row.milliseconds % 1000:03}"


def american(row: Row) -> str:
    return f"{row.stamp.month}/{row.stamp.day}/{row.stamp.year} {row.stamp:%I:%M:%S}.{row.milliseconds % 1000:03} {row.stamp:%p}"


def lines_of(rows: Rows) -> list[str]:
    return [line for row in rows for line in row.text.split("\n")]


def sections(rows: Rows, head: str, end: str = "", *, by_file: bool = False) -> str:
    """The lines of one host, or of one of its files, after the other, each below a heading."""
    found: Mapping[Any, Rows] = by_log(rows) if by_file else {(node, ""): own for node, own in by_node(rows)}
    return "".join(
        head.format(node=node, file=file) + "".join(f"{line}\n" for line in lines_of(own)) + end for (node, file), own in found.items()
    )


def ripgrep(rows: Rows) -> str:
    made: list[Any] = []
    for (node, file), own in by_log(rows).items():
        path = {"text": f"{node}/logs/{file}"}
        made.append({"type": "begin", "data": {"path": path}})
        for number, line in enumerate(lines_of(own), 1):
            found = [{"match": {"text": "INFO"}, "start": 26, "end": 30}]
            data = {"path": path, "lines": {"text": f"{line}\n"}, "line_number": number, "absolute_offset": 0, "submatches": found}
            made.append({"type": "match", "data": data})
        made.append({"type": "end", "data": {"path": path, "binary_offset": None, "stats": {"matches": len(own)}}})
    return "".join(f"{json.dumps(one)}\n" for one in made)


def context(rows: Rows) -> str:
    """`grep -C`: the lines around those that match have another mark."""
    made = []
    for (node, file), own in by_log(rows).items():
        for number, line in enumerate(lines_of(own), 1):
            mark = "-" if " INFO " in line else ":"
            made.append(f"{node}/logs/{file}{mark}{number}{mark}{line}")
        made.append("--")
    return "\n".join(made) + "\n"


def annotated(rows: Rows) -> str:
    """The CSV of InfluxDB."""
    head = "#group,false,false,true,false,false\n#datatype,string,long,string,dateTime:RFC3339,string\n#default,_result,,,,\n"
    return head + str(
        table(("", "result", "table", "host", "_time", "_value"), lambda r: ("", "", "0", r.node, f"{r.iso()}Z", r.text))(rows)
    )


def dumped(rows: Rows) -> str:
    """`\\x` of psql."""
    return "".join(
        f"-[ RECORD {n} ]----------\nts      | {r.iso(separator=' ')}\nhost    | {r.node}\nmessage | "
        + r.text.replace("\n", "+\n        | ")
        + "\n"
        for n, r in enumerate(rows, 1)
    )


def log4j_page(rows: Rows) -> str:
    cells = ("Time", "Thread", "Level", "Category", "Message")
    begin = rows[0].milliseconds
    made = "".join(f"<th>{cell}</th>\n" for cell in cells)
    for row in rows:
        f = fields(row)
        values = (str(row.milliseconds - begin), "main", f["level"], f["logger"], whole(row))
        made += "<tr>\n" + "".join(f"<td>{html.escape(value)}</td>\n" for value in values) + "</tr>\n"
    return f"<!DOCTYPE HTML>\n<html><body><table>\n<tr>\n{made}</table></body></html>\n"


def packed(rows: Rows) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for (node, file), own in by_log(rows).items():
            data = "".join(f"{row.text}\n" for row in own).encode()
            info = tarfile.TarInfo(f"{node}/logs/{file}")
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return base64.encodebytes(out.getvalue())


def hexadecimal(rows: Rows) -> str:
    data = "".join(f"{row.text}\n" for row in rows).encode()
    parts = ((at, data[at : at + 16]) for at in range(0, len(data), 16))
    return "".join(
        f"{at:08x}: {part.hex(' ', 2):<39}  {part.decode('ascii', 'replace').translate({10: 46, 9: 46})}\n" for at, part in parts
    )


def shuffled(rows: Rows) -> Rows:
    mixed = list(rows)
    random.Random(3).shuffle(mixed)
    return mixed


INVENTED_TOGETHER: dict[str, Write] = {
    "fields-de.csv": table(
        ("Datum", "Stufe", "Logger", "Thread", "Meldung", "Knoten"),
        lambda r: (german(r), fields(r)["level"], fields(r)["logger"], "main", whole(r), r.node),
        delimiter=";",
    ),
    "fields-us.csv": table(
        ("When", "Sev", "Class", "Msg", "Server"),
        lambda r: (american(r), fields(r)["level"], fields(r)["logger"], whole(r), r.node),
    ),
    "fields-shuffled.ndjson": lambda rows: objects(
        lambda r: {"@t": f"{r.iso()}Z", "@l": fields(r)["level"], "SourceContext": fields(r)["logger"], "@m": whole(r), "Host": r.node}
    )(shuffled(rows)),
    "caret.csv": table(("time", "host", "message"), lambda r: (r.iso(), r.node, r.text), delimiter="^"),
    "hive.txt": each(lambda r: "\x01".join((r.iso(), r.node, r.text.replace("\n", "\\n")))),
    "pandas-index.csv": table(("", "time", "host", "message"), lambda r: (r.number, r.iso(), r.node, r.text)),
    "influx-annotated.csv": annotated,
    "json-column.csv": table(
        ("TS", "RECORD"), lambda r: (f"{r.iso(separator=' ')} Z", json.dumps({"host": r.node, "log": r.text})), quoting=csv.QUOTE_ALL
    ),
    "columns.json": document(
        lambda rows: {"ts": [r.milliseconds for r in rows], "host": [r.node for r in rows], "line": [r.text for r in rows]}
    ),
    "salt.json": document(lambda rows: {node: "\n".join(r.text for r in own) for node, own in by_node(rows)}, indent=4),
    "lists.json": document(lambda rows: {node: lines_of(own) for node, own in by_node(rows)}),
    "for.xml": lambda rows: (
        "<data>"
        + "".join(f"<row time={quoteattr(r.iso())} host={quoteattr(r.node)} message={quoteattr(r.text)}/>" for r in rows)
        + "</data>\n"
    ),
    "format-list.txt": each(
        lambda r: f"\nTime    : {r.iso(separator=' ')}\nHost    : {r.node}\nMessage : " + r.text.replace("\n", "\n          ")
    ),
    "psql-expanded.txt": dumped,
    "log4j1.html": log4j_page,
    "base64.txt": packed,
}
"""Forms in which a record of several lines stays together."""

INVENTED_APART: dict[str, Write] = {
    "ripgrep.ndjson": ripgrep,
    "grep-context.txt": context,
    "xxd.txt": hexadecimal,
    "epochs.txt": each(lambda r: f"{r.milliseconds} {r.node} {r.text}"),
    "slog.txt": each(lambda r: f"time={r.iso()}Z level=INFO source={r.node} msg={json.dumps(r.text)}"),
    "confluence.xml": lambda rows: sections(
        rows,
        "<h2>{node} {file}</h2><ac:structured-macro><ac:plain-text-body><![CDATA[",
        "]]></ac:plain-text-body></ac:structured-macro>\n",
        by_file=True,
    ),
    "details.md": lambda rows: (
        "### Lost records\n\n" + sections(rows, "<details><summary>{node}/{file}</summary>\n\n```\n", "```\n\n</details>\n\n", by_file=True)
    ),
    "prompts.txt": lambda rows: sections(rows, "ubuntu@{node}:~$ tail -n +1 /var/log/kafka/{file}\n", by_file=True),
    "loop.txt": lambda rows: sections(rows, "##### {node} #####\n"),
    "files-of-hosts.txt": lambda rows: sections(rows, "*** {node}:{file} ***\n\n", "\n", by_file=True),
    "brackets.txt": lambda rows: sections(rows, "[{node}]\n"),
    "chat.txt": lambda rows: sections(rows, "\n[11/21/2026 9:14 AM] Doe, Jane\n{node}:\n"),
    "utf16-without-mark.log": lambda rows: "".join(f"{r.node} | {r.text}\r\n" for r in rows).encode("utf-16-le"),
    "returns.log": lambda rows: "".join(f"{r.node} | {r.text}\r" for r in rows),
}
"""Forms in which each line of a record is a line."""

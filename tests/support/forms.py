"""Forms in which logs are handed over besides the exports of fixtures.exports: what tools, shells, stores, databases and documents make of
the same lines.

Here: the forms, each as a function of the rows of a recording. Not here: which of them the tests try. `python -m tests.support.forms
[-r RECORDING]… [FORM]…` tries these and all exports, and prints a table: equal to the plain files, weaker, different or unread, with what the
report says about it.
"""

from __future__ import annotations

import argparse
import csv
import html
import io
import json
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from email.message import EmailMessage
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from xml.sax.saxutils import escape

import yaml

from fixtures.exports import FORMS as EXPORTS
from fixtures.exports import write
from fixtures.exports.form import MICRO, Form
from fixtures.exports.rows import Options, Row, arranged, by_node, read
from forensics.views.document import Report
from forensics.words import words
from parsers.layouts import LOG4J
from tests.support import local
from tests.support.invented import INVENTED_APART, INVENTED_TOGETHER
from tests.support.paths import BUNDLES, truth_of
from tests.support.products import APART, TOGETHER, TREES, by_log
from tests.support.taken import CRASH, DENIED, FALSE, SURER, Judged, broken, judged
from tests.support.writing import Rows, Write, document, each, fields, objects, table

RECORDINGS = ("acks1-failover-3.9.1-kraft", "unclean-election-1.0.2-zk", "zombie-leader-2.8.2-zk")


def parts(head: Callable[[str], str], line: Callable[[str], str] = str, end: str = "", *, by_file: bool = False) -> Write:
    """The lines of one host, or of one file of a host, after the other, each with a heading."""

    def write(rows: Rows) -> str:
        found: dict[str, list[str]] = {}
        for row in rows:
            found.setdefault(f"{row.node}/{row.file}" if by_file else row.node, []).extend(row.text.split("\n"))
        return "".join(head(name) + "\n" + "".join(f"{line(text)}\n" for text in own) + end for name, own in found.items())

    return write


def cells(row: Row) -> tuple[str, str, str, str]:
    return row.iso(), row.node, row.file, row.text


def sql(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def mysql(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"


def values(*rows: Row, quote: Callable[[str], str] = sql) -> str:
    return "VALUES " + ",".join(f"({', '.join(map(quote, cells(row)))})" for row in rows)


def copied(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")


def boxed(rows: Rows, mark: str) -> str:
    """The aligned tables of psql and mysql."""
    lines = [("time", "host", "message"), *((row.iso(), row.node, row.text) for row in rows)]
    widths = [max(len(line[n]) for line in lines) for n in range(3)]
    rule = "+" + "+".join("-" * (width + 2) for width in widths) + "+\n"
    made = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |\n" for line in lines]
    if mark == "psql":
        return " " + made[0][2:-3] + "\n" + rule[1:-2] + "\n" + "".join(" " + line[2:-3].rstrip() + "\n" for line in made[1:])
    return rule + made[0] + rule + "".join(made[1:]) + rule


def sheet(rows: Rows) -> bytes:
    """A workbook with the strings in the cells."""

    def of(values: Iterable[str]) -> str:
        return (
            "<row>" + "".join(f'<c t="inlineStr"><is><t xml:space="preserve">{escape(value)}</t></is></c>' for value in values) + "</row>"
        )

    ns = "http://schemas.openxmlformats.org"
    data = "".join(map(of, [("time", "host", "file", "message"), *map(cells, rows)]))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        kinds = f'<Types xmlns="{ns}/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/></Types>'
        archive.writestr("[Content_Types].xml", kinds)
        archive.writestr("xl/workbook.xml", f'<workbook xmlns="{ns}/spreadsheetml/2006/main"><sheets/></workbook>')
        archive.writestr(
            "xl/worksheets/sheet1.xml", f'<worksheet xmlns="{ns}/spreadsheetml/2006/main"><sheetData>{data}</sheetData></worksheet>'
        )
    return out.getvalue()


def mail(rows: Rows, *, attached: bool) -> bytes:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "a@example.org", "b@example.org", "logs of yesterday"
    text = "".join(f"{row.text}\n" for row in rows)
    message.set_content("See the files.\n" if attached else f"See below.\n\n{text}")
    for node, own in by_node(rows) if attached else ():
        message.add_attachment("".join(f"{row.text}\n" for row in own).encode(), "text", "plain", filename=f"{node}.log")
    return bytes(message)


def ruby(row: Row) -> str:
    return f'{{\n    "@timestamp" => {row.iso()}Z,\n          "host" => {json.dumps(row.node)},\n       "message" => {json.dumps(row.text)}\n}}'


def tai(row: Row) -> str:
    micros = row.microseconds
    return f"@{(1 << 62) + micros // 10**6 + 10:016x}{micros % 10**6 * 1000:08x}"


def otlp(body: Callable[[Row], Any]) -> Callable[[Rows], Any]:
    def make(rows: Rows) -> Any:
        return {
            "resourceLogs": [
                {
                    "resource": {"attributes": [{"key": "k8s.pod.name", "value": {"stringValue": node}}]},
                    "scopeLogs": [{"logRecords": [{"timeUnixNano": str(row.microseconds * 1000), "body": body(row)} for row in own]}],
                }
                for node, own in by_node(rows)
            ]
        }

    return make


def typed(names: Sequence[str], kind: str = "type", name: str = "name") -> list[dict[str, str]]:
    return [{name: one, kind: "string"} for one in names]


def verbose(row: Row) -> str:
    return f"{row.stamp:%a} {row.iso(separator=' ')} UTC [s=1;i={row.number:x}]\n    _HOSTNAME={row.node}\n    PRIORITY=6\n    MESSAGE={row.text}"


def xml(row: Row) -> str:
    f = fields(row)
    return (
        f'<Event xmlns="http://logging.apache.org/log4j/2.0/events" timeMillis="{row.milliseconds}" thread="main" level="{f["level"]}" '
        f'loggerName="{f["logger"]}"><Message>{escape(f["message"])}</Message></Event>'
    )


def xml1(row: Row) -> str:
    f = fields(row)
    return (
        f'<log4j:event logger="{f["logger"]}" timestamp="{row.milliseconds}" level="{f["level"]}" thread="main">\n'
        f"<log4j:message><![CDATA[{f['message']}]]></log4j:message>\n</log4j:event>\n"
    )


def lined(row: Row) -> str:
    """`(%c:%L)`, the layout of Kafka's own tests."""
    first, feed, rest = row.text.partition("\n")
    return (f"{first[:-1]}:{100 + row.number % 900})" if first.endswith(")") and LOG4J.fits(first) else first) + feed + rest


MULTI: dict[str, Write] = {
    "gelf.ndjson": objects(
        lambda r: {
            "version": "1.1",
            "host": r.node,
            "timestamp": r.milliseconds / 1000,
            "level": 6,
            "_file": r.file,
            "short_message": r.text.partition("\n")[0],
            "full_message": r.text,
        }
    ),
    "logstash.ndjson": objects(
        lambda r: {
            "@timestamp": f"{r.iso()}Z",
            "@version": "1",
            "host": {"hostname": r.node},
            "event": {"original": r.text},
            "message": r.text,
            "log": {"file": {"path": r.path}},
            "tags": ["multiline"],
        }
    ),
    "newrelic.json": document(
        lambda rows: {
            "results": [
                {"events": [{"timestamp": r.milliseconds, "hostname": r.node, "filePath": r.path, "message": r.text} for r in rows]}
            ]
        }
    ),
    "newrelic.csv": table(
        ("timestamp", "hostname", "filePath", "message"), lambda r: (r.milliseconds, r.node, r.path, r.text), quoting=csv.QUOTE_ALL
    ),
    "bulk.ndjson": lambda rows: "".join(
        json.dumps({"index": {"_index": "kafka"}})
        + "\n"
        + json.dumps({"@timestamp": f"{r.iso()}Z", "host": r.node, "message": r.text})
        + "\n"
        for r in rows
    ),
    "docker-fluentd.ndjson": objects(
        lambda r: {"container_id": "7d85", "container_name": f"/{r.node}", "source": "stdout", "log": r.text, "@timestamp": f"{r.iso()}Z"}
    ),
    "json-in-string.ndjson": objects(
        lambda r: {"TimeGenerated": f"{r.iso()}Z", "PodName": r.node, "LogMessage": json.dumps({"log": r.text, "stream": "stdout"})}
    ),
    "json-in-json-in-string.ndjson": objects(
        lambda r: {"ts": f"{r.iso()}Z", "blob": json.dumps({"node": r.node, "payload": json.dumps({"text": r.text})})}
    ),
    "odd-names.ndjson": objects(lambda r: {"wann": f"{r.iso()}Z", "wer": r.node, "wo": r.path, "was": r.text}),
    "odd-fields.ndjson": objects(
        lambda r: {"zeit": f"{r.iso()}Z", "rechner": r.node, **{f"x_{name}": value for name, value in fields(r).items()}}
    ),
    "known-text-odd-rest.ndjson": objects(
        lambda r: {
            "zeit": f"{r.iso()}Z",
            "rechner": r.node,
            "stufe": fields(r)["level"],
            "klasse": fields(r)["logger"],
            "message": fields(r)["message"],
        }
    ),
    "odd-names.csv": table(("wann", "wer", "wo", "was"), cells),
    "odd-names.tsv": table(("wann", "wer", "wo", "was"), cells, delimiter="\t"),
    "no-header.csv": table((), cells, delimiter=";"),
    "powershell.csv": lambda rows: "#TYPE Selected.System.Object\n" + str(table(("Time", "Host", "File", "Message"), cells)(rows)),
    "sep.csv": lambda rows: "sep=;\n" + str(table(("Time", "Host", "File", "Message"), cells, delimiter=";")(rows)),
    "number-times.csv": table(("date", "pod", "message"), lambda r: (f"{r.milliseconds:,}", r.node, r.text)),
    "shuffled.csv": lambda rows: str(
        table(("time", "host", "message"), lambda r: (r.iso(), r.node, r.text))(sorted(rows, key=lambda r: r.key))
    ),
    "array.json": document(lambda rows: [{"timestamp": f"{r.iso()}Z", "host": r.node, "message": r.text} for r in rows]),
    "array-pretty.json": document(lambda rows: [{"timestamp": f"{r.iso()}Z", "host": r.node, "message": r.text} for r in rows], indent=2),
    "key-values.json": document(
        lambda rows: [
            [{"Key": "time", "Value": f"{r.iso()}Z"}, {"Key": "host", "Value": r.node}, {"Key": "message", "Value": r.text}] for r in rows
        ]
    ),
    "otlp-kvlist.json": document(
        otlp(
            lambda r: {
                "kvlistValue": {
                    "values": [{"key": "message", "value": {"stringValue": r.text}}, {"key": "line", "value": {"intValue": "7"}}]
                }
            }
        )
    ),
    "opensearch-ppl.json": document(
        lambda rows: {"schema": typed(("@timestamp", "host", "file", "message")), "datarows": [cells(r) for r in rows], "total": len(rows)}
    ),
    "clickhouse-compact.json": document(
        lambda rows: {"meta": typed(("ts", "host", "file", "message")), "data": [cells(r) for r in rows], "rows": len(rows)}
    ),
    "kusto-v2.json": document(
        lambda rows: [
            {"FrameType": "DataSetHeader", "Version": "v2.0"},
            {
                "FrameType": "DataTable",
                "TableKind": "PrimaryResult",
                "Columns": typed(("Timestamp", "Host", "File", "Message"), "ColumnType", "ColumnName"),
                "Rows": [cells(r) for r in rows],
            },
        ]
    ),
    "splunk-hec.ndjson": objects(
        lambda r: {"time": r.milliseconds / 1000, "host": r.node, "source": r.path, "sourcetype": "kafka", "event": r.text}
    ),
    "splunk.xml": lambda rows: (
        "<?xml version='1.0' encoding='UTF-8'?>\n<results preview='0'>\n"
        + "".join(
            f"<result offset='{n}'><field k='_raw'><v xml:space='preserve' trim='0'>{escape(r.text)}</v></field>"
            f"<field k='host'><value><text>{r.node}</text></value></field></result>\n"
            for n, r in enumerate(rows)
        )
        + "</results>\n"
    ),
    "victorialogs.ndjson": objects(
        lambda r: {"_time": f"{r.iso()}Z", "_stream": f'{{host="{r.node}",file="{r.file}"}}', "_msg": r.text, "host": r.node}
    ),
    "kcat.ndjson": objects(
        lambda r: {"topic": "logs", "partition": 0, "offset": r.number, "ts": r.milliseconds, "key": r.node, "payload": r.text}
    ),
    "rubydebug.txt": each(ruby),
    "python.txt": each(lambda r: repr({"time": r.iso(), "host": r.node, "message": r.text})),
    "fluent-bit-stdout.txt": each(
        lambda r: f'[{r.number}] kube.{r.node}: [[{r.milliseconds / 1000:.9f}, {{}}], {{"log"=>{json.dumps(r.text)}, "host"=>"{r.node}"}}]'
    ),
    "list.yaml": lambda rows: yaml.safe_dump([{"time": f"{r.iso()}Z", "host": r.node, "message": r.text} for r in rows]),
    "documents.yaml": lambda rows: "".join(
        f"---\n{yaml.safe_dump({'time': f'{r.iso()}Z', 'host': r.node, 'message': r.text})}" for r in rows
    ),
    "log4j2.xml": each(xml),
    "log4j1.xml": each(xml1),
    "logback.ndjson": objects(
        lambda r: {
            "timestamp": r.milliseconds,
            "level": fields(r)["level"],
            "thread": "main",
            "logger": fields(r)["logger"],
            "host": r.node,
            "message": fields(r)["message"],
            "exception": fields(r).get("trace", ""),
            "context": "default",
        }
    ),
    "log4j2-pretty.json": lambda rows: "".join(
        json.dumps(
            {
                "instant": {"epochSecond": r.microseconds // 10**6, "nanoOfSecond": r.microseconds % 10**6 * 1000},
                "thread": "main",
                "level": fields(r)["level"],
                "loggerName": fields(r)["logger"],
                "message": fields(r)["message"],
                "hostName": r.node,
            },
            indent=2,
        )
        + ",\n"
        for r in rows
    ),
    "insert.sql": each(lambda r: f"INSERT INTO logs (ts, host, file, message) {values(r)};"),
    "mysqldump.sql": lambda rows: (
        "-- MySQL dump 10.13\nDROP TABLE IF EXISTS `logs`;\nCREATE TABLE `logs` (\n  `ts` datetime,\n  `host` text,\n  `file` text,\n  `message` text\n);\n"
        + "INSERT INTO `logs` "
        + values(*rows, quote=mysql)
        + ";\n"
    ),
    "copy.sql": lambda rows: (
        "--\n-- PostgreSQL database dump\n--\nCOPY public.logs (ts, host, file, message) FROM stdin;\n"
        + "".join("\t".join(map(copied, cells(r))) + "\n" for r in rows)
        + "\\.\n"
    ),
    "vertical.txt": lambda rows: "".join(
        f"*************************** {n}. row ***************************\n   time: {r.iso()}\n   host: {r.node}\nmessage: {r.text}\n"
        for n, r in enumerate(rows, 1)
    ),
    "table.html": lambda rows: (
        "<!DOCTYPE html>\n<html><head><title>Logs</title></head><body><table><tr><th>time</th><th>host</th><th>file</th><th>message</th></tr>\n"
        + "".join(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in cells(r))}</tr>\n" for r in rows)
        + "</table></body></html>\n"
    ),
    "sheet.xlsx": sheet,
    "attached.eml": lambda rows: mail(rows, attached=True),
    "body.eml": lambda rows: mail(rows, attached=False),
    "box.mbox": lambda rows: b"".join(
        b"From a@example.org Sat Nov 21 00:00:00 2026\n" + mail(rows, attached=True) + b"\n" for _ in range(1)
    ),
}
"""Forms in which a record of several lines stays together."""

LINES: dict[str, Write] = {
    "fluentd.log": each(lambda r: f"{r.iso()}Z\tkafka.{r.node}\t{json.dumps({'message': r.text, 'file': r.file})}"),
    "fluentd-stdout.log": each(lambda r: f"{r.iso('microseconds', ' ')}000 +0000 kafka.{r.node}: {json.dumps({'message': r.text})}"),
    "logfmt-odd.log": each(lambda r: f"zeit={r.iso()}Z rechner={r.node} datei={r.file} text={json.dumps(r.text)}"),
    "kail.log": each(lambda r: f"kafka/{r.node}[kafka]: {r.text}"),
    "kail-since.log": each(lambda r: f"{r.iso()}Z kafka/{r.node}[kafka]: {r.text}"),
    "rfc3164.log": each(lambda r: f"<30>{r.stamp:%b %e %H:%M:%S} {r.node} kafka[812]: {r.text}"),
    "rfc5424-octets.log": each(lambda r: (lambda t: f"{len(t)} {t}")(f"<134>1 {r.iso()}Z {r.node} kafka 812 - - {r.text}")),
    "rsyslog-traditional.log": each(lambda r: f"{r.stamp:%b %e %H:%M:%S} {r.node} kafka: {r.text}".replace("\t", "#011")),
    "rsyslog-json.log": objects(lambda r: {"timereported": f"{r.iso()}Z", "hostname": r.node, "programname": "kafka", "msg": f" {r.text}"}),
    "heroku.log": each(lambda r: f"{r.iso('microseconds')}+00:00 app[{r.node}]: {r.text}"),
    "ansible.txt": parts(lambda host: f"{host} | CHANGED | rc=0 >>"),
    "ansible-json.txt": lambda rows: "".join(
        f"ok: [{node}] => "
        + json.dumps({"out.stdout_lines": [line for r in own for line in r.text.split(chr(10))]}, indent=4, ensure_ascii=False)
        + "\n"
        for node, own in by_node(rows)
    ),
    "fabric.txt": each(lambda r: f"[{r.node}] out: {r.text}"),
    "pssh.txt": parts(lambda host: f"[1] 09:12:44 [SUCCESS] {host}"),
    "salt.txt": parts(lambda host: f"{host}:", lambda line: f"    {line}"),
    "clush.txt": parts(lambda host: f"---------------\n{host}\n---------------"),
    "multilog.log": each(lambda r: f"{tai(r)} {r.text}"),
    "tai64nlocal.log": each(lambda r: f"{r.iso('microseconds', ' ')}500 {r.text}"),
    "s6-log.log": each(lambda r: f"{r.iso('microseconds', ' ')}500  {r.text}"),
    "svlogd-tt.log": each(lambda r: f"{r.iso('microseconds', '_')[:-1]} {r.text}"),
    "ts.log": each(lambda r: f"{r.stamp:%b %d %H:%M:%S} {r.text}"),
    "cat-n.txt": lambda rows: "".join(f"{n:6}\t{r.text}\n" for n, r in enumerate(rows, 1)),
    "grep-n.txt": lambda rows: "".join(f"{r.node}/logs/{r.file}:{n}:{r.text}\n" for n, r in enumerate(rows, 1)),
    "grep-h.txt": each(lambda r: f"{r.node}/logs/{r.file}:{r.text}"),
    "tail.txt": parts(lambda name: f"==> {name} <==", by_file=True),
    "quoted.txt": each(lambda r: f"> {r.text}"),
    "compose-colours.log": each(lambda r: f"\x1b[36m{r.node}  | \x1b[0m{r.text}"),
    "docker-desktop.log": each(lambda r: f"{r.iso('seconds', ' ')} {r.text}"),
    "podman-names.log": each(lambda r: f"{r.node} {r.text}"),
    "script.txt": lambda rows: (
        'Script started on 2026-11-21 02:00:00+00:00 [TERM="xterm" TTY="/dev/pts/0"]\r\n'
        + "".join(
            f"\x1b[?2004h\x1b[01;32mroot@{node}\x1b[00m:\x1b[01;34m~\x1b[00m# cat server.log\r\n\x1b[?2004l\r"
            + "".join(f"{r.text}\r\n" for r in own)
            for node, own in by_node(rows)
        )
        + '\r\nScript done on 2026-11-21 03:00:00+00:00 [COMMAND_EXIT_CODE="0"]\r\n'
    ),
    "journal-verbose.log": each(verbose),
    "journal-unit.log": each(lambda r: f"{r.stamp:%a} {r.iso('seconds', ' ')} UTC {r.node} kafka.service[812]: {r.text}"),
    "journal-monotonic.log": each(lambda r: f"[{r.microseconds / 10**6 - 1795000000:12.6f}] {r.node} kafka[812]: {r.text}"),
    "stern-extjson.log": objects(
        lambda r: {"pod": r.node, "container": "kafka", "message": r.text, "namespace": "kafka", "node": "worker"}
    ),
    "aws-tail.txt": each(lambda r: f"{r.iso('microseconds')}+00:00 {r.node} {r.text}"),
    "console-consumer.txt": each(lambda r: f"CreateTime:{r.milliseconds}\t{r.node}\t{r.text}"),
    "grafana.txt": lambda rows: (
        'Common labels: {"job":"kafka"}\nLine limit: "1000 (reached)"\nTotal bytes processed: "1 MB"\n\n\n'
        + "".join(f"{r.iso()}Z\t{r.iso()}Z\t{r.text}\n" for r in rows)
    ),
    "gcloud-value.txt": each(lambda r: f"{r.iso()}Z\t{r.node}\t{r.text}"),
    "psql.txt": lambda rows: boxed(rows, "psql"),
    "mysql.txt": lambda rows: boxed(rows, "mysql"),
    "class-line.log": each(lined),
    "fences.md": parts(lambda name: f"## {name}\n\n```", end="```\n\n", by_file=True),
    "pre.html": parts(lambda name: f"<h2>{name}</h2><pre>", html.escape, "</pre>\n", by_file=True),
    "jira.txt": parts(lambda name: f"h3. {name}\n{{code}}", end="{code}\n", by_file=True),
    "columns.log": each(lambda r: f"{r.node:<22}{r.text}"),
    "utf16.log": lambda rows: "".join(f"{r.node} | {r.text}\r\n" for r in rows).encode("utf-16"),
    "must-gather.log": each(lambda r: f"{r.iso('microseconds')}123Z {r.text}"),
    "heading.log": lambda rows: (
        "# logs of cluster A, collected 2026-11-22 10:00 by ops\n\n" + "".join(f"{r.node}: {r.text}\n" for r in rows)
    ),
}
"""Forms in which each line of a record is a line."""
FILES: dict[str, Callable[[Row], str]] = {
    "class-line": lined,
    "must-gather-files": lambda r: f"{r.iso('microseconds')}123Z {r.text}",
    "multilog-files": lambda r: f"{tai(r)} {r.text}",
    "cat-n-files": lambda r: f"{r.number:6}\t{r.text}",
}
"""Forms of one file for each log."""


def made(name: str, form: str, directory: Path) -> None:
    """Writes a recording in a form."""
    if form in EXPORTS:
        write(BUNDLES / f"{name}.tar.gz", directory, form)
        return
    multiline = form not in LINES and form not in {*APART, *INVENTED_APART} and (form not in FILES or form == "class-line")
    rows = arranged(read(BUNDLES / f"{name}.tar.gz"), Form(form, lambda _: iter(()), MICRO, multiline, None), Options())
    if form in FILES:
        found: dict[str, list[Row]] = {}
        for row in rows:
            found.setdefault(f"{row.node}/logs/{row.file}", []).append(row)
        for path, own in found.items():
            (directory / path).parent.mkdir(parents=True, exist_ok=True)
            (directory / path).write_text(str(each(FILES[form])(own)), "utf-8")
        return
    if form in TREES:
        for (node, file), own in by_log(rows).items():
            path, data = TREES[form](node, file, own)
            (directory / path).parent.mkdir(parents=True, exist_ok=True)
            (directory / path).write_bytes(data)
        return
    content = {**MULTI, **LINES, **TOGETHER, **APART, **INVENTED_TOGETHER, **INVENTED_APART}[form](rows)
    (directory / form).write_bytes(content.encode() if isinstance(content, str) else content)


def plain(name: str) -> Judged:
    """The same lines in plain files."""
    lines: dict[str, list[str]] = {}
    for record in read(BUNDLES / f"{name}.tar.gz"):
        lines.setdefault(f"{record.node}/logs/{record.file}", []).extend(record.lines)
    return judged(local.report(local.events_of_files({path: "\n".join(own) + "\n" for path, own in lines.items()})))


def contradictions(part: Judged, whole: Judged, name: str) -> list[str]:
    """What the verdicts on a form say that those on the plain files do not; and what never happened."""
    return [stated for relation, stated in broken(part, whole, truth_of(name)) if relation in (FALSE, SURER, DENIED, CRASH)]


def reasons(report: Report) -> Iterator[str]:
    yield from (f"{s.kind}: {s.problem}" for s in report.cluster.sources if s.problem)
    yield from (words(f).summary for f in report.findings if f.kind in ("evidence-gap", "unrecognised-lines", "evidence-conflict"))
    yield from {p["why"] for p in report.partitions if p["verdict"] == "unknown"}


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("-r", "--recording", action="append")
    options.add_argument("form", nargs="*")
    asked = options.parse_args()
    for name in asked.recording or RECORDINGS:
        whole = plain(name)
        for form in asked.form or [*MULTI, *LINES, *FILES, *EXPORTS, *TOGETHER, *APART, *TREES, *INVENTED_TOGETHER, *INVENTED_APART]:
            with TemporaryDirectory() as directory:
                made(name, form, Path(directory))
                begin = time.process_time()
                events = local.events_of(directory)
                spent = time.process_time() - begin
                size = sum(path.stat().st_size for path in Path(directory).rglob("*") if path.is_file())
                report = local.report(events)
            part = judged(report)
            wrong = contradictions(part, whole, name)
            weaker = [p for p, verdict in whole.verdicts.items() if part.verdicts.get(p) != verdict]
            unread = not part.verdicts
            how = "DIFFERENT" if wrong else "unread" if unread else "weaker" if weaker else "equal"
            print(f"{how:9} {form:32} {name[:20]:20} {size / spent / 1e6:6.2f} MB/s {len(weaker)}/{len(whole.verdicts)} weaker", flush=True)
            for stated in [*wrong[:3], *(list(dict.fromkeys(reasons(report)))[:5] if how != "equal" else [])]:
                print(f"          {stated[:260]}", flush=True)


if __name__ == "__main__":
    main()

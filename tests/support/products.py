"""Forms in which products hand logs over: answers of their APIs, downloads, layouts, and what the tools of operators save.

Here: the forms, each as a function of the rows of a recording, with the names of the products' documentation. Not here: forms of shells,
databases and documents, or how forms are tried (forms).
"""

from __future__ import annotations

import base64
import csv
import gzip
import io
import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from xml.sax.saxutils import escape

import pyarrow as pa
import yaml
import zstandard
from pyarrow import orc, parquet

from fixtures.exports.rows import Row, by_node
from tests.support.writing import Rows, Write, document, each, fields, objects, table


def by_log(rows: Rows) -> Mapping[tuple[str, str], list[Row]]:
    found: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        found.setdefault((row.node, row.file), []).append(row)
    return found


def columns(rows: Rows) -> pa.Table:
    return pa.table(
        {
            "ts": pa.array([row.stamp for row in rows], pa.timestamp("ms")),
            "host": [row.node for row in rows],
            "message": [row.text for row in rows],
        }
    )


def written(write: Callable[[pa.Table, io.BytesIO], Any]) -> Write:
    def make(rows: Rows) -> bytes:
        out = io.BytesIO()
        write(columns(rows), out)
        return out.getvalue()

    return make


def feather(made: pa.Table, out: io.BytesIO) -> None:
    with pa.ipc.new_file(out, made.schema) as writer:
        writer.write_table(made)


def sqlite(rows: Rows) -> bytes:
    with TemporaryDirectory() as directory:
        path = Path(directory, "logs.db")
        with sqlite3.connect(path) as store:
            store.execute("create table logs (ts text, host text, message text)")
            store.executemany("insert into logs values (?, ?, ?)", [(row.iso(), row.node, row.text) for row in rows])
        store.close()
        return path.read_bytes()


def journal_export(rows: Rows) -> bytes:
    def field(name: str, value: str) -> bytes:
        raw = value.encode()
        plain = not any(byte < 32 and byte != 9 for byte in raw)
        return name.encode() + (b"=" + raw if plain else b"\n" + len(raw).to_bytes(8, "little") + raw) + b"\n"

    def entry(row: Row) -> bytes:
        head = {"__CURSOR": f"s=1;i={row.number:x}", "__REALTIME_TIMESTAMP": str(row.microseconds), "_HOSTNAME": row.node}
        return b"".join(field(*one) for one in {**head, "MESSAGE": row.text}.items()) + b"\n"

    return b"".join(map(entry, rows))


def journal(row: Row) -> dict[str, Any]:
    text: Any = row.text if row.number % 7 else [*f"\x1b[32m{row.text}\x1b[0m".encode()]
    return {"__REALTIME_TIMESTAMP": str(row.microseconds), "_HOSTNAME": row.node, "PRIORITY": "6", "MESSAGE": text}


def detailed(row: Row) -> str:
    stamp = f"{row.iso('microseconds', ' ')} +0000 UTC"
    return (
        f"LogRecord #{row.number % 50}\nObservedTimestamp: {stamp}\nTimestamp: {stamp}\nSeverityText: \nSeverityNumber: Unspecified(0)\n"
        f"Body: Str({row.text})\nAttributes:\n     -> host.name: Str({row.node})\nTrace ID: \nSpan ID: \nFlags: 0"
    )


def notebook(rows: Rows) -> Any:
    def cell(node: str, own: Rows) -> dict[str, Any]:
        text = [f"{line}\n" for row in own for line in row.text.split("\n")]
        output = {"name": "stdout", "output_type": "stream", "text": text}
        return {"cell_type": "code", "execution_count": 1, "metadata": {}, "outputs": [output], "source": [f"!cat {node}.log"]}

    return {"cells": [cell(*one) for one in by_node(rows)], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def slack(rows: Rows) -> Any:
    return [
        {"type": "message", "user": "U1", "ts": f"1795250513.{n:06}", "text": f"{node}\n```{escape(chr(10).join(r.text for r in part))}```"}
        for node, own in by_node(rows)
        for n, part in enumerate(own[at : at + 40] for at in range(0, len(own), 40))
    ]


def frames(rows: Rows) -> Any:
    names = [{"name": "labels", "type": "other"}, {"name": "Time", "type": "time"}, {"name": "Line", "type": "string"}]
    values = [[{"pod": row.node} for row in rows], [row.milliseconds for row in rows], [row.text for row in rows]]
    return {"results": {"A": {"status": 200, "frames": [{"schema": {"fields": names}, "data": {"values": values}}]}}}


def pages(make: Callable[[Rows], Any], size: int = 500, **options: Any) -> Write:
    return lambda rows: "".join(json.dumps(make(rows[at : at + size]), **options) + "\n" for at in range(0, len(rows), size))


def hits(rows: Rows) -> dict[str, Any]:
    found = [{"_index": "k", "_id": r.key, "_source": {"@timestamp": f"{r.iso()}Z", "host": r.node, "message": r.text}} for r in rows]
    return {"total": len(rows), "hits": found}


def csv_event(row: Row) -> Sequence[Any]:
    f = fields(row)
    return (
        0,
        row.milliseconds,
        f["level"],
        1,
        "main",
        5,
        f["message"],
        "AbstractLogger",
        f["logger"],
        "",
        f.get("trace", ""),
        "",
        "{}",
        "[]",
    )


def severity(row: Row) -> str:
    return {"WARN": "WARNING", "FATAL": "EMERGENCY"}.get(fields(row)["level"], fields(row)["level"])


def wrapped(row: Row, width: int = 120) -> Iterator[str]:
    for line in row.text.split("\n"):
        yield from (line[at : at + width] for at in range(0, max(len(line), 1), width))


def cloudera(row: Row) -> str:
    f = fields(row)
    first = f"{row.iso(separator=' ').replace('.', ',')} {f['level']} {f['logger']}: {f['message']}"
    return first + (f"\n{f['trace']}" if "trace" in f else "")


TOGETHER: dict[str, Write] = {
    "vector-logfmt.log": each(
        lambda r: f"file={r.path} host={r.node} message={json.dumps(r.text)} source_type=file timestamp={r.iso('microseconds')}Z"
    ),
    "vector-native.ndjson": objects(
        lambda r: {"log": {"file": r.path, "host": r.node, "message": r.text, "source_type": "file", "timestamp": f"{r.iso()}Z"}}
    ),
    "log4j1-jsonevent.ndjson": objects(
        lambda r: {
            "@timestamp": f"{r.iso()}Z",
            "source_host": r.node,
            "file": "Logging.scala",
            "method": "info",
            "level": fields(r)["level"],
            "line_number": "66",
            "thread_name": "main",
            "@version": 1,
            "logger_name": fields(r)["logger"],
            "message": fields(r)["message"],
            "class": "kafka.utils.Logging$class",
            "mdc": {},
            **({"exception": {"stacktrace": fields(r)["trace"]}} if "trace" in fields(r) else {}),
        }
    ),
    "log4j2-gelf.ndjson": objects(
        lambda r: {
            "version": "1.1",
            "host": r.node,
            "short_message": fields(r)["message"],
            **({"full_message": fields(r)["trace"]} if "trace" in fields(r) else {}),
            "timestamp": r.milliseconds / 1000,
            "level": {"ERROR": 3, "FATAL": 2, "WARN": 4, "INFO": 6}.get(fields(r)["level"], 7),
            "_logger": fields(r)["logger"],
            "_thread": "main",
        }
    ),
    "log4j2-gcp.ndjson": objects(
        lambda r: {
            "timestamp": f"{r.iso()}Z",
            "severity": severity(r),
            "message": fields(r)["message"],
            "logging.googleapis.com/insertId": r.key,
            "_exception": {"stackTrace": fields(r).get("trace", "")},
            "_thread": "main",
            "_logger": fields(r)["logger"],
            "pod": r.node,
        }
    ),
    "log4j2-event.csv": table((), csv_event),
    "syslog-ng.ndjson": objects(
        lambda r: {
            "PROGRAM": "kafka",
            "PRIORITY": "info",
            "PID": "812",
            "MESSAGE": r.text,
            "HOST": r.node,
            "FACILITY": "daemon",
            "DATE": f"{r.stamp:%b %d %H:%M:%S}",
        }
    ),
    "rsyslog-elastic.ndjson": objects(
        lambda r: {
            "@timestamp": f"{r.iso('microseconds')}+00:00",
            "host": r.node,
            "severity": "info",
            "facility": "daemon",
            "syslogtag": "kafka:",
            "message": r.text,
        }
    ),
    "otel-debug.txt": each(detailed),
    "insights-results.json": document(
        lambda rows: {
            "results": [
                [
                    {"field": "@timestamp", "value": r.iso(separator=" ")},
                    {"field": "@logStream", "value": r.node},
                    {"field": "@message", "value": r.text},
                    {"field": "@ptr", "value": r.key},
                ]
                for r in rows
            ],
            "statistics": {"recordsMatched": float(len(rows))},
            "status": "Complete",
        },
        indent=4,
    ),
    "filter-log-events.txt": each(lambda r: f"EVENTS\t{r.key[:40]}\t{r.milliseconds + 700}\t{r.node}\t{r.text}\t{r.milliseconds}"),
    "athena.parquet": written(parquet.write_table),
    "athena.orc": written(orc.write_table),
    "feather.arrow": written(feather),
    "az-monitor.json": document(
        lambda rows: [
            {"LogMessage": r.text, "PodName": r.node, "TableName": "PrimaryResult", "TimeGenerated": f"{r.iso()}Z"} for r in rows
        ],
        indent=2,
    ),
    "az-monitor.tsv": each(lambda r: "\t".join((r.text, r.node, "PrimaryResult", f"{r.iso()}Z"))),
    "PT1H.json": objects(
        lambda r: {
            "time": f"{r.iso('microseconds')}0Z",
            "resourceId": "/SUBSCRIPTIONS/1/RESOURCEGROUPS/K",
            "category": "ContainerLogV2",
            "properties": {"ContainerName": "kafka", "LogMessage": r.text, "PodName": r.node, "LogSource": "stdout"},
        }
    ),
    "gcloud.csv": table(("timestamp", "pod_name", "text_payload"), lambda r: (f"{r.iso()}Z", r.node, r.text)),
    "gcp-explorer.csv": table(
        ("insertId", "logName", "receiveTimestamp", "resource.labels.pod_name", "resource.type", "severity", "textPayload", "timestamp"),
        lambda r: (r.key, "projects/p/logs/stdout", f"{r.iso()}Z", r.node, "k8s_container", "INFO", r.text, f"{r.iso()}Z"),
    ),
    "bigquery.ndjson": objects(
        lambda r: {
            "logName": "projects/p/logs/stdout",
            "resource": {"type": "k8s_container", "labels": {"pod_name": r.node}},
            "textPayload": r.text,
            "timestamp": f"{r.iso(separator=' ')} UTC",
            "severity": "INFO",
        }
    ),
    "datadog-archive.json.gz": lambda rows: gzip.compress(
        str(
            objects(
                lambda r: {
                    "_id": r.key,
                    "date": f"{r.iso()}Z",
                    "service": "kafka",
                    "host": r.node,
                    "source": "kafka",
                    "status": "info",
                    "attributes": {"level": "info"},
                    "message": r.text,
                    "tags": ["env:prod", f"filename:{r.file}"],
                }
            )(rows)
        ).encode()
    ),
    "sumo.csv": table(
        ("_messageid", "_sourcename", "_sourcehost", "_sourcecategory", "_messagetime", "_receipttime", "_raw"),
        lambda r: (r.number, r.path, r.node, "kafka", r.milliseconds, r.milliseconds, r.text),
        quoting=csv.QUOTE_ALL,
    ),
    "sumo.json": document(
        lambda rows: {
            "fields": [{"name": "_raw", "fieldType": "string", "keyField": False}],
            "messages": [
                {
                    "map": {
                        "_blockid": "1",
                        "_messagetime": str(r.milliseconds),
                        "_raw": r.text,
                        "_sourcehost": r.node,
                        "_sourcename": r.path,
                    }
                }
                for r in rows
            ],
        }
    ),
    "logscale.ndjson": objects(
        lambda r: {
            "@timestamp": r.milliseconds,
            "@rawstring": r.text,
            "@id": r.key,
            "#repo": "kafka",
            "#type": "kafka",
            "@host": r.node,
            "@timezone": "Z",
        }
    ),
    "papertrail.tsv": each(
        lambda r: "\t".join(
            (str(r.number), f"{r.iso('seconds')}Z", f"{r.iso('seconds')}Z", "77", r.node, "10.0.0.1", "Daemon", "Info", "kafka", r.text)
        )
    ),
    "logzio-scroll.json": pages(lambda rows: {"code": 200, "scrollId": "c2Nyb2xs", "hits": json.dumps(hits(rows))}),
    "opensearch-scroll.json": pages(lambda rows: {"_scroll_id": "c2Nyb2xs", "took": 3, "timed_out": False, "hits": hits(rows)}),
    "opensearch-scroll-pretty.json": pages(lambda rows: {"_scroll_id": "c2Nyb2xs", "took": 3, "hits": hits(rows)}, indent=2),
    "elastic-sql.json": document(
        lambda rows: {
            "columns": [{"name": n, "type": "text"} for n in ("@timestamp", "host.name", "message")],
            "rows": [[f"{r.iso()}Z", r.node, r.text] for r in rows],
            "cursor": "x",
        }
    ),
    "splunk-rows.json": document(
        lambda rows: {"preview": False, "fields": ["_time", "host", "_raw"], "rows": [[f"{r.iso()}+00:00", r.node, r.text] for r in rows]}
    ),
    "splunk-cols.json": document(
        lambda rows: {
            "preview": False,
            "fields": ["_time", "host", "_raw"],
            "columns": [[f"{r.iso()}+00:00" for r in rows], [r.node for r in rows], [r.text for r in rows]],
        }
    ),
    "splunk-results.json": document(
        lambda rows: {
            "preview": False,
            "init_offset": 0,
            "messages": [],
            "fields": [{"name": "_raw"}, {"name": "_time"}],
            "results": [{"_raw": r.text, "_time": f"{r.iso()}+00:00", "host": r.node, "source": r.path} for r in rows],
        }
    ),
    "ambari-solr.json": document(
        lambda rows: {
            "responseHeader": {"status": 0},
            "response": {
                "numFound": len(rows),
                "docs": [
                    {
                        "cluster": "c",
                        "host": r.node,
                        "type": "kafka_server",
                        "path": r.path,
                        "level": fields(r)["level"],
                        "logtime": f"{r.iso()}Z",
                        "log_message": fields(r)["message"],
                        "logger_name": fields(r)["logger"],
                    }
                    for r in rows
                ],
            },
        },
        indent=2,
    ),
    "journal.export": journal_export,
    "journal-arrays.ndjson": objects(journal),
    "journal-pretty.json": lambda rows: "".join(json.dumps(journal(row), indent="\t") + "\n" for row in rows),
    "notebook.ipynb": document(notebook, indent=1),
    "slack.json": document(slack),
    "kafka-rest.ndjson": objects(
        lambda r: {"topic": "logs", "key": r.node, "value": base64.b64encode(r.text.encode()).decode(), "partition": 0, "offset": r.number}
    ),
    "grafana-download.json": document(
        lambda rows: [
            {"line": r.text, "timestamp": str(r.microseconds * 1000), "date": f"{r.iso()}Z", "fields": {"pod": r.node, "filename": r.path}}
            for r in rows
        ]
    ),
    "grafana-frames.json": document(frames),
    "openobserve.json": document(
        lambda rows: {
            "took": 4,
            "hits": [
                {"_timestamp": r.microseconds, "kubernetes_pod_name": r.node, "kubernetes_container": "kafka", "log": r.text} for r in rows
            ],
        }
    ),
    "signoz.json": document(
        lambda rows: {
            "status": "success",
            "data": {
                "result": [
                    {
                        "queryName": "A",
                        "list": [
                            {
                                "timestamp": f"{r.iso()}Z",
                                "data": {"body": r.text, "resources_string": {"k8s.pod.name": r.node}, "id": r.key},
                            }
                            for r in rows
                        ],
                    }
                ]
            },
        }
    ),
    "mezmo.ndjson": objects(
        lambda r: {"_account": "a", "_host": r.node, "_file": r.path, "_line": r.text, "_ts": r.milliseconds, "_app": "kafka"}
    ),
    "loggly.json": document(
        lambda rows: {
            "total_events": len(rows),
            "page": 0,
            "events": [
                {"id": r.key, "timestamp": r.milliseconds, "logtypes": ["syslog"], "logmsg": r.text, "event": {"syslog": {"host": r.node}}}
                for r in rows
            ],
        }
    ),
    "coralogix.ndjson": objects(
        lambda r: {
            "metadata": [{"key": "timestamp", "value": f"{r.iso()}"}, {"key": "severity", "value": "Info"}],
            "labels": [{"key": "applicationname", "value": "kafka"}, {"key": "subsystemname", "value": r.node}],
            "userData": json.dumps({"text": r.text}),
        }
    ),
    "dynatrace.json": document(
        lambda rows: {
            "records": [
                {"timestamp": f"{r.iso()}000000Z", "content": r.text, "loglevel": "INFO", "status": "INFO", "k8s.pod.name": r.node}
                for r in rows
            ],
            "types": [{"indexRange": [0, len(rows)], "mappings": {"content": {"type": "string"}}}],
        }
    ),
    "oci-logging.json": document(
        lambda rows: {
            "data": {
                "results": [
                    {
                        "data": {
                            "datetime": r.milliseconds,
                            "logContent": {"data": {"message": r.text}, "source": r.node, "time": f"{r.iso()}Z", "type": "com.oracle"},
                        }
                    }
                    for r in rows
                ]
            }
        }
    ),
    "alibaba-sls.ndjson": objects(
        lambda r: {
            "__source__": "10.0.0.1",
            "__time__": str(r.milliseconds // 1000),
            "__tag__:__hostname__": r.node,
            "__tag__:__path__": r.path,
            "content": r.text,
        }
    ),
    "tencent-cls.json": document(
        lambda rows: {
            "Response": {
                "Results": [
                    {"Time": r.milliseconds, "HostName": r.node, "FileName": r.path, "LogJson": json.dumps({"__CONTENT__": r.text})}
                    for r in rows
                ]
            }
        }
    ),
    "aiven.json": document(
        lambda rows: [{"hostname": r.node, "msg": r.text, "time": f"{r.iso()}Z", "unit": "kafka.service"} for r in rows], indent=4
    ),
    "logs.db": sqlite,
    "unicode.txt": lambda rows: str(table(("Time", "Host", "Message"), lambda r: (r.iso(), r.node, r.text), delimiter="\t")(rows)).encode(
        "utf-16"
    ),
    "gelf-tcp.bin": lambda rows: "".join(
        json.dumps({"version": "1.1", "host": r.node, "timestamp": r.milliseconds / 1000, "short_message": r.text}) + "\0" for r in rows
    ),
    "log4j2.yaml": lambda rows: "".join(
        "---\n"
        + yaml.safe_dump(
            {
                "instant": {"epochSecond": r.microseconds // 10**6, "nanoOfSecond": r.microseconds % 10**6 * 1000},
                "thread": "main",
                "level": fields(r)["level"],
                "loggerName": fields(r)["logger"],
                "message": fields(r)["message"],
                "hostName": r.node,
            }
        )
        for r in rows
    ),
    "results.har": document(
        lambda rows: {
            "log": {
                "version": "1.2",
                "entries": [{"request": {"url": "/_search"}, "response": {"content": {"text": json.dumps({"hits": hits(rows)})}}}],
            }
        }
    ),
}
"""Forms in which a record of several lines stays together."""

APART: dict[str, Write] = {
    "rfc5424-sd.log": each(
        lambda r: f'<134>1 {r.iso()}Z {r.node} kafka 812 ID47 [ex@32473 iut="3" src="App \\"x\\" \\]"][o@1 a="b"] \ufeff{r.text}'
    ),
    "get-log-events.txt": each(lambda r: f"EVENTS\t{r.milliseconds + 700}\t{r.text}\t{r.milliseconds}"),
    "aws-tail-short.txt": each(lambda r: f"{r.iso('seconds')} {r.text}"),
    "kubetail.log": each(lambda r: f"\x1b[36m[{r.node} kafka]\x1b[0m {r.text}"),
    "stern-short-times.log": each(lambda r: f"{r.node} kafka {r.stamp:%m-%d %H:%M:%S} {r.text}"),
    "podman-times.log": each(lambda r: f"{r.node} {r.iso('microseconds')}000+00:00 {r.text}"),
    "docker-service-times.log": each(lambda r: f"{r.iso('microseconds')}000Z kafka_{r.node}.1.x8gz@worker-1    | {r.text}"),
    "github-actions.txt": each(lambda r: f"{r.node}\tUNKNOWN STEP\t{r.iso('microseconds')}0Z {r.text}"),
    "testcontainers.log": each(
        lambda r: f"{r.stamp:%H:%M:%S}.{r.milliseconds % 1000:03} [docker-java-stream] INFO  tc.{r.node} -- STDOUT: {r.text}"
    ),
    "bat.txt": lambda rows: "───────┬──────\n" + "".join(f"{n:4}   │ {r.node}: {r.text}\n" for n, r in enumerate(rows, 1)),
    "ripgrep-heading.txt": lambda rows: "\n".join(
        f"{node}/logs/{file}\n" + "".join(f"{n}:{line}\n" for n, line in enumerate((x for r in own for x in r.text.split("\n")), 1))
        for (node, file), own in by_log(rows).items()
    ),
    "git.diff": lambda rows: "".join(
        f"diff --git a/{node}/logs/{file} b/{node}/logs/{file}\nnew file mode 100644\n--- /dev/null\n+++ b/{node}/logs/{file}\n@@ -0,0 +1 @@\n"
        + "".join(f"+{line}\n" for r in own for line in r.text.split("\n"))
        for (node, file), own in by_log(rows).items()
    ),
    "cast.json": lambda rows: (
        '{"version": 2, "width": 200, "height": 50}\n'
        + "".join(json.dumps([r.number / 10, "o", f"{r.node} | {r.text}\r\n"]) + "\n" for r in rows)
    ),
    "splunk-raw.txt": each(lambda r: r.text),
}
"""Forms in which each line of a record is a line."""


def _zst(parts: Sequence[str]) -> bytes:
    return b"".join(zstandard.compress(part.encode()) for part in parts)


def text_of(own: Rows, line: Callable[[Row], str]) -> str:
    return "".join(f"{line(row)}\n" for row in own)


def lines_of(own: Rows, line: Callable[[str, Row], str]) -> str:
    return "".join(f"{line(text, row)}\n" for row in own for text in row.text.split("\n"))


Tree = Callable[[str, str, Rows], tuple[str, bytes]]
TREES: dict[str, Tree] = {
    "ecs-layout": lambda node, file, own: (
        f"{node}/{file}.json",
        text_of(
            own,
            lambda r: json.dumps(
                {
                    "@timestamp": f"{r.iso()}Z",
                    "log.level": fields(r)["level"],
                    "message": fields(r)["message"],
                    "ecs.version": "1.2.0",
                    "service.name": "kafka",
                    "event.dataset": "kafka",
                    "process.thread.name": "main",
                    "log.logger": fields(r)["logger"],
                    **({"error.stack_trace": fields(r)["trace"]} if "trace" in fields(r) else {}),
                }
            ),
        ).encode(),
    ),
    "must-gather-tree": lambda node, file, own: (
        f"must-gather.local.1/quay-io-x/namespaces/kafka/pods/{node}/{file}/{file}/logs/current.log",
        lines_of(own, lambda text, r: f"{r.iso('microseconds')}000Z {text}").encode(),
    ),
    "sosreport": lambda node, file, own: (
        f"sosreport-{node}-2026-11-22-abcdef/var/log/kafka/{file}",
        text_of(own, lambda r: r.text).encode(),
    ),
    "strimzi-report": lambda node, file, own: (f"reports/logs/{node}-{file}", text_of(own, lambda r: r.text).encode()),
    "ansible-fetch": lambda node, file, own: (f"fetched/{node}/var/log/kafka/{file}", text_of(own, lambda r: r.text).encode()),
    "cloudera": lambda node, file, own: (f"{node}/kafka-broker-{node}-{file}", text_of(own, cloudera).encode()),
    "zst-frames": lambda node, file, own: (
        f"{node}/logs/{file}.zst",
        _zst([text_of(own[at : at + 200], lambda r: r.text) for at in range(0, len(own), 200)]),
    ),
    "jenkins-timestamps": lambda node, file, own: (
        f"{node}/logs/{file}",
        lines_of(own, lambda text, r: f"[{r.iso()}Z] {text}").encode(),
    ),
    "gitlab-trace": lambda node, file, own: (
        f"{node}/logs/{file}",
        lines_of(own, lambda text, r: f"{r.iso('microseconds')}Z 00O {text}").encode(),
    ),
    "log4j2-rfc5424": lambda node, file, own: (
        f"{node}/logs/{file}",
        text_of(own, lambda r: f"<134>1 {r.iso()}Z {node} kafka 812 - - {fields(r)['message']}").encode(),
    ),
    "wrapped-at-120": lambda node, file, own: (
        f"{node}/logs/{file}",
        "".join(f"{line}\n" for row in own for line in wrapped(row)).encode(),
    ),
    "get-log-events": lambda node, file, own: (
        f"{node}/{file}.json",
        json.dumps(
            {
                "events": [{"timestamp": r.milliseconds, "message": r.text, "ingestionTime": r.milliseconds + 700} for r in own],
                "nextForwardToken": "f/1",
                "nextBackwardToken": "b/1",
            },
            indent=4,
        ).encode(),
    ),
    "lens": lambda node, file, own: (
        f"{node}_{file}-2026-11-22.log",
        lines_of(own, lambda text, r: f"{r.iso()}Z {text}").encode(),
    ),
}
"""Forms of one file for each log."""

"""The forms in which tools, documents and databases hand logs over: read like plain files, or said to be unread, and never different."""

from __future__ import annotations

from functools import cache
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from forensics.commands.inspect import _parts
from forensics.views.document import Report
from tests.support import forms, local
from tests.support.taken import Judged, judged

NAME = forms.RECORDINGS[0]
EQUAL = (
    "table.html",
    "pre.html",
    "fences.md",
    "attached.eml",
    "body.eml",
    "box.mbox",
    "known-text-odd-rest.ndjson",
    "multilog.log",
    "cat-n.txt",
    "aws-tail.txt",
    "list.yaml",
    "sep.csv",
    "ansible.txt",
    "class-line.log",
    "fluentd.log",
    "json-in-json-in-string.ndjson",
    "logzio-scroll.json",
    "splunk-rows.json",
    "kafka-rest.ndjson",
    "notebook.ipynb",
    "papertrail.tsv",
    "az-monitor.tsv",
    "vector-native.ndjson",
    "gelf-tcp.bin",
    "log4j2-event.csv",
    "journal-verbose.log",
    "journal-arrays.ndjson",
    "logfmt-odd.log",
    "stern-short-times.log",
    "testcontainers.log",
    "git.diff",
    "script.txt",
    "log4j2-rfc5424",
    "log4j1.xml",
    "splunk.xml",
    "wrapped-at-120",
    "fields-de.csv",
    "fields-us.csv",
    "caret.csv",
    "columns.json",
    "salt.json",
    "for.xml",
    "psql-expanded.txt",
    "ripgrep.ndjson",
    "grep-context.txt",
    "slog.txt",
    "confluence.xml",
    "details.md",
    "prompts.txt",
    "loop.txt",
    "utf16-without-mark.log",
    "returns.log",
)


@cache
def plain() -> Judged:
    return forms.plain(NAME)


def reported(form: str, directory: Path) -> Report:
    forms.made(NAME, form, directory)
    return local.report(local.events_of(directory))


@pytest.mark.parametrize("form", EQUAL)
def test_a_form_gives_the_verdicts_of_plain_files(form: str, tmp_path: Path) -> None:
    part = judged(reported(form, tmp_path))
    assert forms.contradictions(part, plain(), NAME) == []
    assert part.verdicts == plain().verdicts


@pytest.mark.parametrize(
    ("form", "advice"),
    [
        ("sheet.xlsx", "save its sheets as CSV"),
        ("mysqldump.sql", "export the table as CSV"),
        ("rubydebug.txt", "json_lines"),
        ("python.txt", "json.dumps"),
        ("mysql.txt", "mysql --batch"),
        ("logs.db", "as JSON or CSV"),
        ("grafana-frames.json", "as JSON or CSV"),
        ("results.har", "save the answer"),
        ("base64.txt", "decode it with base64 -d"),
        ("xxd.txt", "xxd -r"),
    ],
)
def test_what_is_not_read_says_what_it_is_and_what_to_hand_over(form: str, advice: str, tmp_path: Path) -> None:
    report = reported(form, tmp_path)
    assert [p["verdict"] for p in report.partitions if p["verdict"] != "unknown"] == []
    (problem,) = (s.problem for s in report.cluster.sources)
    assert advice in (problem or "")


@pytest.mark.parametrize(
    ("form", "shown", "wanted"),
    [
        ("splunk-raw.txt", "nodes 1, 2, 3 and 100 by what their own lines contain", True),
        ("filter-log-events.txt", "its lines name broker-1 (node 1), broker-2 (node 2), broker-3 (node 3)", False),
        ("psql-expanded.txt", "its lines name its first host (node 100), broker-1 (node 1)", False),
        ("class-line.log", "layout [%d{ISO8601}] %-5p %m (%t)%n", True),
    ],
)
def test_inspect_shows_what_names_the_nodes_of_a_log_and_asks_for_names_only_without(
    form: str, shown: str, wanted: bool, tmp_path: Path
) -> None:
    console = Console(width=1000, file=StringIO(), highlight=False)
    for part in _parts(reported(form, tmp_path)):
        console.print(part)
    assert isinstance(console.file, StringIO)
    text = console.file.getvalue()
    (line,) = [line for line in text.split("\nLogs\n")[1].splitlines() if line.startswith(f"  {form}:")]
    assert "100% understood" in line and shown in line
    assert ("a field that names the node of each line" in text) == wanted
    assert "state-change.log of every broker" not in text and "  server.properties" not in text

"""The forms in which tools, documents and databases hand logs over: read like plain files, or said to be unread, and never different."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

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
    "logfmt-odd.log",
    "stern-short-times.log",
    "testcontainers.log",
    "git.diff",
    "script.txt",
    "log4j2-rfc5424",
    "log4j1.xml",
    "splunk.xml",
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
    ],
)
def test_what_is_not_read_says_what_it_is_and_what_to_hand_over(form: str, advice: str, tmp_path: Path) -> None:
    report = reported(form, tmp_path)
    assert [p["verdict"] for p in report.partitions if p["verdict"] != "unknown"] == []
    (problem,) = (s.problem for s in report.cluster.sources)
    assert advice in (problem or "")


def test_lines_that_a_terminal_wrapped_are_reported_as_cut(tmp_path: Path) -> None:
    report = reported("wrapped-at-120", tmp_path)
    assert forms.contradictions(judged(report), plain(), NAME) == []
    assert {s.cut_at for s in report.cluster.sources if s.path.endswith("server.log")} == {120}

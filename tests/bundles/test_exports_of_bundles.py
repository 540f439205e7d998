"""Exports of log stores made from recordings: the verdicts are those of the same lines in plain files, or weaker, never different."""

from __future__ import annotations

import csv
import io
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from fixtures.exports import FORMS, write
from forensics.words import words
from parsers.containers.names import clean
from tests.support import local
from tests.support.paths import BUNDLES, truth_of
from tests.support.taken import CRASH, DENIED, FALSE, SURER, Judged, broken, judged

NAMES = ("unclean-election-2.8.2-zk", "unclean-election-3.9.1-kraft")
RAW = {"loki-raw"}
"""Forms that do not name the broker of a line."""
SHORT = ("acks1-failover-3.9.1-kraft", "unclean-election-1.0.2-zk", "zombie-leader-2.8.2-zk", "clean-failover-3.9.1-kraft")
"""Bundles with few lines, for the forms of exports: what a form is like does not depend on how much was exported."""
WAYS = [
    (form, FORMS[form].newest_first is not None and number // len(SHORT) % 2 == 1, SHORT[number % len(SHORT)])
    for number, form in enumerate(FORMS)
]
ALTERED: list[tuple[str, dict[str, Any]]] = [
    ("kibana-csv", {"limit": 1500}),
    ("elasticdump-ndjson", {"duplicates": 0.2}),
    ("loki-jsonl", {"shuffle_ties": True}),
    ("cloudwatch-insights-csv", {"shuffle_ties": True, "newest_first": True}),
    ("datadog-csv", {"cut": 200}),
    ("splunk-csv", {"level": "WARN"}),
    ("azure-csv", {"stdout": True, "hosts": True}),
]


@cache
def plain(name: str) -> Judged:
    """The same lines in plain files."""
    files = _plain_files(name)
    return judged(local.report(local.events_of_files(files)))


def _plain_files(name: str) -> dict[str, str]:
    from fixtures.exports.rows import read

    lines: dict[str, list[str]] = {}
    for record in read(BUNDLES / f"{name}.tar.gz"):
        lines.setdefault(clean(f"{record.node}/logs/{record.file}"), []).extend(record.lines)
    return {path: "\n".join(own) + "\n" for path, own in lines.items()}


def exported(name: str, directory: Path, form: str, **options: Any) -> Judged:
    write(BUNDLES / f"{name}.tar.gz", directory, form, **options)
    return judged(local.report(local.events_of(directory)))


def contradictions(part: Judged, name: str) -> list[str]:
    """What the verdicts on an export say that those on the plain files do not; and what never happened."""
    found = broken(part, plain(name), truth_of(name))
    return [words for relation, words in found if relation in (FALSE, SURER, DENIED, CRASH)]


@pytest.mark.parametrize(("form", "newest_first", "name"), WAYS)
def test_an_export_gives_the_same_verdicts_or_weaker_ones(form: str, newest_first: bool, name: str, tmp_path: Path) -> None:
    part = exported(name, tmp_path, form, newest_first=newest_first)
    assert contradictions(part, name) == []
    if form not in RAW:
        assert part.verdicts.keys() == plain(name).verdicts.keys(), "every partition is in the export"


@pytest.mark.parametrize(
    ("form", "options", "name"), [(*way, NAMES[n % 2]) for n, way in enumerate(ALTERED)], ids=[form for form, _ in ALTERED]
)
def test_what_an_export_leaves_out_makes_nothing_surer(form: str, options: dict[str, Any], name: str, tmp_path: Path) -> None:
    assert contradictions(exported(name, tmp_path, form, **options), name) == []


def other_names(value: Any) -> Any:
    """A JSON value whose fields have names that nobody knows."""
    if isinstance(value, dict):
        return {other_name(name): other_names(inner) for name, inner in value.items()}
    return [other_names(inner) for inner in value] if isinstance(value, list) else value


def other_name(name: str) -> str:
    return "x" + "".join(chr(ord("a") + 7 * ord(c) % 26) for c in name)


def rename_fields(file: Path) -> None:
    text = file.read_text("utf-8")
    if file.suffix == ".csv":
        header, *rows = csv.reader(io.StringIO(text))
        with file.open("w", encoding="utf-8", newline="") as out:
            csv.writer(out).writerows([list(map(other_name, header)), *rows])
        return
    try:
        documents = [json.loads(text)]
    except ValueError:
        documents = [json.loads(line) for line in text.splitlines()]
    file.write_text("".join(json.dumps(other_names(document)) + "\n" for document in documents), "utf-8")


RENAMED = ("kibana-csv", "splunk-csv", "elasticsearch-json", "elasticdump-ndjson", "loki-jsonl", "datadog-json", "filebeat-kafka-csv")


@pytest.mark.parametrize(("form", "name"), [(form, NAMES[n % 2]) for n, form in enumerate(RENAMED)])
def test_an_export_with_unknown_names_is_read_by_its_content(form: str, name: str, tmp_path: Path) -> None:
    for file in write(BUNDLES / f"{name}.tar.gz", tmp_path, form):
        rename_fields(file)
    part = judged(local.report(local.events_of(tmp_path)))
    assert contradictions(part, name) == []
    assert part.verdicts.keys() == plain(name).verdicts.keys()


def test_a_table_without_a_header_is_read_by_its_content(tmp_path: Path) -> None:
    (made,) = write(BUNDLES / f"{NAMES[1]}.tar.gz", tmp_path, "kibana-csv")
    _, *rows = csv.reader(io.StringIO(made.read_text("utf-8")))
    with made.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out, delimiter="\t").writerows(rows)
    part = judged(local.report(local.events_of(tmp_path)))
    assert contradictions(part, NAMES[1]) == [] and part.verdicts == plain(NAMES[1]).verdicts


def test_a_table_in_utf_16_gives_the_same(tmp_path: Path) -> None:
    (made,) = write(BUNDLES / f"{NAMES[1]}.tar.gz", tmp_path, "kibana-csv")
    before = judged(local.report(local.events_of(tmp_path)))
    made.write_text(made.read_text("utf-8"), "utf-16")
    assert judged(local.report(local.events_of(tmp_path))).verdicts == before.verdicts


@pytest.mark.parametrize(("limit", "reported"), [(1000, True), (1001, False)])
def test_an_export_that_ends_at_a_limit_of_rows_is_reported(limit: int, reported: bool, tmp_path: Path) -> None:
    write(BUNDLES / f"{NAMES[1]}.tar.gz", tmp_path, "kibana-csv", limit=limit)
    gaps = [words(f).summary for f in local.report(local.events_of(tmp_path)).findings if f.kind == "evidence-gap"]
    assert any("has exactly 1,000 rows" in summary for summary in gaps) is reported


def pages(directory: Path, size: int, newest_first: bool) -> list[Path]:
    """The files of an export that was fetched page by page."""
    (made,) = write(BUNDLES / f"{NAMES[1]}.tar.gz", directory, "kibana-csv", newest_first=newest_first)
    header, *rows = csv.reader(io.StringIO(made.read_text("utf-8")))
    made.unlink()
    files = []
    for number, begin in enumerate(range(0, len(rows), size)):
        files.append(directory / f"page-{number:03}.csv")
        with files[-1].open("w", encoding="utf-8", newline="") as out:
            csv.writer(out).writerows([header, *rows[begin : begin + size]])
    return files


@pytest.mark.parametrize(("size", "newest_first"), [(700, True), (1000, True), (1000, False)])
def test_pages_of_an_export_give_the_verdicts_of_the_whole(size: int, newest_first: bool, tmp_path: Path) -> None:
    pages(tmp_path, size, newest_first)
    report = local.report(local.events_of(tmp_path))
    assert judged(report).verdicts == plain(NAMES[1]).verdicts
    assert [
        words(f).summary
        for f in report.findings
        if f.kind == "evidence-gap" and ("steps back" in words(f).summary or "exactly" in words(f).summary)
    ] == []


@pytest.mark.parametrize("newest_first", [False, True])
def test_a_page_that_is_missing_is_reported(newest_first: bool, tmp_path: Path) -> None:
    first, missing, *_ = pages(tmp_path, 1000, newest_first)
    missing.unlink()
    assert [gap.partition(":")[0] for gap in gaps(tmp_path) if "exactly" in gap] == [f"{first.name} has exactly 1,000 rows"]


def gaps(directory: Path) -> list[str]:
    return [words(f).summary for f in local.report(local.events_of(directory)).findings if f.kind == "evidence-gap"]


SUPPRESSED = {"__REALTIME_TIMESTAMP": "1795225000000000", "_HOSTNAME": "broker-1", "MESSAGE": "Suppressed 1523 messages from kafka.service"}


@pytest.mark.parametrize(
    ("form", "keep", "reason"),
    [
        ("elasticdump-ndjson", r"orders", "contains 'orders': its lines were filtered by this word"),
        ("elasticdump-ndjson", r"\] (?:WARN|ERROR)", "has no line of level INFO: its lines were filtered by level"),
        ("journald-json", r"", "a rate limit dropped 1,523 messages or more"),
    ],
)
def test_lines_that_a_query_or_a_rate_limit_left_out_are_reported(form: str, keep: str, reason: str, tmp_path: Path) -> None:
    (made,) = write(BUNDLES / f"{NAMES[1]}.tar.gz", tmp_path, form)
    lines = [line for line in made.read_text("utf-8").splitlines() if re.search(keep, line)]
    made.write_text("\n".join([*lines, *([] if keep else [json.dumps(SUPPRESSED)])]) + "\n", "utf-8")
    assert any(reason in gap for gap in gaps(tmp_path))
    assert contradictions(judged(local.report(local.events_of(tmp_path))), NAMES[1]) == []


def test_a_complete_export_has_no_such_gap(tmp_path: Path) -> None:
    write(BUNDLES / f"{NAMES[1]}.tar.gz", tmp_path, "elasticdump-ndjson")
    assert [gap for gap in gaps(tmp_path) if "filtered" in gap or "rate limit" in gap] == []


@pytest.mark.parametrize("form", ["elasticdump-ndjson", "kibana-csv", "loki-jsonl"])
def test_rows_that_were_delivered_twice_are_read_once(form: str, tmp_path: Path) -> None:
    once, twice = tmp_path / "once", tmp_path / "twice"
    for directory, share in ((once, 0.0), (twice, 0.2)):
        write(BUNDLES / f"{NAMES[1]}.tar.gz", directory, form, duplicates=share)
    reports = [local.report(local.events_of(directory)) for directory in (once, twice)]
    assert judged(reports[0]).verdicts == judged(reports[1]).verdicts
    assert [sum(s.repeated for s in report.cluster.sources) > 100 for report in reports] == [False, True]


@pytest.mark.parametrize("form", ["pdsh", "docker-service", "grafana-csv", "graylog-csv"])
def test_lines_of_each_host_are_its_brokers(form: str, tmp_path: Path) -> None:
    write(BUNDLES / f"{SHORT[3]}.tar.gz", tmp_path, form)
    sources = local.report(local.events_of(tmp_path)).document()["evidence"]["sources"]
    brokers = {s["path"]: s["broker"] for s in sources if "#" in s["path"]}
    assert len(brokers) >= 3
    assert all(re.search(rf"(?:broker|controller)-{broker}\b", path) for path, broker in brokers.items())


def test_lines_without_an_id_are_not_those_of_the_broker_named_before(tmp_path: Path) -> None:
    """In 0.10, a truncation does not name its broker; the host before the line does."""
    name = "unclean-election-0.10.2.2-zk"
    part = exported(name, tmp_path, "pdsh")
    assert contradictions(part, name) == [] and part.verdicts == plain(name).verdicts


@pytest.mark.parametrize("newest_first", [False, True])
def test_the_direction_of_an_export_is_in_the_report(newest_first: bool, tmp_path: Path) -> None:
    write(BUNDLES / f"{NAMES[1]}.tar.gz", tmp_path, "kibana-csv", newest_first=newest_first)
    document = local.report(local.events_of(tmp_path)).document()
    logs = [s for s in document["evidence"]["sources"] if s["kind"] == "server-log"]
    assert {s["newest_first"] for s in logs if s["broker"] != 100} == {newest_first}
    assert all(s["first"] <= s["last"] for s in logs)

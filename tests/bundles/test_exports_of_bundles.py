"""Exports of log stores made from recordings: the verdicts are those of the same lines in plain files, or weaker, never different."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from fixtures.exports import FORMS, write
from parsers.containers.names import clean
from tests.support import local
from tests.support.paths import BUNDLES, truth_of
from tests.support.taken import CRASH, DENIED, FALSE, SURER, Judged, broken, judged

NAMES = ("unclean-election-2.8.2-zk", "unclean-election-3.9.1-kraft", "unclean-election-4.3.0-kraft", "clean-failover-3.9.1-kraft")
RAW = {"loki-raw"}
"""Forms that do not name the broker of a line."""
WAYS = [
    (form, newest_first, NAMES[(number + newest_first) % len(NAMES)])
    for number, form in enumerate(FORMS)
    for newest_first in (False, True)
    if not newest_first or FORMS[form].newest_first is not None
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


@pytest.mark.parametrize("name", NAMES[:2])
@pytest.mark.parametrize(("form", "options"), ALTERED, ids=[form for form, _ in ALTERED])
def test_what_an_export_leaves_out_makes_nothing_surer(form: str, options: dict[str, Any], name: str, tmp_path: Path) -> None:
    assert contradictions(exported(name, tmp_path, form, **options), name) == []


@pytest.mark.parametrize(("limit", "reported"), [(1000, True), (1001, False)])
def test_an_export_that_ends_at_a_limit_of_rows_is_reported(limit: int, reported: bool, tmp_path: Path) -> None:
    write(BUNDLES / f"{NAMES[1]}.tar.gz", tmp_path, "kibana-csv", limit=limit)
    gaps = [f.summary for f in local.report(local.events_of(tmp_path)).findings if f.kind == "evidence-gap"]
    assert any("has exactly 1,000 rows" in summary for summary in gaps) is reported


@pytest.mark.parametrize("newest_first", [False, True])
def test_the_direction_of_an_export_is_in_the_report(newest_first: bool, tmp_path: Path) -> None:
    write(BUNDLES / f"{NAMES[1]}.tar.gz", tmp_path, "kibana-csv", newest_first=newest_first)
    document = local.report(local.events_of(tmp_path)).document()
    logs = [s for s in document["evidence"]["sources"] if s["kind"] == "server-log"]
    assert {s["newest_first"] for s in logs if s["broker"] != 100} == {newest_first}
    assert all(s["first"] <= s["last"] for s in logs)

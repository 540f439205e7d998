"""The page says what the JSON report says, obeys nothing that a log holds, loads nothing, and is the same for the same evidence."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.cli import cli
from forensics.commands.inputs import CaseInput
from forensics.model.findings import Evidence
from forensics.output.display_times import DisplayZone
from forensics.views.document import Report
from forensics.views.html.drawing import window
from forensics.views.html.page import environment, page
from forensics.views.html.safe import block, visible
from tests.forensics.fleets import Fleet
from tests.forensics.staged import START, Story
from tests.forensics.views.pages import Parsed, found, of_files
from tests.support import recorded

BUNDLE = "mixed-fleet-3.5.2-zk"
"""51 partitions: two of them lost records, of two nobody knows."""
LARGEST = 1_500_000


@pytest.fixture(scope="module")
def of_page(tmp_path_factory: pytest.TempPathFactory) -> tuple[Report, CaseInput, str]:
    directory = tmp_path_factory.mktemp("page") / "a.case"
    report, case = found(directory, recorded.events(BUNDLE))
    return report, case, page(report, case)


def data(parsed: Parsed) -> Mapping[str, Any]:
    return json.loads(parsed.blocks["script:data"])  # type: ignore[no-any-return]


def words(text: str) -> str:
    return " ".join(text.split())


def timeless(text: str) -> str:
    """Its words without times, which a page shows without the date of its day and in its zone."""
    return re.sub(
        r"\b(at|(between|from) TIME (and|to)) TIME",
        "TIME",
        re.sub(r"(\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d(\.\d{3})?( UTC)?", "TIME", words(text)),
    )


def test_the_page_says_what_the_report_says(of_page: tuple[Report, CaseInput, str]) -> None:
    report, _, text = of_page
    document, parsed = report.document(), Parsed(text)
    shown, own = words(parsed.text), data(parsed)
    assert all(timeless(line.text) in timeless(shown) for line in report.headline.lines if line.label != "NOW")
    assert report.headline.summary == document["verdict"]["summary"]
    for f in document["findings"]:
        assert parsed.ids.count(f"f-{f['id']}") == 1
        assert all(timeless(s) in timeless(shown) for s in (f["summary"], f["explanation"], *f["next_steps"]))
        assert all(words(Evidence(**e).shown) in shown for e in f["evidence"])
    for i in document["incidents"]:
        assert f"i-{i['id']}" in parsed.ids and timeless(i["explanation"]) in timeless(shown)
    p, partitions = own["p"], document["partitions"]
    assert [(p["topics"][t], n) for t, n in zip(p["t"], p["n"], strict=True)] == [(x["topic"], x["partition"]) for x in partitions]
    assert [p["verdicts"][v] for v in p["v"]] == [x["verdict"] for x in partitions]
    assert [p["lists"][i] for i in p["i"]] == [",".join(map(str, x["isr"])) for x in partitions]
    assert (p["l"], p["e"], p["o"], p["h"]) == tuple(
        [x[k] for x in partitions] for k in ("leader", "leader_epoch", "log_end_offset", "high_watermark")
    )
    counts = document["cluster"]["under_replication"]
    assert own["under"][1] == [s["under_replicated"] for s in counts["cluster"]["steps"]]
    assert own["offline"][1] == [s["offline"] for s in counts["offline"]["steps"]] and max(own["offline"][1]) == 4
    for s in document["evidence"]["sources"][:50]:
        assert s["path"] in shown and (s["sha256"] or "") in shown


STAMP = re.compile(r"\d\d:\d\d:\d\d(?:\.\d{3})?")
DAY = timedelta(days=1)
AHEAD = timedelta(hours=5, minutes=45)


def stamps(text: str) -> list[timedelta]:
    """The times of day in a text."""
    return [datetime.strptime(at[:8], "%H:%M:%S") - datetime(1900, 1, 1) for at in STAMP.findall(text)]


def test_every_time_outside_of_quotes_is_in_the_zone_of_the_report(of_page: tuple[Report, CaseInput, str]) -> None:
    report, case, text = of_page
    utc = Parsed(text)
    shown = page(replace(report, zone=DisplayZone.named("Asia/Kathmandu")), case)
    zoned = Parsed(shown)
    assert len(stamps(utc.said)) > 300 and [(at + AHEAD) % DAY for at in stamps(utc.said)] == stamps(zoned.said)
    assert not re.search(r"\d UTC|\(UTC\)", zoned.said) and "(+05:45)" in zoned.said
    assert [at + AHEAD for at in ticks(text)] == ticks(shown) != []
    instants = [own.get("datetime") for tag, own in utc.elements if tag == "time"]
    assert instants == [own.get("datetime") for tag, own in zoned.elements if tag == "time"]


def test_the_day_is_named_once(of_page: tuple[Report, CaseInput, str]) -> None:
    shown = of_page[2].split("<main")[1].split("</main>")[0]
    assert len(re.findall(r">20\d\d-\d\d-\d\d[ <]", shown)) == 1


def ticks(text: str) -> list[datetime]:
    return [datetime.strptime(at, "%H:%M:%S") for at in re.findall(r'class="tick t\d+">([^<]+)<', text)]


def test_a_command_among_the_steps_is_set_off_and_obeys_nothing() -> None:
    step = environment().from_string("{{ s|told }}")
    zone = {"zone": DisplayZone.named("UTC"), "day": datetime(2026, 5, 1)}
    assert step.render(s="Run `a <b> & c` at 2026-05-01 10:00:00.900 UTC.", **zone) == (
        'Run <code>a &lt;b&gt; &amp; c</code> at <time datetime="2026-05-01T10:00:00.900Z" data-form="s">10:00:00</time>.'
    )
    assert step.render(s="One ` <i>alone", **zone) == "One ` &lt;i&gt;alone"
    span = step.render(s="From 2026-05-02 10:00:00.000 to 10:00:01.000 UTC, between 2026-05-01 10:00:00.100 and 10:00:00.200 UTC", **zone)
    assert Parsed(span).text == "From 2026-05-02 10:00:00 to 10:00:01, at 10:00:00"


def test_what_a_finding_is_of_are_its_partitions(of_page: tuple[Report, CaseInput, str]) -> None:
    report, _, text = of_page
    own, names = data(Parsed(text)), [(p["topic"], p["partition"]) for p in report.document()["partitions"]]
    for f in report.findings:
        runs = own["f"][f.id]
        held = {names[n] for first, many in zip(runs[::2], runs[1::2], strict=True) for n in range(first, first + many)}
        assert held == {(p.topic, p.partition) for p in f.places or (f,)} & {*names}


def test_lost_ranges_and_truncations_are_drawn(of_page: tuple[Report, CaseInput, str]) -> None:
    report, _, text = of_page
    own, partitions = data(Parsed(text)), report.document()["partitions"]
    lost = {(p.topic, p.partition): p for f in report.findings if f.kind == "data-loss" and f.committed for p in f.places or (f,)}
    assert lost
    for n, detail in own["d"].items():
        p = partitions[int(n)]
        if place := lost.get((p["topic"], p["partition"])):
            assert [(start, end) for kind, _, start, end in detail["l"] if kind == "lost"] == [(r.start, r.end) for r in place.offsets]
            assert any(start <= r.start and end == r.end for r in place.offsets for _, _, start, end, _ in detail["r"])
        reach = {(b, offset) for b, what, _, offset, *_ in detail["o"] if what == "e"}
        assert p["log_end_offset"] is None or (p["leader"], p["log_end_offset"]) in reach


def proof_of(text: str, name: str) -> str:
    """The part of a page with the proof of one partition."""
    return text.split(f'id="p-{name}"')[1].split('class="pdetail"')[0].split('<details class="proof"')[1].split("</details>")[0]


def test_the_proof_of_a_loss_is_on_the_page_with_the_lines_behind_it(of_page: tuple[Report, CaseInput, str]) -> None:
    report, case, text = of_page
    proof = proof_of(text, "fast-7")
    said = words(Parsed(proof).text)
    assert proof.startswith(" open>") and "Gone: offsets 40–79: committed, certain" in said
    (row,) = (r for r in (case.case.proof("fast", 7) or {})["handovers"] if r["removed"])
    quotes = [*row["new_log_end"]["evidence"], *row["removed"][0]["start"]["evidence"]]
    assert quotes and all(words(q["text"]) in said and f"{q['source']}:{q['line']}" in said for q in quotes if q["line"] is not None)
    whole = next(p for p in report.document()["partitions"] if p["verdict"] == "intact")
    intact = proof_of(text, f"{whole['topic']}-{whole['partition']}")
    assert intact.startswith(">"), "folded"
    assert "end of evidence" in intact and "<pre>" not in intact


def test_the_same_evidence_makes_the_same_small_page_that_loads_nothing(of_page: tuple[Report, CaseInput, str]) -> None:
    report, case, text = of_page
    assert page(report, case) == text
    assert len(text.encode()) < LARGEST
    parsed = Parsed(text)
    links = {own[name] for _, own in parsed.elements for name in ("href", "src", "srcset", "action", "data") if name in own}
    assert all(link is not None and link.startswith("#") for link in links)
    assert {link[1:] for link in links if link} - {*parsed.ids} <= {
        f"p-{p['topic']}-{p['partition']}" for p in report.document()["partitions"]
    }
    policy = next(own["content"] or "" for tag, own in parsed.elements if own.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'; ")
    for name, kind in (("script:", "script"), ("style:", "style")):
        digest = base64.b64encode(hashlib.sha256(parsed.blocks[name].encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy.split(f"{kind}-src ")[1].split(";")[0]
    assert not any(name.startswith("on") or name == "style" for _, own in parsed.elements for name in own)
    assert "url(http" not in parsed.blocks["style:"] and "@import" not in parsed.blocks["style:"]


HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\x1b[31mred\x1b[0m \u202egnp.exe {{ 7*7 }} \u2028'\"&amp;"


def hostile() -> Mapping[str, str]:
    """A loss, proven by lines and paths that hold what a terminal, a template or a browser would obey."""
    story = Story()
    story.leads(1, 0, 0, 0, 0, [1, 2])
    story.follows(2, 0, 0, 0, 0)
    story.leads(1, 4, 1, 90, 90, [1], previous=0)
    story.offline(2, 6, 2, [1], 3, 1)
    story.online(2, 8, 3, 2, [2], 4)
    story.leads(2, 8.1, 3, 40, 40, [2], previous=1)
    story.follows(1, 10, 3, 90, 90, previous=1)
    story.line(1, "server", 10.2, f"INFO [Log partition=t-0, dir=/tmp/{HOSTILE}] Truncating to offset 40 (kafka.log.Log)")
    return {f"<b>{path.split('/')[0]}\u202e/{path}": text for path, text in story.files.items()}


def test_what_a_log_holds_is_text(tmp_path: Path) -> None:
    text = of_files(tmp_path / "a.case", hostile())
    parsed = Parsed(text)
    assert [tag for tag, _ in parsed.elements].count("script") == 3 and "img" not in {tag for tag, _ in parsed.elements}
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]", text)
    assert "␛[31mred" in parsed.text and "[U+202E]" in parsed.text and "{{ 7*7 }}" in parsed.text
    proof = proof_of(text, "t-0")
    quoted = Parsed(proof)
    assert "</script><script>alert(1)</script><img src=x" in quoted.text and "[U+202E]" in quoted.text and "␛[31mred" in quoted.text
    assert {"script", "img"}.isdisjoint(tag for tag, _ in quoted.elements) and not any("onerror" in own for _, own in quoted.elements)
    assert "alert(1)" in parsed.text and "␛[31mred" in json.dumps(data(parsed), ensure_ascii=False)


@settings(max_examples=40)
@given(st.text())
def test_data_are_no_markup_and_nothing_of_them_is_hidden(text: str) -> None:
    of_page = block({"k": [text, None, 1, True]})
    assert not re.search("[<>&\u2028\u2029]", of_page)
    assert json.loads(of_page) == {"k": [visible(text), None, 1, True]}
    assert visible(visible(text)) == visible(text) and len(visible(text)) >= len(text)
    of_page.encode()


def test_of_many_nodes_those_are_drawn_to_which_something_happened(tmp_path: Path) -> None:
    fleet = Fleet(30, 60)
    for n, broker in enumerate(fleet.brokers):
        fleet.stop(broker, 100 + 60 * n, 130 + 60 * n)
    fleet.crash([28], 4000, 4030)
    shown, folded = of_files(tmp_path / "a.case", fleet.files).split('id="lanes"')[1].split('class="more-lanes"')
    drawn = re.findall(r">broker (\d+)</span>", shown)
    assert "28" in drawn and len(drawn) == 24 and ">6 more nodes<" in folded


def test_the_window_is_of_what_happened_and_a_fifth_around_it() -> None:
    hours = [START + timedelta(hours=h) for h in range(25)]
    near, most = window(hours, [hours[10], hours[11]]), window(hours, [hours[1], hours[20]])
    assert (hours[10] - near.since, near.until - hours[11]) == (timedelta(minutes=12), timedelta(minutes=12))
    assert (most.since, most.until) == (hours[0], hours[20] + timedelta(hours=19) / 5)
    for w in (near, most, window([], []), window([START], [START])):
        spans = [w.span("x", a, b, "") for a in (None, START) for b in (None, START, datetime.max)]
        assert all(s.width > 0 and s.x >= -5 and s.x + s.width <= 111 and s.end >= s.start for s in spans)


def test_what_is_not_collected_is_said_and_an_empty_case_is_a_page(tmp_path: Path) -> None:
    parsed = Parsed(of_files(tmp_path / "a.case", {"notes.txt": "nothing of Kafka\n"}))
    assert "Unknown whether data was lost" in parsed.text and "not collected: broker logs" in parsed.text
    assert data(parsed)["p"]["t"] == []


def test_lines_around_a_quote_are_those_of_the_log(tmp_path: Path) -> None:
    files = hostile()
    own = data(Parsed(of_files(tmp_path / "a.case", files)))
    assert own["c"]
    for key, lines in own["c"].items():
        source, line = own["src"][int(key.split(":")[0])], int(key.split(":")[1])
        logged = next(content for path, content in files.items() if visible(path) == source).split("\n")
        assert line in [n for n, _ in lines] and [n for n, _ in lines] == sorted(n for n, _ in lines)
        assert all(visible(logged[n - 1]).startswith(text) for n, text in lines)


def test_the_command_writes_it_to_a_file_or_to_stdout(of_page: tuple[Report, CaseInput, str], tmp_path: Path) -> None:
    _, case, text = of_page
    directory = str(case.case.directory)
    done = CliRunner().invoke(cli, ["report", directory, "--html", "-"])
    assert (done.exit_code, done.stdout) == (0, text)
    done = CliRunner().invoke(cli, ["report", directory, "--html", str(tmp_path / "r.html"), "--topic", "fast"])
    assert done.exit_code == 0 and "LOST     at least 80 committed records" in done.stdout
    narrow = data(Parsed((tmp_path / "r.html").read_text("utf-8")))
    assert narrow["p"]["topics"] == ["fast"] != data(Parsed(text))["p"]["topics"]
    refused = CliRunner().invoke(cli, ["report", directory, "--html", "-", "--json", "-"])
    assert refused.exit_code == 2 and "stdout" in refused.stderr

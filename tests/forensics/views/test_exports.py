"""Every export says what the JSON says, is what its format demands, and shows hostile text as text."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from click.testing import CliRunner
from jsonschema import Draft4Validator
from markdown_it import MarkdownIt
from markdown_it.token import Token

from forensics.case import parquet as tables
from forensics.case.read import Case
from forensics.case.write import of_report
from forensics.cli import cli
from forensics.commands.inputs import CaseInput
from forensics.formats import FORMATS
from forensics.incidents.incidents import Incident
from forensics.incidents.judging import PARTITION
from forensics.model.clock.sources import Source
from forensics.model.cluster.facts import Cluster
from forensics.model.findings import Evidence, Finding, Place
from forensics.model.message import Range, values
from forensics.output.format import DirectoryFormat, FileFormat, Format
from forensics.output.sanitise import clean
from forensics.views import document as json_view
from forensics.views import timesketch
from forensics.views.document import Report
from forensics.views.steps import next_steps
from tests.forensics import fleets, staged
from tests.forensics.case.test_case import make
from tests.support import found, local, recorded

TEXTS = {f.name: f for f in FORMATS if isinstance(f, FileFormat) and not f.needs_case}
DIRECTORIES = [f for f in FORMATS if isinstance(f, DirectoryFormat)]
NAMES = ("unclean-election-2.8.2-zk", "zombie-leader-3.9.1-kraft", "many-lives-2.1.1-zk")
SARIF = Draft4Validator(json.loads(gzip.decompress((Path(__file__).parent / "sarif-2.1.0-rtm.5.json.gz").read_bytes())))
"""The schema from SchemaStore, as the npm package @microsoft/jest-sarif (MIT) ships it."""


def a_fleet() -> Report:
    fleet = fleets.Fleet(9, 90)
    fleet.crash([2, 5], 100, 200)
    fleet.stop(7, 400, 420)
    return staged.report(fleet.files)


@pytest.fixture(scope="module", params=[*NAMES, "a fleet"])
def report(request: pytest.FixtureRequest) -> Report:
    return a_fleet() if request.param == "a fleet" else recorded.report(request.param)


def text(name: str, report: Report) -> str:
    return "".join(TEXTS[name].pieces(report))


# the same facts

Ranges = tuple[tuple[int, int | None], ...]
Facts = dict[str, tuple[str, str, str | None, str | None, Mapping[str, Ranges]]]
"""By id of the finding: kind, severity, start, end, and the offsets by partition."""


def of_document(report: Report) -> Facts:
    found: Facts = {}
    for f in report.document()["findings"]:
        own: dict[str, list[tuple[int, int | None]]] = defaultdict(list)
        for p in f.get("places", [f]):
            own[f"{p['topic']}-{p['partition']}"] += [(r["start"], r["end"]) for r in p.get("offsets", ())]
        found[f["id"]] = (f["kind"], f["severity"], f["start"], f["end"], in_order(own))
    return found


def parts_of(finding: Mapping[str, Any]) -> dict[str, Ranges]:
    """What people read of a loss: also the part that is less sure."""
    own: dict[str, list[tuple[int, int | None]]] = defaultdict(list)
    for p in finding.get("places", [finding]):
        own[f"{p['topic']}-{p['partition']}"] += [(part["offsets"]["start"], part["offsets"]["end"]) for part in p["parts"]]
    return in_order(own)


def in_order(own: Mapping[str, Iterable[tuple[int, int | None]]]) -> dict[str, Ranges]:
    return {name: tuple(sorted(ranges, key=str)) for name, ranges in own.items() if ranges}


def read(words: Iterable[str]) -> list[tuple[int, int | None]]:
    """Offsets as people have them: 3–5, from 3 on."""
    found = [re.fullmatch(r"(\d+)(?:–(\d+))?|from (\d+) on", w) for w in words]
    return [(int(m[1]), int(m[2] or m[1]) + 1) if m[1] else (int(m[3]), None) for m in found if m is not None]


def moment(at: str) -> str | None:
    """As the document has it."""
    return at[:19].replace(" ", "T") + "." + (at[20:23] if at[19:20] == "." else "000") + "Z"


def of_sarif(statement: str) -> Facts:
    found: Facts = {}
    (run,) = json.loads(statement)["runs"]
    for result in run["results"]:
        more = result["properties"]
        own: dict[str, list[tuple[int, int | None]]] = defaultdict(list)
        for p in more.get("places", [more]):
            own[f"{p['topic']}-{p['partition']}"] += [(r["start"], r["end"]) for r in p.get("offsets", ())]
        (id_,) = result["fingerprints"].values()
        found[id_] = (result["ruleId"], more["severity"], more["start"], more["end"], in_order(own))
    return found


def of_timesketch(statement: str) -> Facts:
    found: Facts = {}
    for row in map(json.loads, statement.splitlines()):
        if not row["timestamp_desc"].startswith("Finding in") and "finding_id" in row:
            start, end = found[row["finding_id"]][2:4] if row["finding_id"] in found else (None, None)
            at = moment(row["datetime"]) if row["timestamp_desc"] != timesketch.NO_TIME else None
            start = start if row["timestamp_desc"] == "Finding ended" else at
            end = end if row["timestamp_desc"] == "Finding began" else at
            by_name = (re.split(r"(?<!from) (?=\d+(?:–\d+)?(?: |$)|from \d)", words) for words in row.get("partitions", ()))
            joined: dict[str, list[tuple[int, int | None]]] = defaultdict(list)
            for name, *words in by_name:
                joined[name] += read(words)
            if "offsets" in row:
                joined[f"{row['topic']}-{row['partition']}"] += read(row["offsets"])
            found[row["finding_id"]] = (row["kind"], row["severity"], start, end, in_order(joined))
    return found


def of_perfetto(statement: str) -> Facts:
    found: Facts = {}
    for event in json.loads(statement)["traceEvents"]:
        if event["ph"] == "b" and "finding" in event["args"]:
            args = event["args"]
            own: dict[str, list[tuple[int, int | None]]] = defaultdict(list)
            for p in args.get("places", [args]):
                own[p.get("partition", "")] += read(p.get("offsets", ()))
            kind = event["name"].removesuffix(" (no time in evidence)")
            found[args["finding"]] = (kind, args["severity"], args.get("start"), args.get("end"), in_order(own))
    return found


def of_markdown(statement: str) -> tuple[set[tuple[str | None, ...]], dict[str, dict[str, Ranges]]]:
    """The findings without offsets, and those of losses."""
    rows = [[c.strip(" `") for c in line[2:-2].split(" | ")] for line in statement.splitlines() if line.startswith("| `")]
    findings = {
        (r[0], r[3], r[1], *(moment(at) if at != "unknown" else None for at in r[4:6])) for r in rows if len(r) == 7 and r[1] in LEVELS
    }
    losses: dict[str, dict[str, list[tuple[int, int | None]]]] = defaultdict(lambda: defaultdict(list))
    for name, offsets, *_, id_ in (r for r in rows if len(r) == 10):
        losses[id_][name] += read(offsets.split(", "))
    return findings, {id_: in_order(own) for id_, own in losses.items()}


LEVELS = ("info", "low", "medium", "high", "critical")


def test_every_format_says_what_the_json_says(report: Report, tmp_path: Path) -> None:
    stated, document = of_document(report), report.document()
    verdicts = {(p["topic"], p["partition"]): p["verdict"] for p in document["partitions"]}
    assert of_sarif(text("sarif", report)) == stated
    assert of_perfetto(text("perfetto", report)) == stated
    sketched = text("timesketch", report)
    assert of_timesketch(sketched) == stated
    rows = [row for row in map(json.loads, sketched.splitlines()) if row["data_type"] == "kafka:forensics:verdict"]
    assert {(row["topic"], row["partition"]): row["verdict"] for row in rows} == verdicts
    states = {(b["id"], s["state"]) for b in document["cluster"]["brokers"] for s in b["states"] if s["start"] or s["end"]}
    of_brokers = (row for row in map(json.loads, sketched.splitlines()) if row["data_type"] == "kafka:forensics:broker")
    assert {(row["brokers"][0], row["state"]) for row in of_brokers} == states
    assert f"loss: {document['verdict']['loss']}" in [e["name"] for e in json.loads(text("perfetto", report))["traceEvents"]]
    (run,) = json.loads(text("sarif", report))["runs"]
    brief = report.document(proof=False)
    assert run["properties"]["verdict"] == brief["verdict"]
    assert run["properties"]["partitions"] == [p for p in brief["partitions"] if p["verdict"] != "intact"]
    findings, losses = of_markdown(text("markdown", report))
    assert findings == {(id_, *f[:4]) for id_, f in stated.items()}
    in_parts = {f["id"]: parts_of(f) for f in document["findings"] if f["kind"] == "data-loss"}
    assert losses == in_parts
    own_tables = {name: table.to_pylist() for name, table in of_report(report.cluster, report.findings, report.incidents).items()}
    assert {
        f["id"]: (f["kind"], f["severity"], json_view.timestamp(f["start"]), json_view.timestamp(f["end"]))
        for f in own_tables["finding_details"]
    } == {id_: f[:4] for id_, f in stated.items()}
    own: dict[str, dict[str, list[tuple[int, int | None]]]] = {id_: defaultdict(list) for id_ in stated}
    for p in own_tables["findings"]:
        if p["first_offset"] is not None:
            own[p["id"]][f"{p['topic']}-{p['partition']}"].append((p["first_offset"], p["end_offset"]))
    assert {id_: in_order(ranges) for id_, ranges in own.items()} == {id_: f[4] for id_, f in stated.items()} | in_parts


# what the formats demand


def test_sarif_is_what_its_schema_and_its_viewers_demand(report: Report) -> None:
    shown = json.loads(text("sarif", report))
    assert sorted(map(str, SARIF.iter_errors(shown))) == []
    (run,) = shown["runs"]
    kinds = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    for result, finding in zip(run["results"], report.document()["findings"], strict=True):
        assert kinds[result["ruleIndex"]] == result["ruleId"]
        for place, quoted in zip(result["locations"] + result["relatedLocations"], finding["evidence"], strict=True):
            where = place["physicalLocation"]
            artifact = run["artifacts"][where["artifactLocation"]["index"]]["location"]
            assert unquote(artifact["uri"]) == unquote(where["artifactLocation"]["uri"]) == quoted["source"]
            assert where.get("region", {}).get("startLine") == quoted["line"]


def test_timesketch_takes_every_line(report: Report) -> None:
    """As its own reader does: timesketch.lib.utils.read_and_validate_jsonl."""
    before = 0
    for line in text("timesketch", report).splitlines():
        row = json.loads(line)
        assert all(isinstance(row[name], str) and row[name] for name in ("message", "datetime", "timestamp_desc"))
        at = datetime.fromisoformat(row["datetime"])
        assert at.utcoffset() == timedelta(0) and round(at.timestamp() * 1e6) == row["timestamp"] >= before
        assert None not in row.values() and not set(row) & {"_id", "_type", "_index", "_source", "__ts_timeline_id"}
        before = row["timestamp"]
        assert "not-covered" not in row["message"] and not row["message"].endswith("it starts")


def test_perfetto_takes_every_event(report: Report) -> None:
    """As its importer does: X nests on its track, b and e are pairs, numbers are numbers, process and thread 0 are the kernel's."""
    shown = text("perfetto", report)
    assert shown.isascii()
    trace = json.loads(shown)
    open_, spans, named = Counter[tuple[Any, ...]](), defaultdict(list), set()
    for event in trace["traceEvents"]:
        assert event["ph"] in "MCXbei" and event["name"] and event["pid"] > 0 < event["tid"]
        if event["ph"] == "M":
            named.add((event["name"], event["pid"], event["tid"]))
            continue
        assert isinstance(event["ts"], int) and event["ts"] >= 0
        if event["ph"] == "X":
            assert event["dur"] > 0
            spans[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
        if event["ph"] in "be":
            open_[event["cat"], event["id2"]["local"], event["pid"], event["name"]] += 1 if event["ph"] == "b" else -1
        if event["ph"] == "C":
            assert all(isinstance(n, int) for n in event["args"].values())
        if event["ph"] in "Xi":
            assert ("thread_name", event["pid"], event["tid"]) in named
    assert set(open_.values()) <= {0}
    for own in spans.values():
        own.sort()
        assert all(end <= start for (_, end), (start, _) in pairwise(own))
    brokers = {f"broker {n.id}" for n in report.cluster.nodes.values() if n.broker}
    assert brokers <= {e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "process_name"}


def test_a_broker_with_id_0_and_what_has_no_time_are_told_too() -> None:
    reported = Report(Cluster(), [finding(brokers=(0,), start=None, end=None)], [])
    assert of_perfetto(text("perfetto", reported)) == of_timesketch(text("timesketch", reported)) == of_document(reported)


# hostile text

ATTACKS = {
    "html": "<script>alert(1)</script><img src=x onerror=y>",
    "comment": "--> <b>x</b> <!--",
    "entity": "&lt;b&gt; &#60;",
    "formula": "=cmd|'/C calc'!A0",
    "escape": "\x1b[31mred\x1b]0;owned\x07",
    "bidi": "\u202egnp.exe\u2066\u200b",
    "newlines": "a\n\n# heading\r\n- [ ] task\n\n---\n| a | b |",
    "fence": "``` x\n~~~~\n`````` y",
    "ticks": "`a` ``b` \\` `",
    "table": "a | b \\| c || d",
    "link": "[x](http://evil.example) ![y](http://evil.example/z) <http://evil.example> ](",
    "autolink": "http://evil.example www.evil.example mailto:a@evil.example",
    "mention": "@everyone #1 user@host GH-1",
    "emphasis": "**a** _b_ __c__ ~~d~~ $x$ ^[f] snake_case_name",
    "list": "1. one",
    "quote": "> said",
    "nul": "a\x00b",
    "surrogate": "a\ud800b",
    "template": "{{ 7*7 }} ${x} %s {0}",
    "json": '"}],"x":[{"',
}


def finding(**changes: Any) -> Finding:
    stated = {"brokers": (1,), "start": staged.START, "end": staged.START, "offsets": (Range(1, 5), Range(7, 8))}
    return found.loss(**{**stated, **changes})


def forged(words: str) -> Report:
    """With an attack wherever a log, a path or a name reaches."""
    source = Source(words, words, 1, words, 1, words, None, 1, 0, (), staged.START, staged.START, words)
    place = Place(words, 0, 1, staged.START, None, (Range(1, 5),), True, (1,))
    quoted = (Evidence(words, 1, 1, words), Evidence(words, None, None, words))
    said = {"message": "evidence-gap/filtered", "values": values(reason=words, files=(words,))}
    stated = {**said, "evidence": quoted, "cause": words, "incident": words}
    all_kinds = [
        finding(topic=words, **stated),
        finding(topic=None, partition=None, places=(place, place), **stated),
        finding(kind="evidence-gap", **stated),
    ]
    states = [
        {**dict.fromkeys(f.name for f in PARTITION), **found.state("unknown", why=words), "topic": words, "replicas": [1], "isr": [1]}
    ]
    incident = Incident(words, "broker-crash", "critical", (1,), staged.START, None, values(what=("x",), impact=(words,)), (words,))
    return Report(Cluster(id=words, sources=[source]), all_kinds, states, [incident], (words,))


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from (s for item in value.items() for own in item for s in strings(own))
    elif isinstance(value, list):
        yield from (s for own in value for s in strings(own))


@pytest.mark.parametrize("words", ATTACKS.values(), ids=ATTACKS)
def test_hostile_text_is_text_in_json(words: str) -> None:
    stated = forged(words)
    for name in ("sarif", "perfetto"):
        found = set(strings(json.loads(text(name, stated))))
        assert any(clean(words) in s for s in found)
        assert all(clean(s) == s for s in found)
    assert sorted(map(str, SARIF.iter_errors(json.loads(text("sarif", stated))))) == []
    lines = text("timesketch", stated).split("\n")
    assert all(clean(s) == s for line in lines[:-1] for s in strings(json.loads(line)))
    assert any(clean(words) in s for line in lines[:-1] for s in strings(json.loads(line)))


def spoken(tokens: Iterable[Token]) -> Iterator[str]:
    for token in tokens:
        if token.children is not None:
            yield "".join(spoken(token.children))
        elif token.type in ("text", "code_inline", "fence", "text_special"):
            yield token.content


@pytest.mark.parametrize("words", ATTACKS.values(), ids=ATTACKS)
def test_hostile_text_is_text_in_markdown(words: str) -> None:
    """It makes the same blocks as harmless words do, and is read as it stands."""
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    tokens, harmless = parser.parse(text("markdown", forged(words))), parser.parse(text("markdown", forged("harmless")))
    assert [(t.type, t.tag) for t in tokens] == [(t.type, t.tag) for t in harmless]
    inline = [child for t in tokens for child in t.children or ()]
    assert {c.content for c in inline if c.type == "html_inline"} <= {"<!-- -->"}
    assert not {c.type for c in inline} - {
        "text",
        "code_inline",
        "html_inline",
        "text_special",
        "strong_open",
        "strong_close",
        "em_open",
        "em_close",
    }
    assert Counter(c.type for c in inline if "open" in c.type) == Counter(
        c.type for t in harmless for c in t.children or () if "open" in c.type
    )
    stated = list(spoken(tokens))
    assert sum(" ".join(clean(words).split()) in s for s in stated) >= 10
    for s in (c.content for c in inline if c.type == "text"):
        assert not re.search(r"(?i)https?://|www\.|@\w|#\d|GH-\d", s), "GitHub would make a link of it"


def test_markdown_has_commands_as_code_and_zones_in_capitals(report: Report) -> None:
    tokens = MarkdownIt("commonmark").enable(["table"]).parse(text("markdown", report))
    inline = [child for t in tokens for child in t.children or ()]
    commands = [c.content for c in inline if c.type == "code_inline" and re.match(r"(?:kafka-|openssl|df|du|ulimit)\S* ", c.content)]
    assert commands or not any("`" in step for step in next_steps(report.findings, report.partitions))
    assert not [c.content for c in inline if c.type != "code_inline" and ("`" in c.content or " utc" in c.content)]


def test_hostile_text_is_data_in_tables() -> None:
    """A table holds what there was, to be shown by others; a lone surrogate never gets as far: findings travel as Arrow."""
    for name, words in ATTACKS.items():
        if name != "surrogate":
            report = forged(words)
            details = of_report(report.cluster, report.findings, report.incidents)["finding_details"]
            assert details["summary"].to_pylist() == [words] * 3


def test_a_spreadsheet_runs_no_text_of_a_log(tmp_path: Path) -> None:
    case = CaseInput(make(tmp_path / "a.case", recorded.events("zombie-leader-3.9.1-kraft")))
    tables.write_csv(forged("=HYPERLINK(1)"), tmp_path / "csv", case)
    rows = list(csv.DictReader(io.StringIO((tmp_path / "csv" / "findings.csv").read_text("utf-8"))))
    assert {row["summary"] for row in rows} == {"'=HYPERLINK(1)"}
    steps = list(csv.DictReader(io.StringIO((tmp_path / "csv" / "timeline.csv").read_text("utf-8"))))
    assert len(steps) == len(case.case.table("steps")) and all(row["time"].endswith("Z") for row in steps if row["time"])


# from a case, and to where


def test_a_case_gives_the_same_files(tmp_path: Path) -> None:
    events = recorded.events("zombie-leader-3.9.1-kraft")
    make(tmp_path / "a.case", events)
    asked = [word for format in FORMATS for word in (format.option, str(tmp_path / format.name))]
    done = CliRunner().invoke(cli, ["report", str(tmp_path / "a.case"), *asked])
    assert done.exit_code == 0, done.output
    there = replace(local.report(events), command=("analyze", "evidence"))
    assert {name: (tmp_path / name).read_text("utf-8") for name in TEXTS} == {name: text(name, there) for name in TEXTS}
    for format in DIRECTORIES:
        format.write(there, tmp_path / "straight" / format.name, CaseInput(Case(tmp_path / "a.case")))
        assert content(tmp_path / format.name) == content(tmp_path / "straight" / format.name) != {}
    one = CliRunner().invoke(cli, ["report", str(tmp_path / "a.case"), "--sarif", "-"])
    assert one.stdout == text("sarif", there)


def content(directory: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in directory.iterdir()}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("words", ATTACKS.values(), ids=ATTACKS)
def test_no_format_passes_characters_that_control_a_terminal(name: str, words: str) -> None:
    shown = text(name, forged(words)).replace("\n", "")
    assert clean(shown) == shown


@pytest.mark.parametrize("format", FORMATS, ids=lambda format: format.name)
def test_every_format_has_an_option_with_a_sentence(format: Format) -> None:
    for command in ("analyze", "report"):
        shown = " ".join(CliRunner(env={"COLUMNS": "80"}).invoke(cli, [command, "--help"]).stdout.split())
        assert f"{format.option} {'DIR' if isinstance(format, DirectoryFormat) else 'FILE'} {format.help}" in shown
    assert re.fullmatch(r"[A-Z].*\.", format.help)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--json", "-", "--sarif", "-"), "only one of --json and --sarif can go to stdout"),
        (("--parquet", "{other}"), "has other files than such tables"),
        (("--parquet", "{taken}/logs"), "lies in the evidence"),
    ],
)
def test_what_cannot_be_written_is_told_before_anything_is_read(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    places = {name: tmp_path / name for name in ("taken", "other")}
    for place in places.values():
        place.mkdir()
        (place / "server.log").touch()
    done = CliRunner().invoke(cli, ["analyze", str(places["taken"]), *(w.format(**places) for w in words)])
    assert done.exit_code == 2 and said in done.stderr and "Starting" not in done.stderr

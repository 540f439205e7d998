"""What evidence holds is text in every output: nothing of it is obeyed by a terminal, a browser, a spreadsheet, an editor or a shell.

Views are held to it one by one (views/test_html, views/test_exports, forensics/test_report); here attacks go in by log lines, file names,
settings and tools' outputs, and come out of every command.
"""

from __future__ import annotations

import io
import json
import re
import shlex
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner
from markdown_it import MarkdownIt
from rich.console import Console

from forensics.cli import cli, main
from forensics.commands import evidence, salvage
from forensics.tools.salvage.segments import lots
from forensics.views import clusters
from forensics.views.clusters import Clusters
from forensics.views.html.overview import overview
from tests.forensics.case.test_case import make
from tests.forensics.output.test_files import LEFT_DOWN, read
from tests.forensics.staged import Story, table
from tests.forensics.views.pages import Parsed, found
from tests.support import recorded

ATTACKS = (
    "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "</script><svg/onload=alert(1)>",
    "[x](javascript:alert(1)) ![y](http://evil.example/z)",
    "\x1b[31mred\x1b[0m \x1b[2J",
    "\x1b]8;;http://evil.example\x1b\\click\x1b]8;;\x1b\\",
    "\x1b]52;c;Y2FsYw==\x07 \x9b31m",
    "=cmd|'/C calc'!A0",
    "+1+1 @SUM(A1) -2+3",
    "a\u2028b\u2029c\x85d",
    "\u202egnp.exe\u2066\u200b\ufeff",
    "{{ 7*7 }} {% raw %} ${x} %s {0}",
    "$(touch owned) `touch owned` ; touch owned",
    '"}],"x":[{"',
    "back\b\b\b\rspace\x00",
    "\u4e00" * 30 + "e\u0301\u0301\u0301",
)
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")
"""What a terminal acts on, or turns a line round by; tabs and line feeds apart."""


def files() -> Mapping[str, str | bytes]:
    """A loss, and an attack wherever a line, a name or a setting reaches."""
    story = Story()
    story.leads(1, 0, 0, 0, 0, [1, 2])
    story.follows(2, 0, 0, 0, 0)
    story.leads(1, 4, 1, 90, 90, [1], previous=0)
    story.offline(2, 6, 2, [1], 3, 1)
    story.online(2, 8, 3, 2, [2], 4)
    story.leads(2, 8.1, 3, 40, 40, [2], previous=1)
    story.follows(1, 10, 3, 90, 90, previous=1)
    for number, attack in enumerate(ATTACKS):
        words = attack.replace("\n", " ")
        story.line(1, "server", 10.1 + number / 100, f"INFO [Log partition=t-0, dir=/tmp/{words}] Truncating to offset 40 (kafka.log.Log)")
        story.line(2, "state-change", 11 + number / 100, f"INFO [Broker id=2] {words} (state.change.logger)")
    settings = "".join(f"broker.rack={a.encode('unicode_escape').decode()}\nlog.dirs=/tmp/{n}\n" for n, a in enumerate(ATTACKS))
    out = {f"javascript:alert(1)/<b>=1+1\u202e/{path}": text for path, text in story.files.items()}
    out["javascript:alert(1)/<b>=1+1\u202e/broker-1/\x1b[31m/server.properties"] = f"broker.id=1\n{settings}"
    return out


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> str:
    directory = tmp_path_factory.mktemp("cases") / "a.case"
    stated = files()
    logs = {path: text for path, text in stated.items() if path.endswith(".log")}
    found(directory, table(stated), logs)
    return str(directory)


def called(*words: str) -> str:
    done = CliRunner(env={"COLUMNS": "120"}).invoke(cli, list(words))
    assert done.exit_code in (0, 3), done.output  # 3: a file of it cannot be read to its end
    return done.stdout


@pytest.mark.parametrize(
    "words",
    [
        "report",
        "analyze",
        "inspect",
        "timeline --topic t --partition 0",
        "timeline --topic t --partition 0 --json -",
        "merge",
        "merge --json -",
    ]
    + ["checkpoints", "checkpoints --json -", "plan", "plan --json -", "inspect --json -"]
    + [f"report --{name} -" for name in ("json", "markdown", "sarif", "perfetto", "timesketch", "html")],
)
def test_no_command_prints_what_a_terminal_obeys(case: str, words: str) -> None:
    name, *options = shlex.split(words)
    printed = called(name, case, *options)
    assert printed and OBEYED.search(printed) is None, OBEYED.search(printed)
    if "json" in words:
        assert [json.loads(document) for document in ([printed] if name != "merge" else printed.split("\n")[:-1])]


@pytest.mark.parametrize("options", [(), ("--json", "-"), ("--markdown", "-")], ids=["text", "json", "markdown"])
def test_diff_prints_nothing_that_a_terminal_obeys(case: str, options: tuple[str, ...], tmp_path: Path) -> None:
    make(tmp_path / "other.case", recorded.events("acks1-failover-1.1.1-zk"))
    shown = called("diff", str(tmp_path / "other.case"), case, *options)
    assert "new" in shown and OBEYED.search(shown) is None


def strings(value: Any, *path: str) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, own in value.items():
            yield from strings(own, *path, key)
    elif isinstance(value, list):
        for own in value:
            yield from strings(own, *path)


def test_addresses_in_sarif_are_of_files(case: str) -> None:
    printed = json.loads(called("report", case, "--sarif", "-"))
    uris = {text for path, text in strings(printed["runs"][0]["results"]) if path[-1] == "uri"}
    assert uris
    for uri in uris:
        parts = urlsplit(uri)
        assert (parts.scheme, parts.netloc) == ("", "") and re.fullmatch(r"[\w./~%()=+!*',;@&:-]+", uri, re.ASCII)


def test_markdown_has_no_markup_of_logs(case: str) -> None:
    printed = called("report", case, "--markdown", "-")
    inline = [child for t in MarkdownIt("commonmark").enable("table").parse(printed) for child in t.children or ()]
    assert {c.content for c in inline if c.type == "html_inline"} <= {"<!-- -->"}
    assert not {c.type for c in inline} & {"link_open", "image"}


def test_a_page_runs_nothing_of_logs(case: str) -> None:
    parsed = Parsed(called("report", case, "--html", "-"))
    assert [tag for tag, _ in parsed.elements].count("script") == 3 and not {"img", "iframe", "object"} & {
        tag for tag, _ in parsed.elements
    }
    for _, own in parsed.elements:
        assert not any(name.startswith("on") for name in own)
        assert not (own.get("href") or "#").strip().lower().startswith(("javascript:", "data:"))
    assert "onerror=alert(1)" in parsed.text or "onerror=alert(1)" in parsed.blocks["script:data"]


def test_a_page_of_clusters_runs_nothing_of_their_names() -> None:
    ours, parsed = (Parsed(overview(Clusters({}, {a: a for a in names}, list(names)), {})) for names in (["a"] * len(ATTACKS), ATTACKS))
    assert {tag for tag, _ in parsed.elements} == {tag for tag, _ in ours.elements} and OBEYED.search(parsed.text) is None
    assert "alert(1)" in parsed.text


def test_a_plan_is_for_kafkas_tools_and_its_commands_name_only_topics(case: str, tmp_path: Path) -> None:
    called("plan", case, "--gone", "1", "--out", str(tmp_path / "plan"))
    for file in (tmp_path / "plan").iterdir():
        assert "touch owned" not in file.read_text("utf-8") and OBEYED.search(file.read_text("utf-8")) is None


@pytest.mark.parametrize(
    "words", [("analyze",), ("report",), ("audit", "--out", "x"), ("salvage", "--out", "x")], ids=lambda words: words[0]
)
def test_errors_name_paths_as_text(
    tmp_path: Path, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A shell's `*` makes arguments of file names that others chose."""
    monkeypatch.setattr(sys, "argv", ["kafka-forensics", words[0], str(tmp_path / "\x1b[31m\u202eno\x07"), *words[1:]])
    monkeypatch.setattr("signal.signal", lambda *_: None)
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr().err
    assert ended.value.code == 2 and said.startswith(("Error: ", "Usage: "))
    assert OBEYED.search(said) is None


TOPICS = [*ATTACKS, "t" * 249]


def test_salvaged_records_of_hostile_topics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = read(LEFT_DOWN)
    lot = next(lot for lot in lots(there.conclusion().findings) if lot.wanted)
    monkeypatch.setattr(salvage, "open_input", lambda *_: there)
    monkeypatch.setattr(
        "forensics.tools.salvage.segments.lots", lambda _: [replace(lot, topic=topic, segments=[], copied=[]) for topic in TOPICS]
    )
    for number, form in enumerate(((), ("--json", "-", "--format", "jsonl"))):
        out = tmp_path / str(number)
        said = called("salvage", str(LEFT_DOWN), "--out", str(out), *form)
        assert OBEYED.search(said) is None
        for path in out.rglob("*"):
            assert re.fullmatch(r"[\w.%~-]{1,255}", path.name, re.ASCII) and path.resolve().is_relative_to(out)
        assert len(list(out.glob("*.jsonl"))) == len(TOPICS)
    assert {p["topic"] for p in json.loads(said)["partitions"]} == set(TOPICS)
    for path in out.glob("*.jsonl"):
        assert OBEYED.search(path.read_text("utf-8")) is None


def test_verify_and_redact_say_names_as_text(case: str, tmp_path: Path) -> None:
    names = [attack.replace("/", "").replace("\x00", "") for attack in ATTACKS]
    for name in names:
        (tmp_path / "evidence" / name).mkdir(parents=True)
        (tmp_path / "evidence" / name / "server.log").write_text("x\n")
        (tmp_path / "evidence" / name / "core.bin").write_bytes(b"\x7fELF\x00\x01" * 9)
    for words in (["verify", case], ["verify", case, "--json", "-"], ["redact", "--out", str(tmp_path / "r\x1b[31m.tar.gz")]):
        at = 2 if words[0] == "verify" else 1
        printed = CliRunner(env={"COLUMNS": "120"}).invoke(cli, [*words[:at], str(tmp_path / "evidence"), *words[at:]])
        assert printed.stdout and OBEYED.search(printed.output) is None, OBEYED.search(printed.output)


def test_an_audits_screen_and_a_progress_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    stated = Clusters({}, {a: a for a in ATTACKS}, list(ATTACKS))
    out = Console(file=io.StringIO(), width=120)
    clusters.show(stated, out)
    assert OBEYED.search(out.file.getvalue()) is None  # type: ignore[attr-defined]
    assert OBEYED.search(stated.json()) is None
    screen = io.StringIO()
    monkeypatch.setattr(screen, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(evidence, "QUIET_S", 0)
    for attack in ATTACKS:
        monkeypatch.setattr(sys, "stderr", screen)
        with evidence.Progress().stage(attack):
            time.sleep(0.02)
    drawn = re.sub(r"\x1b\[(?:\?25[lh]|[0-9;]*m|2K|1A)|\r", "", screen.getvalue())
    assert "alert(1)" in drawn and OBEYED.search(drawn) is None, OBEYED.search(drawn)


@pytest.mark.parametrize("offset", [2**63 - 1, -5])
def test_the_longest_topic_and_the_last_offset(tmp_path: Path, offset: int) -> None:
    """No cut hides which partition it is, and nothing overflows."""
    topic = "orders." * 35 + "last"
    assert len(topic) == 249
    story = Story(topic, 2**31 - 1)
    story.leads(1, 0, 0, 0, 0, [1, 2])
    story.follows(2, 0, 0, 0, 0)
    story.leads(1, 4, 1, 90, 90, [1], previous=0)
    story.offline(2, 6, 2, [1], 3, 1)
    story.online(2, 8, 3, 2, [2], 4)
    story.leads(2, 8.1, 3, offset, offset, [2], previous=1)
    story.follows(1, 10, 3, 90, 90, previous=1)
    story.truncates(1, 11, offset)
    found(tmp_path / "a.case", table(story.files), story.files)
    name = f"{topic}-{2**31 - 1}"
    for words in (["timeline", "--topic", topic, "--partition", str(2**31 - 1)], ["report"], ["checkpoints"], ["report", "--html", "-"]):
        printed = called(words[0], str(tmp_path / "a.case"), *words[1:])
        if words[0] != "checkpoints":
            assert name in re.sub(r"\s|[│┃|]", "", printed), words

"""Users' rules: files, their errors and exemplars, and that their findings are in everything that a report is made of."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import tomllib
from click.testing import CliRunner, Result

from forensics import own_rules, rule_files
from forensics.case.read import Case
from forensics.cli import cli
from forensics.exemplars import parse
from forensics.rules import RULES, declared, rule_of, rules
from forensics.views import sarif
from forensics.views.document import rules_digest
from forensics.words import words
from parsers import pattern_files
from parsers.own_files import OwnFile, opened
from tests.conftest import Done
from tests.forensics.staged import report
from tests.support.paths import ROOT
from tests.support.schemas import of_report

DOCS = ROOT / "docs" / "own-rules"
EXAMPLES = ("authorizer", "quota", "storage")
STORAGE = opened(str(DOCS / "storage.toml"))
READING = ("analyze", "audit", "checkpoints", "inspect", "merge", "plan", "salvage", "timeline")


@pytest.fixture(autouse=True)
def _nothing_in_force() -> Iterator[None]:
    yield
    rule_files.put_in_force(())
    rule_files._known.clear()
    pattern_files.put_in_force(())


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments)


def changed(before: str, after: str) -> OwnFile:
    assert before in STORAGE.text
    return OwnFile("my.toml", STORAGE.text.replace(before, after, 1))


# exemplars


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_of_the_docs_finds_its_exemplars(name: str) -> None:
    patterns = DOCS / f"{name}.patterns.toml"
    done = run("rules", "--check", str(DOCS / f"{name}.toml"), *(("--patterns", str(patterns)) if patterns.exists() else ()))
    assert done.exit_code == 0, done.output
    states = [line.split(":")[0].strip() for line in done.stdout.splitlines()]
    assert {"found", "not found"} <= set(states) and "wrong" not in states


def test_a_rule_that_is_not_as_its_exemplars_say_is_named(tmp_path: Path) -> None:
    def problems(before: str, after: str) -> list[str]:
        (tmp_path / "my.toml").write_text(changed(before, after).text)
        done = run("rules", "--check", str(tmp_path / "my.toml"))
        assert done.exit_code == 1, done.output
        return [" ".join(line.split()) for line in done.stdout.splitlines() if "wrong: " in line]

    assert problems("Input/output error|", "") == ["wrong: cleaner-thread: the rule finds nothing"]
    assert problems("'Input/output error|", "'No space left|Input/output error|") == ["wrong: disk-full: the rule must not find anything"]
    assert problems("# brokers: 1\n# severity: high", "# brokers: 2\n# severity: high") == [
        "wrong: cleaner-thread: no finding has the attributes of the exemplar"
    ]
    (unread,) = problems("ERROR [kafka-log-cleaner-thread-0]: Error due to", "ERROR a sentence that no version prints")
    assert unread == "wrong: cleaner-thread: no pattern reads a line of broker-1/logs/server.log"


# files


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        ('level = "high"', 'levle = "high"', "key `levle` is not known (did you mean `level`?)"),
        ('level = "high"', "", "key `level` is missing"),
        ('level = "high"', 'level = "grave"', "key `level`: `grave` is not one of"),
        ("own-storage-driver", "disk-full", "key `kind`: `disk-full` is a built-in kind; the name of your kind begins with `own-`"),
        ("own-storage-driver", "storage", "key `kind`: must be `own-` and"),
        ('detector = "errors"', 'detector = "windows"', "key `detector`: `windows` is not one of `errors`"),
        ('"log-dir-error"]', '"log-dir-eror"]', "key `find`: table 1: key `events`: `log-dir-eror` is not a kind of event (did you mean `log-dir-error`?)"),
        ('"log-dir-error"]', '"append-error"]', 'table 1: key `events`: [[find]] with `append-error` needs `of = "partition"`'),
        ('["append-error"]', '["log-dir-error"]', 'table 2: key `events`: [[find]] with `log-dir-error` cannot have `of = "partition"`'),
        ('"log-dir-error"]', '"log-dir-reported"]', "`log-dir-reported` cannot be used here"),
        ("where.key", "where.kye", "table 1: key `where`: key `kye` is not known (did you mean `key`?)"),
        ("'Input/output error|", "'(Input/output error|", "key `where`: key `key`: not a regular expression"),
        ("where.key", 'if = "os.system"\nwhere.key', "table 1: key `if` is not known"),
        ("where.key", 'values = "os.system"\nwhere.key', "key `values`: `os.system` is not one of `often`"),
        ("where.key", 'group = ["isr"]\nwhere.key', "key `group`: `isr` is not one of"),
        ('cause = "storage-driver"', 'cause = "{isr}"', "key `cause`: must be a word of lower-case letters"),
        ('message = "append"', 'message = "appended"', "key `message`: there is no table [message.appended]"),
        ("{Who} printed", "{Whom} printed", "key `message`: key `found`: key `explanation`: there is no value `{whom}` (did you mean `who`?)"),
        ("{Who} printed", "{who.__class__} printed", "has a brace that is not part of {name} or {name:format}"),
        ("{Who} printed", "{Who} [[printed", "`[[` and `]]` do not match"),
        ("{Who} printed", "{who:count time} printed", "`{who:count time}`: `who` cannot have this format"),
        ("{Who} printed", "{who:eval x} printed", "`{who:eval x}`: there is no format `eval`"),
        ("{Who} printed", "{leader_epoch:number 999999999}", "`leader_epoch` cannot have this format"),
        ("{Who} printed", "{times} printed", "there is no value `{times}`"),
        ("{Who} printed", "x" * 2001, "must be one line of at most 2,000 characters"),
        ("# expects: not found", "# expects: found", "key `exemplar`: at least one must be `expects: found`, and one a near miss"),
        ("# expects: not found", "# expect: not found", "key `exemplar`: disk-full: an exemplar says"),
        ("[many]", "root = true\n[many]", "key `root`: it needs"),
        ("kind =", "kind", "not valid TOML"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_file_kind_and_key(before: str, after: str, text: str) -> None:
    with pytest.raises(ValueError, match="my") as error:
        own_rules.check([changed(before, after)])
    assert text in str(error.value)
    assert "own-storage-driver" not in after and ("not valid TOML" in text or "kind `" in str(error.value))


def test_two_files_with_one_kind_are_refused() -> None:
    own_rules.check([STORAGE])
    with pytest.raises(ValueError, match="two files declare the kind `own-storage-driver`"):
        own_rules.check([STORAGE, changed("orders", "sales")])


@pytest.mark.parametrize("name", READING)
def test_every_command_that_reads_evidence_checks_rules_before_it_reads(name: str, tmp_path: Path) -> None:
    (tmp_path / "my.toml").write_text(changed('level = "high"', 'levle = "high"').text)
    done = run(name, str(tmp_path / "no-evidence"), "--rules", str(tmp_path / "my.toml"))
    assert (done.exit_code, done.stdout) == (2, "")
    why = f"{tmp_path / 'my.toml'}: kind `own-storage-driver`: key `levle` is not known (did you mean `level`?)"
    assert done.stderr.splitlines()[-1] == f"Error: Invalid value for '--rules': {why}"
    done = run(name, str(tmp_path), "--rules", str(tmp_path / "no.toml"))
    assert (done.exit_code, "No such file" in done.stderr) == (2, True)


# the command


def test_a_built_in_rule_as_a_start(tmp_path: Path) -> None:
    done = run("rules", "--toml", "append-failed")
    (tmp_path / "my.toml").write_text(done.stdout)
    assert tomllib.loads(done.stdout)["kind"] == "own-append-failed"
    assert run("rules", "--check", str(tmp_path / "my.toml")).exit_code == 0
    assert "the rule data-loss is written in Python" in run("rules", "--toml", "data-loss").stderr
    assert run("rules", "--toml").exit_code == run("rules", "--toml", "append-failed", "--json", "-").exit_code == 2


def test_every_printed_rule_is_valid_and_the_others_say_why_not() -> None:
    for rule in RULES:
        try:
            own_rules.check([OwnFile(rule.kind, own_rules.as_own(rule.kind))])
        except ValueError as error:
            assert f"the rule {rule.kind} " in str(error)


def test_one_line_for_each_kind() -> None:
    lines = run("rules").stdout.splitlines()
    assert [line.split()[0] for line in lines] == [rule.kind for rule in RULES]


def test_a_kind_is_explained() -> None:
    shown = " ".join(run("rules", "slow-replica").stdout.split())
    assert "not this: A replica that fetched nothing: stuck-replica." in shown
    assert "see KIP-16, KIP-537 rests on the lines that it quotes, times of different brokers, that a log would show it" in shown
    assert "next: Check the disk and the network of broker BROKER" in shown
    assert "found in the test" in shown


# what a report is made of


def evidence() -> dict[str, bytes]:
    exemplar = tomllib.loads(STORAGE.text)["exemplar"][0]
    return dict(parse(exemplar["name"], exemplar["text"]).files)


def test_a_finding_is_in_the_report_its_schema_and_sarif() -> None:
    without = rules_digest()
    rule_files.put_in_force((STORAGE,))
    made = report(evidence())
    (found,) = (f for f in made.findings if f.kind == "own-storage-driver")
    assert (found.name, found.cause, found.severity) == ("orders-0", "storage-driver", "high")
    assert words(found).next_steps[0].startswith("Move the leadership of orders-0 to another in-sync replica")
    assert of_report(made) == []
    document = json.loads(made.json())
    assert [(r["kind"], r["path"], r["sha256"]) for r in document["tool"]["own_rules"]] == [(found.kind, STORAGE.path, STORAGE.sha256)]
    run_ = sarif.log(made)["runs"][0]
    (result,) = (r for r in run_["results"] if r["ruleId"] == found.kind)
    assert run_["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == found.kind
    assert rules_digest() != without

    rule_files.put_in_force(())
    assert [f.kind for f in report(evidence()).findings if f.kind == "own-storage-driver"] == []
    assert rules_digest() == without
    assert words(found).summary.startswith("orders-0: broker 1"), "its words are still known"
    assert rule_of(found.kind) not in rules() and found.kind in declared()


def test_a_case_keeps_the_rules(called: Callable[..., Done], tmp_path: Path) -> None:
    for path, content in evidence().items():
        (tmp_path / "logs" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "logs" / path).write_bytes(content)
    (tmp_path / "my.toml").write_text(STORAGE.text)
    case, first, second = (str(tmp_path / name) for name in ("a.case", "first.json", "second.json"))
    done = called("analyze", "logs", "--rules", str(tmp_path / "my.toml"), "--case", case, "--json", first, cwd=tmp_path)
    assert done.returncode == 3, "no leader epoch is in the evidence"
    (tmp_path / "my.toml").unlink()
    rule_files.put_in_force(())
    rule_files._known.clear()
    assert run("report", case, "--json", second).exit_code == 3
    assert Path(first).read_bytes() == Path(second).read_bytes()
    assert "own-storage-driver" in Path(second).read_text()
    assert Case(Path(case)).rules == (OwnFile(str(tmp_path / "my.toml"), STORAGE.text),)
    manifest = Path(case) / "case.json"
    manifest.write_text(manifest.read_text().replace("{Who} printed", "{who.__class__} printed"))
    done = run("report", case)
    assert (done.exit_code, "case.json: damaged (" in done.stderr) == (2, True)

"""Every rule against its exemplars, and what the rules promise as a whole."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest
from click.testing import CliRunner

from forensics.exemplars import exemplars_of, parse
from forensics.incidents.folding import folded
from forensics.incidents.judging import conclude
from forensics.model.findings import LEVELS, Exemplar, Finding, Rule
from forensics.model.message import Range, packed, unpacked
from forensics.proof.contradictions import OF_CLUSTER, OF_PARTITION
from forensics.rules import RULES, declared
from forensics.thresholds import NAMED
from forensics.views.document import Report
from forensics.words import words
from tests.forensics.staged import report
from tests.forensics.words import snapshots
from tests.support import recorded
from tests.support.contradictions import check_contradictions, contradictions
from tests.support.schemas import of_report

CONTRACT = {
    "unclean-election",
    "data-loss",
    "log-divergence",
    "hw-regression",
    "hw-stuck",
    "offline-partition",
    "under-min-isr",
    "at-min-isr",
    "leader-imbalance",
    "load-imbalance",
    "risky-setting",
    "under-replicated",
    "isr-flapping",
    "broker-crash",
    "broker-fenced",
    "controlled-shutdown",
    "zombie-leader",
    "controller-change",
    "log-dir-failure",
    "planned-reassignment",
    "preferred-election",
    "topic-deleted",
    "topic-recreated",
    "retention",
    "checkpoint-corrupt",
    "checkpoint-inconsistent",
    "evidence-gap",
    "unrecognised-lines",
    "start-failed",
    "fatal-error",
    "out-of-memory",
    "disk-full",
    "fetcher-dead",
    "connection-failed",
    "controller-crash",
    "controller-error",
    "request-refused",
    "topic-id-mismatch",
    "quorum-lost",
    "zookeeper-lost",
    "migration",
    "upgrade",
}
"""Names that reports promise; they are API."""

CASES = [(rule, exemplar) for rule in RULES for exemplar in exemplars_of(rule.kind)]


@pytest.mark.parametrize(("rule", "exemplar"), CASES, ids=[f"{r.kind}/{e.name}" for r, e in CASES])
def test_exemplar(rule: Rule, exemplar: Exemplar) -> None:
    reported = report(exemplar.files, exemplar.modified)
    own = [f for f in reported.findings if f.kind == rule.kind]
    if exemplar.found:
        assert [f for f in own if exemplar.shows(f)], f"{exemplar.fields} is not among {own}"
    else:
        assert own == []
    assert of_report(reported) == []
    check_contradictions(f"{rule.kind}/{exemplar.name}", contradictions(reported))
    check_lines_are_understood(reported, rule, exemplar)
    check_quotes(own, exemplar)
    check_steps_of_several(own, rule)
    words_now, words_then = snapshots.of_findings(own), snapshots.sections(rule.kind).get(exemplar.name, "")
    assert words_now == words_then, "if these words are meant: python -m tests.forensics.words.snapshots"


def check_lines_are_understood(reported: Report, rule: Rule, exemplar: Exemplar) -> None:
    """A near miss whose lines nobody reads would prove nothing. A finding may quote a line of ZooKeeper's client in an unknown log."""
    unknown = ("unknown", "text") if exemplar.found else ("unknown", "text", "other-log")
    unread = [s.path for s in reported.cluster.sources if s.unrecognised or s.kind in unknown]
    assert unread == [] or rule.kind == "unrecognised-lines"


def check_quotes(found: Sequence[Finding], exemplar: Exemplar) -> None:
    """What is said can be looked up: quoted text stands at the place that is named."""
    shared = _shared_root(exemplar)
    for finding in found:
        assert finding.evidence
        assert words(finding).summary and words(finding).explanation and finding.severity in LEVELS
        for piece in finding.evidence:
            if piece.line is None or not piece.source.endswith((".log", ".txt")):
                continue
            lines = exemplar.files[shared + piece.source].decode().split("\n")
            assert lines[piece.line - 1].strip() == piece.text.split("\n")[0].strip()[: len(lines[piece.line - 1].strip())]


def check_steps_of_several(found: Sequence[Finding], rule: Rule) -> None:
    """What one event did to two partitions, of other brokers, is one finding that keeps the steps of both."""
    for one in (f for f in found if f.partition is not None and not f.folds):
        other = renamed(one, one.partition + 7)
        together = folded((one, other), rule)
        steps = words(together[0]).next_steps
        if len(together) == 1 and len(steps) < 2 * NAMED:
            for f in (one, other):
                for step in words(f).next_steps:
                    assert [s for s in steps if s.split()[0] == step.split()[0] and (f.name in s) >= (f.name in step)], (step, steps)


def renamed(finding: Finding, partition: int) -> Finding:
    """The finding about another partition: wherever it names the first."""
    name = f"{finding.topic}-{partition}"
    own = json.loads(packed(finding.values).replace(finding.name, name))
    return replace(finding.of_partition(finding.topic or "", partition), values=unpacked(json.dumps(own)))


@pytest.mark.parametrize("rule", RULES, ids=[r.kind for r in RULES])
def test_every_rule_has_what_it_finds_and_what_it_leaves(rule: Rule) -> None:
    assert {e.found for e in exemplars_of(rule.kind)} == {True, False}
    assert all(e.fields for e in exemplars_of(rule.kind) if e.found), "a found exemplar says what the finding is about"


@pytest.mark.parametrize("rule", RULES, ids=[r.kind for r in RULES])
def test_every_rule_says_what_would_contradict_it_or_why_nothing_is_asked(rule: Rule) -> None:
    assert bool(rule.refuters) is (rule.unrefuted is None)
    for name in rule.refuters:
        assert rule.partition if name in OF_PARTITION else (rule.cluster or rule.after_rules) and name in OF_CLUSTER
    if rule.partition is not None and not {"order", "time"}.isdisjoint(rule.rests_on):
        assert "statements" in rule.refuters, "what it quotes may contradict something else"


def test_no_exemplars_without_a_rule() -> None:
    from importlib import resources

    directories = {d.name for d in (resources.files("forensics.rules") / "exemplars").iterdir()}
    assert directories == {r.kind for r in RULES}


def test_kinds_are_unique_and_the_contracts_are_there() -> None:
    kinds = [r.kind for r in RULES]
    assert len(kinds) == len(set(kinds))
    assert set(kinds) >= CONTRACT


@pytest.mark.parametrize("rule", RULES, ids=[r.kind for r in RULES])
def test_declaration(rule: Rule) -> None:
    assert rule.level in LEVELS
    assert rule.meaning.endswith(".")
    assert rule.partition is not None or rule.cluster is not None or rule.after_rules is not None
    assert {*declared()[rule.kind]["rests_on"]} <= {"order", "time", "silence"}
    assert rule.root is None or rule.many is not None


def _shared_root(exemplar: Exemplar) -> str:
    tops = {path.split("/", 1)[0] for path in exemplar.files}
    return f"{tops.pop()}/" if len(tops) == 1 and len(exemplar.files) > 1 else ""


def test_a_dead_broker_was_not_fenced_alive() -> None:
    """Brokers 2 and 3 were killed; the records that fence them lie in every broker's copy of the metadata log, theirs too."""
    reported = recorded.report("clean-failover-3.9.1-kraft")
    assert [f.brokers for f in reported.findings if f.kind == "broker-crash"] == [(2,), (3,)]
    assert [f.brokers for f in reported.findings if f.kind == "broker-fenced"] == []


def test_nothing_judged_nothing_said() -> None:
    reported = report({})
    assert reported.findings == []
    nothing = conclude((), reported.cluster)
    assert (nothing.findings, nothing.incidents, list(nothing.partitions)) == ([], [], [])


# the format


def test_reads_an_exemplar() -> None:
    read = parse(
        "x",
        "# expects: found\n# story: s\n# from: f\n# offsets: 2..5, 7..\n# committed: unknown\n# brokers: 2, 1\n"
        "--- a/server.log\n[one]\n\n--- b/seg as base64\naGk=\n--- c/check at 2026-01-02T03:04:05Z\n0\n",
    )
    assert read.fields == {"offsets": (Range(2, 5), Range(7, None)), "committed": None, "brokers": (2, 1)}
    assert read.files == {"a/server.log": b"[one]\n\n", "b/seg": b"hi", "c/check": b"0\n"}
    assert {p: t.isoformat() for p, t in read.modified.items()} == {"c/check": "2026-01-02T03:04:05"}


HEAD = "# expects: found\n# story: s\n# from: f\n"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# expects: perhaps\n# story: s\n# from: f\n",
        "# expects: found\n# from: f\n",
        HEAD + "no header",
        HEAD + "# colour: red\n",
        HEAD + "# partition: one\n",
        HEAD + "# committed: maybe\n",
        HEAD + "--- a\n--- a\n",
        HEAD + "--- a as hex\n",
        HEAD + "--- a as base64\n!\n",
    ],
)
def test_refuses_what_is_no_exemplar(text: str) -> None:
    with pytest.raises(ValueError, match="broken"):
        parse("broken", text)


def test_no_exemplars_for_an_unknown_kind() -> None:
    assert exemplars_of("no-such-kind") == ()


# the command


def test_command_names_the_exemplars() -> None:
    from forensics.commands.rules import command

    shown = CliRunner().invoke(command, ["unclean-election"])
    assert shown.exit_code == 0
    assert "    found in the test controller-elects-from-outside-the-isr" in shown.output
    assert "    not found in the test last-step-of-a-reassignment" in shown.output


def test_command_as_json() -> None:
    from forensics.commands.rules import command

    printed = json.loads(CliRunner().invoke(command, ["--json", "-"]).output)
    assert [r["kind"] for r in printed] == [r.kind for r in RULES]
    assert all({e["found"] for e in r["exemplars"]} == {True, False} for r in printed)


def test_command_refuses_an_unknown_kind() -> None:
    from forensics.commands.rules import command

    refused = CliRunner().invoke(command, ["data-los"])
    assert refused.exit_code == 2
    assert "data-los" in refused.output

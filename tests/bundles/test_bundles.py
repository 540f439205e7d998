"""Verdicts on evidence of real clusters, held against what the clients and an observer saw: fixtures/bundles."""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pytest

from forensics.incidents.folding import places
from forensics.model.findings import LEVELS, Finding
from forensics.views.document import Report
from forensics.views.headline import EXCLUDED, FOUND
from forensics.views.impact import failures, unusable
from forensics.views.losses import CUT, LOST, losses
from forensics.words import words
from tests.support import local, recorded
from tests.support.contradictions import check_contradictions, check_nobody_is_up_after_a_crash, contradictions
from tests.support.paths import BUNDLES, truth_of
from tests.support.schemas import of_report

NAMES = sorted(p.name.removesuffix(".tar.gz") for p in BUNDLES.glob("*.tar.gz"))


def sure_findings(report: Report, kind: str) -> list[Finding]:
    return [f for f in local.spread(report.findings) if f.kind == kind and f.confidence != "possible"]


def offsets(findings: list[Finding]) -> set[int]:
    return {o for f in findings for r in f.offsets if r.end is not None for o in range(r.start, r.end)}


def place(finding: Finding) -> str:
    return f"{finding.topic}-{finding.partition}"


def check_elections(report: Report, truth: dict[str, Any]) -> None:
    assert {place(f) for f in sure_findings(report, "unclean-election")} == {
        f"{u['topic']}-{u['partition']}" for u in truth["unclean_elections"]
    }


def check_losses(report: Report, truth: dict[str, Any], *, tails_open: bool = False) -> None:
    """`tails_open`: whether anybody misses a cut tail is not in evidence, so that it is reported as possible."""
    losses = sure_findings(report, "data-loss")
    assert {place(f) for f in losses}.isdisjoint(truth["nothing_lost"])
    tails = [f for f in local.spread(report.findings) if f.kind == "data-loss" and f.confidence == "possible" and f.committed is False]
    losses += [f for f in tails if tails_open or _without_acknowledgement_of_all(truth["lost"].get(place(f), {}))]
    for name, lost in truth["lost"].items():
        really = {o for a, b in lost["offsets"] for o in range(a, b)}
        said = offsets([f for f in losses if place(f) == name])
        if lost.get("provable", True):
            assert really <= said
            assert min(said) == min(really)
            assert len(said - really) <= max(50, len(really) // 2), "records that were never acknowledged may stretch the end, not more"
        else:
            proven = range(min(really), min(really) + len(said))
            assert said == {*proven} <= really, "only what a follower is known to have had may be reported as lost"
            told_of = [p for f in report.findings if f.kind == "data-loss" for p in places(f) if f"{p.topic}-{p.partition}" == name]
            assert any(r.start == proven.stop and r.end is None for p in told_of for r in (*p.offsets, *(x.offsets for x in p.parts)))


def _without_acknowledgement_of_all(lost: dict[str, Any]) -> bool:
    """Its producers sent with acks=0 or acks=1: no file shows whether they sent the cut records again."""
    return bool(lost.get("acks")) and {*lost["acks"]} <= {"0", "1"}


def check_final_state(report: Report, truth: dict[str, Any]) -> None:
    """Leader, ISR and replicas when everything had settled, as an observer saw them; to 0.10 metadata has the replicas in no order."""
    ordered = sorted if truth["kafka"].startswith(("0.8", "0.9", "0.10")) else list
    sure_findings = {f"{p['topic']}-{p['partition']}": p for p in report.partitions}
    for name, final in truth.get("final_state", {}).items():
        assert (sure_findings[name]["leader"], sorted(sure_findings[name]["isr"])) == (final["leader"], sorted(final["isr"])), name
        assert ordered(sure_findings[name]["replicas"]) == ordered(final["replicas"]), name


def check_power_losses(report: Report, truth: dict[str, Any]) -> None:
    """What went with an unflushed tail is put down to that, and never called uncommitted by the replica that lost it."""
    unflushed = {f"{a['topic']}-{a['partition']}" for a in truth["actions"] if a["action"].startswith("power-loss")}
    losses = [f for f in report.findings if f.kind == "data-loss" and {f"{p.topic}-{p.partition}" for p in places(f)} & unflushed]
    assert {(f.cause, f.committed) for f in losses} <= {("unflushed-log", True), ("unflushed-log", None)}


def check_findings(report: Report, truth: dict[str, Any], without: frozenset[str] = frozenset()) -> None:
    found_at = local.spread(report.findings)
    sure = [f for f in found_at if f.confidence != "possible" or (f.kind == "data-loss" and f.committed is False)]
    for want in truth["must_find"]:
        if want["kind"] not in without:
            fields = {k: v for k, v in want.items() if k != "broker"}
            found = [f for f in sure if all(getattr(f, k) == v for k, v in fields.items()) and want.get("broker", -1) in (*f.brokers, -1)]
            assert found, want
    highest = LEVELS.index(truth["worst_allowed"])
    assert [words(f).summary for f in report.findings if LEVELS.index(f.severity) > highest] == []
    assert [words(f).summary for f in report.findings if not f.evidence] == []


def check_first_screen(report: Report) -> None:
    """The title, its colour, the counts of verdicts and the lists below agree."""
    title, kinds = report.headline, {r.kind for r in losses(report.findings)}
    lost = {r.name for r in losses(report.findings) if r.kind == LOST and not r.finding.cluster}
    assert {f"{p['topic']}-{p['partition']}" for p in report.partitions if p["verdict"] == LOST} == lost
    found = "committed data was lost:" in title.title.lower()
    assert (title.loss == FOUND) == found == ("LOST: " in title.summary) == (LOST in kinds)
    now = [*failures(report.findings)]
    assert all(line in title.summary for line in now[:3]) and all(words in title.title for words in unusable(report.findings))
    if title.tone == EXCLUDED:
        assert kinds <= {CUT} and not title.partitions["unknown"] and not now


@pytest.mark.parametrize("name", NAMES)
def test_verdicts(name: str) -> None:
    report, truth = recorded.report(name), truth_of(name)
    check_elections(report, truth)
    check_losses(report, truth)
    check_findings(report, truth)
    check_final_state(report, truth)
    check_power_losses(report, truth)
    check_first_screen(report)
    check_contradictions(name, contradictions(report))
    check_nobody_is_up_after_a_crash(report)
    assert of_report(report) == []


STAMP = re.compile(rb"(?m)^(\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),\d{3}\]")
RECORDING = re.compile(r"(?P<scenario>.+)-(?P<version>\d[\d.]+)-(?P<mode>zk|kraft)(?P<roles>.*)")
PARTED = [(n, own) for n in NAMES if (own := RECORDING.fullmatch(n)) is not None]
OF_EACH_SCENARIO = [
    *{(own["scenario"], own["mode"], own["roles"], own["version"].startswith(("0.8", "0.9", "0.10"))): n for n, own in PARTED}.values()
]
"""Of each scenario a recording of each mode and one before leader epochs: what follows from what is that of the protocol, not of a release."""
OF_EITHER_MODE = [*{(own["scenario"], own["version"].startswith(("0.8", "0.9", "0.10"))): n for n, own in PARTED}.values()]
"""Of each scenario a recording of one mode, and one before leader epochs."""
WITHIN_A_SECOND = [n for n in OF_EACH_SCENARIO if re.match("unclean|zombie|power|last|reassignment|hw|eligible|loser|opposite|disk", n)]


def test_no_recording_has_a_name_that_is_not_understood() -> None:
    assert len(PARTED) == len(NAMES)


@pytest.mark.parametrize("name", WITHIN_A_SECOND)
def test_verdicts_where_a_whole_failover_has_one_time(name: str, tmp_path: Path) -> None:
    """Layouts that print whole seconds, and the broker's files apart: what was first in a second is reported by cause alone."""
    target = tmp_path / "seconds.tar"
    with tarfile.open(BUNDLES / f"{name}.tar.gz") as whole, tarfile.open(target, "w") as coarse:
        for member in whole:
            content = whole.extractfile(member)
            data = content.read() if content is not None else b""
            data = STAMP.sub(rb"\1,000]", data) if "/logs/" in member.name else data
            member.size, member.pax_headers = len(data), {}
            coarse.addfile(member, BytesIO(data))
    report, truth = local.report(local.events_of(target)), truth_of(name)
    check_elections(report, truth)
    check_losses(report, truth)
    check_findings(report, truth)


def without_segments(name: str) -> Report:
    """The report if nobody may hand over records: on checkpoints, epochs and logs only."""
    events = recorded.events(name)
    return local.report(events.filter(pc.invert(pc.match_substring_regex(events["source"], r"/\d{20}\.log$"))))


OF_RECORDS_ALONE = frozenset({"log-divergence", "hw-stuck", "slow-replica"})
ENDS_UNTOLD = ("opposite-tails-0.10.1.1-zk",)
"""Before 0.11 no line tells where the log of an in-sync replica ended that was up when it became leader: what the dead leader cuts may
have been on it, too."""


@pytest.mark.parametrize("name", [n for n in OF_EITHER_MODE if n not in ENDS_UNTOLD])
def test_verdicts_without_segments(name: str) -> None:
    report, truth = without_segments(name), truth_of(name)
    check_elections(report, truth)
    check_losses(report, truth, tails_open=True)  # who sent it, and whether again, stands in the batches alone
    check_findings(report, truth, without=OF_RECORDS_ALONE | {"data-loss"})


@pytest.mark.parametrize("name", ENDS_UNTOLD)
def test_no_loss_is_told_without_segments_where_no_line_tells_of_it(name: str) -> None:
    report, truth = without_segments(name), truth_of(name)
    check_elections(report, truth)
    assert sure_findings(report, "data-loss") == []
    check_findings(report, truth, without=OF_RECORDS_ALONE | {"data-loss"})


def _shifted(name: str, minutes: int) -> Iterator[tuple[str, bytes]]:
    """Files of a bundle whose brokers printed another zone's time."""
    from datetime import datetime, timedelta

    def later(match: re.Match[bytes]) -> bytes:
        at = datetime.strptime(match[1].decode(), "%Y-%m-%d %H:%M:%S") + timedelta(minutes=minutes)
        return b"[" + at.strftime("%Y-%m-%d %H:%M:%S").encode() + b","

    with tarfile.open(BUNDLES / f"{name}.tar.gz") as whole:
        for member in whole:
            content = whole.extractfile(member)
            if content is not None:
                data = content.read()
                yield (
                    member.name,
                    re.sub(rb"^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),", later, data, flags=re.MULTILINE) if "/logs/" in member.name else data,
                )


@pytest.mark.parametrize("name", ["last-replica-standing-2.8.2-zk", "zombie-leader-2.8.2-zk", "unclean-election-3.9.1-kraft"])
def test_verdicts_from_another_zone(name: str, tmp_path: Path) -> None:
    """Lines carry no zone; modification times show it."""
    target = tmp_path / "zone.tar"
    with tarfile.open(BUNDLES / f"{name}.tar.gz") as whole, tarfile.open(target, "w") as moved:
        files = dict(_shifted(name, 330))
        for member in whole:
            if member.isfile():
                member.size = len(files[member.name])
                moved.addfile(member, BytesIO(files[member.name]))
    report = local.report(local.events_of(target))
    assert {n.clock.zone for n in report.cluster.nodes.values() if n.broker} == {"UTC+05:30"}
    check_elections(report, truth_of(name))
    check_losses(report, truth_of(name))
    check_findings(report, truth_of(name))

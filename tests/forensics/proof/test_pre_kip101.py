"""What is proven before leader epochs when some of the evidence is older, or is not there: the first case of KIP-101, and logs of which
no line says where a leader began. From recorded 0.8.2, 0.9.0 and 0.10.2 clusters."""

from __future__ import annotations

import tarfile
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path

import pytest

from forensics.exemplars import exemplars_of
from forensics.model.findings import Exemplar, Finding
from forensics.model.message import Range
from forensics.words import words
from tests.forensics.staged import of, report
from tests.support.paths import BUNDLES

BUNDLE = BUNDLES / "hw-truncation-0.10.2.2-zk.tar.gz"
OLD_LEADER = "/broker-2/logs/server.log"
"""Broker 2 led with offsets up to 265, broker 1 had them and cut them off before it led; then broker 2 followed it."""
RETURNED = b"[2026-11-21 10:41:1"


@cache
def collected(bundle: Path = BUNDLE) -> dict[str, bytes]:
    with tarfile.open(bundle) as whole:
        return {info.name: content.read() for info in whole if (content := whole.extractfile(info)) is not None}


def losses(change: Callable[[str, bytes], bytes | None] = lambda _, data: data) -> list[Finding]:
    """Losses told where the collection is another: files changed, or left out."""
    changed = {path: change(path, data) for path, data in collected().items()}
    return of(report({path: data for path, data in changed.items() if data is not None}), "data-loss")


def quoted(finding: Finding) -> set[tuple[str, str]]:
    return {("/".join(e.source.split("/")[-3:]), e.text.partition("] INFO ")[2].strip()) for e in finding.evidence}


def test_the_old_leaders_checkpoint_proves_that_they_were_committed() -> None:
    (loss,) = losses()
    assert (loss.topic, loss.partition, loss.offsets) == ("payments", 0, (Range(200, 265),))
    assert (loss.cause, loss.committed, loss.severity, loss.confidence) == ("hw-truncation", True, "critical", "probable")
    assert {
        ("broker-1/logs/server.log", "Truncating log payments-0 to offset 200. (kafka.log.Log)"),
        ("broker-2/logs/server.log", "Truncating log payments-0 to offset 265. (kafka.log.Log)"),
        ("broker-2/logs/server.log", "Truncating log payments-0 to offset 200. (kafka.log.Log)"),
    } <= quoted(loss)
    assert "first case of KIP-101" in words(loss).explanation
    assert "Broker 1 itself had the lost records, and truncated its log from 265 to 200" in words(loss).explanation
    assert "an earlier high watermark of 265" in words(loss).explanation
    assert words(loss).explanation.count("from 265 to 200") == 2


def as_0_8_2_says_it(path: str, data: bytes) -> bytes:
    """It cut its log first and said then that it was reset, from where the log ended by now."""
    if not path.endswith(OLD_LEADER):
        return data
    lines = data.splitlines(keepends=True)
    reset = next(n for n, line in enumerate(lines) if b"reset its fetch offset" in line)
    said = lines[reset].replace(b"from 265 to", b"from 200 to")
    return b"".join([*lines[:reset], lines[reset + 1], said, *lines[reset + 2 :]])


def test_the_order_in_which_a_follower_says_it_is_the_same_to_the_verdict() -> None:
    (loss,) = losses(as_0_8_2_says_it)
    (as_of_0_9,) = losses()
    assert (loss.offsets, loss.committed, loss.cause) == (as_of_0_9.offsets, as_of_0_9.committed, as_of_0_9.cause)
    assert "an earlier high watermark of 265" in words(loss).explanation
    segments_apart = losses(lambda path, data: None if "/payments-" in path else as_0_8_2_says_it(path, data))
    assert [(f.offsets, f.committed) for f in segments_apart] == [((Range(200, 265),), True)]


def checkpointed_at(offset: int) -> Callable[[str, bytes], bytes]:
    """The old leader died long after its last checkpoint: it cuts its log twice when it is back."""

    def change(path: str, data: bytes) -> bytes:
        if not path.endswith(OLD_LEADER):
            return data
        end = b"%d" % offset
        lines = data.splitlines(keepends=True)
        return b"".join(
            line.replace(b"to offset 265.", b"to offset " + end + b".").replace(b"from 265 ", b"from " + end + b" ")
            if line.startswith(RETURNED) and b"payments-0" in line
            else line.replace(b"initOffset 265", b"initOffset " + end)
            for line in lines
        )

    return change


def test_an_older_checkpoint_leaves_it_to_the_logs_of_the_whole_isr() -> None:
    (loss,) = losses(checkpointed_at(250))
    assert (loss.offsets, loss.cause, loss.committed) == ((Range(200, 265),), "hw-truncation", True)
    assert "brokers 1 and 2, the whole ISR, had them before broker 1 truncated its log" in words(loss).explanation.replace(
        "brokers 2 and 1", "brokers 1 and 2"
    )


def never_told(path: str, data: bytes) -> bytes:
    """The old leader had checkpointed what the new one had: it cuts its log to its own high watermark, and fetches."""
    if not path.endswith(OLD_LEADER):
        return data
    lines = checkpointed_at(200)(path, data).splitlines(keepends=True)
    return b"".join(line for line in lines if not (b"reset" in line or (line.startswith(RETURNED) and b"10,704" in line)))


def test_both_checkpoints_are_old_and_the_new_leader_wrote_other_records_there() -> None:
    (loss,) = losses(never_told)
    assert (loss.offsets, loss.cause, loss.committed) == ((Range(200, 265),), "hw-truncation", True)
    assert loss.confidence == "probable"


def test_both_checkpoints_are_old_and_nobody_hands_over_segments() -> None:
    """The new leader may have fetched them again: nothing is reported for sure, and they are not said to be nobody's."""
    (loss,) = losses(lambda path, data: None if "/payments-" in path else never_told(path, data))
    assert (loss.confidence, loss.offsets) == ("possible", (Range(200, None),))


def fetched_some(path: str, data: bytes) -> bytes | None:
    """The new leader had got a part again before it led; no segments."""
    if path.endswith(OLD_LEADER):
        return data.replace(b"latest offset 200", b"latest offset 230").replace(b"payments-0 to offset 200", b"payments-0 to offset 230")
    return None if "/payments-" in path else data


def test_what_the_new_leader_had_fetched_again_is_not_lost() -> None:
    (loss,) = losses(fetched_some)
    assert (loss.offsets, loss.cause, loss.committed) == ((Range(230, 265),), "hw-truncation", True)


def without(*parts: str) -> Callable[[str, bytes], bytes | None]:
    return lambda path, data: None if any(part in path for part in parts) else data


@pytest.mark.parametrize("parts", [["/payments-0/"], ["replication-offset-checkpoint"], ["/cluster/"]], ids=str)
def test_neither_segments_nor_todays_checkpoints_are_needed(parts: list[str]) -> None:
    (loss,) = losses(without(*parts))
    assert (loss.offsets, loss.cause, loss.committed) == ((Range(200, 265),), "hw-truncation", True)


def test_never_said_to_be_nobodys_without_the_new_leaders_log() -> None:
    found = losses(without("/broker-1/logs/server.log"))
    assert [f.offsets for f in found] == [(Range(200, 265),)]
    assert found[0].committed is True
    assert found[0].severity == "critical"


# where a leader began is reported nowhere

ELECTED = datetime(2026, 11, 21, 11, 5, 44)
FOLLOWER, OLD = "broker-1/logs/server.log", "broker-3/logs/server.log"
CHECKPOINT = "broker-2/data/replication-offset-checkpoint"
SEGMENT = "broker-2/data/clicks-0/00000000000000000400.log"


def exemplar(name: str) -> Exemplar:
    return next(e for e in exemplars_of("data-loss") if e.name == name)


def shorter(change: Callable[[str, str], str | None] = lambda _, text: text, modified: dict[str, datetime] | None = None) -> list[Finding]:
    """Losses of the log that ends at 400 today, where the old leader of 0.9 came back with 423 and cut it to 300."""
    known = exemplar("log-shorter-than-the-old-leaders")
    changed = {path: change(path, data.decode()) for path, data in known.files.items()}
    files = {path: text for path, text in changed.items() if text is not None}
    found = of(report(files, {**known.modified, **(modified or {})}), "data-loss")
    return sorted(found, key=lambda f: f.offsets[0].start)


def below(found: list[Finding]) -> tuple[Range, bool]:
    """What may be gone below the proven part, and whether it probably is; a part is never surer than the one above it."""
    (loss,) = found
    under, proven = loss.parts
    assert (proven.offsets, proven.confidence, loss.severity) == PROVEN and under.confidence == "possible"
    return under.offsets, "The high watermark stayed at" in words(loss).explanation


PROVEN = (Range(400, 423), "possible", "medium")
"""That they are gone is proven; that a producer was told of them is not: the segment's records were not collected."""


def test_what_the_log_has_not_reached_again_is_gone_and_what_lies_above_a_standing_high_watermark_probably() -> None:
    (loss,) = shorter()
    assert below([loss]) == (Range(300, 400), True)
    assert (loss.cause, loss.committed, loss.leader_epoch) == ("uncommitted-tail", False, 1)
    assert "a log that ended at offset 400 or below" in words(loss).explanation and "23 offsets" in words(loss).explanation
    assert "kept them on its disk" not in words(loss).explanation
    assert {"clicks 0 400"} <= {e.text for e in loss.evidence} and {e.source for e in loss.evidence[:2]} == {FOLLOWER, OLD}
    assert any("offsets 300–399 hold now" in step for step in words(loss).next_steps)


def only(path: str, old: str, new: str) -> Callable[[str, str], str]:
    def change(at: str, text: str) -> str:
        assert at != path or old in text
        return text.replace(old, new) if at == path else text

    return change


def test_without_a_second_witness_the_high_watermark_may_have_moved_since_its_checkpoint() -> None:
    assert below(shorter(lambda path, text: None if path == FOLLOWER else text)) == (Range(300, 400), False)


def test_a_living_follower_knows_of_a_higher_high_watermark() -> None:
    found = shorter(only(FOLLOWER, "to offset 300", "to offset 350"))
    assert below(found) == (Range(350, 400), False)
    assert "known to have reached offset 350" in words(found[0]).explanation


def test_a_follower_that_was_started_anew_has_a_checkpoint_only() -> None:
    restart = "[2026-11-21 11:05:43,000] INFO Completed load of log clicks-0 with log end offset 300 (kafka.log.Log)\n"
    found = shorter(only(FOLLOWER, "[2026-11-21 11:05:44,048]", f"{restart}[2026-11-21 11:05:44,048]"))
    assert below(found) == (Range(300, 400), False)


def test_a_follower_that_learnt_of_the_term_before_says_nothing_of_the_time_before_it() -> None:
    again = "[2026-11-21 11:05:50,000] INFO Truncating log clicks-0 to offset 390. (kafka.log.Log)\n"
    found = shorter(lambda path, text: text + again if path == FOLLOWER else text)
    assert below(found) == (Range(300, 400), True)


def test_a_follower_whose_cut_is_not_in_evidence_says_nothing_with_a_later_one() -> None:
    cut = "[2026-11-21 11:05:44,048] INFO Truncating log clicks-0 to offset 300. (kafka.log.Log)\n"
    fetches = (
        "[2026-11-21 11:05:44,066] INFO [ReplicaFetcherManager on broker 1] Added fetcher for partitions List([[clicks,0], initOffset 300 to broker "
        "BrokerEndPoint(2,127.0.0.1,38681)] ) (kafka.server.ReplicaFetcherManager)\n"
    )
    found = shorter(only(FOLLOWER, cut, fetches + cut.replace("11:05:44", "11:05:50").replace("300", "390")))
    assert below(found) == (Range(300, 400), False)


def test_nothing_was_written_since_so_the_leader_began_where_the_log_ends() -> None:
    (loss,) = shorter(modified={SEGMENT: ELECTED - timedelta(seconds=2)})
    assert (*loss.offsets, loss.confidence, loss.severity) == PROVEN and len(loss.parts) == 1


def test_files_from_before_the_election_prove_nothing() -> None:
    earlier = ELECTED - timedelta(seconds=2)
    assert shorter(modified={SEGMENT: earlier, CHECKPOINT: earlier}) == []


def test_a_copy_that_lacks_what_its_checkpoint_tells_of_proves_nothing() -> None:
    assert shorter(only(CHECKPOINT, "clicks 0 400", "clicks 0 600")) == []
    assert shorter(lambda path, text: None if path == SEGMENT else text) == []


def test_a_leader_that_ends_below_the_cut_would_have_had_the_fetch_offset_reset() -> None:
    assert shorter(only(OLD, "to offset 300", "to offset 410")) == []


def led_on(path: str, text: str) -> str:
    """Broker 1 was elected after broker 2: which of them did not have the records?"""
    if "/logs/" not in path:
        return text.replace("clicks 0", "other 0")
    if path.endswith("controller.log"):
        line = text.splitlines()[-1]
        later = line.replace("11:05:44", "11:05:59").replace(
            '"leader":2,"leader_epoch":1,"isr":[2,1]', '"leader":1,"leader_epoch":2,"isr":[1]'
        )
        return f"{text}{later}\n"
    return text


def test_of_several_later_leaders_it_is_not_told_which_did_not_have_them() -> None:
    known = exemplar("log-shorter-than-the-old-leaders")
    files = {path.replace("broker-2/data", "broker-1/data"): led_on(path, data.decode()) for path, data in known.files.items()}
    files["broker-1/data/replication-offset-checkpoint"] = "0\n1\nclicks 0 400\n"
    modified = {path.replace("broker-2", "broker-1"): at for path, at in known.modified.items()}
    (found,) = of(report(files, modified), "data-loss")
    assert (found.offsets, found.confidence, found.cause, found.committed) == ((Range(400, 423),), "possible", "unknown", None)


@pytest.mark.parametrize("bundle", ["unclean-election-0.8.2.2-zk", "unclean-election-0.10.2.2-zk"])
def test_an_unclean_leader_of_which_nothing_is_known_may_have_replaced_everything_below(bundle: str) -> None:
    leader = {"unclean-election-0.8.2.2-zk": "broker-3", "unclean-election-0.10.2.2-zk": "broker-2"}[bundle]
    files = {path: data for path, data in collected(BUNDLES / f"{bundle}.tar.gz").items() if f"{leader}/logs/server.log" not in path}
    (found,) = [f for f in of(report(files), "data-loss") if (f.topic, f.partition) == ("orders", 0)]
    under, proven, beyond = found.parts
    assert beyond.offsets == Range(proven.offsets.end or 0, None)
    assert (under.confidence, proven.confidence, found.cause) == ("possible", "probable", "unclean-election")
    assert 200 < proven.offsets.start == under.offsets.end and under.offsets.start == 0 and found.offsets == (proven.offsets,)
    assert "or below (it ended there when another replica followed it" in words(found).explanation


# a leader that lives on


def deposed(change: Callable[[str, str], str] = lambda _, text: text) -> list[Finding]:
    """Losses of the leader of 0.10 that was frozen, woke, was refused to shrink the ISR and cut its log to 150 when it obeyed."""
    known = exemplar("deposed-leader-before-leader-epochs")
    return of(report({path: change(path, data.decode()) for path, data in known.files.items()}), "data-loss")


WOKE = "broker-1/logs/server.log"


def test_what_a_deposed_leader_took_alone_may_be_any_number() -> None:
    (found,) = deposed()
    assert (found.offsets, found.confidence, found.severity, found.committed) == ((Range(150, None),), "possible", "medium", False)
    assert found.brokers == (1, 2) and "last acknowledged offsets" in words(found).next_steps[0]
    assert any("Truncating log sessions-0 to offset 150" in e.text for e in found.evidence)


def test_a_leader_that_was_refused_nothing_was_not_known_to_take_anything() -> None:
    assert deposed(lambda path, text: "".join(x for x in text.splitlines(keepends=True) if "Cached zkVersion" not in x)) == []


def test_a_leader_that_died_took_nothing_afterwards() -> None:
    start = "[2026-11-21 11:02:50,000] INFO Completed load of log sessions-0 with 1 log segments and log end offset 150 in 9 ms (kafka.log.Log)\n"
    assert deposed(lambda path, text: start + text if path == WOKE else text) == []


def test_a_leader_that_was_told_to_lead_on_after_it_was_refused_was_not_deposed() -> None:
    """Its controller had taken a dead replica out of the ISR."""
    said = (
        "[2026-11-21 11:03:02,672] TRACE Broker 1 received LeaderAndIsr request PartitionState(controllerEpoch=1, leader=1, leaderEpoch=1, "
    )
    said += "isr=[1, 2], zkVersion=1, replicas=[1, 2, 3]) correlation id 4 from controller 1 epoch 1 for partition [sessions,0] (state.change.logger)\n"

    def led_on_first(path: str, text: str) -> str:
        text = text.replace("leader=2, leaderEpoch=1", "leader=2, leaderEpoch=2").replace('"leader_epoch":1', '"leader_epoch":2')
        lines = text.splitlines(keepends=True)
        if path.endswith("broker-1/logs/state-change.log"):
            return "".join([*lines[:1], said, *lines[1:]])
        return "".join(x for x in lines if path != WOKE or x < "[2026-11-21 11:03:02,672" or "Truncating" in x)

    assert deposed(led_on_first) == []


def test_a_leader_whose_cut_is_not_in_evidence_proves_no_offset() -> None:
    assert deposed(lambda path, text: "".join(x for x in text.splitlines(keepends=True) if "Truncating" not in x)) == []

"""What counts as lost: small stories of leaders, followers and truncations, with what they cost."""

from __future__ import annotations

import random
from datetime import datetime

import pytest

from forensics.model import Exemplar, Finding, Range
from forensics.rules import RULES
from tests import local
from tests.forensics.staged import START, Files, Story, of, report, shifted, table

Told = tuple[object, ...]


def losses(files: Files, modified: dict[str, datetime] | None = None) -> list[Finding]:
    return of(report(files, modified), "data-loss")


def told(finding: Finding) -> Told:
    return finding.offsets, finding.committed, finding.cause, finding.confidence


# no loss


def test_follower_that_cuts_and_fetches_again_loses_nothing() -> None:
    s = Story()
    s.leads(1, 0, 0, 0, 0, [1, 2, 3])
    s.loads(1, 20, 170, unclean=True)
    s.follows(1, 22, 2, 170, 156)
    s.truncates(1, 22.1, 156)
    s.leads(3, 10, 2, 170, 163, [3, 2], previous=0)
    assert losses(s.files) == []


def test_follower_ahead_of_a_leader_that_began_there_loses_only_what_lies_above() -> None:
    s = Story()
    s.leads(1, 0, 0, 0, 0, [1, 2, 3])
    s.loads(1, 20, 170, unclean=True)
    s.follows(1, 22, 2, 170, 156)
    s.truncates(1, 22.1, 156)
    s.leads(3, 10, 2, 163, 163, [3, 2], previous=0)
    (loss,) = losses(s.files)
    assert told(loss)[:3] == ((Range(163, 170),), False, "uncommitted-tail")


def test_epoch_that_rises_under_the_same_leader_loses_nothing() -> None:
    s = Story()
    s.leads(2, 0, 0, 0, 0, [2, 1, 3])
    s.leads(2, 10, 1, 200, 200, [2, 3], previous=0)
    s.leads(2, 11, 2, 358, 358, [2], previous=1)
    s.follows(3, 0, 0, 0, 0)
    assert of(report(s.files), "data-loss", "unclean-election") == []


def test_truncation_that_changes_nothing_loses_nothing() -> None:
    s = Story()
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.follows(2, 5, 0, 100, 100)
    s.truncates(2, 5.1, 100)
    s.leads(1, 9, 1, 100, 100, [1], previous=0)
    assert losses(s.files) == []


def test_orderly_stop_of_a_leader_loses_nothing() -> None:
    s = Story()
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.follows(1, 10, 1, 41, 41, previous=0)
    s.leads(2, 10, 1, 41, 34, [2], previous=0)
    s.loads(1, 16, 41, unclean=False)
    s.follows(1, 17, 1, 41, 41)
    assert losses(s.files) == []


# leaders that lead on alone


def alone(*, unclean: bool, end: int) -> Story:
    """Broker 1 is the whole ISR from 200 on, goes down, comes back at `end` and leads on in the same epoch."""
    s = Story("trades")
    s.leads(1, 0, 0, 0, 0, [1, 2, 3])
    s.leads(1, 12, 2, 200, 200, [1], previous=0)
    s.loads(1, 30, end, unclean=unclean)
    s.leads(1, 33, 2, end, end, [1])
    s.put("broker-2/data/meta.properties", ["version=0", "broker.id=2"])
    return s


def saved(s: Story, hw: int) -> tuple[dict[str, str], dict[str, datetime]]:
    """The same with the dead broker's checkpoint, copied before the restart."""
    s.put("broker-1/data/meta.properties", ["version=0", "broker.id=1"])
    s.put("broker-1/data/replication-offset-checkpoint", ["0", "1", "trades 0 300"])
    s.put("before-restart/broker-1/data/meta.properties", ["version=0", "broker.id=1"])
    s.put("before-restart/broker-1/data/replication-offset-checkpoint", ["0", "1", f"trades 0 {hw}"])
    return s.files, {
        "broker-1/data/replication-offset-checkpoint": START.replace(second=55),
        "before-restart/broker-1/data/replication-offset-checkpoint": START.replace(second=20),
    }


def test_sole_leader_that_restarts_shorter_than_its_saved_checkpoint() -> None:
    (loss,) = losses(*saved(alone(unclean=True, end=240), 398))
    assert told(loss)[:3] == ((Range(240, 398),), True, "unflushed-log")
    assert loss.severity == "critical"
    assert loss.brokers == (1,)


def test_saved_checkpoint_when_only_that_broker_was_collected() -> None:
    s = alone(unclean=True, end=240)
    s.forget("broker-2/data/meta.properties")
    (loss,) = losses(*saved(s, 398))
    assert loss.offsets == (Range(240, 398),)


def test_sole_leader_that_restarts_as_long_as_its_saved_checkpoint() -> None:
    found = losses(*saved(alone(unclean=True, end=398), 398))
    assert [f for f in found if f.confidence != "possible"] == []


def test_sole_leader_that_restarts_with_nothing_saved_leaves_a_doubt() -> None:
    (doubt,) = losses(alone(unclean=True, end=230).files)
    assert told(doubt) == ((Range(230, None),), None, "unflushed-log", "possible")
    assert any("before the restart" in step for step in doubt.next_steps), "says what would settle it"


def test_sole_leader_that_stopped_in_order_leaves_no_doubt() -> None:
    assert losses(alone(unclean=False, end=230).files) == []


# unclean elections


def unclean() -> Story:
    """Broker 2 alone leads from 200 to 358 and dies; broker 1, outside the ISR, leads from 200; broker 2 comes back."""
    s = Story()
    s.leads(2, 0, 0, 0, 0, [2, 1, 3])
    s.leads(2, 14, 2, 200, 200, [2], previous=0)
    s.offline(3, 40, 3, [2], 3, 2)
    s.online(3, 40.1, 4, 1, [1], 4)
    s.leads(1, 40.3, 4, 200, 200, [1])
    s.loads(2, 44, 358, unclean=True)
    s.follows(2, 46, 4, 358, 358)
    s.truncates(2, 46.1, 200)
    return s


def test_unclean_election_loses_what_the_isr_alone_had() -> None:
    (loss,) = losses(unclean().files)
    assert told(loss) == ((Range(200, 358),), True, "unclean-election", "certain")
    assert loss.brokers == (2, 1)
    assert loss.leader_epoch == 4


def test_two_unclean_elections_in_a_row_each_lose_their_part() -> None:
    s = Story()
    s.leads(1, 0, 1, 100, 100, [1])
    s.offline(9, 10, 2, [1], 5, 1)
    s.online(9, 10.1, 3, 2, [2], 6)
    s.leads(2, 10.2, 3, 200, 200, [2])
    s.offline(9, 20, 4, [2], 7, 2)
    s.online(9, 20.1, 5, 3, [3], 8)
    s.leads(3, 20.2, 5, 150, 150, [3])
    s.loads(1, 30, 300, unclean=True)
    s.follows(1, 31, 5, 300, 300)
    s.truncates(1, 31.1, 150)
    s.loads(2, 32, 250, unclean=True)
    s.follows(2, 33, 5, 250, 250)
    s.truncates(2, 33.1, 150)
    found = report(s.files)
    assert [(f.leader_epoch, f.offsets, f.cause) for f in sorted(of(found, "data-loss"), key=lambda f: f.leader_epoch or 0)] == [
        (3, (Range(200, 300),), "unclean-election"),
        (5, (Range(150, 250),), "unclean-election"),
    ]
    assert [f.brokers[0] for f in sorted(of(found, "unclean-election"), key=lambda f: f.leader_epoch or 0)] == [2, 3]


def test_a_loss_is_split_at_the_high_watermark() -> None:
    """Two replicas were in sync, so the high watermark was not the log's end: below it committed, above it nobody can tell."""
    s = Story()
    s.leads(1, 0, 0, 0, 0, [1, 2, 3])
    s.offline(3, 40, 1, [1, 2], 3, 1)
    s.online(3, 40.1, 2, 3, [3], 4)
    s.leads(3, 40.2, 2, 200, 200, [3], previous=0)
    s.loads(1, 44, 300, unclean=True)
    s.follows(1, 46, 2, 300, 250)
    s.truncates(1, 46.1, 200)
    below, above = losses(s.files)
    assert told(below)[:3] == ((Range(200, 250),), True, "unclean-election")
    assert told(above)[:3] == ((Range(250, 300),), None, "unclean-election")
    assert (below.severity, above.severity) == ("critical", "high")


def test_clean_leader_without_the_tail_of_the_old_one() -> None:
    s = Story()
    s.leads(2, 0, 0, 0, 0, [2, 3, 1])
    s.leads(3, 19, 1, 340, 300, [3, 1], previous=0)
    s.follows(2, 22, 1, 405, 300)
    s.truncates(2, 22.1, 340)
    (loss,) = losses(s.files)
    assert told(loss) == ((Range(340, 405),), False, "uncommitted-tail", "certain")
    assert loss.severity == "high"


def test_several_followers_that_cut_the_same_tail_are_one_loss() -> None:
    s = unclean()
    s.follows(3, 15, 2, 200, 200, previous=0)
    s.follows(3, 46, 4, 300, 290, previous=2)
    s.truncates(3, 46.1, 200)
    (loss,) = losses(s.files)
    assert loss.offsets == (Range(200, 358),)


def test_a_tail_of_unknown_epoch_is_lost_to_the_leader_it_was_cut_for() -> None:
    """The log of broker 3 begins with its cut under epoch 4; epoch 2 happens to have begun at the same offset."""
    s = unclean()
    s.follows(3, 46, 4, 300, 290)
    s.truncates(3, 46.1, 200)
    (loss,) = losses(s.files)
    assert (loss.offsets, loss.leader_epoch) == ((Range(200, 358),), 4)


# topics


def test_topic_made_again_under_its_name_is_never_compared() -> None:
    s = Story()
    s.leads(2, 0, 0, 0, 0, [2, 3])
    s.leads(2, 4, 1, 500, 500, [2], previous=0)
    s.line(
        3,
        "controller",
        10,
        "INFO [Topic Deletion Manager 3] Deletion of topic t successfully completed (kafka.controller.TopicDeletionManager)",
    )
    where = "/var/lib/kafka/broker-2/data/t-0"
    s.line(
        2,
        "server",
        10,
        f"INFO Log for partition t-0 is renamed to {where}.1289b606d36642e1b9c5b32a9a5a6746-delete and is scheduled for deletion (kafka.log.LogManager)",
    )
    s.line(2, "server", 20, f"INFO Created log for partition t-0 in {where} with properties {{}} (kafka.log.LogManager)")
    s.follows(2, 20.1, 0, 0, 0)
    s.leads(3, 20, 0, 0, 0, [3, 2])
    found = report(s.files)
    assert of(found, "data-loss", "unclean-election", "hw-regression") == []


# clocks and order: neither moves a verdict

VERDICTS = ("data-loss", "unclean-election", "log-divergence")
PROVEN: list[tuple[str, Exemplar]] = [(r.kind, e) for r in RULES if r.kind in VERDICTS for e in r.exemplars]


def verdicts(files: Files, modified: dict[str, datetime]) -> list[Told]:
    found = of(report(files, modified), *VERDICTS)
    return sorted((f.kind, f.topic, f.partition, f.brokers, f.leader_epoch, *map(str, told(f))) for f in found)


def written(exemplar: Exemplar) -> dict[str, datetime]:
    """Modification times as a collection that keeps them has them: a log's is that of its last line, by a clock that is right."""
    logs = {p: last_line(d) for p, d in exemplar.files.items() if "/logs/" in p}
    return {**logs, **exemplar.modified}


def last_line(log: bytes) -> datetime:
    stamps = [line[1:24] for line in log.decode().split("\n") if line.startswith("[20")]
    return datetime.strptime(stamps[-1], "%Y-%m-%d %H:%M:%S,%f")


@pytest.mark.parametrize("seconds", [300, -300])
@pytest.mark.parametrize("exemplar", [e for _, e in PROVEN], ids=[f"{k}/{e.name}" for k, e in PROVEN])
def test_a_clock_that_is_wrong_changes_no_verdict(exemplar: Exemplar, seconds: int) -> None:
    straight = verdicts(exemplar.files, written(exemplar))
    for broker in sorted({p.split("/")[0] for p in exemplar.files if "/logs/" in p}):
        wrong = {p: shifted(d, seconds) if p.startswith(f"{broker}/logs/") else d for p, d in exemplar.files.items()}
        assert verdicts(wrong, written(exemplar)) == straight, f"{broker} {seconds:+} s"


@pytest.mark.parametrize("story", [unclean().files, alone(unclean=True, end=230).files], ids=["unclean", "alone"])
@pytest.mark.parametrize("seconds", [300, -300])
def test_a_clock_that_is_wrong_changes_no_story(story: dict[str, str], seconds: int) -> None:
    straight = verdicts(story, {})
    assert straight
    for broker in sorted({p.split("/")[0] for p in story if "/logs/" in p}):
        wrong = {p: shifted(d.encode(), seconds) if p.startswith(f"{broker}/logs/") else d for p, d in story.items()}
        assert verdicts(wrong, {}) == straight, f"{broker} {seconds:+} s"


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("exemplar", [e for _, e in PROVEN], ids=[f"{k}/{e.name}" for k, e in PROVEN])
def test_files_and_rows_in_any_order_give_the_same_report(exemplar: Exemplar, seed: int) -> None:
    straight = report(exemplar.files, exemplar.modified).json()
    paths = list(exemplar.files)
    random.Random(seed).shuffle(paths)
    files = {p: exemplar.files[p] for p in paths}
    assert report(files, exemplar.modified).json() == straight
    assert local.report(table(files, exemplar.modified, shuffled=seed)).json() == straight

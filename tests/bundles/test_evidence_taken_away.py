"""With evidence taken away or altered nothing false is reported, nothing is surer than with all of it, and no loss is passed over in silence (tests.support.taken).

A sample, for time's sake. KAFKA_FORENSICS_TAKEN=all tries every way on every fixture, which takes hours;
KAFKA_FORENSICS_TAKEN=NAME,NAME those fixtures; `python -m tests.support.taken [NAME...]` does the same and prints the table.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import pytest

from tests.support.contradictions import check_contradictions
from tests.support.taken import ITSELF, NAMES, NEVER, Way, tried, ways

ASKED = os.environ.get("KAFKA_FORENSICS_TAKEN", "")
SAMPLE = (
    "unclean-election-2.8.2-zk",
    "acks1-failover-3.9.1-kraft",
    "power-loss-divergence-2.8.2-zk",
    "last-replica-standing-1.0.2-zk",
    "zombie-leader-4.1.1-kraft",
    "shared-log-2.8.2-zk",
    "wiped-disk-twice-2.8.2-zk",
    "unclean-election-0.10.2.2-zk",
)
WAYS = 4
"""Ways tried on a fixture of the sample: evenly over all there are, and others on each fixture."""

ONCE_BROKEN = (
    (
        "wiped-zookeeper-outlived-2.3.1-zk",
        "first 2 of 5 parts of each log",
    ),  # leader epochs that begin again, and the cluster before has no end
    ("opposite-tails-0.10.1.1-zk", "first 3 of 5 parts of each log"),  # what a broker cut that had led before the first known term
    ("wiped-after-retention-2.8.2-zk", "first 2 of 5 parts of each log"),  # a log whose start no line gives, after retention
    ("wiped-after-retention-2.8.2-zk", "first 3 of 5 parts of each log"),  # a log that is created again before its first known leader
    ("mixed-fleet-3.5.2-zk", "first 3 of 5 parts of each log"),  # the only replica, back from an unclean stop before its first known term
    ("recreated-topic-ids-2.2.2-zk", "first 3 of 5 parts of each log"),  # logs of two deleted topics of one name
    ("delete-recreate-retention-2.8.2-zk", "all but every segment"),  # the log of a deleted topic, and that of the next one
    ("wiped-after-retention-2.8.2-zk", "every server-log"),  # a log that came back empty, and no line shows what retention deleted
    ("wiped-after-retention-2.8.2-zk", "first half of all logs"),  # a log that was created at a start, and no controller says it is new
    ("wiped-zookeeper-3.7.2-zk", "every state-change-log"),  # fetchers of leader epochs before the first whose leader is known
    ("misnumbered-batch-1.1.1-zk", "line 2 of every 2"),  # a leader epoch that only the broker's own log tells of
    ("misnumbered-batch-1.1.1-zk", "every log-created"),  # a log that ends at a load is not where it ended before it was emptied
    ("wiped-everything-3.9.1-kraft", "line 3 of every 3"),  # a fetcher that gave up as its broker was to lead
    ("busy-rolling-4.1.1-kraft", "logs of broker-1 after tenth 5"),  # producers that waited for a leader whose start no line gives
    ("unclean-election-0.8.2.2-zk", "12 seconds of all logs after tenth 2"),  # an ISR change that starts from an ISR that no line shows
    (
        "unclean-election-0.8.2.2-zk",
        "12 seconds of all logs after tenth 5",
    ),  # a leader that was away and is back, and no line shows its start
    ("opposite-tails-0.10.1.1-zk", "tenth 7 of all logs"),  # a disk without epochs tells not how its log ended as it led
    ("wiped-everything-0.10.0.1-zk", "everything of broker-2"),  # clusters without ids
    ("wiped-everything-0.10.0.1-zk", "logs of broker-1 up to tenth 3"),  # a topic's life that begins with a request
    ("wiped-everything-0.10.0.1-zk", "every broker-stopped"),  # a stop that handed over is no death
    ("busy-two-at-once-2.8.2-zk", "line 2 of every 3"),  # a shrink that was only intended
    ("busy-rolling-4.1.1-kraft", "line 1 of every 3"),  # a change of the ISR by a leader whose start is missing
    ("clients-unclean-3.9.1-kraft", "everything of broker-2"),  # a disk that was saved before its replica was in sync again
    ("power-loss-divergence-0.10.2.2-zk", "line 3 of every 5"),  # a leader back from an unclean stop that another partition tells of
    ("unclean-election-3.7.2-zk", "first half of all logs"),  # a leader that was back, and nothing tells how it loaded its log
    ("recreated-topic-ids-2.2.2-zk", "line 1 of every 5"),  # logs of deleted topics that are loaded, and the own one is missing
    ("busy-two-at-once-2.8.2-zk", "line 1 of every 2"),  # a first state without a partition epoch
    ("last-replica-standing-unprovable-2.8.2-zk", "tenth 8 of all logs"),  # the last replica in sync is back, and its load is missing
    ("unclean-election-0.8.2.2-zk", "line 1 of every 3"),  # a log left behind, all of whose records the leader has
    ("wiped-zookeeper-1.1.1-zk", "all but broker-3"),  # what others brought from the cluster before
    ("busy-rolling-4.1.1-kraft", "line 2 of every 3"),  # a cut whose leader epoch only its plan tells
    ("busy-two-at-once-2.8.2-zk", "line 3 of every 3"),  # clocks compared by lines of two restarts; a cut after a restart, and no role told
    ("last-replica-standing-2.8.2-zk", "clock of broker-1 -120 s after a restart"),  # taken for an hour that repeats in autumn
    ("rolling-restart-4.1.1-kraft", "clocks of all nodes 3600 s from the middle on"),  # a zone that changes between two samples
    ("busy-two-at-once-2.8.2-zk", "clock of broker-4 -3600 s for 20 s"),  # a high watermark of another time
    ("clean-failover-3.9.1-kraft", "dates of all nodes 1 days"),  # files that seem older than the lines about them
    ("clean-failover-3.9.1-kraft", "dates of all nodes -1 days"),  # a metadata log that is compared with the lines of another day
    ("disk-replaced-in-isr-2.3.1-zk", "tenth 6 of all logs"),  # an outage of which only the latest possible end is known
    ("rolling-restart-2.8.2-zk", "second half of all logs"),  # a share of the partitions that are known
    ("delete-recreate-retention-2.8.2-zk", "all but WARN and worse"),  # a failed fetch, and no log prints what came after
    ("migration-3.9.1-zk", "logs of broker-2 after tenth 3"),  # a copy of the metadata log that its broker had removed itself
    ("unclean-election-2.8.2-zk", "logs of broker-1 up to tenth 5"),  # a broker that was one of all that were offline
    ("wiped-after-retention-2.8.2-zk", "line 2 of every 5"),  # segments were deleted, and the line with the new log start is missing
    ("wiped-everything-3.9.1-kraft", "clock of controller-100 -40 s for 20 s"),  # a second start with an earlier time than the first
    ("wiped-everything-3.9.1-kraft", "clock of broker-2 120 s from the middle on"),  # a later ISR with an earlier time than the log
    ("producers-left-down-3.9.1-kraft", "all but broker-3"),  # the only in-sync replica crashed after the last line that is left
    (
        "producers-left-down-3.9.1-kraft",
        "first 2 of 5 parts of each log",
    ),  # a partition that was created while a broker was down, and stays short
    ("wiped-everything-0.10.0.1-zk", "second half of all logs"),  # the settings of a cluster that ended, in the output of a tool
    ("unclean-election-2.8.2-zk", "grep -v INFO"),  # a warning that prints INFO as the value of a setting
    ("rolling-restart-4.1.1-kraft", "wrapped at 80 columns"),  # lines that were not read are not missing
    ("rolling-restart-4.1.1-kraft", "epoch checkpoints without their last digit, no segments"),  # a cut number is no damage
    ("rolling-restart-4.1.1-kraft", "segments cut in a batch"),  # a copy of a log that is cut between two batches
    ("acks1-failover-3.9.1-kraft", "topics renamed in logs"),  # two names of one topic id
    ("acks1-failover-3.9.1-kraft", "node id of a backup"),  # a meta.properties that is a copy of another broker's
    ("unclean-election-2.8.2-zk", "cluster id of a backup"),  # a cluster that only one disk names, and that was not the last
    ("acks1-failover-3.9.1-kraft", "another cluster's log in place of a broker's own"),  # a broker in two clusters at a time
    ("acks1-failover-3.9.1-kraft", "a log of another cluster's broker with this id"),
    ("clients-unclean-1.1.1-zk", "files have no time"),  # settings without a time are no surer than later ones
    ("grow-replicas-2.8.2-zk", "clock of broker-2 -40 s for 20 s"),  # a clock that is set back between two lines about a partition
    ("unclean-election-1.0.2-zk", "all but every controller-log"),  # the load of partitions whose replicas are not known
    ("many-lives-2.1.1-zk", "node id of a backup"),  # a broker that only a meta.properties names
    (
        "last-replica-standing-2.8.2-zk",
        "clock of before-restart/broker-1 120 s for 20 s",
    ),  # an election that a copy of the log shows at another time
    ("last-replica-standing-1.0.2-zk", "clock of before-restart/broker-2 40 s for 20 s"),  # and states of partitions at another time
    ("last-replica-standing-2.8.2-zk", "clock of before-restart/broker-1 3600 s for 20 s"),  # and a log that is created again
    ("unclean-election-2.8.2-zk", "logs of broker-3 copied with other leader epochs"),  # two copies, one of which is wrong
    ("zombie-leader-2.8.2-zk", "records out of order"),  # a clock that was never set back
    ("unclean-election-2.8.2-zk", "records delivered again"),
    ("unclean-election-2.8.2-zk", "ids of topics masked"),  # one id of several topics
    ("throttled-replica-2.8.2-zk", "clock of broker-1 -300 s from its restart on"),  # a clock that others were compared with
    ("isr-flapping-2.4.1-zk", "line 1 of every 2"),  # starts in one rhythm
    ("disk-full-restarts-2.8.2-zk", "line 2 of every 2"),  # one pairing of lines against epochs and files
    ("wiped-disk-twice-2.8.2-zk", "records delivered again"),  # a clock that is measured by lines out of order
    ("isr-flapping-2.4.1-zk", "line 2 of every 5"),  # an end that others learned of later
    ("delete-recreate-retention-2.8.2-zk", "all but every state-change-log"),  # replicas that go offline as their topic is deleted
    ("power-loss-divergence-2.8.2-zk", "server logs sampled"),  # and against the epochs of the other direction
    ("wiped-zookeeper-1.1.1-zk", "dates -29 days, without segments"),  # a topic's creation that does not show its settings
    ("isr-flapping-1.0.2-zk", "records of a log store with one time"),  # a wrapper's time that is not the time of its lines
    ("recreated-topic-ids-2.2.2-zk", "line 2 of every 2"),  # assignments of two topics of one name
    ("wiped-everything-0.10.0.1-zk", "clock of broker-3 120 s for 20 s"),  # a start that seems to follow a later line of its log
)


@pytest.mark.parametrize("name", NAMES if ASKED == "all" else ASKED.split(",") if ASKED else SAMPLE)
def test_nothing_false_nothing_surer_and_no_silence(name: str) -> None:
    chosen = list(ways(name))
    if not ASKED:
        step = len(chosen) // WAYS
        chosen = chosen[SAMPLE.index(name) * step // len(SAMPLE) :: step]
    check(name, chosen)


@pytest.mark.parametrize(("name", "taken"), sorted(ONCE_BROKEN))
def test_what_was_broken_once(name: str, taken: str) -> None:
    check(name, [way for way in ways(name) if way[1] == taken])


def check(name: str, chosen: Sequence[Way]) -> None:
    found = {way[1]: tried(name, way).violations for way in chosen}
    broken = [(words, *own) for words, violations in found.items() for own in violations if own[0] in NEVER]
    assert broken == []
    for words, violations in found.items():
        check_contradictions(f"{name}: {words}", tuple(stated for relation, stated in violations if relation == ITSELF))

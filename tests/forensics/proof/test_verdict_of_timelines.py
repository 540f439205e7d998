"""The verdict on a partition: a proof where it says intact, a reason and what would settle it where it says unknown."""

from __future__ import annotations

from tests.forensics.rules.test_data_loss import unclean
from tests.forensics.staged import Files, Story
from tests.support import local


def said(story: Story | Files) -> tuple[str, str]:
    files = story.files if isinstance(story, Story) else story
    (state,) = [p for p in local.report(local.events_of_files(files)).partitions if p["topic"] == "t"]
    return state["verdict"], state["why"]


def started() -> Story:
    s = Story()
    for broker in (1, 2):
        s.line(broker, "server", -1, f"INFO [KafkaServer id={broker}] started (kafka.server.KafkaServer)")
    return s


def handed_over(*, end: int = 200) -> Story:
    """Broker 1 leads to `end`, broker 2, in sync, takes over at 200, and broker 1 follows it."""
    s = started()
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.follows(2, 0.1, 0, 0, 0)
    s.leads(2, 10, 1, 200, 200, [1, 2], previous=0)
    s.follows(1, 10.1, 1, end, 200, previous=0)
    if end > 200:
        s.truncates(1, 10.2, 200)
    return s


def test_a_leader_in_sync_after_another_whose_end_is_known() -> None:
    verdict, why = said(handed_over())
    assert (verdict, why) == ("intact", "2 leader epochs without a gap, each begun by a replica that had all committed records")


def test_a_tail_that_was_never_committed() -> None:
    verdict, why = said(handed_over(end=205))
    assert verdict == "tail-cut"
    assert "200–204" in why and "never committed" in why


def test_what_an_unclean_election_cost() -> None:
    verdict, why = said(unclean())
    assert verdict == "lost"
    assert why.startswith("offsets 200–357 at least, which were committed, are gone"), "its crash may have taken more"


def test_a_leader_whose_log_is_not_there() -> None:
    s = handed_over()
    s.forget("broker-1/logs/state-change.log")
    verdict, why = said(s)
    assert verdict == "unknown"
    assert why.startswith("the evidence shows the start of leader epoch 1, but not the leader before it")


def test_an_epoch_nobody_tells_of() -> None:
    s = started()
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.leads(2, 10, 2, 200, 200, [1, 2], previous=0)
    s.follows(1, 10.1, 2, 200, 200, previous=0)
    verdict, why = said(s)
    assert verdict == "unknown"
    assert why.startswith("leader epoch 1 is not in the evidence; state-change.log")


def test_a_deposed_leader_that_never_told_where_its_log_ended() -> None:
    s = started()
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.leads(2, 10, 1, 200, 200, [1, 2], previous=0)
    verdict, why = said(s)
    assert verdict == "unknown"
    assert why.startswith("where the log of broker 1 ended when broker 2 took over is unknown")


def test_lines_that_could_not_be_read() -> None:
    """They print neither time nor level, so what they say has no place."""
    s = handed_over()
    s.put(
        "broker-1/logs/server.log.1",
        ["Truncating log t-0 to offset 190. kafka.log.Log", "[KafkaServer id=1] started kafka.server.KafkaServer"],
    )
    verdict, why = said(s)
    assert verdict == "unknown"
    assert why.startswith("the logs of broker 1, which led the partition, do not show what it cut off")

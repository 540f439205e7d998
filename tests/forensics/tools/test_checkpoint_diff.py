"""Replicas' files side by side: what recorded clusters really held, and copies that contradict themselves or each other."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from io import StringIO
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from forensics.model.partition.lineage import on_disk
from forensics.model.partition.replicas import Disk
from forensics.model.timelines import judged
from forensics.tools.checkpoint_diff import SCHEMA, Copy, comparison, parting
from forensics.views.checkpoints import Comparison, show
from tests.forensics import staged
from tests.support import local, recorded
from tests.support.paths import BUNDLES

Row = Mapping[str, Any]


def compared(table: pa.Table, *, everything: bool = False) -> Comparison:
    cluster, resolver = local.gathered(table)
    found = judged(local.identified(table, resolver, cluster), cluster, comparison(cluster, everything=everything), SCHEMA)
    return Comparison(cluster, [r for b in found for r in b.to_pylist()], resolver.shown, ("checkpoints",), everything)


def of(bundle: str, *, everything: bool = False) -> Comparison:
    return compared(recorded.events(bundle), everything=everything)


def row(found: Comparison, topic: str, partition: int) -> Row:
    (one,) = [r for r in found.rows if (r["topic"], r["partition"], r["generation"]) == (topic, partition, 0)]
    return one


def kinds(one: Row) -> set[tuple[str, int]]:
    return {(r["kind"], r["broker"]) for r in one["remarks"] or ()}


def files(
    broker: int, *, hw: int = 100, recovery: int = 50, start: int | None = None, epochs: str = "0\n1\n0 0\n", topic_id: str | None = None
) -> dict[str, str]:
    """What a broker's disk holds of t-0, but for segments."""
    root = f"broker-{broker}/data"
    found = {
        f"{root}/meta.properties": f"version=0\nbroker.id={broker}\n",
        f"{root}/replication-offset-checkpoint": f"0\n1\nt 0 {hw}\n",
        f"{root}/recovery-point-offset-checkpoint": f"0\n1\nt 0 {recovery}\n",
        f"{root}/t-0/leader-epoch-checkpoint": epochs,
    }
    if start is not None:
        found[f"{root}/log-start-offset-checkpoint"] = f"0\n1\nt 0 {start}\n"
    if topic_id is not None:
        found[f"{root}/t-0/partition.metadata"] = f"version: 0\ntopic_id: {topic_id}"
    return found


# what really happened


def test_a_disk_saved_before_the_restart_shows_what_went_back() -> None:
    found = of("last-replica-standing-2.8.2-zk")
    trades = row(found, "trades", 0)
    assert [(c["broker"], c["latest"], c["high_watermark"], c["log_end_offset"]) for c in trades["copies"]] == [
        (1, False, 398, None),
        (1, True, 300, 300),
        (2, True, 300, 300),
        (3, True, 300, 300),
    ]
    assert [(c["broker"], c["what"], c["way"], c["before"], c["after"]) for c in trades["changes"]] == [
        (1, "high_watermark", "back", 398, 300)
    ]
    assert trades["verdict"] == "odd"
    assert row(found, "calm", 0)["verdict"] == "agree"
    appeared = row(found, "__consumer_offsets", 0)
    assert [(c["what"], c["way"]) for c in appeared["changes"]] == [("partition", "appeared")], "made after the disk was saved"


@pytest.mark.parametrize(
    "bundle", ["last-replica-standing-2.8.2-zk", "last-replica-standing-3.9.1-kraft", "last-replica-standing-4.1.1-kraft"]
)
def test_only_where_records_were_lost_anything_went_back(bundle: str) -> None:
    found = of(bundle)
    back = {r["topic"] for r in found.rows for c in r["changes"] or () if c["way"] == "back"}
    assert back == {"trades"}, "calm had a new leader whose epoch never held a record"


def test_replicas_on_a_failed_directory_are_behind() -> None:
    found = of("log-dir-failure-2.8.2-zk")
    assert {(r["topic"], r["partition"]) for r in found.listed} == {("media", 1), ("media", 3)}
    one = row(found, "media", 1)
    assert kinds(one) == {("log-end-differs", 2)}
    assert one["remarks"][0]["text"] == "log ends at 75, 100 behind broker 1"
    assert one["copies"][1]["directories"] == ["broker-2/data1"]


def test_before_leader_epochs_checksums_tell_that_records_differ() -> None:
    found = of("unclean-election-0.8.2.2-zk")
    assert {(r["topic"], r["partition"]): kinds(r) for r in found.listed} == {
        ("orders", 0): {("records-differ", 1)},
        ("orders", 1): {("records-differ", 1)},
    }
    assert {r["remarks"][0]["offset"] for r in found.listed} == {200}


@pytest.mark.parametrize(
    "bundle", ["rolling-restart-2.8.2-zk", "clean-failover-3.9.1-kraft", "reassignment-3.9.1-kraft", "unclean-election-4.3.0-kraft"]
)
def test_replicas_that_agree_are_only_counted(bundle: str) -> None:
    found = of(bundle)
    assert found.listed == []
    assert found.counts["agree"] == len(found.rows) >= 3
    assert found.document()["partitions"] == []
    whole = of(bundle, everything=True)
    assert len(whole.document()["partitions"]) == len(whole.rows)
    assert all(r["copies"] for r in whole.rows)


# contradictions


@pytest.mark.parametrize(
    ("disk", "kind"),
    [
        ({"start": 120}, "start-above-hw"),
        ({"epochs": "0\n2\n3 0\n2 40\n"}, "epochs-not-rising"),
        ({"epochs": "0\n2\n1 60\n2 40\n"}, "epochs-not-rising"),
    ],
)
def test_a_copy_that_contradicts_itself(disk: dict[str, Any], kind: str) -> None:
    found = compared(local.events_of_files({**files(1), **files(2, **disk)}))
    assert (kind, 2) in kinds(row(found, "t", 0))
    assert row(found, "t", 0)["verdict"] == "odd"
    assert not any(broker == 1 for _, broker in kinds(row(found, "t", 0)))


def segment(bundle: str, path: str) -> bytes:
    import tarfile

    with tarfile.open(BUNDLES / f"{bundle}.tar.gz") as whole:
        content = whole.extractfile(f"{bundle}/{path}")
        assert content is not None
        return content.read()


@pytest.mark.parametrize(
    ("disk", "kind"),
    [
        ({"hw": 301}, "hw-beyond-log"),
        ({"recovery": 301, "hw": 300}, "recovery-point-beyond-log"),
        ({"hw": 300, "epochs": "0\n2\n0 0\n7 301\n"}, "epoch-beyond-log"),
    ],
)
def test_a_checkpoint_beyond_the_end_of_its_log(disk: dict[str, Any], kind: str) -> None:
    """The log is a recorded one that ends at 300."""
    data = segment("last-replica-standing-2.8.2-zk", "broker-2/data/trades-0/00000000000000000000.log")
    held = {**files(1, **disk), "broker-1/data/t-0/00000000000000000000.log": data}
    early = {path: datetime(2026, 1, 1) for path in held}
    contradiction = row(compared(staged.table(held, early)), "t", 0)
    assert [(r["kind"], r["odd"]) for r in contradiction["remarks"]] == [(kind, True)]
    cut = early | {"broker-1/data/t-0/00000000000000000000.log": datetime(2026, 1, 2)}
    truncated = row(compared(staged.table(held, cut)), "t", 0)
    assert [(r["kind"], r["odd"]) for r in truncated["remarks"]] == [(kind, False)], "the next checkpoint will agree"


def test_lineages_that_part_name_the_offset_and_both_epochs() -> None:
    old, new = files(1, hw=358, epochs="0\n2\n0 0\n2 180\n"), files(2, hw=260, epochs="0\n3\n0 0\n2 180\n4 200\n")
    (remark,) = [r for r in row(compared(local.events_of_files({**old, **new})), "t", 0)["remarks"] if r["kind"] == "lineage-parts"]
    assert (remark["broker"], remark["offset"], remark["odd"]) == (1, 200, True)
    assert remark["text"].startswith("parts from broker 2 at offset 200: epoch 2 here, epoch 4 there; offsets 200–357 (158 or more)")


def test_directories_of_two_topics_of_one_name() -> None:
    held = {
        **files(1, topic_id="QSVPG9F7Rm6kXF7A4Vmvnw"),
        **files(2, topic_id="QSVPG9F7Rm6kXF7A4Vmvnw"),
        **files(3, topic_id="aaaaaaaaRm6kXF7A4Vmvnw"),
    }
    found = compared(local.events_of_files(held))
    claimed = {kind for r in found.listed for kind, _ in kinds(r)}
    assert "old-generation" in claimed
    assert all(r["verdict"] == "odd" for r in found.listed if r["generation"] < 0)


def test_one_partition_in_two_directories_of_a_broker() -> None:
    other = {"broker-1/data2/meta.properties": "version=0\nbroker.id=1\n", "broker-1/data2/replication-offset-checkpoint": "0\n1\nt 0 90\n"}
    one = row(compared(local.events_of_files(files(1) | other)), "t", 0)
    assert kinds(one) == {("two-directories", 1)}
    assert one["copies"][0]["directories"] == ["data", "data2"]


@pytest.mark.parametrize("state", ["delete", "future", "stray"])
def test_a_directory_beside_the_replicas_is_shown_and_not_taken_for_it(state: str) -> None:
    own: dict[str, str | bytes] = {**files(1)}
    name = f"t-0.0123456789abcdef0123456789abcdef-{state}"
    beside: dict[str, str | bytes] = {
        f"broker-1/data/{name}/leader-epoch-checkpoint": "0\n1\n7 40\n",
        f"broker-1/data/{name}/00000000000000000000.log": b"",
    }
    one = row(compared(local.events_of_files(own | beside), everything=True), "t", 0)
    assert kinds(one) == ({(f"directory-{state}", 1)} if state != "delete" else set())
    live, aside = one["copies"]
    assert (live["state"], aside["state"]) == (None, state)
    assert aside["directories"] == [f"data/{name}"]
    assert [e["epoch"] for e in aside["epochs"]] == [7] and 7 not in [e["epoch"] for e in live["epochs"]]
    assert aside["log_end_offset"] == 0
    out = StringIO()
    shown = compared(local.events_of_files(own | beside), everything=True)
    show(shown, Console(file=out, width=140))
    assert f"1 {state}" in out.getvalue()


@pytest.mark.parametrize("state", ["delete", "stray"])
def test_a_partition_of_which_only_a_directory_aside_is_left(state: str) -> None:
    name = f"t-0.0123456789abcdef0123456789abcdef-{state}"
    left = {"broker-1/data/meta.properties": "version=0\nbroker.id=1\n", f"broker-1/data/{name}/leader-epoch-checkpoint": "0\n1\n7 40\n"}
    one = row(compared(local.events_of_files(left)), "t", 0)
    assert [(c["broker"], c["state"]) for c in one["copies"]] == [(1, state)]
    assert kinds(one) == {(f"directory-{state}", 1)}
    assert one["verdict"] == "differ"
    assert "no segment of it was collected" in one["remarks"][0]["text"]


# lineages


def copy(broker: int, epochs: list[tuple[int, int]], end: int | None) -> Copy:
    held = Disk(broker, "c", log_end_offset=end, epochs=epochs)
    return Copy(held, True, lineage=on_disk(held, cleaned=False))


@pytest.mark.parametrize(
    ("one", "other", "at"),
    [
        (([(0, 0), (2, 180)], 358), ([(0, 0), (2, 180), (4, 200)], 260), 200),
        (([(0, 0), (2, 180)], 200), ([(0, 0), (2, 180), (4, 200)], 260), None),  # behind, and right as far as it goes
        (([(0, 0)], 100), ([(0, 0), (5, 100)], 100), None),  # a leader notes its epoch before its first record
        (([(3, 0)], 100), ([(4, 0)], 100), 0),
        (([(0, 0), (1, 50), (2, 50)], 100), ([(0, 0), (2, 50)], 100), None),  # 0.11 notes epochs without records
        (([(5, 300)], 400), ([(0, 0), (5, 250)], 400), None),  # retention took what differs in the files only
        (([], 100), ([(0, 0)], 100), None),
        (([(0, 0), (2, 180)], None), ([(0, 0), (4, 170)], 300), 170),
    ],
)
def test_where_two_lineages_part(
    one: tuple[list[tuple[int, int]], int | None], other: tuple[list[tuple[int, int]], int | None], at: int | None
) -> None:
    assert parting(copy(1, *one), copy(2, *other)) == at
    assert parting(copy(2, *other), copy(1, *one)) == at


@st.composite
def lineages(draw: st.DrawFn) -> tuple[list[tuple[int, int]], int]:
    starts = sorted(draw(st.sets(st.integers(0, 12), max_size=4)))
    epochs = sorted(draw(st.sets(st.integers(0, 6), min_size=len(starts), max_size=len(starts))))
    return list(zip(epochs, starts, strict=True)), draw(st.integers(starts[-1] if starts else 0, 14))


@settings(max_examples=200)
@given(lineages(), lineages())
def test_parting_is_what_looking_at_every_offset_gives(
    one: tuple[list[tuple[int, int]], int], other: tuple[list[tuple[int, int]], int]
) -> None:
    def epoch(lineage: list[tuple[int, int]], offset: int) -> int | None:
        return max((e for e, s in lineage if s <= offset), default=None)

    common = range(max(one[0][0][1], other[0][0][1]), min(one[1], other[1])) if one[0] and other[0] else range(0)
    expected = next((o for o in common if epoch(one[0], o) != epoch(other[0], o)), None)
    assert parting(copy(1, *one), copy(2, *other)) == expected


@settings(max_examples=60)
@given(st.lists(st.binary(max_size=60), min_size=4, max_size=4), st.text(alphabet="0123456789 -\nt", max_size=60))
def test_any_bytes_in_these_files_are_compared(contents: list[bytes], text: str) -> None:
    names = ("replication-offset-checkpoint", "recovery-point-offset-checkpoint", "t-0/leader-epoch-checkpoint", "t-0/partition.metadata")
    held: dict[str, str | bytes] = {**files(1), **{f"broker-2/data/{name}": content for name, content in zip(names, contents, strict=True)}}
    held |= {"broker-3/data/t-0/leader-epoch-checkpoint": f"0\n1\n{text}", "broker-3/data/replication-offset-checkpoint": f"0\n1\n{text}"}
    found = compared(local.events_of_files(held))
    show(found, Console(file=StringIO(), width=80))
    assert found.json() == compared(local.events_of_files(held)).json()


# what is shown


def printed(found: Comparison, width: int) -> str:
    out = StringIO()
    show(found, Console(file=out, width=width, highlight=False))
    return out.getvalue()


@pytest.mark.parametrize("width", [80, 160])
def test_the_terminal_says_what_went_back(width: int) -> None:
    text = printed(of("last-replica-standing-2.8.2-zk"), width)
    assert "broker 1: HW went back from 398 to 300, by 98" in text
    assert "1 before" in text
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= width
    assert ("2026-11-21" in text) == (width == 160)


def test_many_partitions_are_cut_with_a_count() -> None:
    broker = lambda b, hw: {  # noqa: E731
        f"broker-{b}/data/meta.properties": f"version=0\nbroker.id={b}\n",
        f"broker-{b}/data/replication-offset-checkpoint": "0\n90\n" + "".join(f"t {n} {hw}\n" for n in range(90)),
    }
    found = compared(local.events_of_files({**broker(1, 10), **broker(2, 20)}))
    assert found.counts["differ"] == 90
    assert "and 50 partitions more" in printed(found, 80)
    assert len(found.document()["partitions"]) == 90


def test_unreadable_files_are_named() -> None:
    found = compared(local.events_of_files({**files(1), **files(2), "broker-3/data/replication-offset-checkpoint": "0\n2\nt 0 x\n"}))
    assert {p["source"] for p in found.problems} == {"broker-3/data/replication-offset-checkpoint"}
    assert "Malformed line" in printed(found, 120)


def test_hostile_names_reach_no_terminal() -> None:
    held = {**files(1), "broker-2/data/replication-offset-checkpoint": "0\n1\nt\x1b[31m 0 5\n"}
    assert "\x1b" not in printed(compared(local.events_of_files(held), everything=True), 120)

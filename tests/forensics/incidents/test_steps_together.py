"""Steps of several findings that become those of one."""

from __future__ import annotations

from forensics.model.findings import Finding, together, union
from forensics.model.message import Message, said, values


def finding(partition: int, *steps: Message, silent: tuple[int, ...] = ()) -> Finding:
    own = values(steps=steps, silent=silent)
    return Finding(kind="data-loss", severity="high", confidence="certain", topic="t", partition=partition, values=own, evidence=())


def test_a_step_of_several_findings_is_listed_once_with_their_partitions() -> None:
    once, often = said("data-loss/copy", on=(1,)), said("data-loss/rewind")
    group = [finding(0, once), finding(1, often), finding(2, often)]
    assert together(group, "steps") == (
        said("data-loss/rewind", partitions=("t-1", "t-2")),
        said("data-loss/copy", on=(1,), partitions=("t-0",)),
    )


def test_a_value_that_some_findings_lack_is_that_of_the_others() -> None:
    assert union([finding(0), finding(1, silent=(3,)), finding(2, silent=(2, 3))], "silent") == (3, 2)

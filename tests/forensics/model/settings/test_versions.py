"""Kafka's version by the strings that brokers of several builders print."""

from __future__ import annotations

import pytest

from forensics.model.cluster.facts import Cluster, Node
from forensics.model.settings.versions import metadata_version, parsed, versions


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("2.8.2", (2, 8, 2)),
        ("0.10.2.2", (0, 10, 2, 2)),
        ("3.9.0-SNAPSHOT", (3, 9, 0)),
        ("3.7-IV4", (3, 7)),
        ("5.4.0-ccs", (2, 4)),
        ("5.5.1-ccs", (2, 5)),
        ("6.2.1-ce", (2, 8)),
        ("7.4.0-ccs", (3, 4)),
        ("7.9.0-ce", (3, 9)),
        ("8.0.0-ccs", (4, 0)),
        ("2.1.0-cp1", (2, 1, 0)),
        ("1.0.1-kafka-3.1.0", (1, 0, 1)),
        ("2.5.0.7.1.7.0-551", (2, 5, 0)),
        ("0.10.1.2.6.2.0-205", (0, 10, 1)),
        ("2.0.0.3.1.4.0-315", (2, 0, 0)),
        ("2.8.0.redhat-00002", (2, 8, 0)),
        ("unknown", None),
        ("", None),
        (None, None),
        ("9" * 5000, None),
        ("2." + "9" * 5000, None),
    ],
)
def test_one_number_whoever_built_it(text: str | None, numbers: tuple[int, ...] | None) -> None:
    assert parsed(text) == numbers


def test_a_broker_nobody_knows_may_have_any_of_the_clusters() -> None:
    cluster = Cluster(nodes={1: Node(1, version="7.4.0-ccs"), 2: Node(2, version="2.8.2")})
    assert (versions(cluster, 1), versions(cluster, 9), versions(cluster)) == ([(3, 4)], [(2, 8, 2), (3, 4)], [(2, 8, 2), (3, 4)])


@pytest.mark.parametrize(
    ("level", "name"), [(1, "3.0-IV1"), (7, "3.3-IV3"), (14, "3.6-IV2"), (21, "3.9-IV0"), (99, "feature level 99"), (0, "feature level 0")]
)
def test_levels_of_the_metadata_version(level: int, name: str) -> None:
    """MetadataVersion of 3.9; later releases only add levels."""
    assert metadata_version(level) == name

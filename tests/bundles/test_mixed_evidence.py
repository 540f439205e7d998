"""Evidence with files that are not of the cluster: another cluster, sample configurations, logs of clients and other services."""

from __future__ import annotations

import pytest

from forensics.views.notes import notes
from tests.support import taken
from tests.support.shapes import HEAD, File, Files, bundle, moment, records

CLUSTERS = [
    ("unclean-election-3.9.1-kraft", "clean-failover-2.8.2-zk"),
    ("clean-failover-2.8.2-zk", "unclean-election-2.8.2-zk"),
    ("unclean-election-0.10.2.2-zk", "clean-failover-0.10.2.2-zk"),
]


def begin(files: Files) -> float:
    return min(moment(r) for path, file in files.items() if "/logs/" in path for r in records(file.content)[:1] if HEAD.match(r))


def later(files: Files, seconds: int) -> Files:
    """The same, as if it had happened later."""
    return {
        path: File(
            b"".join(taken.moved(r, seconds) for r in records(file.content)) if "/logs/" in path else file.content, file.modified + seconds
        )
        for path, file in files.items()
    }


@pytest.mark.parametrize(("one", "other"), CLUSTERS)
def test_of_two_clusters_at_the_same_time_the_smaller_one_is_set_aside(one: str, other: str) -> None:
    parts = {"a": bundle(one), "b": later(bundle(other), round(begin(bundle(one)) - begin(bundle(other))) + 7)}
    report = taken.report({f"{name}/{path}": file for name, files in parts.items() for path, file in files.items()})
    (aside,) = report.cluster.aside
    (left,) = {"a", "b"} - {path.partition("/")[0] for path in aside.paths}
    assert len(aside.paths) == len(parts["ab".replace(left, "")])
    assert taken.judged(report).verdicts == taken.judged(taken.report(parts[left])).verdicts
    assert [line for line in notes(report.cluster) if aside.cluster_id in line]

"""Real bundles handed over as people and tools do: however the same evidence is laid out, the same is said of it; and what is
left out is not made up for."""

from __future__ import annotations

import gzip
import io
import random
import re
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from forensics.incidents.folding import places
from forensics.model.findings import LEVELS, Finding, Place
from forensics.views.document import Report
from forensics.views.text import show
from forensics.words import words
from tests.support import local, recorded, taken
from tests.support.shapes import (
    HEAD,
    File,
    Files,
    bundle,
    by_pod,
    cut,
    later,
    latest,
    moment,
    nodes,
    of_docker,
    of_elastic,
    of_seconds,
    of_strimzi,
    only,
    put,
    records,
    relaid,
    renamed,
    tar,
    without,
    zipped,
)

ZOOKEEPER, KRAFT, TWICE = "unclean-election-2.8.2-zk", "unclean-election-3.9.1-kraft", "last-replica-standing-2.8.2-zk"
"""The last one holds broker 1 as it was before its restart, too."""
ZOMBIE = "zombie-leader-3.9.1-kraft"
"""Its partition sessions-0 is tail-cut."""
COMBINED = "loser-moved-away-3.8.1-kraft-combined"
"""Its brokers are its controllers."""
NAMES = (ZOOKEEPER, KRAFT, TWICE, COMBINED)

OWN = re.compile(r"(?P<before>(?:before-restart/)?)(?P<role>broker|controller)-(?P<node>\d+)/(?P<rest>.*)")
HOSTS = ("iris", "rose", "lily", "fern")


def claim(finding: Finding) -> tuple[Any, ...]:
    offsets = tuple((r.start, r.end) for r in finding.offsets)
    return (
        finding.kind,
        finding.topic,
        finding.partition,
        finding.severity,
        finding.confidence,
        finding.cause,
        finding.committed,
        offsets,
        finding.brokers,
    )


def verdicts(report: Report, but: frozenset[str] = frozenset()) -> Counter[tuple[Any, ...]]:
    return Counter(claim(f) for f in report.findings if f.kind not in but)


def owned(report: Report) -> set[int]:
    """Nodes that sources belong to; every file of a broker's must have been somebody's."""
    assert [s.path for s in report.cluster.sources if s.node is None and not re.search("topics-describe|reassign", s.path)] == []
    return {s.node for s in report.cluster.sources if s.node is not None}


def expect_same(name: str, *paths: Path, but: frozenset[str] = frozenset()) -> Report:
    report = local.report(local.events_of(*paths))
    assert verdicts(report, but) == verdicts(recorded.report(name), but)
    assert owned(report) == owned(recorded.report(name))
    assert report.cluster.conflicts == []
    return report


# the same evidence, laid out otherwise


def moved(files: Files, place: Callable[[re.Match[str]], str]) -> Files:
    """Each node's files where `place` puts them."""

    def new(path: str) -> str:
        found = OWN.fullmatch(path)
        return place(found) if found is not None else path

    return renamed(files, new)


def host(found: re.Match[str]) -> str:
    return HOSTS[int(found["node"]) % 4] + ".example.com"


def ordinal(found: re.Match[str]) -> int:
    """Pods count from 0, brokers of these bundles from 1."""
    return int(found["node"]) - 1 if found["role"] == "broker" else int(found["node"]) - 97


def tree(logs: str, data: str, config: str) -> Callable[[re.Match[str]], str]:
    def place(found: re.Match[str]) -> str:
        kind, _, rest = found["rest"].partition("/")
        where = {"logs": logs, "data": data, "config": config}[kind]
        return found["before"] + where.format(node=found["node"], ordinal=ordinal(found), host=host(found)) + "/" + rest

    return place


TREES = {
    "pods": ("kafka-{ordinal}", "kafka-{ordinal}/kafka-logs", "kafka-{ordinal}/config"),
    "pod volumes": ("kafka-{ordinal}/logs", "kafka-{ordinal}/data/kafka-log{ordinal}", "kafka-{ordinal}/config"),
    "logs and disks apart": ("logs/kafka-{ordinal}", "data/kafka-{ordinal}", "config/kafka-{ordinal}"),
    "hosts apart": ("logs/{host}", "data/{host}", "config/{host}"),
    "root of each host": ("{host}/var/log/kafka", "{host}/var/lib/kafka/data", "{host}/etc/kafka"),
    "support bundle": (
        "diagnostics/{host}/kafka/logs",
        "diagnostics/{host}/kafka/data",
        "diagnostics/{host}/kafka/properties",
    ),
}


IN_TREES = [(name, shape, hints) for m, shape in enumerate(TREES) for hints, name in ((True, NAMES[m % 4]), (False, NAMES[(m + 1) % 4]))]


@pytest.mark.parametrize(("name", "shape", "hints"), IN_TREES)
def test_trees(name: str, shape: str, hints: bool, tmp_path: Path) -> None:
    """Names that are no node ids; without `hints`, the files that say whose a directory is are taken out."""
    files = bundle(name) if hints else without(bundle(name), r"/meta\.properties$|/config/")
    expect_same(name, put(tmp_path / "dump", moved(files, tree(*TREES[shape]))))


def apart(files: Files) -> tuple[dict[str, Files], Files]:
    """Files by node's directory, without it, and what is of no node."""
    own = {node: {p.removeprefix(f"{node}/"): f for p, f in files.items() if p.startswith(f"{node}/")} for node in nodes(files)}
    return own, {p: f for p, f in files.items() if not any(p.startswith(f"{node}/") for node in own)}


@pytest.mark.parametrize(("name", "inside", "backwards"), [(name, ("", "kafka-dump/")[n // 2], n % 2 == 1) for n, name in enumerate(NAMES)])
def test_archive_of_each_broker_as_a_path_of_its_own(name: str, inside: str, backwards: bool, tmp_path: Path) -> None:
    own, rest = apart(bundle(name))
    archives = {f"{node.replace('/', '-')}/dump.tgz": {inside + p: f for p, f in files.items()} for node, files in own.items()}
    put(tmp_path, {path: tar(files, mode="w:gz") for path, files in {**archives, "cluster.tgz": rest}.items()})
    paths = [tmp_path / path for path in (*archives, "cluster.tgz")]
    expect_same(name, *(reversed(paths) if backwards else paths))


@pytest.mark.parametrize("name", [KRAFT, TWICE])
def test_archive_of_archives(name: str, tmp_path: Path) -> None:
    own, rest = apart(bundle(name))
    inner = {f"{node.replace('/', '-')}.tar.gz": tar(files, mode="w:gz") for node, files in own.items()}
    put(tmp_path, {"all.tar": tar({**inner, "cluster.zip": zipped(rest)})})
    expect_same(name, tmp_path / "all.tar")


@pytest.mark.parametrize("name", [ZOOKEEPER, COMBINED])
def test_zip_of_each_host_in_a_directory(name: str, tmp_path: Path) -> None:
    own, rest = apart(bundle(name))
    zips = {f"{letter}.zip": zipped(files) for letter, files in zip("abcde", own.values(), strict=False)}
    expect_same(name, put(tmp_path, {**zips, "cluster.zip": zipped(rest)}))


def pod(found: str) -> str:
    role, _, node = found.partition("-")
    return f"my-cluster-{'kafka' if role == 'broker' else 'controller'}-{int(node) - 1}"


YAML = File(b"apiVersion: v1\nkind: Pod\nmetadata:\n  name: my-cluster-kafka-0\n  labels:\n    strimzi.io/cluster: my-cluster\n", 1.79e9)
EVENTS = File(
    b"LAST SEEN   TYPE     REASON    OBJECT                  MESSAGE\n5m          Normal   Killing   pod/my-cluster-kafka-0  Stopping\n",
    1.79e9,
)


def report_of_strimzi(files: Files) -> Files:
    """As its report.sh leaves it: every log of a pod in one stream, its configuration, and what Kubernetes knows."""
    configs = {
        f"reports/configs/{pod(found[0])}.cfg": file
        for path, file in files.items()
        if (found := re.match(r"(?:broker|controller)-\d+(?=/config/server.properties)", path))
    }
    kubernetes = {"reports/pods/my-cluster-kafka-0.yaml": YAML, "reports/configmaps/my-cluster-kafka-0.yaml": YAML}
    logs = by_pod(files, lambda node: f"reports/logs/{pod(node)}-kafka.log")
    return {**logs, **configs, **kubernetes, "reports/events/events.txt": EVENTS}


@pytest.mark.parametrize("name", [KRAFT, TWICE])
def test_strimzi_report_with_volumes(name: str, tmp_path: Path) -> None:
    files = bundle(name)
    volumes = {}
    for path, file in files.items():
        if (found := OWN.fullmatch(path)) is not None and found["rest"].startswith("data/"):
            volume = f"{found['before']}volumes/data-{pod(found['role'] + '-' + found['node'])}/kafka-log{ordinal(found)}"
            volumes[f"{volume}/{found['rest'].removeprefix('data/')}"] = file
    put(tmp_path, {"report.zip": zipped({**report_of_strimzi(files), **volumes, **only(files, "^cluster/")})})
    report = local.report(local.events_of(tmp_path / "report.zip"))
    assert verdicts(report) == verdicts(recorded.report(name))
    assert {s.node for s in report.cluster.sources if s.path.startswith("reports/logs/")} <= owned(recorded.report(name))


def test_strimzi_report_alone_tells_of_the_election_and_its_loss(tmp_path: Path) -> None:
    put(tmp_path, {"report-21-11-2026_02-00-00.zip": zipped(report_of_strimzi(bundle(ZOOKEEPER)))})
    report = local.report(local.events_of(tmp_path / "report-21-11-2026_02-00-00.zip"))
    for kind in ("unclean-election", "data-loss", "broker-crash", "zombie-leader"):
        assert {claim(f) for f in report.findings if f.kind == kind} == {
            claim(f) for f in recorded.report(ZOOKEEPER).findings if f.kind == kind
        }
    owners = {f"reports/{s.path}": s.node for s in report.cluster.sources}
    assert {p.rpartition("/")[2]: n for p, n in owners.items() if re.search("/logs/|/configs/", p)} == {
        f"my-cluster-kafka-{n - 1}{suffix}": n for n in (1, 2, 3) for suffix in ("-kafka.log", ".cfg")
    }
    assert owners["reports/pods/my-cluster-kafka-0.yaml"] == 1
    assert owners["reports/events/events.txt"] is None
    assert any("replication-offset-checkpoint" in words for words in report.not_collected())
    assert not any("server.log" in words for words in report.not_collected()), "standard output holds it"


def test_log_without_a_last_moment_is_shown(tmp_path: Path) -> None:
    report = local.report(local.events_of(put(tmp_path, only(bundle(ZOOKEEPER), r"^broker-1/logs/server\.log$"))))
    report.cluster.sources[0].last = None
    out = io.StringIO()
    show(report, Console(width=120, file=out))
    assert "1 broker, " in out.getvalue()


@pytest.mark.parametrize("name", [TWICE, COMBINED])
def test_hive_of_hours(name: str, tmp_path: Path) -> None:
    """Each hour's piece of a log has the same name, in the directory of its hour."""
    laid: Files = {}
    for path, file in bundle(name).items():
        found = OWN.fullmatch(path)
        top = f"{found['before'] if found else ''}cluster=prod/"
        if found is None:
            laid[top + path] = file
        elif found["rest"].startswith("logs/"):
            lines = file.content.count(b"\n")
            for hour, piece in enumerate(cut(file, [lines // 3, lines * 2 // 3]) or [file]):
                packed = File(gzip.compress(piece.content), piece.modified)
                laid[f"{top}broker={found['node']}/date=2026-11-21/hour=0{hour}/{found['rest'][5:]}.gz"] = packed
        else:
            laid[f"{top}broker={found['node']}/date=2026-11-21/{found['rest']}"] = file
    expect_same(name, put(tmp_path, laid))


def test_two_clusters_in_one_evidence_are_told(tmp_path: Path) -> None:
    server = only(bundle(ZOOKEEPER), r"^broker-1/(?:logs/server\.log|data/meta)")
    laid = {f"cluster={c}/{p}": f for c in ("blue", "green") for p, f in server.items()}
    by_path = [f for f in local.report(local.events_of(put(tmp_path / "hive", laid))).findings if f.kind == "evidence-conflict"]
    assert [f.severity for f in by_path] == ["medium"]
    assert "2 clusters (blue, green)" in words(by_path[0]).summary
    meta = [p for p in server if p.endswith("meta.properties")]
    other = {f"other/{p}": File(re.sub(rb"cluster\.id=\S+", b"cluster.id=elsewhere", server[p].content), 1.79e9) for p in meta}
    by_id = [f for f in local.report(local.events_of(put(tmp_path / "ids", {**server, **other}))).findings if f.kind == "evidence-conflict"]
    assert len(by_id) == 1
    assert "elsewhere" in words(by_id[0]).summary
    one = local.report(local.events_of(put(tmp_path / "one", {p.replace("green", "blue"): f for p, f in laid.items()})))
    assert [f for f in one.findings if f.kind == "evidence-conflict"] == []


# rotation

ROTATIONS: dict[str, Callable[[int, int], str]] = {
    "hours": lambda number, count: f".2026-11-21-0{number}",
    "numbers": lambda number, count: f".{count - number}",
    "packed hours": lambda number, count: f".2026-11-21-0{number}.gz",
}


def rotated(files: Files, suffix: Callable[[int, int], str], seed: int) -> Files:
    """Each log in up to five files, cut between any two lines, all files in no order."""
    chance = random.Random(seed)
    laid: Files = {}
    for path, file in files.items():
        lines = file.content.count(b"\n")
        *pieces, last = cut(file, chance.sample(range(1, lines), min(4, lines - 1))) if "/logs/" in path and lines > 1 else [file]
        for number, piece in enumerate(pieces):
            name = path + suffix(number, len(pieces))
            laid[name] = File(gzip.compress(piece.content), piece.modified) if name.endswith(".gz") else piece
        laid[path] = last
    return dict(chance.sample(list(laid.items()), len(laid)))


STYLES = [*((style, False) for style in ROTATIONS), (next(iter(ROTATIONS)), True)]


@pytest.mark.parametrize(("name", "style", "kept"), [(NAMES[m], *way) for m, way in enumerate(STYLES)])
def test_rotated_logs(name: str, style: str, kept: bool, tmp_path: Path) -> None:
    files = rotated(bundle(name), ROTATIONS[style], seed=3)
    late = latest(files) + 5003
    put(tmp_path, {"dump.tar": tar(files if kept else {p: File(f.content, late) for p, f in files.items()})})
    expect_same(name, tmp_path / "dump.tar")


def newest_first(files: Files) -> Files:
    """The logs as `cat server.log server.log.1` joins them, rotated in the middle of the time."""
    claim = {path: records(file.content) for path, file in logs(files).items()}
    times = [moment(record) for own in claim.values() for record in own if HEAD.match(record)]
    middle = (min(times) + max(times)) / 2
    made = dict(files)
    for path, own in claim.items():
        at, older, newer = 0.0, [], []
        for record in own:
            at = moment(record) if HEAD.match(record) else at
            (newer if at >= middle else older).append(record)
        made[path] = File(b"".join([*newer, *older]), files[path].modified)
    return made


def verdict_of(report: Report) -> dict[tuple[str, int], str]:
    return {(p["topic"], p["partition"]): p["verdict"] for p in report.document()["partitions"]}


@pytest.mark.parametrize("name", [ZOOKEEPER, KRAFT, TWICE])
def test_rotated_logs_that_were_joined_in_another_order(name: str) -> None:
    """Line numbers of the evidence differ; a clock was not set back."""
    report, expected = taken.report(newest_first(bundle(name))), recorded.report(name)
    assert verdict_of(report) == verdict_of(expected)
    assert verdicts(report) == verdicts(expected)


def test_several_logs_in_one_file_are_not_in_order_and_show_nothing_about_the_clock() -> None:
    files = bundle(ZOOKEEPER)
    made = without(files, r"/logs/")
    for node in nodes(files):
        own = [files[f"{node}/logs/{log}.log"] for log in ("server", "state-change")]
        made[f"{node}/logs/all.log"] = File(b"".join(file.content for file in own), own[0].modified)
    report, expected = taken.report(made), verdict_of(recorded.report(ZOOKEEPER))
    assert [words(f).summary for f in report.findings if f.kind == "clock-skew"] == []
    unknown = [p for p in report.document()["partitions"] if p["verdict"] != expected[p["topic"], p["partition"]]]
    assert {p["verdict"] for p in unknown} == {"unknown"}
    assert all("are not in the order of their time" in p["why"] for p in unknown)


@pytest.mark.parametrize(("name", "moment"), [(name, (0.0, 1_850_000_000.0)[n // 2]) for n, name in enumerate(NAMES)])
def test_modification_times_lost(name: str, moment: float, tmp_path: Path) -> None:
    put(tmp_path, {"dump.tar": tar({p: File(f.content, moment) for p, f in bundle(name).items()})})
    expect_same(name, tmp_path / "dump.tar")


# the same twice


def early(file: File) -> File:
    """A log as it was when two thirds of it were written."""
    return cut(file, [file.content.count(b"\n") * 2 // 3])[0]


def logs(files: Files) -> Files:
    return {p: f for p, f in only(files, r"/logs/").items() if f.content.count(b"\n") > 2}


def relaid_by_node(files: Files, *how: Any) -> Files:
    """All logs of each node once more in another layout, in a directory where no name says which logs they are."""
    return {path: relaid(file, *how) for path, file in by_pod(files, lambda node: f"kubectl/{node}.log").items()}


REPEATS: dict[str, Callable[[Files], Files]] = {
    "all of it": lambda files: {f"copy/{p}": f for p, f in files.items()},
    "its own archive": lambda files: {"all.tar": tar(files)},
    "logs and their packed copies": lambda files: {f"{p}.gz": File(gzip.compress(f.content), f.modified) for p, f in logs(files).items()},
    "logs as they were, beside": lambda files: {f"{p}.old": early(f) for p, f in logs(files).items()},
    "logs as they were, in a directory": lambda files: {p.replace("/logs/", "/logs-1/"): early(f) for p, f in logs(files).items()},
    "logs as they were, in another tree": lambda files: {f"first-look/{p}": early(f) for p, f in logs(files).items()},
    "logs attached": lambda files: {f"attached/{p.replace('/', '-')}": f for p, f in logs(files).items()},
    "standard output": lambda files: by_pod(files, lambda node: f"{node}/logs/kafkaServer.out"),
    "output of containers": lambda files: relaid_by_node(files, of_docker),
    "the last half of it, in the layout of an image": lambda files: relaid_by_node(files, of_strimzi, lambda r: r[len(r) // 2 :]),
    "an export with microseconds that lost lines": lambda files: relaid_by_node(
        files, of_elastic, lambda r: (x for n, x in enumerate(r) if n % 9)
    ),
    "an export with whole seconds": lambda files: relaid_by_node(files, of_seconds),
    "an export of warnings": lambda files: relaid_by_node(files, of_elastic, lambda r: (x for x in r if b"] INFO" not in x)),
}


REPEATED = [(NAMES[m % 4], what) for m, what in enumerate(REPEATS)]


@pytest.mark.parametrize(("name", "what"), REPEATED)
def test_facts_count_once(name: str, what: str, tmp_path: Path) -> None:
    files = bundle(name)
    report = expect_same(name, put(tmp_path, {**files, **REPEATS[what](files)}))
    outcomes = {node.id: [run.outcome for run in node.runs] for node in report.cluster.nodes.values()}
    assert outcomes == {node.id: [run.outcome for run in node.runs] for node in recorded.report(name).cluster.nodes.values()}


def exported(files: Files, minutes: float, *how: Any) -> Files:
    """An export of all logs with other times than on the brokers. It is made later than the logs."""
    late = latest(files) + 90_061
    return {
        path: File(relaid(later(file, timedelta(minutes=minutes)), *how).content, late)
        for path, file in by_pod(files, lambda node: f"export/{node}.log").items()
    }


AT_OTHER_TIMES: dict[str, Callable[[Files], Files]] = {
    "a zone in the west": lambda files: exported(files, -210, of_strimzi),
    "a zone in the east, whole seconds": lambda files: exported(files, 345, of_seconds),
    "a zone, lost lines": lambda files: exported(files, 120, of_strimzi, lambda r: (x for n, x in enumerate(r) if n % 9)),
    "another clock, only the beginning": lambda files: exported(files, -7, of_strimzi, lambda r: r[: len(r) * 3 // 5]),
    "the logs of one broker": lambda files: {
        f"export/{p}": later(f, timedelta(hours=2)) for p, f in only(files, r"^(?:before-restart/)?broker-1/logs/").items()
    },
}


MOVED = [(name, what) for n, name in enumerate((TWICE, ZOMBIE)) for m, what in enumerate(AT_OTHER_TIMES) if (n + m) % 2 == 1]


@pytest.mark.parametrize(("name", "what"), MOVED)
def test_facts_count_once_if_a_copy_has_other_times(name: str, what: str, tmp_path: Path) -> None:
    """A copy with the times of another zone looks like a second run of each broker, whose log came back empty: zombie-leader was intact."""
    files = bundle(name)
    report = expect_same(name, put(tmp_path, {**files, **AT_OTHER_TIMES[what](files)}), but=frozenset({"evidence-conflict"}))
    outcomes = {node.id: [run.outcome for run in node.runs] for node in report.cluster.nodes.values()}
    assert outcomes == {node.id: [run.outcome for run in node.runs] for node in recorded.report(name).cluster.nodes.values()}
    logs_of_copy = {s.path for s in report.cluster.sources if s.path.startswith("export/") and s.first is not None}
    assert logs_of_copy == {s.path for s in report.cluster.sources if s.shifted_ms}


def test_a_topic_that_keeps_its_id_was_not_created_again(tmp_path: Path) -> None:
    """Three lines of a copy with later times are too few to see that it is one."""
    files = bundle(ZOMBIE)
    lines = rb"Follower sessions-0 starts at leader epoch 0|Skipped.*for sessions-0 with topic id|Created log for partition sessions-0"
    for path in ("broker-1/logs/server.log", "broker-1/logs/state-change.log"):
        copied = b"".join(r for r in records(files[path].content) if re.search(lines, r))
        files[f"export/{path}"] = later(File(copied, files[path].modified), timedelta(hours=2))
    report = local.report(local.events_of(put(tmp_path, files)))
    assert {p["partition"]: p["verdict"] for p in report.partitions if p["topic"] == "sessions"} == {0: "tail-cut", 1: "intact"}


# names


def strange(path: str) -> str:
    return re.sub(r"(broker|controller)-(\d+)", r"узел № \2 (копия)", path)


APPLE = File(b"\0\5\x16\7\0\2\0\0Mac OS X        \0\2\0\0\0\t\0\0\0\x32", 1.79e9)
PAX = File(b"30 mtime=1795222800.123456789\n", 1.79e9)


def littered(files: Files) -> Files:
    """With what file managers leave, and pax headers that a program without pax wrote out as files."""
    apple = {re.sub(r"([^/]+)$", r"._\1", p): APPLE for p in files}
    headers = {f"PaxHeaders.4711/{p}": PAX for p in files}
    return {**apple, **headers, ".DS_Store": APPLE, "__MACOSX/._broker-1": APPLE, "Thumbs.db": APPLE, **files}


WRITTEN: dict[str, Callable[[Files], File]] = {
    "absolute.tar": lambda files: tar({f"/{p}": f for p, f in files.items()}),
    "dots.tar": lambda files: tar({f"./{p}": f for p, f in files.items()}),
    "backslashes.zip": lambda files: zipped({p.replace("/", "\\"): f for p, f in files.items()}),
    "drive.zip": lambda files: zipped({f"C:\\dump\\{p}".replace("/", "\\"): f for p, f in files.items()}),
    "absolute.zip": lambda files: zipped({f"/srv/{p}": f for p, f in files.items()}),
}


@pytest.mark.parametrize(("name", "archive"), [(NAMES[m % 4], archive) for m, archive in enumerate(WRITTEN)])
def test_names_in_archives(name: str, archive: str, tmp_path: Path) -> None:
    put(tmp_path, {archive: WRITTEN[archive](littered(renamed(bundle(name), strange)))})
    report = expect_same(name, tmp_path / archive)
    assert len(report.cluster.sources) == len(bundle(name)), "litter is no source"


@pytest.mark.parametrize("name", [KRAFT])
def test_names_in_directories(name: str, tmp_path: Path) -> None:
    expect_same(name, put(tmp_path / "a", littered(renamed(bundle(name), strange))))
    flat = put(tmp_path / "b", {p.replace("/", "\\"): f for p, f in littered(renamed(bundle(name), strange)).items()})
    expect_same(name, flat)


# a part of it

PARTS = {
    "logs": r"/logs/",
    "server.log": r"/logs/server\.log$",
    "state-change.log": r"/logs/state-change\.log$",
    "controller.log": r"/logs/controller\.log$",
    "checkpoints": r"checkpoint$",
    "segments": r"/(?!__cluster_metadata)[^/]+/\d{20}\.log$",
    "__cluster_metadata": r"/__cluster_metadata-0/",
    "data": r"/data/",
    "describe": r"^cluster/",
    "configuration": r"/config/",
    **{f"broker {n}": rf"^broker-{n}/" for n in (1, 2, 3)},
    **{f"all but broker {n}": rf"^broker-[^{n}]/" for n in (1, 2, 3)},
    **{f"server.log of broker {n}": rf"^broker-{n}/logs/server\.log$" for n in (1, 2, 3)},
    **{f"state-change.log of broker {n}": rf"^broker-{n}/logs/state-change\.log$" for n in (1, 2, 3)},
    "logs of 1, data of 2": r"^broker-1/logs/|^broker-2/data/",
}
ABOUT_EVIDENCE = taken.OF_EVIDENCE | {"clock-skew"}
STEADY = "rolling-restart-2.8.2-zk"
UNPROVABLE = "last-replica-standing-unprovable-3.9.1-kraft"


def lost(findings: list[Finding]) -> set[int]:
    return {o for f in findings for r in f.offsets if r.end is not None for o in range(r.start, r.end)}


def where(finding: Finding) -> tuple[Place, ...]:
    """Its partitions, or that it is of none."""
    return places(finding) or (finding.place,)


def below(finding: Finding, all_of_it: list[Finding]) -> bool:
    """What a part says is said, as badly, by all of it, or what all of it tells instead is as bad."""
    same = [f for f in all_of_it if f.kind in {finding.kind, *taken.instead(finding)}]
    return all(LEVELS.index(finding.severity) <= _worst(place, same) for place in where(finding))


def _worst(place: Place, findings: list[Finding]) -> int:
    """How bad it is said to be there, by findings of one partition or of many."""
    there = (f for f in findings if any((p.topic, p.partition) == (place.topic, place.partition) for p in where(f)))
    return max((LEVELS.index(f.severity) for f in there), default=LEVELS.index("low"))


OF_BUNDLES = [
    (name, part)
    for n, name in enumerate((ZOOKEEPER, TWICE, KRAFT, COMBINED, STEADY, UNPROVABLE))
    for m, part in enumerate(PARTS)
    if (n + m) % 3 == 0 and ("kraft" in name or part != "__cluster_metadata")
]
"""Every part is tried on two bundles."""


@pytest.mark.parametrize(("name", "part"), OF_BUNDLES)
def test_part_of_it_claims_no_more_than_all_of_it(name: str, part: str) -> None:
    files = only(bundle(name), PARTS[part])
    report = taken.report(files)
    everything = list(recorded.report(name).findings)
    said = [f for f in report.findings if f.kind not in ABOUT_EVIDENCE]
    assert [(f.severity, words(f).summary) for f in said if not below(f, everything)] == []
    for finding in said:
        if finding.kind == "data-loss" and finding.confidence != "possible":
            there = [f for f in everything if (f.kind, f.topic, f.partition) == (finding.kind, finding.topic, finding.partition)]
            assert lost([finding]) <= lost(there)
        assert not re.search(r"nothing was lost(?! that the evidence shows)", words(finding).summary + words(finding).explanation)
    collected = {s.kind for s in report.cluster.sources}
    assert ("server.log and its rotated files" in str(report.not_collected())) == ("server-log" not in collected)
    assert ("replication-offset-checkpoint" in str(report.not_collected())) == ("hw-checkpoint" not in collected)


def test_a_log_of_one_task_does_not_show_that_the_process_ran_on(tmp_path: Path) -> None:
    files = without(bundle(TWICE), "^before-restart/")
    at, killed = datetime(2026, 11, 21, 3, 5), moment(b"[2026-11-21 03:05:00,000]")
    for path, file in only(files, r"^broker-1/logs/(server|state-change|controller)\.log").items():
        early = (record for record in records(file.content) if moment(record) < killed)
        files[path] = File(b"".join(early), killed)
    report = local.report(local.events_of(put(tmp_path, files)))
    led = [p for p in report.partitions if p["leader"] == 1]
    assert led
    assert all(p["until"] < at for p in led if p["verdict"] == "intact")


def test_retention_may_have_deleted_what_a_shorter_log_does_not_show(tmp_path: Path) -> None:
    """state-change.log shows that the logs were empty at first, and server.log begins after the line that says what retention deleted."""
    files = bundle("wiped-after-retention-2.8.2-zk")
    begin = moment(b"[2026-11-25 21:45:11,000]")
    log = files["broker-1/logs/server.log"]
    files["broker-1/logs/server.log"] = File(b"".join(r for r in records(log.content) if moment(r) >= begin), log.modified)
    report = local.report(local.events_of(put(tmp_path, files)))
    assert {f.confidence for f in report.findings if f.kind == "data-loss"} == {"possible"}
    assert "lost" not in {p["verdict"] for p in report.partitions}


def test_an_isr_of_one_does_not_last_if_no_line_would_show_its_end(tmp_path: Path) -> None:
    """Broker 5 led alone at first, and its log begins after the others had joined."""
    files = without(bundle("busy-two-at-once-2.8.2-zk"), r"^broker-2/logs/(controller|state-change)\.log")
    for broker, begin in ((5, b"[2026-11-22 12:39:45,000]"), (1, b"[2026-11-22 12:41:00,000]")):
        log = files[f"broker-{broker}/logs/server.log"]
        content = b"".join(r for r in records(log.content) if moment(r) >= moment(begin))
        files[f"broker-{broker}/logs/server.log"] = File(content, log.modified)
    report = local.report(local.events_of(put(tmp_path, files)))
    committed = {p.name for f in report.findings if f.kind == "data-loss" and f.committed for p in places(f)}
    assert "acksall-rf3-min2-idempotent-1" not in committed

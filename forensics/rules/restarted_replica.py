"""restarted-replica: a broker restarted and had to catch up before it was in sync again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.failed_replicas import SHOWN, Episode, ReplicaAbsence, episodes, outs
from forensics.model.findings import Finding, capital, counted, moment, raw, some
from forensics.model.partition.absences import ABSENCES, CRASHED, RESTARTED
from forensics.model.partition.emptied import EMPTIED, emptied_logs
from forensics.model.rows import Rows


def of_cluster(cluster: Cluster, partitions: Rows) -> Iterator[Finding]:
    made: dict[tuple[str, int], list[datetime]] = defaultdict(list)
    for name, row in emptied_logs(partitions):
        made[name, row["broker"]].append(row["at"])
    back = (o for o in outs(partitions, RESTARTED, CRASHED) if o.back is not None and not _emptied(o, made))
    for episode in episodes(back, _life):
        yield _finding(episode)


def _emptied(o: ReplicaAbsence, made: Mapping[tuple[str, int], Sequence[datetime]]) -> bool:
    """Whether the log was created again in this time: log-dir-emptied reports that."""
    return any((o.start or datetime.min) <= at <= (o.end or datetime.max) for at in made.get((o.name, o.broker), ()))


def _life(o: ReplicaAbsence) -> tuple[object, ...]:
    return o.broker, o.cause, o.back if o.times == 1 else None


def _finding(episode: Episode) -> Finding:
    first = episode.outs[0]
    broker, back, only = first.broker, first.back, episode.only
    orderly = first.cause == RESTARTED
    behind = sum(o.end is None for o in episode.outs)
    elected = list(dict.fromkeys(o.name for o in episode.outs if o.elected))
    end = episode.end
    caught_up = f", in sync after {(end - back).total_seconds():.1f} s" if end is not None and back is not None and first.times == 1 else ""
    ending = (
        f"In {behind} of {counted(len(episode.names))} it was not in sync when the evidence ends."
        if behind
        else f"At {moment(end)} it was in sync in all of them."
    )
    return raw(
        kind="restarted-replica",
        severity="info",
        confidence=episode.confidence,
        topic=only.topic if only is not None else None,
        partition=only.partition if only is not None else None,
        brokers=(broker,),
        start=episode.start if orderly else back,
        end=end,
        cause="controlled-shutdown" if orderly else "broker-crash",
        summary=f"broker {broker} was restarted {'cleanly' if orderly else 'after a crash'} and {_came_back(episode, elected)}{caught_up}"
        if not behind
        else f"broker {broker} was restarted and is not in sync yet in {behind} of {counted(len(episode.names))}",
        explanation=(
            f"Broker {broker} {'was shut down cleanly' if orderly else 'crashed'} and left the ISR of {episode.shown()} from {moment(episode.start)} on; its process "
            f"restarted at {moment(back)}{_before(back, episode.start)}. {_how(episode, elected)} {ending} {capital(episode.words())}."
        ),
        evidence=episode.evidence,
    )


def _before(back: datetime | None, left: datetime | None) -> str:
    early = back is not None and left is not None and back < left
    return ", before the session of the previous process expired" if early else ""


def _came_back(episode: Episode, elected: Sequence[str]) -> str:
    caught_up = [n for n in episode.names if n not in elected]
    parts = [f"caught up in {some(caught_up, SHOWN)}"] if caught_up else []
    return " and ".join([*parts, *([f"was elected leader of {some(elected, SHOWN)}"] if elected else [])])


def _how(episode: Episode, elected: Sequence[str]) -> str:
    copied = "After a restart a replica has to fetch all records up to its leader's high watermark before it rejoins the ISR."
    if not elected:
        return copied
    led = f"In {some(elected, SHOWN)} it rejoined the ISR because it was elected leader with its existing log, without catching up."
    return led if set(elected) >= set(episode.names) else f"{copied} {led}"


READS = (ABSENCES, EMPTIED)

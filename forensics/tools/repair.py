"""Repairs of a cluster: elections and reassignments as data, planned from a table of partitions and brokers.

Here: pure functions, no evidence and no files: give leadership back to preferred replicas, replace brokers that are gone for
good, even out replicas and preferred leaders, and, as a last resort, elect outside the ISR. As little as possible is moved, no
partition is in two reassignments, and whatever depends on unknown facts is refused with a reason. Not here: the state of the cluster
(forensics.model.cluster.final_state), Kafka's tools and files (kafka_tools), the words (forensics.views.plan).
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from forensics.model.cluster.final_state import Broker, FinalPartition
from forensics.model.message import Range
from forensics.words import text
from forensics.words.formats import brokers_named

LIMIT = 0.10
"""leader.imbalance.per.broker.percentage, 10 by default; the same for replicas: deviation from an even share."""
TOPIC_NAME = re.compile(r"[a-zA-Z0-9._-]{1,249}")

PREFERRED, REPLACE, MOVE, REORDER, PREFERRED_AFTER, UNCLEAN = (
    "preferred-election",
    "replace-broker",
    "move-replicas",
    "reorder-replicas",
    "preferred-election-after",
    "unclean-election",
)
"""Kinds of steps, in the order in which to run them; the last one only after a decision by the operator."""
REASSIGNMENTS = (REPLACE, MOVE, REORDER)


@dataclass(frozen=True, slots=True)
class PartitionChange:
    """One partition in a step. Elections leave `after` as it is and name the new leader."""

    topic: str
    partition: int
    before: tuple[int, ...]
    after: tuple[int, ...]
    leader: int | None
    new_leader: int | None = None
    note: str = ""

    @property
    def name(self) -> str:
        return f"{self.topic}-{self.partition}"


@dataclass(frozen=True, slots=True)
class RepairStep:
    kind: str
    changes: tuple[PartitionChange, ...]


@dataclass(frozen=True, slots=True)
class Refusal:
    """A problem that is not planned for, and what would make it possible."""

    what: str
    why: str
    partitions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BrokerShare:
    """A broker's share. `imbalance`: partitions it should lead and does not, of those it should lead (KafkaController's ratio)."""

    broker: int
    replicas: int
    preferred: int
    leads: int
    imbalance: float


@dataclass
class Plan:
    steps: list[RepairStep] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    assumptions: list[str] = field(default_factory=list)
    before: list[BrokerShare] = field(default_factory=list)
    after: list[BrokerShare] = field(default_factory=list)

    def of(self, kind: str) -> RepairStep | None:
        return next((s for s in self.steps if s.kind == kind), None)

    def only(self, selected: Callable[[str, int], bool], given: Sequence[FinalPartition], brokers: Sequence[Broker]) -> Plan:
        """Its part for these partitions. `given`: all partitions, of which the plan is."""
        changes = ((step.kind, tuple(c for c in step.changes if selected(c.topic, c.partition))) for step in self.steps)
        steps = [RepairStep(kind, some) for kind, some in changes if some]
        own = {f"{p.topic}-{p.partition}" for p in given if selected(p.topic, p.partition)}
        refusals = [
            replace(r, partitions=tuple(n for n in r.partitions if n in own)) for r in self.refusals if own.intersection(r.partitions)
        ]
        return replace(self, steps=steps, refusals=refusals, after=_after(given, steps, brokers))


def plan(partitions: Sequence[FinalPartition], brokers: Sequence[Broker], *, limit: float = LIMIT) -> Plan:
    """The plan for a cluster in this state. The same input gives the same plan. Changes for the balance are left out if a broker would
    lead a smaller share of its preferred partitions, or the numbers of led partitions would differ more."""
    plain = _Planner(partitions, brokers, limit, frozenset()).plan()
    why: list[str] = []
    for kinds in (frozenset({MOVE, REORDER}), frozenset({MOVE})):
        balanced = _Planner(partitions, brokers, limit, kinds).plan()
        worse = _worse(plain.after, balanced.after, limit)
        if not worse:
            break
        why = why or worse
    chosen = plain if worse else balanced
    if why:
        chosen.refusals.append(Refusal("preferred leaders are not evened out", "; ".join(why)))
    return chosen


def _after(given: Sequence[FinalPartition], steps: Sequence[RepairStep], brokers: Sequence[Broker]) -> list[BrokerShare]:
    return loads(applied(given, [s for s in steps if s.kind != UNCLEAN]), brokers)


def _worse(before: Sequence[BrokerShare], after: Sequence[BrokerShare], limit: float) -> list[str]:
    """What would be worse, in words."""
    worse = [
        f"broker {b.broker} would miss {a.imbalance:.0%} of the partitions that it should lead, instead of {b.imbalance:.0%}"
        for b, a in zip(before, after, strict=True)
        if a.imbalance > max(b.imbalance, limit)
    ]
    spreads = [max((x.leads for x in loads), default=0) - min((x.leads for x in loads), default=0) for loads in (before, after)]
    if spreads[1] > spreads[0]:
        worse.append(f"brokers would differ by {spreads[1]} led partitions, instead of {spreads[0]}")
    return worse


def loads(partitions: Iterable[FinalPartition], brokers: Iterable[Broker]) -> list[BrokerShare]:
    """Every broker's share, by id. A partition without a known assignment or leader does not count."""
    replicas: Counter[int] = Counter()
    preferred: Counter[int] = Counter()
    leads: Counter[int] = Counter()
    missed: Counter[int] = Counter()
    for p in partitions:
        replicas.update(p.replicas)
        if p.replicas:
            preferred[p.replicas[0]] += 1
            missed[p.replicas[0]] += p.leader != p.replicas[0]
        if p.leader is not None and p.leader >= 0:
            leads[p.leader] += 1
    return [
        BrokerShare(b.id, replicas[b.id], preferred[b.id], leads[b.id], missed[b.id] / preferred[b.id] if preferred[b.id] else 0.0)
        for b in sorted(brokers, key=lambda b: b.id)
    ]


def applied(partitions: Iterable[FinalPartition], steps: Iterable[RepairStep]) -> list[FinalPartition]:
    """The partitions once the steps were run and reassignments are complete."""
    table = {(p.topic, p.partition): p for p in partitions}
    for step in steps:
        for c in step.changes:
            p = table[(c.topic, c.partition)]
            leader = c.new_leader if c.new_leader is not None else p.leader
            if step.kind in REASSIGNMENTS:
                leader = leader if leader in c.after else c.after[0]
                p = replace(p, replicas=c.after, isr=c.after)
            elif step.kind == UNCLEAN and leader is not None:
                p = replace(p, isr=(leader,))
            table[(c.topic, c.partition)] = replace(p, leader=leader)
    return list(table.values())


def bounds(total: int, count: int, limit: float) -> tuple[int, int]:
    """The smallest and largest whole number within `limit` of an even share; an even split is always within."""
    share = total / count
    return min(math.floor(share), math.ceil(share * (1 - limit) - 1e-9)), max(math.ceil(share), math.floor(share * (1 + limit) + 1e-9))


Key = tuple[str, int]


class _Planner:
    """The table while it is planned. `now`: the assignment of each partition, which a reassignment changes at most once."""

    def __init__(self, partitions: Sequence[FinalPartition], brokers: Sequence[Broker], limit: float, balance: frozenset[str]) -> None:
        self.balance = balance
        self.brokers = sorted(brokers, key=lambda b: b.id)
        self.limit = limit
        self.given = sorted(partitions, key=lambda p: (p.topic, p.partition))
        self.live = [b.id for b in self.brokers if b.state == "live"]
        self.alive = frozenset(self.live)
        self.gone = frozenset(b.id for b in self.brokers if b.state == "gone")
        self.racks = {b.id: b.rack for b in self.brokers if b.state == "live"}
        self.rack_aware = bool(self.racks) and all(self.racks.values())
        self.table: dict[Key, FinalPartition] = {(p.topic, p.partition): p for p in self.given if _known(p)}
        self.now = {key: p.replicas for key, p in self.table.items()}
        # Partitions without a plan count, too.
        self.count = Counter(b for p in self.given for b in p.replicas)
        self.preferred = Counter(p.replicas[0] for p in self.given if p.replicas)
        self.kinds: dict[Key, str] = {}
        self.result = Plan()
        self.refused: dict[tuple[str, str], list[str]] = defaultdict(list)

    def plan(self) -> Plan:
        self._unknown()
        self._replace_gone()
        if self._may_balance():
            if MOVE in self.balance:
                self._even_out_replicas()
            if REORDER in self.balance:
                self._even_out_preferred()
        for kind in REASSIGNMENTS:
            self._step(kind, (self._change(key) for key, k in sorted(self.kinds.items()) if k == kind))
        self._elect_preferred()
        self._elect_unclean()
        order = (PREFERRED, *REASSIGNMENTS, PREFERRED_AFTER, UNCLEAN)
        self.result.steps.sort(key=lambda s: order.index(s.kind))
        self.result.refusals.extend(Refusal(what, why, tuple(names)) for (what, why), names in self.refused.items())
        self.result.before = loads(self.given, self.brokers)
        self.result.after = _after(self.given, self.result.steps, self.brokers)
        return self.result

    def _step(self, kind: str, changes: Iterable[PartitionChange]) -> None:
        if found := tuple(changes):
            self.result.steps.append(RepairStep(kind, found))

    def _refuse(self, what: str, why: str, partition: FinalPartition) -> None:
        self.refused[(what, why)].append(partition.name)

    def _change(self, key: Key) -> PartitionChange:
        p = self.table[key]
        return PartitionChange(p.topic, p.partition, p.replicas, self.now[key], p.leader)

    def _assign(self, key: Key, replicas: tuple[int, ...], kind: str) -> None:
        old = self.now[key]
        self.count.subtract(old)
        self.count.update(replicas)
        self.preferred[old[0]] -= 1
        self.preferred[replicas[0]] += 1
        self.now[key], self.kinds[key] = replicas, kind

    def _unknown(self) -> None:
        for p in self.given:
            if (p.topic, p.partition) not in self.table:
                self._refuse("nothing is planned for partitions whose state is unknown", _unknown_because(p), p)

    # brokers that are gone

    def _replace_gone(self) -> None:
        for key, p in self.table.items():
            lost = [b for b in p.replicas if b in self.gone]
            if not lost:
                self._under_replicated(p)
                continue
            what = f"{brokers_named(lost)} {'is' if len(lost) == 1 else 'are'} not replaced"
            if (why := self._unmovable(p)) is not None:
                self._refuse(what, why, p)
                continue
            replicas = self._without(p, lost)
            if replicas is None:
                self._refuse(what, "every other live broker already has a replica of the partition", p)
            else:
                self._assign(key, replicas, REPLACE)

    def _under_replicated(self, p: FinalPartition) -> None:
        for b in self.brokers if p.leader != -1 else ():
            if p.moving or b.id not in p.replicas or b.id in p.isr:
                continue
            if b.state == "live":
                why = "no election or reassignment repairs this; the broker's log shows why, such as a failed log directory or a slow disk"
                self._refuse(f"broker {b.id} is running, but its replica is not in sync", why, p)
            else:
                back = (
                    f"the replica catches up when broker {b.id} is back; if broker {b.id} will not come back, plan again with --gone {b.id}"
                )
                self._refuse(f"broker {b.id} is missing ({text(b.why) if b.why else ''})", back, p)

    def _unmovable(self, p: FinalPartition) -> str | None:
        """The reason why no reassignment of it can be planned."""
        if p.moving:
            return "a reassignment of the partition is in progress; wait for its end, or cancel it"
        if not self.alive & set(p.isr):
            return "no live broker in the ISR has the records to copy"
        if unsure := [b for b in p.replicas if b not in self.alive and b not in self.gone]:
            return f"{brokers_named(unsure)}, with another replica, may not be running; use --live or --gone"
        return None

    def _without(self, p: FinalPartition, lost: Sequence[int]) -> tuple[int, ...] | None:
        """The assignment with a live broker in place of each lost one."""
        replicas = list(p.replicas)
        for broker in lost:
            place = replicas.index(broker)
            others = [b for b in replicas if b != broker]
            choice = self._least_loaded(others, front=place == 0)
            if choice is None:
                return None
            replicas[place] = choice
        return tuple(replicas)

    def _least_loaded(self, others: Sequence[int], *, front: bool) -> int | None:
        used = {self.racks.get(b) for b in others} if self.rack_aware else set()

        def cost(b: int) -> tuple[int, ...]:
            return (self.racks[b] in used, self.count[b], self.preferred[b] if front else 0, b)

        return min((b for b in self.live if b not in others), key=cost, default=None)

    # balance

    def _may_balance(self) -> bool:
        missing = [b for b in self.brokers if b.state in ("down", "unknown") and self.count[b.id]]
        if len(self.live) < 2 or not self.table:
            return False
        what = "balance is not planned"
        if missing:
            names = ", ".join(f"{b.id} ({text(b.why) if b.why else ''})" for b in missing)
            self.result.refusals.append(Refusal(what, f"the evidence does not show that all brokers with replicas are running: {names}"))
        elif any(not p.replicas for p in self.given):
            self.result.refusals.append(Refusal(what, "the evidence does not name every partition's assignment"))
        return not missing and all(p.replicas for p in self.given)

    def _movable(self) -> list[Key]:
        """Partitions that can be moved: a reassignment that names a broker which is gone is refused (ReassignPartitionsCommand,
        ReplicationControlManager)."""
        return [
            k
            for k, p in self.table.items()
            if k not in self.kinds and self._unmovable(p) is None and set(p.isr) == set(p.replicas) <= self.alive
        ]

    def _even_out_replicas(self) -> None:
        """Moves one replica of a partition before a second of the same."""
        low, high = bounds(sum(self.count[b] for b in self.live), len(self.live), self.limit)
        fresh: dict[int, dict[Key, None]] = defaultdict(dict)
        moved: dict[int, dict[Key, None]] = defaultdict(dict)
        for movable in self._movable():
            for b in self.now[movable]:
                fresh[b][movable] = None
        stuck: set[tuple[int, int]] = set()
        while (pair := self._uneven(low, high, stuck)) is not None:
            source, target = pair
            key: Key | None = next((k for held in (fresh, moved) for k in held[source] if self._fits(k, source, target)), None)
            if key is None:
                stuck.add(pair)
                continue
            for b in self.now[key]:
                fresh[b].pop(key, None)
                moved[b].pop(key, None)
            self._assign(key, tuple(target if b == source else b for b in self.now[key]), MOVE)
            for b in self.now[key]:
                moved[b][key] = None

    def _uneven(self, low: int, high: int, stuck: set[tuple[int, int]]) -> tuple[int, int] | None:
        """The brokers between which a replica should move: one has too many, or one too few."""
        most = sorted(self.live, key=lambda b: (-self.count[b], b))
        for source in most:
            for target in reversed(most):
                if self.count[source] - self.count[target] < 2:
                    break
                if (self.count[source] > high or self.count[target] < low) and (source, target) not in stuck:
                    return source, target
        return None

    def _fits(self, key: Key, source: int, target: int) -> bool:
        replicas = self.now[key]
        if target in replicas:
            return False
        if replicas[0] == source and self.preferred[source] <= self.preferred[target] + 1:
            return False
        if not self.rack_aware:
            return True
        after = [target if b == source else b for b in replicas]
        return len({self.racks[b] for b in after}) >= len({self.racks[b] for b in replicas})

    def _even_out_preferred(self) -> None:
        """Changes only the order of replicas: no data moves. Leadership moves along a chain of brokers where no single swap helps."""
        low, high = bounds(sum(self.preferred[b] for b in self.live), len(self.live), self.limit)
        swaps: dict[int, dict[int, list[Key]]] = defaultdict(lambda: defaultdict(list))
        for key in self._movable():
            first, *others = self.now[key]
            for b in others:
                swaps[first][b].append(key)
        for ways in swaps.values():
            for b, keys in ways.items():
                keys.sort(key=lambda key: (self.table[key].leader == b, key))  # the last is taken first: the one b leads already
        while (path := self._chain(swaps, low, high)) is not None:
            for key, b in path:
                self._assign(key, (b, *(r for r in self.now[key] if r != b)), REORDER)

    def _chain(self, swaps: Mapping[int, Mapping[int, list[Key]]], low: int, high: int) -> list[tuple[Key, int]] | None:
        """The shortest chain of swaps from a broker that is preferred too often to one that is preferred too rarely."""
        count = self.preferred
        sources, targets = self._unbalanced(low, high)
        came: dict[int, tuple[int, Key] | None] = dict.fromkeys(sorted(sources, key=lambda b: (-count[b], b)))
        queue = deque(came)
        while queue:
            b = queue.popleft()
            if b in targets and came[b] is not None:
                return _path(came, b)
            for following, key in self._swaps_of(swaps.get(b, {})):
                if following not in came:
                    came[following] = (b, key)
                    queue.append(following)
        return None

    def _unbalanced(self, low: int, high: int) -> tuple[list[int], set[int]]:
        """Brokers that can give up leaderships, and brokers that can take some."""
        count = self.preferred
        over = [b for b in self.live if count[b] > high]
        if over:
            return over, {b for b in self.live if count[b] < high}
        under = {b for b in self.live if count[b] < low}
        return [b for b in self.live if count[b] > low] if under else [], under

    def _swaps_of(self, ways: Mapping[int, list[Key]]) -> list[tuple[int, Key]]:
        """The brokers that can take a leadership, each with the next partition: first where the broker leads already."""
        for keys in ways.values():
            while keys and keys[-1] in self.kinds:
                keys.pop()
        following = [(b, keys[-1]) for b, keys in ways.items() if keys]
        return sorted(following, key=lambda item: (self.table[item[1]].leader != item[0], self.preferred[item[0]], item[0]))

    # elections

    def _elect_preferred(self) -> None:
        now, after = [], []
        for key, p in self.table.items():
            first, moved = self.now[key][0], key in self.kinds
            if p.leader not in self.alive or p.leader == first:
                continue  # where the leader is gone, the controller elects by the order of replicas anyway
            change = PartitionChange(p.topic, p.partition, p.replicas, self.now[key], p.leader, first)
            if moved:
                after.append(change)
            elif first in p.isr and first in self.alive and not p.moving:
                now.append(change)
            elif first not in self.gone:
                self._not_elected(p, first)
        self._step(PREFERRED, now)
        self._step(PREFERRED_AFTER, after)

    def _not_elected(self, p: FinalPartition, first: int) -> None:
        why = (
            "a reassignment of the partition is in progress"
            if p.moving
            else "the replica is not in the ISR, so an election would not choose it"
            if first not in p.isr
            else "the evidence does not show that the broker is running"
        )
        self._refuse(f"leadership does not go back to its preferred replica on broker {first}", why, p)

    def _elect_unclean(self) -> None:
        self._step(UNCLEAN, [c for p in self.table.values() if p.leader == -1 and (c := self._last_resort(p)) is not None])

    def _last_resort(self, p: FinalPartition) -> PartitionChange | None:
        what = "no unclean election is offered for a partition without a leader"
        if living := [b for b in p.isr if b in self.alive]:
            self._refuse(what, f"{brokers_named(living)} of the ISR can be elected without a loss", p)
            return None
        # Kafka elects the first live replica in the order of the assignment (PartitionLeaderElectionAlgorithms, PartitionChangeBuilder).
        choice = next((b for b in p.replicas if b in self.alive), None)
        if choice is None:
            self._refuse(what, "the evidence shows no running broker with a replica of the partition", p)
            return None
        instead = f"; if possible, start {brokers_named(p.isr)} of the ISR instead" if p.isr else ""
        return PartitionChange(p.topic, p.partition, p.replicas, p.replicas, p.leader, choice, loss(p, choice) + instead)


def _path(came: Mapping[int, tuple[int, Key] | None], end: int) -> list[tuple[Key, int]]:
    """Partitions along the chain that leads to `end`, each with the replica that becomes its first."""
    found = []
    step = came[end]
    while step is not None:
        before, key = step
        found.append((key, end))
        end, step = before, came[before]
    return found


def _known(p: FinalPartition) -> bool:
    sound = len(set(p.replicas)) == len(p.replicas) and all(0 <= b < 2**31 for b in p.replicas)
    return bool(p.replicas) and p.leader is not None and sound and p.partition >= 0 and TOPIC_NAME.fullmatch(p.topic) is not None


def _unknown_because(p: FinalPartition) -> str:
    if not p.replicas:
        return "the evidence does not name their assignment; collect kafka-topics.sh --describe"
    if p.leader is None:
        return "the evidence does not name their leader; collect kafka-topics.sh --describe"
    return "Kafka does not accept their name or assignment"


def loss(p: FinalPartition, choice: int) -> str:
    """The loss if `choice` is elected, as far as the evidence shows."""
    have = next((end.offset for end in p.ends if end.broker == choice), None)
    reached = max((end.offset for end in p.ends if end.broker != choice), default=None)
    best = max((x for x in (reached, p.high_watermark) if x is not None), default=None)
    if have is None or best is None:
        return "the loss is unknown: the evidence does not show where the logs end"
    if best <= have:
        return f"no known loss: the log of broker {choice} ends at {have}, and no other known log ends later"
    committed = max(min(p.high_watermark or 0, best) - have, 0)
    kept = f", at least {committed} of them committed" if committed else ""
    return f"would lose offsets {Range(have, best)} ({best - have} or more{kept})"

"""Values as words.

Here: the formats that a template can name. Not here: templates, or messages.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

from forensics.model.cluster.facts import by_role
from forensics.model.message import Range, Value
from forensics.output.shell import option
from forensics.thresholds import NAMED


@lru_cache(1024)
def moment(at: datetime | None) -> str:
    """A time in a sentence: '2026-11-21 02:48:25.120 UTC'."""
    return f"{at.isoformat(' ', 'milliseconds')} UTC" if at is not None else "an unknown time"


def period(first: datetime | None, last: datetime | None, word: str = "to") -> str:
    """Two times in a sentence: '2026-11-21 02:48:25.120 to 02:49:08.000 UTC'; with the word 'from' 'from A to B', or 'at A' if both are one."""
    if word == "from":
        return f"at {moment(first)}" if first == last else f"from {period(first, last)}"
    if first is None or last is None:
        return f"{moment(first)} {word} {moment(last)}"
    begin, end = moment(first).removesuffix(" UTC"), moment(last)
    return f"{begin} {word} {end[11:] if last.date() == first.date() else end}"


def duration(seconds: float) -> str:
    """'41.0 s', '12.5 min', '37.4 h' or '3.9 days'."""
    seconds = max(seconds, 0)
    if seconds < 60:
        return f"{seconds:.1f} s"
    if seconds < 7_200:
        return f"{seconds / 60:.1f} min"
    return f"{seconds / 3_600:.1f} h" if seconds < 172_800 else f"{seconds / 86_400:.1f} days"


def began(start: datetime | None, latest: datetime | None) -> str:
    """A beginning in a sentence: 'at A', 'before B', or 'between A and B'."""
    if start is None and latest is not None:
        return f"before {moment(latest)}"
    return f"at {moment(start)}" if start is None or latest is None else f"between {period(start, latest, 'and')}"


_PARTITION = re.compile(r"(.+)-(\d+)")


def natural(names: Iterable[str]) -> list[str]:
    """Each name once; those of partitions as people count, those of internal topics last."""
    once = list(dict.fromkeys(names))
    parts = [_PARTITION.fullmatch(name) for name in once]
    known = [(is_internal(part[1]), part[1], int(part[2]), part[0]) for part in parts if part is not None]
    return [name for *_, name in sorted(known)] if len(known) == len(once) else once


def is_internal(topic: str) -> bool:
    return topic.startswith("__")


def where(names: Iterable[str]) -> str:
    """'orders-0 and orders-1', 'topic orders (3 partitions)', 'topics orders and ledger (5 partitions)'."""
    once = natural(names)
    topics = list(dict.fromkeys(part[1] if (part := _PARTITION.fullmatch(name)) is not None else name for name in once))
    if len(once) <= 2 or topics == once:
        return _joined(once, "") if len(once) <= NAMED else some(once)
    named = _joined(topics, "") if len(topics) <= NAMED else some(topics)
    return f"topic{'s' if len(topics) > 1 else ''} {named} ({counted(len(once))})"


def some(names: Sequence[str], shown: int = NAMED) -> str:
    """'a-0, a-1 and 7 more', each name once."""
    once = natural(names)
    return ", ".join(once[:shown]) + (f" and {len(once) - shown:,} more" if len(once) > shown else "")


def offsets_named(offsets: Sequence[Range]) -> str:
    """'offset 42', 'offsets 200–357, 400 and 7 more'."""
    return f"{'offset' if [r.length for r in offsets] == [1] else 'offsets'} {some(list(map(str, offsets)))}"


def counted(number: int, what: str = "partition") -> str:
    """'1 partition', '1,200 partitions'."""
    return f"{number:,} {what}{'s' if number != 1 else ''}"


def capital(words: str) -> str:
    """The words with a capital letter, as a sentence begins."""
    return f"{words[:1].upper()}{words[1:]}"


def brokers_named(ids: Sequence[int]) -> str:
    """'broker 1', 'brokers 1 and 2'."""
    names = [str(i) for i in sorted(set(ids))]
    if not names:
        return "no broker"
    if len(names) == 1:
        return f"broker {names[0]}"
    if len(names) > 2 * NAMED:
        return f"{len(names):,} brokers ({some(names)})"
    return "brokers " + ", ".join(names[:-1]) + f" and {names[-1]}"


def nodes_named(ids: Sequence[int], controllers: Collection[int]) -> str:
    """'broker 1 and controllers 100 and 101': `controllers` are the nodes that are only controllers."""
    return _nodes(by_role(ids, controllers), "")


def usual(value: Value) -> str:
    """The usual words of a value that is not a message."""
    if value is True:
        return ""
    if isinstance(value, datetime):
        return moment(value)
    return str(value)


def single(value: Any) -> bool:
    """Whether a verb about the value is singular."""
    if isinstance(value, tuple):
        return len(value) == 1 and (not isinstance(value[0], Range) or single(value[0]))
    if isinstance(value, Range):
        return value.length == 1
    return value in (1, True) if isinstance(value, int) else True


def _count(value: Any, noun: str) -> str:
    """'1 entry', '1,200 entries': the noun, and its plural unless that ends with s."""
    one, _, many = noun.partition("|")
    number = len(value) if isinstance(value, tuple) else value
    return counted(number, one) if not many else f"{number:,} {one if number == 1 else many}"


def _number(value: Any, style: str) -> str:
    return f"{value:,}" if not style else f"{value:{style}}"


def _joined(value: Sequence[str], word: str) -> str:
    """'a', 'a and b', 'a, b and c'."""
    return value[0] if len(value) == 1 else f"{', '.join(value[:-1])} {word or 'and'} {value[-1]}"


def _nodes(value: Any, _: str) -> str:
    """'broker 1 and controllers 100 and 101', of the ids of brokers and those of controllers; 'a broker' if the evidence names none."""
    brokers, controllers = value
    if not brokers and not controllers:
        return "a broker"
    others = brokers_named(controllers).replace("broker", "controller")
    return brokers_named(brokers) if not controllers else f"{brokers_named(brokers)} and {others}" if brokers else others


def _topics(names: Sequence[str], most: str) -> str:
    """'topic a', or '6 topics: a, b, c, d and 2 more'."""
    return f"topic {names[0]}" if len(names) == 1 else f"{len(names)} topics: {some(names, int(most) if most else NAMED)}"


OF_TEXTS: Mapping[str, Callable[[Sequence[str], str], str]] = {
    "list": _joined,
    "some": lambda value, most: some(value, int(most) if most else NAMED),
    "topics": _topics,
    "lines": lambda value, word: (word or "; ").join(value),
}
"""Formats of a list whose elements are words already."""
CELLS: Mapping[str, str] = {
    "unseen": "unseen changes",
    "unexplained_truncations": "unexplained cuts",
    "had_all": "all committed records",
    "sole_commit": "committed by the leader alone",
    "sole_restart": "restart of the only in-sync replica",
    "last_isr_member_lost_tail": "end of the only in-sync replica's log",
    "resent": "sent again",
}
"""What readers of the proof see in place of the names of some cells; underscores of the others are spaces."""


def cell_words(name: str) -> str:
    return CELLS.get(name) or name.replace("_", " ")


FORMATS: Mapping[str, Callable[[Any, str], str]] = {
    "brokers": lambda value, _: brokers_named(value if isinstance(value, tuple) else (value,)),
    "nodes": _nodes,
    "where": lambda value, _: where(value),
    "numbered": lambda value, noun: brokers_named(value).replace("broker", noun),
    "count": _count,
    "number": _number,
    "option": lambda value, name: option(name, value),
    "options": lambda value, name: " ".join(option(name, v) for v in value),
    "moment": lambda value, _: moment(value),
    "began": lambda value, _: began(*value),
    "period": lambda value, word: period(value[0], value[1], word or "to"),
    "duration": lambda value, _: duration(value),
    "offsets": lambda value, _: offsets_named((value,) if isinstance(value, Range) else value),
    "ids": lambda value, _: str(list(value)),
    "agree": lambda value, forms: forms.partition("|")[0 if single(value) else 2],
    "if": lambda value, words: words,
    "cell": lambda value, _: cell_words(value),
}
"""Formats by name, each with what follows the name: 'count offset', 'agree is|are', 'numbered node', 'period and', 'number .1f'."""

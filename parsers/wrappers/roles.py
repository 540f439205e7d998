"""The roles of an export's fields whose names are unknown, learned from their content: text, level, logger, time, writer and log file.

Here: what the values of a field must look like, in the first records of a file. Not here: the names that are known, or how a record is read
(json_records).
"""

from __future__ import annotations

import html
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from parsers.paths import log_kind
from parsers.wrappers.json_records import (
    LEVEL_FIELDS,
    LEVEL_NAMES,
    LOGGERS,
    TEXTS,
    TIMES,
    is_known,
    is_record,
    of_object,
    time_in,
    writer_of,
)

Roles = Mapping[str, str]
"""By the path of a field, the known name of a field with the same role."""
TEXT, LEVEL, LOGGER, TIME, WRITER, FILE = "message", "level", "loggerName", "@timestamp", "pod", "log.file.path"
_KNOWN = ((TEXT, TEXTS), (LEVEL, LEVEL_FIELDS), (LOGGER, LOGGERS), (TIME, TIMES))
SAMPLE = 1000
"""Records from which roles are learned."""
_DEPTH = 6
_LINES = 5
_MOST_WRITERS = 200
_NEARLY_ALL = 0.9
_FEW = 3
"""Log lines that show where the text is: the rows of a long record, such as a list of settings, do not count."""
_LOGGER = re.compile(r"(?:org\.apache\.(?:kafka|zookeeper)|kafka|state\.change\.logger)[\w.$]*")
_BROKER = re.compile(
    r"(?:Broker id|brokerId|KafkaServer id|nodeId|node\.id|broker\.id)[ =:]+(\d+)|\[\w[\w ]*?(?: |\b)(?:broker|replicaId|id)=(\d+)"
)
"""Where a line of a broker contains the broker's own id."""
_MACHINE = re.compile(r"(?!\d+$)(?=.*\d)[\w.:/-]+")
_ONE_OF_MANY = re.compile(r"[A-Za-z][\w.]*(?:-[A-Za-z][\w.]*)*-?\d{1,3}(?:\.[\w.-]+)?|(?:\d{1,3}\.){3}\d{1,3}")
_THREAD = re.compile(r"(?i)thread|handler|scheduler|acceptor|executor|pool|reaper|tick|main")


def roles(records: Iterable[Mapping[str, Any]]) -> Roles:
    """The roles of fields with unknown names, as far as the records do not show the text or the writer in known fields."""
    sample = list(islice(records, SAMPLE))
    if not sample or all(is_known(name) and not isinstance(value, dict) for record in sample for name, value in record.items()):
        return {}
    peeled = [of_object(record) for record in sample]
    shown = {(p.writer, p.host) for p in peeled if p is not None}
    return {} if len(shown) > 1 else _learned([dict(_flat(record)) for record in sample], shown)


def _learned(sample: Sequence[Mapping[str, str]], shown: set[tuple[str, str]]) -> Roles:
    """`shown`: writer and host of the records whose text is in a known field; none if no text is."""
    fields: dict[str, list[str]] = defaultdict(list)
    for record in sample:
        for name, value in record.items():
            fields[name].append(value)
    unknown = {name: values for name, values in fields.items() if not is_known(name) and name.partition(".")[0] not in TIMES}
    if not unknown:
        return {}
    found = _of_text(fields, unknown, len(sample))
    if found is None:
        return {}
    texts = [" ".join(values) for values in (record.values() for record in sample)]
    left = {name: values for name, values in unknown.items() if name not in found and len(values) == len(sample)}
    return {**found, **_of_writer(left, texts, shown or {writer_of(record) for record in sample})}


def with_roles(record: Mapping[str, Any], roles: Roles) -> Mapping[str, Any]:
    """The record with its values under known names, too."""
    flat = dict(_flat(record))
    return {
        **record,
        **{known: _pasted(flat[name]) if known == TEXT else flat[name] for name, known in roles.items() if name in flat},
    }


def _pasted(text: str) -> str:
    """The log in the text of a message."""
    return html.unescape(_FENCE.sub("\n", text)) if _FENCE.search(text) else text


_FENCE = re.compile(r"```[\w-]*|\{(?:code|noformat)[^{}\n]{0,40}\}")
"""Marks around a log in the text of a message."""


def _flat(record: Mapping[str, Any], before: str = "", depth: int = _DEPTH) -> Iterator[tuple[str, str]]:
    """The values of a record and of the objects in it, by path."""
    for key, value in record.items():
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        if isinstance(value, dict) and depth:
            yield from _flat(value, f"{before}{key}.", depth - 1)
        elif isinstance(value, str | int | float) and not isinstance(value, bool):
            yield f"{before}{key}", str(value)


def _of_text(fields: Mapping[str, Sequence[str]], unknown: Mapping[str, Sequence[str]], count: int) -> dict[str, str] | None:
    """The unknown field with whole log lines, or those with messages, levels, loggers and times that no known field has; none if known
    fields have the lines, and None if no field shows any."""
    lines = {name: sum(map(_begins_record, values)) for name, values in fields.items() if name in unknown or name in TEXTS}
    whole = max(lines, key=lambda name: lines[name], default=None)
    if whole is not None and lines[whole] >= min(_FEW, (count + 1) // 2):
        timed = (
            None if any(name in TIMES for name in fields) else next((n for n, own in unknown.items() if _most(own, _is_time, count)), None)
        )
        return ({whole: TEXT} if whole in unknown else {}) | ({timed: TIME} if timed is not None else {})
    if whole is not None and lines[whole] and whole not in unknown:
        return {}
    known = {
        role for role, names in _KNOWN if any(name in names or (names is TIMES and name.partition(".")[0] in names) for name in fields)
    }
    found: dict[str, str] = {}
    for role, fits in ((LEVEL, is_level), (LOGGER, is_logger), (TIME, _is_time)):
        name = next((n for n, values in unknown.items() if n not in found and _most(values, fits, count)), None)
        if name is not None and role not in known:
            found[name] = role
    have = known.union(found.values())
    if TEXT in have:
        return found if LEVEL in have and not {LOGGER, TIME}.isdisjoint(have) else {}
    if LEVEL not in have or {LOGGER, TIME}.isdisjoint(have):
        return None
    words = {n: sum(v.count(" ") for v in values) for n, values in unknown.items() if n not in found}
    text = max(words, key=lambda name: words[name], default=None)
    return {**found, text: TEXT} if text is not None and words[text] >= 2 * count else None


def _most(values: Sequence[str], fits: Callable[[str], bool], count: int) -> bool:
    return sum(map(fits, values)) >= _NEARLY_ALL * count


def _begins_record(value: str) -> bool:
    """Whether a text is a record, or has one in its first lines, as a message in a chat has."""
    return any(is_record(line.lstrip("`> ")) for line in value.split("\n", _LINES)[:_LINES])


def is_level(value: str) -> bool:
    return value.strip().upper() in LEVEL_NAMES


def is_logger(value: str) -> bool:
    return _LOGGER.fullmatch(value.strip()) is not None


def _is_time(value: str) -> bool:
    return time_in(value) is not None


def _of_writer(fields: Mapping[str, Sequence[str]], texts: Sequence[str], known: set[tuple[str, str]]) -> dict[str, str]:
    """The field whose values divide the records by broker, if no known field does; and the field that names the log files.

    A field divides them by broker if each of its values comes with one broker id in the texts, and there are several ids. Without ids in
    the texts, a field with several names of machines is taken.
    """
    found: dict[str, str] = {}
    for name, values in fields.items():
        if _most(values, lambda value: log_kind(value.replace("\\", "/").rpartition("/")[2]) is not None, len(texts)):
            found[name] = FILE
            break
    ids = [_broker_in(text) for text in texts]
    candidates = {n: v for n, v in fields.items() if _may_name(v)}
    machines = [n for n, values in candidates.items() if _are_machines({*values})]
    by_ids = [n for n, values in candidates.items() if _divides(values, ids)]
    named = by_ids if len(known) < 2 else []
    if not named and known == {("", "")}:
        named = [n for n in machines if n not in found] or machines
    if named:
        several = [n for n in named if len({*candidates[n]}) > 1] or named  # a facility of syslog may look like the name of a machine
        found[min(several, key=lambda n: (len({*candidates[n]}), n not in machines))] = WRITER
    return found


def are_writers(names: Sequence[str], texts: Sequence[str]) -> bool:
    """Whether these names, one for each text, are of the brokers' machines or of log files."""
    different = {*names}
    if len(different) > _MOST_WRITERS or any(map(_THREAD.search, different)):
        return False
    files = all(log_kind(name.replace("\\", "/").rpartition("/")[2]) is not None for name in different)
    return files or _are_machines(different) or _divides(names, [_broker_in(text) for text in texts])


def _broker_in(text: str) -> str | None:
    match = _BROKER.search(text)
    return (match[1] or match[2]) if match else None


def _are_machines(values: set[str]) -> bool:
    """Whether these are names of machines, pods or containers, and not of threads. A single name has to end in a number, as of one of many,
    or to be an address."""
    several = len(values) > 1 or all(_ONE_OF_MANY.fullmatch(v) for v in values)
    return several and all(_MACHINE.fullmatch(v) and not _THREAD.search(v) and not _is_time(v) for v in values)


def _may_name(values: Sequence[str]) -> bool:
    different = {*values}
    return "" not in different and len(different) <= min(_MOST_WRITERS, max(1, len(values) // 3)) and max(map(len, different)) < 200


def _divides(values: Sequence[str], ids: Sequence[str | None]) -> bool:
    of_value: dict[str, set[str]] = defaultdict(set)
    for value, broker in zip(values, ids, strict=True):
        if broker is not None:
            of_value[value].add(broker)
    seen = [next(iter(own)) for own in of_value.values() if len(own) == 1]
    return len(seen) == len(of_value) and len({*seen}) > 1

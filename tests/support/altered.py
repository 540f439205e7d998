"""Evidence altered by people and by their tools: what was pasted, masked, sorted, collected twice, restored from a backup, or is another cluster's.

Here: the ways, by name. Not here: ways of taking away, and the relations (taken).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta, timezone
from operator import itemgetter
from random import Random

from tests.support.shapes import HEAD, File, Files, bundle, moment, nodes, records, relaid, without

LOG = r"/logs/[^/]*\.log(?:\.\S+)?$"
STAMP = re.compile(rb"^\[(\d{4}-\d\d-\d\d) (\d\d):(\d\d):(\d\d),(\d{3})\]", re.MULTILINE)
PLACES, TIMES, OTHERS = "altered", "clock step", "another cluster"
"""Families: what is altered besides times, times, and what is about another cluster, of which findings may be true."""
Way = tuple[str, str, Callable[[Files], Files]]
"""Family, what is altered in words, and how."""
_Altered = tuple[str, Callable[[Files], Files]]
Lines = Callable[[list[bytes]], list[bytes]]


def each(files: Files, expression: str, change: Callable[[bytes], bytes]) -> Files:
    """The content of files of these names changed."""
    return {p: File(change(f.content), f.modified) if re.search(expression, p) else f for p, f in files.items()}


def _of(expression: str, change: Callable[[bytes], bytes]) -> Callable[[Files], Files]:
    return lambda files: each(files, expression, change)


def _lines(change: Lines, expression: str = LOG) -> Callable[[Files], Files]:
    return _of(expression, lambda content: b"".join(change(content.splitlines(keepends=True))))


def _records(change: Lines, expression: str = LOG) -> Callable[[Files], Files]:
    return _of(expression, lambda content: b"".join(change(records(content))))


def _at(found: re.Match[bytes], by: timedelta, form: str = "[%Y-%m-%d %H:%M:%S,{ms}]") -> bytes:
    day, h, m, s, ms = (part.decode() for part in found.groups())
    return (datetime.fromisoformat(f"{day} {h}:{m}:{s}") + by).strftime(form).replace("{ms}", ms).encode()


def dated(form: str, by: timedelta = timedelta()) -> Callable[[bytes], bytes]:
    """Times in another form, and moved."""
    return lambda content: STAMP.sub(lambda found: _at(found, by, form), content)


def _prefixed(prefix: str) -> Callable[[Files], Files]:
    return _lines(lambda given: [prefix.encode() + line for line in given])


def _other(files: Files) -> str:
    """A recording of other incidents with as many nodes and the same form of metadata."""
    kraft = any("__cluster_metadata" in p for p in files)
    own = "acks1-failover-3.9.1-kraft" if kraft else "acks1-failover-2.8.2-zk"
    other = "unclean-election-3.9.1-kraft" if kraft else "unclean-election-2.8.2-zk"
    return other if bundle(own).keys() == files.keys() else own


def _times(files: Files, expression: str = LOG) -> list[float]:
    return [moment(r) for p, f in files.items() if re.search(expression, p) for r in records(f.content) if HEAD.match(r)]


def _moved_to(files: Files, times: list[float], *, by: float | None = None) -> Files:
    """Another recording, as if it had been recorded in these hours."""
    by = min(times) - min(_times(files)) if by is None else by
    later = dated("[%Y-%m-%d %H:%M:%S,{ms}]", timedelta(seconds=round(by)))
    return {p: File(later(f.content) if re.search(LOG, p) else f.content, f.modified + by) for p, f in files.items()}


def _middle(files: Files, expression: str = LOG) -> float:
    times = _times(files, expression)
    return (min(times) + max(times)) / 2


def _until(content: bytes, end: float) -> bytes:
    lines = records(content)
    return b"".join(lines[: next((n for n, r in enumerate(lines) if HEAD.match(r) and moment(r) >= end), len(lines))])


def _since(content: bytes, begin: float) -> bytes:
    lines = records(content)
    return b"".join(lines[next((n for n, r in enumerate(lines) if HEAD.match(r) and moment(r) >= begin), len(lines)) :])


_ROW = re.compile(rb"^(\S+ \d+ )(\d+)$", re.MULTILINE)


def _lower(content: bytes) -> bytes:
    """An older checkpoint: its offsets are lower."""
    return _ROW.sub(lambda row: row[1] + b"%d" % (int(row[2]) // 2), content)


def _torn(content: bytes) -> bytes:
    return content[:-2] if content.endswith(b"\n") and content[-2:-1].isdigit() and content[-3:-2].isdigit() else content


def _foreign_directories(files: Files, *, named: bool) -> Files:
    """The first node's disk is that of another cluster, with the names of this one's topics and without or with its own identity."""
    own = sorted({p.split("/")[2] for p in files if re.match(r"[^/]+/data/[a-z]+-\d+/", p)})
    node = next(n for n in nodes(files) if n.startswith("broker"))
    other = bundle(_other(files))
    theirs = sorted({p.split("/")[2] for p in other if re.match(rf"{node}/data/[a-z]+-\d+/", p)})
    made = without(files, rf"^{node}/data/[a-z]+-\d+/" + ("" if named else rf"|^{node}/data/meta\.properties"))
    for mine, other_name in zip(own, theirs, strict=False):
        begin = f"{node}/data/{other_name}/"
        made |= {f"{node}/data/{mine}/{p.removeprefix(begin)}": f for p, f in other.items() if p.startswith(begin)}
    if named:
        made |= {p: f for p, f in other.items() if p == f"{node}/data/meta.properties"}
    return made


def _beside(files: Files, path: str, content: bytes) -> Files:
    return {**files, path: File(content, max(f.modified for f in files.values()))}


NOTES = (
    "Hello,\nthis is what we saw on broker 2 in the night:\n"
    "[{day} {time},120] INFO [Partition {topic}-{partition} broker=2] {topic}-{partition} starts at leader epoch 17 from offset 90 "
    "with high watermark 90. Previous leader epoch was 16. (kafka.cluster.Partition)\n"
    "[{day} {time},420] INFO [Log partition={topic}-{partition}, dir=/data] Truncating to offset 90 (kafka.log.Log)\n"
)


def _notes(files: Files) -> Files:
    place = sorted({p.split("/")[2] for p in files if re.match(r"[^/]+/data/[a-z]+-\d+/", p)})[0]
    at = datetime.fromtimestamp(_middle(files), timezone.utc)
    topic, _, partition = place.rpartition("-")
    return _beside(files, "notes.txt", NOTES.format(day=f"{at:%Y-%m-%d}", time=f"{at:%H:%M:%S}", topic=topic, partition=partition).encode())


def _quoted(files: Files) -> Files:
    """True lines of another incident, in a mail."""
    other = bundle(_other(files))
    written = [r for p, f in sorted(other.items()) if re.search(r"broker-2/logs/server", p) for r in records(f.content)]
    lines = [r for r in written if re.search(rb"leader epoch|Truncat|truncat", r)][:12]
    return _beside(files, "mail.txt", b"Hi all,\nplease see:\n" + b"".join(lines))


def _two_collections(files: Files) -> Files:
    """Each broker twice: from the middle, with older checkpoints, and from the end, all with one time."""
    middle = _middle(files)
    old = {
        re.sub(r"^(broker-\d+)/", r"\1-old/", p): File(_until(f.content, middle) if re.search(LOG, p) else _lower(f.content), f.modified)
        for p, f in files.items()
        if re.search(LOG + r"|broker-\d+/data/replication-offset-checkpoint|meta.properties", p)
    }
    at = max(f.modified for f in files.values())
    return {p: File(f.content, at) for p, f in {**old, **files}.items()}


def _overlapping(files: Files) -> Files:
    times = _times(files)
    begin, end = (min(times) + part * (max(times) - min(times)) for part in (0.4, 0.6))
    made = without(files, LOG)
    for p, f in files.items():
        if re.search(LOG, p):
            made |= {f"monday/{p}": File(_until(f.content, end), end), f"tuesday/{p}": File(_since(f.content, begin), f.modified)}
    return {p: f for p, f in made.items() if f.content or not re.search(LOG, p)}


def _rotated(files: Files, change: Callable[[bytes, float], Mapping[str, bytes]], expression: str = r"/logs/server\.log$") -> Files:
    """Logs cut in the middle: `change` gives the older piece by the rest of its name."""
    middle = _middle(files)
    made = dict(files)
    for p, f in files.items():
        if re.search(expression, p):
            made[p] = File(_since(f.content, middle), f.modified)
            made |= {f"{p}{end}": File(content, middle) for end, content in change(_until(f.content, middle), middle).items()}
    return made


def _stepped(files: Files, node: str, by: float, *, begin: float = 0.0, end: float = float("inf")) -> Files:
    def change(content: bytes) -> bytes:
        at, made = 0.0, []
        for r in records(content):
            at = moment(r) if HEAD.match(r) else at
            made.append(dated("[%Y-%m-%d %H:%M:%S,{ms}]", timedelta(seconds=by))(r) if begin <= at < end else r)
        return b"".join(made)

    return each(files, f"^{node}{LOG}", change)


def _restart(files: Files, node: str) -> float:
    """When a node's process began again; the middle if it did not."""
    own = [r for p, f in files.items() if re.search(f"^{node}/logs/server", p) for r in records(f.content) if HEAD.match(r)]
    times = [moment(r) for r in own]
    return next(
        (at for at, r in zip(times, own, strict=True) if at > min(times) + 15 and b"Kafka version" in r), _middle(files, f"^{node}{LOG}")
    )


def _back_in_summer(files: Files, node: str) -> Files:
    """A broker in local time that comes back after summer time began: one hour ahead, then two."""
    at = _restart(files, node)
    return _stepped(_stepped(files, node, 7200, begin=at), node, 3600, end=at)


def _slewed(files: Files, node: str) -> Files:
    """By 500 ppm, as fast as a time service moves a clock."""
    begin = min(_times(files))

    def at(record: bytes) -> bytes:
        moved = datetime.fromtimestamp(moment(record) + (moment(record) - begin) / 2000, timezone.utc)
        return STAMP.sub(f"[{moved:%Y-%m-%d %H:%M:%S},{moved.microsecond // 1000:03}]".encode(), record, count=1)

    return each(files, f"^{node}{LOG}", lambda content: b"".join(at(r) if HEAD.match(r) else r for r in records(content)))


def _twelve_hours(found: re.Match[bytes]) -> bytes:
    return b"[%s %02d:%s:%s,%s]" % (found[1], int(found[2]) % 12 or 12, found[3], found[4], found[5])


def _wrapped(width: int) -> Lines:
    return lambda given: [piece + b"\n" for line in given for piece in re.findall(rb".{1,%d}" % width, line.rstrip(b"\n")) or [b""]]


def _uniq(lines: list[bytes]) -> list[bytes]:
    return [line for n, line in enumerate(lines) if not n or line != lines[n - 1]]


def _renamed_topics(content: bytes) -> bytes:
    return re.sub(rb"(?<![\w.-])(orders|ledger|clicks|trades)(?=-\d|\b)", lambda topic: b"topic-" + topic[0][:1], content)


def _shuffled(lines: list[bytes]) -> list[bytes]:
    """As several workers of a shipper deliver them."""
    by_chance = Random(len(lines))
    return [r for _, r in sorted(((n + 40 * by_chance.random(), r) for n, r in enumerate(lines)), key=itemgetter(0))]


def _delivered_again(lines: list[bytes]) -> list[bytes]:
    """Every fifth record comes once more, up to 200 records later."""
    by_chance = Random(len(lines))
    again = [(n + 5 + 195 * by_chance.random(), r) for n, r in enumerate(lines) if not n % 5]
    return [r for _, r in sorted([*enumerate(lines), *again], key=itemgetter(0))]


def _copied(files: Files, node: str, change: Callable[[bytes], bytes]) -> Files:
    """An altered copy of a node's logs beside them."""
    return {**files, **{f"copy/{p}": File(change(f.content), f.modified) for p, f in files.items() if re.search(f"^{node}{LOG}", p)}}


def _other_epochs(content: bytes) -> bytes:
    return re.sub(rb"(?<=[eE]poch[ =])\d\b", lambda epoch: b"%d" % (9 - int(epoch[0])), content)


def _masked(content: bytes) -> bytes:
    return re.sub(rb"\b\d{1,3}(?:\.\d{1,3}){3}\b|localhost|(?<=host=)[\w.-]+", b"XXX", content)


def _hosts(content: bytes) -> bytes:
    """As a collector writes them, whose host is renamed in the middle."""
    lines = records(content)
    half = len(lines) // 2
    return b"".join(
        dated("%Y-%m-%dT%H:%M:%S.{ms}Z " + ("kafka-a1" if n < half else "ip-10-0-0-7") + " kafka[812]: [%Y-%m-%d %H:%M:%S,{ms}]")(r)
        for n, r in enumerate(lines)
    )


def _quiet_tenth(files: Files) -> Files:
    """One broker prints only warnings for the third tenth of its time, the WARN of an hour."""
    node = next(n for n in nodes(files) if n.startswith("broker"))
    times = _times(files)
    step = (max(times) - min(times)) / 10
    begin, end = min(times) + 3 * step, min(times) + 4 * step

    def change(content: bytes) -> bytes:
        at, made = 0.0, []
        for r in records(content):
            at = moment(r) if HEAD.match(r) else at
            if not begin <= at < end or re.match(rb"\[[^]]*\] (?:WARN|ERROR|FATAL)", r):
                made.append(r)
        return b"".join(made)

    return each(files, f"^{node}{LOG}", change)


def _foreign_log(files: Files, *, as_own: bool) -> Files:
    """One log file is that of a broker of another environment with the same id: instead of its own, or as a rolled one."""
    other = _moved_to(bundle(_other(files)), _times(files))
    taken = next(p for p in sorted(files) if re.search(r"broker-\d+/logs/server\.log$", p) and p in other)
    return {**files, taken if as_own else f"{taken}.1": other[taken]}


def _foreign_node(files: Files) -> Files:
    """All logs of one broker are another cluster's, of another day."""
    node = [n for n in nodes(files) if n.startswith("broker")][-1]
    other = _moved_to(bundle(_other(files)), [], by=-86_400 * 3)
    return {**without(files, f"^{node}/logs/"), **{p: f for p, f in other.items() if p.startswith(f"{node}/logs/")}}


def _swapped(files: Files, room: str) -> Files:
    one, other = [n for n in nodes(files) if n.startswith("broker")][:2]
    names = {one: other, other: one}
    return {
        (f"{names[p.split('/')[0]]}/{p.split('/', 1)[1]}" if p.split("/")[0] in names and p.split("/")[1] == room else p): f
        for p, f in files.items()
    }


def _in_one_file(files: Files) -> Files:
    lines = [(moment(r) if HEAD.match(r) else 0.0, r) for p, f in sorted(files.items()) if re.search(LOG, p) for r in records(f.content)]
    return _beside(without(files, LOG), "all.log", b"".join(r for _, r in sorted(lines, key=lambda item: item[0])))


def _stored(date: str, time: str, milliseconds: str, level: str, message: str, logger: str) -> str:
    return json.dumps({"@timestamp": "2026-11-21T09:14:03.000Z", "message": f"[{date} {time},{milliseconds}] {level} {message} ({logger})"})


def _meta(content: bytes) -> bytes:
    return re.sub(rb"(?m)^cluster\.id=.*$", b"cluster.id=x0Restored00000000backup", content)


def _other_number(content: bytes) -> bytes:
    return re.sub(rb"(?m)^(broker\.id|node\.id)=(\d+)$", lambda row: b"%s=%d" % (row[1], int(row[2]) % 3 + 1), content)


CHECKPOINT = r"broker-\d+/data/replication-offset-checkpoint$"
CHAT = "[11/21/26, 9:14:03 AM] Anna Ops: "
_ROLLED = ".2026-11-21-02"


def _of_nodes(files: Files) -> Iterator[_Altered]:
    for node in [n for n in nodes(files) if n.startswith("broker")]:
        at = _restart(files, node)
        for by in (-60, -300):
            yield f"clock of {node} {by} s from its restart on", lambda f, n=node, a=at, b=by: _stepped(f, n, b, begin=a)
        yield f"{node} in local time over the start of summer time", lambda f, n=node: _back_in_summer(f, n)
        yield f"clock of {node} in 1970 for 3 s after its restart", lambda f, n=node, a=at: _stepped(f, n, -a, begin=a, end=a + 3)
        yield f"clock of {node} slewed", lambda f, n=node: _slewed(f, n)
        yield f"logs of {node} copied with other leader epochs", lambda f, n=node: _copied(f, n, _other_epochs)
        yield f"logs of {node} in 12-hour times", _of(f"^{node}{LOG}", lambda c: STAMP.sub(_twelve_hours, c))
        yield f"checkpoint of {node} lacks its last digit", _of(f"^{node}/data/replication-offset-checkpoint$", _torn)
        yield f"checkpoint of {node} is an older one, and its time is new", _of(f"^{node}/data/replication-offset-checkpoint$", _lower)
        yield (
            f"logs of {node} doubled by a collector in another zone",
            lambda f, n=node: {
                **f,
                **{
                    f"collector/{p}": File(dated("[%Y-%m-%d %H:%M:%S,{ms}]", timedelta(hours=2))(x.content), x.modified)
                    for p, x in f.items()
                    if re.search(f"^{n}{LOG}", p)
                },
            },
        )


def _of_times(files: Files) -> Iterator[_Altered]:
    yield "lines pasted from a chat", _prefixed(CHAT)
    yield "lines with one outer time", _prefixed("[11/21/2026 9:14:03 AM] ")
    yield "lines with one time of syslog", _prefixed("Nov 21 09:14:03 host kafka[7]: ")
    yield "lines with one ISO time", _prefixed("2026-11-21T09:14:03.000Z ")
    for days in (-29, -1, 1):
        moved = dated("[%Y-%m-%d %H:%M:%S,{ms}]", timedelta(days=days))
        yield (
            f"dates {days} days, and the files'",
            lambda f, m=moved, d=days: {p: File(m(x.content), x.modified + d * 86_400) if re.search(LOG, p) else x for p, x in f.items()},
        )
        yield f"dates {days} days, without checkpoints", lambda f, m=moved: each(without(f, "-checkpoint$"), LOG, m)
        yield f"dates {days} days, without segments", lambda f, m=moved: each(without(f, r"data/(?!__cluster)[^/]*/\d+\.log$"), LOG, m)
    yield "12-hour times", _of(LOG, lambda c: STAMP.sub(_twelve_hours, c))
    yield "ISO week dates", _of(LOG, dated("[%G-W%V-%u %H:%M:%S,{ms}]"))
    yield "times without milliseconds", _of(LOG, dated("[%Y-%m-%d %H:%M:%S]"))
    yield "times without dates", _of(LOG, dated("[%H:%M:%S,{ms}]"))
    yield "times of minutes", _of(LOG, dated("[%Y-%m-%d %H:%M]"))
    yield "hosts renamed in the middle", _of(LOG, _hosts)
    yield "all files have one time", lambda f: {p: File(x.content, max(y.modified for y in f.values())) for p, x in f.items()}
    yield "files have no time", lambda f: {p: File(x.content, 0.0) for p, x in f.items()}
    yield "files have the time of a copy months later", lambda f: {p: File(x.content, x.modified + 86_400 * 90) for p, x in f.items()}


def _of_lines(files: Files) -> Iterator[_Altered]:
    yield "uniq", _lines(_uniq)
    yield "sort", _lines(sorted)
    yield "sort -u", _lines(lambda given: sorted(set(given)))
    yield "tac", _lines(lambda given: given[::-1])
    yield "grep -v INFO", _lines(lambda given: [line for line in given if b" INFO " not in line])
    yield "grep of a topic", _lines(lambda given: [line for line in given if re.search(rb"orders|clicks|trades", line)])
    yield "grep of partitions", _lines(lambda given: [line for line in given if re.search(rb"(?i)partition|leader|isr", line)])
    yield (
        "grep -v of starts",
        _lines(lambda given: [line for line in given if not re.search(rb"Kafka version|started|starting|Loading|Loaded", line)]),
    )
    yield "records out of order", _records(_shuffled)
    yield "records delivered again", _records(_delivered_again)
    yield "server logs sampled", _records(lambda told: told[::3], r"/logs/server\.log$")
    yield "ids of topics masked", _of(LOG, lambda c: re.sub(rb"(?<=[tT]opicId=)[\w-]{22}|(?<=,Some\()[\w-]{22}", b"A" * 22, c))
    yield "every line twice", _lines(lambda given: [line for line in given for _ in (1, 2)])
    yield "cut at 120 columns", _lines(lambda given: [line[:120].rstrip(b"\n") + b"\n" for line in given])
    yield "wrapped at 80 columns", _lines(_wrapped(80))
    yield "a blank line after each", _lines(lambda given: [line.rstrip(b"\n") + b"\n\n" for line in given])
    yield "numbered", _lines(lambda given: [b"%6d\t%s" % (n, line) for n, line in enumerate(given, 1)])
    yield "quoted in a mail", _lines(lambda given: [b"> " + line for line in given])
    yield "hosts masked", _of(LOG, _masked)
    if any("__cluster_metadata" in p for p in files):  # without topic ids nothing shows that two names are of one topic
        yield "topics renamed in logs", _of(LOG, _renamed_topics)
    yield "lower case", _of(LOG, bytes.lower)
    yield "digits masked", _of(LOG, lambda c: re.sub(rb"(?<=offset )\d+", b"#", c))
    yield "leader epochs masked", _of(LOG, lambda c: re.sub(rb"(?<=epoch )\d+|(?<=poch=)\d+", b"*", c))
    yield "thousands separated", _of(LOG, lambda c: re.sub(rb"(?<=offset )(\d+)(\d{3})\b", rb"\1,\2", c))
    yield "one line of each 37 lost", _records(lambda given: [r for n, r in enumerate(given) if n % 37])
    yield "a block of 20 lines lost in each", _records(lambda given: given[: len(given) // 2] + given[len(given) // 2 + 20 :])
    yield "last 30 lines lost in each", _records(lambda given: given[:-30] or given[:1])
    yield "last line cut", _of(LOG, lambda c: c[:-25])


def _of_files(files: Files) -> Iterator[_Altered]:
    yield "rolled logs cut, as in a truncated archive", lambda f: _rotated(f, lambda old, at: {_ROLLED: old[: int(len(old) * 0.7)]})
    yield "rolled logs twice", lambda f: _rotated(f, lambda old, at: {".1": old, _ROLLED: old})
    yield "rolled logs missing", lambda f: _rotated(f, lambda old, at: {})
    yield (
        "parts of logs joined in the wrong order",
        lambda f: {
            p: File(_since(x.content, _middle(f)) + _until(x.content, _middle(f)), x.modified) if re.search(r"/logs/server\.log$", p) else x
            for p, x in f.items()
        },
    )
    yield "overlapping collections", _overlapping
    yield "two collections with one time", _two_collections
    for end in (".bak", "~", ".orig", ".old", ".20261121", ".swp"):
        yield (
            f"checkpoints{end}",
            lambda f, e=end: {
                **f,
                **{f"{p}{e}": File(_lower(x.content), x.modified - 20) for p, x in f.items() if re.search(CHECKPOINT, p)},
            },
        )
    yield (
        "checkpoints of another day",
        lambda f: {
            p: File(_ROW.sub(lambda row: row[1] + b"%d" % (int(row[2]) * 3 + 11), x.content), x.modified - 86_400)
            if re.search(CHECKPOINT, p)
            else x
            for p, x in f.items()
        },
    )
    yield "empty checkpoints", _of("-checkpoint$", lambda c: b"")
    yield (
        "epoch checkpoints without their last digit, no segments",
        lambda f: each(without(f, r"data/(?!__cluster)[^/]*/\d+\.log$"), "leader-epoch-checkpoint$", _torn),
    )
    yield "segments cut in a batch", _of(r"data/[a-z]+-\d+/\d+\.log$", lambda c: c[: int(len(c) * 0.9)])
    yield "segments with zeros at the end", _of(r"data/[a-z]+-\d+/\d+\.log$", lambda c: c + bytes(4096))
    yield "cluster id of a backup", _of(r"broker-1/data/meta\.properties$", _meta)
    yield "node id of a backup", _of(r"broker-1/data/meta\.properties$", _other_number)
    yield "directories of another cluster", lambda f: _foreign_directories(f, named=False)
    yield "directories of another cluster, with its id", lambda f: _foreign_directories(f, named=True)
    yield "a log of another cluster's broker with this id", lambda f: _foreign_log(f, as_own=False)
    yield "another cluster's log in place of a broker's own", lambda f: _foreign_log(f, as_own=True)
    yield "all logs of a broker are another cluster's of another day", _foreign_node
    yield "notes with two lines", _notes
    yield "a mail with lines of another incident", _quoted
    yield "data directories swapped", lambda f: _swapped(f, "data")
    yield "data directories swapped, without ids", lambda f: _swapped(without(f, r"meta\.properties$"), "data")
    yield "logs swapped", lambda f: _swapped(f, "logs")
    yield "all logs in one file", _in_one_file
    yield "all logs flat", lambda f: {(p.replace("/", "_") if re.search(LOG, p) else p): x for p, x in f.items()}
    yield "records of a log store with one time", lambda f: {p: relaid(x, _stored) if re.search(LOG, p) else x for p, x in f.items()}
    yield (
        "described at another time",
        lambda f: {
            p: (File(x.content.replace(b"Isr: 1,2,3", b"Isr: 1"), x.modified) if p.startswith("cluster/") else x) for p, x in f.items()
        },
    )


def alterations(name: str) -> Iterator[Way]:
    """All of them for a recording."""
    files = bundle(name)
    if not _times(files):
        return
    other = re.compile("another (?:cluster|incident)")
    for family, of in ((TIMES, _of_times), (PLACES, _of_lines), (PLACES, _of_files), (TIMES, _of_nodes)):
        yield from ((OTHERS if other.search(words) else family, words, change) for words, change in of(files))

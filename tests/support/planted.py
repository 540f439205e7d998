"""Evidence with planted names, addresses, numbers and secrets in every place and packaging, and the search for what is left of them: for
tests of redaction.

Here: kinds of plants, the places that hold them, and the search in decoded text. Not here: what redaction does.
"""

from __future__ import annotations

import base64
import binascii
import gzip
import html
import io
import json
import random
import re
import struct
import tarfile
import unicodedata
import uuid
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from tests.parsers.decoding import test_bodies
from tests.parsers.decoding.test_bodies import Record
from tests.parsers.formats import test_group_offsets, test_metadata_log, test_transaction_states
from tests.support.archives import tar, zipped

STAMP = "2026-11-21 02:15:38,147"
UTC = "2026-11-21T02:15:38.147123456Z"
_LETTERS = "bcdfghjklmnpqrstvwxz"


@dataclass(frozen=True)
class Plant:
    """Something that must not be in a copy."""

    kind: str
    shown: str
    """As it is written."""
    secrets: tuple[str, ...]
    """Texts that must not be left."""


def _shifted(first: int, base: str = "a") -> Callable[[str], str]:
    """Each letter as the character of another alphabet."""
    return lambda word: "".join(chr(first + ord(c) - ord(base)) for c in word)


def _each(form: str, between: str = "") -> Callable[[str], str]:
    return lambda word: between.join(form.format(c=c, n=ord(c)) for c in word)


SPELT: dict[str, Callable[[str], str]] = {
    "dashes": "-".join,
    "dots": ".".join,
    "underscores": "_".join,
    "commas": ", ".join,
    "tabs": "\t".join,
    "two spaces": "  ".join,
    "zero width": "\u200b".join,
    "no-break spaces": "\u00a0".join,
    "circled": _shifted(0x24D0),
    "parenthesised": _shifted(0x249C),
    "squared": lambda word: _shifted(0x1F130, "A")(word.upper()),
    "regional indicators": lambda word: _shifted(0x1F1E6, "A")(word.upper()),
    "Braille": _shifted(0x2801),
    "tags": _shifted(0xE0061),
    "combining marks": "\u0308".join,
    "fullwidth": _shifted(0xFF41),
    "bold": _shifted(0x1D41A),
    "Cyrillic": _shifted(0x430),
    "Greek": _shifted(0x3B1),
    "Katakana": _shifted(0x30A2),
    "CJK": _shifted(0x5B57),
    "emoji": _shifted(0x1F600),
    "ligatures": lambda word: "\ufb01".join((word[:4], word[4:])),
    "mixed scripts": lambda word: "".join(chr(0x430 + n) + c for n, c in enumerate(word)),
    "case": lambda word: "".join(c.upper() if n % 3 else c for n, c in enumerate(word)),
    "leet": lambda word: "".join(c + str(n) for n, c in enumerate(word)),
    "percent": _each("%{n:02x}"),
    "JSON": _each("\\u{n:04x}"),
    "entities": _each("&#{n};"),
    "octal": _each("\\{n:03o}"),
    "quoted printable": _each("={n:02X}"),
    "hexadecimal": lambda word: word.encode().hex(),
    "bytes": _each("{n:02x}", " "),
    "base64": lambda word: base64.b64encode(word.encode()).decode(),
    "base32": lambda word: base64.b32encode(word.encode()).decode(),
    "reversed": lambda word: word[::-1],
}
"""Ways to spell a word of nine letters."""
WORDS = {
    "word": "{}",
    "numbered": "{}-prod-1",
    "host": "kafka-2.{}.internal",
    "email": "{}@mail.example",
    "umlaut": "M{}ü",
    "principal": "User:CN={},OU=Team,O=Bank,C=DE",
    "resource": "ResourcePattern(resourceType=TOPIC, name={}, patternType=PREFIXED)",
    "client id": "clientId={}",
    "transactional id": "transactionalId={}-tx-0",
    "group": "groupId=grp.{}",
    "member": "memberId={}-1-0",
    "rack": "rack=eu-{}-1a",
    "directory": "/srv/{}/kafka",
    "listener": "{}://0.0.0.0:9092",
    "connector": "connector-producer-{}-0",
    "quota": "ClientQuotaEntity(entries={{user={}, client-id=null}})",
    "credentials": "https://admin:{}@vault.example/x?y=1",
    "jdbc": "jdbc:postgresql://db/{}?ssl=true",
    "jaas": 'PlainLoginModule required username="admin" password="{}";',
    "password": "password={}",
    "api key": '"api-key": "{}"',
    "bearer": "Authorization: Bearer {}",
    "class": "com.{}.Payments$$Lambda$14",
    "frame": "at com.{}.Pay.now(Pay.java:7)",
    "lambda": "lambda${}$0",
    "thread": "pool-3-{}-7",
    "json": '{{"customer": {{"name": "{}"}}}}',
    "escaped json": '{{\\"customer\\": \\"{}\\"}}',
    "xml": "<customer id='{}'/>",
    "query": "SELECT * FROM t WHERE name = '{}'",
    "arrow": "{}->leader",
    "among Kafka's words": "leader {} epoch offset",
    "label": "offset={}",
    "in a name of Kafka's": "Replica{}Manager",
    "after a class": "java.lang.IllegalStateException{}",
}
DIGITS = {
    "number": "{a}{b}",
    "id": "id={a}{b}",
    "port": "pin:{a}7",
    "offset": "offset {a}{b}",
    "epoch": "epoch={a}{b}",
    "position": "position {a}{b}",
    "sequence": "sequence={a}{b}",
    "milliseconds": "{a}{b} ms",
    "bytes": "{a}{b} bytes",
    "thousands": "{a}8k",
    "mail": "{a}{b}@mailx",
    "attached": "emp-{a}{b}d",
    "dotted": "kz.{a}{b}m",
    "birthday": "{d}.5.84",
    "American birthday": "05/{d}/1984",
    "ISO birthday": "1984-05-{d}",
    "amount": "{a}.{b},40 EUR",
    "place": "52.{a}, 13.{b}",
    "card": "4929 {a}1 {b}2 9017",
    "phone": "+49 30 {a}{b}",
    "US phone": "(555) {a}-{b}1",
    "IBAN": "DE89 3704 {a}4 {b}3 0130 00",
    "ticket": "INC-{a}{b}",
    "issue": "ACME-{a}5",
    "licence plate": "B-XQ {a}7",
    "version": "{d}.84.{a}",
    "IPv4": "10.{d}.77.166",
    "IPv4 as number": "0x0a{a}{b}",
    "dashed IPv4": "ip-10-{d}-166-55",
    "tax id": "{a}/{b}/12345",
    "member of a list": "[1, {a}{b}, 3]",
    "JSON number": '{{"salary":{a}{b}}}',
    "signed": "-{a}{b}",
    "exponent": "{a}.{b}e7",
    "leading zeros": "000{a}{b}",
    "fullwidth digits": "\uff11{a}\uff12{b}",
    "superscripts": "\u00b9{s}",
    "Roman numerals": "\u2160{r}",
    "Arabic digits": "{i}",
}


def plants(seed: int) -> list[Plant]:
    """One of each kind, different for each seed."""
    chance = random.Random(seed)

    def word() -> str:
        return "q" + "".join(chance.choices(_LETTERS, k=8))

    found: list[Plant] = []
    for kind, spell in SPELT.items():
        shown = spell(word())
        found.append(Plant(kind, shown, (shown,)))
    for kind, form in WORDS.items():
        found.append(Plant(kind, form.format(name := word()), (name,)))
    for kind, form in DIGITS.items():
        a, b, d = (str(chance.randint(*bounds)) for bounds in ((211, 989), (211, 989), (13, 28)))
        digits = a + b
        fields = {
            "a": a,
            "b": b,
            "d": d,
            "s": digits.translate(
                dict(zip(map(ord, "0123456789"), "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079", strict=True))
            ),
        }
        fields |= {"r": "".join(chr(0x2160 + int(c)) for c in digits), "i": "".join(chr(0x660 + int(c)) for c in digits)}
        shown = form.format(**fields)
        secrets = [
            text
            for text in (a + b, f"{a}.{b}", f"{a}/{b}", f"{a}-{b}", f"{d}.5.84", f"05/{d}", f"05-{d}", f"{d}.84.", f"10.{d}.77", f"10-{d}")
            if text in shown
        ]
        secrets += [
            text
            for text in (f"{a}7", f"{a}8k", f"{a}1 ", f"{a}4", f"{a}5", f", 13.{b}", fields["s"], fields["r"], fields["i"], "\uff12" + b)
            if text in shown
        ]
        found.append(Plant(kind, shown, (secrets[0],)))
    for kind, shown in (
        ("UUID", str(number := uuid.UUID(int=chance.getrandbits(128), version=4))),
        ("bare UUID", number.hex[::-1]),
        ("MAC", ":".join(f"{chance.randint(0xA0, 0xFF):02x}" for _ in range(6))),
        ("Cisco MAC", ".".join(f"{chance.randint(0xA000, 0xFFFF):04x}" for _ in range(3))),
        ("IPv6", f"2a01:{chance.randint(0x1000, 0x9FFF):x}::{chance.randint(0x1000, 0x9FFF):x}"),
        ("mapped IPv4", f"::ffff:10.{chance.randint(60, 99)}.{chance.randint(60, 250)}.7"),
        ("JWT", f"eyJhbGciOi.{base64.urlsafe_b64encode(word().encode()).decode().rstrip('=')}.{word()}"),
        ("AWS key", f"AKIA{word().upper()}77"),
        ("key", base64.b64encode(bytes(chance.randrange(256) for _ in range(32))).decode()),
        ("id", f"{word()}A7-{word()[:7]}_4Q"),
    ):
        found.append(Plant(kind, shown, (shown,)))
    return found


STATEMENTS = (
    "Customer {} paid (com.acme.Payments)",
    "[ReplicaManager broker=1] Something with {} (kafka.server.ReplicaManager)",
    "[Log partition=orders-0, dir=/data/{bare}] Truncating to offset 7 (kafka.log.Log)",
    "[Consumer clientId={bare}, groupId=billing] Resetting offset for partition orders-0 to offset 7. "
    "(org.apache.kafka.clients.consumer.internals.SubscriptionState)",
    "[Broker id=1] Connection to node 2 ({word}.x/10.1.2.3:9092) could not be established. Broker may not be available. "
    "(org.apache.kafka.clients.NetworkClient)",
    "[ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Error for {bare} (kafka.server.ReplicaFetcherThread)\n"
    "org.apache.kafka.common.KafkaException: {}",
)
EXCEPTIONS = (
    "java.lang.IllegalStateException: {}",
    "java.lang.IllegalStateException: no\n{}\n\tat kafka.log.Log.append(Log.scala:7)",
    "java.lang.RuntimeException: wrapped\n\tat kafka.log.Log.append(Log.scala:7)\nCaused by: java.io.IOException: {}\n\t... 7 more",
    "java.lang.RuntimeException: wrapped\n\tSuppressed: java.io.IOException: {}\n\t\tat {bare}.run(X.java:7)",
    "com.acme.{word}Exception: epoch 5 of {}",
    "org.apache.kafka.common.errors.TimeoutException: Timed out waiting for {} at offset 7",
    "java.io.IOException: No space left on device ({})\n\tat java.base/sun.nio.ch.{word}.write(N.java:7)",
    "java.io.FileNotFoundException: /data/{bare}/orders-0/00000000000000000000.log (Permission denied: {})",
    "{}",
)
RAISED = (
    "ERROR [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Error due to (kafka.server.ReplicaFetcherThread)",
    "ERROR Error while accepting connection (kafka.network.Acceptor)",
    "FATAL [KafkaServer id=1] Fatal error during KafkaServer startup. Prepare to shutdown (kafka.server.KafkaServer)",
    "ERROR Processor got uncaught exception. (kafka.network.Processor)",
)


def _filled(form: str, plant: Plant) -> str:
    bare = re.sub(r"[\s()\[\]{}<>\"',:;=|/\\]", "_", plant.shown)
    return form.replace("{word}", re.sub(r"\W", "", plant.shown)).replace("{bare}", bare).replace("{}", plant.shown)


def records(seed: int) -> Iterator[tuple[Plant, str]]:
    """Log records with plants: in statements, in exceptions below them, and in printed settings."""
    for number, plant in enumerate(plants(seed)):
        for form in (STATEMENTS[number % len(STATEMENTS)], STATEMENTS[(number + 3) % len(STATEMENTS)]):
            yield plant, f"[{STAMP}] INFO {_filled(form, plant)}"
        raised, form = RAISED[number % len(RAISED)], EXCEPTIONS[number % len(EXCEPTIONS)]
        yield plant, f"[{STAMP}] {raised}\n{_filled(form, plant)}"
    values = "".join(f"\tx.{n}.note = {plant.shown}\n\tlog.session.rate = {plant.shown}\n" for n, plant in enumerate(plants(seed)))
    yield Plant("", "", ()), f"[{STAMP}] INFO KafkaConfig values: \n\tbroker.id = 1\n{values} (kafka.server.KafkaConfig)"


def _escaped(text: str) -> str:
    """JSON with every letter escaped."""
    return '"' + "".join(f"\\u{ord(c):04x}" if c.isascii() and c.isalnum() else json.dumps(c)[1:-1] for c in text) + '"'


def _packed(record: str, form: str) -> str:
    lines = record.split("\n")
    if form == "docker":
        return "\n".join(json.dumps({"log": f"{line}\n", "stream": "stdout", "time": UTC}, separators=(",", ":")) for line in lines)
    if form == "cri":
        return "\n".join(f"{UTC} stdout F {line}" for line in lines)
    if form == "syslog":
        return "\n".join(f"Nov 21 02:15:38 kafka-1 kafka[812]: {line}" for line in lines)
    if form == "journald":
        return json.dumps({"__REALTIME_TIMESTAMP": "1795220138147123", "_HOSTNAME": "kafka-1", "MESSAGE": record, "_CMDLINE": lines[0]})
    if form == "json":
        message, _, logger = record.partition("] INFO ")[2].rpartition(" (")
        return json.dumps({"@timestamp": UTC, "level": "INFO", "message": message, "logger_name": logger.rstrip(")")})
    if form == "escaped":
        return f'{{"@timestamp":"{UTC}","message":{_escaped(record)}}}'
    return record


FORMS = ("plain", "docker", "cri", "syslog", "journald", "json", "escaped")
Made = tuple[Sequence[Plant], dict[str, bytes]]


def logs(seed: int) -> Made:
    """A log in every packaging, each with its own plants."""
    found: dict[Plant, None] = {}
    files: dict[str, bytes] = {}
    for at, form in enumerate(FORMS):
        own = list(records(seed * 100 + at))
        found.update(dict.fromkeys(plant for plant, _ in own))
        files[f"broker-1/logs/{form}/server.log"] = "\n".join(_packed(record, form) for _, record in own).encode("utf-8", "replace") + b"\n"
    rows = list(records(seed * 100 + 50))
    found.update(dict.fromkeys(plant for plant, _ in rows))
    cells = ((UTC, record, plant.shown) for plant, record in rows)
    table = "".join(",".join('"' + cell.replace('"', '""') + '"' for cell in row) + "\n" for row in cells)
    files["export/logs-insights-results.csv"] = f"@timestamp,@message,owner\n{table}".encode("utf-8", "replace")
    return list(found), files


def others(seed: int) -> Made:
    """Settings, output of tools, checkpoints and metrics."""
    found = plants(seed * 100 + 80)
    shown = [plant.shown for plant in found]
    bare = [_filled("{bare}", plant) for plant in found]
    both = list(zip(shown, bare, strict=True))
    keys = ("x.note", "connection.id.size", "log.session.rate", "host.name", "broker.rack", "ssl.keystore.location", "sasl.jaas.config")
    settings = "".join(f"{key}.{n}={s}\n" for n, s in enumerate(shown) for key in keys)
    settings += "".join(f"super.users=User:{s}\nlog.dirs=/data/{b}\nzookeeper.connect={b}:2181\n# {s}\n{b}={s}\n" for s, b in both)
    noise = "".join(f"Error: customer {s}\n" for s in shown)
    describe = noise + "".join(f"Topic: {b}\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 1,2\n" for b in bare)
    groups = "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID\n"
    groups += "".join(f"{b} orders 0 7 9 2 {b}-0 /{b} {b}\n" for b in bare)
    entries = [{"topic": b[:200], "partition": 0, "replicas": [1, 2], "log_dirs": [f"/data/{b}", "any"], "note": s} for s, b in both]
    znode = "".join(f'/brokers/ids/1\n{{"endpoints":["{b}://x:9092"],"rack":"{b}"}}\ncZxid = 0x7\nowner = {s}\n' for s, b in both)
    load = "broker,time,cpu,owner\n" + "".join(f"1,2026-11-21T02:40:00Z,7.5,of {s.replace(',', ' ')}\n" for s in shown)
    files = {
        "broker-1/config/server.properties": f"broker.id=1\n{settings}min.insync.replicas=2\n".encode("ascii", "backslashreplace"),
        "broker-1/logs/kafkaServer-gc.log": f"{noise}12.345: [GC pause 2.5 secs]\n".encode("utf-8", "replace"),
        "cluster/topics-describe.txt": describe.encode("utf-8", "replace"),
        "cluster/groups-describe.txt": groups.encode("utf-8", "replace"),
        "cluster/reassignment.json": json.dumps({"version": 1, "partitions": entries}).encode(),
        "cluster/zookeeper/brokers-ids.txt": znode.encode("utf-8", "replace"),
        "cluster/load.csv": load.encode("utf-8", "replace"),
        "broker-1/data/replication-offset-checkpoint": f"0\n{len(bare)}\n{''.join(f'{b} 0 7{chr(10)}' for b in bare)}".encode(),
        "broker-1/data/orders-0/leader-epoch-checkpoint": f"0\n1\n4 200\n{''.join(shown)}\n".encode("utf-8", "replace"),
        "broker-1/data/meta.properties": f"version=1\nnode.id=1\ncluster.id=x\n{''.join(f'{b}={s}{chr(10)}' for s, b in both)}".encode(
            "ascii", "replace"
        ),
    }
    return found, files


def names(seed: int) -> Made:
    """Names of files and directories, and what containers hold besides files."""
    found, inner = plants(seed * 100 + 81), plants(seed * 100 + 82)
    content = f"[{STAMP}] INFO [Log partition=orders-0, dir=/data] Truncating to offset 7 (kafka.log.Log)\n".encode()
    files = {f"{_filled('{bare}', plant)[:80]}/{n}x/server.log": content for n, plant in enumerate(found)}
    path = iter(inner)
    one = next(path).secrets[0].replace("/", "_")
    files[f"inner/{one}.tar"] = tar(
        {f"{next(path).secrets[0]}/logs/server.log": content}, uname=next(path).secrets[0], gname=next(path).secrets[0]
    )
    pax = io.BytesIO()
    with tarfile.open(fileobj=pax, mode="w", format=tarfile.PAX_FORMAT) as archive:
        info = tarfile.TarInfo("broker-1/logs/server.log")
        info.size, info.pax_headers = len(content), {"comment": next(path).shown, "SCHILY.xattr.user.note": next(path).shown}
        archive.addfile(info, io.BytesIO(content))
    files["inner/pax.tar"] = pax.getvalue()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        entry = zipfile.ZipInfo("broker-1/logs/server.log")
        entry.comment = next(path).shown.encode()
        archive.writestr(entry, content)
        archive.comment = next(path).shown.encode()
    files["inner/comment.zip"] = packed.getvalue()
    named = gzip.compress(content)
    comment = next(path).shown.encode()
    files["inner/server.log.gz"] = named[:3] + b"\x18" + named[4:10] + next(path).shown.encode() + b"\0" + comment + b"\0" + named[10:]
    files["inner/more.zip"] = zipped({f"{next(path).secrets[0]}-{next(path).secrets[0]}/logs/server.log": content})
    return [*found, *inner[: inner.index(next(path))]], files


def binary(seed: int) -> Made:
    """Segments: records, headers, markers, offsets and members of groups, transactions, the metadata log."""
    found = plants(seed * 100 + 83)
    raw = [plant.shown.encode("utf-8", "replace")[:100] for plant in found]

    def batch(key: bytes | None, value: bytes | None, attributes: int = 0, headers: Sequence[tuple[bytes, bytes]] = ()) -> bytes:
        record = Record(0, 1000, key, value, tuple(headers))
        return test_bodies.v2(test_bodies.body(0, record, 1000), 1, attributes=attributes)

    short = [(plant.shown.encode()[:100].decode("utf-8", "ignore")) for plant in found]
    plain = b"".join(batch(r, r) + batch(b"\0\0\0\1", b"\0\0\0\0\0\7" + r, 48) + batch(r[:4], r, 32) for r in raw)
    offsets = test_group_offsets.segment(
        *(
            (0, [(test_group_offsets.key(s, s), test_group_offsets.value(1, 7)), (test_group_offsets.key(s, kind=2), r)])
            for s, r in zip(short, raw, strict=True)
        ),
        *(
            (0, [(struct.pack(">h", kind) + test_group_offsets.text(s) * 2, bytes(2) + r)])
            for s, r in zip(short, raw, strict=True)
            for kind in (3, 5, 8, 15)
        ),
    )
    states = test_group_offsets.segment(
        *((0, [(struct.pack(">h", 0) + test_group_offsets.text(s), test_transaction_states.value(0, 1, [(s, [0])]))]) for s in short)
    )
    text = test_metadata_log.text
    log = test_metadata_log.log(
        *(test_metadata_log.message(4, 0, b"\x02", text("orders"), text(s), text(s)) for s in short),
        *(test_metadata_log.message(4, 0, b"\x02", text(s), text("connection.id.size"), text(s)) for s in short),
        *(test_metadata_log.message(api, 0, text(s), bytes(16)) for s in short for api in (2, 10, 11, 14, 18, 25)),
    )
    segment = "00000000000000000000.log"
    return found, {
        f"broker-1/data/orders-0/{segment}": plain,
        f"broker-1/data/__consumer_offsets-0/{segment}": offsets,
        f"broker-1/data/__transaction_state-0/{segment}": states,
        f"broker-1/data/__cluster_metadata-0/{segment}": log,
    }


def survivors(planted: Sequence[Plant], copy: Mapping[str, bytes]) -> list[str]:
    """The secrets that occur in a copy, or in what its text encodes, in any case."""
    texts = {text for name, data in copy.items() for text in (*_decodings(name.encode()), *_decodings(data))}
    whole = "\n".join(texts).lower()
    found = {secret for plant in planted for secret in plant.secrets}
    return sorted(secret for secret in found if secret.lower() in whole or unicodedata.normalize("NFKC", secret).lower() in whole)


def _decodings(data: bytes) -> Iterator[str]:
    text = data.decode("utf-8", "replace")
    yield text
    yield re.sub(r"\\u([0-9a-fA-F]{4})", lambda m: chr(int(m[1], 16)), text)
    yield text.replace('\\"', '"')
    yield unquote(text)
    yield html.unescape(text)
    yield data.replace(b"\0", b"").decode("utf-8", "replace")
    for token in set(re.findall(r"[A-Za-z0-9+/_-]{8,}={0,2}", text)):
        try:
            bare = token.rstrip("=")
            yield base64.urlsafe_b64decode(bare + "=" * (-len(bare) % 4)).decode("utf-8", "replace")
        except (binascii.Error, ValueError):
            continue

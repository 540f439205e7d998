"""Evidence with planted names, addresses and secrets in every packaging, and the search for what is left of them: for tests of redaction.

Here: the plants, the statements that hold them, the files, and the search in decoded text. Not here: what redaction does.
"""

from __future__ import annotations

import base64
import binascii
import io
import json
import random
import re
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import quote, unquote

from tests.support.archives import tar, zipped

STAMP = "2026-11-21 02:15:38,147"
UTC = "2026-11-21T02:15:38.147123456Z"
_LETTERS = "bcdfghjklmnpqrstvwxz"


@dataclass(frozen=True)
class Plant:
    """Something that must not be in a copy."""

    shown: str
    """As it is written into a statement."""
    secrets: tuple[str, ...]
    """Texts that must not be left."""


def plants(seed: int) -> list[Plant]:
    """One of each sort, different for each seed."""
    chance = random.Random(seed)

    def word(length: int = 9) -> str:
        return "q" + "".join(chance.choices(_LETTERS, k=length))

    def digits(length: int) -> str:
        return str(chance.randint(2, 9)) + "".join(chance.choices("0123456789", k=length - 1))

    def four() -> str:
        return f"10.{chance.randint(60, 250)}.{chance.randint(60, 250)}.{chance.randint(60, 250)}"

    def hexadecimal(length: int) -> str:
        return "".join(chance.choices("0123456789abcdef", k=length - 2)) + "e7"

    found: list[Plant] = []

    def plant(shown: str, *secrets: str) -> None:
        found.append(Plant(shown, secrets or (shown,)))

    for form in ("{}", "{}-prod-1", "svc.{}.internal", "M{}er", "{}ü", "{}@mail.{}", "{}_7"):
        name = word()
        plant(form.replace("{}", name), name)
    for form in ("{}", "{}-1", "{}.1", "payroll-{}-1", "/{}:9092", "client-{}.log", "::ffff:{}", "::ffff:{}:9092", "[::ffff:{}]:9092"):
        address = four()
        plant(form.replace("{}", address), address)
    for mark in ("_", "-"):
        address = four().replace(".", mark)
        plant(f"ip{mark}{address}{mark}a", address)
    for form in ("/{}:9092", "{}", "[{}]:9092", "{}%eth0"):
        groups = [f"{chance.randint(0x1000, 0xFFFF):x}" for _ in range(3)]
        address = f"2a01:{groups[0]}:0:0:0:0:{groups[1]}:{groups[2]}"
        plant(form.replace("{}", address), f"{groups[0]}:0:0", f"{groups[1]}:{groups[2]}")
        short = f"2a02:{groups[1]}::{groups[2]}"
        plant(form.replace("{}", short), short)
    number = uuid.UUID(int=chance.getrandbits(128), version=4)
    plant(str(number))
    plant(f"consumer-{number}-x", str(number))
    mac = [hexadecimal(2) if i else "b8" for i in range(5)] + [f"{chance.randint(16, 255):02x}"]
    plant(":".join(mac))
    plant("-".join(mac))
    for length in (16, 32, 40, 64):
        plant(hexadecimal(length))
    plant(token := f"AKIA{word(6).upper()}{digits(4)}{word(3).upper()}", token)
    plant(token := f"ghp_{word(7)}{digits(3)}{word(9)}", token[4:])
    plant("-".join(f"{word(2)}{digits(2)}".upper() for _ in range(4)))
    card = [digits(4) for _ in range(4)]
    plant(" ".join(card))
    plant("".join(card))
    plant("-".join(card))
    plant(f"card-{'-'.join(reversed(card))}", "-".join(reversed(card)))
    plant(f"+49 {digits(3)} {(phone := digits(7))}", phone)
    plant(f"({digits(3)}) {digits(3)}-{(phone := digits(4))}", f"-{phone}")
    plant(f"customer no {(customer := digits(9))}", customer)
    for form in (
        'password="{}"',
        r"password=\"{}\"",
        "secret_key={}",
        "api-key: {}",
        "pwd={}",
        "passphrase: '{}'",
        "Authorization: Bearer {}",
        "access_token={}",
    ):
        secret = f"{digits(2)} {digits(6)}" if '"' in form else f"{word(5)}{digits(3)}{word(4)}"
        plant(form.replace("{}", secret), secret)
    first, second = word(), word()
    plant(f'password="{first}, {second}"', first, second)
    plant(f"password={word()} {(secret := digits(4))} {word()}", f" {secret}")
    plant(f'password="{first[::-1]}\\" {second[::-1]}"', first[::-1], second[::-1])
    plant(f"https://{(user := word())}:{(secret := word())}@{(host := word())}.example/x?{(query := word())}=1", user, secret, host, query)
    name = word()
    plant(quote(f"ä{name}"), name)
    plant("".join(f"%{ord(c):02x}" for c in name[::-1]), name[::-1])
    plant(base64.b64encode((inner := word(14)).encode()).decode(), inner)
    return found


def statements(plant: Plant, number: int) -> list[str]:
    """Messages with the plant, with their loggers: some are read, some are not."""
    bare = re.sub(r"[^\w.:%@-]", "_", plant.shown)
    return [
        f"Customer {plant.shown} paid (com.acme.Payments)",
        f"[ReplicaManager broker=1] Something with {plant.shown} (kafka.server.ReplicaManager)",
        f"[Log partition=orders-{number % 3}, dir=/data/{bare}] Truncating to offset {number + 5} (kafka.log.Log)",
        f"[Consumer clientId={bare}, groupId=billing] Resetting offset for partition orders-{number % 3} to offset 7. "
        "(org.apache.kafka.clients.consumer.internals.SubscriptionState)",
        f"[Broker id=1] Connection to node 2 ({bare}/10.1.2.3:9092) could not be established. Broker may not be available. "
        "(org.apache.kafka.clients.NetworkClient)",
        f"[ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Error for {bare} (kafka.server.ReplicaFetcherThread)\n"
        f"org.apache.kafka.common.KafkaException: {plant.shown}",
    ]


def records(seed: int) -> Iterator[tuple[Plant, str]]:
    """Log records with plants."""
    for number, plant in enumerate(plants(seed)):
        for statement in statements(plant, number):
            yield plant, f"[{STAMP}] INFO {statement}"


def _escaped(text: str) -> str:
    """JSON with every letter escaped."""
    return '"' + "".join(f"\\u{ord(c):04x}" if c.isalnum() else json.dumps(c)[1:-1] for c in text) + '"'


def _log4j(record: str) -> str:
    message, _, logger = record.partition("] INFO ")[2].rpartition(" (")
    return json.dumps({"@timestamp": UTC, "level": "INFO", "message": message, "logger_name": logger.rstrip(")")})


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
        return _log4j(record)
    if form == "escaped":
        return f'{{"@timestamp":"{UTC}","message":{_escaped(record)}}}'
    return record


FORMS = ("plain", "docker", "cri", "syslog", "journald", "json", "escaped")


def logs(seed: int) -> tuple[list[Plant], dict[str, bytes]]:
    """Logs in every packaging, each with its own plants."""
    found: list[Plant] = []
    files: dict[str, bytes] = {}
    for at, form in enumerate(FORMS):
        own = list(records(seed * 100 + at))
        found += dict.fromkeys(plant for plant, _ in own)
        files[f"broker-1/logs/{form}/server.log"] = "\n".join(_packed(record, form) for _, record in own).encode() + b"\n"
    rows = list(records(seed * 100 + 50))
    found += dict.fromkeys(plant for plant, _ in rows)
    table = io.StringIO()
    table.write("@timestamp,@message,owner\n")
    for plant, record in rows:
        table.write(",".join('"' + cell.replace('"', '""') + '"' for cell in (UTC, record, plant.shown)) + "\n")
    files["export/logs-insights-results.csv"] = table.getvalue().encode()
    return found, files


def others(seed: int) -> tuple[list[Plant], dict[str, bytes]]:
    """Files of other kinds, directories and archives."""
    found = plants(seed * 100 + 80)
    paths = plants(seed * 100 + 81)
    shown = [plant.shown for plant in found]
    bare = [re.sub(r"[^\w.@+,-]", "_", s) for s in shown]
    record = f"[{STAMP}] INFO [Log partition=orders-0, dir=/data] Truncating to offset 7 (kafka.log.Log)\n".encode()
    properties = "".join(
        f"x.{n}.note={s}\nx.{n}={s}\nsuper.users=User:{s}\nhost.name={s}\nlog.dirs=/data/{b}\nssl.keystore.location=/etc/{b}\n"
        for n, (s, b) in enumerate(zip(shown, bare, strict=True))
    )
    noise = "".join(f"Error: customer {s}\n" for s in shown)
    describe = noise + "".join(f"Topic: {b}\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 1,2\n" for b in bare)
    groups = "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID\n" + "".join(
        f"{b} orders 0 7 9 2 {b}-0 /{b} {b}\n" for b in bare
    )
    assignment = {
        "version": 1,
        "partitions": [{"topic": b[:200], "partition": 0, "replicas": [1, 2], "log_dirs": [f"/data/{b}", "any"], "note": b} for b in bare],
    }
    files = {
        "broker-1/config/server.properties": f"broker.id=1\n{properties}min.insync.replicas=2\n".encode("ascii", "backslashreplace"),
        "broker-1/logs/kafkaServer-gc.log": f"{noise}12.345: [GC pause 2.5 secs]\n".encode(),
        "cluster/topics-describe.txt": describe.encode(),
        "cluster/groups-describe.txt": groups.encode(),
        "cluster/reassignment.json": json.dumps(assignment).encode(),
        "broker-1/data/replication-offset-checkpoint": f"0\n{len(bare)}\n{''.join(f'{b} 0 7{chr(10)}' for b in bare)}".encode(),
    }
    for n, plant in enumerate(paths):
        part = re.sub(r"[^\w.@+,:%-]", "_", plant.shown)
        files[f"{part}/{n}/server.log"] = record
    files[f"inner/{paths[0].secrets[0]}.tar"] = tar({f"{paths[1].secrets[0]}/logs/server.log": record})
    files["inner/more.zip"] = zipped({f"{paths[2].secrets[0]}-{paths[7].secrets[0]}/logs/server.log": record})
    return [*found, *paths], files


def survivors(planted: list[Plant], copy: Mapping[str, bytes]) -> list[str]:
    """The secrets that occur in a copy, or in what its text encodes."""
    texts = {text for name, data in copy.items() for text in (*_decodings(name.encode()), *_decodings(data))}
    whole = "\n".join(texts).lower()
    found = {secret for plant in planted for secret in plant.secrets}
    return sorted(secret for secret in found if secret.lower() in whole)


def _decodings(data: bytes) -> Iterator[str]:
    text = data.decode("utf-8", "replace")
    yield text
    yield re.sub(r"\\u([0-9a-fA-F]{4})", lambda m: chr(int(m[1], 16)), text)
    yield text.replace('\\"', '"')
    yield unquote(text)
    yield data.replace(b"\0", b"").decode("utf-8", "replace")
    for token in set(re.findall(r"[A-Za-z0-9+/_-]{8,}={0,2}", text)):
        try:
            bare = token.rstrip("=")
            yield base64.urlsafe_b64decode(bare + "=" * (-len(bare) % 4)).decode("utf-8", "replace")
        except (binascii.Error, ValueError):
            continue

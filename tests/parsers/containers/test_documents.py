"""Records in XML: what is refused, and that what is lost is said."""

from __future__ import annotations

import io

import pytest

from parsers.containers.documents import lines_of

EVENT = '<log4j:event logger="kafka.log.Log" timestamp="1795226311337" level="INFO" thread="main"><log4j:message>{}</log4j:message></log4j:event>\n'
EVENTS = "".join(EVENT.format(f"Truncating to offset {n} &amp; on") for n in range(20))


def converted(text: str) -> bytes:
    convert = lines_of("server.xml", text[:65536])
    assert convert is not None
    read, made = convert(io.BytesIO(text.encode()).read), b""
    while data := read(1 << 16):
        made += data
    return made


def test_events_without_a_root_are_objects() -> None:
    lines = converted(EVENTS).splitlines()
    assert len(lines) == 20
    assert b'"logger": "kafka.log.Log", "timestamp": 1795226311337' in lines[0]
    assert b'"message": "Truncating to offset 0 & on"' in lines[0]


def test_entities_are_not_expanded() -> None:
    bomb = '<?xml version="1.0"?><!DOCTYPE e [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><events>'
    assert lines_of("server.xml", bomb + EVENTS.replace("Truncating", "&b;") + "</events>") is None
    with pytest.raises(ValueError, match="damaged"):
        converted(EVENTS * 40 + bomb)


@pytest.mark.parametrize("end", [EVENT[:90], EVENT[:60], "<a>" * 100 + EVENT, "</wrong>", "<log4j:event>" + "x" * (17 << 20)])
def test_what_is_cut_damaged_too_deep_or_too_large_is_said(end: str) -> None:
    with pytest.raises(ValueError, match=r"ends within a record|damaged|in each other|MiB"):
        converted(EVENTS * 40 + end)

"""Printed settings: one event for each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

import regex

from parsers.masking import masked
from parsers.schemas import Row

_SETTING = regex.compile(r"(?:^|, ?)(?P<key>[\w.-]+)(?:=| -> )(?P<value>.*?)(?=, ?[\w.-]+(?:=| -> )|,?$)")
"""A setting in a printed map, Java's or Scala's; a value may be a list."""
_OF_BROKER = re.compile(r"(?m)^\t([\w.-]+) = (.*)$")
KEPT_SETTINGS = regex.compile(
    r"(?:broker|node)\.(?:id|rack)|process\.roles|controller\.quorum\.(?:voters|fetch\.timeout\.ms)|zookeeper\.metadata\.migration\.enable"
    r"|log\.dirs?|metadata\.log\.dir|log\.flush\.(?:interval\.\w+|offset\.checkpoint\.interval\.ms)|log\.segment\.bytes"
    r"|log\.retention\.(?:ms|minutes|hours|bytes)|log\.cleanup\.policy|log\.message\.format\.version|inter\.broker\.protocol\.version"
    r"|unclean\.leader\.election\.(?:enable|interval\.ms)|min\.insync\.replicas|default\.replication\.factor"
    r"|(?:offsets\.topic|transaction\.state\.log)\.(?:replication\.factor|min\.isr)|auto\.leader\.rebalance\.enable"
    r"|leader\.imbalance\.(?:check\.interval\.seconds|per\.broker\.percentage)"
    r"|auto\.create\.topics\.enable"
    r"|replica\.(?:lag\.time\.max\.ms|lag\.max\.messages|high\.watermark\.checkpoint\.interval\.ms|fetch\.max\.bytes)"
    r"|controlled\.shutdown\.(?:enable|max\.retries)|zookeeper\.session\.timeout\.ms|broker\.(?:session\.timeout|heartbeat\.interval)\.ms"
)
"""Settings that decide what may be lost. The other 250 of a dump, some of them secret, are not read."""
_CLEANUP_POLICY = "cleanup.policy"


def settings_of_broker(row: Row) -> Iterator[Row]:
    """The settings of a broker at its start that decide what may be lost."""
    settings = [(key, value.strip()) for key, value in _OF_BROKER.findall(row["_groups"]["_settings"])]
    ids = [value for key, value in settings if key in ("broker.id", "node.id") and value.isdecimal()]
    node = int(ids[0]) if ids else row.get("node")
    for key, value in settings:
        if _is_kept(key):
            yield {**row, "node": node, "key": key, "value": value, "text": f"{key} = {value}"}


@lru_cache(maxsize=1 << 12)
def _is_kept(key: str) -> bool:
    return KEPT_SETTINGS.fullmatch(key) is not None


def with_settings_of_topic(row: Row) -> Iterator[Row]:
    """The topic, and its settings."""
    yield row
    for match in _SETTING.finditer(row["_groups"]["_settings"]):
        yield {**row, "event": "config", "key": match["key"], "value": match["value"]}


def with_cleanup_policy(row: Row) -> Iterator[Row]:
    """The row with cleanup.policy. Up to 2.4 the line has all settings of the topic with the broker's as defaults, later only the
    topic's."""
    properties = row["_groups"]["_properties"]
    if properties is not None:
        row["key"] = _CLEANUP_POLICY
        row["value"] = _policy(properties)
    yield row


@lru_cache(maxsize=1 << 10)
def _policy(properties: str) -> str | None:
    """Logs of one topic have the same settings."""
    return next((s["value"] for s in _SETTING.finditer(properties) if s["key"] == _CLEANUP_POLICY), None)


def with_source(row: Row) -> Iterator[Row]:
    """The setting with its origin as the reason."""
    yield {**row, "reason": _source(row)}


def all_settings(row: Row) -> Iterator[Row]:
    """Every setting of the line, then a row without key that names all of them: other settings are not set any more."""
    matches = list(_SETTING.finditer(row["_groups"]["_settings"]))
    setting = {**row, "reason": _source(row)}
    for match in matches:
        yield {**setting, "key": match["key"], "value": masked(match["key"], match["value"])}
    yield {**setting, "value": ",".join(match["key"] for match in matches), "count": len(matches)}


def _source(row: Row) -> str:
    """The origin of the setting, as Kafka's ConfigSource names it."""
    if row.get("topic") is not None:
        return "DYNAMIC_TOPIC_CONFIG"
    return "DYNAMIC_BROKER_CONFIG" if row.get("broker") is not None else "DYNAMIC_DEFAULT_BROKER_CONFIG"


FUNCTIONS = (settings_of_broker, with_settings_of_topic, with_cleanup_policy, with_source, all_settings)

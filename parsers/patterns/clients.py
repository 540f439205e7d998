"""Lines of consumers whose offset is not known to the broker: a loss as clients saw it.

Here: org.apache.kafka.clients.consumer.internals, if a client's log is in the evidence. Not here: other lines of clients.
"""

from __future__ import annotations

from parsers.patterns.pattern import TP, Pattern, Sample

_CONSUMER = "org.apache.kafka.clients.consumer.internals."
_FETCHERS = tuple(_CONSUMER + name for name in ("Fetcher", "AbstractFetch", "FetchCollector"))
_VALIDATORS = tuple(_CONSUMER + name for name in ("Fetcher", "SubscriptionState", "OffsetFetcherUtils", "OffsetFetcher"))

PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        name="consumer-out-of-range",
        event="client-reset",
        literal=" is out of range for partition ",
        regex=r"Fetch (?:offset (?P<previous_offset>\d+)|position FetchPosition\{offset=(?P<previous_offset>\d+), .*\}) is out of range for"
        rf" partition {TP}, (?:resetting offset|raising error to the application since no reset policy is configured)",
        versions=("0.9.0", "4.4"),
        loggers=_FETCHERS,
        fixed={"reason": "out-of-range"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] INFO [Consumer clientId=billing-1, groupId=billing] Fetch offset 358 is out of range for"
                " partition orders-0, resetting offset (org.apache.kafka.clients.consumer.internals.Fetcher)",
                {"topic": "orders", "partition": 0, "previous_offset": 358, "reason": "out-of-range", "value": "billing"},
                "source: 1.1 Fetcher",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO [Consumer clientId=billing-1, groupId=billing] Fetch position FetchPosition{offset=358,"
                " offsetEpoch=Optional[2], currentLeader=LeaderAndEpoch{leader=Optional[a:9092 (id: 1 rack: null)], epoch=4}} is out of"
                " range for partition orders-0, resetting offset (org.apache.kafka.clients.consumer.internals.Fetcher)",
                {"topic": "orders", "partition": 0, "previous_offset": 358},
                "source: 2.8 Fetcher",
            ),
        ),
    ),
    Pattern(
        name="consumer-truncation",
        event="client-reset",
        literal="Truncation detected for partition ",
        regex=rf"Truncation detected for partition {TP} at offset FetchPosition\{{offset=(?P<previous_offset>\d+), .*?\}}+(?:, resetting offset"
        r"(?: to the first offset known to diverge FetchPosition\{offset=(?P<offset>\d+), .*\})?|,? .*but no reset policy is set)",
        versions=("2.1", "4.4"),
        loggers=_VALIDATORS,
        fixed={"reason": "truncation"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] INFO [Consumer clientId=billing-1, groupId=billing] Truncation detected for partition orders-0 at"
                " offset FetchPosition{offset=358, offsetEpoch=Optional[2], currentLeader=LeaderAndEpoch{leader=Optional[a:9092 (id: 1 rack:"
                " null)], epoch=4}}, resetting offset to the first offset known to diverge FetchPosition{offset=200,"
                " offsetEpoch=Optional[0], currentLeader=LeaderAndEpoch{leader=Optional[a:9092 (id: 1 rack: null)], epoch=4}}"
                " (org.apache.kafka.clients.consumer.internals.SubscriptionState)",
                {"topic": "orders", "partition": 0, "previous_offset": 358, "offset": 200, "reason": "truncation", "value": "billing"},
                "source: 2.8 SubscriptionState",
            ),
        ),
        note="KIP-320: the consumer asked with OffsetsForLeaderEpoch.",
    ),
)

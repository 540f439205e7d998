"""Findings with the values that their sentences name: for tests of folding and of views, which need findings and no evidence.

Not here: what rules find (tests.support.local.found_by, tests.forensics.staged).
"""

from __future__ import annotations

from typing import Any

from forensics.model.findings import Evidence, Finding, LostPart
from forensics.model.message import Range, Values, encoded, said, values

LINE = Evidence("broker-1/logs/server.log", 3, 120, "a line")


def found(kind: str, severity: str = "high", **stated: Any) -> Finding:
    return Finding(**{"kind": kind, "severity": severity, "confidence": "certain", "evidence": (LINE,), **stated})


def loss(**stated: Any) -> Finding:
    """Offsets 1 to 4 of t-0, lost by an unclean election of broker 2."""
    of = {"topic": "t", "partition": 0, "offsets": (Range(1, 5),), "committed": True, "loss": True, "cause": "unclean-election"}
    own = {"confidence": "certain", **of, **stated}
    records = own["records"].count if own.get("records") is not None and len(own["offsets"]) == 1 else None
    parts = tuple(
        LostPart(
            r, own["committed"], own["confidence"], records=records, still_on=own.get("still_on", ()), perhaps_on=own.get("perhaps_on", ())
        )
        for r in own["offsets"]
    )
    return found(**{"kind": "data-loss", "severity": "critical", "message": "lost", "values": _of_loss(own), "parts": parts, **own})


def _of_loss(own: dict[str, Any]) -> Values:
    status = {True: "is-committed", False: "is-uncommitted", None: "is-lost"}[own["committed"]]
    extent = said("data-loss/extent", name=f"{own['topic']}-{own['partition']}", offsets=own["offsets"])
    return values(
        extents=(said("data-loss/extent-of-part", offsets=own["offsets"], status=said(f"data-loss/{status}")),),
        by=said(f"data-loss/by-{own['cause']}", leader=2, epoch=7),
        why_committed=said("data-loss/high-watermark", offset=9) if own["committed"] else None,
        recovery=(said("data-loss/resend", extents=(extent,)),),
    )


def offline(**stated: Any) -> Finding:
    """t-0 had no leader for five seconds."""
    known = values(span=said("window/span"), lasted=said("window/lasted", seconds=5.0), isr=(1,))
    return found(**{"kind": "offline-partition", "topic": "t", "partition": 0, "brokers": (1,), "values": known, **stated})


def state(verdict: str, partition: int = 0, why: str = "no log of broker 1 was collected", **known: Any) -> dict[str, Any]:
    """A row of the states of partitions."""
    return {"topic": "t", "partition": partition, "verdict": verdict, "why": why, "reason": None, **known}


def reason(why: Any) -> str | None:
    """The reason for a verdict as in a row of the states of partitions."""
    return encoded(values(why=why))

"""All clusters of an audit as one page with links to each.

Here: the page's values. Not here: the order of clusters and the text (views.clusters), or one cluster's page (page).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from forensics.output.version import version
from forensics.views.clusters import DATA, NOT_JUDGED, Clusters, headline, news
from forensics.views.headline import BROKEN, EXCLUDED, FOUND, NOT_KNOWN, TITLES, UNSETTLED
from forensics.views.html.page import MEANINGS, environment
from forensics.views.html.times import EPOCH, parsed, switch
from forensics.words.formats import counted

QUIET = "No loss, no current failure, every file read"


def pieces(clusters: Clusters, files: Mapping[str, str]) -> Iterator[str]:
    """The page, with the interface of a format (forensics.output.format.AuditSummary)."""
    yield overview(clusters, files)


def overview(clusters: Clusters, links: Mapping[str, str]) -> str:
    """The whole file. `links`: by cluster, where its own page is, relative to this one."""
    rows: list[dict[str, Any]] = [
        {
            "name": name,
            "number": number,
            "link": links.get(name),
            "summary": clusters.found.get(name),
            "failed": clusters.failed.get(name),
            "loss": (loss := clusters.found[name]["loss"] if name in clusters.found else NOT_JUDGED),
            "data": DATA.get(loss, loss),
        }
        for number, name in enumerate(clusters.ordered(), 1)
    ]
    losses = {c["loss"] for c in rows}
    loss = FOUND if FOUND in losses else EXCLUDED if losses == {EXCLUDED} else UNSETTLED
    loud = [c for c in rows if _is_loud(c)]
    broken = sum(bool(c["summary"] and c["summary"]["broken"]) for c in rows)
    covered = [parsed(at) for c in rows if c["summary"] for at in (c["summary"]["first"], c["summary"]["last"]) if at is not None]
    values = {
        "title": TITLES.get(loss, NOT_KNOWN) + (f"; {counted(broken, 'cluster')} broken now" if broken else ""),
        "headline": headline(clusters),
        "news": news(clusters),
        "tone": BROKEN if broken and loss != FOUND else loss,
        "verdicts": list(MEANINGS),
        "remarks": clusters.remarks,
        "clusters": rows,
        "parts": [p for p in (("", loud), (QUIET, [c for c in rows if c not in loud])) if p[1]],
        "version": version(),
        "nights": clusters.calendar[0],
        "calendar": {name: clusters.calendar[1][name] for name in clusters.ordered() if name in clusters.calendar[1]},
        **switch(clusters.zone, min(covered, default=EPOCH), max(covered, default=EPOCH)),
    }
    return environment().get_template("clusters.html").render(**values)


def _is_loud(row: Mapping[str, Any]) -> bool:
    """Whether a cluster has a loss, a current failure or files that could not be read."""
    summary = row["summary"]
    return bool(row["failed"] or row["loss"] != EXCLUDED or (summary and (summary["broken"] or summary["problem"])))

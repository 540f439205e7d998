"""All clusters of an audit as one page that leads to each.

Here: the page's values. Not here: the order of clusters and the words (views.clusters), or one cluster's page (page).
"""

from __future__ import annotations

from collections.abc import Mapping

from forensics.views.clusters import NOT_JUDGED, Clusters, headline
from forensics.views.headline import EXCLUDED, FOUND
from forensics.views.html.page import environment
from forensics.views.version import version


def overview(clusters: Clusters, links: Mapping[str, str]) -> str:
    """The whole file. `links`: by cluster, where its own page is, relative to this one."""
    told = [
        {
            "name": name,
            "link": links.get(name),
            "told": clusters.found.get(name),
            "failed": clusters.failed.get(name),
            "loss": clusters.found[name]["loss"] if name in clusters.found else NOT_JUDGED,
        }
        for name in clusters.ordered()
    ]
    of = {c["loss"] for c in told}
    loss = FOUND if FOUND in of else EXCLUDED if of == {EXCLUDED} else "unknown"
    values = {"title": headline(clusters), "loss": loss, "remarks": clusters.remarks, "clusters": told, "version": version()}
    return environment().get_template("clusters.html").render(**values)

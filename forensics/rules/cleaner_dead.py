"""cleaner-dead: the log cleaner of a broker ended because of an error, or gave up a partition.

Here: which errors end it. Not here: other threads (fatal_error).
"""

from __future__ import annotations

from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.process_errors import of_thread
from forensics.model.events import Event


def of_cleaner(error: Event, cluster: Cluster) -> bool:
    return of_thread(error, "kafka-log-cleaner-thread")

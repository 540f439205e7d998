"""fatal-error: an error ended a process that was up, or one of its threads.

Here: processes, and threads without a finding of their own. Not here: failed starts (start_failed), failed log directories
(log_dir_failure), replica fetchers (fetcher_dead) and the log cleaner (cleaner_dead).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from forensics.model.cluster.availability import ENDS_PROCESS, HALTING
from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.failed_starts import errors_of_starts
from forensics.model.cluster.process_errors import of_fetcher
from forensics.model.events import Event
from forensics.rules.cleaner_dead import of_cleaner
from forensics.thresholds import FAILED_START_ENDS


def not_elsewhere(error: Event, cluster: Cluster) -> bool:
    elsewhere = error.reason in ("log-dir", "locked") or of_fetcher(error) or of_cleaner(error, cluster) or _of_process(error, cluster)
    return not elsewhere and id(error) not in errors_of_starts(cluster)


def _of_process(error: Event, cluster: Cluster) -> bool:
    """Whether a thread ended with the whole process, which has an error of its own."""
    ends = (e.at for e in cluster.of("fatal-error") if e.writer == error.writer and e.reason in (*ENDS_PROCESS, *HALTING))
    return error.reason == "thread" and any(
        error.at is not None and at is not None and abs(at - error.at) <= FAILED_START_ENDS for at in ends
    )


def what(errors: Sequence[Event], cluster: Cluster) -> Mapping[str, Any]:
    thread = errors[0].reason == "thread"
    return {"thread": thread, "fault": None if thread else errors[0].reason}

"""Thresholds that are our choice and not Kafka's: each with its reason.

Here: what decides whether something is reported, as what, and how severe it is. Not here: times that Kafka's settings give
(forensics.model.cluster.availability, absences), or how much fits on a screen or in a report.
"""

from __future__ import annotations

from datetime import timedelta

BRIEF_S = 1.0
"""ZooKeeper controllers write leader -1, and a smaller ISR, on the way to the next leader; shorter windows are only that."""

FLAPS, FLAPPING = 3, timedelta(hours=1)
"""A restart or two take a replica out of the ISR and back; three times within the hour is a recurring stall, three times in three days is
not."""

SAME_EPISODE_GAP = timedelta(minutes=5)
"""Absences no further apart belong to one time of bad performance."""
FLUCTUATING_TIMES = 3
"""A replica that left the ISR this often fluctuates; fewer absences do not form a pattern."""
LASTING_S = 60.0
"""A shorter stall is of medium severity: producers with the default delivery.timeout.ms of two minutes bridged it."""
COMMON_SHARE = 0.9
"""If this share of the absences has a broker in common, it is taken as the cause, though not with certainty."""
CLUSTER_WIDE_SHARE = 0.05
"""Share of the cluster's partitions. If fewer partitions fall out of sync, it is not a problem of the cluster."""

MAX_SEPARATE_INCIDENTS = 6
"""An incident of one day restarts a broker this often at most; what recurs more often is normal for this cluster, and is reported once."""
MAX_SEPARATE_WINDOWS = 20
"""Maximum number of windows of one kind in one partition that are reported separately."""
STOPPED_TOGETHER = timedelta(minutes=5)
"""Brokers that shut down cleanly within this time were stopped together: each stop waits for controlled shutdowns and open logs."""
SAME_INCIDENT_GAP = timedelta(minutes=30)
"""From one failure to the next of one incident, and from one broker of a rolling restart to the next: operators wait until under-replicated
partitions are gone."""
LEADERSHIP_RETURNS = timedelta(minutes=10)
"""Leadership returns to a broker within this time: leader.imbalance.check.interval.seconds is 300, and one round may come too early."""

MAX_CLOCK_STEPS = 3
"""Backward steps of the time in one log file up to which the clock is taken to have been set; more are lines out of order."""

NOTICEABLE_PAUSE = timedelta(seconds=1)
"""Shorter pauses of a process have no noticeable effect."""
LOG_GAP = timedelta(hours=1)
"""From this length on, the time between two log files of a broker counts as not covered: a running broker prints something every hour."""

LOAD_DEVIATION = 0.1
"""Relative deviation from the mean load that a broker may have."""
MIN_MEAN_BYTES = 100 << 20
"""If brokers have fewer bytes on average, moving replicas is not worth the effort."""

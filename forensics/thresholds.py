"""Where we draw a line that Kafka does not: each of our own thresholds, with why it is where it is.

Here: what decides whether something is told, as what, and how bad. Not here: times that Kafka's settings give (spark.cluster.presence, absences),
or how much a screen or a report holds.
"""

from __future__ import annotations

from datetime import timedelta

BRIEF_S = 1.0
"""ZooKeeper controllers write leader -1, and a smaller ISR, on the way to the next leader; shorter windows are only that."""

FLAPS, FLAPPING = 3, timedelta(hours=1)
"""A restart or two take a replica out of the ISR and back; three times within the hour is a stall that comes again, three times in three
days is not."""

RELATED = timedelta(minutes=5)
"""Absences no further apart belong to one time of bad performance."""
FLUCTUATES = 3
"""A replica that left so often fluctuates; fewer absences than that are no pattern."""
LASTING_S = 60.0
"""A stall that is over sooner is medium: producers with the default delivery.timeout.ms of two minutes saw it through."""
COMMON = 0.9
"""What so much of has in common is taken for the cause, though not for certain."""
WIDE = 0.05
"""Of the cluster's partitions: what falls out of sync in fewer of them is not the cluster's trouble."""

OFTEN = 6
"""As often as an incident of a day restarts a broker; what recurs more is a way of life, and told once."""
MANY = 20
"""Windows of one kind in one partition that are told one by one."""
CLOSING = timedelta(minutes=5)
"""Brokers that are stopped in order within it are stopped together: each stop waits for controlled shutdowns and open logs."""
APART = timedelta(minutes=30)
"""From one failure to the next of one incident, and from one broker of a rolling restart to the next: who restarts a fleet waits for
under-replicated partitions to go away."""
SETTLES = timedelta(minutes=10)
"""Leadership goes back to a broker that returned: leader.imbalance.check.interval.seconds is 300, and one round may come too early."""

MAX_CLOCK_STEPS = 3
"""Steps back of the time in one log file that are put down to a clock that was set; more are lines out of order."""

"""Thresholds that are our choice and not Kafka's: each with its reason.

Here: what decides whether something is reported, as what, and how severe it is. Not here: times that the settings of a
broker give (forensics.model.settings.settings), or how much fits on a screen or in a report.
"""

from __future__ import annotations

from datetime import timedelta

# windows of a partition

BRIEF_S = 1.0
"""ZooKeeper controllers write leader -1, and a smaller ISR, on the way to the next leader; shorter windows are only that."""
MAX_SEPARATE_WINDOWS = 20
"""Maximum number of windows of one kind in one partition that are reported separately."""
STOPPED_TOGETHER = timedelta(minutes=5)
"""Brokers that shut down cleanly within this time were stopped together: each stop waits for controlled shutdowns and open logs."""
MIN_FLAPS, FLAPPING_PERIOD = 3, timedelta(hours=1)
"""A restart or two take a replica out of the ISR and back; three times within the hour is a recurring stall, three times in three days is
not."""

# replicas that fall out of sync

ONE_DEGRADATION = timedelta(minutes=5)
"""Absences no further apart belong to one time of bad performance."""
MIN_FLUCTUATIONS = 3
"""A replica that left the ISR this often fluctuates; fewer absences do not form a pattern."""
LASTING_S = 60.0
"""A shorter stall is of medium severity: producers with the default delivery.timeout.ms of two minutes bridged it."""
COMMON_SHARE = 0.9
"""If this share of the absences has a broker in common, it is taken as the cause, though not with certainty."""
WIDE_SHARE = 0.05
"""Share of the cluster's partitions. If fewer partitions fall out of sync, it is not a problem of the cluster."""

# incidents

MAX_SEPARATE_EVENTS = 6
"""An incident of one day restarts a broker this often at most; what recurs more often is normal for this cluster, and is reported once."""
SAME_INCIDENT = timedelta(minutes=30)
"""From one failure to the next of one incident, and from one broker of a rolling restart to the next: operators wait until under-replicated
partitions are gone."""
LEADERSHIP_RETURNS = timedelta(minutes=10)
"""Leadership returns to a broker within this time: leader.imbalance.check.interval.seconds is 300, and one round may come too early."""

# rules about records

LONG_DEPOSED = timedelta(seconds=10)
MANY_OFFSETS = 100
"""From this duration or this number of offsets on, a loss of records that a deposed leader accepted alone is severe: applications notice a
gap of that size."""
ISR_TOLERANCE = timedelta(seconds=1)
"""Corrected clocks of two brokers may differ by this: only then is a replica with an empty log known to have been in the ISR."""
COPY_DURATION = timedelta(hours=1)
"""The files of a running broker are not copied at the same time; an epoch younger than this may have begun between the copies."""
AT_REST = timedelta(seconds=5)
"""High watermarks are checkpointed this often (replica.high.watermark.checkpoint.interval.ms): a log that was last written longer than this
before a checkpoint that names its end was not written to when its files were copied."""

# rules about brokers and controllers

SAME_FENCING = timedelta(seconds=10)
"""The metadata record, the controller's line and the broker's own session loss within this time are one fencing."""
SAME_EXPIRY = timedelta(seconds=1)
"""A broker prints several lines about one session expiry within this time."""
SILENT_BEFORE = timedelta(minutes=1)
"""A broker that resumes learns within this time that its ZooKeeper session has expired: it must connect first."""
SAME_DISK_FAILURE = timedelta(seconds=60)
"""The exception, the lines of both managers and of the controller, and the halt of one failure are within this time."""
STATE_LOST = timedelta(minutes=5)
"""Maximum time between the end of a session and the first election in the empty store."""
EPOCH_KNOWN = timedelta(seconds=30)
"""A leader that is refused because of a newer leader epoch receives that epoch within this time, if it and a controller are running."""
MIN_SKEW_MS = 1_000
"""Smaller clock errors cannot be distinguished from the delays with which brokers print lines."""
HARMFUL_SKEW_MS = 10_000
"""About the session and lag timeouts: with such a clock error, a cause may appear after its effect in uncorrected logs."""

SAME_FAILURE = timedelta(hours=1)
"""Errors of one kind and one process that are at most this far apart are one failure."""
UNREACHABLE = timedelta(minutes=1)
"""A node that restarts refuses connections for a shorter time."""
CONNECTS_AGAIN = timedelta(minutes=3)
"""A node that cannot connect tries again within this time: an attempt without an answer ends after at most 127 s on Linux, 75 s on
macOS."""
SAME_FETCH_FAILURE = timedelta(minutes=5)
"""A fetcher tries again every replica.fetch.backoff.ms (a second), but a stuck leader may hold an attempt for several request timeouts."""
NO_QUORUM = timedelta(seconds=10)
"""An ordinary election of the metadata quorum ends within this time."""
NO_QUORUM_AT_START = timedelta(minutes=1)
"""Controllers that are started one after the other have a majority within this time."""
REFUSED_REPEATEDLY = 3
"""A leader that was replaced retries an ISR change once or twice before it learns that, and a follower a fetch."""

# rules about elections and settings

SAME_PREFERRED_ELECTION = timedelta(seconds=30)
"""Partitions of one election command change leaders within seconds."""
REBALANCE_ROUND = timedelta(seconds=10)
"""A round of the automatic rebalance starts its elections within this time."""
NEXT_ROUND = 1.5
"""Two rounds of the automatic rebalance up to this many intervals apart are consecutive: a controller may print a round late."""
TOPIC_CREATION = timedelta(seconds=2)
"""The first settings of a topic are written within this time of its creation."""
SETTING_DELAY = timedelta(seconds=2)
"""A change of a setting and its consequences are logged by two brokers, whose clocks may differ by this."""
SAFE_REPLICAS = 3
"""With this many replicas min.insync.replicas=2 survives the loss of one broker. With fewer it blocks writes, so a lower value is not
reported."""

# the proof

SAME_UNCLEAN_ELECTION_S = 60.0
"""The controller's line about an unclean election, if it names no leader epoch, is of a term that began at most this long before or after
it."""
ORDINARY_HANDOVER = timedelta(seconds=1)
"""A LeaderAndIsr request, or a metadata record, takes a moment; a hand-over within this time is ordinary."""

# clocks and processes

MAX_CLOCK_STEPS = 3
"""Backward steps of the time in one log file up to which the clock is taken to have been set; more are lines out of order."""
ASCENTS_PER_DESCENT = 100
"""Lines of a log in which threads overtake each other once at most (once in 100 to 250 lines in recorded logs)."""
JOINED_SHARE = 0.5
"""If the time goes back to this first part of a log, another log may begin there: logs of one process begin together, and a clock is
seldom set back by the age of a log."""
SAME_STEP = timedelta(minutes=1)
"""Logs that show one step of a clock do so within this time and the size of the step: each prints a line about once a minute."""
NOTICEABLE_PAUSE = timedelta(seconds=1)
"""Shorter pauses of a process have no noticeable effect."""
LONG_PAUSE = timedelta(seconds=6)
"""The shortest default session timeout: ZooKeeper sessions up to 2.4. A process that is paused for longer loses its session."""
LOG_GAP = timedelta(hours=1)
"""From this length on, the time between two log files of a broker, or after its last line, counts as not covered: a running broker prints
something every hour."""

# balance

LOAD_DEVIATION = 0.1
"""Relative deviation from the mean load that a broker may have."""
MIN_MEAN_BYTES = 100 << 20
"""If brokers have fewer bytes on average, moving replicas is not worth the effort."""

# exports of log stores

MIN_FILTERED_BY_LEVEL, MIN_FILTERED_BY_WORD = 20, 50
"""Fewer lines may lack a level, or have a word in common, by chance."""

EXPORT_LIMITS = frozenset({500, 1_000, 5_000, 10_000, 30_000, 50_000, 100_000})
"""Numbers of rows at which log stores end an export: Kibana 500 and 10,000, CloudWatch 1,000 and 10,000, Loki and Datadog 5,000, Azure
Monitor 30,000, Splunk 50,000, Datadog's CSV 100,000. An export of exactly such a size is seldom complete."""
NEXT_PAGE = timedelta(seconds=1)
"""Longest time from the last row of a page of an export to the first row of the next page. Rows that a limit cut off are longer than that,
unless few are missing."""

NAMED = 4
"""Partitions that a sentence names, unless it says otherwise."""

# how close in time lines about one event are

STOP_NOTICED_EARLY = timedelta(seconds=2)
"""A controller notices a stop a little before the broker's last line, or after."""
CLOCK_TOLERANCE = timedelta(milliseconds=200)
"""Maximum difference between the estimated clocks of two machines."""
CRASH_NOTICED = timedelta(seconds=60)
"""Longer than any session or heartbeat timeout in use; a crash is noticed within it."""
FAILED_START_ENDS = timedelta(minutes=1)
"""A process that could not start ends within this time."""
STOPPED_AGAIN = timedelta(seconds=1)
"""After the stop, the shutdown hook reports the shutdown again within this time."""
CONNECTION_FAILS_AT_ONCE = timedelta(seconds=1)
"""A refused connection is reported within this time."""
CONNECTION_RETRIED = timedelta(seconds=15)
"""A node tries again at least this often to connect: the setup timeout is 10 s (socket.connection.setup.timeout.ms), plus its jitter, and
the backoff is 1 s."""
COPIED_TIME = timedelta(seconds=2)
"""Some archives and file systems keep whole seconds only."""
SETTINGS_FIRST = timedelta(milliseconds=250)
"""Longest time from the settings that a starting process prints to the line that says that it starts. The next process takes longer to
print its first line after the end of this one."""
LONGEST_START = timedelta(minutes=5)
"""A start with many logs to recover takes long, but its start lines are at its beginning."""
SAME_ELECTION = timedelta(seconds=10)
"""Several lines, in several files, report one election."""
COMING_UP = timedelta(seconds=30)
"""After its start a broker receives all decisions made while it was down."""
SEPARATE_RESTARTS = timedelta(seconds=10)
"""Events this far apart do not come from one restart."""
FARTHEST_ZONE = timedelta(hours=15)
"""A log's modification time is that of its last line; a zone is at most 14 hours away."""
WRITTEN_AT_ONCE = timedelta(seconds=2)
"""A broker writes its files throughout its run; files written within this span were put there at once."""
SETTINGS_PRINTED = timedelta(seconds=30)
"""Time between a broker's first line and its settings: it connects to ZooKeeper first, for up to zookeeper.connection.timeout.ms."""
ZONE_CHANGE_MARGIN = timedelta(minutes=2)
"""The hour before a change of a zone's offset counts with this margin."""
DST_SHIFT = timedelta(hours=1)
"""Daylight saving time moves clocks by this."""
DECISION_SENT = timedelta(seconds=5)
"""A controller sends what it has decided within milliseconds; clocks of two brokers may differ by more."""
SAME_ISR_CHANGE = timedelta(seconds=1)
"""A leader prints an ISR change and its consequences within milliseconds."""
FETCHED_AGAIN = timedelta(seconds=5)
"""A fetcher tries again within this time (replica.fetch.backoff.ms is 1 s)."""
ISR_PROPAGATION = timedelta(seconds=60)
"""Before KIP-497 (2.7) other brokers, and the tools that ask them, learn of an ISR change with this delay (isrChangeNotification,
ReplicaManager's IsrChangePropagationInterval): until then the leader's own line takes precedence."""
TOOL_RUN = timedelta(milliseconds=500)
"""Minimum time for the tool's JVM to start and ask: files closer to each other were copied, not printed, one after the other."""
ACTION_KNOWN = timedelta(seconds=5)
"""Brokers learn of a controller's action within moments."""
SHRINK_TAKES_EFFECT = timedelta(seconds=5)
"""Maximum time between a leader's shrink line and the resulting state."""
TIME_PRECISION = timedelta(seconds=1)
"""Copies of one line may show its time in milliseconds, microseconds or seconds."""
SHORTEST_START = timedelta(seconds=1)
"""Minimum time a broker needs from its first line to the load of a log."""
FETCHER_CREATED = timedelta(seconds=10)
"""A follower whose fetcher was not created this long after its start may have another one, of which the line is missing."""
PRODUCER_CLOCK_TOLERANCE = timedelta(minutes=1)
"""Timestamps that producers set are used if they are in the leader's term, with this tolerance: they may also be those of other events."""
RECONNECTED = timedelta(seconds=5)
"""A node tries again within this time (reconnect.backoff.max.ms is at most 1 s between brokers, with a request timeout on top)."""
SAME_FETCH = timedelta(seconds=2)
"""The error and the line that the partition is given up are printed one after the other."""
OUTLIVES_ERROR = timedelta(seconds=5)
"""A process that prints something this long after the error did not end because of it."""
REFUSED_START_ENDS = timedelta(minutes=1)
"""A start ends within this time after its registration was refused."""
FETCH_UNANSWERED = timedelta(minutes=1)
"""A follower waits for an answer for replica.socket.timeout.ms (30 s), and leaves the ISR meanwhile."""
SHOWN_AS_ONE = timedelta(seconds=2)
"""Events of one kind that begin at most this long after each other are one line of the first screen."""
SAME_STORY_ENTRY = timedelta(seconds=2)
"""A leader that begins this soon after the controller's decision is shown in the same entry."""
SILENCE_SHOWN = timedelta(minutes=10)
"""If a broker prints nothing for this long while others print lines about this partition, the story has an entry for the gap."""
SILENCE_BEGINS = timedelta(seconds=10)
"""Others must continue for longer than this after a broker's last line; a topic's deletion may be printed up to this long after its last
event."""
STATE_SETTLES = timedelta(seconds=10)
"""Entries of one change of state come within this time."""
LOADED_AFTER_START = timedelta(minutes=5)
"""A start is shown with the loading of the partition's log that follows it; recovery of other logs may come between."""
FENCED_BEFORE = timedelta(seconds=10)
"""A controller removes a broker from the ISRs at once when it fences it or misses its session; many partitions take a while."""
FARTHEST_SHIFT = timedelta(hours=14)
"""Two copies of a log differ by this at most: one of them is usually in UTC, and no zone is farther from it."""

"""What the summary of an audit contains about runs: the columns of a run and of a finding that is followed from run to run.

Here: the columns and limits. Not here: the tables (forensics.audit.history), or the text (clusters).
"""

from __future__ import annotations

import pyarrow as pa

from parsers.schemas import documented

_TIME = pa.timestamp("us")
RUNS = pa.schema(
    [
        documented("run", pa.int32(), "number of the run, from 1"),
        documented("started", _TIME, "when the run started, in UTC"),
        documented("ended", _TIME, "when the run ended, in UTC; null: it was ended by a signal or an error"),
        documented("seconds", pa.float64(), "duration of the run in seconds"),
        documented("version", pa.string(), "version of kafka-forensics"),
        documented("rules", pa.string(), "digest of the rules"),
        documented("files", pa.int64(), "files in the archive"),
        documented("read", pa.int64(), "files of these that were read in this run, because they are new or changed"),
        documented("bytes", pa.int64(), "bytes of the files that were read in this run"),
        documented("clusters", pa.int32(), "clusters in the results"),
        documented("judged", pa.int32(), "clusters that were judged in this run"),
        documented("failed", pa.int32(), "clusters that could not be judged"),
        documented("findings", pa.int64(), "findings of all clusters"),
        documented("new", pa.int64(), "findings that the run before did not have, or had with a lower severity"),
        documented("resolved", pa.int64(), "findings whose end is known now and was not in the run before"),
        documented("gone", pa.int64(), "findings that the run before had and this one does not have"),
    ]
)
"""One row for each run."""
SEEN = pa.schema(
    [
        documented("cluster", pa.string(), "name of the cluster"),
        documented("finding", pa.string(), "id of the finding"),
        documented("kind", pa.string(), "kind of the finding"),
        documented("severity", pa.string(), "severity of the finding"),
        documented("severity_before", pa.string(), "lower severity that the finding had before `new`; null: none"),
        documented("summary", pa.string(), "the finding in one sentence"),
        documented("first_seen", _TIME, "start of the first run whose results contain the finding, in UTC"),
        documented("last_seen", _TIME, "start of the last run whose results contain the finding, in UTC"),
        documented("new", _TIME, "start of the run in which the finding was new or became more severe, in UTC"),
        documented(
            "resolved",
            _TIME,
            "start of the run in which the end of the finding became known, in UTC; null: it is unknown, or was always known",
        ),
        documented("gone", _TIME, "start of the run whose results did not contain the finding any more, in UTC; null: they contain it"),
    ]
)
"""One row for each finding that a run ever had. A finding whose offsets or times changed with more evidence stays one row, with its new
id."""
LISTED = 1000
"""Partitions with a worse verdict that are kept by name; all are counted."""

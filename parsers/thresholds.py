"""Spans of time by which readers decide, each with its reason.

Here: those of the parsers. Not here: those of the judgement (forensics.thresholds), or bounds of what is read (limits).
"""

from __future__ import annotations

from datetime import timedelta

MICROSECOND = timedelta(microseconds=1)
"""The unit of times in Arrow."""
GC_MARGIN = timedelta(milliseconds=200)
"""Lines of one pause are this far apart at most besides the pause."""
GOES_BACK = timedelta(days=1)
"""No log goes back in time by more: its dates are read in the wrong order of day and month."""
NEAR_MODIFIED = timedelta(hours=36)
"""The last line of a log is this close to the modification time of its file, in any zone."""
LEAPS_AHEAD = timedelta(days=25)
"""Dates in the wrong order of day and month leap ahead by about a month."""
QUARTER = timedelta(minutes=15)
"""All zones differ from UTC by whole quarters of an hour."""

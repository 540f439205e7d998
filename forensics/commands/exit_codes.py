"""The exit codes of all commands, for scripts and schedulers.

Here: the numbers. Not here: which command uses which (the commands), or a signal's (128 + its number, forensics.cli).
"""

from __future__ import annotations

DONE = 0
FINDINGS = 1
"""The command found what --fail-on, --fail-on-new or a check asks for."""
UNUSABLE = 2
"""Wrong usage, unusable input, an output that cannot be written, or a machine or cluster on which the command cannot run."""
INCOMPLETE = 3
"""Not everything was judged: files of another cluster, a file that could not be read to its end, no partition, a partition for which files
are missing, or a cluster of an audit that failed. FINDINGS goes first."""
DEFECT = 70
"""A defect of this tool (EX_SOFTWARE of sysexits.h)."""

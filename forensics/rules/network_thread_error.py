"""network-thread-error: a thread of the socket server failed at connections or requests.

Here: errors with a known cause. Not here: too many open files (too_many_open_files), memory that ran out (out_of_memory), threads that ended
(fatal_error).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.process_errors import exception
from forensics.model.events import Event


def accepting(errors: Sequence[Event], cluster: Cluster) -> Mapping[str, Any]:
    return {"divided": "ArithmeticException: / by zero" in (exception(errors) or "")}


def serving(errors: Sequence[Event], cluster: Cluster) -> Mapping[str, Any]:
    unknown = re.search(r"ArrayIndexOutOfBoundsException: \d+$", exception(errors) or "")
    return {"unknown_request": errors[0].reason == "request" and unknown is not None}

"""metadata-log-damaged: a node found damage in the metadata log when it started, and cut the log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from forensics.model.events import Event


def cut(errors: Sequence[Event], *scope: Any) -> Mapping[str, Any]:
    return {"offset": errors[-1].offset}

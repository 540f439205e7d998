"""Replaces values of settings that may contain a secret, so that no secret leaves the reader."""

from __future__ import annotations

import re

HIDDEN = "(hidden)"

_SECRET_KEY = re.compile(
    r"password|passwd|passphrase|passcode|(?:^|[._-])pwd(?:$|[._-])|secret|jaas|credential|certificate|licen[cs]e|token$|(?:^|[._-])(?:api)?keys?(?:$|[._-])",
    re.IGNORECASE,
)
_SECRET_VALUE = re.compile(r"://[^/@\s:]*:[^/@\s]*@|(?:password|passwd|pwd|secret)\s*=|-----BEGIN", re.IGNORECASE)


def masked(key: str, value: str) -> str:
    """The value, or HIDDEN if the setting may contain a secret: Kafka's password settings, and names that look like one."""
    return HIDDEN if value and (_SECRET_KEY.search(key) or _SECRET_VALUE.search(value)) else value

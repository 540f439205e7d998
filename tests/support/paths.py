"""Where the tests find the project and the recorded bundles, and what really happened in each of them."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
BUNDLES = ROOT / "fixtures" / "bundles"


@cache
def truth_of(name: str) -> dict[str, Any]:
    """The content of the bundle's `expected.json`, recorded from outside the cluster. Tests share it, and must not change it."""
    truth: dict[str, Any] = json.loads((BUNDLES / f"{name}.expected.json").read_text("utf-8"))
    return truth

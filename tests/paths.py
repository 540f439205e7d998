"""Where the tests find the project and the recorded bundles."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[1]
BUNDLES = ROOT / "fixtures" / "bundles"

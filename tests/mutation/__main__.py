"""Runs the mutation test; tests.mutation.run describes it."""

from __future__ import annotations

import os
import sys

from tests.mutation.run import main

if os.environ.setdefault("PYTHONHASHSEED", "0") != "random" and sys.flags.hash_randomization:
    # Sets are then iterated in the same order each time.
    os.execv(sys.executable, [sys.executable, "-m", "tests.mutation", *sys.argv[1:]])  # noqa: S606
sys.exit(main())

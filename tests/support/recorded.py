"""The events and the report of each recorded bundle (fixtures/bundles): made once, for all processes of a test run.

Here: bundles as they are. Not here: bundles that a test changes first (tests.support.taken, tests.support.shapes).
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pyarrow as pa

from forensics.views.document import Report
from tests.support import local
from tests.support.paths import BUNDLES

SHARED = "KAFKA_FORENSICS_TEST_RUN"
"""Environment variable: the directory that the processes of a test run share (tests/conftest.py). Without it, each process makes its own."""


@cache
def events(name: str) -> pa.Table:
    """The events of a bundle (schema parsers.schemas.EVENTS)."""
    file = _kept(f"{name}.arrow", lambda: _packed(local.events_of(BUNDLES / f"{name}.tar.gz")))
    return pa.ipc.open_file(pa.py_buffer(file)).read_all()


@cache
def report(name: str) -> Report:
    """The report on a bundle. Tests share it, and must not change it."""
    made: Report = pickle.loads(_kept(f"{name}.report", lambda: pickle.dumps(local.report(events(name)))))
    return made


def _packed(table: pa.Table) -> bytes:
    out = pa.BufferOutputStream()
    with pa.ipc.new_file(out, table.schema) as writer:
        writer.write_table(table)
    return out.getvalue().to_pybytes()  # type: ignore[no-any-return]


def _kept(name: str, make: Callable[[], bytes]) -> bytes:
    """The content of a file of the shared directory, which the first process makes that needs it."""
    if not (directory := os.environ.get(SHARED)):
        return make()
    path = Path(directory) / name
    try:
        return path.read_bytes()
    except FileNotFoundError:
        content = make()
        own = path.with_name(f"{name}.{os.getpid()}")
        own.write_bytes(content)
        own.replace(path)
        return content

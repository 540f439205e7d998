"""Sessions that this tool did not start: of a notebook, or of a program that uses Spark itself.

Here: the settings and packages that such a session needs. Not here: starting a session (session).
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from spark.connect import RUNTIME, prepare
from spark.datasets import is_connect
from spark.session import DIRECTORY, SETTINGS, allow_arrow_alone, zip_packages

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_prepared: dict[int, tuple[SparkSession, SparkSession]] = {}
"""The given session and the prepared one, by the id of the given one."""


def active() -> SparkSession | None:
    """The session that is active in this thread, or else the default one; None if there is none."""
    from pyspark.sql import SparkSession

    return SparkSession.getActiveSession()


def prepared(session: SparkSession) -> SparkSession:
    """A session for this tool on the same Spark. The settings and views of the given session stay as they are."""
    if any(session is own for _, own in _prepared.values()):
        return session
    if id(session) not in _prepared:
        _prepared[id(session)] = session, _prepare(session)
    return _prepared[id(session)][1]


def _prepare(session: SparkSession) -> SparkSession:
    if is_connect(session):
        return _of_server(session)
    allow_arrow_alone()
    own = session.newSession()
    temporary = Path(tempfile.mkdtemp(prefix="kafka-forensics-"))
    atexit.register(shutil.rmtree, temporary, ignore_errors=True)
    for name, value in (SETTINGS | {DIRECTORY: str(temporary)}).items():
        if name.startswith(RUNTIME):
            own.conf.set(name, value)
    own.sparkContext.addPyFile(str(zip_packages(temporary)))
    return own


def _of_server(session: SparkSession) -> SparkSession:
    # Clients before Spark 4.3 cannot make a second session of a server: they get the settings in the given one.
    own = session.newSession() if "newSession" in vars(type(session)) else session
    prepare(own, {})
    return own

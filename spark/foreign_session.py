"""Sessions that this tool did not start: of a notebook, or of a program that uses Spark itself.

Here: the settings and packages that such a session needs. Not here: starting a session (session).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from spark.connect import runtime_settings
from spark.datasets import is_connect
from spark.session import allow_arrow_alone, zip_packages
from spark.temporary import temporary_directory

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


@contextmanager
def borrowed(session: SparkSession) -> Iterator[SparkSession]:
    """As `prepared`. A session of Spark Connect is used itself, and has its settings back afterwards: a second session of one client cannot
    read its own checkpoints (Spark 4.3)."""
    if not is_connect(session):
        yield prepared(session)
        return
    send_packages(session)
    own = runtime_settings()
    before = {name: session.conf.get(name, None) for name in own}
    try:
        for name, value in own.items():
            session.conf.set(name, value)
        yield session
    finally:
        for name, old in before.items():
            if old is None:
                session.conf.unset(name)
            else:
                session.conf.set(name, old)


def send_packages(session: SparkSession) -> None:
    """Makes the packages of this tool importable in the workers of this session."""
    if not is_connect(session):
        prepared(session)  # workers of all sessions of one Spark share their modules
    elif not getattr(session, "_kafka_forensics_sent", False):
        session.addArtifacts(str(zip_packages(temporary_directory())), pyfile=True)
        session._kafka_forensics_sent = True  # type: ignore[attr-defined]


def _prepare(session: SparkSession) -> SparkSession:
    allow_arrow_alone()
    own = session.newSession()
    for name, value in runtime_settings().items():
        own.conf.set(name, value)
    own.sparkContext.addPyFile(str(zip_packages(temporary_directory())))
    return own

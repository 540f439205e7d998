"""What tests share: one Spark session, since a JVM's start is most of what a small test would take."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from spark.class_archive import SWITCH

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Neither is what a user's cache holds a part of any test, nor may a test leave a process behind that fills it.
os.environ[SWITCH] = "off"


@pytest.fixture(scope="session")
def session() -> Iterator[SparkSession]:
    """An embedded session as the commands have it, with two tasks at a time."""
    from spark.session import start

    running = start("local[2]")
    yield running
    running.stop()

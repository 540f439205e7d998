"""Sessions of a Spark Connect server, whose driver is on another machine.

Here: connecting, the settings and packages that the server's session needs, and errors in one line. Not here: the jobs over such a session
(frames).
"""

from __future__ import annotations

import atexit
import importlib.util
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from parsers.containers.names import printable
from spark.masters import HTTP2_GREETING, sends, tls, unreachable
from spark.session import DIRECTORY, SETTINGS, SparkRefused, zip_packages
from spark.temporary import temporary_directory

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PORT = 15002
"""The port of a Connect server whose URL names none."""
MODULES = ("grpc", "grpc_status", "google.rpc", "pandas")
"""Modules that the client of Spark Connect imports, from the extra `connect`."""
RUNTIME = ("spark.sql.", "spark.kafkaForensics.")
"""How the names of settings begin that a session may change while it runs."""


def connected(url: str, conf: Mapping[str, str]) -> SparkSession:
    """A new session of the server. Raises Refused, with the URL without its parameters: these may contain a token."""
    server = url.split("/;")[0].rstrip("/")
    if lacking := [name for name in MODULES if not _is_there(name)]:
        raise SparkRefused(f"{server}: Spark Connect needs the package {lacking[0]}; install kafka-forensics with the extra connect")
    if "spark.driver.memory" in conf:
        raise SparkRefused(f"{server}: the driver's memory is a setting of the Spark Connect server; leave out --memory")
    _reach(server, secure=re.search(r"[;/](?:use_ssl=true|token=)", url, re.IGNORECASE) is not None)
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # otherwise gRPC prints to stderr
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    try:
        session = SparkSession.builder.remote(url).create()
        prepare(session, conf)
    except (PySparkException, OSError) as error:
        message = printable(" ".join(str(error).split()))[:300].replace(url, server)
        raise SparkRefused(f"{server}: the Spark Connect server refused the session ({message})") from error
    atexit.register(_release, session)
    return session


def prepare(session: SparkSession, conf: Mapping[str, str]) -> None:
    """Sends the settings and the packages of this tool to the server. They end with the session. Raises what pyspark raises."""
    for name, value in (runtime_settings() | dict(conf)).items():
        session.conf.set(name, value)
    session.addArtifacts(str(zip_packages(temporary_directory())), pyfile=True)


def runtime_settings() -> dict[str, str]:
    """Settings of this tool that a running session accepts, with a new temporary directory."""
    own = {name: value for name, value in SETTINGS.items() if name.startswith(RUNTIME)}
    return own | {DIRECTORY: str(temporary_directory())}


def _is_there(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ImportError:
        return False


def _reach(server: str, *, secure: bool) -> None:
    """Raises Refused if nothing answers at the address of the server. The client of Spark Connect would try for minutes. `secure`: over
    TLS."""
    try:
        parts = urlsplit(server)
        host, port = parts.hostname, parts.port or PORT
    except ValueError:
        host = None
    if not host:
        raise SparkRefused(f"{server}: the URL has no valid host and port; give for example sc://HOST:{PORT}")
    if message := unreachable(server, "Spark Connect server", [(host, port)], tls if secure else sends(HTTP2_GREETING)):
        raise SparkRefused(message)


def _release(session: SparkSession) -> None:
    """The server drops what the session kept. Without it, the server does so after an hour."""
    with suppress(Exception):
        session.stop()

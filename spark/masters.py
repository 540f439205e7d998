"""Whether a Spark master can be used, found out before Spark starts.

Here: the addresses in the URL of a master, and the configuration that a kind of master needs. Not here: the session (session), or failures
of a cluster that was reached (failures). Spark itself retries for minutes, and prints the stack of its JVM.
"""

from __future__ import annotations

import os
import re
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from spark.java import spark_home

PATIENCE_S = 10.0
"""Longest time to wait for all addresses of a master together."""
HADOOP = ("HADOOP_CONF_DIR", "YARN_CONF_DIR")
IMAGE = ("spark.kubernetes.container.image", "spark.kubernetes.executor.container.image")
PORTS = {"https": 443, "http": 80}


def trouble(master: str, conf: Mapping[str, str]) -> str | None:
    """Why this master cannot be used, and what to do; None if nothing speaks against it."""
    if master.startswith("spark://"):
        return unreachable(master, "Spark master", list(_standalone(master)))
    if master == "yarn":
        return _without_hadoop()
    if master.startswith("k8s://"):
        return _of_kubernetes(master, conf)
    return None


def _standalone(master: str) -> Iterator[tuple[str, int]]:
    """The addresses in spark://HOST:PORT[,HOST:PORT…]."""
    for address in master.removeprefix("spark://").split(","):
        host, _, port = address.rpartition(":")
        if host and re.fullmatch(r"\d{1,5}", port):
            yield host.strip("[]"), int(port)


def unreachable(master: str, what: str, addresses: Sequence[tuple[str, int]]) -> str | None:
    """None if one of the addresses accepts a connection."""
    if not addresses:
        return f"{master}: the URL has no host and port; give for example spark://HOST:7077"
    end, reasons = time.monotonic() + PATIENCE_S, []
    for host, port in addresses:
        try:
            socket.create_connection((host, port), max(end - time.monotonic(), 1.0)).close()
        except OSError as error:
            reasons.append(str(error.strerror or error) if not isinstance(error, TimeoutError) else "no answer")
        else:
            return None
    return f"{master}: no {what} can be reached ({'; '.join(dict.fromkeys(reasons))}); check that it runs, and its host and port"


def _without_hadoop() -> str | None:
    named = {name: os.environ[name] for name in HADOOP if os.environ.get(name)}
    if not named:
        return "yarn: the configuration of Hadoop is not known; set HADOOP_CONF_DIR to the directory with yarn-site.xml"
    if not any((Path(directory) / "yarn-site.xml").is_file() for directory in named.values()):
        shown = " and ".join(f"{name}={directory}" for name, directory in named.items())
        return f"yarn: there is no yarn-site.xml in {shown}; set HADOOP_CONF_DIR to the directory that contains it"
    return None


def _of_kubernetes(master: str, conf: Mapping[str, str]) -> str | None:
    server = master.removeprefix("k8s://")
    parts = urlsplit(server if "://" in server else f"https://{server}")
    try:
        port = parts.port or PORTS.get(parts.scheme, 443)
    except ValueError:
        return f"{master}: {parts.netloc!r} is not a host and port; give for example k8s://https://HOST:6443"
    known = defaults() | dict(conf)
    if not any(known.get(name) for name in IMAGE):
        return f"{master}: no image for the executors; set {IMAGE[0]} in the spark-defaults.conf of SPARK_CONF_DIR"
    return unreachable(master, "Kubernetes API server", [(parts.hostname or "", port)])


def defaults() -> dict[str, str]:
    """The settings in spark-defaults.conf, which Spark's launcher reads."""
    directory = os.environ.get("SPARK_CONF_DIR") or str(Path(os.environ.get("SPARK_HOME") or spark_home()) / "conf")
    try:
        lines = (Path(directory) / "spark-defaults.conf").read_text("utf-8", "replace").splitlines()
    except OSError:
        return {}
    pairs = (re.match(r"\s*([^#\s=]+)(?:\s*=\s*|\s+)(.*?)\s*$", line) for line in lines)
    return {found[1]: found[2] for found in pairs if found is not None}

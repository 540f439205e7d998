"""Whether a Spark master can be used, found out before Spark starts.

Here: the addresses in the URL of a master, and the configuration that a kind of master needs. Not here: the session (session), or failures
of a cluster that was reached (failures). Spark itself retries for minutes, and prints the stack of its JVM.
"""

from __future__ import annotations

import os
import re
import socket
import ssl
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit
from xml.etree import ElementTree

from spark.java import spark_home

PATIENCE_S = 10.0
"""Longest time to wait for all addresses of a master together. Spark and gRPC wait 90 to 115 s for a port that accepts connections and then
says nothing."""
LEAST_S = 1.0
"""Time for an address after the others used up PATIENCE_S."""
STREAM_REQUEST = 6
_NO_FILE = b"/files/kafka-forensics"
SPARK_GREETING = (13 + len(_NO_FILE)).to_bytes(8, "big") + bytes([STREAM_REQUEST]) + len(_NO_FILE).to_bytes(4, "big") + _NO_FILE
"""A StreamRequest of Spark's RPC for a file that the master does not have (org.apache.spark.network.protocol): the master answers with a
StreamFailure and logs nothing."""
HTTP2_GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
"""The preface of HTTP/2 and empty SETTINGS, which a gRPC server answers with its own."""
Greet = Callable[[socket.socket], str | None]
"""Sends the first message of a protocol, waits for an answer or the end of the connection, and returns what is wrong with the answer.
Raises OSError."""
SITE = "yarn-site.xml"
RESOURCE_MANAGER_PORT = 8032
"""Of yarn.resourcemanager.address, if only the host name is configured (yarn-default.xml)."""
HADOOP = ("HADOOP_CONF_DIR", "YARN_CONF_DIR")
IMAGE = ("spark.kubernetes.container.image", "spark.kubernetes.executor.container.image")
PORTS = {"https": 443, "http": 80}


def trouble(master: str, conf: Mapping[str, str]) -> str | None:
    """Why this master cannot be used, and what to do; None if nothing speaks against it."""
    if master.startswith("spark://"):
        return unreachable(master, "Spark master", list(_standalone(master)), sends(SPARK_GREETING))
    if master == "yarn":
        return _without_hadoop() or _of_yarn(conf)
    if master.startswith("k8s://"):
        return _of_kubernetes(master, conf)
    return None


def _standalone(master: str) -> Iterator[tuple[str, int]]:
    """The addresses in spark://HOST:PORT[,HOST:PORT…]."""
    for address in master.removeprefix("spark://").split(","):
        host, _, port = address.rpartition(":")
        if host and re.fullmatch(r"\d{1,5}", port):
            yield host.strip("[]"), int(port)


def unreachable(master: str, what: str, addresses: Sequence[tuple[str, int]], greet: Greet) -> str | None:
    """None if one of the addresses answers `greet`, or closes the connection: why it does so is for Spark to find out."""
    if not addresses:
        return f"{master}: the URL has no host and port; give for example spark://HOST:7077"
    end, reasons = time.monotonic() + PATIENCE_S, []
    for address in addresses:
        reason = _refusal(address, max(end - time.monotonic(), LEAST_S), greet)
        if reason is None:
            return None
        reasons.append(reason)
    return f"{master}: no {what} can be reached ({'; '.join(dict.fromkeys(reasons))}); check that it runs, and its host and port"


def _refusal(address: tuple[str, int], patience_s: float, greet: Greet) -> str | None:
    """Why what is asked for does not listen at an address; None if it may."""
    end = time.monotonic() + patience_s
    try:
        connection = socket.create_connection(address, patience_s)
    except OSError as error:
        return str(error.strerror or error) if not isinstance(error, TimeoutError) else "no answer"
    with connection:
        connection.settimeout(max(end - time.monotonic(), LEAST_S))
        try:
            return greet(connection)
        except TimeoutError:
            return "the port accepts connections, but does not answer"
        except OSError:
            return None


def sends(greeting: bytes) -> Greet:
    """Greets with these bytes."""

    def greet(connection: socket.socket) -> str | None:
        connection.sendall(greeting)
        return "the port belongs to a web server" if connection.recv(4096).startswith(b"HTTP/1") else None

    return greet


def http(connection: socket.socket) -> None:
    """Greets with a request of HTTP."""
    connection.sendall(b"GET /version HTTP/1.0\r\n\r\n")
    connection.recv(4096)


def tls(connection: socket.socket) -> None:
    """Greets with TLS. Whom the server trusts, and whether to trust it, is for Spark to find out."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.wrap_socket(connection).close()


def _without_hadoop() -> str | None:
    named = {name: os.environ[name] for name in HADOOP if os.environ.get(name)}
    if not named:
        return "yarn: the configuration of Hadoop is not known; set HADOOP_CONF_DIR to the directory with yarn-site.xml"
    if not any((Path(directory) / SITE).is_file() for directory in named.values()):
        shown = " and ".join(f"{name}={directory}" for name, directory in named.items())
        return f"yarn: there is no yarn-site.xml in {shown}; set HADOOP_CONF_DIR to the directory that contains it"
    return None


def _of_yarn(conf: Mapping[str, str]) -> str | None:
    """Hadoop's client tries for 15 minutes (yarn.resourcemanager.connect.max-wait.ms)."""
    file = next(path for name in HADOOP if (path := Path(os.environ.get(name) or os.devnull) / SITE).is_file())
    addresses = list(_resource_managers(_site(file) | _of_hadoop(defaults()) | _of_hadoop(conf)))
    if not addresses:
        return None
    shown = ", ".join(f"{host}:{port}" for host, port in addresses)
    return unreachable("yarn", f"ResourceManager at {shown} ({file})", addresses, http)


def _site(file: Path) -> dict[str, str]:
    """The properties of a file of Hadoop's configuration; none if it is damaged, which is for Hadoop to report."""
    try:
        properties = ElementTree.parse(file).iter("property")  # noqa: S314 - the user's own configuration, which Spark reads too
    except (OSError, ElementTree.ParseError):
        return {}
    return {name.strip(): (p.findtext("value") or "").strip() for p in properties if (name := p.findtext("name"))}


def _of_hadoop(conf: Mapping[str, str]) -> dict[str, str]:
    """The properties of Hadoop in settings of Spark."""
    return {name.removeprefix("spark.hadoop."): value for name, value in conf.items() if name.startswith("spark.hadoop.")}


def _resource_managers(site: Mapping[str, str]) -> Iterator[tuple[str, int]]:
    """Addresses for clients: one, or that of each id with high availability. None if these are not known, for example because they contain
    a variable."""
    ids = site.get("yarn.resourcemanager.ha.rm-ids", "") if site.get("yarn.resourcemanager.ha.enabled", "").lower() == "true" else ""
    for suffix in [f".{each.strip()}" for each in ids.split(",") if each.strip()] or [""]:
        hostname = site.get(f"yarn.resourcemanager.hostname{suffix}", "")
        address = site.get(f"yarn.resourcemanager.address{suffix}") or hostname
        address = address.replace(f"${{yarn.resourcemanager.hostname{suffix}}}", hostname)
        if "$" in address or not address:
            continue
        host, _, port = address.rpartition(":")
        if host and re.fullmatch(r"\d{1,5}", port):
            yield host.strip("[]"), int(port)
        else:
            yield address, RESOURCE_MANAGER_PORT


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
    return unreachable(master, "Kubernetes API server", [(parts.hostname or "", port)], http if parts.scheme == "http" else tls)


def defaults() -> dict[str, str]:
    """The settings in spark-defaults.conf, which Spark's launcher reads."""
    directory = os.environ.get("SPARK_CONF_DIR") or str(Path(os.environ.get("SPARK_HOME") or spark_home()) / "conf")
    try:
        lines = (Path(directory) / "spark-defaults.conf").read_text("utf-8", "replace").splitlines()
    except OSError:
        return {}
    pairs = (re.match(r"\s*([^#\s=]+)(?:\s*=\s*|\s+)(.*?)\s*$", line) for line in lines)
    return {found[1]: found[2] for found in pairs if found is not None}

"""Failures that any part of a process may print: memory that ran out, and connections that could not be made or were refused.

Here: the JVM's OutOfMemoryError, and the network client and server of brokers and controllers. Not here: errors that end a thread or a
process (brokers), failed log directories (log_dirs), failed fetches (fetching).
"""

from __future__ import annotations

from parsers.patterns.pattern import Pattern, Sample

_CLIENT = ("org.apache.kafka.clients.NetworkClient",)

PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        name="memory-exhausted",
        event="out-of-memory",
        literal="java.lang.OutOfMemoryError",
        regex=r"(?!at )(?:.*[ (])?java\.lang\.OutOfMemoryError(?:: (?P<value>.*)|\W.*)?",
        versions=("0.8.0", "4.3"),
        samples=(
            Sample(
                "Terminating due to java.lang.OutOfMemoryError: Java heap space",
                {"value": "Java heap space"},
                "source: OpenJDK 17, debug.cpp",
            ),
            Sample("java.lang.OutOfMemoryError: Direct buffer memory", {"value": "Direct buffer memory"}, "source: OpenJDK 17, debug.cpp"),
        ),
        note="Thrown by the JVM. With -XX:+ExitOnOutOfMemoryError the JVM prints the first form and ends.",
    ),
    Pattern(
        name="memory-refused",
        event="out-of-memory",
        literal="There is insufficient memory for the Java Runtime Environment to continue.",
        regex=r"#? ?There is insufficient memory for the Java Runtime Environment to continue\.",
        versions=("0.8.0", "4.3"),
        fixed={"value": "native memory"},
        samples=(
            Sample(
                "# There is insufficient memory for the Java Runtime Environment to continue.",
                {"value": "native memory"},
                "source: OpenJDK 17, debug.cpp",
            ),
        ),
        note="Printed by the JVM before it ends; hs_err_pid*.log has the details.",
    ),
    Pattern(
        name="connection-not-established",
        event="connection-failed",
        literal=" could not be established. ",
        regex=r"Connection to node (?P<broker>-?\d+)(?: \((?P<value>[^()]*)\))? could not be established\. (?:Broker|Node) may not be available\.",
        versions=("1.1", "4.3"),
        loggers=_CLIENT,
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] WARN [Controller id=1, targetBrokerId=2] Connection to node 2 (kafka-2/10.0.0.2:9092) could not be"
                " established. Broker may not be available. (org.apache.kafka.clients.NetworkClient)",
                {"node": 1, "broker": 2, "value": "kafka-2/10.0.0.2:9092"},
                "source: 2.8 NetworkClient",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] WARN [RaftManager id=1] Connection to node 2 (kafka-2/10.0.0.2:9093) could not be established. Node"
                " may not be available. (org.apache.kafka.clients.NetworkClient)",
                {"node": 1, "broker": 2, "value": "kafka-2/10.0.0.2:9093"},
                "source: 3.9 NetworkClient",
            ),
        ),
        note="Printed at every attempt: also in each ordinary restart of the other node.",
    ),
    Pattern(
        name="connection-refused-identity",
        event="authentication-failed",
        literal=" failed authentication due to: ",
        regex=r"Connection to node (?P<broker>-?\d+)(?: \((?P<host>[^()]*)\))? failed authentication due to: (?P<value>.*)",
        versions=("2.0", "4.3"),
        loggers=_CLIENT,
        fixed={"reason": "client"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] ERROR [Controller id=1, targetBrokerId=2] Connection to node 2 (kafka-2/10.0.0.2:9092) failed"
                " authentication due to: SSL handshake failed (org.apache.kafka.clients.NetworkClient)",
                {"node": 1, "broker": 2, "host": "kafka-2/10.0.0.2:9092", "value": "SSL handshake failed", "reason": "client"},
                "source: 2.8 NetworkClient",
            ),
        ),
    ),
    Pattern(
        name="connection-unauthenticated",
        event="authentication-failed",
        literal="Failed authentication with ",
        regex=r"Failed authentication with (?P<host>\S*)(?: \(channelId=[^()]*\))? \((?P<value>.*)\)",
        versions=("0.10.0", "4.3"),
        loggers=("org.apache.kafka.common.network.Selector",),
        fixed={"reason": "server"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] INFO [SocketServer listenerType=ZK_BROKER, nodeId=1] Failed authentication with /10.0.0.3 (SSL"
                " handshake failed) (org.apache.kafka.common.network.Selector)",
                {"node": 1, "host": "/10.0.0.3", "value": "SSL handshake failed", "reason": "server"},
                "source: 3.3 Selector",
            ),
        ),
    ),
)

"""Failures that any part of a process may print: memory that ran out, and connections that could not be made or were refused; coordinators
and the remote tier.

Here: the JVM's OutOfMemoryError, the network client and server of brokers and controllers, znodes of registrations, coordinators that cannot
load their partition, logs that cannot be compacted, segments that cannot be copied to the remote tier. Not here: errors that end a thread
or a process (brokers), failed log directories (log_dirs), failed fetches (fetching).
"""

from __future__ import annotations

from parsers.patterns.exceptions import EXCEPTION, classified, with_exception
from parsers.patterns.pattern import TP, Pattern, Sample

_CLIENT = ("org.apache.kafka.clients.NetworkClient",)
_ZNODES = ("kafka.zk.KafkaZkClient", "kafka.zk.KafkaZkClient$CheckedEphemeral")

PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        name="memory-exhausted-exit",
        event="out-of-memory",
        literal="Terminating due to java.lang.OutOfMemoryError",
        regex=r"Terminating due to java\.lang\.OutOfMemoryError(?:: (?P<value>.*))?",
        versions=("0.8.0", "4.4"),
        fixed={"reason": "exit"},
        samples=(
            Sample(
                "Terminating due to java.lang.OutOfMemoryError: Java heap space",
                {"value": "Java heap space", "reason": "exit"},
                "source: OpenJDK 17, debug.cpp",
            ),
        ),
        note="With -XX:+ExitOnOutOfMemoryError the JVM prints it and ends.",
    ),
    Pattern(
        name="memory-for-conversion",
        event="out-of-memory",
        literal="java.lang.OutOfMemoryError",
        regex=r"[^\n]*\njava\.lang\.OutOfMemoryError(?:: (?P<value>[^\n]*))?\n(?:[^\n]*\n){0,40}?\s*at [\w./@]*\.downConvert\w*\(.*",
        multiline=True,
        versions=("0.10.0", "3.9"),
        fixed={"reason": "down-conversion"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] ERROR [KafkaApi-1] Error when handling request {replica_id=-1} (kafka.server.KafkaApis)"
                "\njava.lang.OutOfMemoryError: Java heap space\n\tat java.nio.HeapByteBuffer.<init>(HeapByteBuffer.java:57)"
                "\n\tat org.apache.kafka.common.record.AbstractRecords.downConvert(AbstractRecords.java:101)",
                {"value": "Java heap space", "reason": "down-conversion"},
                "source: OpenJDK 17, debug.cpp",
            ),
        ),
        note="The broker converts batches to the format of an old client; before 2.0 a whole response at once (KAFKA-6927).",
    ),
    Pattern(
        name="memory-exhausted",
        event="out-of-memory",
        literal="java.lang.OutOfMemoryError",
        regex=r"(?!at |Terminating due to )(?:.*[ (])?java\.lang\.OutOfMemoryError(?:: (?P<value>.*)|\W.*)?",
        versions=("0.8.0", "4.4"),
        samples=(
            Sample("java.lang.OutOfMemoryError: Direct buffer memory", {"value": "Direct buffer memory"}, "source: OpenJDK 17, debug.cpp"),
        ),
        note="Thrown by the JVM.",
    ),
    Pattern(
        name="memory-refused",
        event="out-of-memory",
        literal="There is insufficient memory for the Java Runtime Environment to continue.",
        regex=r"#? ?There is insufficient memory for the Java Runtime Environment to continue\.",
        versions=("0.8.0", "4.4"),
        fixed={"value": "native memory", "reason": "exit"},
        samples=(
            Sample(
                "# There is insufficient memory for the Java Runtime Environment to continue.",
                {"value": "native memory", "reason": "exit"},
                "source: OpenJDK 17, debug.cpp",
            ),
        ),
        note="Printed by the JVM before it ends; hs_err_pid*.log has the details.",
    ),
    Pattern(
        name="memory-not-committed",
        event="out-of-memory",
        literal=": os::commit_memory(",
        regex=r"(?:OpenJDK|Java HotSpot\(TM\)) [\w-]+ Server VM warning: INFO: os::commit_memory\(0x[0-9a-f]+, (?P<bytes>\d+), (?:\d+, )?\d\) failed;"
        r" error='[^']*' \((?:errno|error_no)[=:] ?\d+\)",
        versions=("0.8.0", "4.4"),
        fixed={"value": "native memory"},
        samples=(
            Sample(
                "OpenJDK 64-Bit Server VM warning: INFO: os::commit_memory(0x0000000500000000, 3579117568, 0) failed; error='Not enough space'"
                " (errno=12)",
                {"bytes": 3579117568, "value": "native memory"},
                "source: OpenJDK 17, os_linux.cpp",
            ),
        ),
        note="The operating system refused memory, often a heap that is larger than the memory of the machine; the JVM ends.",
    ),
    Pattern(
        name="connection-not-established",
        event="connection-failed",
        literal=" could not be established. ",
        regex=r"Connection to node (?P<broker>-?\d+)(?: \((?P<value>[^()]*)\))? could not be established\. (?:Broker|Node) may not be available\.",
        versions=("1.1", "4.4"),
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
        name="controller-connection-unsuccessful",
        event="connection-failed",
        literal="'s connection to broker ",
        regex=r"Controller (?P<node>\d+)(?: epoch \d+)?'s connection to broker (?:(?P<value>\S+:\d+) \(id: (?P<broker>\d+) rack: [^)]*\)"
        r"|Node\((?P<broker>\d+), (?P<value>[^)]*)\)|id:(?P<broker>\d+),host:(?P<value>\S*)|(?P<broker>\d+)) was unsuccessful",
        versions=("0.8.2", "3.9"),
        loggers=("kafka.controller.RequestSendThread",),
        samples=(
            Sample(
                "[2026-11-21 02:33:04,107] WARN [RequestSendThread controllerId=4] Controller 4's connection to broker 127.0.0.1:52199 (id:"
                " 1 rack: null) was unsuccessful (kafka.controller.RequestSendThread)",
                {"node": 4, "broker": 1, "value": "127.0.0.1:52199"},
                "real: mixed-fleet-3.5.2-zk",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] WARN [Controller-1-to-broker-2-send-thread], Controller 1's connection to broker Node(2,"
                " kafka-2, 9092) was unsuccessful (kafka.controller.RequestSendThread)",
                {"node": 1, "broker": 2, "value": "kafka-2, 9092"},
                "source: 0.9.0 ControllerChannelManager",
            ),
        ),
        note="With the exception after it. From 1.1 on, the network client prints a line of its own, too.",
    ),
    Pattern(
        name="connection-not-accepted",
        event="network-thread-error",
        literal="Error while accepting connection",
        regex=r"Error while accepting connection" + EXCEPTION,
        multiline=True,
        inner=True,
        explode=with_exception,
        versions=("0.8.2", "4.4"),
        fixed={"reason": "accept"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] ERROR Error while accepting connection (kafka.network.Acceptor)\njava.lang.ArithmeticException:"
                " / by zero\n\tat kafka.network.Acceptor.run(SocketServer.scala:354)",
                {"reason": "accept", "key": "java.lang.ArithmeticException: / by zero"},
                "source: 2.8 SocketServer",
            ),
        ),
        note="The acceptor tries again at once, so a lasting cause fills the log.",
    ),
    Pattern(
        name="processor-failed",
        event="network-thread-error",
        literal="Processor got uncaught exception.",
        regex=r"Processor got uncaught exception\." + EXCEPTION,
        multiline=True,
        inner=True,
        explode=with_exception,
        versions=("0.9.0", "4.4"),
        fixed={"reason": "request"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] ERROR Processor got uncaught exception. (kafka.network.Processor)"
                "\njava.lang.ArrayIndexOutOfBoundsException: 18\n\tat org.apache.kafka.common.protocol.ApiKeys.forId(ApiKeys.java:68)",
                {"reason": "request", "key": "java.lang.ArrayIndexOutOfBoundsException: 18"},
                "source: 0.9.0 SocketServer",
            ),
        ),
        note="The thread continues; requests that it had received in the same round are lost.",
    ),
    Pattern(
        name="connection-refused-identity",
        event="authentication-failed",
        literal=" failed authentication due to: ",
        regex=r"Connection to node (?P<broker>-?\d+)(?: \((?P<host>[^()]*)\))? failed authentication due to: (?P<value>.*)",
        versions=("2.0", "4.4"),
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
        versions=("0.10.0", "4.4"),
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
    Pattern(
        name="zookeeper-refused-identity",
        event="authentication-failed",
        literal="Auth failed",
        regex=r"(?P<value>Auth failed)(?:\.|, initialized=\w+ connectionState=\w+)",
        versions=("1.1", "3.9"),
        loggers=("kafka.zookeeper.ZooKeeperClient",),
        fixed={"reason": "zookeeper"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] ERROR [ZooKeeperClient Kafka server] Auth failed. (kafka.zookeeper.ZooKeeperClient)",
                {"reason": "zookeeper", "value": "Auth failed"},
                "source: 2.8 ZooKeeperClient",
            ),
        ),
    ),
    Pattern(
        name="registration-refused",
        event="registration-refused",
        literal="Error while creating ephemeral at /brokers/ids/",
        regex=r"Error while creating ephemeral at /brokers/ids/(?P<node>\d+)(?P<value>.*)",
        versions=("1.1", "3.9"),
        loggers=_ZNODES,
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] ERROR Error while creating ephemeral at /brokers/ids/1, node already exists and owner"
                " '72057613' does not match current session '72057614' (kafka.zk.KafkaZkClient$CheckedEphemeral)",
                {"node": 1, "value": ", node already exists and owner '72057613' does not match current session '72057614'"},
                "source: 2.8 KafkaZkClient",
            ),
        ),
        note="KafkaZkClient$CheckedEphemeral: the znode of an earlier session of the broker, or of another broker with the same id, still exists.",
    ),
    Pattern(
        name="group-coordinator-not-loaded",
        event="coordinator-load-failed",
        literal="loading offsets from ",
        regex=rf"Error (?:in )?loading offsets from {TP}{EXCEPTION}",
        multiline=True,
        inner=True,
        explode=classified,
        versions=("0.8.2", "3.9"),
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] ERROR [GroupMetadataManager brokerId=1] Error loading offsets from __consumer_offsets-7"
                " (kafka.coordinator.group.GroupMetadataManager)\norg.apache.kafka.common.errors.CorruptRecordException: Record size is"
                " less than the minimum",
                {
                    "node": 1,
                    "topic": "__consumer_offsets",
                    "partition": 7,
                    "reason": "CorruptRecordException",
                    "key": "org.apache.kafka.common.errors.CorruptRecordException: Record size is less than the minimum",
                },
                "source: 2.8 GroupMetadataManager",
            ),
        ),
    ),
    Pattern(
        name="transaction-coordinator-not-loaded",
        event="coordinator-load-failed",
        literal="Error loading transactions from transaction log ",
        regex=rf"Error loading transactions from transaction log {TP}{EXCEPTION}",
        multiline=True,
        inner=True,
        explode=classified,
        versions=("0.11.0", "4.4"),
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] ERROR [Transaction State Manager 1]: Error loading transactions from transaction log"
                " __transaction_state-3 (kafka.coordinator.transaction.TransactionStateManager)\njava.lang.IllegalStateException: no",
                {"topic": "__transaction_state", "partition": 3, "reason": "IllegalStateException"},
                "source: 2.8 TransactionStateManager",
            ),
        ),
    ),
    Pattern(
        name="coordinator-runtime-not-loaded",
        event="coordinator-load-failed",
        literal="Failed to load metadata from ",
        regex=rf"Failed to load metadata from {TP} with epoch (?P<leader_epoch>-?\d+) due to (?P<value>[^\n]*?)\.?{EXCEPTION}",
        multiline=True,
        inner=True,
        explode=classified,
        versions=("3.6", "4.4"),
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] ERROR [GroupCoordinator id=2] Failed to load metadata from __consumer_offsets-0 with epoch 2 due"
                " to java.lang.IllegalStateException: no. (org.apache.kafka.coordinator.common.runtime.CoordinatorRuntime)"
                "\njava.lang.IllegalStateException: no",
                {
                    "node": 2,
                    "topic": "__consumer_offsets",
                    "partition": 0,
                    "leader_epoch": 2,
                    "value": "java.lang.IllegalStateException: no",
                    "reason": "IllegalStateException",
                },
                "source: 3.9 CoordinatorRuntime",
            ),
        ),
    ),
    Pattern(
        name="log-not-compacted",
        event="partition-uncleanable",
        literal=" as uncleanable",
        regex=rf"Unexpected exception thrown when cleaning log [^\n]*\. Marking its partition \({TP}\) as uncleanable{EXCEPTION}",
        multiline=True,
        inner=True,
        explode=classified,
        versions=("2.1", "4.4"),
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] WARN [kafka-log-cleaner-thread-0]: Unexpected exception thrown when cleaning log"
                " Log(dir=/data/k/compact-3). Marking its partition (compact-3) as uncleanable (kafka.log.LogCleaner)"
                "\nkafka.log.LogCleaningException: Found record size 0 smaller than minimum record overhead (14).\nCaused by:"
                " org.apache.kafka.common.errors.CorruptRecordException: Found record size 0 smaller than minimum record overhead (14).",
                {"topic": "compact", "partition": 3, "reason": "LogCleaningException"},
                "source: 4.3 kafka.log.LogCleaner",
            ),
        ),
        note="The cleaner continues with other partitions; this one is not compacted until the broker is restarted.",
    ),
    Pattern(
        name="segments-not-copied",
        event="remote-copy-failed",
        literal="Error occurred while copying log segments of partition: ",
        regex=rf"Error occurred while copying log segments of partition: (?:[\w-]{{22}}:)?{TP}{EXCEPTION}",
        multiline=True,
        inner=True,
        explode=classified,
        versions=("3.6", "4.4"),
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] ERROR [RemoteLogManager=1 partition=wmMOqd3PGGMQu5_FCeSdgA:orders-0] Error occurred while copying"
                " log segments of partition: wmMOqd3PGGMQu5_FCeSdgA:orders-0 (kafka.log.remote.RemoteLogManager$RLMCopyTask)"
                "\norg.apache.kafka.server.log.remote.storage.RemoteStorageException: Access Denied",
                {"topic": "orders", "partition": 0, "reason": "RemoteStorageException"},
                "source: 3.9 RemoteLogManager",
            ),
        ),
        note="Segments that are not in the remote tier are kept on the broker's disk.",
    ),
)

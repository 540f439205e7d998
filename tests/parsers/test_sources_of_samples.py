"""A sample that is composed after a statement of Kafka's source is what that statement prints in the version that the sample names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from fixtures.templates.lines import Template, templates
from fixtures.templates.values import EARLIER, VERSIONS
from parsers.catalogue.samples import check
from parsers.layouts import LOG4J, prefix
from parsers.own_files import OwnFile
from parsers.patterns import PATTERNS
from parsers.patterns.pattern import Pattern, Sample
from parsers.patterns.pattern_toml import read
from tests.support.paths import ROOT

ORIGIN = re.compile(r"source: (?P<version>\d[\d.]*) (?P<class>[\w.$]+)")
"""A class of Kafka's, or its logger. `(LinkedIn)` and the like name code other than Apache Kafka's."""
VALUE = re.compile(r"<[^<>]+>")
LETTERS = 6
"""A statement with fewer letters between its values (`<name>: <exception>`) prints nearly anything: it counts for its own class only."""
NOT_IN_TABLE = frozenset(
    [
        "AbstractConfig",
        "AdminZkClient",
        "ClientUtils",
        "ConfigurationControlManager",
        "CoordinatorRuntime",
        "DynamicConfigManager",
        "DynamicConfigPublisher",
        "Fetcher",
        "FutureUtils",
        "GroupCoordinator",
        "GroupMetadataManager",
        "KRaftMigrationDriver",
        "KafkaApis",
        "KafkaRaftClientDriver",
        "LogDirFailureChannel",
        "NetworkClient",
        "PeriodicTaskControlManager",
        "RemoteLogManager",
        "Selector",
        "SocketServer",
        "RemoveVoterHandler",
        "SubscriptionState",
        "TopicConfigManager",
        "TransactionStateManager",
        "UpdateVoterHandler",
        "ZkAdminManager",
        "ZkClient",
        "ZkUtils",
    ]
)
"""Classes whose statements are not in templates.tsv, which has those of replication only."""
NOT_IN_TABLE_AS_PRINTED = {
    "log-dir-error-of-task": "the statement prints any exception of a task; this is the one of Log.maybeHandleIOException",
    "broker-raft-server": "the statement prints a constant, KafkaBroker.STARTED_MESSAGE",
    "broker-waiting": "FutureUtils prints it, with the logger of the server that waits",
    "controller-producer-block": "ZkProducerIdManager prints it, with the logger of the controller",
    "kraft-activation": "ActivationRecordsGenerator puts the text together",
    "leader-and-isr-failed": "the statement prints a variable; the text is put together before (0.8.0 to 0.11.0)",
    "log-dir-error": "the text is an argument of LogDirFailureChannel.maybeAddOfflineLogDir, which prints it",
    "log-dir-invalid": "as log-dir-error",
    "process-fatal-unnamed": "the exception is printed without a text",
}
"""Why samples of these patterns match no row of templates.tsv."""


def of_source() -> Iterator[tuple[Pattern, Sample, str, str]]:
    """Samples of Apache Kafka's statements, with version and class. Text of exceptions is thrown, not printed by a statement."""
    for pattern in PATTERNS:
        for sample in pattern.samples:
            found = ORIGIN.fullmatch(sample.origin)
            if found and LOG4J.read(sample.line.partition("\n")[0]) is not None:
                yield pattern, sample, found["version"], found["class"].rpartition(".")[2].partition("$")[0]


@cache
def expressions() -> list[tuple[Template, re.Pattern[str], int]]:
    """Each statement with text of its own, an expression for what it prints, and the number of letters between its values."""
    found = []
    for template in templates():
        text = re.sub(r">,$", ">", template.text).replace(r"\t", "\t").replace(r"\n", "\n")
        words = VALUE.split(text)
        expression = re.compile(".*?".join(map(re.escape, words)).strip(), re.DOTALL)
        if "".join(words).strip():
            found.append((template, expression, sum(letter.isalpha() for letter in "".join(words))))
    return found


def printed_by(line: str, name: str) -> list[Template]:
    """The statements of the table that print the message of a record, with the writer's name before it or without."""
    first, _, rest = line.partition("\n")
    record = LOG4J.read(first)
    assert record is not None
    texts = {record.message, prefix(record.message, record.logger)[1]}
    texts |= {re.sub(r"^\[[^\]]*\][:,]? ?", "", text) for text in texts}
    texts |= {f"{text}\n{rest}" for text in texts}
    texts |= {text.strip() for text in texts}
    texts |= {f"{text} " for text in texts}  # a statement that ends with an empty value
    return [
        template
        for template, expression, letters in expressions()
        if (letters >= LETTERS or template.file == name) and any(expression.fullmatch(text) for text in texts)
    ]


def test_a_sample_of_the_source_is_a_statement_of_that_version() -> None:
    assert NOT_IN_TABLE.isdisjoint(template.file for template in templates())
    wrong, excepted = [], set()
    for pattern, sample, version, name in of_source():
        if version in EARLIER or any(version in template.versions for template in printed_by(sample.line, name)):
            continue
        excepted |= {pattern.name, name}
        if pattern.name not in NOT_IN_TABLE_AS_PRINTED and name not in NOT_IN_TABLE:
            wrong.append((pattern.name, sample.origin, sample.line))
    assert wrong == []
    assert {*NOT_IN_TABLE, *NOT_IN_TABLE_AS_PRINTED} - excepted == set(), "no exception is needed for these"


def test_a_sample_of_the_source_is_of_a_version_that_prints_the_pattern() -> None:
    order = (*EARLIER, *VERSIONS)
    wrong = []
    for pattern, sample, version, _ in of_source():
        first, last = map(order.index, pattern.versions)
        if not first <= order.index(version) <= last:
            wrong.append((pattern.name, sample.origin, pattern.versions))
    assert wrong == []


def test_examples_in_the_documentation_are_statements_of_kafka() -> None:
    for document in (ROOT / "CONTRIBUTING.md", ROOT / "docs" / "own-patterns.md"):
        text = document.read_text("utf-8").partition("```toml\n")[2].partition("```")[0]
        (pattern,) = read(text, document.name)
        assert any("2.8" in template.versions for template in printed_by(pattern.samples[0].line, "LogSegment"))
        check([OwnFile(document.name, text)])

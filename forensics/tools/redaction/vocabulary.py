"""The words that may stay where Kafka and its tools use them.

Here: names of classes, states and errors, words of tools' output, of settings and of paths, and the expressions by which this tool
recognises causes in the text of exceptions. Not here: what becomes of other words (names), or the constant text of statements (in_place).
"""

from __future__ import annotations

import ast
import base64
import binascii
import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from importlib import import_module
from importlib.resources import files
from pkgutil import iter_modules
from types import ModuleType
from typing import TYPE_CHECKING, Any

import regex

from forensics import rules
from forensics.model.presence import availability, failed_starts, process_errors
from forensics.model.settings import settings as settings_of
from forensics.rules import detectors, out_of_memory
from parsers import formats, layouts, masking, paths, schemas, sniff
from parsers.catalogue.reading import OF_START
from parsers.kinds import KINDS
from parsers.patterns import PATTERNS, expand, loggers
from parsers.patterns.expand import errors
from parsers.patterns.expand.settings import KEPT_SETTINGS

if TYPE_CHECKING:
    from importlib.abc import Traversable

WORD = re.compile(r"[A-Za-z]+")
PAIR = re.compile(r"(?<![\w.-])(?=([A-Za-z']{1,40})[.,:;]? ([A-Za-z']{1,40})(?![\w/=-]|\.\w))")
"""Two words without numbers and names of directories."""
_NAME = re.compile(r"(?<![\w-])[A-Za-z_]\w*(?![\w-])")
_RANDOM_ID = re.compile(r"[A-Za-z0-9_-]{22}")
_LIKE_ID = re.compile(r"(?=.*\d)(?=.*[a-z])(?=.*[A-Z])[A-Za-z0-9_-]{21}[AQgw]")
"""Ids of directories are not always of the version that other ids are."""
_OF_CODE = re.compile(r"\w*[a-z][A-Z]\w*|[A-Z]{2,}[a-z]\w*|[A-Z]{3,}(?:_[A-Z]+)*|[A-Z]+(?:_[A-Z]+)+")
"""`InitialFetchState`, `initOffset`, `OFFSET_OUT_OF_RANGE`, but no word that is also a person's name."""
_LABEL = re.compile(r"(?<![\w-])([A-Za-z]+)(?=[=(\[])|\"([A-Za-z_]+)\":")
_MIXED = re.compile(r"(?=[a-zA-Z]*\d)(?=\d*[a-zA-Z])[a-zA-Z\d]{2,}")
_TWO_LETTERS = re.compile(r"[A-Za-z]{2}")
_LOGGER = re.compile(r" \(((?:kafka|org\.apache\.kafka)(?:\.[\w$]+)+)\)(?=\n|$)")
_ESCAPES = re.compile(r"\\[a-zA-Z]|\(\?P?<\w+>")

PACKAGES = "kafka org apache java javax scala sun jdk zookeeper log4j lang util concurrent io nio file fs net ssl channels"
OF_VALUES = """
to from broker id host port empty Optional initOffset for List Set Map Vector None Some null none true false compact delete producer gzip snappy lz4 zstd
uncompressed localhost read_committed read_uncommitted kraft zk SSL SASL unknown controller topic partition group any all
"""
"""Words in lists of partitions, in maps and in values of settings."""
OF_PATHS = """
kafka server controller broker brokers node log logs data gc state change cleaner request authorizer config conf etc opt var lib usr tmp
home mnt srv bin tar gz zip txt json csv properties out stdout stderr current checkpoint replication recovery point start offset leader
epoch meta partition metadata snapshot timeindex index quorum kafkaServer disk volume cluster cleanshutdown delete future stray topics
describe groups brokers znode zookeeper
"""
OF_THREADS = "main kafka request handler thread data plane network scheduler executor"
OF_GC = """
GC Full Pause Young Old Normal Mixed Prepare Concurrent Start Initial Init Final Mark Remark Cleanup Degenerated Evacuation Compaction Allocation
Failure System Metadata Threshold Clear Soft References Humongous Ergonomics Preventive Collection Periodic Relocate End CMS ParNew Heap
Inspection Initiated Dump Stall pause young mixed initial mark remark cleanup to space exhausted overflow ms secs seconds Total time for
which application threads were stopped Safepoint ns real Times gc info safepoint
"""
SETTINGS = """
acks acl advertised algorithm assignors auth authentication authenticator auto background backlog backoff batch broker buffer builder bytes cache
callback certificates class chain check checkpoint cipher cleaner cleanup client cluster codec commit compact compression config connect connection connections
consumer controlled controller coordinator copier copy create crl dedupe default delay delegation difference delete deletion dir directory dirs
downconversion early elect election enable enabled encoder endpoint expiration expiry factor factory feature fetch flight flush follower format generation group
hash heartbeat high host hostname hours https id idempotence identification ip idle imbalance impl implementation include incremental index
initial insync inter internal interval io isr issuer iterations jitter jwks kafka kerberos key keyfactory keymanager keystore kinit kraft lag
leader length level lifetime limit linger listen listener listeners load local location log login manager mapping master max mechanism
mechanisms memory message messages meta metadata method metric metrics migration min minutes ms name naming network node num oauthbearer
ocsp offset offsets open optimization partition partitions password per percentage period policy polling pool port preallocate prefix principal
process producer properties protocol protocols provider providers purgatory purge quarantine queue queued quorum quota quotas rack random
rate ratio reader reauth rebalance receive recording recovery refresh relogin remote renew replica replicas replication reporter reporters
request requests required reserved response retention retries retry roles roll rules sample samples sasl scope second seconds secure security segment selector
send server service servers session sessions set setup share shutdown size skew slots snapshot snapshots socket ssl standby state static storage store
strategy streams sub suites super sync telemetry thread threads throttle throttled ticket time timeout timestamp token topic total transaction
transactional transport trustmanager truststore type unclean unstable update uri url user users verification version versions voters wait
watermark window workers zookeeper bootstrap replicated alter
"""
"""Words in the names of settings."""


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


@lru_cache(maxsize=1)
def of_code() -> frozenset[str]:
    """Names of Kafka classes, states and errors, and the words of lists and values: what may stay in the varying parts of a statement."""
    samples = (sample.line for p in PATTERNS for sample in p.samples)
    texts = " ".join((*(_ESCAPES.sub(" ", p.regex) for p in PATTERNS), *samples, *map(_strings, _READERS), *_phrases_text()))
    named = {name for name in _NAME.findall(texts) if _OF_CODE.fullmatch(name) and not is_id(name)}
    parts = {part for name in named for part in name.split("_") if len(part) > 1}
    return frozenset(named | parts | words(OF_VALUES) | words(PACKAGES) | words(OF_THREADS) | of_loggers())


@lru_cache(maxsize=1)
def labels() -> frozenset[str]:
    """Names of fields, which may stay before '=' and brackets."""
    found = (label for p in PATTERNS for sample in p.samples for labels in _LABEL.findall(sample.line) for label in labels)
    return frozenset(found) - {""} | of_tools()


@lru_cache(maxsize=1)
def pairs() -> frozenset[tuple[str, str]]:
    """Words that follow each other in lines of Kafka: sentences may also be in the varying parts of its statements."""
    samples = (sample.line for p in PATTERNS for sample in p.samples)
    return frozenset(pair for text in (*samples, *map(_strings, _modules(expand))) for pair in PAIR.findall(text))


def _modules(package: ModuleType) -> list[ModuleType]:
    return [import_module(f"{package.__name__}.{module.name}") for module in iter_modules(package.__path__)]


@lru_cache(maxsize=1)
def own_expressions() -> Mapping[str, tuple[regex.Pattern[str], ...]]:
    """The expressions by which the module of a pattern's `expand` reads the varying parts of its lines, marked, by the pattern's name."""
    of_modules = {
        module.__name__: _marked((found for value in vars(module).values() for found in _within(value)), numbers=False)
        for module in _modules(expand)
    }
    return {p.name: of_modules[p.expand.__module__] if p.expand is not None else () for p in PATTERNS}


@lru_cache(maxsize=1)
def of_loggers() -> frozenset[str]:
    """Words in the names of loggers."""
    shown = (name for p in PATTERNS for sample in p.samples for name in _LOGGER.findall(sample.line))
    names = " ".join((*(name for p in PATTERNS for name in p.loggers), *shown, _strings(loggers)))
    return frozenset(word for word in re.findall(r"[A-Za-z][A-Za-z0-9]+", names))


@lru_cache(maxsize=1)
def of_tools() -> frozenset[str]:
    """Words in the output of tools and in files that Kafka writes."""
    return frozenset(word for module in _READERS for word in WORD.findall(_strings(module)) if len(word) > 1) | words(OF_VALUES)


@lru_cache(maxsize=1)
def of_paths() -> frozenset[str]:
    """Words by which the kind of a file is recognised, and of the directories around it."""
    names = " ".join(_ESCAPES.sub(" ", kind.file_name or kind.called or "") for kind in formats.FORMATS)
    return words(OF_PATHS) | {word for word in WORD.findall(f"{names} {_strings(paths)}") if len(word) > 1}


@lru_cache(maxsize=1)
def of_settings() -> frozenset[str]:
    return words(SETTINGS)


def is_setting(name: str) -> bool:
    """Whether it consists of words of Kafka settings."""
    return of_settings().issuperset(name.split("."))


@lru_cache(maxsize=1 << 12)
def is_read(setting: str) -> bool:
    """Whether it is a Kafka setting whose value this tool reads."""
    topics = {*settings_of.BROKER_NAMES, *(name for names in settings_of.BROKER_NAMES.values() for name in names)}
    return setting in topics or KEPT_SETTINGS.fullmatch(setting) is not None or setting in _OTHER_SETTINGS


_OTHER_SETTINGS = words(
    "min.insync.replicas unclean.leader.election.enable compression.type max.message.bytes log.cleaner.dedupe.buffer.size log.cleaner.threads"
    " leader.replication.throttled.rate follower.replication.throttled.rate leader.replication.throttled.replicas"
    " follower.replication.throttled.replicas socket.request.max.bytes metadata.version kraft.version transaction.version group.version"
    " eligible.leader.replicas.version share.version replication.factor remote.storage.enable"
)


@lru_cache(maxsize=1)
def phrases() -> tuple[regex.Pattern[str], ...]:
    """The expressions by which rules recognise what an exception says, marked."""
    return _marked(_expressions())


def _marked(expressions: Iterable[re.Pattern[str]], *, numbers: bool = True) -> tuple[regex.Pattern[str], ...]:
    from forensics.tools.redaction.in_place import marked

    worded = (p for p in expressions if isinstance(p.pattern, str) and _TWO_LETTERS.search(_ESCAPES.sub("", p.pattern)))
    return tuple(dict.fromkeys(marked(p.pattern, p.flags & (re.IGNORECASE | re.DOTALL), numbers=numbers) for p in worded))


def _expressions() -> Iterator[re.Pattern[str]]:
    yield from (re.compile(found, re.IGNORECASE) for found in out_of_memory.KINDS)
    wanted = (
        find.get("where", {}) for content in rules.declared().values() if content.get("detector") == "errors" for find in content["find"]
    )
    yield from (re.compile(where[name]) for where in wanted for name in ("key", "value") if name in where)
    for module in (process_errors, failed_starts, availability, errors, *_modules(rules), *_modules(detectors)):
        yield from (found for value in vars(module).values() for found in _within(value))


def _within(value: Any) -> Iterator[re.Pattern[str]]:
    if isinstance(value, tuple):
        yield from (found for inner in value for found in _within(inner))
    elif isinstance(value, process_errors.NamedCause):
        yield value.found
    elif isinstance(value, re.Pattern | regex.Pattern):
        yield value


def _phrases_text() -> Iterator[str]:
    yield from (_ESCAPES.sub(" ", p.pattern) for p in _expressions())


@lru_cache(maxsize=1)
def of_starts() -> frozenset[str]:
    """Words of the lines that a process prints before it names itself."""
    return frozenset(WORD.findall(OF_START.pattern))


@lru_cache(maxsize=1)
def everything() -> frozenset[str]:
    """All words of Kafka that a copy can contain: for the last check."""
    texts = " ".join((*(_ESCAPES.sub(" ", p.regex) for p in PATTERNS), *(p.literal for p in PATTERNS), *_phrases_text(), _strings(layouts)))
    return frozenset(WORD.findall(texts)).union(of_code(), labels(), of_starts(), of_tools(), of_paths(), of_settings(), words(OF_GC))


@lru_cache(maxsize=1)
def of_reports() -> frozenset[str]:
    """The words of our own sentences with the marks in them, and those by which results say what they mean."""
    rooms = (file for name in _OF_RESULTS for file in _files(files(f"forensics.{name}")))
    texts = ["".join(t) for file in rooms for t in _LITERAL.findall(_DOCUMENTATION.sub("", file.read_text("utf-8")))]
    named = (*KINDS, *rules.declared(), *sniff.NOT_EVIDENCE, *(k.name for k in formats.FORMATS), *(p.name for p in PATTERNS))
    names = [word for text in (*texts, *named, *schemas.EVENTS.names) for word in _IN_SENTENCE.split(text)]
    return frozenset(part for word in names for part in (word, word.strip("`.?!"), *WORD.findall(word)) if part)


def _files(directory: Traversable) -> Iterator[Traversable]:
    for entry in directory.iterdir():
        if entry.is_dir() and entry.name != "exemplars":
            yield from _files(entry)
        elif entry.name.endswith((".py", ".toml")):
            yield entry


_OF_RESULTS = ("case", "incidents", "model", "proof", "rules", "tools", "views", "words")
"""Rooms whose strings are in results."""
_DOCUMENTATION = re.compile(r'"""[\s\S]*?"""|^\s*#.*$', re.MULTILINE)
_LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"|\'([^\'\n]*)\'')
_IN_SENTENCE = re.compile(r"[\s()\[\]{}<>\"',;=|:@]+")


@lru_cache(maxsize=1)
def of_samples() -> frozenset[str]:
    """Words in lines of Kafka, also of which a part is optional in the expression; some are names in the clusters that printed them."""
    return frozenset(word for p in PATTERNS for sample in p.samples for word in WORD.findall(sample.line))


@lru_cache(maxsize=1)
def with_digits() -> frozenset[str]:
    """Words of letters and digits in the same texts, such as `log4j`."""
    texts = (*(_ESCAPES.sub(" ", p.regex) for p in PATTERNS), *(p.literal for p in PATTERNS), *map(_strings, (*_READERS, loggers)))
    return frozenset(word for text in texts for word in _MIXED.findall(text)) | words("lz4 log4j 0B 0K 0M 0G")


_READERS: tuple[ModuleType, ...] = (*formats.TEXT_MODULES, paths, sniff, masking)


@lru_cache(maxsize=1 << 6)
def _strings(module: ModuleType) -> str:
    """All string literals of a module except its documentation."""
    tree = ast.parse(inspect.getsource(module))
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = (
        node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs
    )
    return "\n".join(_ESCAPES.sub(" ", text) for text in texts)


def is_id(token: str) -> bool:
    """Whether it has the form of a random id of Kafka."""
    return is_random(token) or _LIKE_ID.fullmatch(token) is not None


def is_random(token: str) -> bool:
    """Whether it is a random id made by Kafka (Uuid.randomUuid): of a topic, a directory, a process."""
    if not _RANDOM_ID.fullmatch(token):
        return False
    try:
        data = base64.urlsafe_b64decode(token + "==")
    except binascii.Error:
        return False
    return (data[6] >> 4 == 4 and data[8] >> 6 == 2) or not any(data[:15])  # the metadata log's own is 1

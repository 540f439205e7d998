"""The words that Kafka and its tools use, which may be kept in anyone's evidence.

Here: words from the line patterns and readers, and the few that no reader names. Not here: what happens to other words (names).
"""

from __future__ import annotations

import ast
import inspect
import re
from functools import lru_cache
from types import ModuleType

from forensics.model.cluster import process_errors, settings, versions
from parsers import formats, masking, paths, sniff
from parsers.kinds import KINDS
from parsers.patterns import PATTERNS

WORD = re.compile(r"[^\W\d_]+")
_WITH_DIGITS = re.compile(r"(?=[a-zA-Z]*\d)(?=\d*[a-zA-Z])[a-zA-Z\d]{2,}")
_READERS: tuple[ModuleType, ...] = (*formats.TEXT_MODULES, paths, sniff, masking, settings, versions)
_NAMED = re.compile(r"([\w.-]*[a-z])-\d+\b|\b(?:topic|group)[ =:']+([\w.-]+)", re.IGNORECASE)
_IDENTIFYING = ("topic", "value", "directory", "topic_id")
_EITHER, _PERHAPS = re.compile(r"\[([A-Za-z])([A-Za-z])\]([A-Za-z]*)"), re.compile(r"([A-Za-z]+)[A-Za-z]\?")
"""`[Ee]lected`, `brokers?`"""
_ESCAPES = re.compile(r"\\[a-zA-Z]|\(\?P?<\w+>")

OTHERS = """
TRACE DEBUG INFO WARN WARNING ERROR FATAL info warn error debug trace
Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec Mon Tue Wed Thu Fri Sat Sun AM PM UTC GMT CET CEST EST EDT PST PDT IST JST
log logs message msg level logger thread time timestamp ts stream stdout stderr severity caller class method line source host pod container
main kafka zookeeper org apache java javax scala sun jdk common server cluster controller broker raft metadata coordinator utils network
clients consumer producer admin errors internals zk state change request handler plane data control api expiration reaper scheduler
request authorizer cleaner epoch replica alter isr partition group topic topics tar gz zip config conf etc opt var lib usr tmp home
mnt srv bin node voter observer end describe begin out txt json properties plaintext PLAINTEXT SSL SASL SCRAM SHA OAUTHBEARER
CONTROLLER EXTERNAL INTERNAL BROKER REPLICATION CLIENT localhost true false null none None True False gzip snappy lz zstd uncompressed
producer compact delete CreateTime LogAppendTime read committed uncommitted at by com Caused exception Exception Throwable
UnattachedState VotedState ProspectiveState CandidateState FollowerState LeaderState ResignedState ObserverState EpochElection VoterState
ReplicaState ReplicaKey VoterSet voterStates epochElection replicaKey replicaState GRANTED REJECTED UNRECORDED Optional OptionalInt undefined
OutOfMemoryError Java heap space GC overhead limit exceeded Metaspace Compressed class Direct direct buffer memory Cannot reserve allocated
possibly out of native unable to create thread process resource limits reached Requested array size exceeds VM
InternalError compiled code
unclean election describe zips unavailable directory checkpoint recovery point start offset hw clean shutdown cleanshutdown
"""
"""Words around logs, and in paths."""
SETTINGS = """
acks advertised algorithm assignors auth authentication authenticator background backlog backoff buffer builder callback certificates chain
check cipher codec connections crl dedupe delegation downconversion early elect enable encoder endpoint expiry factory flight hours https
identification idle imbalance impl implementation include incremental issuer iterations jwks kerberos keyfactory keymanager keystore kinit
length lifetime linger listen listener listeners location login mapping master mechanism mechanisms metric metrics minutes num oauthbearer ocsp
overrides per percentage period polling pool prefix principal protocol protocols provider providers purgatory purge queue queued quota quotas
random reader reauth receive recording refresh relogin renew reporter reporters request requests reserved retention rules sample samples sasl
scope second seconds secure security selector send service session setup share skew slots snapshot snapshots socket ssl store streams strategy
sub suites super telemetry threads throttled throttle ticket timeout total transaction transactional trustmanager truststore unstable url users
version versions verification wait window workers compression type max min bytes ms size interval rate limit remote copier copy cleaner delay
deletion expiration dirs dir id insync ratio cache jitter hash index messages fetch flush preallocate policy mode level state hostname port
"""
"""Words of the names of settings. A name that equals one of them is still a name, and is replaced in settings, too."""


@lru_cache(maxsize=1)
def vocabulary() -> frozenset[str]:
    """Words as they are printed, case-sensitive; includes every single letter."""
    patterns = [p for p in PATTERNS if p.event in KINDS]
    regexes = [p.regex for p in patterns]
    spelt = {word for regex in regexes for found in _EITHER.findall(regex) for word in (found[0] + found[2], found[1] + found[2])}
    spelt |= {found for regex in regexes for found in _PERHAPS.findall(regex)}
    loggers = (name for p in PATTERNS for name in p.loggers)
    said = (_ESCAPES.sub(" ", regex) for regex in (*regexes, *process_errors.EXPRESSIONS))
    fixed = " ".join((OTHERS, *said, *(p.literal for p in patterns), *loggers))
    stated = {word for text in (fixed, SETTINGS, *map(_strings, _READERS)) for word in WORD.findall(text)}
    shown = {word for p in patterns for sample in p.samples for word in WORD.findall(sample.line)}
    return frozenset(spelt | stated | (shown - _names_of_samples()))


@lru_cache(maxsize=1)
def corpus() -> str:
    """All text that Kafka's patterns and readers contain: a name that occurs in it does not identify anyone."""
    texts = (*(p.regex for p in PATTERNS if p.event in KINDS), *(p.literal for p in PATTERNS), *map(_strings, _READERS))
    return "\n".join((OTHERS, *sorted(loggers()), *texts))


@lru_cache(maxsize=1)
def loggers() -> frozenset[str]:
    """The loggers of Kafka's patterns."""
    return frozenset(name for p in PATTERNS for name in p.loggers)


@lru_cache(maxsize=1)
def words_with_digits() -> frozenset[str]:
    """Words of letters and digits, such as `log4j`."""
    texts = (OTHERS, *loggers(), *(p.literal for p in PATTERNS), *(_ESCAPES.sub(" ", p.regex) for p in PATTERNS), *map(_strings, _READERS))
    return frozenset(word for text in texts for word in _WITH_DIGITS.findall(text))


def _names_of_samples() -> set[str]:
    """Words of topics and other names in the clusters that samples were recorded in; only lower-case ones, which excludes Kafka's
    classes."""
    found: set[str] = set()
    for p in PATTERNS:
        for sample in p.samples:
            named = [v for key in _IDENTIFYING if isinstance(v := sample.fields.get(key), str)]
            named += [part for match in _NAMED.findall(sample.line) for part in match]
            found.update(word for name in named for word in WORD.findall(name) if word.islower())
    return found


def _strings(module: ModuleType) -> str:
    """All string literals of a module except its documentation."""
    tree = ast.parse(inspect.getsource(module))
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = (
        node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs
    )
    return " ".join(_ESCAPES.sub(" ", text) for text in texts)

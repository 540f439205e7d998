"""The user's rules (`--rules`): whether a file is valid, and what its rule finds in its exemplars.

Here: the keys of such a file; every error names the file, the kind and the key. Not here: how a declaration becomes a rule
(forensics.rules), what `find` means (forensics.rules.detectors.errors), or the files that are in force (rule_files).

A file has the form of a built-in rule (forensics/rules/KIND.toml), with its kind and its exemplars. It contains data, never code: it names
no function, and its sentences name only values and formats that are checked here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from importlib import resources
from io import BytesIO
from typing import Any, NamedTuple

import pyarrow as pa

from forensics.exemplars import exemplars_of, parse
from forensics.incidents.judging import VERDICTS, conclude, judge_partition
from forensics.model.clock.gathered import Gathered, is_gathered
from forensics.model.cluster.build import build_cluster
from forensics.model.events import COLUMNS, IDENTIFIED
from forensics.model.findings import CONFIDENCES, LEVELS, Exemplar, Finding, Urgency
from forensics.model.message import Range, Value, said, values
from forensics.model.timelines import identified, judged
from forensics.rules import OWN_NAME, RULES, declared
from forensics.words import formatted, summary
from forensics.words.formats import FORMATS, OF_TEXTS
from forensics.words.rows import Worded
from forensics.words.template import holes, names
from parsers import evidence, package_data, schemas
from parsers.kinds import GATHERED, KINDS, Scope
from parsers.own_files import Keys, OwnFile, checked, did_you_mean, document, flag, is_tables, some_text, string, texts
from parsers.schemas import EVENTS, Member, Row

MAX_FILE, MAX_SENTENCE, MAX_LIST = 1_000_000, 2_000, 50
"""Characters of a file and of a sentence, and elements of a list: a report with longer ones is unreadable."""
_AT, _WORD = datetime(2026, 1, 1), re.compile(r"[a-z0-9][a-z0-9-]{0,60}")
_FIELDS = ("exception", *(name for name in COLUMNS if name not in IDENTIFIED.names or not pa.types.is_nested(IDENTIFIED.field(name).type)))
_TEXT_COLUMNS = ("exception", *(name for name in COLUMNS if name in EVENTS.names and pa.types.is_string(EVENTS.field(name).type)))
_STEPS = (said("node/unknown"),)
_GIVEN: Mapping[str, Value] = dict(
    values(who=said("node/unknown"), span=said("error/span", began=(_AT, None)), thrown="x", why=said("node/unknown"), value="x")
    + values(number=1, cause_steps=_STEPS, meanwhile=_STEPS, back=_AT, times=2, period=(_AT, _AT))
)
"""A value for each name that the detector of errors gives, of the type that it has."""
_SAMPLE = Finding(
    kind="", severity="low", confidence="certain", topic="x", partition=0, brokers=(1,), leader_epoch=1, start=_AT, end=_AT,
    offsets=(Range(0, 1),), committed=True, cause="x", evidence=(),
)  # fmt: skip
NAMES: Mapping[str, Value] = {**_SAMPLE.stated, **_GIVEN}


def check(files: Sequence[OwnFile]) -> None:
    """Raises ValueError naming file, kind and key if a file is not valid, or two files declare the same kind."""
    kinds = Counter(_check(file) for file in files)
    if twice := next((kind for kind, number in kinds.items() if number > 1), None):
        raise ValueError(f"{', '.join(dict.fromkeys(file.path for file in files))}: two files declare the kind `{twice}`")


def exemplars(file: OwnFile) -> list[Exemplar]:
    return [parse(e["name"], e["text"]) for e in document(file.text, file.path, "")["exemplar"]]


def as_own(kind: str) -> str:
    """The file of a built-in rule with its exemplars, as a start for a file of one's own; what needs functions in Python is commented out.
    Raises ValueError if the rest is not a rule."""
    if (detector := declared()[kind].get("detector")) != "errors":
        why = "is written in Python" if detector is None else f"finds {detector}, all of which are found already"
        raise ValueError(f"the rule {kind} {why}, so it is not printed; print a rule about errors, such as append-failed")
    directory = resources.files("forensics.rules") / "exemplars" / kind
    texts_of = [(e.name, (directory / f"{e.name}.txt").read_text("utf-8").rstrip()) for e in exemplars_of(kind)]
    lines = _without_functions(package_data.text("forensics.rules", f"{kind}.toml").splitlines())
    text = "\n".join((f'kind = "own-{kind}"', *lines, *(_EXEMPLAR.format(*e) for e in texts_of)))
    try:
        check([OwnFile(kind, text)])
    except ValueError:
        raise ValueError(
            f"most of the rule {kind} is written in Python, so it is not printed; print another, such as append-failed"
        ) from None
    return text


def _without_functions(lines: Iterable[str]) -> Iterator[str]:
    """The lines of a built-in rule; those that name functions, values of these, or what only built-in rules have are comments."""
    section = ""
    for line in lines:
        section = line if line.startswith("[") else section
        key = line.partition(" = ")[0]
        own = _FIND if section == "[[find]]" else {"root": None} if section == "[phrase]" else _KEYS if not section else {key: None}
        unknown = re.match(r"[\w-]+$", key) and key not in own
        function = section == "[[find]]" and key == "values" and '"often"' not in line
        sentence = line.startswith("  ") and not names(line) <= NAMES.keys()
        yield f"# in Python: {line}" if unknown or function or sentence else line


_EXEMPLAR = """[[exemplar]]
name = '{}'
text = '''
{}
'''
"""


class Result(NamedTuple):
    """What the rules make of an exemplar."""

    exemplar: Exemplar
    problem: str | None
    found: Sequence[str]
    """Summaries of the findings of the kind."""


def results(file: OwnFile) -> Iterator[Result]:
    """The result of each exemplar of the file, whose rule is in force. Raises ValueError if an exemplar names no broker or is damaged."""
    kind = document(file.text, file.path, "")["kind"]
    for exemplar in exemplars(file):
        findings, unread = _findings(exemplar)
        own = [f for f in findings if f.kind == kind]
        problem = None
        if unread:
            problem = f"no pattern reads a line of {unread[0]}"
        elif exemplar.found and not any(map(exemplar.shows, own)):
            problem = "the rule finds nothing" if not own else "no finding has the attributes of the exemplar"
        elif own and not exemplar.found:
            problem = "the rule must not find anything"
        yield Result(exemplar, problem, [summary(f) for f in own])


def _findings(exemplar: Exemplar) -> tuple[Sequence[Finding], Sequence[str]]:
    """All findings in an exemplar, and the files with lines that no pattern reads."""
    rows: list[schemas.Rows] = []
    for path, data in exemplar.files.items():
        rows.extend(evidence.read_source(Member(path, len(data), exemplar.modified.get(path)), BytesIO(data)))
    events = pa.Table.from_batches(list(schemas.batches(rows)), schema=EVENTS)
    cluster, resolver = build_cluster(Gathered.of(events.filter(is_gathered(events))))
    rows_of = judged(identified(events, resolver, cluster), cluster, Worded(judge_partition), VERDICTS)
    return conclude(rows_of, cluster).findings, [s.path for s in cluster.sources if s.unrecognised]


# keys


def _check(file: OwnFile) -> str:
    if len(file.text) > MAX_FILE:
        raise ValueError(f"{file.path}: larger than {MAX_FILE:,} characters")
    content = document(file.text, file.path, "`kafka-forensics rules --toml KIND` prints a valid file")
    kind, finds = content.get("kind"), content.get("find")
    named = f" kind `{kind}`:" if isinstance(kind, str) else ""

    def error(text: str) -> ValueError:
        return ValueError(f"{file.path}:{named} {text}")

    given = frozenset(NAMES) - {"number"}
    if isinstance(finds, list) and is_tables(finds) and not any(find.get("values") == "often" for find in finds):
        given -= {"times", "period"}
    checked(content, {**_KEYS, **_words(given)}, _REQUIRED, error)
    used = {find.get("message", "found") for find in content["find"]}
    if missing := used - content["message"].keys():
        raise error(f"key `message`: there is no table [message.{min(missing)}]")
    if unused := content["message"].keys() - used:
        raise error(f"key `message`: no [[find]] has the message `{min(unused)}`")
    if content.get("root") and ("root" not in content.get("phrase", {}) or "many" not in content):
        raise error("key `root`: it needs the table [many], and in [phrase] the text `root`")
    return str(kind)


def _kind(value: Any) -> str:
    if any(rule.kind == value for rule in RULES):
        raise ValueError(f"`{value}` is a built-in kind; the name of your kind begins with `own-`")
    if not OWN_NAME.match(string(value)):
        raise ValueError("must be `own-` and at most 60 lower-case letters, digits and hyphens")
    return string(value)


def _one(*words: str) -> Callable[[Any], str]:
    def check_word(value: Any) -> str:
        if string(value) not in words:
            raise ValueError(f"`{value}` is not one of {', '.join(f'`{w}`' for w in words)}{did_you_mean(value, words)}")
        return string(value)

    return check_word


def _some(of: Callable[[Any], Any], *, least: int = 0) -> Callable[[Any], Sequence[str]]:
    def check_list(value: Any) -> Sequence[str]:
        if not least <= len(texts(value)) <= MAX_LIST:
            raise ValueError(f"must have {least} to {MAX_LIST} elements")
        return [of(v) for v in value]

    return check_list


def _table(keys: Keys, required: Sequence[str] = ()) -> Callable[[Any], Row]:
    def check_table(value: Any) -> Row:
        if not isinstance(value, dict):
            raise ValueError("must be a table")
        return checked(value, keys, required, ValueError)

    return check_table


def _tables(of: Callable[[Any], Any]) -> Callable[[Any], list[Row]]:
    def check_tables(value: Any) -> list[Row]:
        if not is_tables(value) or not 0 < len(value) <= MAX_LIST:
            raise ValueError(f"must be 1 to {MAX_LIST} tables [[…]]")
        for number, table in enumerate(value, 1):
            try:
                of(table)
            except ValueError as error:
                raise ValueError(f"table {number}: {error}") from None
        return value

    return check_tables


def _named(of: Callable[[Any], Any]) -> Callable[[Any], Row]:
    """A table whose keys the user chooses."""

    def check_named(value: Any) -> Row:
        return _table(dict.fromkeys(value, of) if isinstance(value, dict) and all(map(_WORD.fullmatch, value)) else {})(value)

    return check_named


def _sentence(value: Any) -> str:
    if len(some_text(value)) > MAX_SENTENCE or "\n" in value or value.count("[[") > MAX_LIST:
        raise ValueError(f"must be one line of at most {MAX_SENTENCE:,} characters and {MAX_LIST} parts [[…]]")
    return string(value)


def _template(given: frozenset[str]) -> Callable[[Any], str]:
    """The check of a sentence: it names values that exist, each in a format that its type has."""

    def check_template(value: Any) -> str:
        for name, format in holes(_sentence(value).removeprefix("!")):
            if name not in given:
                raise ValueError(f"there is no value `{{{name}}}`{did_you_mean(name, given)}")
            known, style = format.partition(" ")[::2]
            if known and known not in FORMATS and known not in OF_TEXTS:
                raise ValueError(f"`{{{name}:{format}}}`: there is no format `{known}`{did_you_mean(known, [*FORMATS, *OF_TEXTS])}")
            try:
                if known == "number" and not re.fullmatch(r"(\.\d)?f?", style):
                    raise ValueError
                formatted(NAMES[name], format)
            except (ValueError, TypeError, AttributeError, IndexError):
                raise ValueError(f"`{{{name}:{format}}}`: `{name}` cannot have this format") from None
        return string(value)

    return check_template


def _words(given: frozenset[str]) -> Keys:
    template = _template(given)
    message = {"summary": template, "many": template, "explanation": _some(template, least=1), "next_steps": _some(template)}
    return {"message": _named(_table(message, ("summary", "explanation"))), "phrase": _table({"root": _template(frozenset({"number"}))})}


def _rank(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError("must be a number; built-in kinds have 10 to 520")
    return value


def _event(value: Any) -> str:
    if value not in KINDS or KINDS[value].scope is Scope.EVIDENCE:
        raise ValueError(f"`{value}` is not a kind of event{did_you_mean(value, KINDS)}")
    return string(value)


def _expression(value: Any) -> str:
    try:
        re.compile(_sentence(value))
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"not a regular expression: {error}") from None
    return string(value)


def _cause(value: Any) -> str:
    if string(value) not in ("{why}", *(f"{{{name}}}" for name in _TEXT_COLUMNS)) and not _WORD.fullmatch(value):
        raise ValueError("must be a word of lower-case letters, digits and hyphens, {why}, or a column with text, such as {reason}")
    return string(value)


def _find(value: Row) -> Row:
    """A table [[find]], whose events all are about partitions, or all are not."""
    found = _table(_FIND, ("events",))(value)
    of_partition = found.get("of") == "partition"
    for event in found["events"]:
        if of_partition is not (KINDS[event].scope is Scope.PARTITION):
            wanted = "needs" if not of_partition else "cannot have"
            raise ValueError(f'key `events`: [[find]] with `{event}` {wanted} `of = "partition"`')
    for event in (*(() if of_partition else found["events"]), *found.get("until", ())):
        if event not in GATHERED:
            raise ValueError(
                f"`{event}` cannot be used here, because the driver does not keep it: {KINDS[event].ungathered or 'it is about a partition'}"
            )
    return found


def _exemplars(value: Any) -> list[Row]:
    found = [parse(e["name"], e["text"]) for e in _tables(_table({"name": _sentence, "text": some_text}, ("name", "text")))(value)]
    if {e.found for e in found} != {True, False}:
        raise ValueError("at least one must be `expects: found`, and one a near miss, `expects: not found`")
    return value  # type: ignore[no-any-return]


_TESTS = dict.fromkeys(_FIELDS, _expression)
_FIND: Keys = {
    "of": _one("partition"),
    "events": _some(_event, least=1),
    "where": _table(_TESTS),
    "unless": _table(_TESTS),
    "group": _some(_one(*_FIELDS)),
    "whenever": flag,
    "lasting": flag,
    "until": _some(_event),
    "severity": _one(*LEVELS),
    "confidence": _one(*CONFIDENCES),
    "cause": _cause,
    "meanwhile": flag,
    "values": _one("often"),
    "message": string,
}
_BY = _some(_one("brokers", "first_broker", "cause", "over"))
_KEYS: Keys = {
    "kind": _kind,
    "detector": _one("errors"),
    "rank": _rank,
    "level": _one(*LEVELS),
    "meaning": _sentence,
    "benign": _some(_sentence),
    "references": _some(_sentence),
    "rests_on": _some(_one("order", "time", "silence")),
    "casts_doubt": _one(*LEVELS),
    "urgency": _one(*Urgency.__members__),
    "root": flag,
    "of_first_broker": flag,
    "many": _table({"by": _BY, "whenever": flag, "recurs": flag}),
    "find": _tables(_find),
    "exemplar": _exemplars,
}
_REQUIRED = ("kind", "detector", "level", "meaning", "rests_on", "find", "message", "exemplar")


def of_rows(rows: Iterable[Mapping[str, str]]) -> tuple[OwnFile, ...]:
    """The files that a case keeps. Raises ValueError if one of them is not valid."""
    files = tuple(OwnFile(row["path"], row["text"]) for row in rows)
    check(files)
    return files

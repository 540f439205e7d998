"""The replacements: one stand-in for each name wherever it occurs, and the resulting text.

Here: topics, groups, transactional ids, hosts and cluster ids as wholes, addresses, and every word outside Kafka's vocabulary. Not here:
that vocabulary (vocabulary), the numbers that stay (numbers), the search for names that are left (search), or how files are written
(text, segments).

A stand-in consists of letters: digits could be read as numbers of brokers or partitions.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import ipaddress
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from string import ascii_lowercase
from urllib.parse import unquote

from forensics.tools.redaction.numbers import MOST_ATTACHED, NONE, Numbers, grouped_spans, is_made_by_kafka, kept_spans
from forensics.tools.redaction.vocabulary import corpus, loggers, vocabulary, words_with_digits
from parsers.layouts import LEVELS
from parsers.masking import HIDDEN

KINDS = ("topic", "group", "transaction", "host", "cluster", "id", "address", "word")
INTERNAL = frozenset({"__consumer_offsets", "__transaction_state", "__cluster_metadata", "__remote_log_metadata", "__share_group_state"})
"""Kafka's own topics, which every cluster has."""
SHORT = 3
"""A shorter name, or one of few digits alone, is only replaced where it is used as a name."""
PLACEHOLDER = re.compile(r"\((?:redacted|hidden)\)")

_V6_PART = r"[0-9A-Fa-f]{1,4}"
_TOKEN = re.compile(
    r"""\((?:redacted|hidden)\)|\\[nrtbf"'\\/]"""
    r"|(?P<mixed>(?<![^\W_])(?<![:.])[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){0,6}::?(?:\d{1,3}\.){3}\d{1,3}(?<=[:.\d])(?![\w.]))"
    rf"|(?P<v6>(?<![^\W_])(?<![:.])(?:(?:{_V6_PART}:){{7}}{_V6_PART}(?=:\d{{2,5}}(?![^\W_]|:))"
    rf"|(?:{_V6_PART}:){{7}}{_V6_PART}(?![^\W_]|:)"
    rf"|(?:{_V6_PART}(?::{_V6_PART}){{0,6}})?::(?:{_V6_PART}(?::{_V6_PART}){{0,6}})?(?![^\W_]|:)))"
    r"|(?P<hexadecimal>(?<![^\W_])(?:[0-9A-Fa-f]{1,4}:){4,}(?:[0-9A-Fa-f]{1,4}(?![^\W_]))?"
    r"|(?<![^\W_])[^\W_]{1,40}(?=[:0-9]*(?:::|:[0-9]{0,3}[A-Fa-f]))(?::[0-9A-Fa-f]{0,4}){3,}(?![^\W_]))"
    r"|(?P<spelt>(?<![^\W_])[^\W\d_](?: [^\W\d_]){3,}(?![^\W_]))"
    r"|(?P<token>[\w.-]+)"
)
_SEPARATOR = re.compile(r"([._-])")
_UUID = re.compile(r"(?<![^\W_])[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}(?![^\W_])")
_ASIDE = re.compile(r"(.+-\d{1,10})\.([0-9a-f]{32})(-(?:delete|future|stray)\.?)")
_PART = re.compile(r"(?P<run>(?<![^\W_])\d+(?:[._-]\d+)*(?![^\W_]))|[^\W_]+")
_MEASURE = re.compile(r"\d{1,6}(?:[mun]?s|[hdm]|[kKMGT]i?B?|B|bytes|secs?)")
_NUMBERED = re.compile(r"([^\W\d_]{2,}|v)(\d{1,4})")
_RUN_ON = re.compile(r"(\d{1,19})([^\W\d_]{2,})")
"""`offset=80segment=` has no space before the next word."""
_HEXADECIMAL = re.compile(r"0x[0-9A-Fa-f]+")
_LIKE_NUMBERS = (re.compile(r"[\d._-]*\d[\d._-]*"), _MEASURE, _HEXADECIMAL)
"""Forms of numbers that may stay. A name of such a form is replaced where it is used as a name, and where this number does not stay."""
_RANDOM_ID = re.compile(r"[A-Za-z0-9_-]{22}")
_LIKE_ID = re.compile(r"(?=.*\d)(?=.*[a-z])(?=.*[A-Z])[A-Za-z0-9_-]{21}[AQgw]")
"""Ids of directories are not always of the version that other ids are."""
_PARTITION = re.compile(r"(?P<name>.+?)-\d{1,10}(?:\.[0-9a-f]{32}-(?:delete|future|stray))?\.?")
_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})")
_PERCENT = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_CONFIDENTIAL = (
    r"(?:pass(?:word|wd|phrase|code)?|pwd|secret|credentials?|token|jaas[.\w]*|(?:api|access|private|signing|account)[-_. ]?key)"
)
_SECRET = re.compile(
    rf"({_CONFIDENTIAL}(?:[-_.]?(?:key|id|value))?\\?[\"']?\s*[=:]\s*)"
    r"(\\\"(?:(?!\\\").)*(?:\\\"|$)|\"(?:[^\"\\]|\\.)*(?:\"|$)|'(?:[^'\\]|\\.)*(?:'|$)|[^\s,;)}\]]+(?: \d+(?![\w.:=-]))*)"
    r"|\b((?:[Bb]earer|[Bb]asic)[ :=]+)([A-Za-z0-9._~+/=-]{8,})",
    re.IGNORECASE,
)
_OF_SECRETS = ("pass", "pwd", "secret", "credential", "token", "jaas", "key", "bearer", "basic")
"""One of these is in every text that _SECRET matches; searching for them is much faster."""
_USER_INFO = re.compile(r"(?<=://)[^/@\s]*@")
_WIDTH = 4
_SHORT_TEXT, _MOST_TEXTS = 100, 10_000
"""Characters of texts whose rewriting is kept, and the number of such texts."""
_FOUND_IN_TEXT = frozenset({"id", "address", "word"})
"""Kinds of names that are recognised by their form."""
_VERSION_4 = bytes((0, 0, 0, 0, 0, 0, 0x40, 0, 0x80))
_INFIXES = ("x", "y", "z", "q", "w", "v", "j", "k")
_TEST_NETWORK = ipaddress.IPv4Address("198.18.0.0")
_DOCUMENTATION = ipaddress.IPv6Address("2001:db8::")


class Names:
    """The mapping, and text with its stand-ins."""

    def __init__(self, infix: str = "x", first_address: int = 1) -> None:
        self.known: dict[str, dict[str, str]] = {kind: {} for kind in KINDS}
        self.whole: dict[str, str] = {}
        self.marked: dict[str, str] = {}
        """Names that are also words used by Kafka, numbers, or too short: replaced only where they are used as names; numbers also where they
        would be hidden."""
        self.odd: dict[str, str] = {}
        """Names with characters that topics cannot have."""
        self.given: set[str] = set()
        """All stand-ins."""
        self.ids: set[str] = set()
        """Random ids that Kafka made, of topics and directories."""
        self.nodes: set[int] = set()
        self._infix, self._first_address = infix, first_address
        self._anchors: dict[str, list[str]] = {}
        """Odd names by a part that is found as a token."""
        self._of_token: dict[str, str] = {}
        self._of_text: dict[tuple[str, bool], str] = {}
        """What many lines have around their messages."""
        self._own = vocabulary()

    def settled(self, infixes: Collection[str], addresses: Collection[int]) -> Names:
        """The same names with stand-ins that occur nowhere in the evidence. `infixes`, `addresses`: those of stand-ins found there."""
        infix = next((letters for letters in _infixes() if letters not in infixes), "x")
        settled = Names(infix, max(addresses, default=0) + 1)
        settled.ids, settled.nodes = self.ids - self.known["cluster"].keys(), self.nodes
        for kind, names in self.known.items():
            for name in names if kind not in _FOUND_IN_TEXT else ():
                settled.add(kind, name)
        return settled

    def add(self, kind: str, name: str) -> str:
        """The stand-in of a name."""
        if name in INTERNAL or not name:
            return name
        if (known := self.known[kind].get(name)) is not None:
            return known
        found = self._stand_in(kind)
        self.known[kind][name] = found
        self.given.add(found)
        if kind in _FOUND_IN_TEXT:
            return found
        self._of_token.clear()
        self._of_text.clear()
        if re.search(r"[^\w.-]", name):
            if self.odd.setdefault(name, found) == found:
                self._anchors.setdefault(_anchor(name), []).append(name)
        elif is_plain(name):
            self.marked.setdefault(name, found)
        else:
            self.whole.setdefault(name, found)
        return found

    def _stand_in(self, kind: str) -> str:
        number, letters = len(self.known[kind]), ""
        if kind == "id":
            return base64.urlsafe_b64encode(_VERSION_4 + number.to_bytes(7, "big")).decode().rstrip("=")
        while number or len(letters) < _WIDTH:
            number, digit = divmod(number, 26)
            letters = ascii_lowercase[digit] + letters
        found = f"{kind}{self._infix}{letters}"
        return found.ljust(22, "A") if kind == "cluster" else found

    @property
    def guarded(self) -> list[str]:
        """Names that could be replaced only where they are used as names."""
        return sorted(self.marked)

    # text

    def text(self, text: str, numbers: Numbers = NONE, *, prose: bool = True) -> str:
        """Text with stand-ins for all words that are not Kafka's, without secrets, and with only those numbers that are allowed. `prose`:
        a name that is also a logger or a level is replaced where it is used as a name, too."""
        if (known := self._of_text.get((text, prose))) is not None:
            return known
        found = self._text(text, numbers, prose)
        if len(text) <= _SHORT_TEXT and len(self._of_text) < _MOST_TEXTS and _DIGIT.search(text) is None:
            self._of_text[text, prose] = found
        return found

    def _text(self, text: str, numbers: Numbers, prose: bool) -> str:
        if "\\u" in text:
            text = _ESCAPED.sub(_plain_character, text)
        if "%" in text:
            text = _PERCENT.sub(_unquoted, text)
        text = _USER_INFO.sub("", _SECRET.sub(_without_secret, text) if _may_hold_secret(text) else text)
        for name in self.odd_in(text):
            text = text.replace(name, self.odd[name])
        for name in self.marked_in(text):
            if not prose and names_logger(name):
                continue
            stand_in = self.marked[name]
            text = as_name(name).sub(lambda m, s=stand_in: m[0].replace(m["name"], s), text)  # type: ignore[misc]
        kept = list(kept_spans(text))
        grouped = list(grouped_spans(text)) if numbers.alone else []

        def replaced(match: re.Match[str]) -> str:
            if _DIGIT.search(match[0]) is None:  # no number in it may stay
                return self._replaced(match, numbers)
            begin, end = match.span()
            own = replace(numbers, alone=0) if any(a <= begin < b for a, b in grouped) else numbers
            within = [(a - begin, b - begin) for a, b in kept if a < end and begin < b] if match["token"] is not None else []
            return self._around_kept(match[0], within, own) if within else self._replaced(match, own)

        return _TOKEN.sub(replaced if kept or grouped else lambda match: self._replaced(match, numbers), text)

    def _around_kept(self, token: str, kept: list[tuple[int, int]], numbers: Numbers) -> str:
        """A token of which some numbers stay."""
        pieces, done = [], 0
        for begin, end in sorted(kept):
            pieces += [self._token(token[done : max(begin, 0)], numbers), token[max(begin, 0) : end]]
            done = min(end, len(token))
        return "".join([*pieces, self._token(token[done:], numbers)])

    def odd_in(self, text: str) -> list[str]:
        """The odd names that occur in a text, the longest first."""
        if not self._anchors:
            return []
        found = {*self._anchors}.intersection(_RUN.findall(text)) | ({""} & self._anchors.keys())
        return sorted((name for anchor in found for name in self._anchors[anchor] if name in text), key=lambda name: -len(name))

    def marked_in(self, text: str) -> list[str]:
        """The names that are Kafka's words and may be used as names in a text."""
        if not self.marked:
            return []
        return [name for name in dict.fromkeys(_parts(text)) if name in self.marked]

    def names_in(self, token: str) -> Iterator[str]:
        """The names in a token that are replaced wherever they occur."""
        yield from (name for stand_in, name in self._pieces(token) if stand_in is not None)

    def path(self, path: str) -> str:
        """A path inside the evidence, rebuilt: directories of partitions are named by the stand-ins of their topics, and nothing leads out
        of the directory that the copy is unpacked to."""
        numbers = Numbers(self.nodes, alone=4)
        parts = (_UNSAFE.sub("_", self.text(part, numbers)).strip(" ") for part in re.split(r"[/\\]", path))
        return "/".join(part for part in parts if part.strip(".")) or "file"

    def identity(self, name: str) -> str:
        """The name of a writer or host: different ones stay different."""
        return self.alone(self.text(name, Numbers(self.nodes, alone=0 if " " in name else 4)))

    def alone(self, text: str) -> str:
        """Rewritten text that the copy puts in quotes, as names are."""
        return self.marked.get(text, text)

    def _replaced(self, match: re.Match[str], numbers: Numbers) -> str:
        kind = match.lastgroup
        if kind == "token":
            return self._token(match["token"], numbers)
        if kind is None:
            return match[0]
        return self.add("word", match[0]) if kind in ("hexadecimal", "spelt") else self._address(match[0])

    def _token(self, token: str, numbers: Numbers) -> str:
        if (known := self._of_token.get(token)) is None:
            known = self._rewritten(token, numbers)
            if _DIGIT.search(token) is None:
                self._of_token[token] = known
        return known

    def _rewritten(self, token: str, numbers: Numbers) -> str:
        bare = token.rstrip(".")
        if not token or (bare in self.ids and bare not in self.whole):
            return token
        if len(_DIGIT.findall(token)) > MOST_ATTACHED and self._loose(token, numbers) > MOST_ATTACHED:
            numbers = replace(numbers, attached=0)
        if bare not in self.whole and is_id(bare):
            return self.add("id", bare) + token[len(bare) :]
        if (aside := _ASIDE.fullmatch(token)) is not None:
            mark = aside[2] if aside[2] not in self.whole else hashlib.sha256(self.whole[aside[2]].encode()).hexdigest()[:32]
            return f"{self._rewritten(aside[1], numbers)}.{mark}{aside[3]}"
        partition = _PARTITION.fullmatch(token)
        if partition is not None and partition["name"] in self.marked:
            return self.marked[partition["name"]] + token[partition.end("name") :]
        return "".join(self._without_ids(piece, numbers) if kind is None else kind for kind, piece in self._pieces(token))

    def _loose(self, token: str, numbers: Numbers) -> int:
        """Digits of the numbers in a token that would stay only because they are short."""
        found = 0
        for match in _PART.finditer(_EITHER.sub("", token)):
            numbered = _NUMBERED.fullmatch(match[0])
            if match["run"] is None or not is_made_by_kafka(match["run"]):
                run_on = _RUN_ON.fullmatch(match[0])
                parts = _DIGITS.findall(match["run"] or (numbered[2] if numbered is not None else run_on[1] if run_on is not None else ""))
                found += sum(len(part) for part in parts if not numbers.known(part))
        return found

    def _pieces(self, token: str) -> Iterator[tuple[str | None, str]]:
        """The names in a token with their stand-ins, the longest first, and the texts between them."""
        parts = _SEPARATOR.split(token)
        at, between = 0, ""
        while at < len(parts):
            ends = (end for end in range(len(parts), at, -2) if "".join(parts[at:end]) in self.whole)
            if (end := next(ends, None)) is None:
                between += parts[at]
                at += 1
                continue
            if between:
                yield None, between
            name, between, at = "".join(parts[at:end]), "", end
            yield self.whole[name], name
        if between:
            yield None, between

    def _without_ids(self, text: str, numbers: Numbers) -> str:
        """The part of a token between names."""
        if len(text) < _SHORTEST_ADDRESS or _DIGIT.search(text) is None:
            return self._parted(text, numbers)
        pieces, done = [], 0
        for match in _EITHER.finditer(text):
            found = self._address_in(match)
            if found is not None:
                pieces += [self._parted(text[done : match.start()], numbers, attached=True), found]
                done = match.end()
        return "".join([*pieces, self._parted(text[done:], numbers, attached=done > 0)])

    def _address_in(self, match: re.Match[str]) -> str | None:
        text = match[0]
        if _UUID.fullmatch(text):
            return self.add("word", text)
        dotted = re.sub(r"[_-]", ".", text)
        try:
            ipaddress.IPv4Address(dotted)
        except ValueError:
            return None
        return self._address(dotted).replace(".", next(c for c in text if c in "._-"))

    def _parted(self, text: str, numbers: Numbers, *, attached: bool = False) -> str:
        bare = text.rstrip(".")

        def part(match: re.Match[str]) -> str:
            if match["run"] is None:
                return self._word(match[0], numbers)
            run = match["run"]
            if not attached and run == bare.lstrip("-"):
                return run if numbers.keeps(run) else self.marked.get(run) or re.sub(r"\d+", "0", run)
            return run if numbers.keeps_attached(run) else self.marked.get(run) or self.add("word", run)

        return _PART.sub(part, text)

    def _word(self, word: str, numbers: Numbers) -> str:
        """A word of letters, or of letters and digits."""
        if (len(word) == 1 and word.isascii()) or word in self._own or word in self.given:
            return word
        if not word.isalpha():
            if self._is_kafkas(word, numbers):
                return word
            if _HEXADECIMAL.fullmatch(word):
                if word in self.marked:
                    return self.marked[word]
                return "0x1" if word.strip("0x") else "0x0"  # a session of ZooKeeper that does not exist yet is 0x0
        return self.whole.get(word) or self.add("word", word)

    def _is_kafkas(self, word: str, numbers: Numbers) -> bool:
        if word in words_with_digits() or _MEASURE.fullmatch(word):
            return True
        if (numbered := _NUMBERED.fullmatch(word)) is not None:
            fits = len(numbered[2]) <= numbers.attached or numbers.known(numbered[2])
            return fits and (numbered[1] in self._own or numbered[1] in self.given)
        run_on = _RUN_ON.fullmatch(word)
        return run_on is not None and numbers.known(run_on[1]) and run_on[2] in self._own

    def _address(self, text: str) -> str:
        try:
            address = ipaddress.ip_address(text)
        except ValueError:
            return self.add("word", text)
        if address.is_loopback or address.is_unspecified or text.startswith("0."):  # Kafka's own versions begin with 0
            return text
        known = self.known["address"]
        if text not in known:
            number = len(known) + self._first_address
            known[text] = str(_TEST_NETWORK + number) if address.version == 4 else str(_DOCUMENTATION + number)
        return known[text]

    def mapping(self) -> Mapping[str, Mapping[str, str]]:
        return {kind: dict(sorted(own.items())) for kind, own in self.known.items() if own}


_SHORTEST_ADDRESS = 7
_EITHER = re.compile(f"{_UUID.pattern}|(?<!\\d)\\d{{1,3}}([._-])\\d{{1,3}}\\1\\d{{1,3}}\\1\\d{{1,3}}(?!\\d)")
_DIGIT = re.compile(r"\d")
_DIGITS = re.compile(r"\d+")
_UNSAFE = re.compile(r"[^\w.@=+,()\[\]#~ -]")
_RUN = re.compile(r"[\w.-]+")


def _infixes() -> Iterator[str]:
    yield from _INFIXES
    yield from (a + b for a in _INFIXES for b in _INFIXES)


def _anchor(name: str) -> str:
    """A part of an odd name that is a token of every text with the name; '' if it has none."""
    return max(_RUN.findall(name), key=len, default="")


def _parts(text: str) -> Iterable[str]:
    """Tokens, and what precedes a dash in them."""
    for token in dict.fromkeys(_RUN.findall(text)):
        bare = token.rstrip(".")
        yield token
        yield bare
        yield from (bare[: match.start()] for match in re.finditer(r"-", bare))


def _plain_character(match: re.Match[str]) -> str:
    """The character of a JSON escape, if it can be a part of a name."""
    character = chr(int(match[1], 16))
    return character if character.isalnum() or character in "._-@: " else match[0]


def _unquoted(match: re.Match[str]) -> str:
    """The characters of percent escapes, if they can be a part of a name."""
    text = unquote(match[0], errors="replace")
    return text if text.isprintable() and '"' not in text and "\\" not in text else "%"


def _may_hold_secret(text: str) -> bool:
    lower = text.lower()
    return not text.isascii() or any(word in lower for word in _OF_SECRETS)


def _without_secret(match: re.Match[str]) -> str:
    return f"{match[1] or match[3]}{HIDDEN}"


def is_plain(name: str) -> bool:
    """Whether a name is too short to be recognised, looks like a number, or occurs in Kafka's own text or in this tool's."""
    if len(name) < SHORT or name in ("redacted", "hidden") or any(form.fullmatch(name) for form in _LIKE_NUMBERS):
        return True
    return name in corpus() and re.search(rf"(?<![A-Za-z]){re.escape(name)}(?![A-Za-z])", corpus()) is not None


def names_logger(name: str) -> bool:
    """Whether a name may be a logger, whole or abbreviated, or a level, in the text around a message."""
    return name in LEVELS.split("|") or any(logger == name or logger.endswith(f".{name}") for logger in loggers())


@lru_cache(maxsize=1 << 14)
def as_name(name: str) -> re.Pattern[str]:
    """Matches a Kafka word where it is used as a name: before a partition's number, in quotes, after 'topic' or 'group', alone in a
    list."""
    end = r"(?!\)[\s\"}]*$)" if name in loggers() or name in ("redacted", "hidden") else ""  # at the end of a record, it is the logger
    either = (
        rf"(?<![\w.-]){re.escape(name)}(?=-\d+(?![\w-]))",
        rf"(?<=[\"']){re.escape(name)}(?=[\"'](?!\s*:))",
        rf"(?<=[\[({{,] ){re.escape(name)}(?=[,\])}}])",
        rf"(?<=[\[({{,]){re.escape(name)}(?=[,\])}}]){end}",
        *(
            rf"(?<={before}){re.escape(name)}(?![\w.-])"
            for before in ("[Tt]opic ", "[Tt]opic=", "[Tt]opic:", "[Tt]opic: ", "[Gg]roup ", "[Gg]roup=", "[Tt]opics ", "topics/")
        ),
    )
    return re.compile(rf"(?P<name>{'|'.join(either)})")


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

"""The replacements: one stand-in for each name wherever it occurs, and the resulting text.

Here: topics, groups, transactional ids, hosts and cluster ids as wholes, addresses, and every word outside Kafka's vocabulary. Not here:
that vocabulary (vocabulary), or how files are written (text, segments).

A stand-in consists of letters: digits could be read as numbers of brokers or partitions.
"""

from __future__ import annotations

import base64
import binascii
import ipaddress
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from string import ascii_lowercase

from forensics.tools.redaction.vocabulary import WORD, corpus, vocabulary

KINDS = ("topic", "group", "transaction", "host", "cluster", "address", "word")
INTERNAL = frozenset({"__consumer_offsets", "__transaction_state", "__cluster_metadata", "__remote_log_metadata", "__share_group_state"})
"""Kafka's own topics, which every cluster has."""
SHORT = 3
"""A shorter name, or one of digits alone, is only replaced where it is used as a name."""

_TOKEN = re.compile(
    r"""\\(?:[nrtbf"'\\/]|u[0-9a-fA-F]{4})"""
    r"|(?P<v6>(?<![\w:.])(?:(?:[0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}"
    r"|(?:[0-9A-Fa-f]{1,4}(?::[0-9A-Fa-f]{1,4}){0,6})?::(?:[0-9A-Fa-f]{1,4}(?::[0-9A-Fa-f]{1,4}){0,6})?)(?![\w:]))"
    r"|(?P<token>[\w.-]+)"
)
_SEPARATOR = re.compile(r"([._-])")
_V4 = re.compile(r"(?<![\d.])(\d{1,3})([.-])(\d{1,3})\2(\d{1,3})\2(\d{1,3})(?![.-]?\d)")
_HEX = re.compile(r"[0-9a-f]{32}")
_RANDOM_ID = re.compile(r"[A-Za-z0-9_-]{22}")
_REST_OF_PARTITION = re.compile(r"-\d{1,10}(?:\.[0-9a-f]{32}-(?:delete|future|stray))?\.?")
_SECRET = re.compile(
    r"((?:password|passwd|passphrase|secret|credential|token|jaas[.\w]*)[\"']?\s*[=:]\s*)(\"[^\"]*\"|'[^']*'|[^\s,;)}\]]+)", re.IGNORECASE
)
_USER_INFO = re.compile(r"(?<=://)[^/@\s]*@")
_WIDTH = 4


class Names:
    """The mapping, and text with its stand-ins."""

    def __init__(self) -> None:
        self.known: dict[str, dict[str, str]] = {kind: {} for kind in KINDS}
        self._whole: dict[str, str] = {}
        self._guarded: dict[str, str] = {}
        """Names that are also words used by Kafka, or too short: replaced only where they are used as names."""
        self._odd: dict[str, str] = {}
        """Names with characters that topics cannot have."""
        self._of_token: dict[str, str] = {}
        self._given: set[str] = set()
        """All stand-ins."""
        self._own = vocabulary()

    def add(self, kind: str, name: str) -> str:
        """The stand-in of a name."""
        if name in INTERNAL or not name:
            return name
        if (known := self.known[kind].get(name)) is not None:
            return known
        found = self._stand_in(kind)
        self.known[kind][name] = found
        self._given.add(found)
        if kind == "word":
            return found
        self._of_token.clear()
        if re.search(r"[^\w.-]", name):
            self._odd.setdefault(name, found)
        elif is_plain(name):
            self._guarded.setdefault(name, found)
        else:
            self._whole.setdefault(name, found)
        return found

    def _stand_in(self, kind: str) -> str:
        number, letters = len(self.known[kind]), ""
        while number or len(letters) < _WIDTH:
            number, digit = divmod(number, 26)
            letters = ascii_lowercase[digit] + letters
        return f"{kind}x{letters}".ljust(22, "A") if kind == "cluster" else f"{kind}x{letters}"

    @property
    def guarded(self) -> list[str]:
        """Names that could be replaced only where they are used as names."""
        return sorted(self._guarded)

    @property
    def exact(self) -> list[str]:
        """Names that must not occur anywhere, not even within another word."""
        words = " ".join(self._own)
        return [name for name in self._whole if len(name) > 5 and name not in words and name not in corpus()]

    # text

    def text(self, text: str) -> str:
        """Text with stand-ins for all words that are not Kafka's, and without secrets."""
        text = _USER_INFO.sub("", _SECRET.sub(r"\1(hidden)", text))
        for name, stand_in in sorted(self._odd.items(), key=lambda item: -len(item[0])):
            text = text.replace(name, stand_in)
        for name, stand_in in self._guarded.items():
            if name in text:
                text = as_name(name).sub(lambda m, s=stand_in: m[0].replace(m["name"], s), text)  # type: ignore[misc]
        return _TOKEN.sub(self._replaced, text)

    def path(self, path: str) -> str:
        """A path inside the evidence; directories of partitions are named by the stand-ins of their topics."""
        return "/".join(self.text(part) for part in path.split("/"))

    def _replaced(self, match: re.Match[str]) -> str:
        if match["v6"] is not None:
            return self._address(match["v6"])
        token = match["token"]
        if token is None:
            return match[0]
        if (known := self._of_token.get(token)) is None:
            known = self._of_token[token] = self._token(token)
        return known

    def _token(self, token: str) -> str:
        bare = token.rstrip(".")
        if bare not in self._whole and is_random(bare):
            return token
        for name in self._guarded:
            if token.startswith(name) and _REST_OF_PARTITION.fullmatch(token, len(name)):
                return self._guarded[name] + token[len(name) :]
        token = _V4.sub(self._v4, token)
        return "".join(self._whole[piece] if piece in self._whole else self._words(piece) for piece in self._pieces(token))

    def _pieces(self, token: str) -> Iterator[str]:
        """The names in the text, the longest first, and the parts between them."""
        parts = _SEPARATOR.split(token)
        at = 0
        while at < len(parts):
            ends = (end for end in range(len(parts), at, -2) if "".join(parts[at:end]) in self._whole)
            end = next(ends, at + 1)
            yield "".join(parts[at:end])
            at = end

    def _words(self, text: str) -> str:
        return text if _HEX.fullmatch(text) else WORD.sub(self._word, text)

    def _word(self, match: re.Match[str]) -> str:
        word = match[0]
        if (len(word) == 1 and word.isascii()) or word in self._own or word in self._given:
            return word
        return self._whole.get(word) or self.add("word", word)

    def _v4(self, match: re.Match[str]) -> str:
        between = match[2]
        return self._address(f"{match[1]}.{match[3]}.{match[4]}.{match[5]}").replace(".", between)

    def _address(self, text: str) -> str:
        try:
            address = ipaddress.ip_address(text)
        except ValueError:
            return text
        if address.is_loopback or address.is_unspecified or text.startswith("0."):  # Kafka's own versions begin with 0
            return text
        known = self.known["address"]
        if text not in known:
            number = len(known) + 1
            v4 = ipaddress.IPv4Address("198.18.0.0") + number
            known[text] = str(v4) if address.version == 4 else str(ipaddress.IPv6Address("2001:db8::") + number)
        return known[text]

    # what must not be left

    def left(self, text: str) -> Iterator[str]:
        """Names of the mapping that occur in replaced text."""
        yield from (name for name in self._guarded if name in text and as_name(name).search(text))
        yield from (name for name in self._odd if name in text)
        for match in _TOKEN.finditer(text):
            if (token := match["token"]) is not None:
                yield from self._left_in_token(token)
            elif match["v6"] in self.known["address"]:
                yield match["v6"]

    def _left_in_token(self, token: str) -> Iterator[str]:
        yield from (found for m in _V4.finditer(token) if (found := m[0].replace(m[2], ".")) in self.known["address"])
        bare = token.rstrip(".")
        if bare in self._given or (bare not in self._whole and is_random(bare)):
            return
        for piece in self._pieces(token):
            if piece in self._whole:
                yield piece
            elif not _HEX.fullmatch(piece):
                yield from (word for word in WORD.findall(piece) if word in self.known["word"] and word not in self._given)

    def left_in_bytes(self, data: bytes) -> Iterator[str]:
        """Names that occur anywhere in bytes, except those that can occur there by chance."""
        for run in re.findall(rb"[A-Za-z0-9._-]{5,}", data):
            yield from (piece for piece in self._pieces(run.decode("ascii")) if len(piece) >= 5 and piece in self._whole)
        yield from (name for name in self._odd if len(name) >= 5 and name.encode() in data)

    def mapping(self) -> Mapping[str, Mapping[str, str]]:
        return {kind: dict(sorted(own.items())) for kind, own in self.known.items() if own}


def is_plain(name: str) -> bool:
    """Whether a name is too short to be recognised, or occurs in Kafka's own text."""
    if len(name) < SHORT or name.isdigit():
        return True
    return name in corpus() and re.search(rf"(?<![A-Za-z]){re.escape(name)}(?![A-Za-z])", corpus()) is not None


@lru_cache(maxsize=1024)
def as_name(name: str) -> re.Pattern[str]:
    """Matches a Kafka word where it is used as a name: before a partition's number, in quotes, after 'topic' or 'group', alone in a
    list."""
    either = (
        rf"(?<![\w.-]){re.escape(name)}(?=-\d+(?![\w-]))",
        rf"(?<=[\"']){re.escape(name)}(?=[\"'](?!\s*:))",
        rf"(?<=[\[({{,] ){re.escape(name)}(?=[,\])}}])",
        rf"(?<=[\[({{,]){re.escape(name)}(?=[,\])}}])",
        *(
            rf"(?<={before}){re.escape(name)}(?![\w.-])"
            for before in ("[Tt]opic ", "[Tt]opic=", "[Tt]opic:", "[Tt]opic: ", "[Gg]roup ", "[Gg]roup=", "[Tt]opics ", "topics/")
        ),
    )
    return re.compile(rf"(?P<name>{'|'.join(either)})")


def is_random(token: str) -> bool:
    """Whether it is a random id made by Kafka (Uuid.randomUuid): of a topic, a directory, a process."""
    if not _RANDOM_ID.fullmatch(token):
        return False
    try:
        data = base64.urlsafe_b64decode(token + "==")
    except binascii.Error:
        return False
    return (data[6] >> 4 == 4 and data[8] >> 6 == 2) or not any(data[:15])  # the metadata log's own is 1

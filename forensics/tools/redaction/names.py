"""The replacements: one stand-in for each name wherever it occurs, and text in which nothing else is left.

Here: topics, groups, transactional ids, hosts and cluster ids as wholes, addresses, the steps of paths, and all other text. Not here: the
words that stay (vocabulary), the places where a statement fixes them (in_place), or how files are written (text, segments).

From free text only what is listed stays: words of Kafka, numbers that a reader took, stand-ins. A stand-in consists of letters: digits
could be read as numbers of brokers or partitions.
"""

from __future__ import annotations

import base64
import hashlib
import ipaddress
import re
from collections.abc import Collection, Iterator, Mapping, Set
from dataclasses import dataclass, field
from string import ascii_lowercase

from forensics.tools.redaction.vocabulary import everything, is_id, is_read, labels, of_code, of_paths
from parsers.masking import HIDDEN, masked

KINDS = ("topic", "group", "transaction", "client", "member", "host", "cluster", "id", "address", "word")
INTERNAL = frozenset({"__consumer_offsets", "__transaction_state", "__cluster_metadata", "__remote_log_metadata", "__share_group_state"})
"""Kafka's own topics, which every cluster has."""
HEXADECIMAL = ("0x0", "0x1")
"""In place of hexadecimal numbers: a session of ZooKeeper that does not exist yet is 0x0."""
SHORT = "x"
"""In place of a word of one or two characters, so that spelt words cannot be deciphered."""
_SHORT = 2

_TOKEN = re.compile(
    r"(?P<kept>[ \t\r\n]+|\((?:redacted|hidden)\)|(?<![A-Za-z0-9])[A-Za-z](?=:[\\/]))"
    r"|(?P<colons>(?<![\w:.])(?=[0-9A-Fa-f]{0,4}:[0-9A-Fa-f]{0,4}:)[0-9A-Fa-f:]+(?:(?<=:)[0-9.]{7,15})?)"
    r"|(?P<marks>[()\[\]{}<>\"',;=|:@]+)|(?P<token>[^ \t\r\n()\[\]{}<>\"',;=|:@]+)"
)
"""Blanks and placeholders, and the drive of a path; what may be an IPv6 address; marks between tokens; tokens."""
_PIECE = re.compile(r"(?P<word>[A-Za-z0-9]+)|(?P<mark>[\x21-\x7e]+?(?=[A-Za-z0-9]|[^\x21-\x7e]|$))|[^\x00-\x7f]+|[\x00-\x20\x7f]+")
_MARKS = frozenset(
    {
        "-",
        "->",
        ".",
        "...",
        "*",
        "/",
        "\\",
        "#",
        "$",
        "$.",
        "--",
        "@",
        "//",
        "_",
        "__",
        "+",
        "%",
        "-.",
        "&",
        "?",
        "!",
        "|",
        "~",
        "^",
        "`",
        "\\\\",
    }
)
"""Punctuation that may stand alone or between words."""
_OF_LABEL = re.compile(r"\"?\s*[:=(\[]")
_TOPIC_BEFORE = re.compile(r"[Tt]opics?\"?(?::|=| )\s*\"?$")
_HEXADECIMAL = re.compile(r"(?<![A-Za-z0-9])0x[0-9A-Fa-f]+(?![A-Za-z0-9])")
NUMERIC = re.compile(r"-?\d{1,19}(?:[.,:] ?-?\d{1,19})*(?:-IV\d+)?", re.ASCII)
_NOT_KNOWN = "N/A"
_STEP = re.compile(r"([/\\])")
_PARTITION = re.compile(r"(?P<name>.+)-(?P<number>\d{1,10})(?:\.(?P<mark>[0-9a-f]{32})(?P<state>-(?:delete|future|stray)))?")
_RANDOM_MARK = re.compile(r"[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}")
"""As Kafka marks directories that it will delete (UUID.randomUUID)."""
_V4 = re.compile(r"(?:\d{1,3}\.){3}\d{1,3}")
_OF_FILES = re.compile(
    r"(?<!\d)0{7}\d{13}(?:-\d{10})?(?=\.(?:log|index|timeindex|txnindex|snapshot|checkpoint)\b)"
    r"|(?<=\.log)[.-](?:20[1-9]\d-?[01]\d-?[0-3]\d(?:-[0-2]\d)?|\d{1,3})(?![\w-])"
)
"""Base offset of a segment, with an epoch that of a snapshot; what log4j and the JVM append to the name of a log that is complete."""
_UNSAFE = re.compile(r"[^A-Za-z0-9_.@=+,()\[\]#~ -]")
_ORDINAL = re.compile(r"(?:broker|kafka|node|controller|server)[-_=]?(\d{1,2})$", re.IGNORECASE | re.ASCII)
"""The number of a pod, which need not be the id of its node."""
_WIDTH = 4
_FOUND_IN_TEXT = frozenset({"id", "address", "word"})
"""Kinds of names that are recognised by their form."""
_VERSION_4 = bytes((0, 0, 0, 0, 0, 0, 0x40, 0, 0x80))
_INFIXES = ("x", "y", "z", "q", "w", "v", "j", "k")
_TEST_NETWORK = ipaddress.IPv4Address("198.18.0.0")
_DOCUMENTATION = ipaddress.IPv6Address("2001:db8::")


@dataclass(frozen=True)
class KeptWords:
    """What may stay in a text besides stand-ins."""

    words: Set[str] = frozenset()
    values: Set[str] = frozenset()
    """Numbers and versions that a reader took."""


@dataclass
class Seen:
    """What readers found in the evidence that is not a name."""

    ids: set[str] = field(default_factory=set)
    """Random ids that Kafka made, of topics and directories."""
    nodes: set[str] = field(default_factory=set)
    ports: set[str] = field(default_factory=set)
    partitions: set[tuple[str, str]] = field(default_factory=set)


class Names:
    """The mapping, and text with its stand-ins."""

    def __init__(self, infix: str = "x", first_address: int = 1, seen: Seen | None = None) -> None:
        self.known: dict[str, dict[str, str]] = {kind: {} for kind in KINDS}
        self.whole: dict[str, str] = {name: name for name in INTERNAL}
        """Stand-ins of names that are replaced wherever they occur as a token."""
        self.seen = seen or Seen()
        self._infix, self._first_address = infix, first_address

    def settled(self, infixes: Collection[str], addresses: Collection[int]) -> Names:
        """The same names with stand-ins that occur nowhere in the evidence, in the same order. `infixes`, `addresses`: those of stand-ins
        found there."""
        infix = next((letters for letters in _infixes() if letters not in infixes), "x")
        self.seen.ids -= self.known["cluster"].keys()
        settled = Names(infix, max(addresses, default=0) + 1, self.seen)
        for kind, names in self.known.items():
            for name in sorted(names) if kind not in _FOUND_IN_TEXT else ():
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
        if kind not in _FOUND_IN_TEXT:
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

    # text

    def text(self, text: str, kept: KeptWords) -> str:
        """Free text, of which only names of fields, what `kept` lists and stand-ins are left."""
        return "".join(self._in_text(match, text, kept) for match in _TOKEN.finditer(text))

    def _in_text(self, match: re.Match[str], text: str, kept: KeptWords) -> str:
        if match["colons"] is not None:
            return self._with_colons(match[0], kept)
        token = match["token"]
        if token is None:
            return match[0]
        if is_read(token) or token == _NOT_KNOWN or ((token in kept.words or token in labels()) and _OF_LABEL.match(text, match.end())):
            return token
        bare = token.rstrip(".")
        if bare in kept.values and not (bare in self.whole and _TOPIC_BEFORE.search(text, 0, match.start())):
            return token
        if (known := self._name(bare)) is not None:
            return known + token[len(bare) :]
        if "/" in token or "\\" in token:
            return "".join(step if step in "/\\" else self.step(step) for step in _STEP.split(token))
        return self._parted(token, kept)

    def _with_colons(self, text: str, kept: KeptWords) -> str:
        """An IPv6 address, or pieces between colons: a MAC address, a time, an offset of a partition."""
        for address in (text, text.rpartition(":")[0]):
            if ":" in address and (found := self._address(address)) is not None:
                return found + self.text(text[len(address) :], kept)
        return ":".join(piece if piece in kept.values else self._name(piece) or self._parted(piece, kept) for piece in text.split(":"))

    def without_hexadecimal(self, text: str) -> str:
        """The text with hexadecimal numbers hidden that are no names."""
        return _HEXADECIMAL.sub(lambda found: found[0] if found[0] in self.whole else HEXADECIMAL[bool(found[0].strip("0x"))], text)

    def said(self, text: str) -> str:
        """A part of a message as one stand-in, with the blanks and marks around it."""
        inner = text.strip(" \t.,:;()[]'\"")
        if not inner:
            return text if len(text) <= _SHORT else " "
        begin = text.index(inner)
        before, after = text[:begin], text[begin + len(inner) :]
        return f"{before[-_SHORT:]}{self.add('word', inner)}{after[:_SHORT]}"

    def setting(self, key: str, value: str, values: Set[str] | None = None) -> str:
        """The value of a setting: numbers of settings that this tool reads, words of Kafka, and stand-ins. `values`: the
        numbers that a reader took from these settings, if it does not read all."""
        value = masked(key, value)
        numeric = is_read(key) and NUMERIC.fullmatch(value.strip()) is not None
        if value == HIDDEN or (numeric and (values is None or value.strip() in values)):
            return value
        return self.whole.get(value.strip()) or self.text(value, KeptWords(of_code() | of_paths(), self.seen.nodes | self.seen.ports))

    def _name(self, token: str) -> str | None:
        """The stand-in of a whole token: of a name, an id, the directory of a partition, an address."""
        if token in self.whole:
            return self.whole[token]
        if is_id(token):
            return token if token in self.seen.ids else self.add("id", token)
        partition = _PARTITION.fullmatch(token)
        if partition is not None and (known := self.whole.get(partition["name"])) is not None:
            number = partition["number"] if (partition["name"], partition["number"]) in self.seen.partitions else "0"
            mark = partition["mark"] or ""
            if _RANDOM_MARK.fullmatch(mark) is None:
                mark = mark and hashlib.sha256(mark.encode()).hexdigest()[:32]
            return f"{known}-{number}{mark and '.'}{mark}{partition['state'] or ''}"
        return self._address(token) if _V4.fullmatch(token) else None

    def path(self, path: str) -> str:
        """A path inside the evidence, rebuilt: nothing leads out of the directory that the copy is unpacked to."""
        parts = (_UNSAFE.sub("_", self.step(part)).strip(" ") for part in _STEP.sub("/", path).split("/") if part)
        return "/".join(part for part in parts if part.strip(".")) or "file"

    def step(self, step: str) -> str:
        """A step of a path, or the name of a writer, of which words for Kafka's files, ids of nodes, offsets of segments and the ends of
        names of rolled logs are left; different ones stay different."""
        if (known := self._name(step)) is not None:
            return known
        numbers = re.findall(r"\d+", step)
        values = {n for n in numbers if (n.lstrip("0") or "0") in self.seen.nodes}
        if (ordinal := _ORDINAL.search(step)) is not None:
            values.add(ordinal[1])
        kept, pieces, at = KeptWords(of_paths(), values), [], 0
        for found in _OF_FILES.finditer(step):
            pieces += [self._parted(step[at : found.start()], kept, distinct=True), found[0]]
            at = found.end()
        return "".join([*pieces, self._parted(step[at:], kept, distinct=True)])

    def _parted(self, token: str, kept: KeptWords, *, distinct: bool = False) -> str:
        """A token of which listed pieces stay, and names; what is between them becomes one stand-in. `distinct`: also if it is short."""
        out, run, marks = "", "", ""
        for text, stays in self._pieces(token, kept, distinct):
            if stays is None:
                marks += text
            elif stays:
                out, run, marks = f"{out}{self._hidden(run, distinct)}{_mark(marks)}{text}", "", ""
            elif run:
                run, marks = run + marks + text, ""
            else:
                out, run, marks = out + _mark(marks), text, ""
        return f"{out}{self._hidden(run, distinct)}{_mark(marks)}"

    def _pieces(self, token: str, kept: KeptWords, distinct: bool) -> Iterator[tuple[str, bool | None]]:
        """Words, numbers and names with whether they stay, and the marks between them."""
        parts = [(match[0], match.lastgroup) for match in _PIECE.finditer(token)]
        at = 0
        while at < len(parts):
            text, kind = parts[at]
            if kind == "word":
                own = distinct and text in kept.words  # a topic may be called `log`, and so is each log
                ends = (end for end in range(len(parts), at, -1) if parts[end - 1][1] == "word" and not own)
                names = ((end, self.whole.get("".join(t for t, _ in parts[at:end]))) for end in ends)
                end, known = next(((end, known) for end, known in names if known is not None), (at, None))
                if known is not None:
                    yield known, True
                    at = end
                    continue
                stays = text in kept.values if text.isdigit() else len(text) > 1 and (text in kept.words or text in HEXADECIMAL)
                yield text, stays
            else:
                yield text, None if kind == "mark" else False
            at += 1

    def _hidden(self, text: str, distinct: bool) -> str:
        if distinct or not text:
            return self.add("word", text)
        if re.fullmatch(r"[0-9._-]+", text):
            return re.sub(r"\d+", "0", text)
        return self.add("word", text) if len(text) > _SHORT else SHORT

    def _address(self, text: str) -> str | None:
        """The stand-in of an IP address; None if it is none."""
        try:
            address = ipaddress.ip_address(text)
        except ValueError:
            return None
        if address.is_loopback or address.is_unspecified:
            return text
        known = self.known["address"]
        if text not in known:
            number = len(known) + self._first_address
            known[text] = str(_TEST_NETWORK + number) if address.version == 4 else str(_DOCUMENTATION + number)
        return known[text]

    @property
    def guarded(self) -> list[str]:
        """Names that are also words in Kafka's statements, where these words stay."""
        return sorted(name for kind, own in self.known.items() if kind not in _FOUND_IN_TEXT for name in own if name in everything())

    @property
    def stand_ins(self) -> re.Pattern[str]:
        """Matches the stand-ins of this copy."""
        return re.compile(rf"(?:{'|'.join(KINDS)}){self._infix}[a-z]{{{_WIDTH}}}(?:A{{9,10}})?")

    def mapping(self) -> Mapping[str, Mapping[str, str]]:
        return {kind: dict(sorted(own.items())) for kind, own in self.known.items() if own}


def _mark(text: str) -> str:
    return text if not text or text in _MARKS else "-"


def _infixes() -> Iterator[str]:
    yield from _INFIXES
    yield from (a + b for a in _INFIXES for b in _INFIXES)


def is_address(text: str) -> bool:
    return _V4.fullmatch(text) is not None

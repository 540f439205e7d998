"""Words: the only place that makes sentences.

Here: the words of a finding and of a message. Not here: their values (forensics.rules), or where they are shown (forensics.views).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from forensics.incidents.incidents import Incident
from forensics.model.findings import BROKERS, OF_STEPS, PARTITIONS, PLACES, Finding
from forensics.model.message import Message, Value
from forensics.model.settings.settings import WRITTEN_BY_BROKERS
from forensics.thresholds import NAMED
from forensics.words import catalogue
from forensics.words.formats import FORMATS, OF_TEXTS, counted, some, usual
from forensics.words.template import Known, alone, filled, names, sentences

CLIENT_PARTITIONS = "client_partitions"
"""The partitions in a step, without those of internal topics: only brokers write to these."""
SAVES = "!"
"""With this begins a step that saves what a later step, or the start of a broker, may destroy."""


WEAKENED = ("doubt", "contradicted")
"""Values that say why a finding is less sure than its own evidence."""


class Step(NamedTuple):
    """What to do next. Two steps are the same if they differ in nothing but the partitions."""

    template: str
    values: tuple[tuple[str, Value], ...]
    partitions: tuple[str, ...]

    @property
    def saves(self) -> bool:
        return self.template.startswith(SAVES)

    @property
    def text(self) -> str:
        of_clients = tuple(p for p in self.partitions if (p.rpartition("-")[0] or p) not in WRITTEN_BY_BROKERS)
        known = {**dict(self.values), PARTITIONS: self.partitions, CLIENT_PARTITIONS: of_clients}
        own = filled(self.template.removeprefix(SAVES), known, formatted) or ""
        return f"{own} {_phrase('report/every', {})}" if own and self.saves and len(self.partitions) > NAMED else own


class Words(NamedTuple):
    """What a finding says."""

    summary: str
    explanation: str
    next_steps: tuple[str, ...]


def text(message: Message) -> str:
    """The words of a phrase, or the summary of a finding."""
    own = dict(message.values)
    if (found := catalogue.templates(message.id)) is not None:
        return filled(found.summary, own, formatted) or ""
    phrase = catalogue.phrase(message.id)
    return (filled(phrase, own, formatted) or "") if isinstance(phrase, str) else " ".join(sentences(phrase, own, formatted))


def parts(message: Message) -> list[str]:
    """The words of a phrase that is a list, each by itself; those that name something unknown are left out."""
    own = (filled(part, dict(message.values), formatted) for part in catalogue.phrase(message.id))
    return [part for part in own if part is not None]


def has_words(id: str) -> bool:
    """Whether the catalogue has this phrase."""
    return catalogue.has_phrase(id)


def words(finding: Finding) -> Words:
    """The sentences of a finding, those of one event or of what recurs as one."""
    own, first, whole = _of_message(finding.message_id), finding.known, together(finding)
    ways = {fold.how for fold in finding.folds}
    template = own.many if own.many is not None and ways & {PLACES, BROKERS} else own.summary
    summary = filled(template, {**whole, "place": _places(finding)} if PLACES in ways else whole, formatted)
    summary = summary or catalogue.meaning(finding.kind)
    explanation = " ".join(sentences(own.explanation, first, formatted))
    for fold in finding.folds:
        known = {**dict(fold.values), "summary": summary, "explanation": explanation, "many": own.many}
        summary = _phrase(f"fold/{fold.how}-summary", known) or summary
        explanation = _phrase(f"fold/{fold.how}-explanation", known) or explanation
    for name, why in finding.values:
        if name in WEAKENED and why is not None:
            explanation = f"{explanation} {_phrase(f'finding/{name}', {name: why})}"
    return Words(summary, explanation, tuple(step.text for step in steps(finding)))


def title_of(incident: Incident) -> str:
    """How records were lost, what did not work because of all its causes, or else its first cause."""
    return _phrase("incident/title", dict(incident.values)) or ""


def of_incident(incident: Incident) -> Words:
    known = dict(incident.values)
    return Words(_phrase("incident/summary", known) or "", text(Message("incident/explanation", incident.values)), ())


def summary(finding: Finding) -> str:
    return words(finding).summary


def step(id: str, partitions: tuple[str, ...] = (), **values: Value) -> Step:
    template = catalogue.phrase(id)
    assert isinstance(template, str)
    return Step(template, tuple(values.items()), partitions)


def steps(finding: Finding) -> list[Step]:
    """The steps, with those first that save what a later step may destroy."""
    known, partitions = together(finding), defaultdict[Step, dict[str, None]](dict)
    differing = known.get(OF_STEPS)
    for message in differing if isinstance(differing, tuple) else (Message(finding.message_id),):
        assert isinstance(message, Message)
        for template in _of_message(message.id).next_steps:
            for own in _steps(template, {**known, **dict(message.values)}):
                partitions[own._replace(partitions=())].update(dict.fromkeys(own.partitions))
    found = [own._replace(partitions=tuple(names)) for own, names in partitions.items()]
    return sorted(found, key=lambda step: not step.saves)


def together(finding: Finding) -> dict[str, Value]:
    """The values of one event; those of what recurs are those of the first time."""
    merging = [fold for fold in finding.folds if fold.how in (PLACES, BROKERS)]
    return finding.known | (finding.stated | {name: value for fold in merging for name, value in fold.values} if merging else {})


def _steps(template: str, known: Known) -> Iterator[Step]:
    """A step that is a message names the partitions that the message gives, else those of the finding."""
    if (name := alone(template)) is not None and isinstance(own := known.get(name), tuple):
        for message in own:
            assert isinstance(message, Message)
            phrase = catalogue.phrase(message.id)
            for each in (phrase,) if isinstance(phrase, str) else phrase:
                yield from _steps(each, {**known, **dict(message.values)})
        return
    used = names(template)
    own = tuple((name, known.get(name)) for name in sorted(used - {PARTITIONS, CLIENT_PARTITIONS}))
    partitions = known[PARTITIONS] if used & {PARTITIONS, CLIENT_PARTITIONS} else ()
    assert isinstance(partitions, tuple)
    step = Step(template, own, tuple(map(str, partitions)))
    if step.text:
        yield step


def _of_message(id: str) -> catalogue.Templates:
    found = catalogue.templates(id)
    assert found is not None
    return found


def _places(finding: Finding) -> str:
    names_of = list(dict.fromkeys(p.name for p in finding.places))
    what = "topic" if finding.places[0].partition is None else "partition"
    return f"{counted(len(names_of), what)} ({some(names_of)})"


def _phrase(id: str, known: Known) -> str | None:
    phrase = catalogue.phrase(id)
    assert isinstance(phrase, str)
    return filled(phrase, known, formatted)


def formatted(value: Value, format: str) -> str:
    name, _, rest = format.partition(" ")
    if name in OF_TEXTS and isinstance(value, tuple):
        return OF_TEXTS[name]([formatted(v, "") for v in value], rest)
    if name in FORMATS:
        return FORMATS[name](value, rest)
    if isinstance(value, tuple):
        return some([formatted(v, "") for v in value])
    return text(value) if isinstance(value, Message) else usual(value)

"""No expression takes time by the square of a text: everybody may write one, and it may have megabytes."""

from __future__ import annotations

import re

import pytest

from tests.support.growth import Applied, applied, superlinear

MATCHED = {
    "parsers.catalogue.layouts_in_use.PASTED",
    "parsers.formats.cluster_tools._FAILED",
    "parsers.formats.cluster_tools._LINES",
    "parsers.patterns.pattern._BRACKETS",
}
"""Applied at the beginning of a text only, which is not clear from the module: elements of a list, and a substitution of one."""
SHORT = {
    "forensics.tools.redaction.in_place._ATOM": "expressions of patterns",
    "forensics.tools.redaction.vocabulary._DOCUMENTATION": "the modules of this tool",
    "forensics.tools.redaction.vocabulary._LITERAL": "the modules of this tool",
    "forensics.tools.redaction.vocabulary._MIXED": "texts of the readers and patterns",
    "parsers.layouts._COMPONENT": "a name in brackets (at most 400 characters), or the start of a sample of lines",
    "parsers.layouts._CONTEXT": "a name of at most layouts.LONG_NAME characters",
    "parsers.patterns.expand.errors._STORAGE_ERROR": "the beginning of an exception (errors._LONGEST)",
    "parsers.paths._LOG_NAMES": "a path, whose length is limited where files are listed",
    "parsers.patterns.pattern._AROUND": "samples of patterns",
    "parsers.learning.worth._LAST_NAME": "the last characters of a message (worth.TAIL)",
}
"""Applied to texts of a few hundred characters at most, and where these are cut."""


def test_the_measure_finds_what_is_quadratic() -> None:
    bad = [r"\d+x", r"\s+$", r"^\S* ?\d+\.\d+: x", r"a.*b.*c", r"(?:a+)+b", r'"[^"]*,[^"]*"$', r"X.*Y", r"a[^b]*b"]
    good = [r"\d+", r"(?<!\d)\d+x", r"^\S{0,40} \d", r"[a-z]*;?"]
    found = {text: Applied(re.compile(text), methods={"search"}) for text in (*bad, *good)}
    assert superlinear(found).keys() == set(bad)
    assert superlinear({r"\d+x": Applied(re.compile(r"\d+x"), methods={"match"})}) == {}


@pytest.mark.parametrize("package", ["parsers", "forensics"])
def test_no_expression_is_superlinear(package: str) -> None:
    every, _ = applied(package)
    found = {}
    for one in every:
        if one.names & MATCHED:
            one.methods = {"match"}
        if not one.names & SHORT.keys():
            found[min(one.names)] = one
    assert len(found) > 100
    assert superlinear(found) == {}

"""The findings as SARIF 2.1.0, for viewers that show results next to the analysed files (OASIS, sarif-v2.1.0-os).

Here: a rule for each kind of finding, a result for each finding, an artifact for each source. Not here: the document they are made from.
Log text is hostile: characters that would control a viewer are replaced by visible ones.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from forensics.model.findings import Rule
from forensics.output.sanitise import cleaned
from forensics.proof.verdict import INTACT
from forensics.rules import rules
from forensics.views.document import Report

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
BASE = "EVIDENCE"
"""Base of relative paths: the location of the evidence."""
LEVELS: Mapping[str, str] = {"critical": "error", "high": "error", "medium": "warning", "low": "note", "info": "note"}
FINGERPRINT = "findingId/v1"
ELSEWHERE = frozenset({"id", "kind", "summary", "explanation", "evidence"})
"""Fields of a finding that have a place of their own in a result; the other fields are properties."""


def pieces(report: Report) -> Iterator[str]:
    yield from json.JSONEncoder(indent=1, ensure_ascii=False).iterencode(log(report))
    yield "\n"


def log(report: Report) -> dict[str, Any]:
    """The sarifLog object."""
    document = report.document(proof=False)
    artifacts = {s["path"]: n for n, s in enumerate(document["evidence"]["sources"])}
    command = ["kafka-forensics", *document["tool"]["command"]]
    own = rules()
    numbers = {rule.kind: n for n, rule in enumerate(own)}
    run = {
        "tool": {
            "driver": {
                "name": "kafka-forensics",
                "version": document["tool"]["version"],
                "rules": [_rule(rule) for rule in own],
                "properties": {"rules": document["tool"]["rules"]},
            }
        },
        "invocations": [{"executionSuccessful": True, "commandLine": shlex.join(command), "arguments": command[1:]}],
        "originalUriBaseIds": {BASE: {"description": {"text": "Where the evidence was collected; paths are as the report has them."}}},
        "artifacts": [_artifact(s) for s in document["evidence"]["sources"]],
        "columnKind": "unicodeCodePoints",
        "results": [_result(f, artifacts, numbers[f["kind"]]) for f in document["findings"]],
        "properties": {
            "schema": document["schema"],
            "verdict": document["verdict"],
            "partitions": [p for p in document["partitions"] if p["verdict"] != INTACT],
            "incidents": document["incidents"],
            "cluster": {name: document["cluster"][name] for name in ("id", "mode", "brokers")},
            "notCollected": document["evidence"]["not_collected"],
            "gaps": document["evidence"]["gaps"],
        },
    }
    shown: dict[str, Any] = cleaned({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})
    return shown


def _rule(rule: Rule) -> dict[str, Any]:
    help_ = [rule.meaning, *(f"Not this: {cause}" for cause in rule.benign), *rule.next_steps]
    if rule.references:
        help_.append(f"See {', '.join(rule.references)}.")
    return {
        "id": rule.kind,
        "shortDescription": {"text": rule.meaning},
        "help": {"text": "\n".join(help_)},
        "properties": {"level": rule.level},
    }


def _artifact(source: Mapping[str, Any]) -> dict[str, Any]:
    artifact: dict[str, Any] = {"location": {"uri": _uri(source["path"]), "uriBaseId": BASE}}
    if source["bytes"] is not None:
        artifact["length"] = source["bytes"]
    if source["sha256"] is not None:
        artifact["hashes"] = {"sha-256": source["sha256"]}
    return artifact | {"properties": {name: source[name] for name in ("broker", "kind", "lines", "first", "last", "problem")}}


def _uri(path: str) -> str:
    """A relative reference; an absolute path in the evidence is placed below its root."""
    return quote(path.lstrip("/"), safe="/", errors="replace")


def _result(finding: Mapping[str, Any], artifacts: Mapping[str, int], rule: int) -> dict[str, Any]:
    places = [_location(e, artifacts) for e in finding["evidence"]]
    named = [p for p in (finding.get("places") or [finding]) if p["topic"] is not None]
    if places and named:
        names = dict.fromkeys(f"{p['topic']}-{p['partition']}" for p in named)
        places[0]["logicalLocations"] = [{"fullyQualifiedName": name, "kind": "partition"} for name in names]
    return {
        "ruleId": finding["kind"],
        "ruleIndex": rule,
        "level": LEVELS[finding["severity"]],
        "message": {"text": f"{finding['summary']}\n{finding['explanation']}"},
        "locations": places[:1],
        "relatedLocations": [{"id": n, **place} for n, place in enumerate(places[1:])],
        "fingerprints": {FINGERPRINT: finding["id"]},
        "properties": {name: value for name, value in finding.items() if name not in ELSEWHERE},
    }


def _location(evidence: Mapping[str, Any], artifacts: Mapping[str, int]) -> dict[str, Any]:
    artifact: dict[str, Any] = {"uri": _uri(evidence["source"]), "uriBaseId": BASE}
    if evidence["source"] in artifacts:
        artifact["index"] = artifacts[evidence["source"]]
    where = {"startLine": evidence["line"]} if evidence["line"] is not None else {"byteOffset": evidence["byte"]}
    place: dict[str, Any] = {"artifactLocation": artifact}
    if None not in where.values():
        place["region"] = {**where, "snippet": {"text": evidence["text"]}}
        return {"physicalLocation": place}
    return {"physicalLocation": place, "message": {"text": evidence["text"]}}

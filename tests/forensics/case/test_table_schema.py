"""The JSON Schemas of the report and of all tables: valid, strict, and true of what is written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from forensics.case.tables import BY_NAME, TABLES
from forensics.cli import cli
from forensics.commands.schema import schemas
from forensics.model.findings import CONFIDENCES, LEVELS
from forensics.proof.verdict import VERDICTS
from forensics.rules import RULES
from tests.forensics.case.test_case import make
from tests.support import recorded
from tests.support.schemas import of_rows, validator, violations

NAMES = ("clients-unclean-3.9.1-kraft", "delete-recreate-retention-2.8.2-zk", "log-dir-failure-3.9.1-kraft")
"""Bundles with consumer groups and salvageable records, with several clusters or topics of one name, and with KRaft controllers."""


def nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """Every part of a schema."""
    if isinstance(schema, dict):
        yield schema
        for value in schema.values():
            yield from nodes(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from nodes(value)


@pytest.mark.parametrize("name", schemas())
def test_a_schema_is_valid_and_names_every_property(name: str) -> None:
    printed = CliRunner().invoke(cli, ["schema", name])
    schema = json.loads(printed.stdout)
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema" and schema["$id"].startswith("urn:kafka-forensics:")
    objects = [node for node in nodes(schema) if node.get("type") in ("object", ["object", "null"])]
    assert objects and all(node["additionalProperties"] is False for node in objects if "properties" in node)
    named = {"options", "metrics", "weights", "fields", "values"}
    free = {
        key
        for node in nodes(schema)
        for key, own in node.items()
        if isinstance(own, dict) and own.get("type") == "object" and "properties" not in own
    }
    assert free <= named


def test_ids_and_names_of_schemas_are_unique_and_every_table_has_one() -> None:
    made = {name: make_schema() for name, make_schema in schemas().items()}
    assert len({schema["$id"] for schema in made.values()}) == len(made)
    assert {table.name for table in TABLES} <= set(made)
    listed = CliRunner().invoke(cli, ["schema"]).stdout
    assert [line.split()[0] for line in listed.splitlines()] == list(made)


def test_words_with_a_fixed_set_are_enums() -> None:
    report = schemas()["report"]()["properties"]
    finding = report["findings"]["items"]["properties"]
    assert set(finding["kind"]["anyOf"][0]["enum"]) == {rule.kind for rule in RULES}
    assert set(finding["severity"]["enum"]) == set(LEVELS) and set(finding["confidence"]["enum"]) == set(CONFIDENCES)
    assert set(report["partitions"]["items"]["properties"]["verdict"]["enum"]) == set(VERDICTS)
    assert set(report["verdict"]["properties"]["partitions"]["required"]) == set(VERDICTS)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("findings", 0, "kind"), "no-such-kind"),
        (("findings", 0, "extra"), 1),
        (("partitions", 0, "verdict"), "fine"),
        (("partitions", 0, "since"), "yesterday"),
        (("evidence", "sources", 0, "sha256"), "abc"),
        (("cluster", "brokers", 0, "id"), "1"),
        (("verdict", "partitions", "lost"), None),
        (("schema",), "kafka-forensics/report/2"),
    ],
)
def test_a_wrong_value_is_not_allowed(place: tuple[str | int, ...], value: object) -> None:
    document = json.loads(recorded.report("acks1-failover-1.1.1-zk").json())
    assert violations("report", [document]) == []
    at: Any = document
    for step in place[:-1]:
        at = at[step]
    at[place[-1]] = value
    assert len(violations("report", [document])) == 1


@pytest.mark.parametrize("name", NAMES)
def test_rows_of_a_case_are_what_the_schemas_say(name: str, tmp_path: Path) -> None:
    events = recorded.events(name)
    make(tmp_path / "a.case", events)
    for schema, table in BY_NAME.items():
        rows = pq.read_table(tmp_path / "a.case" / table.file)
        assert of_rows(schema, rows.slice(0, 400)) == [], schema
        assert len(rows) or schema in ("records", "measures")


def test_a_difference_and_an_inventory_are_what_their_schemas_say(tmp_path: Path) -> None:
    for name in NAMES[1:]:
        make(tmp_path / f"{name}.case", recorded.events(name))
    done = CliRunner().invoke(cli, ["diff", *(str(tmp_path / f"{name}.case") for name in NAMES[1:]), "--json", "-"])
    assert violations("diff", [json.loads(done.stdout)]) == []
    inspected = CliRunner().invoke(cli, ["inspect", str(tmp_path / f"{NAMES[1]}.case"), "--json", "-"])
    assert violations("inventory", [json.loads(inspected.stdout)]) == []
    assert validator("diff").is_valid({}) is False

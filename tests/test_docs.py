"""The pages of the documentation: their generated parts, links, and the files that they name."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import yaml

from docs import hooks
from docs.tables import PARTS, pages, written
from forensics.cli import cli
from tests.support.paths import ROOT

PAGES = [*sorted((ROOT / "docs").glob("*.md")), *sorted(ROOT.glob("*.md"))]
BUILT = {f"{name}.md" for name in hooks.MADE}
NAMED = re.compile(r"(?<![\w/.-])(?:parsers|spark|forensics|fixtures|tests|benchmarks|docs|requirements)/[\w/.-]*\w/?(?![\w*<…-])")
INVENTED = re.compile(r"YOUR|NAME|KIND")
"""In names of files that a contributor writes."""


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.stem)
def test_generated_parts_are_those_of_the_code(page: Path) -> None:
    text = page.read_text("utf-8")
    assert written(text) == text, "run python -m docs.tables"


def test_every_generated_part_has_a_page() -> None:
    text = "".join(page.read_text("utf-8") for page in pages())
    assert set(PARTS) <= set(re.findall(r"<!-- end of (\S+) -->", text))


def anchors(page: Path) -> set[str]:
    """The anchors that headings have on GitHub and on the site."""
    headings = re.findall(r"(?m)^#+ (.+)$", re.sub(r"(?ms)^```.*?^```", "", page.read_text("utf-8")))
    return {re.sub(r"[^\w-]", "", re.sub(r"\]\(.*?\)", "", heading).strip().lower().replace(" ", "-")) for heading in headings}


def links(page: Path) -> Iterator[tuple[str, str]]:
    for address in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"(?ms)^```.*?^```", "", page.read_text("utf-8"))):
        if "://" not in address:
            path, _, anchor = address.partition("#")
            yield path, anchor


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_to_pages_and_headings(page: Path) -> None:
    broken = []
    for path, anchor in links(page):
        target = page.parent / path if path else page
        if target.name not in {*BUILT, "collect.sh"} and (not target.exists() or (anchor and anchor not in anchors(target))):
            broken.append(f"{path}#{anchor}")
    assert broken == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_files_that_a_page_names_exist(page: Path) -> None:
    named = {name.rstrip("/.") for name in NAMED.findall(page.read_text("utf-8")) if not INVENTED.search(name)}
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_of_a_page_can_be_typed(page: Path) -> None:
    """Every option exists, and every argument that a command needs is there."""
    blocks = re.findall(r"(?ms)^```(?:sh|console)\n(.*?)^```", page.read_text("utf-8"))
    lines = re.findall(r"(?m)^(?:\$ )?kafka-forensics (.*)", "\n".join(blocks).replace("\\\n", " "))
    for line in lines:
        name, *words = shlex.split(re.split(r" [|>] ", line)[0], comments=True)
        command = cli.get_command(click.Context(cli), name)
        assert command is not None, line
        context = click.Context(command, info_name=name)
        given, _, _ = command.make_parser(context).parse_args([word for word in words if word not in ("-h", "--help")])
        missing = [p.name for p in command.params if p.required and not given.get(p.name) and "--help" not in words]
        assert missing == [], line


def test_the_site_has_every_page_once() -> None:
    def listed(item: object) -> Iterator[str]:
        for value in item if isinstance(item, list) else item.values() if isinstance(item, dict) else ():
            yield from [value] if isinstance(value, str) else listed(value)

    nav = sorted(listed(yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))["nav"]))
    assert nav == sorted([page.name for page in (ROOT / "docs").glob("*.md")] + [*BUILT])


@pytest.mark.parametrize("name", [*hooks.MADE, *hooks.LISTS])
def test_pages_that_the_site_makes_from_the_code_can_be_made(name: str) -> None:
    assert "\n".join((hooks.MADE | hooks.LISTS)[name]()).count("\n") > 2
    pages_with = [page for page in PAGES if f"<!-- {name} -->" in page.read_text("utf-8")]
    assert (name in hooks.LISTS) == (pages_with != [])

"""Pages that mkdocs makes from the code while it builds the site: rules, patterns, commands, output formats, CONTRIBUTING.md,
CHANGELOG.md, JSON Schemas, and the script collect.sh."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from forensics.cli import cli
from forensics.commands.collect import script
from forensics.commands.schema import schemas, text
from forensics.exemplars import exemplars_of
from forensics.formats import FORMATS
from forensics.output.format import DirectoryFormat
from forensics.rules import RULES
from forensics.views.markdown import block, code, prose
from parsers import package_data
from parsers.patterns import PATTERNS

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

ROOT = Path(__file__).parents[1]
WIDTH = 100
TRACKERS = {
    re.compile(r"\bKAFKA-\d+\b"): "https://issues.apache.org/jira/browse/{}",
    re.compile(r"\bKIP-\d+\b"): "https://cwiki.apache.org/confluence/display/KAFKA/Kafka+Improvement+Proposals",
}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    from mkdocs.structure.files import File

    for name, page in MADE.items():
        files.append(File.generated(config, f"{name}.md", content="\n".join(page()) + "\n"))
    files.append(File.generated(config, "collect.sh", content=script()))
    for name, schema in schemas().items():
        files.append(File.generated(config, f"schemas/{name}.schema.json", content=text(schema())))
    return files


def on_page_markdown(markdown: str, **_: object) -> str:
    return re.sub(rf"<!-- ({'|'.join(LISTS)}) -->", lambda match: "\n".join(LISTS[match[1]]()), markdown)


def fragments() -> Iterator[str]:
    yield from ("```toml", package_data.text("parsers.patterns", "fragments.toml").rstrip(), "```")


def formats() -> Iterator[str]:
    yield from ("| option | writes |", "|---|---|")
    for format in FORMATS:
        yield f"| `{format.option} {'DIR' if isinstance(format, DirectoryFormat) else 'FILE'}` | {prose(format.help)} |"


def listed_schemas() -> Iterator[str]:
    yield from ("| schema | describes |", "|---|---|")
    for name, schema in schemas().items():
        yield f"| [{name}](schemas/{name}.schema.json) | {prose(schema()['title'])} |"


def linked(reference: str) -> str:
    for form, address in TRACKERS.items():
        reference = form.sub(lambda match, address=address: f"[{match[0]}]({address.format(match[0])})", reference)
    return reference


def rules() -> Iterator[str]:
    yield f"# Every rule\n\nThe {len(RULES)} kinds of findings, as `kafka-forensics rules KIND` explains them, the most severe first. The small incidents"
    yield "under a rule are its tests: incidents that the rule must find, and near misses that it must not find."
    yield "[Your own rules](own-rules.md) explains how to add a rule without a change to kafka-forensics."
    for rule in RULES:
        yield f"\n## {rule.kind}\n\nLevel: **{rule.level}**. {prose(rule.meaning)}\n"
        yield from (f"- Not this: {prose(cause)}" for cause in rule.benign)
        if rule.references:
            yield f"\nSee {', '.join(linked(prose(r)) for r in rule.references)}."
        yield ""
        for exemplar in exemplars_of(rule.kind):
            yield f"- *{'found' if exemplar.found else 'not found'}* in {code(exemplar.name)}: {prose(exemplar.story)}"


def patterns() -> Iterator[str]:
    relevant = [p for p in PATTERNS if p.event != "irrelevant"]
    by_event = defaultdict(list)
    for p in relevant:
        by_event[p.event].append(p)
    silent = len(PATTERNS) - len(relevant)
    yield f"# Every line pattern\n\n{len(relevant)} patterns read events from log lines. This page lists them by kind of event. Another {silent} patterns match"
    yield "lines that state nothing relevant, so that these lines are not counted as unknown (`kafka-forensics patterns --event irrelevant`). Each"
    yield "pattern is proven by sample lines; the first sample is shown. [Coverage](coverage.md) lists the log statements of each Kafka version"
    yield "that the patterns cover. [Your own line patterns](own-patterns.md) explains how to add patterns without a change to kafka-forensics."
    for event, of_event in sorted(by_event.items()):
        yield f"\n## {event}\n"
        for p in of_event:
            yield f"\n**{prose(p.name)}**, Kafka {p.versions[0]} to {p.versions[1]}\n"
            yield from block(p.samples[0].line.splitlines())


def commands() -> Iterator[str]:
    yield "# Commands\n\nAs `--help` prints them.\n"
    group = click.Context(cli, info_name="kafka-forensics", terminal_width=WIDTH, max_content_width=WIDTH)
    yield from block(cli.get_help(group).splitlines())
    for name in cli.list_commands(group):
        command = cli.get_command(group, name)
        yield f"\n## {name}\n"
        yield from block(command.get_help(click.Context(command, parent=group, info_name=name, terminal_width=WIDTH)).splitlines())


def changelog() -> Iterator[str]:
    yield (ROOT / "CHANGELOG.md").read_text("utf-8")


def contributing() -> Iterator[str]:
    """CONTRIBUTING.md, with links that are relative to docs/. The file itself is in the root of the repository, where GitHub expects it."""
    yield (ROOT / "CONTRIBUTING.md").read_text("utf-8").replace("](docs/", "](")


MADE = {"rules": rules, "patterns": patterns, "commands": commands, "contributing": contributing, "changelog": changelog}
"""Whole pages."""
LISTS = {"formats": formats, "schemas": listed_schemas, "fragments": fragments}
"""Lists, each of which replaces a comment in a page."""

"""The help text of a command: description, examples, and options under headings.

Here: the command class, which also checks where results go before the command runs, and the heading of each option. Not here: the texts of
options.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from forensics.commands.config import ARGUMENTS
from forensics.commands.targets import OutputFile, check, conclude
from forensics.formats import FORMATS
from forensics.output.format import FileFormat

HEADINGS: Mapping[str, Sequence[str]] = {
    "Filters": (*("--topic", "--partition", "--broker", "--since", "--until", "--event", "--level", "--logger", "--grep", "--all"),),
    "Output": (
        "-o",
        *(format.option for format in FORMATS),
        "--format",
        "--keys-only",
        "--out",
        "--mapping",
        "--case",
        "--no-records",
        "--force",
    ),
    "Input": ("--cluster", "--against", "--layout", "--timezone", "--clock-offset", "--log-pattern", "--patterns", "--rules", "--limit"),
}
"""Other options are listed under the last heading."""
OTHERS = "Other options"
FILES = "files"
"""Parameter of -o, where it names files and not one result."""


UNFIT = (ArithmeticError, AssertionError, AttributeError, LookupError, NotImplementedError, RecursionError, TypeError, ValueError)
"""Errors that rows with other values than this tool writes can cause."""


class Unread(Exception):
    """The reader of stdout ended. Not an OSError: click would end with exit code 1, which means findings."""


class Command(click.Command):
    """A command whose help has examples: an aim, and the arguments for it. Commands are listed by `rank`, lowest first, each with its
    `summary`."""

    allow_extra_args = True
    """They are refused by parse_args, in its words."""

    def __init__(self, *args: Any, rank: int, summary: str | None, examples: Sequence[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.short_help = self.summary = summary or str(self.help).partition("\n\n")[0]
        self.rank, self.examples = rank, examples
        if (formats := by_extension(self.params)) and not any("-o" in param.opts for param in self.params):
            text = f"Write a file in the format of its extension: {', '.join(formats)} (may be repeated)."
            self.params.append(click.Option(["-o", FILES], multiple=True, metavar="FILE", help=text))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Errors about missing and additional words also show what to give."""
        ctx.meta[ARGUMENTS] = tuple(args)
        example = f"kafka-forensics {self.name} {self.examples[0][1]}".rstrip()
        try:
            rest = super().parse_args(ctx, args)
        except click.MissingParameter as error:
            raise click.UsageError(f"{error.format_message().rstrip('.')}; for example: {example}", ctx) from None
        except click.BadOptionUsage as error:
            option = next((p for p in self.get_params(ctx) if error.option_name in p.opts), None)
            if option is None or not isinstance(option, click.Option) or option.is_flag:
                raise
            raise click.UsageError(f"{error.option_name} needs a value: {error.option_name} {option.make_metavar(ctx)}", ctx) from None
        _by_name(ctx)
        if rest and not ctx.resilient_parsing:
            raise click.UsageError(f"there is one argument too many, {rest[0]!r}; for example: {example}", ctx)
        return rest

    def invoke(self, ctx: click.Context) -> Any:
        check(ctx)
        try:
            result = super().invoke(ctx)
        except click.exceptions.Exit:
            conclude()
            raise
        except click.ClickException as error:
            from forensics.commands.evidence import InvalidInput
            from forensics.commands.tables import as_given

            if (as_shown := as_given(error.message)) == error.message:
                raise
            raise InvalidInput(as_shown) from error
        except BrokenPipeError as error:
            raise Unread from error
        except Exception as error:
            from forensics.commands.evidence import InvalidInput
            from spark.failures import explained

            if (message := explained(error) or _of_case(ctx, error)) is None:
                raise
            raise InvalidInput(message) from error
        conclude()
        return result

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Examples"):
            for aim, arguments in self.examples:
                formatter.write_text(f"{aim}:")
                formatter.write(f"{'':{formatter.current_indent + 2}}kafka-forensics {self.name} {arguments}".rstrip() + "\n")
        options = [p for p in self.get_params(ctx) if isinstance(p, click.Option)]
        records = {p.opts[0]: record for p in options if (record := p.get_help_record(ctx)) is not None}
        for heading, names in (*HEADINGS.items(), (OTHERS, _without_heading(records))):
            if listed := [records[name] for name in names if name in records]:
                with formatter.section(heading):
                    formatter.write_dl(listed, col_max=24)


def described(rank: int, examples: Sequence[tuple[str, str]], summary: str | None = None) -> Callable[[Callable[..., Any]], Command]:
    """The command of a module, which has its name. `summary`: what the list of commands says, if it is not the first paragraph of its
    help."""

    def decorate(function: Callable[..., Any]) -> Command:
        name = function.__module__.rpartition(".")[2].replace("_", "-")
        return click.command(name, cls=Command, rank=rank, summary=summary, examples=examples)(function)

    return decorate


def by_extension(params: Sequence[click.Parameter]) -> Mapping[str, click.Parameter]:
    """The options that name a file, by the extension of its format; of two formats with one extension, the first in the list of formats."""
    files = {p.opts[0]: p for p in params if isinstance(p.type, OutputFile)}
    found: dict[str, click.Parameter] = {}
    for option, ending in ({f.option: f.extension for f in FORMATS if isinstance(f, FileFormat)} | {"--csv": ".csv"}).items():
        if option in files:
            found.setdefault(ending, files[option])
    return found


def _by_name(ctx: click.Context) -> None:
    """Gives each file of -o to the option of its format."""
    formats = by_extension(ctx.command.params)
    for path in ctx.params.pop(FILES, None) or ():
        if (param := formats.get(Path(path).suffix.lower())) is None:
            raise click.UsageError(f"-o {path}: the extension chooses the format, and is none of {', '.join(formats)}", ctx)
        if ctx.params[param.name or ""] is not None:
            raise click.UsageError(f"-o {path}: there is a file for {param.opts[0]} already; give one file for each format", ctx)
        ctx.params[param.name or ""] = param.type.convert(path, param, ctx)


def _of_case(ctx: click.Context, error: Exception) -> str | None:
    """What to do if the command reads a case, which a stranger may have made: then rows that no run of this tool writes are the likely
    cause."""
    from forensics.commands.defects import kept
    from forensics.commands.inputs import CASES

    if not ctx.meta.get(CASES) or not isinstance(error, UNFIT):
        return None
    what = " ".join(f"{type(error).__name__}: {error}".split())[:200]
    return f"{ctx.meta[CASES][-1]}: damaged, or not made by this tool ({what}); analyze the evidence again; {kept(error)}"


def _without_heading(names: Iterable[str]) -> list[str]:
    headed = {name for group in HEADINGS.values() for name in group}
    return [name for name in names if name not in headed]

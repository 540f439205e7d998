"""`kafka-forensics`: the command and its subcommands. Subcommands are loaded on demand, so that --help is quick.

Here: the group and the exit codes. Not here: what a command does (forensics.commands).
"""

from __future__ import annotations

import gc
import importlib
import io
import os
import pkgutil
import sys
from contextlib import suppress
from typing import NoReturn

import click

import forensics.commands
from forensics.commands.exit_codes import DEFECT, DONE, UNUSABLE
from forensics.commands.help import Command, Unread
from forensics.commands.names import similar
from forensics.output.sanitise import tolerate
from forensics.output.version import version
from forensics.start import forget, guard


class Commands(click.Group):
    """The commands: every module of forensics.commands with a `command`. Only the module of the command that runs is imported; a list of
    commands imports all."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [command.name or "" for command in self._all()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> Command | None:
        module = cmd_name.replace("-", "_")
        if module not in _modules():
            return None
        return getattr(importlib.import_module(f"forensics.commands.{module}"), "command", None)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            advice = similar(args[0], self.list_commands(ctx), "kafka-forensics --help lists all commands")
            raise click.UsageError(f"{args[0]!r} is not a command; {advice}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(command.name or "", command.summary) for command in self._all()])

    def _all(self) -> list[Command]:
        commands = (self.get_command(click.Context(self), name) for name in _modules())
        return sorted((command for command in commands if command is not None), key=lambda command: (command.rank, command.name))


def _modules() -> list[str]:
    return [module.name for module in pkgutil.iter_modules(forensics.commands.__path__)]


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(version(), prog_name="kafka-forensics")
def cli() -> None:
    """Report which records Kafka lost in an incident, when and why, from the files of its brokers.

    The evidence is one or more directories, archives or files with the logs and data directories of the brokers. `analyze --case DIR` keeps
    the result as a case, and the other commands read a case in about a second.

    \b
      kafka-forensics analyze incident.tar.gz
      kafka-forensics analyze broker-1/ broker-2/ broker-3/ --json report.json
      kafka-forensics analyze incident.tar.gz --case incident.case
      kafka-forensics audit /archive-of-many-clusters --out tables

    Every command has examples: kafka-forensics analyze --help. `rules` and `patterns` need no evidence.

    Results go to stdout, progress to stderr. Colours are used only on a terminal, and only if NO_COLOR is not set. The evidence is never
    changed. Exit codes: 0 done, 1 findings that --fail-on asks for, 2 wrong usage or unusable input, 3 not everything was judged, 70 a
    defect of this tool.

    \b
    To complete commands and options, add this line to the start-up file of the shell:
      bash   eval "$(_KAFKA_FORENSICS_COMPLETE=bash_source kafka-forensics)"
      zsh    eval "$(_KAFKA_FORENSICS_COMPLETE=zsh_source kafka-forensics)"
      fish   _KAFKA_FORENSICS_COMPLETE=fish_source kafka-forensics | source
    """


def main() -> None:
    """Entry point. Exit codes: forensics.commands.exit_codes. Nobody sees a traceback: errors that a user can repair print one line, and a
    defect prints one line that names a file with the trace."""
    guard()
    for stream in (sys.stdout, sys.stderr):
        tolerate(stream)
    # Events and findings are kept to the end. Looking for cycles among them every 700 objects would take a quarter of the run time.
    gc.set_threshold(100_000, 20, 20)
    try:
        code = cli(standalone_mode=False)
        sys.stdout.flush()
        sys.exit(code if isinstance(code, int) else DONE)
    except click.ClickException as error:
        from forensics.output.sanitise import clean

        message = io.StringIO()
        error.show(message)
        click.echo(clean(message.getvalue()), nl=False, err=True)  # a shell's * makes arguments of file names that other people chose
        sys.exit(error.exit_code)
    except (Unread, BrokenPipeError):  # whoever reads stdout, for example `head`, has read enough
        _end(DONE)
    except Exception as error:
        code, line = _failure(error)
        click.echo(line, err=True)
        _end(code)


def _failure(error: Exception) -> tuple[int, str]:
    """Exit code, and the line for stderr."""
    from spark.failures import explained

    if (message := explained(error)) is not None:
        return UNUSABLE, f"Error: {message}"
    if _spark_has_fallen():
        return (
            UNUSABLE,
            "Error: Spark ended before the work was done, most likely because it ran out of memory: give it more with --memory.",
        )
    from forensics.commands.defects import line_of

    return DEFECT, line_of(error)


def _end(code: int) -> NoReturn:
    """Ends the process at once: Python would try to write the rest of stdout once more, and pyspark would complain about a lost JVM."""
    forget()
    with suppress(OSError, ValueError):
        sys.stderr.flush()
    os._exit(code)


def _spark_has_fallen() -> bool:
    java = sys.modules.get("spark.java")
    return java is not None and java.has_fallen()

"""`kafka-forensics`: the command and its subcommands. Subcommands are loaded on demand, so that --help is quick.

Here: the group and the exit codes. Not here: what a command does (forensics.commands).
"""

from __future__ import annotations

import errno
import gc
import importlib
import io
import os
import signal
import sys
from typing import NoReturn

import click

from forensics.output.version import version

COMMANDS = {
    "analyze": "Say what was lost, when and why.",
    "report": "Tell what a case holds that analyze has kept, or all clusters of an audit.",
    "audit": "Judge an archive of many clusters and days; only what is new is read.",
    "inspect": "Say what was collected, and what is missing.",
    "timeline": "Tell one partition's story, a lane for each broker.",
    "merge": "Print the log lines of all brokers in one order of time.",
    "checkpoints": "Put checkpoint and epoch files of all brokers side by side.",
    "plan": "Write the election and reassignment files that would repair what was found.",
    "salvage": "Bring back lost records that a collected disk still holds.",
    "verify": "Check whether a case was made of this evidence, and whether its verdicts follow from it.",
    "redact": "Write a copy of evidence that may be handed on, names replaced.",
    "patterns": "List the log lines that are understood.",
    "rules": "List the findings that are looked for.",
}


ENDS: dict[int, str] = {signal.SIGINT: "Interrupted", signal.SIGTERM: "Terminated", signal.SIGHUP: "Hung up"}
"""Signals that end the process, with the word printed for each."""
NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}


class Lazy(click.Group):
    """A group whose commands are imported when they are run."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"forensics.commands.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=Lazy, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(version(), prog_name="kafka-forensics")
def cli() -> None:
    """Find out from the files of Kafka brokers which records were lost in an incident, when and why.

    Point it at what was collected: directories, archives or single files of brokers' logs and data directories;
    or, for an answer in a second, at a case that analyze made of them.

    \b
      kafka-forensics analyze incident.tar.gz
      kafka-forensics analyze broker-1/ broker-2/ broker-3/ --json report.json
      kafka-forensics analyze incident.tar.gz --case incident.case
      kafka-forensics audit /archive-of-many-clusters --out tables

    What needs no evidence: `rules` says what is looked for and what it means, `patterns` which log lines are understood. Every command has
    examples: kafka-forensics analyze --help.

    Results go to stdout, progress to stderr; colours only where a terminal shows them and NO_COLOR is not set. Exit codes: 0 done, 1 findings at or above --fail-on, 2 unusable input or usage.
    The evidence is only read, never changed.

    \b
    Completion of commands and options, for a shell's start-up file:
      bash   eval "$(_KAFKA_FORENSICS_COMPLETE=bash_source kafka-forensics)"
      zsh    eval "$(_KAFKA_FORENSICS_COMPLETE=zsh_source kafka-forensics)"
      fish   _KAFKA_FORENSICS_COMPLETE=fish_source kafka-forensics | source
    """


def ended(number: int, *_: object) -> NoReturn:
    """Ends the process at once on a signal. A normal unwind would let Python, Spark's workers and the JVM each print a traceback about the
    others' end. The JVM and its files go when this process does (spark.java)."""
    if "forensics.output.files" in sys.modules:
        sys.modules["forensics.output.files"].forget()
    if number != signal.SIGHUP:  # SIGHUP: the terminal is gone
        shown = "\x1b[?25h\n" if os.isatty(2) else ""  # the progress line hides the cursor
        os.write(2, f"{shown}{ENDS[number]}.\n".encode())  # sys.stderr may be in the middle of a write, and would refuse another one
    os._exit(128 + number)


def main() -> None:
    """Entry point: errors that a user can fix print one line and give exit code 2."""
    for number in ENDS:
        signal.signal(number, ended)
    # Events and findings are kept to the end. Looking for cycles among them every 700 objects would take a quarter of the run time.
    gc.set_threshold(100_000, 20, 20)
    try:
        code = cli(standalone_mode=False)
        sys.stdout.flush()
        sys.exit(code if isinstance(code, int) else 0)
    except click.ClickException as error:
        from forensics.output.sanitise import clean

        said = io.StringIO()
        error.show(said)
        click.echo(clean(said.getvalue()), nl=False, err=True)  # a shell's * makes arguments of file names that other people chose
        sys.exit(2)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except Exception as error:
        if isinstance(error, OSError) and error.errno in NO_ROOM:
            click.echo(f"Error: {error.filename or 'standard output'}: {error.strerror}", err=True)
            os._exit(2)  # Python would try to write the rest once more
        if not _spark_has_fallen():
            raise
        click.echo("Error: Spark ended in the midst of the work, most likely for want of memory: give it more with --memory.", err=True)
        sys.stderr.flush()
        os._exit(2)  # what is left of pyspark would complain


def _spark_has_fallen() -> bool:
    java = sys.modules.get("spark.java")
    return java is not None and java.has_fallen()

"""`kafka-forensics collect`: the script that collects a bundle on a broker, without this tool.

Here: printing the script. Not here: the script (forensics/tools/collect.sh).
"""

from __future__ import annotations

import click

from forensics.commands.help import described


@described(
    rank=115,
    summary="Print the script that collects the files of a broker.",
    examples=(
        ("Save the script, and copy it to every broker", "--print > collect.sh"),
        ("Collect a broker over ssh", "--print | ssh HOST sh -s -- -n broker-1 -o - > broker-1.tar.gz"),
    ),
)
@click.option("--print", "printed", is_flag=True, help="Print the script.")
def command(printed: bool) -> None:
    """Print the script that collects the files of a broker, controller, container or pod.

    The script needs only sh, tar, awk and gzip. It changes nothing on the broker, and leaves out secrets and records. `sh collect.sh
    --help` lists its options; without an option it does nothing.
    """
    if not printed:
        raise click.UsageError("collect does nothing on its own; --print prints the script, to be run on each broker")
    click.echo(script(), nl=False)


def script() -> str:
    from importlib.resources import files

    return (files("forensics.tools") / "collect.sh").read_text("utf-8")

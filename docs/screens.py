"""Real output in the pages: `python -m docs.screens` runs the commands of the marked parts on a recorded incident, and draws the picture of the
first screen.

A part begins with `<!-- COMMAND: python -m docs.screens writes this -->` and ends with `<!-- end of output -->`. Lines beyond MOST are left out, with a
mark. Not here: tables that are made from the code (docs.tables), which tests compare.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).parents[1]
BUNDLE = ROOT / "fixtures" / "bundles" / "unclean-election-2.8.2-zk.tar.gz"
PICTURE = ROOT / "docs" / "pictures" / "first-screen.svg"
PAGES = ("README.md", "docs/index.md", "docs/tutorial.md", "docs/reading.md")
WIDTH, MOST = 100, 80
_PART = re.compile(r"(<!-- (?P<words>.*?): `python -m docs.screens` writes this -->\n).*?(<!-- end of output -->)", re.DOTALL)
_FONTS = re.compile(r"@font-face \{.*?\}", re.DOTALL)
"""Fonts that a picture would load from elsewhere."""


def run(words: str, directory: Path, *, colours: bool = False) -> str:
    """What a command prints in a directory with the incident."""
    environment = {**os.environ, "COLUMNS": str(WIDTH), **({"FORCE_COLOR": "1"} if colours else {"NO_COLOR": "1"})}
    program = [sys.executable, "-c", "from forensics.cli import main; main()"]
    done = subprocess.run([*program, *shlex.split(words)], capture_output=True, text=True, cwd=directory, env=environment)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{words}: {done.stderr}")
    return done.stdout.rstrip("\n")


def screen(words: str, directory: Path) -> str:
    lines = run(words, directory).splitlines()
    shown = lines if len(lines) <= MOST else [*lines[:MOST], f"… ({len(lines) - MOST} more lines)"]
    return "\n".join(("```console", f"$ kafka-forensics {words}", *(line.rstrip() for line in shown), "```", ""))


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        shutil.copy(BUNDLE, directory / "incident.tar.gz")
        run("analyze incident.tar.gz --case incident.case", directory)
        console = Console(record=True, width=WIDTH, file=open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        console.print(Text.from_ansi(run("report incident.case", directory, colours=True)))
        drawn = console.export_svg(title="kafka-forensics analyze incident.tar.gz", unique_id="screen")
        PICTURE.write_text(_FONTS.sub("", drawn), "utf-8")
        for page in map(ROOT.joinpath, PAGES):
            text = page.read_text("utf-8")
            page.write_text(_PART.sub(lambda part: f"{part[1]}{screen(part['words'], directory)}{part[3]}", text), "utf-8")


if __name__ == "__main__":
    main()

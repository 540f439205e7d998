"""Compares the time, CPU and memory of the tool with those of other programs, as ratios.

    python -m benchmarks [reading start bundle case analyze quiet fleets hot growth memory] [--rounds 5] [--scale 1] [--history FILE]

At full size, all comparisons take an hour or two on two cores. `--scale 0.1 --rounds 1` takes minutes, and `growth --scale 16 --rounds 1` goes
up to 10 GB. Each program runs in a separate process. In each round, all programs run in turn; a ratio is the median over the rounds. Compare
only ratios of one run, because the speed of a machine drifts. Each run adds a line to the history;
`python -m docs.tables` writes the table of docs/performance.md.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks import history
from benchmarks.measuring import Failed, Result, adopt_orphans
from benchmarks.suites import SUITES, Asked, absent, make_archive


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("suites", nargs="*", metavar="WHAT", help=f"the comparisons to run: {', '.join(SUITES)} (default: all)")
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--scale", type=float, default=1)
    arguments.add_argument("--history", type=Path, default=history.HISTORY)
    options = arguments.parse_args()
    if unknown := [name for name in options.suites if name not in SUITES]:
        arguments.error(f"unknown comparison {unknown[0]!r}; choose from {', '.join(SUITES)}")
    for name in absent():
        print(
            f"{name} is not installed and is left out: pip install -e '.[bench]', and ripgrep from the packages of the system",
            flush=True,
        )
    adopt_orphans()
    make_archive()
    results: list[Result] = []
    try:
        for name in options.suites or SUITES:
            try:
                for result in SUITES[name](Asked(options.rounds, options.scale)):
                    print(shown(result), flush=True)
                    results.append(result)
            except Failed as error:
                print(f"{name} failed: {error}", flush=True)
    finally:
        if results:
            history.add(options.history, results, options.rounds, options.scale)


def shown(result: Result) -> str:
    """Progress lines for the user."""
    first, *others = result.ways
    lines = [f"{result.name}: {', '.join(f'{name} {value}' for name, value in result.facts.items())}"]
    for way in (first, *others):
        wall, cpu = result.medians(way)
        ratio = f"  {first} is {result.ratio(way):.2f} of it" if way != first else ""
        lines.append(f"  {way:32} {wall:8.2f} s {cpu:8.2f} s of CPU{ratio}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()

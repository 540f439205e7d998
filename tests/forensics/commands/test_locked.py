"""What pyproject.toml asks for is locked: pip would refuse what has no hash only on a machine where nothing is installed yet."""

from __future__ import annotations

import re

import pytest

from tests.support.paths import ROOT


def asked() -> list[tuple[str, str]]:
    return re.findall(r'"([a-z][a-z0-9-]*)(?:\[\w+\])?>=([\d.]+)"', (ROOT / "pyproject.toml").read_text("utf-8"))


@pytest.mark.parametrize("name", ["build", "run", "test", "all"])
def test_every_package_has_a_version_and_a_hash(name: str) -> None:
    packages = re.split(r"\n(?=[a-z])", (ROOT / "requirements" / f"{name}.txt").read_text("utf-8").replace("\\\n", " "))[1:]
    assert packages and all(re.match(r"[a-z][a-z0-9._-]*==\S+ .*--hash=sha256:[0-9a-f]{64}", p) for p in packages)


def test_what_is_asked_for_is_locked() -> None:
    """`make lock` mends it."""
    texts = [(ROOT / "requirements" / f"{name}.txt").read_text("utf-8") for name in ("build", "all")]
    locked = dict(re.findall(r"(?m)^([a-z][a-z0-9-]*)(?:\[\w+\])?==([\d.]+)", "\n".join(texts)))
    assert len(asked()) > 20

    def numbers(version: str) -> list[int]:
        return [int(n) for n in version.strip(".").split(".")]

    assert {name for name, least in asked() if name not in locked or numbers(locked[name]) < numbers(least)} == set()

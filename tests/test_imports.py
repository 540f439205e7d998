"""The rooms import each other in one direction only; the contracts are in pyproject.toml."""

from __future__ import annotations

import pytest
from importlinter.cli import lint_imports

from tests.support.paths import ROOT


def test_contracts_of_imports(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)
    assert lint_imports(config_filename="pyproject.toml", no_cache=True) == 0, capsys.readouterr().out

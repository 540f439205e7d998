"""pytest plugin that imports one module from a mutated source: `pytest -p tests.mutation.mutant`.

MUTANT_MODULE is the dotted name of the module, MUTANT_SOURCE the file with its mutated source. No file of the project is changed.
Hypothesis generates the same examples in each run, without a deadline, and does not shrink them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

from hypothesis import HealthCheck, Phase, settings

MODULE, SOURCE = "MUTANT_MODULE", "MUTANT_SOURCE"


class MutantLoader(SourceFileLoader):
    """Compiles the mutated source; `__file__` stays the path of the original."""

    def get_code(self, fullname: str) -> CodeType:
        return compile(Path(os.environ[SOURCE]).read_bytes(), self.path, "exec", dont_inherit=True)


class MutantFinder:
    """Finds the mutated module and no other."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target) if name == os.environ[MODULE] else None
        if spec is not None and spec.origin is not None:
            spec.loader = MutantLoader(name, spec.origin)
        return spec


def install() -> None:
    """Every later import of the module runs the mutated source."""
    if os.environ[MODULE] in sys.modules:
        raise RuntimeError(f"{os.environ[MODULE]} was imported before tests.mutation.mutant; its mutated source cannot be used")
    sys.meta_path.insert(0, MutantFinder())


phases = (Phase.explicit, Phase.generate)
settings.register_profile(
    "mutation", derandomize=True, database=None, deadline=None, phases=phases, suppress_health_check=list(HealthCheck)
)
install()


def pytest_configure() -> None:
    """Loads the profile after conftest has loaded its own."""
    settings.load_profile("mutation")

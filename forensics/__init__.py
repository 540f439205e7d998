"""The verdicts: rules over timelines, the report, the command line, and the Python interface (`analyze`, `open_case`,
`register_source`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from forensics.notebook import OpenedCase as Case
    from forensics.notebook import Unusable, analyze, open_case, register_source

PART_OF = "kafka-forensics"
__all__ = ["Case", "Unusable", "analyze", "open_case", "register_source"]


def __getattr__(name: str) -> Any:
    # Commands that need neither a case nor Spark must not load these modules.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from forensics.start import foreign

    if (message := foreign()) is not None:
        raise ImportError(message)
    from forensics import notebook

    return getattr(notebook, "OpenedCase" if name == "Case" else name)

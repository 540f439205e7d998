"""The files of this package, also if it is imported from a zip, as Spark's executors may do.

Here: their text, and the parser of TOML. Not here: what they contain (fragments, pattern_toml, silent).
"""

from __future__ import annotations

import pkgutil
import sys

from parsers.schemas import Row

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def text(name: str) -> str:
    """The content of a file."""
    content = pkgutil.get_data(__package__, name)
    assert content is not None
    return content.decode()


def table(name: str) -> Row:
    """The content of a TOML file."""
    return parsed(text(f"{name}.toml"))


def parsed(document: str) -> Row:
    """The content of a TOML document. Raises ValueError if it is not valid."""
    content: Row = tomllib.loads(document)
    return content

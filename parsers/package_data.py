"""Files that are part of the packages, also if these are imported from a zip, as Spark's executors may do.

Here: their text, and the parser of TOML. Not here: what they contain, or TOML that a user gives (parsers.patterns.pattern_toml).
"""

from __future__ import annotations

import pkgutil
import sys

from parsers.schemas import Row

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def text(package: str, name: str) -> str:
    """The content of a file of this package."""
    content = pkgutil.get_data(package, name)
    assert content is not None
    return content.decode()


def table(package: str, name: str) -> Row:
    """The content of the file NAME.toml in this package."""
    return parsed(text(package, f"{name}.toml"))


def parsed(document: str) -> Row:
    """The content of a TOML document. Raises ValueError if it is not valid."""
    content: Row = tomllib.loads(document)
    return content

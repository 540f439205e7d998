"""Functions that make several events of one line, or compute columns. A pattern names one in its key `expand`.

Each gets the columns of the line, its time and level, and the text of all groups under '_groups'; names of groups that are not columns
begin with '_'. It may raise ValueError. It must not change `row["_groups"]`: lines with equal groups share the events
(catalogue.columnar.computed).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from parsers.patterns.expand import errors, lists, logs, processes, settings, states
from parsers.schemas import Row

FUNCTIONS: Mapping[str, Callable[[Row], Iterable[Row]]] = {
    function.__name__: function for module in (errors, lists, logs, processes, settings, states) for function in module.FUNCTIONS
}
"""By name."""

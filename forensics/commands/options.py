"""Options of commands, several at once: applied together, received as one record, or kept in the context of the command.

Here: how options are combined. Not here: any option.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])
Option = Callable[[F], F]


def options(*each: Option[Any]) -> Option[Any]:
    """All of these, in the reverse order of the help text."""

    def decorate(command: F) -> F:
        for one in each:
            command = one(command)
        return command

    return decorate


def record_of(record: Callable[..., Any], name: str, *each: Option[Any]) -> Option[Any]:
    """The same; the command receives the values as one record (a dataclass), in the parameter of this name."""
    known = [field.name for field in fields(record)]  # type: ignore[arg-type]

    def decorate(command: F) -> F:
        @wraps(command)
        def with_record(**given: Any) -> Any:
            own = {key: given.pop(key) for key in known if key in given}
            return command(**{name: record(**own)}, **given)

        return options(*each)(with_record)  # type: ignore[no-any-return]

    return decorate


def kept(name: str, valid: Callable[[Any], Any] = lambda value: value) -> dict[str, Any]:
    """Arguments of click.option for a value that is checked before anything is read, and kept in the context of the command under this name
    (`given`). `valid` returns the value to keep; its ValueError is the message."""

    def keep(context: click.Context, option: click.Parameter, value: Any) -> None:
        try:
            context.meta[name] = valid(value)
        except ValueError as error:
            raise click.BadParameter(str(error), context, option) from None

    return {"expose_value": False, "callback": keep}


def given(name: str, default: Any = None) -> Any:
    """The value that the command that runs keeps under this name; the default in a notebook."""
    context = click.get_current_context(silent=True)
    return context.meta.get(name, default) if context is not None else default

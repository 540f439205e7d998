"""One test for many items of evidence, where each check is quick.

The start and the report of a test of its own for each item would take longer than the check (`pytest.mark.parametrize`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence


def for_each(names: Sequence[str]) -> Callable[[Callable[[str], None]], Callable[[], None]]:
    """Decorator: a test that checks all `names`, and fails with the message of every name that fails. No names are an error."""
    if not names:
        raise ValueError("no names to check")

    def decorate(check: Callable[[str], None]) -> Callable[[], None]:
        def test() -> None:
            failures: list[tuple[str, AssertionError]] = []
            for name in names:
                try:
                    check(name)
                except AssertionError as failure:
                    failures.append((name, failure))
            if failures:
                raise AssertionError("\n".join(f"{name}: {failure}" for name, failure in failures)) from failures[0][1]

        test.__name__, test.__qualname__, test.__doc__, test.__module__ = (
            check.__name__,
            check.__qualname__,
            check.__doc__,
            check.__module__,
        )
        return test

    return decorate

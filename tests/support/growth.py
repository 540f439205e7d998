"""Whether the time an expression takes grows faster than the text: measured on texts made from the expression's own structure.

Here: the expressions of all modules with the methods that apply them, the texts, and the measure. Times are only compared with each other.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from types import FunctionType, MappingProxyType, ModuleType
from typing import Any

import regex

if sys.version_info >= (3, 11):
    from re import _constants as c
    from re import _parser as parser
else:
    import sre_constants as c
    import sre_parse as parser

Expression = Any
"""A compiled expression of `re` or `regex`."""
ANCHORED = frozenset({"match", "fullmatch"})
METHODS = ANCHORED | {"search", "finditer", "findall", "sub", "subn", "split"}


@dataclass
class Applied:
    """An expression, and where and how it is applied."""

    expression: Expression
    names: set[str] = field(default_factory=set)
    methods: set[str] = field(default_factory=set)
    endless: bool = False
    """A text needed so much time that measuring again would show nothing else."""

    @property
    def anchored(self) -> bool:
        return bool(self.methods) and self.methods <= ANCHORED


def applied(*packages: str) -> tuple[list[Applied], set[str]]:
    """All expressions that modules of these packages hold, in any structure, or give to a method of `re` or `regex`; and the places where an
    expression is computed from something else than the values of its module."""
    found: dict[Expression, Applied] = {}
    computed: set[str] = set()
    for module in _modules(packages):
        tree = ast.parse(inspect.getsource(module))
        uses: dict[str, set[str]] = defaultdict(set)
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr in METHODS:
                uses[node.value.id if isinstance(node.value, ast.Name) else ""].add(node.attr)
            if _is_call(node):
                _add_call(node, module, found, computed)
        alone = {name for name, value in vars(module).items() if isinstance(value, re.Pattern | regex.Pattern)}
        others = set().union(*(methods for name, methods in uses.items() if name not in alone and name not in ("re", "regex")))
        for name, value in list(vars(module).items()):
            for expression in _held(value, set()):
                one = found.setdefault(expression, Applied(expression))
                one.names.add(f"{module.__name__}.{name}")
                one.methods |= uses[name] if name in alone else others
    return list(found.values()), computed


def _modules(packages: tuple[str, ...]) -> Iterator[ModuleType]:
    for name in packages:
        package = importlib.import_module(name)
        yield package
        names = (info.name for info in pkgutil.walk_packages(package.__path__, f"{name}."))
        yield from (importlib.import_module(own) for own in names if not own.endswith(".__main__"))


def _is_call(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id in ("re", "regex")
        and node.func.attr in METHODS | {"compile"}
    )


def _add_call(call: Any, module: ModuleType, found: dict[Expression, Applied], computed: set[str]) -> None:
    try:
        given = eval(compile(ast.Expression(call.args[0]), module.__name__, "eval"), vars(module))  # noqa: S307 - our own source
    except NameError:
        computed.add(f"{module.__name__}: {ast.unparse(call)}")
        return
    if call.func.attr in METHODS and isinstance(given, str | bytes):
        flags = re.IGNORECASE if "IGNORECASE" in ast.unparse(call) else 0
        expression = importlib.import_module(call.func.value.id).compile(given, flags)
        one = found.setdefault(expression, Applied(expression))
        one.names.add(f"{module.__name__}:{call.lineno}")
        one.methods.add(call.func.attr)


def _held(value: Any, seen: set[int]) -> Iterator[Expression]:
    """The expressions in a value: of collections, dataclasses and closures."""
    if isinstance(value, re.Pattern | regex.Pattern):
        yield value
        return
    if id(value) in seen:
        return
    seen.add(id(value))
    inside: Any = ()
    if isinstance(value, dict | MappingProxyType):
        inside = [*value.keys(), *value.values()]
    elif isinstance(value, list | tuple | set | frozenset):
        inside = value
    elif is_dataclass(value) and not isinstance(value, type):
        inside = [getattr(value, f.name, None) for f in fields(value)]
    elif isinstance(value, FunctionType):
        inside = [cell.cell_contents for cell in value.__closure__ or ()]
    elif isinstance(getattr(value, "__self__", None), re.Pattern | regex.Pattern):
        inside = [value.__self__]
    for one in inside:
        yield from _held(one, seen)


# texts

_CHARACTERS = "1a A.,:;[](){}\"'\\-/=@_|<>#%&*+!~\t\n0x\u00e9\x01"
_COMMON = ("1", "a", " ", ".", "[", "(", '"', "\\", "-", "/", ":", "\n", "1.", "a.", "a ", "a-1,", "[a] ", "x=1,", 'aA1 "')
_REPEATS = frozenset({"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"})


def texts(expression: Expression, *, anchored: bool) -> Iterator[tuple[str, str, str]]:
    """Texts for an expression: (before, unit, after), of which the unit is repeated; none if it repeats nothing without end, or only one
    character at a known place. Raises `re.error` if `re` cannot parse it."""
    pattern = expression.pattern if isinstance(expression.pattern, str) else expression.pattern.decode("latin-1")
    without_names = re.sub(r"\(\?P=\w+\)", "", re.sub(r"\(\?P<\w+>", "(", pattern))
    tree = parser.parse(without_names, expression.flags & (re.IGNORECASE | re.MULTILINE | re.DOTALL | re.ASCII))
    endless = [argument[2] for op, argument in _items(tree) if str(op) in _REPEATS and argument[1] > MOST]
    if not endless or (anchored and len(endless) == 1 and len(endless[0]) == 1 and _characters(*endless[0][0], tree.state.flags)):
        return
    runs = dict.fromkeys((*_runs(tree, tree.state.flags, ""), *(("", unit) for unit in _COMMON)))
    yield from ((before, unit, "\x01") for before, unit in runs if 0 < len(unit) <= 200)


def _items(sequence: Any) -> Iterator[tuple[Any, Any]]:
    for op, argument in sequence:
        yield op, argument
        for part in _parts(op, argument):
            yield from _items(part)


def _test(op: Any, argument: Any, flags: int) -> Callable[[str], bool] | None:
    """Whether an item of one character matches this one; None for other items."""
    if op is c.LITERAL:
        return lambda char: ord(char) == argument
    if op is c.NOT_LITERAL:
        return lambda char: ord(char) != argument
    if op is c.ANY:
        return lambda char: char != "\n" or bool(flags & re.DOTALL)
    if op is not c.IN:
        return None
    one_of = "".join(_in_set(*item) for item in argument)
    expression = re.compile(f"[{one_of}]")
    return lambda char: expression.fullmatch(char) is not None


def _in_set(op: Any, argument: Any) -> str:
    if op is c.NEGATE:
        return "^"
    if op is c.LITERAL:
        return re.escape(chr(argument))
    if op is c.RANGE:
        return f"{re.escape(chr(argument[0]))}-{re.escape(chr(argument[1]))}"
    form = {"DIGIT": r"\d", "SPACE": r"\s", "WORD": r"\w"}[str(argument).rsplit("_", 1)[-1]]
    return form.upper() if "NOT" in str(argument) else form


def _characters(op: Any, argument: Any, flags: int) -> str:
    """Some characters that an item of one character matches; '' for other items."""
    if op is c.LITERAL:
        return chr(argument)
    test = _test(op, argument, flags)
    if test is None:
        return ""
    return "".join(filter(test, _CHARACTERS)) or next(filter(test, map(chr, range(0x3000))), "")


def _parts(op: Any, argument: Any) -> list[Any]:
    """The sequences in an item, each with all its items."""
    if str(op) in _REPEATS:
        return [argument[2]]
    if op is c.SUBPATTERN:
        return [argument[3]]
    if op is c.BRANCH:
        return list(argument[1])
    if op is c.GROUPREF_EXISTS:
        return [one for one in argument[1:] if one]
    if op in (c.ASSERT, c.ASSERT_NOT):
        return [argument[1]]
    return [argument] if str(op) == "ATOMIC_GROUP" else []


def _sample(items: Any, flags: int) -> str:
    """A short text that the items match, as far as they do not look around."""
    out = ""
    for op, argument in items:
        if one := _characters(op, argument, flags)[:1]:
            out += one
        elif str(op) in _REPEATS:
            out += _sample(argument[2], flags) * argument[0]
        elif op not in (c.ASSERT, c.ASSERT_NOT):
            out += next((_sample(part, flags) for part in _parts(op, argument)), "")
    return out


def _runs(items: Any, flags: int, before: str) -> Iterator[tuple[str, str]]:
    """For each repeat what it matches, behind a text that reaches it, or together with that text; and each text that items match."""
    items = list(items)
    for number, (op, argument) in enumerate(items):
        if str(op) in _REPEATS:
            body = argument[2]
            for unit in _characters(*body[0], flags)[:6] if len(body) == 1 else [_sample(body, flags)]:
                yield before, unit
                yield "", before + unit
        for part in _parts(op, argument):
            yield from _runs(part, flags, before)
            yield before, _sample(part, flags)
        rest = _sample(items[number:], flags)
        yield before, rest[:-1]
        before += _sample([(op, argument)], flags)
        yield "", before


# the measure

MOST = 300
"""Repeats that are not counted as endless: names of topics have up to 249 characters."""
LENGTH = 32_000
LINEAR = 4
"""Times as long for a text that is four times as long, if the time is proportional to the length."""
NOTICEABLE_S = 0.02
"""Shorter times are not compared. What exceeds is measured again, and a text that grows is measured three times: other processes take
the caches away for a moment."""
ENDLESS_S = 0.5


class Endless(Exception):
    """Far more time than any text of this length needs."""


def grows(one: Applied, shape: tuple[str, str, str]) -> bool:
    """Whether the time grows faster than the text, by far."""
    before, unit, after = shape
    most = LENGTH // max(4, len(unit))

    def seconds(repeats: int) -> float:
        text: Any = before + unit * repeats + after
        if isinstance(one.expression.pattern, bytes):
            text = text.encode("latin-1", "replace")
        begin = time.process_time()
        if one.anchored:
            one.expression.match(text)
        else:
            for _ in one.expression.finditer(text):
                pass
        return time.process_time() - begin

    def exceeds(size: int) -> bool:
        noticeable = seconds(size) >= NOTICEABLE_S
        return noticeable and all(seconds(size) > 2 * LINEAR * min(seconds(size // 4) for _ in range(3)) for _ in range(4))

    try:
        with _Limited():
            return any(map(exceeds, (most // 8, most)))  # what is quadratic shows in a short text, soon
    except Endless:
        one.endless = True
        return True


class _Limited:
    def __enter__(self) -> None:
        self._was: Any = signal.signal(signal.SIGVTALRM, self._end)
        signal.setitimer(signal.ITIMER_VIRTUAL, ENDLESS_S)

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, self._was)

    @staticmethod
    def _end(*_: object) -> None:
        raise Endless


def superlinear(found: Mapping[str, Applied]) -> dict[str, tuple[str, str, str]]:
    """The expressions whose time grows faster than a text, by name, each with such a text."""
    bad = {}
    for name, one in found.items():
        try:
            shapes = texts(one.expression, anchored=one.anchored)
            shape = next((shape for shape in shapes if all(one.endless or grows(one, shape) for _ in range(3))), None)
        except re.error:  # `re` does not parse atomic groups and possessive repeats before 3.11
            continue
        if shape is not None:
            bad[name] = shape
    return bad

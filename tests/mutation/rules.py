"""Which mutants of a module exist: one place of its source is changed in each.

Nothing is generated where a change makes no difference to tests: strings, annotations, decorators, assertions, `__repr__` and `__str__`,
`__all__` and `__slots__`, code under `if TYPE_CHECKING` and `if __name__ == "__main__"`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TypeVar

WIDTH = 100
"""Characters of source that are shown of a mutant, at most."""
_FIXED_FIELDS = frozenset({"annotation", "returns", "decorator_list", "format_spec"})
_FIXED_FUNCTIONS = frozenset({"__repr__", "__str__"})
_FIXED_NAMES = frozenset({"__all__", "__slots__", "__match_args__"})
_FIXED_CONDITIONS = frozenset({"TYPE_CHECKING", "typing.TYPE_CHECKING", "__name__ == '__main__'"})
_BUILTIN_TYPES = frozenset({"bool", "bytes", "dict", "float", "frozenset", "int", "list", "object", "set", "str", "tuple", "type"})
_TESTS = frozenset({"all", "any", "bool", "callable", "endswith", "isdigit", "isinstance", "issubclass", "issubset", "startswith"})
"""Functions and methods that return a bool."""
_COLLECTIONS = frozenset({"any", "all", "endswith", "frozenset", "isinstance", "issubclass", "list", "set", "startswith", "tuple"})
"""Functions and methods for which a tuple is a collection of any length."""
_NAME_SETS = frozenset({"named"})
"""Functions that return the set of the names they are given (parsers.kinds)."""
_SETS = frozenset({"difference", "frozenset", "intersection", "items", "keys", "set", "union"})
_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_OPPOSITES = {"min": "max", "max": "min", "any": "all", "all": "any"}
_Node = TypeVar("_Node", bound=ast.AST)


@dataclass(frozen=True, slots=True)
class Mutation:
    """A mutant: its whole source, and the part that differs, before and after."""

    line: int
    before: str
    after: str
    source: str


@dataclass(frozen=True, slots=True)
class Place:
    """A node of the tree and where it hangs: in a field of its parent, or in a list in that field."""

    node: ast.AST
    parent: Place | None = None
    field: str = ""
    index: int | None = None

    @property
    def owner(self) -> ast.AST:
        return self.parent.node if self.parent is not None else ast.Module([], [])

    def put(self, node: ast.AST) -> None:
        if self.index is None:
            setattr(self.owner, self.field, node)
        else:
            getattr(self.owner, self.field)[self.index] = node

    def up(self) -> Iterator[Place]:
        """This place and those around it, from the inside out."""
        place: Place | None = self
        while place is not None:
            yield place
            place = place.parent


def mutations(source: str) -> list[Mutation]:
    """All mutants of a module in the order of their lines, none of them twice."""
    tree = ast.parse(source)
    places = [place for place in _places(Place(tree)) if isinstance(place.node, (ast.expr, ast.stmt))]
    found: dict[str, Mutation] = {}
    for place in places:
        for changed in chain.from_iterable(rule(place) for rule in _RULES):
            mutant = _mutation(tree, place, changed)
            found.setdefault(mutant.source, mutant)
    found.pop(plain(source), None)
    return sorted(found.values(), key=lambda mutant: mutant.line)


def plain(source: str) -> str:
    """The source of a module without mutation, written as that of a mutant is."""
    return ast.unparse(ast.parse(source))


def _mutation(tree: ast.AST, place: Place, changed: ast.AST) -> Mutation:
    shown = _shown(place)
    before = shown()
    place.put(changed)
    try:
        cut = _cut(before, shown() if place.node is not shown.args[0] else ast.unparse(changed))
        return Mutation(getattr(place.node, "lineno", 0), *cut, ast.unparse(tree))
    finally:
        place.put(place.node)


def _shown(place: Place) -> partial[str]:
    """Source of the widest expression or simple statement around a place that is short enough to be read."""
    shown = partial(_header, place.node)
    for around in place.up():
        if isinstance(around.node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            break
        wider = partial(_header, around.node)
        if len(text := wider()) > WIDTH or "\n" in text:
            break
        shown = wider
        if isinstance(around.node, ast.stmt):
            break
    return shown


def _header(node: ast.AST) -> str:
    if isinstance(node, (ast.If, ast.While)):
        return f"{'if' if isinstance(node, ast.If) else 'while'} {ast.unparse(node.test)}"
    return ast.unparse(node).strip()


def _cut(before: str, after: str) -> tuple[str, str]:
    """Both without most of what they have in common, where they are long."""
    if max(len(before), len(after)) <= WIDTH:
        return before, after
    start = max(0, _same(before, after) - WIDTH // 3)
    same = _same(before[::-1], after[::-1])
    return _part(before, start, len(before) - same), _part(after, start, len(after) - same)


def _same(one: str, other: str) -> int:
    """Characters with which both begin."""
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _part(text: str, start: int, end: int) -> str:
    stop = min(max(start, end) + WIDTH // 3, start + 2 * WIDTH)
    return ("…" if start else "") + text[start:stop] + ("…" if stop < len(text) else "")


# which places are left alone


def _places(place: Place) -> Iterator[Place]:
    """All places in and below one, without those whose mutants make no difference to tests."""
    if _is_fixed(place.node):
        return
    yield place
    for field, value in ast.iter_fields(place.node):
        if field in _FIXED_FIELDS:
            continue
        if isinstance(value, ast.AST):
            yield from _places(Place(value, place, field))
        elif isinstance(value, list):
            for index, node in enumerate(value):
                if isinstance(node, ast.AST) and not _is_cast_type(place.node, field, index):
                    yield from _places(Place(node, place, field, index))


def _is_fixed(node: ast.AST) -> bool:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return node.name in _FIXED_FUNCTIONS or any(_name(d) == "overload" for d in node.decorator_list)
    if isinstance(node, ast.If):
        return ast.unparse(node.test) in _FIXED_CONDITIONS
    if isinstance(node, ast.Assign):
        return any(_name(target) in _FIXED_NAMES for target in node.targets)
    return isinstance(node, ast.Assert) or (isinstance(node, (ast.BinOp, ast.Subscript)) and _is_type(node))


def _is_cast_type(node: ast.AST, field: str, index: int) -> bool:
    return isinstance(node, ast.Call) and _name(node.func) == "cast" and field == "args" and index == 0


def _is_type(node: ast.AST) -> bool:
    """Whether an expression names a type: by the convention of CamelCase, as nothing is resolved."""
    if isinstance(node, ast.Subscript):
        return _is_type(node.value)
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.BitOr) and _is_type(node.left) and _is_type(node.right)
    if isinstance(node, ast.Constant):
        return node.value is None
    name = _name(node).lstrip("_")
    return name in _BUILTIN_TYPES or (name[:1].isupper() and name != name.upper())


def _name(node: ast.AST) -> str:
    """Name of a variable, an attribute or a called function; empty if there is none."""
    if isinstance(node, ast.Call):
        return _name(node.func)
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _like(node: _Node, **fields: object) -> _Node:
    """A copy of a node with some fields replaced; it shares its children."""
    return type(node)(**({name: getattr(node, name, None) for name in node._fields} | fields))


# comparisons, conditions and what is returned


def _comparisons(place: Place) -> Iterator[ast.AST]:
    node = place.node
    if isinstance(node, ast.Compare):
        for index, op in enumerate(node.ops):
            for other in _COMPARISONS[type(op)]:
                yield _like(node, ops=[*node.ops[:index], other(), *node.ops[index + 1 :]])


def _junctions(place: Place) -> Iterator[ast.AST]:
    if isinstance(place.node, ast.BoolOp):
        yield _like(place.node, op=ast.Or() if isinstance(place.node.op, ast.And) else ast.And())


def _negations(place: Place) -> Iterator[ast.AST]:
    """`not` removed, or added where the operator of a comparison is not reversed anyway."""
    node = place.node
    if _is_negation(node):
        yield node.operand  # type: ignore[attr-defined]
    elif isinstance(node, ast.expr) and not isinstance(node, ast.Constant) and not _is_comparison(node) and not _is_negation(place.owner):
        returned = isinstance(place.owner, ast.Return) and (isinstance(node, ast.Compare) or _returns_bool(place))
        if returned or (_is_condition(place) and not isinstance(node, ast.BoolOp)):
            yield ast.UnaryOp(ast.Not(), node)


def _forced(place: Place) -> Iterator[ast.AST]:
    """The condition replaced by True and by False."""
    if _is_test(place) and not isinstance(place.node, ast.Constant):
        yield ast.Constant(False)
        if not isinstance(place.owner, ast.While):
            yield ast.Constant(True)


def _is_comparison(node: ast.AST) -> bool:
    return isinstance(node, ast.Compare) and len(node.ops) == 1


def _is_negation(node: ast.AST) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)


def _is_test(place: Place) -> bool:
    return (place.field == "test" and isinstance(place.owner, (ast.If, ast.While, ast.IfExp))) or place.field in ("ifs", "guard")


def _is_condition(place: Place) -> bool:
    """Only the truth of the expression matters."""
    owner = place.owner
    if isinstance(owner, ast.BoolOp):
        assert place.parent is not None
        return any(_is_truth(value) for value in owner.values) or _is_condition(place.parent)
    if isinstance(owner, ast.GeneratorExp) and place.field == "elt":
        assert place.parent is not None
        return _name(place.parent.owner) in ("any", "all")
    return _is_test(place) or _is_negation(owner) or (isinstance(owner, ast.Return) and _returns_bool(place))


def _is_truth(node: ast.AST) -> bool:
    """The expression is True or False."""
    return _is_negation(node) or isinstance(node, ast.Compare) or (isinstance(node, ast.Call) and _name(node) in _TESTS)


def _returns_bool(place: Place) -> bool:
    function = next((p.node for p in place.up() if isinstance(p.node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))), None)
    return (
        isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) and function.returns is not None and _name(function.returns) == "bool"
    )


# values and operators


def _constants(place: Place) -> Iterator[ast.AST]:
    node = place.node
    if not isinstance(node, ast.Constant) or _is_check(place):
        return
    if isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node.value, int):
        yield ast.Constant(node.value + 1)
        yield ast.Constant(node.value - 1)


def _is_check(place: Place) -> bool:
    """`strict=True` of zip, which only raises where there is a mistake."""
    return isinstance(place.owner, ast.keyword) and place.owner.arg == "strict" and getattr(place.node, "value", None) is True


def _operators(place: Place) -> Iterator[ast.AST]:
    node = place.node
    if isinstance(node, (ast.BinOp, ast.AugAssign)):
        sides = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.value,)
        for op in _other_operators(node.op, sides):
            yield _like(node, op=op)


def _other_operators(op: ast.operator, sides: Sequence[ast.expr]) -> Iterator[ast.operator]:
    """Other operators; `-` is one of sets as well, where no operand says what it is."""
    if isinstance(op, ast.Add) and not any(map(_is_sequence, sides)):
        yield ast.Sub()
    elif isinstance(op, ast.Sub):
        if not any(map(_is_set, sides)):
            yield ast.Add()
        if not any(map(_is_number, sides)):
            yield ast.BitOr()
    elif isinstance(op, ast.BitAnd):
        yield ast.BitOr()
    elif isinstance(op, ast.BitOr):
        yield ast.BitAnd()


def _is_sequence(node: ast.AST) -> bool:
    if isinstance(node, ast.BinOp):
        return _is_sequence(node.left) or _is_sequence(node.right)
    text = isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes))
    return text or isinstance(node, (ast.JoinedStr, ast.List, ast.ListComp, ast.Tuple))


def _is_set(node: ast.AST) -> bool:
    return isinstance(node, (ast.Set, ast.SetComp)) or (isinstance(node, ast.Call) and _name(node) in _SETS | _NAME_SETS)


def _is_number(node: ast.AST) -> bool:
    number = isinstance(node, ast.Constant) and isinstance(node.value, (int, float))
    return number or (isinstance(node, ast.Call) and _name(node) in ("len", "sum", "timedelta"))


def _functions(place: Place) -> Iterator[ast.AST]:
    node = place.node
    if isinstance(node, ast.Name) and node.id in _OPPOSITES and isinstance(node.ctx, ast.Load):
        yield _like(node, id=_OPPOSITES[node.id])


def _defaults(place: Place) -> Iterator[ast.AST]:
    """Other defaults of parameters and of the fields of classes, and of `default=`."""
    node = place.node
    if not _is_default(place):
        return
    if isinstance(node, ast.Constant) and node.value is None:
        yield ast.Constant(0)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield ast.Constant("" if node.value else "mutated")
    elif isinstance(node, ast.Tuple) and not node.elts:
        yield _like(node, elts=[ast.Constant(None)])
    elif isinstance(node, (ast.Name, ast.Attribute)):
        yield ast.Constant(None)


def _is_default(place: Place) -> bool:
    if isinstance(place.owner, ast.AnnAssign):
        assert place.parent is not None
        return place.field == "value" and isinstance(place.parent.owner, ast.ClassDef)
    if isinstance(place.owner, ast.keyword):
        return place.owner.arg == "default"
    return place.field in ("defaults", "kw_defaults")


# collections of names


def _elements(place: Place) -> Iterator[ast.AST]:
    """One name removed from a collection of names."""
    node = place.node
    if isinstance(node, ast.Call) and _name(node) in _NAME_SETS and all(map(_is_string, node.args)):
        for index in range(len(node.args)):
            yield _like(node, args=[*node.args[:index], *node.args[index + 1 :]])
    elif isinstance(node, (ast.List, ast.Set, ast.Tuple)) and _is_collection(place, node):
        for index in range(len(node.elts)):
            yield _like(node, elts=[*node.elts[:index], *node.elts[index + 1 :]])


def _is_collection(place: Place, node: ast.List | ast.Set | ast.Tuple) -> bool:
    """Names only, and as many as there happen to be: an element less does not break the code that reads it."""
    if not all(_is_string(e) or isinstance(e, (ast.Name, ast.Attribute)) for e in node.elts):
        return False
    if isinstance(node, ast.Set):
        return True
    if not isinstance(node.ctx, ast.Load) or _is_record(place):
        return False
    return (isinstance(node, ast.Tuple) and all(map(_is_string, node.elts))) or _is_read_as_collection(place)


def _is_record(place: Place) -> bool:
    """The position of each element has a meaning: it is unpacked, an index, or a row of a table."""
    owner = place.owner
    if isinstance(owner, ast.Assign):
        return any(isinstance(target, (ast.Tuple, ast.List)) for target in owner.targets)
    rows = isinstance(owner, (ast.List, ast.Set, ast.Tuple)) and all(isinstance(e, ast.Tuple) for e in owner.elts)
    return rows or (isinstance(owner, ast.Subscript) and place.field == "slice")


def _is_read_as_collection(place: Place) -> bool:
    owner = place.owner
    if isinstance(owner, ast.Compare):
        return place.index is not None and isinstance(owner.ops[place.index], (ast.In, ast.NotIn))
    if isinstance(owner, ast.Call):
        return place.field == "args" and _name(owner) in _COLLECTIONS
    if isinstance(owner, (ast.Assign, ast.AnnAssign, ast.BinOp, ast.Lambda)):
        return isinstance(place.node, ast.Tuple)
    return place.field == "iter" or _is_default(place)


def _is_string(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


# statements


def _statements(place: Place) -> Iterator[ast.AST]:
    """`continue`, `break` or `yield` dropped."""
    node = place.node
    yields = isinstance(node, ast.Expr) and isinstance(node.value, (ast.Yield, ast.YieldFrom))
    if yields or isinstance(node, ast.Break) or (isinstance(node, ast.Continue) and not _ends_its_loop(place)):
        yield ast.Pass()


def _ends_its_loop(place: Place) -> bool:
    """Nothing of the loop's body comes after it, with or without `continue`."""
    for around in place.up():
        if isinstance(around.node, (ast.For, ast.AsyncFor, ast.While)):
            return True
        if around.index != len(getattr(around.owner, around.field)) - 1 or isinstance(around.node, (ast.Try, ast.With)):
            return False
    return False


_RULES: tuple[Callable[[Place], Iterator[ast.AST]], ...] = (
    _comparisons,
    _junctions,
    _negations,
    _forced,
    _constants,
    _operators,
    _functions,
    _defaults,
    _elements,
    _statements,
)

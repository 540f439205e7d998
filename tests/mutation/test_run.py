"""The mutation test counts killed, surviving and endless mutants, and generates the mutants it should."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from tests.mutation.rules import Mutation, mutations, plain
from tests.mutation.run import Result, dependents, table
from tests.support.paths import ROOT

SAMPLE = """\
def larger(a, b):
    return a if a > b else b

def emptied(queue):
    while queue:
        queue = queue - set(queue)
    return queue
"""
TESTS = """\
from sample import emptied, larger

def test_larger():
    assert (larger(2, 1), larger(1, 2)) == (2, 2)

def test_emptied():
    assert emptied({"a"}) == set()
"""
COMMAND = """\
import sys
from tests.mutation import run as mutation
mutation.TIMES_AS_LONG, mutation.SECONDS_MORE = 0, 1
print("exit code", mutation.main(["sample.py", "--tests", "test_sample.py"]))
print("exit code", mutation.main(["sample.py", "--tests", "test_other.py"]))
"""


def test_survivors_are_reported_and_killed_mutants_are_counted(tmp_path: Path) -> None:
    files = {"sample.py": SAMPLE, "test_sample.py": TESTS, "test_other.py": "def test_nothing():\n    pass\n"}
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", COMMAND], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "module     mutants  killed  survived  timed out     %",
        "sample.py        7       5         1          1  85.7",
        "sample.py:2: return a if a > b else b -> return a if a >= b else b",
        "exit code 1",
        "exit code 2",
    ]
    assert done.stderr.strip() == "test_other.py: the tests do not import sample"
    assert {name: (tmp_path / name).read_text() for name in files} == files


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = a < b", {"x = a <= b", "x = a >= b"}),
        ("x = a <= b", {"x = a < b", "x = a > b"}),
        ("x = a == b is not c", {"x = a != b is not c", "x = a == b is c"}),
        ("x = a not in b", {"x = a in b"}),
        ("x = a and b", {"x = a or b"}),
        ("x = a.is_set or b > c", {"x = a.is_set and b > c", "x = not a.is_set or b > c", "x = a.is_set or b >= c", "x = a.is_set or b <= c"}),
        ("x = not a", {"x = a"}),
        ("x = 5", {"x = 6", "x = 4"}),
        ("f(reverse=True)", {"f(reverse=False)"}),
        ("x = a + b", {"x = a - b"}),
        ("x = a - 1", {"x = a + 1", "x = a - 2", "x = a - 0"}),
        ("x = a - b", {"x = a + b", "x = a | b"}),
        ("x = a - set(b)", {"x = a | set(b)"}),
        ("x |= a & b", {"x &= a & b", "x |= a | b"}),
        ("x = min(a)", {"x = max(a)"}),
        ("x = any(a)", {"x = all(a)"}),
        ("x = any(a.ok for a in b)", {"x = all((a.ok for a in b))", "x = any((not a.ok for a in b))"}),
        ("x = max(a, default=None)", {"x = min(a, default=None)", "x = max(a, default=0)"}),
        ("x = y if a else z", {"x = y if True else z", "x = y if False else z", "x = y if not a else z"}),
        ("x = [a for a in b if a.ok]", {f"x = [a for a in b if {c}]" for c in ("True", "False", "not a.ok")}),
        ("X = ('a', 'b')", {"X = ('a',)", "X = ('b',)"}),
        ("X = frozenset({A, B})", {"X = frozenset({A})", "X = frozenset({B})"}),
        ("X = named('a')", {"X = named()"}),
        ("if a:\n    f()", {"if True", "if False", "if not a"}),
        ("while a:\n    break", {"while False", "while not a", "pass"}),
        ("for a in b:\n    continue\n    f()", {"pass"}),
        ("def f():\n    yield a", {"pass"}),
        ("def f(a) -> bool:\n    return g(a)", {"return not g(a)"}),
        ("def f(a=None, b='x', *, c=D, d=()): ...", {f"a={a}, b={b}, *, c={c}, d={d}" for a, b, c, d in [
            ("0", "'x'", "D", "()"), ("None", "''", "D", "()"), ("None", "'x'", "None", "()"), ("None", "'x'", "D", "(None,)")
        ]}),
        ("class C:\n    a: str | None = None", {"a: str | None = 0"}),
    ],
)  # fmt: skip
def test_mutants_of(source: str, expected: set[str]) -> None:
    assert {m.after for m in mutations(source)} == expected


@pytest.mark.parametrize(
    "source",
    [
        "'''At least 1, or True.'''",
        "x: dict[int, 3]",
        "Names = tuple[str, int] | None",
        "@cache(maxsize=3)\ndef f(): ...",
        "def f(x: 3 | 4) -> 5: ...",
        "assert a < b",
        "def __repr__(self):\n    return a + b",
        "__all__ = ('a', 'b')",
        "if TYPE_CHECKING:\n    x = 3",
        "x, y = 'a', 'b'",
        "x = y[a, b]",
        "x = f'{y:>10}'",
        "zip(a, b, strict=True)",
        "for a in b:\n    f()\n    continue",
        "x = 'a' + b",
    ],
)
def test_no_mutants_of(source: str) -> None:
    assert mutations(source) == []


def test_a_mutant_differs_in_one_place_and_has_its_line() -> None:
    source = "x = 1\n\n\ndef f(a):\n    return a <= 2  # comment\n"
    unchanged = plain(source).splitlines()
    found = mutations(source)
    assert [m.line for m in found] == [1, 1, 5, 5, 5, 5]
    for mutant in found:
        assert sum(a != b for a, b in zip(unchanged, mutant.source.splitlines(), strict=True)) == 1
    assert len({m.source for m in found}) == len(found)


def test_long_code_is_shown_where_it_differs() -> None:
    (first, _) = [m for m in mutations(f"x = ({', '.join(f'name_{n}' for n in range(40))}, 7)") if m.before]
    assert (first.before, first.after) == ("7", "8")
    words = dedent(f"""
        x = {" and ".join(f"a_long_name_{n}" for n in range(20))}
    """)
    (flipped,) = mutations(words)
    assert len(flipped.before) < 250
    assert "and a_long" in flipped.before
    assert "or a_long" in flipped.after


def test_modules_that_may_import_the_target_are_dependents(tmp_path: Path) -> None:
    sources = {
        "p": "",
        "p.target": "import os",
        "p.direct": "from p import target",
        "p.relative": "from . import target",
        "p.indirect": "def f():\n    import p.direct",
        "p.by_name": "importlib.import_module(name)",
        "p.apart": "from p import other",
        "p.other": "import sys",
    }
    modules = {name: tmp_path / f"{name}.py" for name in sources}
    for name, source in sources.items():
        modules[name].write_text(source)
    assert dependents("p.target", modules) == {"p.target", "p.direct", "p.relative", "p.indirect", "p.by_name"}


def test_table() -> None:
    survivor = Mutation(3, "a < b", "a <= b", "")
    results = [Result(Path("a.py"), 10, 2, (survivor,)), Result(Path("empty.py"), 0, 0, ())]
    assert table(results).splitlines() == [
        "module    mutants  killed  survived  timed out      %",
        "a.py           10       7         1          2   90.0",
        "empty.py        0       0         0          0  100.0",
        "a.py:3: a < b -> a <= b",
    ]

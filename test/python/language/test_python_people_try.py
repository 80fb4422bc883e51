"""Python that people try in kernels: what is taken does what Python does, and what is not says what
to write. Compiled and interpreted."""
# ruff: noqa: E501

from __future__ import annotations

import importlib.util
import sys
import textwrap
from types import SimpleNamespace

import numpy as np
import pytest

import tile

pytestmark = pytest.mark.both_ways

HEAD = """import tile
import tile.language as tl

STEP = tl.constexpr(4)
STEPS = tl.constexpr((1, 2, 4))
PLAIN = 5


@tile.jit
def with_defaults(x, k=STEP, m=PLAIN):
    return x * k + m


@tile.jit
def chosen(x, kind):
    match kind:
        case 1:
            return x
        case 2 | 3:
            return x * 2
    return x * 3


@tile.jit
def kernel(p, out, n, BLOCK: tl.constexpr, MODE: tl.constexpr):
    i = tl.arange(0, 16)
    x = tl.load(p + i)
"""

#: What a body does in Python, with arrays for blocks.
WORKS = {
    "unrolled list": "for k in tl.static_range([1, 2, 4]):\n    x += k",
    "unrolled tuple of constants": "for k in tl.static_range(STEPS):\n    x += k",
    "unrolled blocks": "for v in tl.static_range((x, x + 1)):\n    x += v",
    "unrolled pairs": "for k, v in tl.static_range(enumerate((x, x + 1))):\n    x += v * k",
    "unrolled dictionary": "d = {'a': x, 'b': x + 1}\nfor k in tl.static_range(d):\n    x += d[k]",
    "zip": "for v, k in zip((x, x + 1), (1, 2)):\n    x += v * k",
    "zip of a range": "for k, v in zip(range(2), (x, x + 1)):\n    x += v * k",
    "list of a range": "t = list(range(1, 4))\nx += t[2]",
    "sorted by a key": "t = sorted([3, 1, 2], key=lambda v: -v)\nx = x * t[0] + t[1]",
    "tuple in a loop": "t = (x, x + 1)\nfor k in range(n):\n    t = (t[1], t[0] + k)\nx = t[0] - t[1]",
    "nested tuple in a loop":
        "t = (x, (x + 1, 0))\nfor k in range(n):\n    t = (t[1][0], (t[0], t[1][1] + k))\n"
        "x = t[0] * t[1][1]",
    "dictionary in a loop":
        "d = {'a': x, 'n': 0}\nfor k in range(n):\n    d = {'a': d['a'] + 1, 'n': d['n'] + k}\n"
        "x = d['a'] * d['n']",
    "dictionary in a branch":
        "d = {'a': x, 'b': x}\nif n > 3:\n    d = {**d, 'b': x * 2}\nx = d['a'] + d['b']",
    "dictionary comprehension": "d = {k: x * k for k in (1, 2, 3)}\nx = d[2] + d[3]",
    "match of a constant": "match BLOCK:\n    case 16:\n        x += 1\n    case _:\n        x += 3",
    "match of a text": "match MODE:\n    case 'b' | 'c':\n        x += 1\n    case 'a':\n        x += 3",
    "match with a guard":
        "match BLOCK:\n    case k if k > 20:\n        x += k\n    case k if k > 8:\n        x -= k\n"
        "    case _:\n        x += 3",
    "match of a tuple":
        "match (BLOCK, MODE):\n    case (32, 'a'):\n        x += 1\n    case (k, 'a'):\n        x += k\n"
        "    case _:\n        x += 3",
    "match of a sequence":
        "match [1, 2, 3, 4]:\n    case [a, b]:\n        x += a\n    case [a, *rest, b]:\n"
        "        x += a + b + len(rest) * 10",
    "match of nothing": "match None:\n    case 0:\n        x += 1\n    case None:\n        x += 2",
    "match without a case": "match BLOCK:\n    case 3:\n        x += 1",
    "match of a call": "match max(BLOCK, 3):\n    case 16 as k:\n        x += k\n    case _:\n        x = x",
    "match of a scalar":
        "match n:\n    case 1:\n        x += 1\n    case 5:\n        x += 7\n    case _:\n        x += 2",
    "match in a loop":
        "for k in range(n):\n    match k % 3:\n        case 0:\n            continue\n"
        "        case 2:\n            x += 10\n        case _:\n            x += k",
    "match that leaves a loop":
        "for k in range(10):\n    match k:\n        case 3:\n            break\n    x += k",
    "match that returns": "x = chosen(x, n - 2) + chosen(x, 1) * 100",
    "defaults that are globals": "x = with_defaults(x) + with_defaults(x, m=1)",
    "function with any arguments":
        "def f(*a, k=3, **rest):\n    return a[0] + a[1] * k + rest['m']\nx = f(x, x, m=7) + f(x, 1, k=2, m=1)",
    "function with keywords only": "def f(a, *, k, m=2):\n    return a * k + m\nx = f(x, k=3)",
    "defaults from where a function is made":
        "k = n\nf = lambda v, k=k: v * k\ndef g(v, *, m=k + 1):\n    return v + m\nk = 10\n"
        "x = f(x) + k + g(x)",
    "defaults of a function that is handed on":
        "def f(v, m=n):\n    return v + m\ndef g(h, n):\n    return h(n)\nx = x + g(f, 100)",
    "defaults in a loop":
        "for k in range(n):\n    f = lambda v, m=k: v + m\n    k = 100\n    x = f(x)",
    "walrus in a comprehension":
        "k = 7\nt = [(y := k) * 2 for k in (1, 2, 3)]\nx = x * y + t[2] + k",
    "map and filter":
        "t = list(map(lambda v: v + 1, filter(lambda v: v > 1, (1, 2, 3))))\nx = x * t[0] + t[1]",
    "functions of a comprehension":
        "k = 7\nfs = [lambda v, k=k: v * k for k in (1, 2, 3)]\nx = fs[0](x) + fs[2](x) + k",
    "names of a comprehension in its functions":
        "k = 7\nfs = [lambda v: v * k + j for k in (1, 2) for j in (5, n)]\nx = fs[0](x) + k",
    "texts":
        "tl.static_assert(BLOCK == 16, f'{BLOCK=} {MODE!r:>5} {3.14159:.2f} {x}')\nx += 1",
    "break": "for k in range(10):\n    if k == n:\n        break\n    x += k",
    "continue": "for k in range(10):\n    if k == n:\n        continue\n    x += k",
    "break of an unrolled loop": "for k in tl.static_range(8):\n    if k == n:\n        break\n    x += k",
    "else of a loop":
        "for k in range(n):\n    x += 1\n    if k == 7:\n        break\nelse:\n    x += 10",
}  # fmt: skip

#: What Python has no words for: the result is given.
GIVEN = {
    "lambda of reduce": ("x = x * 0 + tl.reduce(x, 0, lambda a, b: a + b)", "x * 0 + x.sum()"),
    "function of reduce":
        ("def f(a, b):\n    return tl.maximum(a, b)\nx = x * 0 + tl.reduce(x, 0, f)", "x * 0 + x.max()"),
    "function with a constant of the kernel":
        ("def f(a, b):\n    return (a + b) % BLOCK\nx = tl.associative_scan(x, 0, f)",
         "x.cumsum() % 16"),
    "function of map_elementwise":
        ("def f(a):\n    if a > 3:\n        return a\n    return a * 2\nx = tl.map_elementwise(f, x)",
         "np.where(x > 3, x, x * 2)"),
    "function with a scalar of the kernel":
        ("x = tl.map_elementwise(lambda a: a * n, x)", "x * n"),
}  # fmt: skip

REFUSED = {
    "yield x": "`yield` cannot be used in kernels; return a tuple, and go through it with "
               "tl.static_range",
    "t = {1, 2}": "sets cannot be used in kernels; use a tuple",
    "t = {k for k in (1, 2)}": "set comprehensions cannot be used in kernels; use a tuple, or a "
                               "dictionary",
    "match x.shape:\n    case tuple():\n        x += 1":
        "`match` cannot be used in kernels, but for constants, names, sequences of them, `|` and "
        "guards; use `if` and isinstance",
    "match {'a': 1}:\n    case {'a': k}:\n        x += k": "`match` cannot be used in kernels, but",
    "async def f():\n    pass": "`async` cannot be used in kernels",
    "try:\n    x += 1\nfinally:\n    x += 1": "`try` cannot be used in kernels",
    "class A:\n    pass": "class definitions cannot be used in kernels",
    "nonlocal_ = 1\ndef f():\n    nonlocal nonlocal_\n    nonlocal_ = 2\nf()":
        "`nonlocal` cannot be used in kernels",
    "for k in tl.static_range(n):\n    x += k":
        "tl.static_range takes constants; use tl.range for a run-time bound",
    "for k in tl.static_range([1], 2):\n    x += k": "tl.static_range of items takes no other bounds",
    "for v in x:\n    x += v":
        "cannot iterate over a tensor; use range, tl.range or tl.static_range",
}  # fmt: skip


@pytest.fixture
def kernel_of(tmp_path, request):
    def make(body: str):
        name = f"people_try_{abs(hash((request.node.name, body)))}"
        file = tmp_path / f"{name}.py"
        file.write_text(f"{HEAD}{textwrap.indent(body, '    ')}\n    tl.store(out + i, x)\n")
        spec = importlib.util.spec_from_file_location(name, file)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        return module.kernel

    return make


def run(kernel) -> np.ndarray:
    p, out = np.arange(1, 17, dtype=np.int32), np.full(16, -1, np.int32)
    kernel[(1,)](p, out, 5, BLOCK=16, MODE="a")
    return out


def unrolled(*bounds):
    return range(*bounds) if isinstance(bounds[0], int) else list(bounds[0])


def by_hand(x, kind):
    return x if kind == 1 else x * 2 if kind in (2, 3) else x * 3


#: Names of the kernel as Python has them.
NAMES = {
    "tl": SimpleNamespace(static_range=unrolled, static_assert=lambda condition, text: None),
    "STEPS": (1, 2, 4), "chosen": by_hand, "with_defaults": lambda x, k=4, m=5: x * k + m,
    "n": 5, "BLOCK": 16, "MODE": "a", "np": np,
}  # fmt: skip


@pytest.mark.parametrize("name", WORKS)
def test_it_does_what_python_does(name, kernel_of):
    scope = {**NAMES, "x": np.arange(1, 17, dtype=np.int32)}
    exec(WORKS[name].replace("x += ", "x = x + ").replace("x -= ", "x = x - "), scope)
    np.testing.assert_array_equal(run(kernel_of(WORKS[name])), scope["x"])


@pytest.mark.parametrize("name", GIVEN)
def test_functions_as_arguments(name, kernel_of):
    body, result = GIVEN[name]
    want = eval(result, {**NAMES, "x": np.arange(1, 17, dtype=np.int32)})
    np.testing.assert_array_equal(run(kernel_of(body)), want)


@pytest.mark.parametrize("body", REFUSED)
def test_it_is_refused(body, kernel_of):
    with pytest.raises(tile.TileError) as caught:
        run(kernel_of(body))
    assert REFUSED[body] in str(caught.value)

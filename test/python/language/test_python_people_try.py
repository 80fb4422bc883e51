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
    "walrus in a condition":
        "k = 7\ny = (k := n + 1) if n > 3 else 5\nx = x * k + y",
    "walrus on both sides of a condition":
        "y = (k := n + 1) if n > 30 else (k := 3)\nx = x * k + y",
    "walrus in a nested condition":
        "k = 1\ny = (k := k + n) if n > 3 and (j := n) > 4 else (k := 2)\nx = x * k + y + j",
    "walrus in a while": "k = 0\nwhile (j := k * k) < n:\n    k += 1\n    x += j\nx = x + j * 100",
    "walrus in a while with a break":
        "k = 0\nwhile (j := k * k) < n + 20:\n    k += 1\n    if j == 9:\n        break\n    x += j\n"
        "x = x + j * 100",
    "walrus in a while with an else":
        "k = 0\nwhile (j := k + 2) < n:\n    k += 1\n    continue\nelse:\n    x += 50\nx = x + j",
    "two walruses in a while":
        "k = 0\nwhile (j := k * 2) < n and (m := j + k) < 30:\n    k += 1\n    x += m + j",
    "walrus of a block in a while":
        "k = 0\nwhile (k := k + 1) < n and (y := x + k)[0] < 30:\n    x = y\n",
    "walrus with another type before": "j = 1.5\nk = 0\nwhile (j := k + 1) < n:\n    k = j\nx = x + j",
    "walrus of a while in a loop":
        "for m in range(3):\n    k = 0\n    while (j := k * k) < n:\n        k += 1\n    x += j",
    "walrus of a while in a function":
        "def f(v):\n    while (j := v * v) > 10:\n        v -= 1\n        if j == 16:\n"
        "            return j\n    return v * 100\nx = x + f(n) + f(n - 2)",
    "return in a loop that a constant leaves out":
        "def f(v):\n    for k in range(v):\n        if len((v, k)) == 3:\n            return k\n"
        "    return v + 1\nx = x + f(n)",
    "return in nested loops that a constant leaves out":
        "def f(v):\n    k = v\n    while k > 0:\n        k -= 1\n        for m in range(k):\n"
        "            if len((v, k)) == 3:\n                return m\n        if k == 2:\n            break\n"
        "    return v + k\nx = x + f(n)",
    "return in a loop that a constant leaves in":
        "def f(v):\n    for k in range(v):\n        if len((v, k)) == 2:\n            return k + 7\n"
        "    return v + 1\nx = x + f(n)",
    "scalar in a tuple": "x = x + (1 if n in (1, 5) else 2) + (10 if n in (1, 2) else 20)",
    "scalar not in a tuple": "x = x + (1 if n not in (1, 5) else 2) + (10 if n not in (2,) else 20)",
    "constant in a tuple of scalars": "x = x + (1 if 6 in (n, n + 1) else 2)",
    "scalar in a dictionary": "x = x + (1 if n in {5: 'a', 7: 'b'} else 2)",
    "scalar in nothing": "x = x + (1 if n in () else 2)",
    "text among scalars": "x = x + (1 if 'a' in (n, 'a') else 2) + (10 if 'a' in (n, 3) else 20)",
    "items of a dictionary": "d = {'a': x, 'b': 3}\nfor k, v in d.items():\n    x = x + v * len(k)",
    "values of a dictionary": "d = {'a': x, 'b': 3}\nfor v in d.values():\n    x = x + v",
    "keys of a dictionary": "d = {'a': x, 'b': 3}\nfor k in d.keys():\n    x = x + d[k]",
    "all and any of scalars":
        "x = x + (1 if all((n > 3, n < 9)) else 2) + (10 if any([n > 8, n == 1]) else 20)",
    "all and any of nothing": "x = x + (1 if all(()) else 2) + (10 if any(()) else 20)",
    "all and any, some known":
        "x = x + (1 if all((True, n, 1 > 0)) else 2) + (10 if any((False, n > 8)) else 20)",
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
    "class A:\n    pass": "class definitions cannot be used in kernels; define it in the module",
    "if n > 3:\n    raise ValueError('no')": "`raise` cannot be used in kernels; use tl.device_assert",
    "global q\nx += 1": "`global` cannot be used in kernels; return the value, or store it",
    "y = 1 if x in (1, 2) else 2": "`in` looks for a scalar, not for a block (<[16], int32>)",
    "y = 1 if 3 in x else 2": "`in` looks into tuples, not into a tensor",
    "y = 1 if n in 'abc' else 2": "`in` looks into tuples of numbers, not into a str",
    "y = 1 if 3 in 4 else 2": "argument of type 'int' is not iterable",
    "y = {[1]: 2}": "unhashable type: 'list'",
    "k = 'a'\ny = (x, x)[k]": "tuple indices must be integers or slices, not str",
    "y = (x, x)[::0]": "slice step cannot be zero",
    "k = None\ny = [x, x][k]": "list indices must be integers or slices, not NoneType",
    "y = (*BLOCK, x)": "must be an iterable, not int // 'int' object is not iterable",
    "x = with_defaults(*BLOCK)": "must be an iterable, not int // 'int' object is not iterable",
    "x = with_defaults(**BLOCK)": "must be a mapping, not int // `**` takes a dictionary, not an int",
    "y = {**BLOCK}": "is not a mapping // `**` takes a dictionary, not an int",
    "x = with_defaults(x, k=1, **{'k': 2})": "multiple values for keyword argument 'k' // the argument `k` "
                                             "twice",
    "y = f'{BLOCK:zz}'": "Unknown format code 'z' // Invalid format specifier",
    "y = 'a' < 3": "'<' not supported between instances of 'str' and 'int'",
    "y = 1 << -1": "negative shift count",
    "y = 10.0 ** 400": "Numerical result out of range",
    "y = tl.sum(None)": "expected a number or a tensor, not None",
    "y = tl.cdiv(7, 0)": "division by zero in a constant expression",
    "for k in tl.range(n, num_stages='x'):\n    x += 1":
        "num_stages of a loop is a constant integer from 0, not 'x'",
    "for k in tl.range(n, num_stages=-1):\n    x += 1": "is a constant integer from 0, not -1",
    "for k in tl.range(n, num_stages=1 << 40):\n    x += 1": "is a constant integer from 0, not 1099",
    "for k in tl.range(n, loop_unroll_factor=n):\n    x += 1":
        "loop_unroll_factor of a loop is a constant integer from 1, not int32",
    "for k in tl.range(n, flatten='x'):\n    x += 1":
        "flatten of a loop is the constant True or False, not 'x'",
    "for k in tl.range(n, warp_specialize=n):\n    x += 1":
        "warp_specialize of a loop is the constant True or False, not int32",
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
    with pytest.raises(tile.CompilationError) as caught:
        run(kernel_of(body))
    said = str(caught.value)
    # What Python says differs between its releases, and from what the compiler says.
    assert any(part in said for part in REFUSED[body].split(" // ")), said
    assert "internal error" not in said and caught.value.place is not None

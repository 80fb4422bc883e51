"""Arithmetic on several neighbours at once: front end, interpreter, code."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from reference import poisoned, random, sim_only

import tile
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.nvidia import blackwell, rubin

nvidia = pytest.mark.parametrize("target", ["cuda:80", "cuda:90", "cuda:100"], indirect=True)


def once(a, b, c):
    """a * b + c of small floats, rounded once."""
    return (a.astype(np.float64) * b.astype(np.float64) + c.astype(np.float64)).astype(a.dtype)


#: What each function computes.
FUNCTIONS = {
    "add2": lambda a, b, c: a + b,
    "sub2": lambda a, b, c: a - b,
    "mul2": lambda a, b, c: a * b,
    "min2": lambda a, b, c: np.fmin(a, b),
    "max2": lambda a, b, c: np.fmax(a, b),
    "fma2": once,
}


@gluon.jit
def packed(a, b, c, OP: gl.constexpr):
    if OP == "fma2":
        result = blackwell.fma2(a, b, c)
    elif OP == "add2":
        result = blackwell.add2(a, b)
    elif OP == "sub2":
        result = blackwell.sub2(a, b)
    elif OP == "mul2":
        result = blackwell.mul2(a, b)
    elif OP == "min2":
        result = blackwell.min2(a, b)
    else:
        result = blackwell.max2(a, b)
    return result


@gluon.jit
def kernel(a_ptr, b_ptr, c_ptr, out, n, OP: gl.constexpr, L: gl.constexpr):
    i = gl.arange(0, 512, layout=L)
    a, b, c = gl.load(a_ptr + i, i < n), gl.load(b_ptr + i, i < n), gl.load(c_ptr + i, i < n)
    gl.store(out + i, packed(a, b, c, OP), i < n)


def operands(kind, n=300):
    """Random numbers with NaNs, infinities and zeros of both signs among them."""
    values = []
    for seed in (1, 2, 3):
        x = random(n, "fp32", seed)
        x[seed::7] = [np.nan, -0.0, 0.0, np.inf, -np.inf][seed]
        x[seed + 3 :: 11] = [0.0, 1.0, -0.0, np.nan][seed]
        values.append(x.astype(kind))
    return values


def same(found, expected):
    """Equal, where all NaNs are. Of two zeros, an extreme may be either."""
    np.testing.assert_array_equal(found.astype(np.float64), expected.astype(np.float64))


@nvidia
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(
    "kind", [np.float32, np.float16, ml_dtypes.bfloat16], ids=lambda k: k.__name__
)
@pytest.mark.parametrize("width", [1, 2, 4])
def test_values(name, kind, width, target):
    a, b, c = operands(kind)
    out = poisoned(300, "fp32").astype(kind)
    given = [
        tile.reinterpret(x.view(np.uint16), gl.bfloat16) if kind is ml_dtypes.bfloat16 else x
        for x in (a, b, c, out)
    ]
    kernel[(1,)](*given, 300, name, gl.BlockedLayout([width], [32], [4], [0]))
    with np.errstate(all="ignore"):
        same(out, FUNCTIONS[name](a, b, c))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_interpreted(name):
    a, b, c = operands(np.float32)
    out = poisoned(300, "fp32")
    kernel.interpret(a, b, c, out, 300, name, gl.BlockedLayout([2], [32], [4], [0]), grid=(1,))
    with np.errstate(all="ignore"):
        same(out, FUNCTIONS[name](a, b, c))


@sim_only
@pytest.mark.parametrize("target", ["cuda:100"], indirect=True)
@pytest.mark.parametrize(
    "kind,instruction",
    [
        (np.float32, "fma.rn.f32x2"),
        (np.float16, "fma.rn.f16x2"),
        (ml_dtypes.bfloat16, "fma.rn.bf16x2"),
    ],
    ids=["fp32", "fp16", "bf16"],
)
def test_pairs_take_one_instruction(kind, instruction, target):
    given = [x.astype(kind) for x in operands(np.float32)] + [poisoned(300, "fp32").astype(kind)]
    if kind is ml_dtypes.bfloat16:
        given = [tile.reinterpret(x.view(np.uint16), gl.bfloat16) for x in given]
    found = kernel.warmup(*given, 300, "fma2", gl.BlockedLayout([4], [32], [4], [0]), grid=(1,))
    assert found.asm["ptx"].count(instruction) == 2


@gluon.jit
def scalars_kernel(x_ptr, y, out, L: gl.constexpr):
    i = gl.arange(0, 256, layout=L)
    rows = blackwell.fma2(gl.load(x_ptr + i), 2.0, y)
    grid = blackwell.mul2(
        rows[:, None],
        gl.full([1, 2], 3.0, gl.float32, gl.BlockedLayout([2, 2], [32, 1], [4, 1], [1, 0])),
    )
    gl.store(out + i, gl.convert_layout(gl.sum(grid, 1), L))


@nvidia
def test_numbers_and_broadcasts(target):
    x, out = random(256, "fp32", 4), poisoned(256, "fp32")
    layout = gl.SliceLayout(1, gl.BlockedLayout([2, 2], [32, 1], [4, 1], [1, 0]))
    scalars_kernel[(1,)](x, 0.5, out, layout)
    np.testing.assert_allclose(out, 6 * (2 * x + np.float32(0.5)), rtol=1e-6)


@gluon.jit
def mixed_kernel(out, OP: gl.constexpr, LEFT: gl.constexpr, RIGHT: gl.constexpr, TO: gl.constexpr):
    L: gl.constexpr = gl.BlockedLayout([4], [32], [4], [0])
    a, b = gl.full([512], 1, LEFT, L), gl.full([512], 2, RIGHT, L)
    if OP == "add4":
        result = rubin.add4(a, b, dtype=TO)
    elif OP == "sub4":
        result = rubin.sub4(a, b, dtype=TO)
    elif OP == "mul4":
        result = rubin.mul4(a, b, dtype=TO)
    else:
        result = rubin.fma4(a, b, b, dtype=TO)
    gl.store(out + gl.arange(0, 512, layout=L), result.to(gl.float32))


@pytest.mark.parametrize("target", ["cuda:100"], indirect=True)
@pytest.mark.parametrize("name", ["add4", "sub4", "mul4", "fma4"])
@pytest.mark.parametrize(
    "left,right,to",
    [
        (gl.float16, gl.float32, None), (gl.float8e5, gl.float8e4nv, None),
        (gl.float32, gl.float32, gl.float16),
    ],
)  # fmt: skip
def test_what_is_for_sm_107(name, left, right, to, target):
    """Its IR is written; the compiler says that it has no code."""
    with pytest.raises(tile.CompilationError, match="for sm_107, for which tile has no code"):
        mixed_kernel[(1,)](poisoned(512, "fp32"), name, left, right, to)


@pytest.mark.parametrize("target", ["cuda:100"], indirect=True)
@pytest.mark.parametrize(
    "left,to,message",
    [
        (gl.int32, None, "f32, f16, bf16 and 8-bit floats, not int32"),
        (gl.int8, gl.float16, "no packed arithmetic of 4-bit floats"),
        (gl.float64, None, "not fp64"),
        (gl.float32, gl.int32, "the result of add4"),
        (gl.float32, 3, "expected 'dtype' to be a dtype"),
    ],
)
def test_mistakes(left, to, message, target):
    with pytest.raises(tile.CompilationError, match=message):
        mixed_kernel[(1,)](poisoned(512, "fp32"), "add4", left, left, to)

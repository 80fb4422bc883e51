"""Layouts and buffers drawn without regard to whether they fit: the program is right, or the
compiler says at its line what does not fit."""

from __future__ import annotations

import random

import numpy as np
import pytest
from addresses import pointers
from fuzz import layouts as rl

from tile.errors import OutOfResources, SemanticError, TileError
from tile.experimental import gluon
from tile.experimental.gluon import language as gl


@gluon.jit
def move(
    x, o, M: gl.constexpr, N: gl.constexpr, A: gl.constexpr, B: gl.constexpr, S: gl.constexpr,
    WAY: gl.constexpr,
):  # fmt: skip
    """Through a buffer, or a view of one, and back: `o` is `x`, but for halves."""
    element: gl.constexpr = x.dtype.element_ty
    v = gl.load(pointers(x, M, N, A))
    if WAY == "convert":
        w = gl.convert_layout(v, B)
    elif WAY == "array":
        buffers = gl.allocate_shared_memory(element, [2, M, N], S)
        buffers.index(1).store(v)
        w = buffers.index(1).load(B)
    else:
        buffer = gl.allocate_shared_memory(element, [M, N], S, v)
        if WAY == "plain":
            w = buffer.load(B)
        elif WAY == "permute":
            w = buffer.permute((1, 0)).load(B).permute(1, 0)
        elif WAY == "reshape":
            w = buffer.reshape([M // 2, 2 * N]).load(B).reshape([M, N])
        else:
            half = gl.convert_layout(buffer.slice(0, M // 2).load(B), B)
            w = gl.join(half, half).permute(2, 0, 1).reshape([M, N])
    gl.store(pointers(o, M, N, A), gl.convert_layout(w, A))


def registers(rng: random.Random, shape: list[int], warps: int):
    """Any layout of registers, those of matrix instructions in any form."""
    mma = [
        gl.NVMMADistributedLayout([2, 0], rl.split(rng, warps, 2), [16, 8]),
        gl.NVMMADistributedLayout(
            [3, 0], [warps, 1], [16, rng.choice([8, 24, 64, 256]), rng.choice([8, 16, 32])]
        ),
        rl.blocked(rng, 2, warps),
    ]
    choices = [
        rl.blocked(rng, 2, warps),
        rl.linear(rng, shape, warps),
        gl.SliceLayout(rng.randrange(3), rl.blocked(rng, 3, warps)),
        *mma,
        gl.DotOperandLayout(rng.randrange(2), rng.choice(mma), rng.choice([0, 1, 2, 4, 8])),
    ]
    return rng.choice(choices)


def memory(rng: random.Random, shape: list[int]):
    """Any layout of a buffer."""
    bits = [[1 << b, 0] for b in range(5)] + [[0, 1 << b] for b in range(5)]
    rng.shuffle(bits)
    choices = [
        gl.NVMMASharedLayout(
            rng.choice([0, 32, 64, 128]), rng.choice([8, 16, 32]), 2, rng.random() < 0.5
        ),
        gl.SwizzledSharedLayout(
            rng.choice([1, 4, 16]), rng.choice([1, 8]), rng.choice([1, 8, 32]), rl.order(rng, 2)
        ),
        gl.PaddedSharedLayout.with_identity_for(
            [[rng.choice([1, 16, 1024]), rng.choice([1, 8])]], shape, rl.order(rng, 2)
        ),
        gl.SharedLinearLayout(bits[: rng.randrange(1, 10)]),
    ]
    return rng.choice(choices)


@pytest.mark.sweep
@pytest.mark.parametrize("target", ["cuda:80", "cuda:90"], indirect=True)
@pytest.mark.parametrize("seed", range(60))
def test_it_fits_or_is_refused(seed, target):
    rng = random.Random(seed)
    shape = [rng.choice([2, 4, 8, 16, 32, 64, 128]), rng.choice([1, 2, 4, 8, 16, 32, 64, 128])]
    warps = rng.choice([1, 2, 4, 8])
    way = rng.choice(["convert", "array", "plain", "permute", "reshape", "slice"])
    a, b = rl.blocked(rng, 2, warps), registers(rng, shape, warps)
    dtype = rng.choice([np.int8, np.float16, np.int32, np.float64])
    x = np.random.default_rng(seed).integers(0, 100, shape).astype(dtype)
    out = np.full(shape, 77, dtype)
    try:
        s = memory(rng, shape)
        move[(1,)](x, out, *shape, a, b, s, way, num_warps=warps)
    except OutOfResources:
        return
    except TileError as error:
        text = str(error)
        assert "internal error" not in text and "please report" not in text, text
        # The line that does not fit is shown, unless the layout itself is none.
        assert isinstance(error, SemanticError) or "in move" in text or "in pointers" in text, text
        return
    half = shape[0] // 2
    expected = np.concatenate([x[:half], x[:half]]) if way == "slice" else x
    np.testing.assert_array_equal(out, expected)

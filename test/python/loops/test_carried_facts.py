"""What is promised of a variable that a loop carries is known in it, and makes wide accesses."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tile
import tile.language as tl

pytestmark = [pytest.mark.both_ways, pytest.mark.every_target]


@tile.jit
def offsets_kernel(x_ptr, next_ptr, out_ptr, n, HINT: tl.constexpr):
    """An offset that comes from memory."""
    i = tl.arange(0, 1024)
    acc = tl.zeros([1024], tl.float16)
    at = 0
    for _ in range(n):
        if HINT:
            at = tl.multiple_of(at, 16)
        acc += tl.load(x_ptr + at + i)
        at = tl.load(next_ptr + at)
    tl.store(out_ptr + i, acc)


@tile.jit
def pointers_kernel(x_ptr, next_ptr, out_ptr, n, HINT: tl.constexpr):
    """Pointers that move by what comes from memory."""
    i = tl.arange(0, 1024)
    acc = tl.zeros([1024], tl.float16)
    pointers = x_ptr + i
    at = 0
    for _ in range(n):
        if HINT:
            pointers = tl.multiple_of(tl.max_contiguous(pointers, 1024), 16)
        acc += tl.load(pointers)
        step = tl.load(next_ptr + at) - at
        pointers += step
        at += step
    tl.store(out_ptr + i, acc)


@tile.jit
def while_kernel(x_ptr, next_ptr, out_ptr, n, HINT: tl.constexpr):
    i = tl.arange(0, 1024)
    acc = tl.zeros([1024], tl.float16)
    at = 0
    while n > 0:
        if HINT:
            at = tl.multiple_of(at, 16)
        acc += tl.load(x_ptr + at + i)
        at = tl.load(next_ptr + at)
        n -= 1
    tl.store(out_ptr + i, acc)


KERNELS = [offsets_kernel, pointers_kernel, while_kernel]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.fn.__name__)
def test_values(kernel):
    x = np.random.default_rng(1).integers(-4, 5, 4096).astype(np.float16)
    following = np.random.default_rng(2).integers(0, 128, 4096, dtype=np.int32) * 16
    for hint in (False, True):
        out = np.zeros(1024, np.float16)
        kernel[(1,)](x, following, out, 5, HINT=hint)
        want, at = np.zeros(1024, np.float16), 0
        for _ in range(5):
            want += x[at : at + 1024]
            at = following[at]
        np.testing.assert_array_equal(out, want)


@pytest.mark.compiled
@pytest.mark.nvidia("looks at PTX")
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.fn.__name__)
def test_accesses_are_wide(kernel):
    x, following = np.zeros(4096, np.float16), np.zeros(4096, np.int32)
    texts = [
        kernel[(1,)](x, following, np.zeros(1024, np.float16), 5, HINT=hint).asm["ptx"]
        for hint in (False, True)
    ]
    wide = [bool(re.search(r"ld\.global\S*\.v4\.b32|cp\.async\S+ \[.*, 16", t)) for t in texts]
    assert wide == [False, True]


def test_a_promise_that_does_not_hold_is_found_in_the_interpreter(monkeypatch):
    monkeypatch.setenv("TILE_INTERPRET", "1")
    x, following = np.zeros(4096, np.float16), np.full(4096, 5, np.int32)
    with pytest.raises(tile.TileError, match=r"tl\.multiple_of promises 16"):
        offsets_kernel[(1,)](x, following, np.zeros(1024, np.float16), 2, HINT=True)

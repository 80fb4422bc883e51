"""Buffers that kernels make in shared memory: against NumPy, and with mistakes that are found."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import numpy as np
import pytest
from blocks import KINDS, offsets, put, values, warps_for
from frontend import refusal
from reference import sim_only

import tile
import tile.language as tl
from tile.experimental.gluon import language as gl

pytestmark = [pytest.mark.both_ways, pytest.mark.every_target]

PAGE = Path(__file__).parents[3] / "docs" / "howto" / "shared-memory.md"


@tile.jit
def views_kernel(x_ptr, out_ptr, row, SHAPE: tl.constexpr):
    M: tl.constexpr = SHAPE[0]
    N: tl.constexpr = SHAPE[1]
    s = tl.shared(SHAPE, x_ptr.dtype.element_ty)
    s.store(tl.load(x_ptr + offsets(SHAPE)))
    put(out_ptr, s.T.load())
    put(out_ptr + M * N, s[row].load())
    put(out_ptr + M * N + N, s[-1, N // 2 :].load())
    s[: M // 2, N // 4 : N // 2].store(3)
    s[row].store(s[M - 1 - row].load())
    put(out_ptr + 2 * M * N, s.load())


@pytest.mark.sweep(4)
@pytest.mark.parametrize("dtype", ["fp32", "fp16", "i8", "i64", "bf16"])
@pytest.mark.parametrize("shape", [(8, 32), (64, 16), (2, 4), (32, 128)])
def test_views(shape, dtype):
    m, n = shape
    x = values(shape, dtype, 1)
    out = np.zeros(3 * x.size, x.dtype)
    row = m // 2 - 1
    views_kernel[(1,)](x, out, row, SHAPE=shape, num_warps=warps_for(shape, dtype))
    np.testing.assert_array_equal(out[: x.size].reshape(n, m), x.T)
    np.testing.assert_array_equal(out[x.size : x.size + n], x[row])
    np.testing.assert_array_equal(out[x.size + n : x.size + n + n // 2], x[-1, n // 2 :])
    want = x.copy()
    want[: m // 2, n // 4 : n // 2] = 3
    want[row] = want[m - 1 - row].copy()
    np.testing.assert_array_equal(out[2 * x.size :].reshape(shape), want)


@tile.jit
def cube_kernel(x_ptr, out_ptr, i, j):
    s = tl.shared((4, 8, 16), tl.int32)
    s.store(tl.load(x_ptr + offsets((4, 8, 16))))
    put(out_ptr, s[i, j].load())
    put(out_ptr + 16, s[i, 4:8, :4].load())
    put(out_ptr + 32, s.permute(2, 0, 1).load())


def test_buffers_of_three_dimensions():
    x = np.arange(512, dtype=np.int32).reshape(4, 8, 16)
    out = np.zeros(544, np.int32)
    cube_kernel[(1,)](x, out, 2, 5)
    np.testing.assert_array_equal(out[:16], x[2, 5])
    np.testing.assert_array_equal(out[16:32], x[2, 4:8, :4].ravel())
    np.testing.assert_array_equal(out[32:].reshape(16, 4, 8), x.transpose(2, 0, 1))


@tile.jit
def recurrence_kernel(x_ptr, out_ptr, steps, N: tl.constexpr):
    """Each step adds the state of four steps before it, shifted by one."""
    n = tl.arange(0, N)
    state = tl.shared((4, N), tl.int32)
    state.store(1)
    for k in range(steps):
        before = state[k % 4].gather((n + N - 1) % N, 0)
        now = tl.load(x_ptr + k * N + n) + before
        state[k % 4].store(now)
        tl.store(out_ptr + k * N + n, now)


@pytest.mark.parametrize("steps", [1, 3, 11])
def test_a_loop_hands_rows_on(steps):
    x = np.random.default_rng(2).integers(-99, 99, (steps, 64), dtype=np.int32)
    out, want = np.zeros_like(x), np.zeros_like(x)
    recurrence_kernel[(1,)](x, out, steps, N=64)
    state = np.ones((4, 64), np.int32)
    for k in range(steps):
        state[k % 4] = want[k] = x[k] + np.roll(state[k % 4], 1)
    np.testing.assert_array_equal(out, want)


@tile.jit
def atomics_kernel(x_ptr, i_ptr, out_ptr, old_ptr, OP: tl.constexpr, N: tl.constexpr):
    n = tl.arange(0, N)
    x, i = tl.load(x_ptr + n), tl.load(i_ptr + n)
    s = tl.shared((16,), x.dtype)
    s.store(5)
    if OP == "add":
        old = s.atomic_scatter_add(x, i, 0, mask=n < N - 7)
    elif OP == "max":
        old = s.atomic_scatter_max(x, i, 0, mask=n < N - 7)
    elif OP == "min":
        old = s.atomic_scatter_min(x, i, 0, mask=n < N - 7)
    else:
        old = s.atomic_scatter_xor(x, i, 0, mask=n < N - 7)
    put(out_ptr, s.load())
    tl.store(old_ptr + n, old, mask=n < N - 7)


ATOMICS = {"add": np.add, "max": np.maximum, "min": np.minimum, "xor": np.bitwise_xor}


@pytest.mark.sweep(3)
@pytest.mark.parametrize("op", ATOMICS)
@pytest.mark.parametrize("dtype", ["i32", "u32", "i64"])
def test_atomic_operations(op, dtype):
    chance = np.random.default_rng(3)
    x = chance.integers(0, 1000, 128).astype(KINDS[dtype])
    i = chance.integers(0, 16, 128).astype(np.int32)
    out, old = np.zeros(16, x.dtype), np.full(128, 1, x.dtype)
    atomics_kernel[(1,)](x, i, out, old, OP=op, N=128)
    want = np.full(16, 5, x.dtype)
    ATOMICS[op].at(want, i[:-7], x[:-7])
    np.testing.assert_array_equal(out, want)
    assert (old[-7:] == 1).all() and (old[:-7] == 5).any()


@tile.jit
def product_kernel(a_ptr, b_ptr, c_ptr, K, SWIZZLED: tl.constexpr, COPY: tl.constexpr):
    """A matmul whose copies run ahead by hand."""
    r = tl.arange(0, 32)
    layout: tl.constexpr = SWIZZLED
    a = tl.shared((2, 32, 32), tl.float16, layout)
    b = tl.shared((2, 32, 32), tl.float16, layout)
    acc = tl.zeros((32, 32), tl.float32)
    a_at, b_at = a_ptr + r[:, None] * K + r[None, :], b_ptr + r[:, None] * 32 + r[None, :]
    tl.async_copy(a[0], a_at)
    tl.async_copy(b[0], b_at)
    for k in range(0, K, 32):
        more = (r[None, :] * 0 + k + 32) < K
        slot = k // 32 % 2
        tl.async_copy(a[1 - slot], a_at + k + 32, mask=more, other=0.0)
        tl.async_copy(b[1 - slot], b_at + (k + 32) * 32, mask=more, other=0.0)
        tl.async_wait(2)
        acc = tl.dot(a[slot].load(), b[slot].load(), acc)
    tl.async_wait()
    tl.store(c_ptr + r[:, None] * 32 + r[None, :], acc)


@pytest.mark.parametrize("swizzled", [False, True])
def test_copies_that_run_ahead(swizzled):
    chance = np.random.default_rng(4)
    layout = gl.SwizzledSharedLayout(8, 1, 4, [1, 0]) if swizzled else None
    for k in (32, 160):
        a = chance.integers(-4, 5, (32, k)).astype(np.float16)
        b = chance.integers(-4, 5, (k, 32)).astype(np.float16)
        c = np.zeros((32, 32), np.float32)
        product_kernel[(1,)](a, b, c, k, SWIZZLED=layout, COPY=True)
        np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))


@tile.jit
def narrow_kernel(x_ptr, out_ptr):
    n = tl.arange(0, 64)
    s = tl.shared((64,), tl.int8)
    tl.async_copy(s, x_ptr + n * 3, mask=n % 5 > 0, other=-7)
    tl.async_wait()
    put(out_ptr, s.load())


def test_copies_that_no_instruction_makes():
    x = np.arange(192, dtype=np.uint8).view(np.int8)
    out = np.zeros(64, np.int8)
    narrow_kernel[(1,)](x, out)
    want = np.where(np.arange(64) % 5 > 0, x[::3], -7)
    np.testing.assert_array_equal(out, want)


# Places and lifetimes.


@tile.jit
def two_buffers(x_ptr, out_ptr, BOTH: tl.constexpr):
    n = tl.arange(0, 1024)
    s = tl.shared((1024,), tl.float32)
    s.store(tl.load(x_ptr + n))
    if not BOTH:
        put(out_ptr, s.gather(1023 - n, 0))
    t = tl.shared((1024,), tl.float32)
    t.store(tl.load(x_ptr + n) + 1)
    put(out_ptr + 1024, t.gather(1023 - n, 0))
    if BOTH:
        put(out_ptr, s.gather(1023 - n, 0))


@pytest.mark.compiled
@pytest.mark.parametrize("both", [False, True])
def test_buffers_share_a_place_if_they_can(both):
    x, out = np.random.default_rng(5).random(1024).astype(np.float32), np.zeros(2048, np.float32)
    kernel = two_buffers[(1,)](x, out, BOTH=both)
    np.testing.assert_array_equal(out, np.concatenate((x[::-1], x[::-1] + 1)))
    assert kernel.metadata.shared == (8192 if both else 4096)


# Mistakes.


@tile.jit
def mistaken(x_ptr, out_ptr, CASE: tl.constexpr):
    n = tl.arange(0, 128)
    s = tl.shared((2, 128), tl.float32)
    if CASE == "not waited":
        tl.async_copy(s[0], x_ptr + n)
        tl.async_copy(s[1], x_ptr + 128 + n)
        tl.async_wait(1)
        put(out_ptr, s[1].load())
    elif CASE == "unwritten":
        s[0].store(tl.load(x_ptr + n))
        put(out_ptr, s[1].load())
    elif CASE == "twice":
        s.store(0.0)
        s[0].scatter(tl.load(x_ptr + n), n // 2, 0)
        put(out_ptr, s[0].load())
    else:
        t = tl.shared((128,), tl.float32)
        t.store(0.0)
        put(out_ptr, t.gather(n + 1 + tl.load(x_ptr).to(tl.int32), 0))


MISTAKES = {
    "not waited": "async-race", "unwritten": "uninitialized", "twice": "race:",
    "outside": "out-of-bounds",
}  # fmt: skip


@sim_only
@pytest.mark.compiled
@pytest.mark.parametrize("case", MISTAKES)
def test_the_simulator_finds_mistakes(case, machine):
    if case == "not waited" and machine != "compiled":
        pytest.skip("this copy happens at once there")
    x = np.random.default_rng(6).random(256).astype(np.float32)
    with pytest.raises(tile.TileError, match=MISTAKES[case]):
        mistaken[(1,)](x, np.zeros(256, np.float32), CASE=case)


def test_the_interpreter_finds_indices_out_of_range(monkeypatch):
    monkeypatch.setenv("TILE_INTERPRET", "1")
    with pytest.raises(tile.TileError, match="index 128 is not in dimension 0 of 128 elements"):
        mistaken[(1,)](np.zeros(256, np.float32), np.zeros(256, np.float32), CASE="outside")


# What is refused.

BAD = {
    "tl.shared([3], tl.float32)": "the extent 3, which is not a power of two",
    "tl.shared([4], tl.int1)": "a buffer has no elements of int1; use tl.int8",
    "tl.shared([4], 3)": "a buffer has elements of a type such as tl.float32, not 3",
    "tl.shared([n], tl.float32)": "must be known at compile time",
    "tl.shared([4], tl.float32, 'rows')": "the layout of a buffer of shape [4] is one of shared "
                                          "memory, of 1 dimensions, not 'rows'",
    "s.store(p)": "a buffer of fp32 takes no pointer<fp32>",
    "s.store(tl.zeros([16, 4], tl.float32))": "cannot broadcast shape [16, 4] to [8, 16]",
    "s[8]": "there is no buffer 8 of 8",
    "s[n:]": "slices of a buffer need constant bounds; a scalar selects a row: s[i]",
    "s[::2]": "slices of a buffer take neighbouring elements, a step of 1",
    "s[2:6]": "a slice of a buffer has a power of two of elements and begins at a multiple of it, "
              "not 2:6",
    "s[:, 3]": "indices of a buffer come before its slices",
    "s[1][3]": "one element of a buffer is no buffer; use s.gather(indices, axis), or slices",
    "s[1.5]": "a buffer is indexed with integers and slices, not with float",
    "s.T[1]": "only the slowest dimension of a buffer is indexed; use slices for others",
    "s[:4][1]": "a slice of a buffer is not indexed; index first, then slice",
    "s[0] = 1": "elements of a shared_block cannot be assigned",
    "s + 1": "unsupported operand type(s) for +: shared_block and int",
    "tl.async_copy(p, p)": "async_copy copies into a buffer of tl.shared, not pointer<fp32>",
    "tl.async_copy(s, p)": "async_copy takes a block of pointers, not one pointer",
    "tl.async_copy(s, p + tl.arange(0, 8))": "async_copy copies [8] elements of fp32 into a buffer "
                                             "of [8, 16] of fp32; both must agree",
    "tl.async_wait(n)": "async_wait takes a constant number of groups, not int32",
    "s.scatter(tl.zeros([4, 16], tl.int32), tl.zeros([4, 16], tl.int32), 0)":
        "scatter needs values of fp32, like the buffer, not of int32",
}  # fmt: skip


@pytest.mark.compiled
@pytest.mark.parametrize("code", BAD)
def test_refused(code, tmp_path):
    file = tmp_path / "kernel.py"
    file.write_text(
        "import tile\nimport tile.language as tl\n\n\n@tile.jit\ndef kernel(p, n):\n"
        f"    s = tl.shared([8, 16], tl.float32)\n    {code}\n"
    )
    kernel = runpy.run_path(str(file))["kernel"]
    assert BAD[code] in str(refusal(kernel, {"p": "*fp32", "n": "i32"}))


def test_the_program_of_the_page(tmp_path):
    (code,) = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.S | re.M)
    file = tmp_path / "program.py"
    file.write_text(code)
    runpy.run_path(str(file))

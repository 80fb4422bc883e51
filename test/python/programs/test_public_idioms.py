"""What kernels in the wild do that is easily forgotten."""

from __future__ import annotations

import numpy as np
import pytest

import tile
import tile.language as tl
from tile.tools.tensor_descriptor import TensorDescriptor

pytestmark = pytest.mark.both_ways


@tile.jit
def zeros_of(N: tl.constexpr, dtype):
    kind: tl.constexpr = dtype.value
    return tl.zeros((N,), kind) + 3


@tile.jit
def dtype_passed_on(out, TYPE: tl.constexpr):
    x = zeros_of(4, TYPE)
    tl.static_assert(x.dtype == TYPE)
    tl.store(out + tl.arange(0, 4), zeros_of(4, tl.int32) + x.to(tl.int32))


def test_a_type_passed_to_a_function_is_a_constant_with_a_value():
    out = np.zeros(4, np.int32)
    dtype_passed_on[(1,)](out, tl.float16)
    assert out.tolist() == [6] * 4


@tl.constexpr
def half(n):
    return n // 2


class Namespace:
    third = tl.constexpr(lambda n: n // 3)


@tile.jit
def calls_constants(out, N: tl.constexpr):
    x = tl.arange(0, half(N))
    tl.store(out + x, x + Namespace.third(N))


def test_python_functions_that_are_constants_can_be_called():
    out = np.zeros(8, np.int32)
    calls_constants[(1,)](out, 16)
    assert out.tolist() == [i + 5 for i in range(8)]


@tile.jit
def run_time_constexpr(out, n, B: tl.constexpr):
    t: tl.constexpr = B * n
    k: tl.constexpr = B + 1
    tl.store(out + tl.arange(0, 4), tl.zeros((k - 1,), tl.int32) + t)


def test_a_constexpr_variable_may_be_known_at_run_time_only():
    out = np.zeros(4, np.int32)
    run_time_constexpr[(1,)](out, 5, 4)
    assert out.tolist() == [20] * 4


@tile.jit
def from_standard(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(out + i, v + tl.standard.zeros_like(v) + tl.standard._log2(N))


def test_names_in_the_standard_module():
    x, out = np.arange(16, dtype=np.int32), np.zeros(16, np.int32)
    from_standard[(1,)](x, out, 16)
    np.testing.assert_array_equal(out, x + 4)


@tile.jit
def some_of(x, out, N: tl.constexpr, K: tl.constexpr, DESCENDING: tl.constexpr):
    row = tl.arange(0, 4)[:, None]
    v = tl.load(x + row * N + tl.arange(0, N)[None, :])
    tl.store(out + row * K + tl.arange(0, K)[None, :], tl.topk(v, K, descending=DESCENDING))


@pytest.mark.sweep
@pytest.mark.parametrize("k", [1, 2, 8, 16])
@pytest.mark.parametrize("descending", [True, False])
@pytest.mark.parametrize("kind", [np.float32, np.int32, np.float16])
def test_topk_in_both_directions(k, descending, kind):
    x = np.random.default_rng(k).integers(-99, 99, (4, 16)).astype(kind)
    out = np.zeros((4, k), kind)
    some_of[(1,)](x, out, 16, k, descending)
    expected = np.sort(x, axis=1)
    expected = expected[:, ::-1][:, :k] if descending else expected[:, :k]
    np.testing.assert_array_equal(out, expected)


@tile.jit
def programs(out, AXIS: tl.constexpr):
    tl.store(out, tl.program_id(AXIS) + tl.num_programs(AXIS))


@pytest.mark.parametrize("axis", [-1, 3, 1.0, True, "x", None])
def test_axes_of_the_grid_out_of_range(axis):
    with pytest.raises(tile.CompilationError, match="axis must be 0, 1, or 2"):
        programs[(1,)](np.zeros(1, np.int32), axis)


@tile.jit
def expanded(x, AXIS: tl.constexpr):
    v = tl.expand_dims(tl.load(x + tl.arange(0, 4)), AXIS)
    tl.static_assert(len(v.shape) == 2)


@pytest.mark.parametrize("axis", [-3, 2, 1.5, True, (0, 3), (0, 0), (0, -3)])
def test_axes_of_new_dimensions_out_of_range(axis):
    with pytest.raises(tile.CompilationError, match="expand_dims"):
        expanded[(1,)](np.zeros(4, np.int32), axis)


@tile.jit
def sorted_along(x, AXIS: tl.constexpr, WHAT: tl.constexpr):
    v = tl.zeros((4, 8), tl.int32)
    if WHAT == "sort":
        tl.sort(v, AXIS)
    else:
        tl.topk(v, 2, AXIS)


@pytest.mark.parametrize("what", ["sort", "topk"])
@pytest.mark.parametrize("axis", [0, 2, -2, -3, 5])
def test_dimensions_that_cannot_be_sorted(axis, what):
    with pytest.raises(tile.CompilationError, match="only the last dimension of 2 can be sorted"):
        sorted_along[(1,)](np.zeros(1, np.int32), axis, what)


@tile.jit
def by_descriptor(desc):
    desc.store([0, 0], desc.load([0, 0]))


@tile.jit
def by_pointer(x, N: tl.constexpr):
    desc = tl.make_tensor_descriptor(x, [32, 32], [32, 1], [4, N])
    desc.store([0, 0], desc.load([0, 0]))


@pytest.mark.parametrize(("kind", "n"), [(np.float32, 2), (np.float16, 4), (np.int8, 8)])
def test_descriptors_of_blocks_under_16_bytes(kind, n):
    x = np.zeros((32, 32), kind)
    with pytest.raises(tile.TileError, match="at least 16 bytes"):
        by_descriptor[(1,)](TensorDescriptor.from_tensor(x, [4, n]))
    with pytest.raises(tile.TileError, match="at least 16 bytes"):
        by_pointer[(1,)](x, n)
    by_descriptor[(1,)](TensorDescriptor.from_tensor(x, [4, 2 * n]))
    by_pointer[(1,)](x, 2 * n)


@tile.jit
def products_of_one_tensor(x, w, out, N: tl.constexpr, W: tl.constexpr):
    """Three dots read `b`: on either side, and transposed; one sums up what it multiplies."""
    i, j = tl.arange(0, N), tl.arange(0, W)
    at, square = i[:, None] * W + j[None, :], i[:, None] * N + i[None, :]
    a, b = tl.load(x + at), tl.load(w + at)
    scores = tl.dot(a, tl.trans(b))
    total = tl.load(out + at)
    total += tl.dot(tl.where(i[:, None] >= i[None, :], scores, 0.0).to(b.dtype), b)
    overlaps = tl.dot(b, tl.trans(b))
    total -= tl.dot(overlaps.to(b.dtype), total.to(b.dtype))
    tl.store(out + at, total)
    tl.store(out + N * W + square, overlaps)


@pytest.mark.parametrize("num_warps", [1, 4])
def test_products_of_one_tensor_share_its_buffer(num_warps):
    n, width = 32, 64
    rng = np.random.default_rng(0)
    x, w = (rng.integers(-2, 3, (n, width)).astype(np.float16) for _ in range(2))
    start = rng.integers(-2, 3, (n, width)).astype(np.float32)
    out = np.concatenate([start.ravel(), np.full(n * n, np.nan, np.float32)])
    products_of_one_tensor[(1,)](x, w, out, n, width, num_warps=num_warps)
    a, b = x.astype(np.float64), w.astype(np.float64)
    total = start + (np.tril(a @ b.T).astype(np.float16).astype(np.float64) @ b)
    total -= (b @ b.T) @ total.astype(np.float16).astype(np.float64)
    np.testing.assert_allclose(out[: n * width].reshape(n, width), total, rtol=1e-6)
    assert (out[n * width :].reshape(n, n) == b @ b.T).all()

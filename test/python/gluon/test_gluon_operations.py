"""What operations compute on tensors and buffers in layouts drawn at random, against NumPy."""

from __future__ import annotations

import random

import numpy as np
import pytest
from addresses import pointers
from fuzz import layouts as rl
from reference import poisoned
from reference import random as values

from tile.errors import TileError
from tile.experimental import gluon
from tile.experimental.gluon import language as gl

#: Lanes of a warp.
LANES = {"cuda:80": 32, "cuda:90": 32, "hip:gfx942": 64, "hip:gfx1100": 32}
everywhere = pytest.mark.parametrize("target", list(LANES), indirect=True)
SHAPES = [[16, 32], [64, 8], [8, 64], [32, 32], [4, 128]]


def draw(seed: int):
    rng = random.Random(seed)
    return rng, list(rng.choice(SHAPES))


@gluon.jit
def chain(
    x_ptr, y_ptr, row_ptr, M: gl.constexpr, N: gl.constexpr, A: gl.constexpr, B: gl.constexpr,
    C: gl.constexpr,
):  # fmt: skip
    x = gl.convert_layout(gl.load(pointers(x_ptr, M, N, A)), B)
    sums = gl.sum(x, 1)
    largest = gl.max(x, 0)
    y = x * 2 + sums[:, None] - largest[None, :]
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, B))
    gl.store(row_ptr + rows, sums)
    gl.store(pointers(y_ptr, M, N, C), gl.convert_layout(y, C))


@pytest.mark.parametrize("seed", range(24))
def test_conversions_and_reductions(seed):
    rng, shape = draw(seed)
    m, n = shape
    warps = rng.choice([1, 2, 4, 8])
    a, b, c = (rl.distributed(rng, shape, warps) for _ in range(3))
    x = (values(shape, "i8", seed) % 50).astype(np.int32)
    y, rows = poisoned(shape, "i32"), poisoned(m, "i32")
    chain[(1,)](x, y, rows, m, n, a, b, c, num_warps=warps)
    np.testing.assert_array_equal(rows, x.sum(1))
    np.testing.assert_array_equal(y, x * 2 + x.sum(1)[:, None] - x.max(0)[None, :])


@gluon.jit
def shapes_kernel(x_ptr, t_ptr, j_ptr, r_ptr, M: gl.constexpr, N: gl.constexpr, A: gl.constexpr):
    x = gl.load(pointers(x_ptr, M, N, A))
    t = x.permute(1, 0)
    gl.store(pointers(t_ptr, N, M, t.type.layout), t)
    low, high = gl.split(gl.join(x, x + 100))
    gl.store(pointers(j_ptr, M, N, low.type.layout), low + gl.convert_layout(high, low.type.layout))
    r = x.reshape([M * N])
    gl.store(r_ptr + gl.arange(0, M * N, layout=r.type.layout), r)


@pytest.mark.parametrize("seed", range(16))
def test_shapes(seed):
    rng, shape = draw(100 + seed)
    m, n = shape
    layout = rl.distributed(rng, shape)
    x = values(shape, "i32", seed)
    t, j, r = poisoned((n, m), "i32"), poisoned((m, n), "i32"), poisoned(m * n, "i32")
    shapes_kernel[(1,)](x, t, j, r, m, n, layout)
    np.testing.assert_array_equal(t, x.T)
    np.testing.assert_array_equal(j, 2 * x + 100)
    np.testing.assert_array_equal(r, x.reshape(-1))


@gluon.jit
def through_memory(
    x_ptr, y_ptr, z_ptr, M: gl.constexpr, N: gl.constexpr, A: gl.constexpr, B: gl.constexpr,
    SHARED: gl.constexpr,
):  # fmt: skip
    element: gl.constexpr = x_ptr.dtype.element_ty
    x = gl.load(pointers(x_ptr, M, N, A))
    buffers = gl.allocate_shared_memory(element, [2, M, N], SHARED)
    buffers.index(0).store(x)
    buffers.index(1).store(x + 1)
    one = gl.num_programs(0)
    gl.store(pointers(y_ptr, M, N, B), buffers.index(one).load(B))
    # Half of the rows, twice: from a buffer that is filled at once.
    filled = gl.allocate_shared_memory(element, [M, N], SHARED, x)
    HALF: gl.constexpr = M // 2
    for part in gl.static_range(2):
        rows = filled.slice(part * HALF, HALF)
        gl.store(pointers(z_ptr + part * HALF * N, HALF, N, B), rows.load(B))


@pytest.mark.sweep
@pytest.mark.parametrize("dtype", ["i32", "fp16", "i8"])
@pytest.mark.parametrize("seed", range(16))
def test_buffers(seed, dtype):
    rng, shape = draw(200 + seed)
    m, n = shape
    x = values(shape, dtype, seed)
    layout = rl.shared(rng, shape, 8 * x.itemsize)
    a, b = rl.blocked(rng, 2), rl.blocked(rng, 2)
    y, z = poisoned(shape, dtype), poisoned(shape, dtype)
    through_memory[(1,)](x, y, z, m, n, a, b, layout)
    np.testing.assert_array_equal(y, x + x.dtype.type(1))
    np.testing.assert_array_equal(z, x)


@gluon.jit
def views_kernel(
    x_ptr, t_ptr, r_ptr, b_ptr, M: gl.constexpr, N: gl.constexpr, A: gl.constexpr,
    SHARED: gl.constexpr, FLAT: gl.constexpr,
):  # fmt: skip
    x = gl.load(pointers(x_ptr, M, N, A))
    buffer = gl.allocate_shared_memory(gl.int32, [M, N], SHARED, x)
    gl.store(pointers(t_ptr, N, M, A), buffer.permute((1, 0)).load(A))
    flat = buffer.reshape([M * N])
    gl.store(r_ptr + gl.arange(0, M * N, layout=FLAT), flat.load(FLAT))
    # The bits of one buffer as floats.
    floats = buffer.reinterpret(gl.float32, [M, N], SHARED)
    gl.store(pointers(b_ptr, M, N, A), floats.load(A))


@pytest.mark.parametrize("seed", range(16))
def test_views_of_buffers(seed):
    rng, shape = draw(300 + seed)
    m, n = shape
    shared = rl.shared(rng, shape, 32)
    if isinstance(shared, gl.PaddedSharedLayout):
        shared = gl.SwizzledSharedLayout(2, 1, 4, [1, 0])
    a, flat = rl.blocked(rng, 2), rl.blocked(rng, 1)
    x = values(shape, "i32", seed)
    t, r, b = poisoned((n, m), "i32"), poisoned(m * n, "i32"), poisoned(shape, "fp32")
    views_kernel[(1,)](x, t, r, b, m, n, a, shared, flat)
    np.testing.assert_array_equal(t, x.T)
    np.testing.assert_array_equal(r, x.reshape(-1))
    np.testing.assert_array_equal(b.view(np.int32), x)


@gluon.jit
def collective_kernel(
    x_ptr, scan_ptr, gather_ptr, hist_ptr, sum_ptr, N: gl.constexpr, A: gl.constexpr,
    BINS: gl.constexpr,
):  # fmt: skip
    i = gl.arange(0, N, layout=A)
    x = gl.load(x_ptr + i)
    gl.store(scan_ptr + i, gl.cumsum(x, 0))
    gl.store(gather_ptr + i, gl.gather(x, N - 1 - i, 0))
    bins = gl.histogram(x & 15, 16, layout=BINS)
    gl.store(hist_ptr + gl.arange(0, 16, layout=BINS), bins)
    gl.atomic_add(sum_ptr + (i & 3), x, sem="relaxed")


@pytest.mark.parametrize("seed", range(8))
def test_collectives(seed):
    rng = random.Random(400 + seed)
    n = rng.choice([64, 256, 1024])
    x = (values(n, "i32", seed) % 100).astype(np.int32)
    scan, gathered = poisoned(n, "i32"), poisoned(n, "i32")
    hist, sums = poisoned(16, "i32"), np.zeros(4, np.int32)
    collective_kernel[(1,)](
        x, scan, gathered, hist, sums, n, rl.blocked(rng, 1), rl.blocked(rng, 1)
    )
    np.testing.assert_array_equal(scan, np.cumsum(x))
    np.testing.assert_array_equal(gathered, x[::-1])
    np.testing.assert_array_equal(hist, np.bincount(x & 15, minlength=16))
    np.testing.assert_array_equal(sums, [x[k::4].sum() for k in range(4)])


@gluon.jit
def open_layouts(x_ptr, y_ptr, n, flag, M: gl.constexpr, N: gl.constexpr, A: gl.constexpr):
    # Nothing here says a layout but the loads; offsets, masks and sums follow.
    rows, columns = gl.arange(0, M), gl.arange(0, N)
    offsets = rows[:, None] * N + columns[None, :]
    mask = offsets < n
    total = gl.zeros([M, N], gl.int32)
    for k in range(n // 100):
        total += k
        if flag > 0:
            total = total * 2
    x = gl.load(gl.set_auto_layout(x_ptr + offsets, A), mask, other=-1)
    gl.store(y_ptr + offsets, x + total, mask)


@pytest.mark.parametrize("flag", [0, 1])
@pytest.mark.parametrize("seed", range(4))
def test_open_layouts(seed, flag):
    rng, shape = draw(500 + seed)
    m, n = shape
    count = rng.randrange(m * n)
    x, y = values(shape, "i32", seed), poisoned(shape, "i32")
    before = y.copy()
    open_layouts[(1,)](x, y, count, flag, m, n, rl.blocked(rng, 2))
    total = 0
    for k in range(count // 100):
        total = (total + k) * (2 if flag else 1)
    inside = np.arange(m * n).reshape(shape) < count
    np.testing.assert_array_equal(y, np.where(inside, x + total, before))


@gluon.jit
def coalesced_kernel(x_ptr, y_ptr, M: gl.constexpr, N: gl.constexpr, TURNED: gl.constexpr):
    rows = gl.arange(0, M, layout=gl.CoalescedLayout())
    columns = gl.arange(0, N, layout=gl.CoalescedLayout())
    if TURNED:
        offsets = rows[:, None] + columns[None, :] * M
    else:
        offsets = rows[:, None] * N + columns[None, :]
    gl.store(y_ptr + offsets, gl.load(x_ptr + offsets) + 1)


@pytest.mark.parametrize("turned", [False, True])
def test_coalesced_layouts(turned):
    x, y = values((64, 64), "fp32", 1), poisoned((64, 64), "fp32")
    kernel = coalesced_kernel[(1,)](x, y, 64, 64, turned)
    np.testing.assert_array_equal(y, x + np.float32(1))
    order = "[0, 1]" if turned else "[1, 0]"
    assert f"order = {order}" in kernel.asm["ttgir"]
    assert "ld.global.v4" in kernel.asm["ptx"]


# Layouts that are the same in other words, and operators of aggregates.


@gluon.jit
def halves_kernel(y_ptr, A: gl.constexpr):
    """The halves of a tensor, and the tensor that they were."""
    x = gl.expand_dims(gl.arange(0, 32, gl.SliceLayout(1, A)), 1) * 64
    x = x + gl.expand_dims(gl.arange(0, 64, gl.SliceLayout(0, A)), 0)
    left, right = x.reshape([32, 2, 32]).permute([0, 2, 1]).split()
    gl.static_assert(left.type.layout == right.type.layout)
    again = gl.join(left, right).permute([0, 2, 1]).reshape([32, 64])
    rows = gl.arange(0, 32, gl.SliceLayout(1, A))
    columns = gl.arange(0, 64, gl.SliceLayout(0, A))
    gl.store(y_ptr + rows[:, None] * 64 + columns[None, :], x + again)


@everywhere
def test_halves_are_joined_to_what_they_were(target):
    lanes = LANES[target]
    layout = gl.BlockedLayout([1, 64], [lanes, 1], [4, 1], [0, 1])
    y = poisoned((32, 64), "i32")
    halves_kernel[(1,)](y, layout)
    np.testing.assert_array_equal(y, 2 * np.arange(32 * 64).reshape(32, 64))


def test_a_half_is_a_slice():
    from tile.experimental.gluon.language._inference import infer

    whole = gl.BlockedLayout([2, 2], [32, 1], [4, 1], [1, 0])
    half = infer("split", whole, [128, 2], [], [128])
    assert half == gl.SliceLayout(1, whole)
    assert infer("join", half, [128], [], [128, 2]) == whole
    # Of another slice it is not the parent that a join makes.
    rows = gl.SliceLayout(1, gl.BlockedLayout([1, 1], [16, 2], [4, 1], [1, 0]))
    assert infer("join", rows, [64], [], [64, 2]) != rows.parent


@gluon.aggregate
class Scaled:
    """A tensor and how often it counts."""

    value: gl.tensor
    times: gl.constexpr

    def __init__(self, value, times):
        self.value = value
        self.times = times

    @gluon.jit
    def __add__(self, other):
        return self.value * self.times + other

    @gluon.jit
    def __rsub__(self, other):
        return other - self.value * self.times

    @gluon.jit
    def __neg__(self):
        return -self.value * self.times

    @gluon.jit
    def __lt__(self, other):
        return self.value * self.times < other

    @gluon.jit
    def __gt__(self, other):
        return self.value * self.times > other


@gluon.jit
def operators_kernel(y_ptr, A: gl.constexpr):
    i = gl.arange(0, 128, A)
    scaled = Scaled(i, 3)
    less, more = scaled < 30, gl.to_tensor(60) < scaled
    total = (scaled + 1) * 10000 + (7 - scaled) * 100 + -scaled
    gl.store(y_ptr + i, gl.where(less, total, gl.where(more, 1, i - scaled)))


@everywhere
def test_operators_of_aggregates(target):
    y = poisoned(128, "i32")
    operators_kernel[(1,)](y, gl.BlockedLayout([1], [LANES[target]], [4], [0]))
    i = np.arange(128)
    total = (3 * i + 1) * 10000 + (7 - 3 * i) * 100 - 3 * i
    np.testing.assert_array_equal(y, np.where(3 * i < 30, total, np.where(3 * i > 60, 1, -2 * i)))


@gluon.jit
def sort_two(a, b):
    if a > b:
        return b, a
    return a, b


@gluon.jit
def sort_neighbours(x_ptr, y_ptr, M: gl.constexpr, N: gl.constexpr, A: gl.constexpr):
    x = gl.load(pointers(x_ptr, M, N, A))
    gl.store(pointers(y_ptr, M, N, A), gl.map_elementwise(sort_two, x, pack=2))


@pytest.mark.sweep(4)
@everywhere
@pytest.mark.parametrize("shape", [[16, 32], [2, 8], [64, 2]])
@pytest.mark.parametrize("each", [[1, 2], [2, 4], [4, 2]])
@pytest.mark.parametrize("order", [[1, 0], [0, 1]])
def test_maps_of_neighbours(target, shape, each, order):
    """Neighbours need not be in neighbouring registers."""
    m, n = shape
    layout = gl.BlockedLayout(each, [LANES[target] // 4, 4], [4, 1], order)
    x, y = values(shape, "i32", 5), poisoned(shape, "i32")
    sort_neighbours[(1,)](x, y, m, n, layout)
    np.testing.assert_array_equal(y, np.sort(x.reshape(-1, 2), axis=1).reshape(shape))


def test_maps_need_neighbours_in_a_thread():
    x = values([16, 32], "i32", 5)
    layout = gl.BlockedLayout([2, 1], [8, 4], [4, 1], [0, 1])
    with pytest.raises(TileError, match="a thread holds 2 neighbours along the last dimension"):
        sort_neighbours[(1,)](x, x.copy(), 16, 32, layout)

"""Memory of a block that does not wait: the first block of the cluster holds the barrier, and waits
for what comes to all of them. Other buffers come into that memory only when all blocks know."""

from __future__ import annotations

import numpy as np
import pytest
from reference import poisoned, random, sim_only

from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.nvidia.blackwell import (
    TensorMemoryLayout,
    allocate_tensor_memory,
    cluster,
    mbarrier,
    tcgen05_mma,
    tcgen05_mma_barrier_count,
    tma,
)
from tile.experimental.gluon.nvidia.blackwell import TensorDescriptor

pytestmark = sim_only
blackwell = pytest.mark.parametrize("target", ["cuda:100", "cuda:103"], indirect=True)

#: Rows and columns of all blocks together.
ROWS, COLUMNS = 256, 64
GRID = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0], cga_layout=[[1, 0]])
TURNED = gl.BlockedLayout([8, 1], [8, 4], [1, 4], [0, 1], cga_layout=[[1, 0]])
SHARED = gl.NVMMASharedLayout(128, 16, cga_layout=[[1, 0]])


@pytest.fixture(autouse=True)
def schedules(monkeypatch) -> None:
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "6")


@gluon.jit
def places(M: gl.constexpr, N: gl.constexpr, L: gl.constexpr):
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, L))
    columns = gl.arange(0, N, layout=gl.SliceLayout(0, L))
    return rows[:, None] * N + columns[None, :]


@gluon.jit
def use(x_ptr, y_ptr, HOW: gl.constexpr, M: gl.constexpr, N: gl.constexpr, L: gl.constexpr,
        OTHER: gl.constexpr, S: gl.constexpr):  # fmt: skip
    """Adds 1 by a buffer of its own, or by memory for an exchange among threads."""
    at = places(M, N, L)
    x = gl.load(x_ptr + at)
    if HOW == "buffer":
        buffer = gl.allocate_shared_memory(gl.float16, [M, N], S)
        buffer.store(x)
        gl.store(y_ptr + at, buffer.load(L) + 1)
    else:
        gl.store(y_ptr + places(M, N, OTHER), gl.convert_layout(x, OTHER) + 1)


@gluon.jit
def start(a, GATHERS: gl.constexpr, R: gl.constexpr):
    """Starts a copy that nobody reads."""
    bar = mbarrier.allocate_mbarrier(two_ctas=True)
    mbarrier.init(bar, count=1)
    if GATHERS:
        buffer = gl.allocate_shared_memory(a.dtype, [32, a.block_shape[1]], a.layout)
        mbarrier.expect(bar, 32 * a.block_shape[1])
        tma.async_gather(a, gl.arange(0, 32, layout=R), 0, bar, buffer)
    else:
        buffer = gl.allocate_shared_memory(a.dtype, a.block_shape, a.layout)
        mbarrier.expect(bar, a.nbytes_per_cta)
        tma.async_load(a, [0, 0], bar, buffer)
    mbarrier.wait(bar, 0)


@gluon.jit
def copied(
    a, x_ptr, y_ptr, HOW: gl.constexpr, WHERE: gl.constexpr, MEETS: gl.constexpr,
    GATHERS: gl.constexpr, steps, M: gl.constexpr, N: gl.constexpr, L: gl.constexpr,
    OTHER: gl.constexpr, S: gl.constexpr, R: gl.constexpr,
):  # fmt: skip
    if WHERE == "straight":
        start(a, GATHERS, R)
    elif WHERE == "branch":
        if steps > 0:
            start(a, GATHERS, R)
    if MEETS:
        cluster.barrier()
    use(x_ptr, y_ptr, HOW, M, N, L, OTHER, S)
    cluster.barrier()


def check(x, y) -> None:
    np.testing.assert_array_equal(y, x + np.float16(1))


def run(how: str, where: str, meets: bool, gathers: bool = False):
    a, x = random((ROWS, COLUMNS), "fp16", 1), random((ROWS, COLUMNS), "fp16", 2)
    y = poisoned((ROWS, COLUMNS), "fp16")
    block = [1, COLUMNS] if gathers else [ROWS, COLUMNS]
    desc = TensorDescriptor.from_tensor(a, block, SHARED)
    rows = gl.SliceLayout(0, gl.BlockedLayout([1, 4], [32, 1], [1, 4], [1, 0]))
    kernel = copied[(1,)](
        desc, x, y, how, where, meets, gathers, 1, ROWS, COLUMNS, GRID, TURNED, SHARED, rows,
        num_ctas=2,
    )  # fmt: skip
    check(x, y)
    return kernel


@blackwell
@pytest.mark.parametrize("how", ["buffer", "exchange"])
@pytest.mark.parametrize("where", ["straight", "branch"])
def test_copies(how, where, target):
    run(how, where, meets=False)


@blackwell
def test_memory_is_used_again_where_blocks_meet(target):
    """The barrier of the cluster tells the block that has not waited."""
    size = ROWS * COLUMNS  # Half of it in each block, two bytes an element.
    assert run("buffer", "straight", meets=True).metadata.shared < 1.5 * size
    assert run("buffer", "straight", meets=False).metadata.shared >= 2 * size


@gluon.jit
def in_loop(a, x_ptr, y_ptr, steps, M: gl.constexpr, N: gl.constexpr, L: gl.constexpr,
            OTHER: gl.constexpr, S: gl.constexpr):  # fmt: skip
    """The barrier is another one each time; so is the buffer."""
    bar = mbarrier.allocate_mbarrier(two_ctas=True)
    mbarrier.init(bar, count=1)
    for k in range(steps):
        buffer = gl.allocate_shared_memory(a.dtype, a.block_shape, a.layout)
        mbarrier.expect(bar, a.nbytes_per_cta)
        tma.async_load(a, [0, 0], bar, buffer)
        mbarrier.wait(bar, k & 1)
        use(x_ptr + k * M * N, y_ptr + k * M * N, "buffer", M, N, L, OTHER, S)
        cluster.barrier()


@blackwell
def test_copies_in_loops(target):
    steps = 3
    a, x = random((ROWS, COLUMNS), "fp16", 1), random((steps, ROWS, COLUMNS), "fp16", 2)
    y = poisoned((steps, ROWS, COLUMNS), "fp16")
    desc = TensorDescriptor.from_tensor(a, [ROWS, COLUMNS], SHARED)
    in_loop[(1,)](desc, x, y, steps, ROWS, COLUMNS, GRID, TURNED, SHARED, num_ctas=2)
    check(x, y)


@gluon.jit
def multiplied(
    a, b, x_ptr, y_ptr, z_ptr, out_ptr, ACC: gl.constexpr, OUT: gl.constexpr, PAIR: gl.constexpr,
    HELD: gl.constexpr, MEETS: gl.constexpr, L: gl.constexpr, OTHER: gl.constexpr, S: gl.constexpr,
):  # fmt: skip
    """A dot whose sum nobody reads; then other buffers in shared and in tensor memory."""
    M: gl.constexpr = a.block_shape[0]
    N: gl.constexpr = b.block_shape[1]
    K: gl.constexpr = a.block_shape[1]
    at = places(M, N, OUT)
    z = gl.load(z_ptr + at)
    sa = gl.allocate_shared_memory(a.dtype, a.block_shape, a.layout)
    sb = gl.allocate_shared_memory(b.dtype, b.block_shape, b.layout)
    acc = allocate_tensor_memory(gl.float32, [M, N], ACC)
    bar = mbarrier.allocate_mbarrier(two_ctas=PAIR)
    done = mbarrier.allocate_mbarrier(two_ctas=HELD)
    mbarrier.init(bar, count=1)
    mbarrier.init(done, count=tcgen05_mma_barrier_count([sa, sb], False, PAIR))
    mbarrier.expect(bar, a.nbytes_per_cta + b.nbytes_per_cta)
    tma.async_load(a, [0, 0], bar, sa)
    tma.async_load(b, [0, 0], bar, sb)
    mbarrier.wait(bar, 0)
    tcgen05_mma(sa, sb, acc, use_acc=False, mbarriers=[done])
    mbarrier.wait(done, 0)
    if MEETS:
        cluster.barrier()
    use(x_ptr, y_ptr, "buffer", M, K, L, OTHER, S)
    other = allocate_tensor_memory(gl.float32, [M, N], ACC)
    other.store(z)
    gl.store(out_ptr + at, other.load() + 1)
    cluster.barrier()


def multiply(pair: bool, held: bool, meets: bool):
    n = 32
    a, b = random((ROWS, COLUMNS), "fp16", 1), random((COLUMNS, n), "fp16", 2)
    x, y = random((ROWS, COLUMNS), "fp16", 3), poisoned((ROWS, COLUMNS), "fp16")
    z = random((ROWS, n), "fp32", 4)
    acc = TensorMemoryLayout([128, n], 1, cga_layout=[[1, 0]], two_ctas=pair)
    of_b = gl.NVMMASharedLayout(32 if pair else 64, 16, cga_layout=[[0, 1]] if pair else [[0, 0]])
    out = gl.DistributedLinearLayout(
        [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]],
        [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], [[32, 0], [64, 0]], [[128, 0]], [ROWS, n],
    )  # fmt: skip
    result = poisoned((ROWS, n), "fp32")
    kernel = multiplied[(1,)](
        TensorDescriptor.from_tensor(a, [ROWS, COLUMNS], SHARED),
        TensorDescriptor.from_tensor(b, [COLUMNS, n], of_b),
        x, y, z, result, acc, out, pair, held, meets, GRID, TURNED, SHARED, num_ctas=2,
    )  # fmt: skip
    check(x, y)
    np.testing.assert_array_equal(result, z + 1)
    return kernel


@blackwell
@pytest.mark.parametrize(("pair", "held"), [(True, False), (False, True), (False, False)])
def test_dots(pair, held, target):
    """Pairs: the first block waits for what comes to both, and both for the dot."""
    kernel = multiply(pair, held, meets=False)
    size = ROWS * COLUMNS
    # Only a block that knows that the dot is done uses its operands' memory again.
    assert (kernel.metadata.shared >= 2 * size) == held
    assert (kernel.metadata.tmem_size >= 64) == held


@blackwell
def test_dots_where_blocks_meet(target):
    kernel = multiply(pair=False, held=True, meets=True)
    assert kernel.metadata.shared < 1.5 * ROWS * COLUMNS + 8192
    assert kernel.metadata.tmem_size == 32

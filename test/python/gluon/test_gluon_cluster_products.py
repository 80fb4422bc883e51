"""Dots of a cluster, whose blocks divide rows and columns in any order of the bits of their number.

Tensor memory knows one order: the lowest bits count along rows. Others are refused. All numbers are
small integers, so that sums are exact.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from reference import poisoned, sim_only

from tile.errors import TileError
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.nvidia.blackwell import (
    TensorMemoryLayout,
    allocate_tensor_memory,
    mbarrier,
    tcgen05_mma,
    tcgen05_mma_barrier_count,
    tma,
)
from tile.experimental.gluon.nvidia.blackwell import TensorDescriptor

pytestmark = [sim_only, pytest.mark.parametrize("target", ["cuda:100"], indirect=True)]

#: Rows and columns of a block's part of the sum, and the elements that are added up.
ROWS, COLUMNS, DEPTH = 128, 32, 32


@gluon.jit
def product(a, b, c_ptr, ACC: gl.constexpr, OUT: gl.constexpr, MULTICAST: gl.constexpr):
    M: gl.constexpr = a.block_shape[0]
    N: gl.constexpr = b.block_shape[1]
    sa = gl.allocate_shared_memory(a.dtype, a.block_shape, a.layout)
    sb = gl.allocate_shared_memory(b.dtype, b.block_shape, b.layout)
    acc = allocate_tensor_memory(gl.float32, [M, N], ACC)
    copied = mbarrier.allocate_mbarrier(two_ctas=ACC.two_ctas)
    done = mbarrier.allocate_mbarrier()
    mbarrier.init(copied, count=1)
    mbarrier.init(done, count=tcgen05_mma_barrier_count([sa, sb], MULTICAST, ACC.two_ctas))
    mbarrier.expect(copied, a.nbytes_per_cta + b.nbytes_per_cta)
    tma.async_load(a, [0, 0], copied, sa, multicast=MULTICAST)
    tma.async_load(b, [0, 0], copied, sb, multicast=MULTICAST)
    mbarrier.wait(copied, 0)
    tcgen05_mma(sa, sb, acc, use_acc=False, multicast=MULTICAST, mbarriers=[done])
    mbarrier.wait(done, 0)
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, OUT))
    columns = gl.arange(0, N, layout=gl.SliceLayout(0, OUT))
    gl.store(c_ptr + rows[:, None] * N + columns[None, :], gl.convert_layout(acc.load(), OUT))


def bases(dims: str) -> list[list[int]]:
    """What each bit of a block's number counts: rows (m), columns (n), or nothing (-)."""
    steps = {"m": 1, "n": 1}
    found = []
    for dim in dims:
        found.append(
            [steps[dim] * (dim == "m"), steps[dim] * (dim == "n")] if dim != "-" else [0, 0]
        )
        if dim != "-":
            steps[dim] *= 2
    return found


def run(of_sum: str, of_a: str, of_b: str, two_ctas: bool, multicast: bool) -> None:
    m, n = ROWS << of_sum.count("m"), COLUMNS << of_sum.count("n")
    rng = np.random.default_rng(len(of_sum))
    a = rng.integers(-3, 4, (m, DEPTH)).astype(np.float16)
    b = rng.integers(-3, 4, (DEPTH, n)).astype(np.float16)
    descs = [
        TensorDescriptor.from_tensor(
            x, x.shape,
            gl.NVMMASharedLayout.get_default_for(x.shape, gl.float16, cga_layout=bases(dims)),
        )
        for x, dims in ((a, of_a), (b, of_b))
    ]  # fmt: skip
    acc = TensorMemoryLayout([ROWS, COLUMNS], 1, cga_layout=bases(of_sum), two_ctas=two_ctas)
    out = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0], cga_layout=bases(of_sum))
    c = poisoned((m, n), "fp32")
    product[(1,)](*descs, c, acc, out, multicast, num_ctas=1 << len(of_sum))
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))


ORDERS = ["".join(dims) for bits in (1, 2, 3) for dims in itertools.product("mn", repeat=bits)]


def run_or_be_refused(order: str, of_b: str, two_ctas: bool, multicast: bool) -> None:
    operands = order.replace("n", "-"), of_b
    if "nm" not in order:
        run(order, *operands, two_ctas, multicast)
        return
    with pytest.raises(TileError, match="no code for tensor memory whose blocks"):
        run(order, *operands, two_ctas, multicast)


@pytest.mark.sweep
@pytest.mark.parametrize("multicast", [False, True])
@pytest.mark.parametrize("order", ORDERS)
def test_each_block_has_its_part_of_the_sum(order, multicast, target):
    run_or_be_refused(order, order.replace("m", "-"), False, multicast)


@pytest.mark.sweep
@pytest.mark.parametrize("multicast", [False, True])
@pytest.mark.parametrize("order", [order for order in ORDERS if order.startswith("m")])
def test_pairs_have_halves_of_the_columns(order, multicast, target):
    run_or_be_refused(order, "n" + order[1:].replace("m", "-"), True, multicast)


@pytest.mark.parametrize(
    "of_a, of_b, which",
    [("-m", "n-", "rows of a"), ("mm", "-n", "rows of a"), ("m-", "n-", "columns of b")],
)
def test_operands_that_are_divided_otherwise_are_refused(of_a, of_b, which, target):
    with pytest.raises(TileError, match=f"blocks of the cluster divide the {which}"):
        run("mn", of_a, of_b, False, False)

"""Dots of a cluster, whose blocks divide rows and columns in any order of the bits of their number.

An order is a letter for each bit of a block's number, the lowest first. It counts parts of rows
(m), of columns (n), or nothing (-). A digit behind the letter says by what it counts: m2m1 is two
bits, of which the upper one counts single parts. All numbers are small integers, so that sums are
exact.
"""

from __future__ import annotations

import itertools
import re

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


def bits_of(order: str) -> list[tuple[str, int]]:
    """What each bit of a block's number counts, and by what."""
    steps = {"m": 1, "n": 1, "-": 0}
    found = []
    for dim, step in re.findall(r"([mn-])(\d?)", order):
        found.append((dim, int(step or steps[dim])))
        steps[dim] *= 2
    return found


def bases(order: str) -> list[list[int]]:
    return [[step * (dim == "m"), step * (dim == "n")] for dim, step in bits_of(order)]


def only(order: str, dim: str) -> str:
    """The order of an operand that blocks divide along one dimension."""
    return "".join(f"{d}{step}" if d == dim else "-" for d, step in bits_of(order))


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
    product[(1,)](*descs, c, acc, out, multicast, num_ctas=1 << len(bits_of(of_sum)))
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))


ORDERS = ["".join(dims) for bits in (1, 2, 3) for dims in itertools.product("mn", repeat=bits)]
#: Bits that count by larger steps first, and bits that count nothing.
UNUSUAL = [
    "m2m1", "n2n1", "m2m1n", "m2nm1", "nm2m1", "n2mn1", "m4m1m2", "n4n2n1", "-m", "-n", "m-n",
    "n-m", "-nm",
]  # fmt: skip


@pytest.mark.sweep
@pytest.mark.parametrize("multicast", [False, True])
@pytest.mark.parametrize("order", ORDERS + UNUSUAL)
def test_each_block_has_its_part_of_the_sum(order, multicast, target):
    run(order, only(order, "m"), only(order, "n"), False, multicast)


def of_pair(order: str) -> str:
    """How blocks divide B: those of a pair halve the columns that both compute."""
    return "n1" + "".join(f"n{2 * step}" if dim == "n" else "-" for dim, step in bits_of(order)[1:])


@pytest.mark.sweep
@pytest.mark.parametrize("multicast", [False, True])
@pytest.mark.parametrize("order", [order for order in ORDERS + UNUSUAL if order.startswith("m")])
def test_pairs_have_halves_of_the_columns(order, multicast, target):
    run(order, only(order, "m"), of_pair(order), True, multicast)


def test_pairs_divide_rows(target):
    with pytest.raises(TileError, match="they must divide the rows of the accumulator"):
        run("nm", only("nm", "m"), "nn", True, False)


@pytest.mark.parametrize("order, other", [("mn", "nm"), ("m1m2", "m2m1"), ("-m", "m-")])
def test_sums_in_another_order_are_refused(order, other, target):
    """Numbers would be those of other blocks."""
    match = "blocks of the cluster (divide|hold)"
    with pytest.raises(TileError, match=match):
        run(order, only(other, "m"), only(other, "n"), False, False)


@pytest.mark.parametrize(
    "of_a, of_b, which",
    [("-m", "n-", "rows of a"), ("mm", "-n", "rows of a"), ("m-", "n-", "columns of b")],
)
def test_operands_that_are_divided_otherwise_are_refused(of_a, of_b, which, target):
    with pytest.raises(TileError, match=f"blocks of the cluster divide the {which}"):
        run("mn", of_a, of_b, False, False)

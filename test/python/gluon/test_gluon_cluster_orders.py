"""Tensor memory whose parts blocks of a cluster have in any order: what moves there, and scales.

Dots are in test_gluon_cluster_products.py, and orders are written as there.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from addresses import pointers
from reference import poisoned, sim_only
from tensor_buffers import bits_of, poison, registers_of, same_bits
from test_gluon_cluster_products import bases
from test_gluon_cluster_products import bits_of as bits_of_order

from tile.errors import TileError
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.nvidia.blackwell import (
    TensorMemoryLayout,
    TensorMemoryScalesLayout,
    allocate_tensor_memory,
    fence_async_shared,
    mbarrier,
    tcgen05_commit,
    tcgen05_copy,
    tcgen05_mma_scaled,
)

pytestmark = [sim_only, pytest.mark.parametrize("target", ["cuda:100"], indirect=True)]

ORDERS = ["mn", "nm", "m2m1", "n2n1", "-m", "n-", "nnm", "m2nm1"]


@gluon.jit
def move(
    x_ptr, y_ptr, DTYPE: gl.constexpr, M: gl.constexpr, N: gl.constexpr, LAYOUT: gl.constexpr,
    STORE: gl.constexpr, LOAD: gl.constexpr, PARTS: gl.constexpr,
):  # fmt: skip
    """Through all of a buffer; with PARTS, loads halves of its columns."""
    buffer = allocate_tensor_memory(DTYPE, [M, N], LAYOUT)
    buffer.store(gl.load(pointers(x_ptr, M, N, STORE)))
    if PARTS:
        low = buffer.slice(0, N // 2)
        high = buffer.slice(N // 2, N // 2)
        values = gl.join(low.load(), high.load()).permute((0, 2, 1)).reshape([M, N])
        gl.store(pointers(y_ptr, M, N, LOAD), gl.convert_layout(values, LOAD))
    else:
        gl.store(pointers(y_ptr, M, N, LOAD), buffer.load(LOAD))


def shape_of(order: str, rows: int, columns: int) -> list[int]:
    return [rows << order.count("m"), columns << order.count("n")]


@pytest.mark.sweep(3)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("rows", [64, 128, 256])
@pytest.mark.parametrize("warps", [4, 8])
@pytest.mark.parametrize("name", ["f32", "f16"])
def test_loads_and_stores(order, rows, warps, name, target):
    dtype, kind = {"f32": (gl.float32, np.float32), "f16": (gl.float16, np.float16)}[name]
    shape = shape_of(order, rows, 32)
    layout = TensorMemoryLayout([min(rows, 128), 32], 1, cga_layout=bases(order))
    store = registers_of(dtype, shape, layout, warps, "32x32b")
    load = registers_of(dtype, shape, layout, warps, "16x256b")
    x = bits_of(np.random.default_rng(0), kind, shape)
    y = poison(x.shape, x.dtype)
    options = {"num_warps": warps, "num_ctas": 1 << len(bits_of_order(order))}
    move[(1,)](x, y, dtype, *shape, layout, store, load, False, **options)
    same_bits(y, x)


@pytest.mark.parametrize("order", ["m", "m2m1", "-m", "m-"])
def test_parts_of_columns(order, target):
    shape = shape_of(order, 128, 64)
    layout = TensorMemoryLayout([128, 64], 1, cga_layout=bases(order))
    registers = registers_of(gl.float32, shape, layout, 4, "32x32b")
    x = bits_of(np.random.default_rng(0), np.float32, shape)
    y = poison(x.shape, x.dtype)
    options = {"num_ctas": 1 << len(bits_of_order(order))}
    move[(1,)](x, y, gl.float32, *shape, layout, registers, registers, True, **options)
    same_bits(y, x)


@pytest.mark.parametrize("order, other", [("mn", "nm"), ("m2m1", "m1m2"), ("-m", "m-")])
def test_registers_in_another_order_are_refused(order, other, target):
    shape = shape_of(order, 128, 32)
    layouts = [TensorMemoryLayout([128, 32], 1, cga_layout=bases(o)) for o in (order, other)]
    registers = registers_of(gl.float32, shape, layouts[1], 4, "32x32b")
    x, y = (poison(shape, np.float32) for _ in range(2))
    with pytest.raises(TileError, match="blocks of the cluster hold"):
        move[(1,)](
            x, y, gl.float32, *shape, layouts[0], registers, registers, False, num_ctas=4
        )  # fmt: skip


@gluon.jit
def copy(
    x_ptr, y_ptr, M: gl.constexpr, N: gl.constexpr, SHARED: gl.constexpr, LAYOUT: gl.constexpr,
    REGS: gl.constexpr,
):  # fmt: skip
    shared = gl.allocate_shared_memory(gl.float32, [M, N], SHARED)
    shared.store(gl.load(pointers(x_ptr, M, N, REGS)))
    buffer = allocate_tensor_memory(gl.float32, [M, N], LAYOUT)
    done = mbarrier.allocate_mbarrier()
    mbarrier.init(done, count=1)
    fence_async_shared()
    tcgen05_copy(shared, buffer)
    tcgen05_commit(done)
    mbarrier.wait(done, 0)
    gl.store(pointers(y_ptr, M, N, REGS), buffer.load(REGS))


def run_copy(order: str, of_shared: str) -> None:
    shape = shape_of(order, 128, 32)
    layout = TensorMemoryLayout([128, 32], 1, cga_layout=bases(order))
    registers = registers_of(gl.float32, shape, layout, 4, "32x32b")
    x = bits_of(np.random.default_rng(0), np.float32, shape)
    y = poison(x.shape, x.dtype)
    shared = gl.NVMMASharedLayout(128, 32, cga_layout=bases(of_shared))
    options = {"num_ctas": 1 << len(bits_of_order(order))}
    copy[(1,)](x, y, *shape, shared, layout, registers, **options)
    same_bits(y, x)


@pytest.mark.parametrize("order", ORDERS)
def test_copies(order, target):
    run_copy(order, order)


@pytest.mark.parametrize("order, other", [("mn", "nm"), ("m2m1", "m1m2")])
def test_copies_from_another_order_are_refused(order, other, target):
    with pytest.raises(TileError, match="hold other parts in shared memory than in tensor memory"):
        run_copy(order, other)


@gluon.jit
def scaled(
    a_ptr, b_ptr, a_scale_ptr, b_scale_ptr, c_ptr, M: gl.constexpr, N: gl.constexpr,
    K: gl.constexpr, A: gl.constexpr, B: gl.constexpr, ACC: gl.constexpr, A_SCALES: gl.constexpr,
    B_SCALES: gl.constexpr, A_GRID: gl.constexpr, B_GRID: gl.constexpr, OUT: gl.constexpr,
):  # fmt: skip
    """B is given along K."""
    dtype: gl.constexpr = a_ptr.dtype.element_ty
    sa = gl.allocate_shared_memory(dtype, [M, K], A, gl.load(pointers(a_ptr, M, K, A_GRID)))
    sb = gl.allocate_shared_memory(dtype, [N, K], B, gl.load(pointers(b_ptr, N, K, B_GRID)))
    acc = allocate_tensor_memory(gl.float32, [M, N], ACC)
    a_scales = allocate_tensor_memory(gl.uint8, [M, K // 32], A_SCALES)
    b_scales = allocate_tensor_memory(gl.uint8, [N, K // 32], B_SCALES)
    a_scales.store(gl.load(pointers(a_scale_ptr, M, K // 32, a_scales.get_reg_layout())))
    b_scales.store(gl.load(pointers(b_scale_ptr, N, K // 32, b_scales.get_reg_layout())))
    done = mbarrier.allocate_mbarrier()
    mbarrier.init(done, count=1)
    fence_async_shared()
    tcgen05_mma_scaled(
        sa, sb.permute([1, 0]), acc, a_scales, b_scales, "e4m3", "e4m3", use_acc=False,
        mbarriers=[done],
    )  # fmt: skip
    mbarrier.wait(done, 0)
    gl.store(pointers(c_ptr, M, N, OUT), gl.convert_layout(acc.load(), OUT))


def given_rows(order: str, dim: str) -> list[list[int]]:
    """How blocks divide the rows of an operand or of scales: rows of A, columns of B."""
    return [[step * (d == dim), 0] for d, step in bits_of_order(order)]


def run_scaled(order: str, of_scales: str) -> None:
    (m, n), k = shape_of(order, 128, 32), 128
    rng = np.random.default_rng(len(order))
    a, b = (rng.standard_normal((rows, k)).astype(ml_dtypes.float8_e4m3fn) for rows in (m, n))
    a_scale, b_scale = (rng.integers(122, 132, (rows, k // 32), np.uint8) for rows in (m, n))
    left, right = (
        x.astype(np.float64) * np.repeat(2.0 ** (s.astype(int) - 127), 32, 1)
        for x, s in ((a, a_scale), (b, b_scale))
    )
    rows, columns = (given_rows(order, dim) for dim in "mn")
    grids = [
        gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0], cga_layout=c) for c in (rows, columns)
    ]
    c = poisoned((m, n), "fp32")
    scaled[(1,)](
        a, b, a_scale, b_scale, c, m, n, k,
        gl.NVMMASharedLayout(128, 8, cga_layout=rows),
        gl.NVMMASharedLayout(128, 8, cga_layout=columns),
        TensorMemoryLayout([128, 32], 1, cga_layout=bases(order)),
        TensorMemoryScalesLayout(cga_layout=given_rows(of_scales, "m")),
        TensorMemoryScalesLayout(cga_layout=given_rows(of_scales, "n")),
        *grids, gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0], cga_layout=bases(order)),
        num_ctas=1 << len(bits_of_order(order)),
    )  # fmt: skip
    size = np.abs(left) @ np.abs(right).T
    assert (np.abs(c - left @ right.T) <= size * 1e-5).all()


@pytest.mark.parametrize("order", ["m", "n", "mn", "nm", "m2m1", "n2n1", "-m"])
def test_scaled_dots(order, target):
    run_scaled(order, order)


@pytest.mark.parametrize("order, other", [("mn", "nm"), ("m2m1", "m1m2"), ("n2n1", "n1n2")])
def test_scales_in_another_order_are_refused(order, other, target):
    with pytest.raises(TileError, match="blocks of the cluster divide the scales of"):
        run_scaled(order, other)


@pytest.mark.parametrize(
    "layout, message",
    [
        ([[2, 0]], "by powers of two, each of them once"),
        ([[1, 0], [1, 0]], "by powers of two, each of them once"),
        ([[1, 1]], "along rows or along columns"),
    ],
)
def test_what_is_no_order(layout, message, target):
    with pytest.raises(TileError, match=message):
        TensorMemoryLayout([128, 32], 1, cga_layout=layout)

"""Mistakes of programs with buffers in tensor memory, and their twins."""

from __future__ import annotations

import numpy as np
import pytest
from addresses import pointers
from reference import sim_only
from tensor_buffers import poison, same_bits, sm100

import tile
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.nvidia import blackwell
from tile.experimental.gluon.language.nvidia.blackwell import TensorMemoryLayout, mbarrier


@gluon.jit
def keep_early(x_ptr, buffer, full, N: gl.constexpr, MISTAKE: gl.constexpr):
    layout: gl.constexpr = buffer.get_reg_layout()
    value = gl.load(pointers(x_ptr, 128, N, layout))
    if MISTAKE == "arrives early":
        mbarrier.arrive(full, count=1)
    buffer.store(value)
    if MISTAKE != "arrives early":
        mbarrier.arrive(full, count=1)


@gluon.jit
def take_early(y_ptr, buffer, full, N: gl.constexpr, MISTAKE: gl.constexpr):
    layout: gl.constexpr = buffer.get_reg_layout()
    if MISTAKE != "does not wait":
        mbarrier.wait(full, 0)
    gl.store(pointers(y_ptr, 128, N, layout), buffer.load(layout))


@gluon.jit
def planted(
    x_ptr, y_ptr, N: gl.constexpr, SHARED: gl.constexpr, LAYOUT: gl.constexpr, MISTAKE: gl.constexpr
):  # fmt: skip
    buffer = blackwell.allocate_tensor_memory(gl.float32, [128, N], LAYOUT)
    layout: gl.constexpr = buffer.get_reg_layout()
    full = mbarrier.allocate_mbarrier()
    mbarrier.init(full, count=1)
    other = blackwell.allocate_tensor_memory(gl.float32, [128, N], LAYOUT)
    shared = gl.allocate_shared_memory(gl.float32, [128, N], SHARED)
    shared.store(gl.load(pointers(x_ptr, 128, N, layout)))
    done = mbarrier.allocate_mbarrier()
    mbarrier.init(done, count=1)
    if MISTAKE != "nothing written":
        blackwell.tcgen05_copy(shared, other)
    blackwell.tcgen05_commit(done)
    if MISTAKE == "overwrites what is copied":
        shared.store(gl.full([128, N], 0, gl.float32, layout))
    if MISTAKE == "waits for the phase before":
        mbarrier.wait(done, 1)
    elif MISTAKE != "no wait for the copy":
        mbarrier.wait(done, 0)
    gl.store(pointers(y_ptr + 128 * N, 128, N, layout), other.load(layout))
    gl.warp_specialize(
        [
            (keep_early, (x_ptr, buffer, full, N, MISTAKE)),
            (take_early, (y_ptr, buffer, full, N, MISTAKE)),
        ],
        [4],
        [64],
    )


MISTAKES = {
    "arrives early": "race uninitialized", "does not wait": "race uninitialized",
    "nothing written": "uninitialized", "overwrites what is copied": "async-race",
    "waits for the phase before": "race", "no wait for the copy": "race missing-tcgen05-fence",
}  # fmt: skip


@sim_only
@sm100
@pytest.mark.parametrize("mistake", ["none", *MISTAKES])
def test_mistakes(mistake, target):
    n = 32
    x = np.random.default_rng(0).standard_normal((128, n)).astype(np.float32)
    y = poison((2, 128, n), np.float32)
    args = (x, y, n, gl.NVMMASharedLayout(128, 32), TensorMemoryLayout([128, n], 1), mistake)
    if mistake == "none":
        planted[(1,)](*args)
        same_bits(y, np.stack([x, x]))
        return
    with pytest.raises(tile.TileError) as error:
        planted[(1,)](*args)
    text = str(error.value)
    assert any(f"{kind}: " in text for kind in MISTAKES[mistake].split()), text


@gluon.jit
def reinterpreted_part(
    x_ptr, y_ptr, DTYPE: gl.constexpr, FROM: gl.constexpr, DIM: gl.constexpr, START: gl.constexpr,
    LENGTH: gl.constexpr, M: gl.constexpr, N: gl.constexpr, LAYOUT: gl.constexpr,
):  # fmt: skip
    """Sees the bits of a part of a 256x64 buffer as MxN elements of DTYPE."""
    buffer = blackwell.allocate_tensor_memory(gl.float32, [256, 64], FROM)
    layout: gl.constexpr = buffer.get_reg_layout()
    buffer.store(gl.load(pointers(x_ptr, 256, 64, layout)))
    part = buffer.slice(START, LENGTH, DIM).reinterpret(DTYPE, [M, N], LAYOUT)
    registers: gl.constexpr = part.get_reg_layout()
    gl.store(pointers(y_ptr, M, N, registers), part.load(registers))


#: The dimension of the part, where it starts and how long it is; the shape that it is seen with;
#: and whether that is in one piece.
REINTERPRETED = [
    (1, 32, 32, (128, 32), True), (1, 16, 16, (128, 16), True),
    (1, 0, 32, (128, 64), False), (1, 32, 16, (256, 16), False), (0, 128, 128, (128, 64), True),
    (0, 128, 128, (128, 32), True), (0, 0, 256, (256, 64), True), (0, 128, 128, (256, 32), True),
]  # fmt: skip


@sm100
@pytest.mark.parametrize("block", [32, 64])
@pytest.mark.parametrize(("dim", "start", "length", "shape", "whole"), REINTERPRETED)
def test_reinterpreted_parts_have_no_columns_of_others(
    dim, start, length, shape, whole, block, target
):
    x = np.random.default_rng(3).integers(-99, 99, (256, 64)).astype(np.float32)
    m, n = shape
    y = poison(shape, np.int32)
    source = TensorMemoryLayout([128, block], 1)
    layout = TensorMemoryLayout([128, min(block, n)], 1)
    args = (x, y, gl.int32, source, dim, start, length, m, n, layout)
    if not whole:
        with pytest.raises(tile.TileError, match="has its columns in pieces"):
            reinterpreted_part[(1,)](*args)
        return
    reinterpreted_part[(1,)](*args)
    # Rows of 128 lanes; each block of 128 rows has its own columns.
    columns = np.concatenate([x[:128], x[128:]], axis=1)
    if dim == 0:
        first, last = start // 128 * 64, (start + length) // 128 * 64
    else:
        first, last = start, 128
    seen = columns[:, first:last]
    expected = np.concatenate([seen[:, i * n : (i + 1) * n] for i in range(m // 128)])
    same_bits(y, expected)


@sm100
def test_parts_of_other_elements_lie_as_they_did(target):
    x = np.random.default_rng(4).standard_normal((256, 64)).astype(np.float32)
    y = poison((256, 32), np.int32)
    layout = TensorMemoryLayout([128, 32], 1)
    reinterpreted_part[(1,)](x, y, gl.int32, layout, 1, 32, 32, 256, 32, layout)
    same_bits(y, np.ascontiguousarray(x[:, 32:]))

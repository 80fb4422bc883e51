"""Padded 4-bit elements: descriptors that the host makes, or the kernel, and copies of blocks."""

from __future__ import annotations

import numpy as np
import pytest
from addresses import pointers
from reference import poisoned

from tile.errors import TileError
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.nvidia.blackwell import mbarrier, tma
from tile.experimental.gluon.nvidia.blackwell import TensorDescriptor

blackwells = pytest.mark.parametrize("target", ["cuda:100", "cuda:120"], indirect=True)
LAYOUT = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])


@gluon.jit
def load_block(src, y_ptr, LAYOUT: gl.constexpr):
    """All rows of the block, also those outside of the tensor."""
    BLOCK: gl.constexpr = src.block_shape
    buffer = gl.allocate_shared_memory(src.dtype, BLOCK, src.layout)
    barrier = mbarrier.allocate_mbarrier()
    mbarrier.init(barrier, count=1)
    mbarrier.expect(barrier, src.nbytes_per_cta)
    i = gl.program_id(0)
    tma.async_load(src, [i * BLOCK[0] - 3, 64], barrier, buffer)
    mbarrier.wait(barrier, 0)
    mbarrier.invalidate(barrier)
    at = y_ptr + i * BLOCK[0] * BLOCK[1]
    gl.store(pointers(at, BLOCK[0], BLOCK[1], LAYOUT), buffer.load(LAYOUT))


@gluon.jit
def from_host(src, y_ptr, LAYOUT: gl.constexpr):
    load_block(src, y_ptr, LAYOUT)


@gluon.jit
def made(x_ptr, y_ptr, M, N, BLOCK: gl.constexpr, SHARED: gl.constexpr, LAYOUT: gl.constexpr):
    load_block(tma.make_tensor_descriptor(x_ptr, [M, N], [N, 1], BLOCK, SHARED), y_ptr, LAYOUT)


def bytes_of(rows: int, columns: int) -> np.ndarray:
    return np.random.default_rng(19).integers(0, 256, (rows, columns), np.uint8)


def expected(x: np.ndarray, columns: int, programs: int) -> np.ndarray:
    """Three rows before the tensor, and from byte 64 on."""
    whole = np.zeros((16 * programs, columns), np.uint8)
    part = x[: len(whole) - 3, 64 : 64 + columns]
    whole[3 : 3 + len(part), : part.shape[1]] = part
    return whole


@blackwells
@pytest.mark.parametrize("is_made", [False, True])
@pytest.mark.parametrize("rows, columns", [(29, 256), (40, 128), (5, 64)])
@pytest.mark.parametrize("block", [64, 128])
def test_blocks(rows, columns, block, is_made, target):
    x, y = bytes_of(rows, columns), poisoned((48, block), "u8")
    shared = gl.NVMMASharedLayout(128, 8, fp4_padded=True)
    if is_made:
        made[(3,)](x, y, rows, columns, (16, block), shared, LAYOUT)
    else:
        src = TensorDescriptor.from_tensor(x, [16, block], shared)
        from_host[(3,)](src, y, LAYOUT)
    np.testing.assert_array_equal(y, expected(x, block, 3))


@blackwells
def test_no_elements(target):
    """The kernel makes a descriptor of a tensor without rows: everything is outside."""
    x, y = bytes_of(1, 128), poisoned((16, 64), "u8")
    made[(1,)](x, y, 0, 128, (16, 64), gl.NVMMASharedLayout(128, 8, fp4_padded=True), LAYOUT)
    assert not y.any()


@blackwells
@pytest.mark.parametrize("width, columns", [(64, 64), (128, 32)])
def test_other_swizzles(width, columns, target):
    """The hardware writes 128 elements at a time, in panels of 128 bytes."""
    layout = gl.NVMMASharedLayout(width, 8, fp4_padded=True)
    x, y = bytes_of(16, 64), poisoned((16, 64), "u8")
    with pytest.raises(TileError, match=r"swizzle of 128 bytes|rows of at least"):
        made[(1,)](x, y, 16, 64, (16, columns), layout, LAYOUT)


@pytest.mark.parametrize("target", ["cuda:90"], indirect=True)
def test_older_gpus(target):
    src = TensorDescriptor.from_tensor(
        bytes_of(16, 64), [16, 64], gl.NVMMASharedLayout(128, 8, fp4_padded=True)
    )
    with pytest.raises(TileError, match="sm_100"):
        from_host[(1,)](src, poisoned((16, 64), "u8"), LAYOUT)

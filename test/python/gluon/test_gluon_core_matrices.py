"""Copies by descriptors without a swizzle, whose layouts count elements of another width."""

from __future__ import annotations

import numpy as np
import pytest
from reference import poisoned, random, sim_only

from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.nvidia.hopper import mbarrier, tma
from tile.experimental.gluon.nvidia.hopper import TensorDescriptor

pytestmark = [
    sim_only,
    pytest.mark.parametrize("target", ["cuda:90", "cuda:100"], indirect=True),
]


@gluon.jit
def copy_kernel(x_desc, y_desc, z_ptr, M: gl.constexpr, N: gl.constexpr, L: gl.constexpr):
    buffer = gl.allocate_shared_memory(x_desc.dtype, x_desc.block_shape, x_desc.layout)
    barrier = mbarrier.allocate_mbarrier()
    mbarrier.init(barrier, count=1)
    mbarrier.expect(barrier, x_desc.nbytes_per_cta)
    tma.async_load(x_desc, [0, 0], barrier, buffer)
    mbarrier.wait(barrier, 0)
    rows, columns = gl.SliceLayout(1, L), gl.SliceLayout(0, L)
    i = gl.arange(0, M, layout=rows)[:, None] * N + gl.arange(0, N, layout=columns)[None, :]
    gl.store(z_ptr + i, buffer.load(L))
    tma.async_store(y_desc, [0, 0], buffer)
    tma.store_wait(0)


@pytest.mark.parametrize("width", [8, 16, 32])
@pytest.mark.parametrize("shape", [(64, 64), (16, 32), (128, 16)])
def test_copies(width, shape, target):
    """A panel has the columns that fill 16 bytes with elements of the layout's width."""
    layout = gl.NVMMASharedLayout(0, width, 2)
    x, y, z = random(shape, "fp32", 1), poisoned(shape, "fp32"), poisoned(shape, "fp32")
    x_desc, y_desc = (TensorDescriptor.from_tensor(t, list(shape), layout) for t in (x, y))
    kernel = copy_kernel[(1,)](
        x_desc, y_desc, z, *shape, gl.BlockedLayout([1, 4], [8, 4], [4, 1], [1, 0])
    )
    np.testing.assert_array_equal(y, x)
    np.testing.assert_array_equal(z, x)
    copies = 2 * max(1, shape[1] * width // 128)
    assert kernel.asm["ptx"].count("cp.async.bulk.tensor") == copies

"""The examples with explicit layouts: ragged sizes, poisoned outputs, all checks of the simulator,
and several schedules of the warps."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from reference import poisoned, random, sim_only

from tile.experimental.gluon import language as gl

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "gluon"
ampere = pytest.mark.parametrize("target", ["cuda:80", "cuda:90"], indirect=True)
hopper = pytest.mark.parametrize("target", ["cuda:90"], indirect=True)


def load(name: str):
    """An example, under a name that no other module has."""
    full = f"gluon_example_{name}"
    if full not in sys.modules:
        spec = importlib.util.spec_from_file_location(full, EXAMPLES / f"{name}.py")
        sys.modules[full] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[full])
    return sys.modules[full]


@pytest.mark.sweep(4)
@ampere
@pytest.mark.parametrize("dtype", ["fp32", "fp16", "i32", "i64"])
@pytest.mark.parametrize("n", [1, 77, 1024, 3000])
@pytest.mark.parametrize("layout", ["wide", "narrow", "coalesced"])
def test_vector_add(n, dtype, layout, target):
    chosen = {
        "wide": gl.BlockedLayout([8], [32], [4], [0]),
        "narrow": gl.BlockedLayout([1], [32], [4], [0]),
        "coalesced": gl.CoalescedLayout(),
    }[layout]
    x, y, out = random(n, dtype, 1), random(n, dtype, 2), poisoned(n, dtype)
    load("vector_add").add(x, y, out, chosen)
    np.testing.assert_array_equal(out, x + y)


@pytest.mark.sweep
@ampere
@pytest.mark.parametrize("dtype", ["fp32", "fp16", "i8"])
@pytest.mark.parametrize("shape", [(64, 64), (100, 33), (1, 200)])
def test_transpose(shape, dtype, target):
    x, out = random(shape, dtype, 3), poisoned(shape[::-1], dtype)
    load("transpose").transpose(x, out, bits=8 * x.itemsize)
    np.testing.assert_array_equal(out, x.T)


@pytest.mark.parametrize("bits", [16, 32])
def test_the_buffer_of_the_transpose_has_no_conflicts(bits):
    element = {16: gl.float16, 32: gl.float32}[bits]
    read, _, shared = load("transpose").layouts(64, 4, bits)
    buffer = gl.shared_memory_descriptor_type(element, [64, 64], shared, [64, 64])
    assert gl.bank_conflicts(gl.distributed_type(element, [64, 64], read), buffer) == 0
    # Read along columns: a layout whose lanes lie along rows.
    columns = gl.BlockedLayout([1, 1], [32, 1], [1, 4], [0, 1])
    assert gl.bank_conflicts(gl.distributed_type(element, [64, 64], columns), buffer) == 0
    plain = gl.SwizzledSharedLayout(1, 1, 1, [1, 0])
    buffer = gl.shared_memory_descriptor_type(element, [64, 64], plain, [64, 64])
    assert gl.bank_conflicts(gl.distributed_type(element, [64, 64], columns), buffer) == 31


def close(actual, expected, scale):
    error = np.linalg.norm(actual.astype(np.float64) - expected) / max(scale, 1e-30)
    assert np.isfinite(actual.astype(np.float64)).all()
    assert error < 1e-3, error


@pytest.mark.sweep
@ampere
@pytest.mark.parametrize("stages", [2, 3, 4])
@pytest.mark.parametrize("m,n,k", [(64, 64, 64), (100, 72, 200), (17, 8, 8), (128, 192, 96)])
def test_async_matmul(m, n, k, stages, target):
    a, b = random((m, k), "fp16", 4), random((k, n), "fp16", 5)
    expected = a.astype(np.float64) @ b.astype(np.float64)
    c = poisoned((m, n), "fp32")
    load("async_matmul").matmul(a, b, c, stages=stages)
    close(c, expected, np.linalg.norm(expected))


@pytest.mark.parametrize("target", ["hip:gfx942", "hip:gfx950"], indirect=True)
@pytest.mark.parametrize("m,n,k", [(64, 64, 64), (100, 72, 200), (17, 8, 8), (128, 192, 96)])
def test_mfma_matmul(m, n, k, target):
    a, b = random((m, k), "fp16", 4), random((k, n), "fp16", 5)
    expected = a.astype(np.float64) @ b.astype(np.float64)
    c = poisoned((m, n), "fp32")
    kernel = load("mfma_matmul").matmul(a, b, c, 3 if target == "hip:gfx942" else 4)
    close(c, expected, np.linalg.norm(expected))
    assert "v_mfma_f32_32x32x" in kernel.asm["amdgcn"]
    assert "buffer_load_dwordx4" in kernel.asm["amdgcn"]


@hopper
@pytest.mark.parametrize("dtype", ["fp16", "fp32"])
@pytest.mark.parametrize("shape", [(32, 64), (33, 8), (100, 200), (1, 128)])
@pytest.mark.parametrize("block", [(32, 64), (16, 32)])
def test_tma_copy(shape, dtype, block, target):
    x, out = random(shape, dtype, 6), poisoned(shape, dtype)
    load("tma_copy").scale(x, out, 2.0, block)
    np.testing.assert_array_equal(out, x * x.dtype.type(2))


@pytest.mark.sweep
@hopper
@pytest.mark.parametrize("specialize", [False, True])
@pytest.mark.parametrize("stages", [2, 3])
@pytest.mark.parametrize("m,n,k", [(128, 128, 64), (200, 136, 72), (64, 256, 200)])
def test_wgmma_matmul(m, n, k, stages, specialize, target):
    a, b = random((m, k), "fp16", 7), random((k, n), "fp16", 8)
    expected = a.astype(np.float64) @ b.astype(np.float64)
    c = poisoned((m, n), "fp16")
    kernel = load("wgmma_matmul").matmul(a, b, c, specialize, stages=stages)
    close(c, expected, np.linalg.norm(expected))
    assert "wgmma.mma_async" in kernel.asm["ptx"]


@hopper
def test_wgmma_matmul_of_two_warp_groups(target):
    a, b = random((128, 96), "fp16", 9), random((96, 64), "fp16", 10)
    expected = a.astype(np.float64) @ b.astype(np.float64)
    c = poisoned((128, 64), "fp16")
    load("wgmma_matmul").matmul(a, b, c, True, block=(128, 64, 32), num_warps=8)
    close(c, expected, np.linalg.norm(expected))


@sim_only
@hopper
@pytest.mark.parametrize("specialize", [False, True])
def test_no_schedule_of_the_warps_changes_the_product(specialize, target):
    """Races and wrong phases show in some schedules only."""
    module = load("wgmma_matmul")
    a, b = random((64, 160), "fp16", 11), random((160, 64), "fp16", 12)
    expected = a.astype(np.float64) @ b.astype(np.float64)
    kernel = module.specialized_kernel if specialize else module.pipelined_kernel
    blocks = [([64, 32], a), ([32, 64], b)]
    descs = [
        module.TensorDescriptor.from_tensor(
            t, block, gl.NVMMASharedLayout.get_default_for(block, gl.float16)
        )
        for block, t in blocks
    ]
    for schedule in range(6):
        c = poisoned((64, 64), "fp16")
        block = [64, 64]
        out = module.TensorDescriptor.from_tensor(
            c, block, gl.NVMMASharedLayout.get_default_for(block, gl.float16)
        )
        mma = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])
        report = kernel.simulate(
            *descs, out, 160, 2, mma, grid=(1, 1), schedule_seed=schedule
        )  # fmt: skip
        assert report.ok, report.messages
        close(c, expected, np.linalg.norm(expected))

"""Products of matrices that are blocks of three dimensions in memory, on sm_90: they are copied
and multiplied like those of two."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from reference import poisoned, sim_only
from test_matmul_sweep import operand

import tile
import tile.language as tl
from tile.tools.tensor_descriptor import TensorDescriptor


@pytest.fixture(autouse=True)
def target(monkeypatch):
    """In place of the targets of the other kernels."""
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:90")


@tile.jit
def batched(
    a, b, c, BATCH, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
    TURNED: tl.constexpr, FLATTEN: tl.constexpr, SPECIALIZE: tl.constexpr,
):  # fmt: skip
    columns = tl.cdiv(N, BN)
    tiles = tl.cdiv(M, BM) * columns
    for t in tl.range(
        tl.program_id(0), BATCH * tiles, tl.num_programs(0), flatten=FLATTEN,
        warp_specialize=SPECIALIZE,
    ):  # fmt: skip
        batch, i, j = t // tiles, t % tiles // columns * BM, t % columns * BN
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(0, K, BK):
            x = a.load([batch, i, k]).reshape(BM, BK)
            if TURNED:
                y = b.load([batch, j, k]).reshape(BN, BK).T
            else:
                y = b.load([batch, k, j]).reshape(BK, BN)
            acc = tl.dot(x, y, acc)
        c.store([batch, i, j], acc.to(c.dtype).reshape(1, BM, BN))


def multiply(turned=False, flatten=False, specialize=False, kind=np.float16, **options):
    batch, m, n, k = 3, 136, 80, 112
    bm, bn, bk = 64, 64, 32
    a, b = operand((batch * m, k), kind, 1, False), operand((batch * k, n), kind, 2, False)
    a, b = a.reshape(batch, m, k), b.reshape(batch, k, n)
    stored = np.ascontiguousarray(b.transpose(0, 2, 1)) if turned else b
    out = poisoned((batch, m, n), "fp32")
    blocks = (
        (a, [1, bm, bk]),
        (stored, [1, bn, bk] if turned else [1, bk, bn]),
        (out, [1, bm, bn]),
    )
    kernel = batched[(4,)](
        *(TensorDescriptor.from_tensor(x, block) for x, block in blocks),
        batch, m, n, k, bm, bn, bk, turned, flatten, specialize, num_stages=3, **options,
    )  # fmt: skip
    expected = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(out, expected, rtol=2e-3, atol=2e-2)
    return kernel


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("mode", ["flatten", "specialize", "nested"])
def test_read_where_copied(mode, turned):
    """No thread has the operands in registers."""
    kernel = multiply(turned, **({} if mode == "nested" else {mode: True}))
    text = kernel.asm["ttgir"]
    assert "warp_group_dot" in text and "async_tma_copy_global_to_local" in text
    assert "ttg.local_load" not in text


@pytest.mark.parametrize("kind", [np.float16, np.float32, ml_dtypes.float8_e4m3fn])
@pytest.mark.parametrize("mode", ["flatten", "specialize", "nested"])
def test_any_order(mode, kind, monkeypatch):
    """Operands of other than 16 bits are exchanged: one comes from registers, read from where it
    was copied."""
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "4")
    kernel = multiply(kind=kind, **({} if mode == "nested" else {mode: True}))
    text = kernel.asm["ttgir"]
    assert "warp_group_dot" in text and ("ttg.local_load" in text) == (kind != np.float16)


@sim_only
def test_by_pointers(monkeypatch):
    """Where descriptors are pointers, blocks lose their dimension of size one as well."""
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:80")
    kernel = multiply()
    assert "async_tma_copy" not in kernel.asm["ttgir"]

"""Specialised loops whose second dot runs an iteration late, beside the softmax."""

from __future__ import annotations

import re

import numpy as np
import pytest
from machines import run_on
from reference import DTYPES, poisoned, random, sim_only

import tile
import tile.language as tl
from tile.tools.tensor_descriptor import TensorDescriptor


@pytest.fixture(autouse=True)
def target(monkeypatch):
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:90")
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "3")


@tile.jit
def attention(
    q_ptr, k_ptr, v_ptr, k_desc, v_desc, out_ptr, scale, first, last, D: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BULK: tl.constexpr, VALUES_FIRST: tl.constexpr,
):  # fmt: skip
    """Over the keys from `first` to `last` in two loops, the second of which finds a sum."""
    rows, d, n = tl.arange(0, BM), tl.arange(0, D), tl.arange(0, BN)
    q = tl.load(q_ptr + rows[:, None] * D + d[None, :])
    top = tl.full([BM], -1.0e30, tl.float32)
    total = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    middle = (first + last) // (2 * BN) * BN
    for part in tl.static_range(2):
        low, high = (first, middle) if part == 0 else (middle, last)
        for start in tl.range(low, high, BN, warp_specialize=True):
            if BULK and VALUES_FIRST:
                v, k = v_desc.load([start, 0]), k_desc.load([start, 0]).T
            elif BULK:
                k, v = k_desc.load([start, 0]).T, v_desc.load([start, 0])
            else:
                k = tl.load(k_ptr + (start + n)[None, :] * D + d[:, None])
                v = tl.load(v_ptr + (start + n)[:, None] * D + d[None, :])
            scores = tl.dot(q, k) * scale
            new_top = tl.maximum(top, tl.max(scores, 1))
            weights = tl.exp2(scores - new_top[:, None])
            shrink = tl.exp2(top - new_top)
            total = total * shrink + tl.sum(weights, 1)
            acc = tl.dot(weights.to(v.dtype), v, acc * shrink[:, None])
            top = new_top
    out = tl.where((total > 0)[:, None], acc / tl.where(total > 0, total, 1)[:, None], 0)
    tl.store(out_ptr + rows[:, None] * D + d[None, :], out.to(tl.float16))


def attend(d, bm, bn, bulk, first, last, warps, stages, values_first=False, **options):
    q = random((bm, d), "fp16", 1)
    k, v = (random((last, d), "fp16", seed) for seed in (2, 3))
    descriptors = [TensorDescriptor.from_tensor(x, [bn, d]) for x in (k, v)]
    out = poisoned((bm, d), "fp16")
    kernel = attention[(1,)](
        q, k, v, *descriptors, out, d**-0.5 * 1.4426950408889634, first, last, d, bm, bn, bulk,
        values_first, num_warps=warps, num_stages=stages, **options,
    )  # fmt: skip
    wide = [x.astype(np.float64) for x in (q, k[first:], v[first:])]
    scores = wide[0] @ wide[1].T * d**-0.5
    weights = np.exp(scores - scores.max(axis=1, keepdims=True, initial=-1e30))
    expected = weights @ wide[2] / np.maximum(weights.sum(axis=1, keepdims=True), 1e-30)
    np.testing.assert_allclose(out.astype(np.float64), expected, rtol=4e-3, atol=4e-3)
    return kernel


def is_delayed(kernel) -> bool:
    """Whether the scores are waited for while a dot behind them runs."""
    return "wgmma.wait_group.sync.aligned 1" in kernel.asm["ptx"]


@pytest.mark.parametrize("bulk", [False, True])
@pytest.mark.parametrize(
    ("d", "bm", "bn", "warps", "stages"),
    [(64, 64, 64, 4, 2), (128, 128, 128, 8, 2), (64, 128, 32, 8, 4), (128, 128, 64, 8, 3)],
)
def test_attention(d, bm, bn, warps, stages, bulk):
    assert is_delayed(attend(d, bm, bn, bulk, 0, 4 * bn, warps, stages))


@pytest.mark.parametrize("blocks", [0, 1, 2, 3, 7])
def test_lengths(blocks):
    """Loops of no, one and more iterations."""
    assert is_delayed(attend(64, 64, 32, False, 32, 32 + 32 * blocks, 4, 3))


@pytest.mark.parametrize("stages", [2, 3])
def test_order_of_loads(stages):
    """With two buffers, the next keys come only after values were handed back."""
    assert is_delayed(attend(64, 64, 32, True, 0, 160, 4, stages, values_first=True))


def test_one_stage():
    """The next scores would wait for a buffer that the dot before still reads."""
    assert not is_delayed(attend(64, 64, 32, True, 0, 128, 4, 1))


@tile.jit
def weighted_sum(
    q_ptr, k_ptr, v_ptr, out_ptr, blocks, D: tl.constexpr, BN: tl.constexpr, SCALED: tl.constexpr
):  # fmt: skip
    rows, d, n = tl.arange(0, 64), tl.arange(0, D), tl.arange(0, BN)
    q = tl.load(q_ptr + rows[:, None] * D + d[None, :])
    acc = tl.zeros([64, D], tl.float32)
    for i in tl.range(0, blocks, loop_unroll_factor=2, warp_specialize=True):
        k = tl.load(k_ptr + (i * BN + n)[:, None] * D + d[None, :])
        v = tl.load(v_ptr + (i * BN + n)[:, None] * D + d[None, :])
        weights = (tl.dot(q, tl.trans(k)) > 0).to(tl.float16)
        if SCALED:
            acc = acc * 0.5
        acc = tl.dot(weights, v, acc)
    tl.store(out_ptr + rows[:, None] * D + d[None, :], acc)


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("blocks", [2, 5])
def test_several_products_add_to_one_sum(blocks, scaled):
    """In an unrolled loop a late dot adds to the sum of one that still runs; what computes with
    that sum cannot."""
    d, bn = 64, 32
    q, k, v = (random((n, d), "fp16", s) for s, n in enumerate((64, bn * blocks, bn * blocks)))
    out = poisoned((64, d), "fp32")
    kernel = weighted_sum[(1,)](q, k, v, out, blocks, d, bn, scaled, num_warps=4, num_stages=4)
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    expected = np.zeros((64, d))
    for i in range(blocks):
        at = slice(i * bn, (i + 1) * bn)
        expected = expected * (0.5 if scaled else 1) + (q @ k[at].T > 0) @ v[at]
    np.testing.assert_allclose(out, expected, rtol=1e-3, atol=1e-3)
    behind = {int(n) for n in re.findall(r"wgmma.wait_group.sync.aligned (\d);", kernel.asm["ptx"])}
    assert max(behind) == (0 if scaled else 3)


@tile.jit
def sum_of_turned(q_ptr, k_ptr, v_ptr, out_ptr, blocks):
    rows, d, n = tl.arange(0, 64), tl.arange(0, 64), tl.arange(0, 64)
    q = tl.load(q_ptr + rows[:, None] * 64 + d[None, :])
    acc = tl.zeros([64, 64], tl.float32)
    for i in tl.range(0, blocks, num_stages=3, warp_specialize=True):
        k = tl.load(k_ptr + d[:, None] * 256 + (i * 64 + n)[None, :])
        v = tl.load(v_ptr + (i * 64 + n)[:, None] + d[None, :] * 256)
        weights = (tl.dot(q, k) > 0).to(tl.float32)
        acc = tl.dot(weights, v, acc)
    tl.store(out_ptr + rows[:, None] * 64 + d[None, :], acc)


@pytest.mark.parametrize("blocks", [2, 4])
def test_keys_that_come_through_registers(blocks):
    """The first dot takes tf32 keys that lie along columns from registers: what loads them
    there waits for their copies."""
    q, k, v = (random((64, n), "fp32", seed) for seed, n in enumerate((64, 256, 256)))
    out = poisoned((64, 64), "fp32")
    kernel = sum_of_turned[(1,)](q, k, v, out, blocks, num_warps=4)
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    scores = q @ k[:, : 64 * blocks]
    clear = np.abs(scores) > 0.1
    low = np.where(clear, scores > 0, 0) @ np.abs(v[:, : 64 * blocks].T)
    unclear = (~clear).astype(float) @ np.abs(v[:, : 64 * blocks].T)
    expected = np.where(clear, scores > 0, 0) @ v[:, : 64 * blocks].T
    assert (np.abs(out - expected) <= unclear + 2e-3 * low + 1e-2).all()
    assert is_delayed(kernel)


@tile.jit
def sums_by_columns(
    x_ptr, y_ptr, q_ptr, r_ptr, x_out, y_out, blocks, M: tl.constexpr, D: tl.constexpr
):
    m, d, n = tl.arange(0, M), tl.arange(0, D), tl.arange(0, 64)
    q = tl.load(q_ptr + m[:, None] * D + d[None, :])
    r = tl.load(r_ptr + m[:, None] * D + d[None, :])
    x_acc = tl.zeros([M, D], tl.float32)
    y_acc = tl.zeros([M, D], tl.float32)
    for i in tl.range(0, blocks):
        x = tl.load(x_ptr + (i * 64 + n)[:, None] * D + d[None, :])
        y = tl.load(y_ptr + (i * 64 + n)[:, None] + d[None, :] * 256)
        positive = tl.dot(x, q.T) > 0
        both = (positive & (tl.dot(y, r.T) < 2)).to(x.dtype)
        y_acc = tl.dot(positive.to(x.dtype).T, y, y_acc)
        x_acc = tl.dot(both.T, x, x_acc)
    tl.store(x_out + m[:, None] * D + d[None, :], x_acc)
    tl.store(y_out + m[:, None] * D + d[None, :], y_acc)


@pytest.mark.parametrize("ctas", [1, 2])
@pytest.mark.parametrize("dtype", ["fp16", "fp32"])
def test_weights_that_are_turned(dtype, ctas):
    """The registers of an operand are those of what was turned: they were written for the next
    iteration while the tensor core still read them."""
    m, rng = 64 * ctas, np.random.default_rng(ctas)
    sizes = ((256, 64), (256, 64), (m, 64), (m, 64))
    x, y, q, r = (rng.integers(-3, 4, size).astype(DTYPES[dtype]) for size in sizes)
    x_out, y_out = poisoned((m, 64), "fp32"), poisoned((m, 64), "fp32")
    sums_by_columns[(1,)](
        x, y.T.copy(), q, r, x_out, y_out, 4, m, 64, num_warps=4, num_stages=4, num_ctas=ctas
    )
    x, y, q, r = (a.astype(np.float64) for a in (x, y, q, r))
    positive = x @ q.T > 0
    np.testing.assert_array_equal(y_out, positive.T @ y)
    np.testing.assert_array_equal(x_out, (positive & (y @ r.T < 2)).T @ x)


@sim_only
def test_planted(tmp_path, monkeypatch):
    """Scores that are read while the tensor core still writes them."""
    run_on("cuda:90", monkeypatch)
    kernel = attend(64, 64, 32, True, 0, 256, 4, 3)
    wait = "wgmma.wait_group.sync.aligned"
    path = tmp_path / "attention.ptx"
    path.write_text(kernel.asm["ptx"].replace(f"{wait} 1", f"{wait} 2"))
    with pytest.raises(tile.TileError, match="wgmma"):
        attend(64, 64, 32, True, 0, 256, 4, 3, ir_override=str(path))


@tile.jit
def keys_values(
    q_ptr, k_ptr, v_ptr, dout_ptr, dk_ptr, dv_ptr, sums_ptr, deltas_ptr, scale, L,
    D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    """Two sums, late, of what early and late dots read alike."""
    cols, d, queries = tl.program_id(0) * BN + tl.arange(0, BN), tl.arange(0, D), tl.arange(0, BM)
    offsets = cols[:, None] * D + d[None, :]
    k, v = tl.load(k_ptr + offsets), tl.load(v_ptr + offsets)
    dk = tl.zeros((BN, D), dtype=tl.float32)
    dv = tl.zeros((BN, D), dtype=tl.float32)
    for start in tl.range(0, L, BM, warp_specialize=True):
        rows = start + queries
        q_t = tl.load(q_ptr + d[:, None] + rows[None, :] * D)
        scores = tl.dot(k, q_t) * (scale * 1.4426950408889634)
        weights = tl.exp2(scores - tl.load(sums_ptr + rows)[None, :])
        dout = tl.load(dout_ptr + rows[:, None] * D + d[None, :])
        dv = tl.dot(weights.to(dout.dtype), dout, dv)
        dweights = tl.dot(v, tl.trans(dout))
        dscores = weights * (dweights - tl.load(deltas_ptr + rows)[None, :])
        dk = tl.dot(dscores.to(q_t.dtype), tl.trans(q_t), dk)
    tl.store(dv_ptr + offsets, dv.to(tl.float16))
    tl.store(dk_ptr + offsets, (dk * scale).to(tl.float16))


@pytest.mark.parametrize(("bm", "bn", "warps", "stages"), [(32, 64, 4, 2), (64, 128, 8, 3)])
def test_gradients(bm, bn, warps, stages):
    length, d = 256, 64
    q, k, v, dout = (random((length, d), "fp16", seed).astype(np.float64) for seed in range(4))
    scores = q @ k.T * d**-0.5 * np.log2(np.e)
    top = scores.max(axis=1)
    sums = top + np.log2(np.exp2(scores - top[:, None]).sum(axis=1))
    weights = np.exp2(scores - sums[:, None])
    deltas = (weights @ v * dout).sum(axis=1)
    dscores = weights * (dout @ v.T - deltas[:, None]) * d**-0.5
    dk, dv = poisoned((length, d), "fp16"), poisoned((length, d), "fp16")
    kernel = keys_values[(length // bn,)](
        *(x.astype(np.float16) for x in (q, k, v, dout)), dk, dv,
        *(x.astype(np.float32) for x in (sums, deltas)), d**-0.5, length, d, bm, bn,
        num_warps=warps, num_stages=stages,
    )  # fmt: skip
    np.testing.assert_allclose(dv.astype(np.float64), weights.T @ dout, rtol=1e-2, atol=1e-2)
    np.testing.assert_allclose(dk.astype(np.float64), dscores.T @ q, rtol=1e-2, atol=1e-2)
    assert "wgmma.wait_group.sync.aligned 3" in kernel.asm["ptx"]

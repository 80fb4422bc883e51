"""Layer norm in both directions, and cross-entropy with an early return."""

from __future__ import annotations

import numpy as np
import pytest
from reference import close, poisoned, random

import tile
import tile.language as tl


@tile.jit
def layer_norm_forward(x_ptr, y_ptr, w_ptr, b_ptr, mean_ptr, rstd_ptr, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    x = tl.load(x_ptr + row * N + cols, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / N
    centred = tl.where(mask, x - mean, 0.0)
    rstd = tl.rsqrt(tl.sum(centred * centred, axis=0) / N + eps)
    w = tl.load(w_ptr + cols, mask=mask).to(tl.float32)
    b = tl.load(b_ptr + cols, mask=mask).to(tl.float32)
    tl.store(y_ptr + row * N + cols, centred * rstd * w + b, mask=mask)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)


@tile.jit
def layer_norm_backward_input(
    dx_ptr, dy_ptr, x_ptr, w_ptr, mean_ptr, rstd_ptr, dw_ptr, db_ptr, lock_ptr, N,
    GROUPS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    x = tl.load(x_ptr + row * N + cols, mask=mask, other=0.0).to(tl.float32)
    dy = tl.load(dy_ptr + row * N + cols, mask=mask, other=0.0).to(tl.float32)
    w = tl.load(w_ptr + cols, mask=mask, other=0.0).to(tl.float32)
    mean, rstd = tl.load(mean_ptr + row), tl.load(rstd_ptr + row)
    xhat = tl.where(mask, (x - mean) * rstd, 0.0)
    wdy = w * dy
    c1 = tl.sum(xhat * wdy, axis=0) / N
    c2 = tl.sum(wdy, axis=0) / N
    tl.store(dx_ptr + row * N + cols, (wdy - (xhat * c1 + c2)) * rstd, mask=mask)
    # Rows of one group add up their part under a lock; the first only stores.
    group = row % GROUPS
    dw_ptrs, db_ptrs = dw_ptr + group * N + cols, db_ptr + group * N + cols
    dw, db = dy * xhat, dy
    while tl.atomic_cas(lock_ptr + group, 0, 1) == 1:
        pass
    count = tl.load(lock_ptr + GROUPS + group)
    if count == 0:
        tl.atomic_xchg(lock_ptr + GROUPS + group, 1)
    else:
        dw += tl.load(dw_ptrs, mask=mask)
        db += tl.load(db_ptrs, mask=mask)
    tl.store(dw_ptrs, dw, mask=mask)
    tl.store(db_ptrs, db, mask=mask)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr + group, 0)


@tile.jit
def layer_norm_backward_weights(
    dw_ptr, db_ptr, out_w, out_b, M, N, BM: tl.constexpr, BN: tl.constexpr
):
    cols = tl.program_id(0) * BN + tl.arange(0, BN)
    dw = tl.zeros((BM, BN), tl.float32)
    db = tl.zeros((BM, BN), tl.float32)
    for i in range(0, M, BM):
        rows = i + tl.arange(0, BM)
        mask = (rows[:, None] < M) & (cols[None, :] < N)
        at = rows[:, None] * N + cols[None, :]
        dw += tl.load(dw_ptr + at, mask=mask, other=0.0)
        db += tl.load(db_ptr + at, mask=mask, other=0.0)
    tl.store(out_w + cols, tl.sum(dw, axis=0), mask=cols < N)
    tl.store(out_b + cols, tl.sum(db, axis=0), mask=cols < N)


@pytest.mark.sweep
@pytest.mark.parametrize("dtype", ["fp16", "fp32"])
@pytest.mark.parametrize(("rows", "n", "warps"), [(9, 100, 1), (6, 513, 4), (4, 1024, 16)])
def test_layer_norm_both_ways(dtype, rows, n, warps):
    block, groups = tile.next_power_of_2(n), 2
    x, dy = random((rows, n), dtype, 1), random((rows, n), dtype, 2)
    w, b = random(n, dtype, 3), random(n, dtype, 4)
    y, dx = poisoned((rows, n), dtype), poisoned((rows, n), dtype)
    mean, rstd = poisoned(rows, "fp32"), poisoned(rows, "fp32")
    layer_norm_forward[(rows,)](x, y, w, b, mean, rstd, n, 1e-5, BLOCK=block, num_warps=warps)
    part_w, part_b = poisoned((groups, n), "fp32"), poisoned((groups, n), "fp32")
    locks = np.zeros(2 * groups, np.int32)
    layer_norm_backward_input[(rows,)](
        dx, dy, x, w, mean, rstd, part_w, part_b, locks, n,
        GROUPS=groups, BLOCK=block, num_warps=warps,
    )  # fmt: skip
    dw, db = poisoned(n, "fp32"), poisoned(n, "fp32")
    layer_norm_backward_weights[(tile.cdiv(n, 64),)](
        part_w, part_b, dw, db, groups, n, BM=16, BN=64, num_warps=warps
    )

    wide_x, wide_dy, wide_w = (t.astype(np.float64) for t in (x, dy, w))
    centre = wide_x.mean(1, keepdims=True)
    scale = 1 / np.sqrt(wide_x.var(1, keepdims=True) + 1e-5)
    xhat = (wide_x - centre) * scale
    wdy = wide_w * wide_dy
    expected_dx = scale * (
        wdy - xhat * (xhat * wdy).mean(1, keepdims=True) - wdy.mean(1, keepdims=True)
    )
    close(y, xhat * wide_w + b.astype(np.float64), dtype, 10)
    close(dx, expected_dx, dtype, 20)
    close(dw, (wide_dy * xhat).sum(0), "fp32", 100)
    close(db, wide_dy.sum(0), "fp32", 100)
    assert not locks[:groups].any()


@tile.jit
def cross_entropy(logits_ptr, labels_ptr, loss_ptr, grad_ptr, N, ignored, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    label = tl.load(labels_ptr + row)
    logits_ptr += row * N
    grad_ptr += row * N
    if label == ignored:
        for start in range(0, N, BLOCK):
            cols = start + tl.arange(0, BLOCK)
            tl.store(grad_ptr + cols, 0.0, mask=cols < N)
        tl.store(loss_ptr + row, 0.0)
        return
    top = -float("inf")
    total = 0.0
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + cols, mask=cols < N, other=-float("inf")).to(tl.float32)
        new_top = tl.maximum(top, tl.max(x))
        total = total * tl.exp(top - new_top) + tl.sum(tl.exp(x - new_top))
        top = new_top
    lse = top + tl.log(total)
    tl.store(loss_ptr + row, lse - tl.load(logits_ptr + label).to(tl.float32))
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + cols, mask=cols < N, other=-float("inf")).to(tl.float32)
        grad = tl.exp(x - lse) - tl.where(cols == label, 1.0, 0.0)
        tl.store(grad_ptr + cols, grad, mask=cols < N)


@pytest.mark.every_target
@pytest.mark.sweep
@pytest.mark.parametrize("dtype", ["fp16", "bf16", "fp32"])
@pytest.mark.parametrize(("n", "warps"), [(10, 1), (1000, 4), (2049, 8)])
def test_cross_entropy_returns_early(dtype, n, warps):
    rows, ignored = 7, -100
    logits = random((rows, n), dtype, 1)
    labels = np.random.default_rng(2).integers(0, n, rows).astype(np.int64)
    labels[[1, 4]] = ignored
    loss, grad = poisoned(rows, "fp32"), poisoned((rows, n), "fp32")
    cross_entropy[(rows,)](logits, labels, loss, grad, n, ignored, BLOCK=512, num_warps=warps)
    wide = logits.astype(np.float64)
    lse = np.log(np.exp(wide).sum(1))
    kept = labels != ignored
    picked = wide[np.arange(rows), np.where(kept, labels, 0)]
    close(loss, np.where(kept, lse - picked, 0), "fp32", 10)
    expected = np.exp(wide - lse[:, None])
    expected[np.arange(rows), np.where(kept, labels, 0)] -= 1
    close(grad, np.where(kept[:, None], expected, 0), "fp32", 10)

"""A layer of experts for few tokens: each token's rows go through the experts that it chose.

With few tokens an expert has few rows, and reading the weights is what takes time. There are
programs for each block of rows that an expert has, none for an expert without rows. A program reads
a part of the expert's weights once, and gathers the rows of the tokens that chose it. Few weights
for each program are many programs, which read at once. Each of the three launches may begin before
the one in front of it ends.
"""

from __future__ import annotations

import numpy as np

import tile
import tile.language as tl
from tile.language.extra.cuda import gdc_launch_dependents, gdc_wait


@tile.jit
def up_kernel(
    x_ptr, gate_ptr, up_ptr, order_ptr, blocks_ptr, hidden_ptr, N, K, CHOSEN: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, EARLY: tl.constexpr,
):  # fmt: skip
    """Of each pair of a token and an expert: `silu(x @ gate) * (x @ up)`."""
    if EARLY:
        gdc_launch_dependents()
    j, block = tl.program_id(0), blocks_ptr + tl.program_id(1) * 3
    expert, first, end = tl.load(block), tl.load(block + 1), tl.load(block + 2)
    n, k, rows = j * BN + tl.arange(0, BN), tl.arange(0, BK), first + tl.arange(0, BM)
    weights = expert.to(tl.int64) * N * K + n.to(tl.int64)[:, None] * K + k
    pairs = tl.load(order_ptr + rows, mask=rows < end, other=0)
    x_ptrs = x_ptr + (pairs // CHOSEN).to(tl.int64) * K + k[:, None]
    gate = tl.zeros((BN, BM), tl.float32)
    up = tl.zeros((BN, BM), tl.float32)
    for step in range(0, K, BK):
        x = tl.load(x_ptrs + step, mask=(rows < end) & (k[:, None] < K - step), other=0.0)
        mask = (n[:, None] < N) & (k < K - step)
        gate = tl.dot(tl.load(gate_ptr + weights + step, mask=mask, other=0.0), x, gate)
        up = tl.dot(tl.load(up_ptr + weights + step, mask=mask, other=0.0), x, up)
    hidden = gate * tl.sigmoid(gate) * up
    places = hidden_ptr + pairs.to(tl.int64) * N + n[:, None]
    mask = (rows < end) & (n[:, None] < N)
    tl.store(places, hidden.to(hidden_ptr.dtype.element_ty), mask=mask)


@tile.jit
def down_kernel(
    hidden_ptr, down_ptr, order_ptr, blocks_ptr, shares_ptr, parts_ptr, N, K, BM: tl.constexpr,
    BN: tl.constexpr, BK: tl.constexpr, EARLY: tl.constexpr,
):  # fmt: skip
    """Of each pair: `share * (hidden @ down)`, of N columns, by a sum of K steps."""
    if EARLY:
        gdc_launch_dependents()
    j, block = tl.program_id(0), blocks_ptr + tl.program_id(1) * 3
    expert, first, end = tl.load(block), tl.load(block + 1), tl.load(block + 2)
    n, k, rows = j * BN + tl.arange(0, BN), tl.arange(0, BK), first + tl.arange(0, BM)
    weights = down_ptr + expert.to(tl.int64) * N * K + n.to(tl.int64)[:, None] * K + k
    pairs = tl.load(order_ptr + rows, mask=rows < end, other=0)
    hidden_ptrs = hidden_ptr + pairs.to(tl.int64) * K + k[:, None]
    acc = tl.zeros((BN, BM), tl.float32)
    if EARLY:
        gdc_wait()
    for step in range(0, K, BK):
        mask = (rows < end) & (k[:, None] < K - step)
        hidden = tl.load(hidden_ptrs + step, mask=mask, other=0.0)
        mask = (n[:, None] < N) & (k < K - step)
        acc = tl.dot(tl.load(weights + step, mask=mask, other=0.0), hidden, acc)
    acc *= tl.load(shares_ptr + pairs, mask=rows < end, other=0.0)
    mask = (rows < end) & (n[:, None] < N)
    tl.store(parts_ptr + pairs.to(tl.int64) * N + n[:, None], acc, mask=mask)


@tile.jit
def sum_kernel(
    parts_ptr, out_ptr, N, CHOSEN: tl.constexpr, BLOCK: tl.constexpr, EARLY: tl.constexpr
):  # fmt: skip
    """Adds up what the experts of a token give."""
    token, n = tl.program_id(1), tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    if EARLY:
        gdc_wait()
    for i in tl.static_range(CHOSEN):
        parts = parts_ptr + (token * CHOSEN + i).to(tl.int64) * N + n
        total += tl.load(parts, mask=n < N, other=0.0)
    out = out_ptr + token.to(tl.int64) * N + n
    tl.store(out, total.to(out_ptr.dtype.element_ty), mask=n < N)


def by_expert(chosen: np.ndarray, experts: int, bm: int = 16) -> tuple[np.ndarray, np.ndarray]:
    """``chosen``: [tokens, experts of a token]. Pairs in the order of their experts, and blocks of
    at most ``bm`` of them: the expert of each, its first pair, and the end of the expert's."""
    flat = chosen.reshape(-1)
    ends = np.cumsum(np.bincount(flat, minlength=experts))
    begins = np.concatenate([[0], ends[:-1]])
    blocks = [
        (expert, first, end)
        for expert, (begin, end) in enumerate(zip(begins, ends, strict=True))
        for first in range(begin, end, bm)
    ]
    return np.argsort(flat, kind="stable").astype(np.int32), np.array(blocks, np.int32)


def layer(
    x, gate, up, down, order, blocks, shares, hidden, parts, out, bm=16, bn=16, bk=128,
    early=False, **options,
):  # fmt: skip
    """``x``, ``out``: [tokens, K]; ``gate``, ``up``: [experts, N, K]; ``down``: [experts, K, N].
    ``order`` and ``blocks`` are those of `by_expert`; ``shares``: [tokens, experts of a token].
    ``hidden`` has room for N numbers of each pair, ``parts`` for K fp32 numbers. With ``early``,
    on sm_90 and later, the launches overlap."""
    (tokens, k), n, chosen, count = x.shape, gate.shape[1], shares.shape[1], blocks.shape[0]
    sizes = {"BM": bm, "BN": bn, "BK": bk, "EARLY": early} | options
    overlap = {"launch_pdl": True} if early else {}
    kernel = up_kernel[(tile.cdiv(n, bn), count)](
        x, gate, up, order, blocks, hidden, n, k, CHOSEN=chosen, **sizes
    )
    down_kernel[(tile.cdiv(k, bn), count)](
        hidden, down, order, blocks, shares, parts, k, n, **sizes, **overlap
    )
    sum_kernel[(tile.cdiv(k, 256), tokens)](
        parts, out, k, CHOSEN=chosen, BLOCK=256, EARLY=early, **overlap
    )
    return kernel


def reference(x, gate, up, down, chosen, shares):
    """The same in NumPy."""
    out = np.zeros(x.shape)
    for token, (experts, weights) in enumerate(zip(chosen, shares, strict=True)):
        row = x[token].astype(np.float64)
        for expert, share in zip(experts, weights, strict=True):
            a = gate[expert].astype(np.float64) @ row
            hidden = a / (1 + np.exp(-a)) * (up[expert].astype(np.float64) @ row)
            out[token] += share * (down[expert].astype(np.float64) @ hidden)
    return out


def main(device) -> None:
    rng = np.random.default_rng(41)
    tokens, experts, chosen, k, n = 19, 4, 2, 136, 72
    x = rng.standard_normal((tokens, k)).astype(np.float16)
    shapes = ((experts, n, k), (experts, n, k), (experts, k, n))
    weights = [(rng.standard_normal(s) * 0.2).astype(np.float16) for s in shapes]
    # No token takes the last expert, and the first has more rows than a block.
    choices = np.array([[0, 1 + token % 2] for token in range(tokens)])
    order, blocks = by_expert(choices, experts)
    shares = rng.random((tokens, chosen)).astype(np.float32)
    gate, up, down = weights
    expected = reference(x, gate, up, down, choices, shares)
    hidden = device.empty_like(np.empty((tokens * chosen, n), np.float16))
    parts = device.empty_like(np.empty((tokens * chosen, k), np.float32))
    out = device.empty_like(x)
    target = device.driver.get_current_target()
    for early in (False, True):
        if early and (target.backend != "cuda" or target.arch < 90):
            continue
        kernel = layer(
            device.put(x), device.put(gate), device.put(up), device.put(down), device.put(order),
            device.put(blocks), device.put(shares), hidden, parts, out, early=early,
        )  # fmt: skip
        device.check("experts, early" if early else "experts", kernel, device.get(out), expected)


if __name__ == "__main__":
    from device import run_examples

    run_examples(main)

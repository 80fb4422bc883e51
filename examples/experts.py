"""A layer of experts for few tokens: each token's rows go through the experts that it chose.

With few tokens an expert has few rows, and reading the weights is what takes time. A program reads
a part of one expert's weights once, and gathers the rows of the tokens that chose it.
"""

from __future__ import annotations

import numpy as np

import tile
import tile.language as tl


@tile.jit
def up_kernel(
    x_ptr, gate_ptr, up_ptr, order_ptr, ends_ptr, hidden_ptr, N, K, CHOSEN: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """Of each pair of a token and an expert: `silu(x @ gate) * (x @ up)`."""
    j, expert = tl.program_id(0), tl.program_id(1)
    begin, end = tl.load(ends_ptr + expert), tl.load(ends_ptr + expert + 1)
    n, k = j * BN + tl.arange(0, BN), tl.arange(0, BK)
    weights = expert.to(tl.int64) * N * K + n.to(tl.int64)[:, None] * K + k
    for first in range(begin, end, BM):
        rows = first + tl.arange(0, BM)
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
    hidden_ptr, down_ptr, order_ptr, ends_ptr, shares_ptr, parts_ptr, N, K, BM: tl.constexpr,
    BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """Of each pair: `share * (hidden @ down)`, of N columns, by a sum of K steps."""
    j, expert = tl.program_id(0), tl.program_id(1)
    begin, end = tl.load(ends_ptr + expert), tl.load(ends_ptr + expert + 1)
    n, k = j * BN + tl.arange(0, BN), tl.arange(0, BK)
    weights = down_ptr + expert.to(tl.int64) * N * K + n.to(tl.int64)[:, None] * K + k
    for first in range(begin, end, BM):
        rows = first + tl.arange(0, BM)
        pairs = tl.load(order_ptr + rows, mask=rows < end, other=0)
        hidden_ptrs = hidden_ptr + pairs.to(tl.int64) * K + k[:, None]
        acc = tl.zeros((BN, BM), tl.float32)
        for step in range(0, K, BK):
            mask = (rows < end) & (k[:, None] < K - step)
            hidden = tl.load(hidden_ptrs + step, mask=mask, other=0.0)
            mask = (n[:, None] < N) & (k < K - step)
            acc = tl.dot(tl.load(weights + step, mask=mask, other=0.0), hidden, acc)
        acc *= tl.load(shares_ptr + pairs, mask=rows < end, other=0.0)
        mask = (rows < end) & (n[:, None] < N)
        tl.store(parts_ptr + pairs.to(tl.int64) * N + n[:, None], acc, mask=mask)


@tile.jit
def sum_kernel(parts_ptr, out_ptr, N, CHOSEN: tl.constexpr, BLOCK: tl.constexpr):
    """Adds up what the experts of a token give."""
    token, n = tl.program_id(1), tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for i in tl.static_range(CHOSEN):
        parts = parts_ptr + (token * CHOSEN + i).to(tl.int64) * N + n
        total += tl.load(parts, mask=n < N, other=0.0)
    out = out_ptr + token.to(tl.int64) * N + n
    tl.store(out, total.to(out_ptr.dtype.element_ty), mask=n < N)


def by_expert(chosen: np.ndarray, experts: int) -> tuple[np.ndarray, np.ndarray]:
    """``chosen``: [tokens, experts of a token]. Pairs in the order of their experts, and where
    each expert's begin."""
    flat = chosen.reshape(-1)
    ends = np.concatenate([[0], np.cumsum(np.bincount(flat, minlength=experts))])
    return np.argsort(flat, kind="stable").astype(np.int32), ends.astype(np.int32)


def layer(
    x, gate, up, down, order, ends, shares, hidden, parts, out, bm=16, bn=64, bk=64, **options
):  # fmt: skip
    """``x``, ``out``: [tokens, K]; ``gate``, ``up``: [experts, N, K]; ``down``: [experts, K, N].
    ``order`` and ``ends`` are those of `by_expert`; ``shares``: [tokens, experts of a token].
    ``hidden`` has room for N numbers of each pair, ``parts`` for K fp32 numbers."""
    (tokens, k), (experts, n) = x.shape, gate.shape[:2]
    chosen = shares.shape[1]
    sizes = {"BM": bm, "BN": bn, "BK": bk} | options
    kernel = up_kernel[(tile.cdiv(n, bn), experts)](
        x, gate, up, order, ends, hidden, n, k, CHOSEN=chosen, **sizes
    )
    down_kernel[(tile.cdiv(k, bn), experts)](
        hidden, down, order, ends, shares, parts, k, n, **sizes
    )
    sum_kernel[(tile.cdiv(k, 1024), tokens)](parts, out, k, CHOSEN=chosen, BLOCK=1024)
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
    order, ends = by_expert(choices, experts)
    shares = rng.random((tokens, chosen)).astype(np.float32)
    hidden = device.empty_like(np.empty((tokens * chosen, n), np.float16))
    parts = device.empty_like(np.empty((tokens * chosen, k), np.float32))
    out = device.empty_like(x)
    gate, up, down = weights
    kernel = layer(
        device.put(x), device.put(gate), device.put(up), device.put(down), device.put(order),
        device.put(ends), device.put(shares), hidden, parts, out,
    )  # fmt: skip
    expected = reference(x, gate, up, down, choices, shares)
    device.check("experts", kernel, device.get(out), expected)


if __name__ == "__main__":
    from device import run_examples

    run_examples(main)

"""Steps of a small network, with scopes around launches and inside of a kernel.

tile profile examples/kernels_to_profile.py; docs/howto/profile-a-kernel.md shows what comes out.
"""

from __future__ import annotations

import numpy as np

import tile
import tile.language as tl
import tile.profiler as proton
import tile.profiler.language as pl


@tile.jit
def product(a, b, out, N, K, BLOCK: tl.constexpr, BLOCK_K: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    k = tl.arange(0, BLOCK_K)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for first in range(0, K, BLOCK_K):
        with pl.scope("load"):
            left = tl.load(a + i[:, None] * K + first + k[None, :])
            right = tl.load(b + (first + k[:, None]) * N + j[None, :])
        with pl.scope("dot"):
            total = tl.dot(left, right, total)
    with pl.scope("store"):
        tl.store(out + i[:, None] * N + j[None, :], total.to(tl.float16))


@tile.jit
def softmax(x, out, N, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0) * N + at
    values = tl.load(x + row, at < N, other=-float("inf")).to(tl.float32)
    e = tl.exp(values - tl.max(values, 0))
    tl.store(out + row, (e / tl.sum(e, 0)).to(tl.float16), at < N)


def main(device) -> None:
    size = 128
    rng = np.random.default_rng(1)
    x, weights = (rng.standard_normal((size, size)).astype(np.float16) for _ in range(2))
    a, b = device.put(x), device.put(weights)
    hidden, probabilities = device.empty_like(x), device.empty_like(x)
    for step in range(2):
        with proton.scope(f"step {step}", {"flops16": 2.0 * size**3}):
            with proton.scope("linear"):
                linear = product[(size // 64, size // 64)](
                    a, b, hidden, size, size, BLOCK=64, BLOCK_K=32, num_stages=1
                )
            with proton.scope("normalize"):
                normalize = softmax[(size,)](hidden, probabilities, size, BLOCK=128)
    expected = x.astype(np.float64) @ weights.astype(np.float64)
    device.check("product", linear, device.get(hidden), expected)
    rows = device.get(hidden).astype(np.float64)
    e = np.exp(rows - rows.max(1, keepdims=True))
    device.check("softmax", normalize, device.get(probabilities), e / e.sum(1, keepdims=True))


if __name__ == "__main__":
    from device import run_examples

    run_examples(main)

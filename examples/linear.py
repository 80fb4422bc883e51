"""A linear layer: a matrix product with bias and activation before its result is stored."""

from __future__ import annotations

import numpy as np

import tile
import tile.language as tl
from tile.tools.tensor_descriptor import TensorDescriptor


@tile.jit
def gelu(x):
    """The approximation by tanh, which is a sigmoid here."""
    return x * tl.sigmoid(1.5957691216057308 * (x + 0.044715 * x * x * x))


@tile.jit
def store_in_parts(y, row, column, values, PARTS: tl.constexpr):
    """Stores a tile in so many parts, side by side: one is copied while the next one is written."""
    if PARTS == 1:
        y.store([row, column], values)
    else:
        M: tl.constexpr = values.shape[0]
        HALF: tl.constexpr = values.shape[1] // 2
        left, right = tl.split(tl.permute(tl.reshape(values, (M, 2, HALF)), (0, 2, 1)))
        store_in_parts(y, row, column, left, PARTS // 2)
        store_in_parts(y, row, column + HALF, right, PARTS // 2)


@tile.jit
def linear_kernel(
    x, w, bias_ptr, y, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
    GROUP_M: tl.constexpr, ACTIVATION: tl.constexpr, FLATTEN: tl.constexpr,
    SPECIALIZE: tl.constexpr, PARTS: tl.constexpr,
):  # fmt: skip
    grid_m, grid_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
    start, tiles = tl.program_id(0), grid_m * grid_n
    for tile_id in tl.range(
        start, tiles, tl.num_programs(0), flatten=FLATTEN, warp_specialize=SPECIALIZE
    ):
        i, j = tl.swizzle2d(tile_id // grid_n, tile_id % grid_n, grid_m, grid_n, GROUP_M)
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(0, K, BK):
            acc = tl.dot(x.load([i * BM, k]), w.load([j * BN, k]).T, acc)
        columns = j * BN + tl.arange(0, BN)
        result = acc + tl.load(bias_ptr + columns, mask=columns < N, other=0.0)[None, :]
        if ACTIVATION == "relu":
            result = tl.maximum(result, 0.0)
        elif ACTIVATION == "gelu":
            result = gelu(result)
        store_in_parts(y, i * BM, j * BN, result.to(y.dtype), PARTS)


def linear(
    x, w, bias, y, bm=64, bn=64, bk=32, group_m=None, activation="gelu", programs=None,
    specialize=False, parts=1, **options,
):  # fmt: skip
    """``y = activation(x @ w.T + bias)`` for row-major matrices, by ``programs`` programs (as
    many as there are tiles, if that is None), which store a tile in ``parts`` (a power of two)."""
    (m, k), n = x.shape, w.shape[0]
    # What programs read at a time is about square, where there are many.
    group_m = group_m or (16 if bn > bm >= 128 else 8)
    grid = (min(tile.cdiv(m, bm) * tile.cdiv(n, bn), programs or 1 << 30),)
    blocks = ((x, [bm, bk]), (w, [bn, bk]), (y, [bm, bn // parts]))
    x, w, y = (TensorDescriptor.from_tensor(tensor, block) for tensor, block in blocks)
    return linear_kernel[grid](
        x, w, bias, y, m, n, k, BM=bm, BN=bn, BK=bk, GROUP_M=group_m, ACTIVATION=activation,
        FLATTEN=programs is not None, SPECIALIZE=specialize, PARTS=parts, **options,
    )  # fmt: skip


def main(device) -> None:
    rng = np.random.default_rng(13)
    m, n, k = 100, 136, 72
    x = rng.standard_normal((m, k)).astype(np.float16)
    w = rng.standard_normal((n, k)).astype(np.float16)
    bias = rng.standard_normal(n).astype(np.float16)
    product = x.astype(np.float64) @ w.T.astype(np.float64) + bias.astype(np.float64)
    cubic = 0.7978845608028654 * (product + 0.044715 * product**3)
    references = {
        "relu": np.maximum(product, 0),
        "gelu": 0.5 * product * (1 + np.tanh(cubic)),
        "none": product,
    }
    for activation, expected in references.items():
        y = device.empty_like(np.empty((m, n), np.float16))
        there = device.put(x), device.put(w), device.put(bias)
        kernel = linear(*there, y, activation=activation, programs=2, parts=2)
        device.check(f"linear {activation}", kernel, device.get(y), expected)


if __name__ == "__main__":
    from device import run_examples

    run_examples(main)

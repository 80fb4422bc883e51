"""Layer normalisation of the rows of a matrix, one row a program, read once and written once."""

from __future__ import annotations

import numpy as np

import tile
import tile.language as tl


@tile.jit
def layernorm_kernel(
    out_ptr, in_ptr, weight_ptr, bias_ptr, stride, n_cols, eps, BLOCK: tl.constexpr
):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(in_ptr + row * stride + cols, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / n_cols
    centred = tl.where(mask, x - mean, 0.0)
    variance = tl.sum(centred * centred, axis=0) / n_cols
    scale = 1 / tl.sqrt(variance + eps)
    weight = tl.load(weight_ptr + cols, mask=mask, other=0.0).to(tl.float32)
    bias = tl.load(bias_ptr + cols, mask=mask, other=0.0).to(tl.float32)
    result = centred * scale * weight + bias
    tl.store(out_ptr + row * stride + cols, result.to(out_ptr.dtype.element_ty), mask=mask)


def layernorm(x, weight, bias, out, eps: float = 1e-5, **options):
    """Row-wise layer normalisation of a matrix of up to 16384 columns."""
    rows, cols = x.shape
    block = tile.next_power_of_2(cols)
    options.setdefault("num_warps", 4 if block <= 2048 else 8)
    return layernorm_kernel[(rows,)](out, x, weight, bias, cols, cols, eps, BLOCK=block, **options)


def reference(x: np.ndarray, weight: np.ndarray, bias: np.ndarray, eps: float = 1e-5) -> np.ndarray:
    x = x.astype(np.float64)
    centred = x - x.mean(axis=1, keepdims=True)
    variance = (centred**2).mean(axis=1, keepdims=True)
    return centred / np.sqrt(variance + eps) * weight.astype(np.float64) + bias.astype(np.float64)


def main(device) -> None:
    rng = np.random.default_rng(6)
    for dtype, shape in ((np.float32, (9, 300)), (np.float16, (4, 4096))):
        x = rng.standard_normal(shape).astype(dtype)
        weight, bias = rng.standard_normal((2, shape[1])).astype(dtype)
        out = device.empty_like(x)
        kernel = layernorm(device.put(x), device.put(weight), device.put(bias), out)
        device.check("layernorm", kernel, device.get(out), reference(x, weight, bias))


if __name__ == "__main__":
    from device import run_examples

    run_examples(main)

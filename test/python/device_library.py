"""Running functions of the device library on arrays."""

from __future__ import annotations

import math

import numpy as np

import tile
import tile.language as tl
from tile.language.extra import libdevice

N = 128
KINDS = {"fp32": np.float32, "fp64": np.float64}
Wide = np.longdouble


@tile.jit
def kernel1(x_ptr, out_ptr, F: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, F(tl.load(x_ptr + i)))


@tile.jit
def kernel2(x_ptr, y_ptr, out_ptr, F: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, F(tl.load(x_ptr + i), tl.load(y_ptr + i)))


@tile.jit
def kernel3(x_ptr, y_ptr, z_ptr, out_ptr, F: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, F(tl.load(x_ptr + i), tl.load(y_ptr + i), tl.load(z_ptr + i)))


@tile.jit
def kernel4(x_ptr, y_ptr, z_ptr, w_ptr, out_ptr, F: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    x, y, z, w = (tl.load(p + i) for p in (x_ptr, y_ptr, z_ptr, w_ptr))
    tl.store(out_ptr + i, F(x, y, z, w))


def run(name: str, *inputs: np.ndarray, out: type) -> np.ndarray:
    """The function of that name on arrays of N elements."""
    result = np.full(inputs[0].size, 0xA5).astype(out)
    kernel = (kernel1, kernel2, kernel3, kernel4)[len(inputs) - 1]
    kernel[(1,)](*inputs, result, F=getattr(libdevice, name), N=inputs[0].size)
    return result


def inputs(low: float, high: float, kind: type, seed: int = 0) -> np.ndarray:
    """Numbers of a range: dense in the middle, and of every size."""
    generator = np.random.default_rng(seed)
    even = generator.uniform(max(low, -20), min(high, 20), N // 2)
    size = 10 ** generator.uniform(-3, math.log10(max(abs(low), abs(high))), N - N // 2)
    sign = np.where(generator.random(size.size) < 0.5, -1, 1)
    return np.concatenate([even, np.clip(size * sign, low, high)]).astype(kind)


def rounded(exact: np.ndarray, kind: type, mode: str) -> np.ndarray:
    """Exact results (of a wider type) rounded as `mode` says."""
    near = exact.astype(kind)
    back = near.astype(Wide)
    up = np.where(back < exact, np.nextafter(near, kind(np.inf)), near)
    down = np.where(back > exact, np.nextafter(near, kind(-np.inf)), near)
    return {"rn": near, "ru": up, "rd": down, "rz": np.where(exact < 0, up, down)}[mode]


MODES = ("rn", "rz", "ru", "rd")
INTEGERS = {"int": np.int32, "uint": np.uint32, "ll": np.int64, "ull": np.uint64}

"""Helpers for tests that run kernels: inputs, poisoned outputs, comparison."""

from __future__ import annotations

import os

import ml_dtypes
import numpy as np
import pytest

DTYPES = {
    "fp16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "fp32": np.float32,
    "fp64": np.float64,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "u8": np.uint8,
    "u32": np.uint32,
    "u64": np.uint64,
}
#: For tests of what only the simulator does.
sim_only = pytest.mark.simulator


def on_nvidia() -> bool:
    """Whether kernels run on NVIDIA's GPUs, or what stands for one; else on AMD's."""
    return not os.environ.get("TILE_SIM_TARGET", "").startswith("hip:")


#: Relative error of one operation that is rounded to the type.
EPSILON = {"fp16": 1e-3, "bf16": 8e-3, "fp32": 1e-6, "fp64": 1e-14}


def random(shape, dtype: str, seed: int = 0) -> np.ndarray:
    """Reproducible input of any type."""
    generator = np.random.default_rng(seed)
    kind = DTYPES[dtype]
    if dtype.startswith(("i", "u")):
        info = np.iinfo(kind)
        low, high = max(info.min, -1000), min(info.max, 1000)
        return generator.integers(low, high, shape).astype(kind)
    return generator.standard_normal(shape).astype(kind)


def poisoned(shape, dtype: str) -> np.ndarray:
    """An output that no kernel would write by chance."""
    kind = DTYPES[dtype]
    out = np.empty(shape, kind)
    out.view(np.uint8)[...] = 0xA5
    return out


def tf32(x: np.ndarray) -> np.ndarray:
    """The nearest numbers of tf32: 10 bits behind the point. By exact arithmetic."""
    exponent = np.frexp(x.astype(np.float64))[1]
    # Of subnormal numbers, the last place stays where it is.
    exponent = np.maximum(exponent, -125)
    place = np.ldexp(1.0, exponent - 11)
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = (np.rint(x / place) * place).astype(np.float32)
    return np.where(np.isfinite(x), rounded, x)


def close(actual: np.ndarray, expected: np.ndarray, dtype: str, scale: float = 1.0) -> None:
    """Equal for integers; within rounding for floats."""
    if dtype not in EPSILON:
        np.testing.assert_array_equal(actual, expected)
        return
    epsilon = EPSILON[dtype] * scale
    np.testing.assert_allclose(
        actual.astype(np.float64),
        np.asarray(expected).astype(np.float64),
        rtol=epsilon,
        atol=epsilon,
    )

"""Elements as registers hold them, as values of NumPy."""

from __future__ import annotations

import numpy as np

_PLAIN = {
    "fp64": np.float64, "fp32": np.float32, "fp16": np.float16,
    "int64": np.int64, "int32": np.int32, "int16": np.int16, "int8": np.int8,
    "uint64": np.uint64, "uint32": np.uint32, "uint16": np.uint16, "uint8": np.uint8,
}  # fmt: skip
#: The classes of `ml_dtypes`.
_SMALL_FLOATS = {
    "fp8e4nv": "float8_e4m3fn",
    "fp8e5": "float8_e5m2",
    "fp8e4b8": "float8_e4m3fnuz",
    "fp8e5b16": "float8_e5m2fnuz",
    "fp8e4b15": "float8_e4m3b11fnuz",
}


def is_pointer(type: str) -> bool:
    return type.startswith("pointer")


def to_values(bits: np.ndarray, type: str) -> np.ndarray:
    """The values that words of 64 bits stand for. What NumPy has no type for becomes one that
    holds it: bf16 and floats of 8 bits are fp32. Where that takes a package that is not
    installed, the bits themselves are given."""
    if type == "int1":
        return (bits & 1).astype(bool)
    if type in _PLAIN:
        dtype = np.dtype(_PLAIN[type])
        words = bits.astype(np.uint64).astype(f"u{dtype.itemsize}")
        return words.view(dtype)
    if type == "bf16":
        return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)
    if type in _SMALL_FLOATS:
        try:
            import ml_dtypes
        except ImportError:
            return bits.astype(np.uint8)
        return (
            bits.astype(np.uint8).view(getattr(ml_dtypes, _SMALL_FLOATS[type])).astype(np.float32)
        )
    return bits.astype(np.uint64)

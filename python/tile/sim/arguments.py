"""Arguments of kernels as a command line gives them."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from tile.errors import TileError

from .tensormap import SWIZZLES, tensor_map

_DTYPES = {
    "f16": np.float16, "f32": np.float32, "f64": np.float64, "bf16": np.uint16,
    "s8": np.int8, "s16": np.int16, "s32": np.int32, "s64": np.int64,
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
}  # fmt: skip
_FORMATS = {
    "f16": "e", "f32": "f", "f64": "d", "s8": "b", "s16": "h", "s32": "i", "s64": "q",
    "u8": "B", "u16": "H", "u32": "I", "u64": "Q",
}  # fmt: skip
_MAP_ELEMENTS = {
    "float16": "f16", "float32": "f32", "float64": "f64", "uint8": "u8", "int8": "u8",
    "uint16": "u16", "int16": "u16", "uint32": "u32", "int32": "s32", "uint64": "u64",
    "int64": "s64",
}  # fmt: skip


def _shape(text: str, what: str) -> tuple[int, ...]:
    try:
        shape = tuple(int(part) for part in text.split("x"))
    except ValueError:
        shape = (-1,)
    if any(n < 0 for n in shape):
        raise TileError(f"'{text}' is not a shape of {what}, as in 128x64")
    return shape


def array(text: str) -> np.ndarray | None:
    """FILE.npy, zeros:TYPE:SHAPE or random:TYPE:SHAPE; None for text that is no array."""
    if text.endswith(".npy"):
        try:
            return np.load(text)
        except (OSError, ValueError) as error:
            raise TileError(f"cannot read '{text}': {error}") from None
    kind, _, rest = text.partition(":")
    if kind not in ("zeros", "random"):
        return None
    name, _, shape = rest.partition(":")
    if name not in _DTYPES:
        raise TileError(f"unknown type '{name}'; expected one of {', '.join(_DTYPES)}")
    dtype = np.dtype(_DTYPES[name])
    sizes = _shape(shape, "an array")
    if kind == "zeros":
        return np.zeros(sizes, dtype)
    rng = np.random.default_rng(0)
    if dtype.kind == "f":
        return rng.standard_normal(sizes).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, sizes, dtype, endpoint=True)


def _map(text: str, arrays: dict[str, np.ndarray]) -> bytes:
    """map:ARRAY:BOX[:SWIZZLE], the box with its innermost dimension last, as shapes are."""
    parts = text.split(":")
    if len(parts) not in (3, 4):
        raise TileError(f"'{text}' is not a tensor map: map:ARRAY:BOX[:SWIZZLE] expected")
    if parts[1] not in arrays:
        raise TileError(f"there is no array '{parts[1]}': name it with --array {parts[1]}=...")
    value = arrays[parts[1]]
    box = _shape(parts[2], "a box")
    swizzle = int(parts[3]) if len(parts) == 4 and parts[3].isdigit() else 0
    if len(parts) == 4 and (not parts[3].isdigit() or swizzle not in SWIZZLES):
        raise TileError(f"the swizzle must be 0, 32, 64 or 128, not '{parts[3]}'")
    if str(value.dtype) not in _MAP_ELEMENTS:
        raise TileError(f"a tensor map has no elements of type {value.dtype}")
    return tensor_map(
        value.ctypes.data,
        _MAP_ELEMENTS[str(value.dtype)],
        value.shape[::-1],
        value.strides[-2::-1],
        box[::-1],
        swizzle=swizzle,
    )


def _structure(text: str, arrays: dict[str, np.ndarray]) -> bytes:
    """struct:TYPE=VALUE,...: fields in order, each aligned to its size, as C lays them out; `ptr`
    is the address of a named array, or 0."""
    data = bytearray()
    widest = 1
    for field in text.removeprefix("struct:").split(","):
        kind, _, value = field.partition("=")
        if kind == "ptr":
            address = arrays[value].ctypes.data if value in arrays else 0
            if value not in arrays and value not in ("0", "null"):
                raise TileError(f"there is no array '{value}': name it with --array {value}=...")
            part = struct.pack("<Q", address)
        elif kind in _FORMATS:
            try:
                number = float(value) if kind.startswith("f") else int(value, 0)
                part = struct.pack("<" + _FORMATS[kind], number)
            except (ValueError, struct.error, OverflowError):
                raise TileError(f"'{value}' is not a .{kind}") from None
        else:
            raise TileError(f"'{field}' is not a field: TYPE=VALUE expected, TYPE one of ptr, "
                            + ", ".join(_FORMATS))  # fmt: skip
        widest = max(widest, len(part))
        data += bytes(-len(data) % len(part)) + part
    return bytes(data + bytes(-len(data) % widest))


def argument(text: str, arrays: dict[str, np.ndarray]) -> Any:
    """What `tile.sim.launch` takes for the text of one argument: a number, `null`, the name of an
    array, an array, `map:...`, `struct:...`, or `hex:...`."""
    if text == "null":
        return None
    if text in arrays:
        return arrays[text]
    if text.startswith("map:"):
        return _map(text, arrays)
    if text.startswith("struct:"):
        return _structure(text, arrays)
    if text.startswith("hex:"):
        try:
            return bytes.fromhex(text[4:])
        except ValueError:
            raise TileError(f"'{text}' is not hexadecimal") from None
    value = array(text)
    if value is not None:
        return value
    try:
        return int(text, 0)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise TileError(
            f"'{text}' is neither a number nor null, the name of an array, FILE.npy, "
            "zeros:TYPE:SHAPE, random:TYPE:SHAPE, map:ARRAY:BOX, struct:TYPE=VALUE,... or hex:BYTES"
        ) from None

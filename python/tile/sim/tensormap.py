"""Tensor maps for simulated TMA copies.

The driver's map is opaque; the simulator reads its own layout of the same facts (see
include/tile/Simulator/TensorMap.h).
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from tile.errors import TileError

#: Numbers of the element types, as `tensormap.replace.elemtype` takes them.
ELEMENT_TYPES = {
    "u8": 0,
    "u16": 1,
    "u32": 2,
    "s32": 3,
    "u64": 4,
    "s64": 5,
    "f16": 6,
    "f32": 7,
    "f64": 9,
    "bf16": 10,
    "tf32": 11,
}
SWIZZLES = {0: 0, 32: 1, 64: 2, 128: 3}


def tensor_map(
    address: int,
    element: str,
    shape: Sequence[int],
    strides: Sequence[int],
    box: Sequence[int],
    *,
    swizzle: int = 0,
    fill_nan: bool = False,
    element_strides: Sequence[int] | None = None,
) -> bytes:
    """The 128 bytes of a tiled tensor map.

    Dimensions go from the innermost outwards; `strides` are the bytes between elements of
    dimensions 1 and up; `swizzle` is 0, 32, 64 or 128 bytes.
    """
    rank = len(shape)
    if not 1 <= rank <= 5 or len(box) != rank or len(strides) != rank - 1:
        raise TileError(
            "a tensor map has 1 to 5 dimensions, a box of the same rank and one stride less"
        )
    if element not in ELEMENT_TYPES:
        raise TileError(f"unknown element type '{element}'; expected {', '.join(ELEMENT_TYPES)}")
    if swizzle not in SWIZZLES:
        raise TileError(f"the swizzle must be 0, 32, 64 or 128 bytes, not {swizzle}")
    pad = [0] * (5 - rank)
    steps = list(element_strides or [1] * rank)
    head = struct.pack(
        "<Q8B",
        address,
        rank - 1,
        ELEMENT_TYPES[element],
        0,
        SWIZZLES[swizzle],
        int(fill_nan),
        0,
        0,
        0,
    )
    dims = struct.pack("<16I", *box, *pad, *shape, *pad, *steps, *pad, 0)
    return (head + dims + struct.pack("<4Q", *strides, *[0] * (5 - rank))).ljust(128, b"\0")

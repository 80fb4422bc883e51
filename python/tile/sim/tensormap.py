"""Tensor maps for simulated TMA copies, as the CUDA driver encodes them for sm_90.

test/python/sim/test_tensor_maps.py compares them with maps of the driver.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

from tile.errors import TileError

#: Numbers of the element types, as `tensormap.replace.elemtype` takes them, and their bytes.
ELEMENT_TYPES = {
    "u8": (0, 1),
    "u16": (1, 2),
    "u32": (2, 4),
    "s32": (3, 4),
    "u64": (4, 8),
    "s64": (5, 8),
    "f16": (6, 2),
    "f32": (7, 4),
    "f32.ftz": (8, 4),
    "f64": (9, 8),
    "bf16": (10, 2),
    "tf32": (11, 4),
    "tf32.ftz": (12, 4),
    # 16 elements, 8 bytes, and padding of 8 bytes.
    "b4x16_p64": (14, 1),
}
SWIZZLES = {0: 0, 32: 1, 64: 2, 128: 3}
#: tf32 is the float type with this flag.
_TF32 = 1 << 16
#: Bits that the corners of im2col have for each dimension, by rank.
_CORNER_BITS = {3: 16, 4: 8, 5: 5}


def _within(what: str, values: Sequence[int], low: int, high: int) -> None:
    for value in values:
        if not low <= value <= high:
            raise TileError(f"a tensor map's {what} must be {low} to {high}, not {value}")


def _encode(
    address: int,
    element: str,
    shape: Sequence[int],
    strides: Sequence[int],
    steps: Sequence[int],
    swizzle: int,
    fill_nan: bool,
    mode: int,
    inner: int,
    box: tuple[int, int],
    count: int,
) -> bytes:
    """What both modes share; `box` is words 14 and 15, `count` the elements that are copied."""
    if element not in ELEMENT_TYPES:
        raise TileError(f"unknown element type '{element}'; expected {', '.join(ELEMENT_TYPES)}")
    if swizzle not in SWIZZLES:
        raise TileError(f"the swizzle must be 0, 32, 64 or 128 bytes, not {swizzle}")
    rank = len(shape)
    _within("shape", shape, 1, 1 << 32)
    _within("strides", strides, 0, (1 << 40) - 1)
    _within("element strides", steps, 1, 8)
    if any(stride % 16 for stride in strides):
        raise TileError(f"a tensor map's strides must be multiples of 16 bytes, not {strides}")
    kind, size = ELEMENT_TYPES[element]
    tf32 = _TF32 if element.startswith("tf32") else 0
    kind -= 4 if tf32 else 0
    facts = mode | rank - 1 << 4 | kind << 7 | SWIZZLES[swizzle] << 13 | fill_nan << 15 | tf32
    low = [stride >> 4 & 0xFFFFFFFF for stride in strides] + [0] * (5 - rank)
    high = sum((stride >> 36) << 4 * i for i, stride in enumerate(strides))
    sizes = [n - 1 for n in shape] + [0] * (5 - rank)
    stepping = sum(step - 1 << 3 * i for i, step in enumerate(steps))
    # The last two follow from the rest: bytes of a copy, and of eight rows of the swizzle.
    return struct.pack(
        "<Q30I",
        address,
        facts,
        *low,
        high,
        *sizes,
        stepping | inner - 1 << 24,
        *box,
        count * size & 0xFFFFFFFF,
        0,
        8 * swizzle or 16,
        *[0] * 13,
    )


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
    _within("box", box, 1, 256)
    steps = list(element_strides or [1] * rank)
    outer = sum(n - 1 << 8 * i for i, n in enumerate(box[1:]))
    # Computed as the driver does, which rounds down; copies round up.
    count = math.prod(n // max(step, 1) for n, step in zip(box, steps, strict=True))
    return _encode(
        address, element, shape, strides, steps, swizzle, fill_nan, 0, box[0], (outer, 0), count
    )  # fmt: skip


def im2col_tensor_map(
    address: int,
    element: str,
    shape: Sequence[int],
    strides: Sequence[int],
    lower: Sequence[int],
    upper: Sequence[int],
    channels: int,
    pixels: int,
    *,
    swizzle: int = 0,
    fill_nan: bool = False,
    element_strides: Sequence[int] | None = None,
) -> bytes:
    """The 128 bytes of an im2col tensor map of 3 to 5 dimensions: channels, W (H, D), N.

    A copy takes `pixels` rows of `channels` elements. Its pixels lie in a box from `lower` to the
    last element plus `upper`, for the dimensions between the first and the last, W first.
    """
    rank = len(shape)
    corners_fit = len(lower) == len(upper) == rank - 2
    if not 3 <= rank <= 5 or not corners_fit or len(strides) != rank - 1:
        raise TileError(
            "an im2col tensor map has 3 to 5 dimensions, one stride less, and corners of two less"
        )
    _within("channels", [channels], 1, 256)
    _within("pixels", [pixels], 1, 1024)
    width = _CORNER_BITS[rank]
    _within("corners", [*lower, *upper], -(1 << width - 1), (1 << width - 1) - 1)
    corners = sum(
        (v & (1 << width) - 1) << at + width * i
        for at, corner in ((0, lower), (16, upper))
        for i, v in enumerate(corner)
    )
    steps = list(element_strides or [1] * rank)
    return _encode(
        address, element, shape, strides, steps, swizzle, fill_nan, 1, channels,
        (corners, pixels - 1), channels * pixels,
    )  # fmt: skip

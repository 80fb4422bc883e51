"""Descriptors made on the host, as arguments of a kernel.

A kernel takes a descriptor as ``tensordesc<fp16[16, 64]>`` in its signature, or as
``tensordesc<fp16[16, 64],LAYOUT>`` where it says how blocks lie. The key of an argument goes on
with "Z" if elements out of bounds are zeros, and with "R" if loads round to tf32. It ends in "D" if
the rows are multiples of 16 bytes, as the base and the strides are. Tensors without elements have
no "D": nobody has looked at their strides. Nor have tensors with a negative stride.
At run time a descriptor becomes several arguments. These are its base, shape and strides, and
whether it pads with NaNs. Then come the shape and the strides that the kernel asks it for.

``tensordesc_im2col<fp16[64, 64],input_rank=4,LAYOUT>`` is a descriptor of a tensor with four
dimensions, of which pixels are copied. It has more parts: the number of dimensions, the steps from
element to element, and two corners of the box of pixels. There is room for five dimensions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..errors import TileError

_LIMIT = 1 << 20
#: How entries of a signature begin, of which blocks or pixels are copied.
_PREFIX, _PIXELS = "tensordesc<", "tensordesc_im2col<"
_RANK = "input_rank="
#: Of which there is room among the parts of a descriptor of pixels.
MOST_DIMENSIONS = 5
#: What the base and the strides of a descriptor are multiples of, in bytes.
ALIGNMENT = 16


def key_of(value: Any) -> str:
    """What kernels are compiled for that take a descriptor."""
    from .specialize import item_size, type_name

    extents = ", ".join(map(str, value.block_shape))
    # How blocks lie in shared memory, where the program says it.
    layout = getattr(value, "layout", None)
    placed = "" if layout is None else f",{layout!r}"
    kind = _PREFIX
    if takes_pixels(value):
        kind, placed = _PIXELS, f",{_RANK}{len(value.shape)}{placed}"
    zero = "Z" if value.padding == "zero" else ""
    whole = "D" if _has_whole_rows(value, item_size(value.base)) else ""
    rounded = "R" if getattr(value, "round_f32_to_tf32", False) else ""
    return f"{kind}{type_name(value.base.dtype)}[{extents}]{placed}>{zero}{rounded}{whole}"


def _has_whole_rows(value: Any, size: int) -> bool:
    """Whether rows, of elements of `size` bytes, are multiples of 16 bytes. There are elements, and
    no stride is negative."""
    usual = all(extent > 0 for extent in value.shape) and all(s >= 0 for s in value.strides)
    return usual and value.shape[-1] * size % ALIGNMENT == 0


def decode(key: str) -> tuple[str, list[tuple[str, int]]]:
    """The signature's entry for a key, and what is known of the argument."""
    spec, _, known = key.partition(">")
    facts = {
        "Z": ("tt.zero_padded", 1),
        "R": ("tt.round_f32_to_tf32", 1),
        "D": ("tt.divisibility", ALIGNMENT),
    }
    return spec + ">", [facts[letter] for letter in known]


def facts_of_parts(key: str) -> dict[int, list[tuple[str, int]]]:
    """What is known of the shape and the strides that a kernel asks a descriptor for, by their
    places behind it. A kernel may make another descriptor of them."""
    spec, _, known = key.partition(">")
    if "D" not in known or pixel_rank(spec + ">"):
        return {}
    from ..language.dtypes import str_to_type

    name, shape = parse(spec + ">")
    rank, bits = len(shape), str_to_type(name).primitive_bitwidth
    multiple = ("tt.divisibility", max(1, ALIGNMENT * 8 // bits))
    non_negative = ("tt.non_negative", 1)
    facts = {1 + i: [non_negative] for i in range(2 * rank)}
    for place in (rank, *range(1 + rank, 2 * rank)):
        facts[place] = [multiple, non_negative]
    return facts


def is_descriptor(spec: Any) -> bool:
    return isinstance(spec, str) and spec.startswith((_PREFIX, _PIXELS))


def parse(spec: str) -> tuple[str, list[int]]:
    """The type of the elements, and the shape of a block."""
    name, _, extents = spec.partition("<")[2].partition("[")
    return name, [int(d) for d in extents.partition("]")[0].split(",")]


def layout_of(spec: str) -> str:
    """How blocks lie in shared memory, as text; empty where that is left to the compiler."""
    text = spec.partition("]")[2].removeprefix(",").removesuffix(">")
    return text.partition(",")[2] if text.startswith(_RANK) else text


def pixel_rank(spec: str) -> int:
    """The dimensions of the tensor of which pixels are copied; 0 for blocks of a tensor."""
    return int(spec.partition(_RANK)[2].partition(",")[0]) if spec.startswith(_PIXELS) else 0


def takes_pixels(value: Any) -> bool:
    """Whether pixels are copied of an argument."""
    return hasattr(value, "pixel_box_lower_corner")


def check_block(spec: str) -> None:
    """Refuses blocks that no kernel can move."""
    from ..language.dtypes import str_to_type

    name, shape = parse(spec)
    total = 1
    for extent in shape:
        total *= extent
        if extent < 1:
            raise TileError(
                f"the block of a TensorDescriptor has elements in each dimension, not {shape}"
            )
    if total > _LIMIT:
        raise TileError(
            f"the block {shape} of a TensorDescriptor has {total} elements, more than the limit "
            f"of {_LIMIT}"
        )
    size = max(1, str_to_type(name).primitive_bitwidth // 8)
    if shape[-1] * size < 16:
        raise TileError(
            "the last dimension of a TensorDescriptor's block must have at least 16 bytes, but "
            f"{shape[-1]} x {name} has {shape[-1] * size}"
        )


def types(spec: str) -> list[str]:
    """The types of a descriptor's parts at run time."""
    name, shape = parse(spec)
    rank = pixel_rank(spec) or len(shape)
    extents, strides = ["i32"] * rank, ["i64"] * rank
    if not spec.startswith(_PIXELS):
        return ["*" + name, *extents, *strides, "i1", *extents, *strides]
    most, more = MOST_DIMENSIONS, 1 + MOST_DIMENSIONS + 2 * (MOST_DIMENSIONS - 2)
    own = ["*" + name, *["i32"] * most, *["i64"] * most, "i1", *["i32"] * more]
    return [*own, *extents, *strides]


def values(value: Any) -> list[Any]:
    """The parts of a descriptor at run time."""
    shape, strides = list(value.shape), list(value.strides)
    nan = int(value.padding == "nan")
    if not takes_pixels(value):
        return [value.base, *shape, *strides, nan, *shape, *strides]

    def all_of(known: Sequence[int], missing: int, count: int) -> list[int]:
        return [*known, *[missing] * (count - len(known))]

    most = MOST_DIMENSIONS
    return [
        value.base, *all_of(shape, 1, most), *all_of(strides, 0, most), nan, len(shape),
        *all_of(value.element_strides, 1, most),
        *all_of(value.pixel_box_lower_corner, 0, most - 2),
        *all_of(value.pixel_box_upper_corner, 0, most - 2), *shape, *strides,
    ]  # fmt: skip


class Parts(NamedTuple):
    """What a descriptor says, outermost dimension first."""

    base: Any
    shape: list[int]
    strides: list[int]
    fill_nan: bool
    # Where pixels are copied:
    element_strides: Sequence[int] = ()
    lower: Sequence[int] = ()
    upper: Sequence[int] = ()


def parts(arguments: Sequence[Any], rank: int) -> Parts:
    """What the arguments say that `values` gives of a descriptor of blocks."""
    shape, strides = arguments[1 : 1 + rank], arguments[1 + rank : 1 + 2 * rank]
    return Parts(arguments[0], list(shape), list(strides), bool(arguments[1 + 2 * rank]))


def pixel_parts(arguments: Sequence[Any]) -> Parts:
    """The same of a descriptor of which pixels are copied."""
    most = MOST_DIMENSIONS
    base, *rest = arguments

    def take(count: int) -> list[int]:
        taken = rest[:count]
        del rest[:count]
        return taken

    shape, strides, (nan, rank), steps = take(most), take(most), take(2), take(most)
    lower, upper = take(most - 2), take(most - 2)
    return Parts(
        base, shape[:rank], strides[:rank], bool(nan), steps[:rank], lower[: rank - 2],
        upper[: rank - 2],
    )  # fmt: skip

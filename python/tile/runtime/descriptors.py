"""Descriptors made on the host, as arguments of a kernel.

A kernel takes a descriptor as ``tensordesc<fp16[16, 64]>`` in its signature, or as
``tensordesc<fp16[16, 64],LAYOUT>`` where it says how blocks lie. The key of an argument goes on
with "Z" if elements out of bounds are zeros. It ends in "D" if the rows are multiples of 16 bytes,
as the base and the strides are.
At run time a descriptor becomes several arguments. These are its base, shape and strides, and
whether it pads with NaNs. Then come the shape and the strides that the kernel asks it for.
"""

from __future__ import annotations

from typing import Any

from ..errors import TileError

_LIMIT = 1 << 20
#: What the base and the strides of a descriptor are multiples of, in bytes.
ALIGNMENT = 16


def key_of(value: Any) -> str:
    """What kernels are compiled for that take a descriptor."""
    from .specialize import item_size, type_name

    extents = ", ".join(map(str, value.block_shape))
    # How blocks lie in shared memory, where the program says it.
    layout = getattr(value, "layout", None)
    placed = "" if layout is None else f",{layout!r}"
    zero = "Z" if value.padding == "zero" else ""
    whole = "" if value.shape[-1] * item_size(value.base) % ALIGNMENT else "D"
    return f"tensordesc<{type_name(value.base.dtype)}[{extents}]{placed}>{zero}{whole}"


def decode(key: str) -> tuple[str, list[tuple[str, int]]]:
    """The signature's entry for a key, and what is known of the argument."""
    spec, _, known = key.partition(">")
    facts = {"Z": ("tt.zero_padded", 1), "D": ("tt.divisibility", ALIGNMENT)}
    return spec + ">", [facts[letter] for letter in known]


def is_descriptor(spec: Any) -> bool:
    return isinstance(spec, str) and spec.startswith("tensordesc<")


def parse(spec: str) -> tuple[str, list[int]]:
    """The type of the elements, and the shape of a block."""
    name, _, extents = spec[len("tensordesc<") :].partition("[")
    return name, [int(d) for d in extents.partition("]")[0].split(",")]


def layout_of(spec: str) -> str:
    """How blocks lie in shared memory, as text; empty where that is left to the compiler."""
    return spec.partition("]")[2].removeprefix(",").removesuffix(">")


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
    rank = len(shape)
    extents, strides = ["i32"] * rank, ["i64"] * rank
    return ["*" + name, *extents, *strides, "i1", *extents, *strides]


def values(value: Any) -> list[Any]:
    """The parts of a descriptor at run time."""
    shape, strides = list(value.shape), list(value.strides)
    return [value.base, *shape, *strides, int(value.padding == "nan"), *shape, *strides]

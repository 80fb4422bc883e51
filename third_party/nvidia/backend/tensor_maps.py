"""The tensor maps that kernels take by value: the driver, or the simulator's stand-in for it,
makes them of the parts of a descriptor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tile import _C
from tile.runtime import descriptors

#: CUtensorMapSwizzle, by the width in bytes.
_SWIZZLES = {0: 0, 32: 1, 64: 2, 128: 3}
#: CUtensorMapDataType, by the codes of `tensormap.replace.elemtype`.
_DRIVER_TYPES = {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 6, 7: 7, 9: 8, 10: 9, 11: 11, 14: 14}
#: 4-bit elements, 16 of them in 16 bytes of shared memory. A map of them counts elements, a
#: descriptor counts bytes.
_PADDED = 14
#: Types have NaNs from this code of `tensormap.replace.elemtype` on.
_FIRST_FLOAT = 6


def maps_of(kernel: Any) -> list[dict[str, Any]]:
    """What the maps of a kernel say beside base, shape and strides."""
    return kernel._metadata.get("tensor_maps") or []


def _packing(facts: dict[str, Any]) -> int:
    """How many elements of the map an element of the descriptor is."""
    return 2 if facts["element_type"] == _PADDED else 1


def for_driver(kernel: Any, library: Any, address_of: Callable[[Any], int], at: int) -> Any:
    """The maps of a kernel as launches through the driver take them; `at` is how many parameters
    come before them."""
    slots = [
        _C.launch.TensorMapSlot(
            m["base"], _DRIVER_TYPES[m["element_type"]], m["element_bytes"],
            _SWIZZLES[m["swizzle"]], m["box"][::-1], m.get("pixels", False), _packing(m),
            [tuple(step) for step in m.get("code", [])], m.get("parts", []),
        )
        for m in maps_of(kernel)
    ]  # fmt: skip
    has_pixels = any(m.get("pixels") for m in maps_of(kernel))
    return _C.launch.TensorMaps(
        address_of(library.cuTensorMapEncodeTiled),
        address_of(library.cuTensorMapEncodeIm2col) if has_pixels else 0, at, slots,
    )  # fmt: skip


def computed_parts(facts: dict[str, Any], values: list[Any]) -> Any:
    """What a map is made of that the program did not ask for: steps compute it of arguments."""
    known = _C.launch.run_steps(facts["code"], lambda number: int(values[number]) % 2**64)
    base, *rest = (known[step] for step in facts["parts"])
    rank = len(facts["box"])
    return descriptors.Parts(base % 2**64, rest[:rank], rest[rank:], False)


def for_simulator(facts: dict[str, Any], values: list[Any]) -> bytes | None:
    """A map of the descriptor among the values of a launch; None where there is none, as launches
    through the driver judge."""
    from tile.sim.tensormap import ELEMENT_TYPES, im2col_tensor_map, tensor_map

    size = facts["element_bytes"]
    if facts.get("pixels"):
        parts = descriptors.pixel_parts(values[facts["base"] :])
    elif "code" in facts:
        parts = computed_parts(facts, values)
    else:
        parts = descriptors.parts(values[facts["base"] :], len(facts["box"]))
    steps = [stride * size for stride in parts.strides[:-1]]
    is_padded = facts["element_type"] == _PADDED
    # How far rows are apart, and of how many bytes they are, are multiples of this. Arrays of the
    # host begin at multiples of 16; of padded elements, a GPU wants 32.
    begin, row = (32, 64) if is_padded else (16, 16)
    is_served = (
        parts.base % 16 == 0
        and all(extent > 0 for extent in parts.shape)
        and parts.shape[-1] * size % row == 0
        and all(0 < step < 2**40 and step % begin == 0 for step in steps)
        and not (parts.fill_nan and (facts["element_type"] < _FIRST_FLOAT or is_padded))
    )
    if not is_served:
        return None
    element = next(n for n, (code, _) in ELEMENT_TYPES.items() if code == facts["element_type"])
    shape, strides = [*parts.shape[::-1]], steps[::-1]
    shape[0] *= _packing(facts)
    if not facts.get("pixels"):
        return tensor_map(
            parts.base, element, shape, strides, facts["box"][::-1], swizzle=facts["swizzle"],
            fill_nan=parts.fill_nan,
        )  # fmt: skip
    pixels, channels = facts["box"]
    return im2col_tensor_map(
        parts.base, element, shape, strides, parts.lower[::-1], parts.upper[::-1], channels,
        pixels, swizzle=facts["swizzle"], fill_nan=parts.fill_nan,
        element_strides=parts.element_strides[::-1],
    )  # fmt: skip

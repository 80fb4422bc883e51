"""The tensor maps that kernels take by value: the driver, or the simulator's stand-in for it,
makes them of the parts of a descriptor."""

from __future__ import annotations

from typing import Any

from tile import _C

#: CUtensorMapSwizzle, by the width in bytes.
_SWIZZLES = {0: 0, 32: 1, 64: 2, 128: 3}
#: CUtensorMapDataType, by the codes of `tensormap.replace.elemtype`.
_DRIVER_TYPES = {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 6, 7: 7, 9: 8, 10: 9}
#: Types have NaNs from this code of `tensormap.replace.elemtype` on.
_FIRST_FLOAT = 6


def maps_of(kernel: Any) -> list[dict[str, Any]]:
    """What the maps of a kernel say beside base, shape and strides."""
    return kernel._metadata.get("tensor_maps") or []


def for_driver(kernel: Any, encode: int, at: int) -> Any:
    """The maps of a kernel as launches through the driver take them: `encode` is the address of
    cuTensorMapEncodeTiled, `at` how many parameters come before them."""
    slots = [
        _C.launch.TensorMapSlot(
            m["base"], _DRIVER_TYPES[m["element_type"]], m["element_bytes"],
            _SWIZZLES[m["swizzle"]], m["box"][::-1],
        )
        for m in maps_of(kernel)
    ]  # fmt: skip
    return _C.launch.TensorMaps(encode, at, slots)


def for_simulator(facts: dict[str, Any], values: list[Any]) -> bytes | None:
    """A map of the descriptor among the values of a launch; None where there is none, as launches
    through the driver judge."""
    from tile.sim.tensormap import ELEMENT_TYPES, tensor_map

    rank, size = len(facts["box"]), facts["element_bytes"]
    address, *parts = values[facts["base"] : facts["base"] + 2 * rank + 2]
    shape, strides, nan = parts[:rank], parts[rank : 2 * rank], bool(parts[2 * rank])
    steps = [stride * size for stride in strides[:-1]]
    is_served = (
        address % 16 == 0
        and all(extent > 0 for extent in shape)
        and shape[-1] * size % 16 == 0
        and all(0 < step < 2**40 and step % 16 == 0 for step in steps)
        and not (nan and facts["element_type"] < _FIRST_FLOAT)
    )
    if not is_served:
        return None
    element = next(n for n, (code, _) in ELEMENT_TYPES.items() if code == facts["element_type"])
    return tensor_map(
        address, element, shape[::-1], steps[::-1], facts["box"][::-1], swizzle=facts["swizzle"],
        fill_nan=nan,
    )  # fmt: skip

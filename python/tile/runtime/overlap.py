"""Kernels that were compiled for arguments that share no memory, or are small.

Some optimisations are right only if two pointer arguments do not overlap. An
example is a load that starts before a store through another argument. Other
optimisations need an argument to have at most 2^31 bytes behind it. The kernel's
metadata lists the pairs and the arguments that a compile relied on. For such
kernels, and for no others, each launch checks them. If two arguments of a pair
overlap, or if one is larger, the launch runs a variant that was compiled without
assumptions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import dlpack
from .specialize import address_of, item_size

#: The option of a compile that makes no such assumption.
OPTION = "overlapping_arguments"

Range = tuple[int, int]


def _span(address: int, shape: Any, strides: Any, size: int) -> Range:
    """The bytes from the first to the last of elements `strides` bytes apart."""
    low = high = address
    for length, stride in zip(shape, strides, strict=True):
        if length == 0:
            return address, address
        low += min(0, (length - 1) * stride)
        high += max(0, (length - 1) * stride)
    return low, high + size


def extent(value: Any) -> Range | None:
    """The addresses from an array's first element to behind its last; None if
    the argument does not tell."""
    if value is None:
        return 0, 0
    if type(value).__name__ == "TensorWrapper":
        return extent(value.base)
    if isinstance(value, np.ndarray):
        return _span(value.ctypes.data, value.shape, value.strides, value.itemsize)
    if (
        hasattr(value, "data_ptr")
        and hasattr(value, "shape")
        and callable(getattr(value, "stride", None))
    ):
        size = item_size(value)
        return _span(value.data_ptr(), value.shape, [s * size for s in value.stride()], size)
    for name in ("__array_interface__", "__cuda_array_interface__"):
        interface = getattr(value, name, None)
        if interface is None:
            continue
        size = int(interface["typestr"][2:])
        shape = interface["shape"]
        strides = interface.get("strides")
        if strides is None:
            strides, step = [], size
            for length in reversed(shape):
                strides.insert(0, step)
                step *= length
        return _span(interface["data"][0], shape, strides, size)
    if dlpack.is_exporter(value):
        view = dlpack.view(value)
        return _span(view.address, view.shape, view.strides, view.item_size)
    return None


def may_meet(first: Any, second: Any, allocation: Callable[[int], Range | None]) -> bool:
    """Whether two arguments may have memory in common. Where one does not tell
    its extent, they do if they are in one allocation, or in an unknown one."""
    spans = [extent(first), extent(second)]
    if None in spans:
        if (0, 0) in spans:
            return False
        spans = [allocation(v if isinstance(v, int) else address_of(v)) for v in (first, second)]
        if None in spans:
            return True
    (low, high), (other_low, other_high) = spans  # type: ignore[misc]
    return low < other_high and other_low < high


def memory_of(value: Any) -> Range | None:
    """The addresses of all the memory that an array is in; None if it does not tell."""
    if type(value).__name__ == "TensorWrapper":
        return memory_of(value.base)
    if hasattr(value, "untyped_storage"):
        storage = value.untyped_storage()
        return storage.data_ptr(), storage.data_ptr() + storage.nbytes()
    while isinstance(value, np.ndarray) and isinstance(value.base, np.ndarray):
        value = value.base
    return extent(value)


#: What is in small memory has its last byte less far behind the argument.
_SMALL = 2**31


def may_be_large(value: Any, allocation: Callable[[int], Range | None]) -> bool:
    """Whether there may be more than small memory behind an argument."""
    memory = None if isinstance(value, int) else memory_of(value)
    if memory == (0, 0):
        return False
    address = value if isinstance(value, int) else address_of(value)
    memory = memory or allocation(address)
    return memory is None or memory[1] - address > _SMALL


def small_of(kernel: Any) -> list[int]:
    """The run-time arguments that a kernel takes to be small."""
    return kernel._metadata.get("small_arguments") or []


def pairs_of(kernel: Any) -> list[tuple[int, int]]:
    """The pairs of run-time arguments that a kernel takes to be disjoint."""
    flat = kernel._metadata.get("disjoint_arguments") or []
    return list(zip(flat[::2], flat[1::2], strict=True))


def compile_for_any_arguments(
    source: Any, target: Any = None, options: dict[str, Any] | None = None, **more: Any
) -> Any:
    """A kernel for launches that nobody checks: those of other programs' launchers. A program
    whose own launches have arguments that do not overlap may say so in the options."""
    from ..compiler import compile

    return compile(source, target, {OPTION: True, **(options or {})}, **more)


def checked(
    kernel: Any,
    launch: Callable,
    make_variant: Callable[[], Callable],
    allocation: Callable[[int], Range | None],
    raise_launch_error: Callable[[int, str], None],
) -> Callable:
    """`launch`, or that of a variant where arguments overlap or are large."""
    pairs, small = pairs_of(kernel), small_of(kernel)
    if not pairs and not small:
        return launch
    variant: Callable | None = None

    def run(x: int, y: int, z: int, stream: Any, arguments: tuple, **options: Any) -> Any:
        nonlocal variant
        chosen = launch
        if any(may_meet(arguments[i], arguments[j], allocation) for i, j in pairs) or any(
            may_be_large(arguments[i], allocation) for i in small
        ):
            if variant is None:
                variant = run.variant = make_variant()  # type: ignore[attr-defined]
            chosen = variant
        result = chosen(x, y, z, stream, arguments, **options)
        if result.__class__ is int and result > 0:
            raise_launch_error(result, kernel.name)
        return result

    run.direct = None if small else launch, pairs  # type: ignore[attr-defined]
    if hasattr(launch, "has_tensor_maps"):
        run.has_tensor_maps = launch.has_tensor_maps  # type: ignore[attr-defined]
    return run


def direct(launch: Any) -> tuple[Any, list[tuple[int, int]]]:
    """What the dispatcher may call in place of a launch, for arguments of which none of these pairs
    meet: it compares those that tell their extents in C. Where one meets, it calls the launch's
    `variant` once there is one."""
    return getattr(launch, "direct", (launch, []))

"""Arrays of libraries that say where their memory is by DLPack alone, such as JAX's of bfloat16."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

from ..errors import TileError


class _Type(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class _Tensor(ctypes.Structure):
    """DLTensor: what a capsule's DLManagedTensor begins with."""

    _fields_ = (
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32), ("dtype", _Type), ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64),
    )  # fmt: skip


#: Element types by DLDataTypeCode and bits, as signatures name them.
_TYPES = {
    **{(0, bits): f"i{bits}" for bits in (8, 16, 32, 64)},
    **{(1, bits): f"u{bits}" for bits in (8, 16, 32, 64)},
    **{(2, bits): f"fp{bits}" for bits in (16, 32, 64)},
    (4, 16): "bf16", (6, 8): "i1", (9, 8): "fp8e4b15", (10, 8): "fp8e4nv", (11, 8): "fp8e4b8",
    (12, 8): "fp8e5", (13, 8): "fp8e5b16",
}  # fmt: skip
#: DLDeviceType: the CPU, and pinned and managed memory, which both sides reach.
CPU, _PINNED, _MANAGED = 1, 3, 13
ON_THE_HOST = (CPU, _PINNED, _MANAGED)
ON_A_GPU = (2, _PINNED, _MANAGED)

_get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_get_pointer.restype = ctypes.c_void_p
_get_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


@dataclass(frozen=True)
class View:
    """What an array tells of itself; its memory lives as long as the array does."""

    address: int
    type: str
    device_type: int
    shape: tuple[int, ...]
    #: In bytes.
    strides: tuple[int, ...]
    item_size: int


def is_exporter(value: Any) -> bool:
    """Whether an argument is an array that tells its place by DLPack."""
    return hasattr(type(value), "__dlpack__")


def view(value: Any) -> View:
    """Where an array is, and what it holds."""
    try:
        capsule = value.__dlpack__()
    except Exception as error:
        raise TileError(f"a {type(value).__name__} does not give its memory: {error}") from None
    tensor = _Tensor.from_address(_get_pointer(capsule, b"dltensor"))
    kind = tensor.dtype
    name = _TYPES.get((kind.code, kind.bits))
    if name is None or kind.lanes != 1:
        raise TileError(
            f"a {type(value).__name__} holds elements that kernels do not know: DLPack's type "
            f"{kind.code} of {kind.bits} bits, {kind.lanes} together"
        )
    size = kind.bits // 8
    shape = tuple(tensor.shape[: tensor.ndim])
    if tensor.strides:
        strides = tuple(s * size for s in tensor.strides[: tensor.ndim])
    else:  # Compact, row after row.
        steps = [size]
        for extent in shape[:0:-1]:
            steps.append(steps[-1] * extent)
        strides = tuple(steps[: len(shape)][::-1])
    address = (tensor.data or 0) + tensor.byte_offset
    return View(address, name, tensor.device_type, shape, strides, size)

"""Arguments of a launch: arrays to memory, numbers to scalars."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ..compiler.signature import structure_of
from ..errors import TileError
from ..language.descriptor import tensor_descriptor
from ..language.dtypes import block_type, dtype, int32, int64, str_to_type
from ..language.values import tensor
from ..runtime import descriptors, dlpack, scalars
from ..runtime.specialize import type_name
from .blocks import Descriptor, PixelDescriptor, Strided
from .memory import Argument, Memory
from .numbers import constant, element_of


def _extent(address: int, shape: Any, strides: Any, size: int) -> tuple[int, int]:
    """First byte and number of bytes that an array covers, whatever its strides."""
    low = high = address
    if 0 in shape:
        return low, 0
    for extent, stride in zip(shape, strides, strict=True):
        if stride < 0:
            low += (extent - 1) * stride
        else:
            high += (extent - 1) * stride
    return low, high + size - low


def _element_type(value: Any) -> str:
    return type_name(value.dtype) if hasattr(value, "dtype") else dlpack.view(value).type


def _of_dlpack(value: Any) -> np.ndarray:
    """The memory of an array on the host, as integers of the elements' size."""
    view = dlpack.view(value)
    if view.device_type not in dlpack.ON_THE_HOST:
        raise TileError(f"the interpreter does not reach the memory of this {type(value).__name__}")
    low, size = _extent(view.address, view.shape, view.strides, view.item_size)
    memory = (ctypes.c_char * size).from_address(low)
    return np.ndarray(
        view.shape, f"i{view.item_size}", memory, offset=view.address - low, strides=view.strides
    )


class Arguments:
    """Collects the arrays of a launch, and copies those of a device back."""

    def __init__(self) -> None:
        self.arrays: list[Argument] = []
        self.copies: list[Callable[[], Any]] = []
        #: What was copied from a device, by its address there.
        self.hosts: dict[int, Any] = {}

    def add(self, name: str, value: Any) -> Callable[[], int]:
        """Adds an array; returns what tells its address, once memory is laid out."""
        base = value
        while type(base).__name__ == "TensorWrapper":
            base = base.base
        array = self._host(base)
        address = array.__array_interface__["data"][0]
        low, size = _extent(address, array.shape, array.strides, array.itemsize)
        argument = Argument(
            name,
            low,
            size,
            getattr(value, "shape", array.shape),
            str_to_type(_element_type(value)).name,
            array.flags.writeable,
            array,
        )
        self.arrays.append(argument)
        return lambda: argument.allocation.start + address - argument.allocation.host

    def _host(self, value: Any) -> np.ndarray:
        if isinstance(value, np.ndarray):
            return value
        if type(value).__module__.split(".")[0] == "torch" or hasattr(value, "untyped_storage"):
            return self._of_torch(value)
        if hasattr(value, "__array_interface__"):
            return np.asarray(value)
        if dlpack.is_exporter(value):
            return _of_dlpack(value)
        raise TileError(
            f"the interpreter takes NumPy arrays and torch tensors, not a {type(value).__name__}"
        )

    def _of_torch(self, value: Any) -> np.ndarray:
        import torch

        value = value.detach()
        if value.device.type != "cpu":
            # The whole storage, once, so that strides and views stay as they are.
            storage = value.untyped_storage()
            host = self.hosts.get(storage.data_ptr())
            if host is None:
                empty = torch.empty(0, dtype=torch.uint8, device=value.device)
                whole = empty.set_(storage)
                host = self.hosts[storage.data_ptr()] = whole.cpu()
                self.copies.append(lambda: whole.copy_(host))
            value = torch.empty(0, dtype=value.dtype).set_(
                host.untyped_storage(), value.storage_offset(), value.shape, value.stride()
            )
        sized = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
        return value.view(sized[value.element_size()]).numpy()

    def finish(self) -> None:
        for copy in self.copies:
            copy()


def _scalar(value: Any, ty: dtype) -> tensor:
    with np.errstate(over="ignore"):  # Floats beyond the type are infinite.
        return tensor(constant(value, element_of(ty), ()), ty)


def _reachable() -> list[Any]:
    """Arrays that the launch may reach through addresses it loads."""
    module = sys.modules.get("tile.sim.reachable")
    return module.reachable_arrays() if module is not None else []


def kernel_values(
    signature: dict[str, Any], values: tuple, constants: dict[tuple[int, ...], Any]
) -> tuple[list[Any], Memory, Arguments]:
    """The values of a kernel's parameters, and the memory they refer to."""
    arguments = Arguments()
    made: list[Callable[[Memory], Any]] = [
        _make(name, spec, value, (i,), constants, arguments)
        for i, ((name, spec), value) in enumerate(zip(signature.items(), values, strict=True))
    ]
    for i, array in enumerate(_reachable()):
        arguments.add(f"reachable array {i}", array)
    memory = Memory(arguments.arrays)
    return [make(memory) for make in made], memory, arguments


def _make(
    name: str,
    spec: Any,
    value: Any,
    path: tuple[int, ...],
    constants: dict[tuple[int, ...], Any],
    arguments: Arguments,
) -> Callable[[Memory], Any]:
    if isinstance(spec, tuple):
        parts = [
            _make(f"{name}[{i}]", s, v, (*path, i), constants, arguments)
            for i, (s, v) in enumerate(zip(spec, value, strict=True))
        ]
        cls = type(value)
        if hasattr(cls, "_fields"):
            return lambda memory: cls(*[part(memory) for part in parts])
        return lambda memory: tuple(part(memory) for part in parts)
    if spec == "constexpr":
        return lambda memory: constants[path]
    if descriptors.is_descriptor(spec):
        return _descriptor(name, spec, value, arguments)
    ty = str_to_type(spec)
    if ty.is_ptr():
        address = arguments.add(name, value)
        return lambda memory: tensor(np.asarray(address(), np.int64), ty)
    if isinstance(value, np.generic):
        value = value.item()
    if spec in scalars.RANGES:
        value = scalars.integer(spec, value, name)
    return lambda memory: _scalar(value, ty)


def _descriptor(name: str, spec: str, value: Any, arguments: Arguments) -> Callable[[Memory], Any]:
    """A descriptor that was made on the host."""
    element, extents = descriptors.parse(spec)
    ty = str_to_type(element)
    address = arguments.add(name, value.base)
    fill = np.nan if value.padding == "nan" else 0
    rounds = bool(getattr(value, "round_f32_to_tf32", False))
    known = (element_of(ty), fill, ty.is_int_unsigned(), rounds)

    def make(memory: Memory) -> Any:
        strided = Strided(address(), tuple(value.shape), tuple(value.strides), tuple(extents))
        handle = Descriptor(strided, *known)
        if descriptors.pixel_rank(spec):
            upper = value.pixel_box_upper_corner
            last = tuple(n - 1 + u for n, u in zip(value.shape[1:-1], upper, strict=True))
            handle = PixelDescriptor(
                strided, *known, *extents, tuple(value.element_strides),
                tuple(value.pixel_box_lower_corner), last,
            )  # fmt: skip
        shape = [_scalar(n, int32) for n in value.shape]
        strides = [_scalar(n, int64) for n in value.strides]
        if descriptors.layout_of(spec):
            from ..experimental.gluon.language.nvidia.hopper import tma

            kind = (
                tma.tensor_descriptor_im2col
                if descriptors.pixel_rank(spec)
                else tma.tensor_descriptor
            )
            return kind(handle, shape, strides, structure_of(spec))
        return tensor_descriptor(handle, shape, strides, block_type(ty, extents))

    return make

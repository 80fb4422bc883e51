"""What an argument is compiled as: its type, and what is known of its value.

An argument's key is a short string:

- ``*fp32D`` is a pointer to float32 that is a multiple of 16;
- ``i32`` is an integer that is not negative and less than 2^30;
- ``i32L`` is an integer that is not negative, ``i32S`` is any integer;
- ``1`` is the integer 1.

``D`` behind an integer says that it is a multiple of 16, ``E`` that it is a multiple of 8. Rows
of 2-byte elements need no more for accesses of 16 bytes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from ..element_types import SIGNATURE_NAMES
from ..errors import TileError, TooLargeError
from . import descriptors, dlpack


def type_name(dtype: Any) -> str:
    """The signature's name of an element type of NumPy, torch or tl."""
    name = getattr(dtype, "name", None) or str(dtype)
    if not getattr(dtype, "isnative", True):
        raise TileError(_foreign(name))
    found = SIGNATURE_NAMES.get(name.split(".")[-1])
    if found is None:
        raise TileError(
            f"elements of type {name} are not supported; known are "
            f"{', '.join(sorted(set(SIGNATURE_NAMES.values())))}"
        )
    return found


def _foreign(name: str) -> str:
    return (
        f"an array of {name} has its bytes in the order of another machine; convert it with "
        'x.astype(x.dtype.newbyteorder("="))'
    )


class ConstantKey:
    """The key of a tl.constexpr or a jit function that is passed where a run-time value may be:
    alone, or in a tuple. A kernel is compiled for it."""

    __slots__ = ("key", "value")

    def __init__(self, wrapped: Any) -> None:
        from .arguments import constant_in_key, plain

        self.value = plain(wrapped)
        self.key = (type(self.value), constant_in_key(self.value))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ConstantKey) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return f"constexpr[{self.value!r}]"


class _PointerKeys(dict):
    """The keys of pointers to a type of elements: not aligned, aligned."""

    def __missing__(self, dtype: Any) -> tuple[str, str]:
        name = "*" + type_name(dtype)
        keys = self[dtype] = (name, name + "D")
        return keys


_pointer_keys = _PointerKeys()


#: The greatest integer of which a launch tells that it is not larger: loops up to it, in
#: ordinary steps, end before their counter wraps around.
MOST = 2**30 - 1


def _of_int(value: int) -> str:
    if value == 1:
        return "1"
    alignment = "" if value & 7 else "E" if value & 15 else "D"
    if 0 <= value <= MOST:
        return "i32" + alignment
    if MOST < value <= 2147483647:
        return "i32L" + alignment
    if -2147483648 <= value < 0:
        return "i32S" + alignment
    if 0 <= value < 2**63:
        return "i64" + alignment
    if -(2**63) <= value < 0:
        return "i64S" + alignment
    if 0 <= value < 2**64:
        return "u64" + alignment
    raise TooLargeError(f"the argument {value} does not fit in 64 bits")


def _of_numpy(value: Any) -> str:
    return _pointer_keys[value.dtype][value.ctypes.data & 15 == 0]


def _of_data_ptr(value: Any) -> str:
    return _pointer_keys[value.dtype][value.data_ptr() & 15 == 0]


def _of_wrapper(value: Any) -> str:
    return _pointer_keys[value.dtype][specialize(value.base).endswith("D")]


def _of_tuple(value: tuple) -> tuple:
    keys = tuple(map(specialize, value))
    if type(value) is tuple:
        return keys
    # Kernels see the names of a named tuple's fields.
    return (*keys, f"{type(value).__module__}.{type(value).__qualname__}")


def item_size(array: Any) -> int:
    """The bytes of an element of an array or tensor."""
    for name in ("itemsize", "element_size"):
        size = getattr(array, name, None)
        if size is not None:
            return size() if callable(size) else size
    return getattr(array.dtype, "itemsize", None) or item_size(array.base)


def address_of(value: Any) -> int:
    """The address of the first element, wherever that is."""
    if hasattr(value, "data_ptr"):
        if type(value).__name__ != "TensorWrapper" or hasattr(value.base, "data_ptr"):
            return value.data_ptr()
        return address_of(value.base)
    for name in ("__array_interface__", "__cuda_array_interface__"):
        interface = getattr(value, name, None)
        if interface is not None:
            return interface["data"][0]
    if dlpack.is_exporter(value):
        return dlpack.view(value).address
    raise TileError(f"a {type(value).__name__} is neither an array nor a tensor")


_INSTEAD = "pass arrays, tensors, numbers or tuples of them, and anything else as a tl.constexpr"


def _choose(value: Any) -> Callable[[Any], Any]:
    """How arguments of this class are specialised."""
    cls = type(value)
    if isinstance(value, type):  # It has the attributes of its values.
        raise TileError(f"the class {value.__name__} cannot be an argument of a kernel; {_INSTEAD}")
    if cls.__name__ in ("TensorDescriptor", "TensorDescriptorIm2Col"):
        return descriptors.key_of
    if cls.__name__ == "TensorWrapper":
        return _of_wrapper
    if hasattr(value, "data_ptr"):
        return _of_data_ptr
    if cls.__module__ == "numpy" and cls.__name__ == "ndarray":
        return _of_numpy
    if hasattr(value, "__cuda_array_interface__"):
        return _of_cuda_array
    if cls.__module__ == "numpy":  # A NumPy scalar: as its Python value.
        return lambda v: specialize(v.item())
    if hasattr(value, "__array_interface__"):
        return lambda v: _pointer_keys[_named(v.__array_interface__["typestr"])][
            v.__array_interface__["data"][0] & 15 == 0
        ]
    if dlpack.is_exporter(value):
        return _of_dlpack
    if isinstance(value, tuple):
        return _of_tuple
    if cls.__name__ == "constexpr" or getattr(value, "__tile_callable__", False):
        return ConstantKey
    if isinstance(value, int):  # An IntEnum.
        return lambda v: _of_int(int(v))
    raise TileError(f"a {cls.__name__} cannot be an argument of a kernel; {_INSTEAD}")


def _of_cuda_array(value: Any) -> str:
    interface = value.__cuda_array_interface__
    return _pointer_keys[_named(interface["typestr"])][interface["data"][0] & 15 == 0]


def _of_dlpack(value: Any) -> str:
    view = dlpack.view(value)
    return f"*{view.type}" if view.address & 15 else f"*{view.type}D"


def _named(typestr: str) -> str:
    """The name of an element type of the array interface."""
    if typestr[0] not in "|=" + ("<" if sys.byteorder == "little" else ">"):
        raise TileError(_foreign(typestr))
    kinds = {"b": "bool", "i": "int", "u": "uint", "f": "float"}
    kind, size = typestr[1], int(typestr[2:])
    return "bool" if kind == "b" else f"{kinds.get(kind, kind)}{size * 8}"


class _ByClass(dict):
    """How arguments of each class are specialised. Launches index this by the
    class; one that is new is looked into with the first argument of it."""

    def __missing__(self, cls: type) -> Callable[[Any], Any]:
        return self._first

    def _first(self, value: Any) -> Any:
        found = self[type(value)] = _choose(value)
        return found(value)


by_class = _ByClass(
    {
        int: _of_int,
        bool: lambda value: "i1",
        float: lambda value: "fp32",
        type(None): lambda value: "None",
        tuple: _of_tuple,
    }
)


def specialize(value: Any) -> Any:
    """The key of an argument."""
    return by_class[type(value)](value)


def specialize_type_only(value: Any) -> Any:
    """The key of an argument of which only the type is looked at."""
    if value.__class__ is int and value == 1:
        value = 3  # Any number of its type.
    return _signed(unaligned(specialize(value)))


def specialize_without_alignment(value: Any) -> Any:
    """The key of an argument whose alignment is not looked at."""
    return unaligned(specialize(value))


def unaligned(key: Any) -> Any:
    if isinstance(key, tuple):
        return tuple(map(unaligned, key))
    return key.rstrip("DE") if isinstance(key, str) else key


def _signed(key: Any) -> Any:
    """The key of an argument of whose sign and size nothing is known."""
    if isinstance(key, tuple):
        return tuple(map(_signed, key))
    return key.removesuffix("L") + "S" if key in _NON_NEGATIVE else key


#: What the last letter of a key says that an argument is a multiple of.
DIVISORS = {"D": 16, "E": 8}
#: Keys, without their alignment, of integers that are not negative.
_NON_NEGATIVE = ("i32", "i32L", "i64")


def decode(key: Any, value: Any, path: tuple[int, ...], constants: dict, hints: dict) -> Any:
    """The signature's entry for a key; notes constants and hints by path."""
    if isinstance(key, tuple):
        items = [
            decode(k, v, (*path, i), constants, hints)
            for i, (k, v) in enumerate(zip(key, value, strict=False))
        ]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(key, ConstantKey):
        constants[path] = key.value
        return "constexpr"
    if descriptors.is_descriptor(key):
        descriptors.check_block(key)
        spec, known = descriptors.decode(key)
        if known:  # Of what a kernel sees of a descriptor, it is the first.
            hints[(*path, 0)] = known
        for place, facts in descriptors.facts_of_parts(key).items():
            hints[(*path, place)] = facts
        return spec
    if key in ("1", "None"):
        constants[path] = 1 if key == "1" else None
        return "constexpr"
    known = []
    if key[-1] in DIVISORS:
        known.append(("tt.divisibility", DIVISORS[key[-1]]))
        key = key[:-1]
    if key in _NON_NEGATIVE:
        known.append(("tt.non_negative", 1))
    if key == "i32":
        known.append(("tt.max", MOST))
    if known:
        hints[path] = known
    return key.rstrip("LS")


def known_of(type: str, known: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """What is known of a number that is passed as another type: the bits of an unsigned number
    may be those of a negative one."""
    if type in ("i8", "i16", "i32", "i64"):
        return known
    return [(name, value) for name, value in known if name == "tt.divisibility"]

"""Values of a kernel: tensors, and constants known when it is compiled."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ..errors import SemanticError
from . import state
from .dtypes import dtype

F = TypeVar("F", bound=Callable)


_CONTEXT = ("_semantic", "_builder", "_generator")


def builtin(fn: F) -> F:
    """Marks a function of the language: it runs while a kernel is generated."""

    @functools.wraps(fn)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if state._state.builder is None:
            raise SemanticError(
                f"tl.{fn.__name__} works only inside a function decorated with @tile.jit"
            )
        if kwargs:  # Builtins of other packages hand on what they were told.
            for name in _CONTEXT:
                kwargs.pop(name, None)
        return fn(*args, **kwargs)

    wrapper.__tile_builtin__ = True  # type: ignore[attr-defined]
    return wrapper  # type: ignore[return-value]


def is_builtin(fn: Any) -> bool:
    return getattr(fn, "__tile_builtin__", False)


def member(*names: str) -> Callable[[F], F]:
    """Also makes a builtin a method of tensor, under its own or other names."""

    def decorate(fn: F) -> F:
        for name in names or (fn.__name__,):
            setattr(tensor, name, fn)
        return fn

    return decorate


class constexpr:
    """A value known when the kernel is compiled.

    As an annotation it marks such a parameter. Inside kernels, constants are
    plain Python values; this wrapper is for constants made outside of them.
    """

    def __init__(self, value: Any) -> None:
        self.value = plain_number(unwrap(value))

    @property
    def type(self) -> constexpr_type:
        return constexpr_type(self.value)

    def __repr__(self) -> str:
        return f"constexpr[{self.value}]"

    def __hash__(self) -> int:
        return hash(self.value)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __index__(self) -> int:
        return self.value.__index__()

    def __int__(self) -> int:
        return int(self.value)

    def __float__(self) -> float:
        return float(self.value)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.value(*args, **kwargs)

    def __getitem__(self, index: Any) -> Any:
        return self.value[unwrap(index)]

    def logical_and(self, other: Any) -> constexpr:
        return constexpr(self.value and unwrap(other))

    def logical_or(self, other: Any) -> constexpr:
        return constexpr(self.value or unwrap(other))


def _forward(name: str) -> None:
    def forward(self: constexpr, *others: Any) -> constexpr:
        return constexpr(getattr(_operator, name)(self.value, *map(unwrap, others)))

    def reflected(self: constexpr, other: Any) -> constexpr:
        return constexpr(getattr(_operator, name)(unwrap(other), self.value))

    plain = name.strip("_")
    setattr(constexpr, f"__{plain}__", forward)
    if plain in _REFLECTED:
        setattr(constexpr, f"__r{plain}__", reflected)


import operator as _operator  # noqa: E402

_REFLECTED = {
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "lshift",
    "rshift",
}  # fmt: skip
for _name in [
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and_", "or_", "xor", "lshift",
    "rshift", "neg", "pos", "invert", "eq", "ne", "lt", "le", "gt", "ge",
]:  # fmt: skip
    _forward(_name)


class constexpr_type:
    """The type of a constant: each constant has its own."""

    def __init__(self, value: Any) -> None:
        self.value = unwrap(value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, constexpr_type) and self.value == other.value

    def __hash__(self) -> int:
        return hash(self.value)

    def __repr__(self) -> str:
        return f"constexpr_type[{self.value}]"


def plain_number(value: Any) -> Any:
    """A scalar of NumPy as the number of Python that it stands for, also in a
    tuple; anything else as it is."""
    if isinstance(value, tuple):
        items = [plain_number(v) for v in value]
        if all(map(_operator.is_, items, value)):
            return value
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    for base in type(value).__mro__:
        if base.__module__ == "numpy" and base.__name__ == "generic":
            return value.item()
    return value


def unwrap(value: Any) -> Any:
    """The plain value of a constexpr; anything else as it is."""
    while isinstance(value, constexpr):
        value = value.value
    return value


def unwrap_shape(shape: Any) -> tuple[int, ...]:
    """A shape given as integers, or as one sequence of them."""
    if (
        isinstance(shape, (tuple, list))
        and len(shape) == 1
        and isinstance(unwrap(shape[0]), (tuple, list))
    ):
        shape = unwrap(shape[0])
    if not isinstance(shape, (tuple, list)):
        shape = (shape,)
    result = []
    for extent in shape:
        extent = unwrap(extent)
        if isinstance(extent, tensor):
            raise SemanticError(
                "a block's shape must be known at compile time, but this extent is a run-time "
                "value; "
                "pass it as a tl.constexpr"
            )
        if isinstance(extent, bool) or not isinstance(extent, int):
            raise SemanticError(f"a block's extents are integers, not {extent!r}")
        result.append(extent)
    return tuple(result)


class tensor:
    """A scalar or a block of scalars, computed when the kernel runs."""

    __slots__ = ("dtype", "handle", "type")

    def __init__(self, handle: Any, type: dtype) -> None:
        self.handle = handle
        self.type = type
        self.dtype = type.scalar

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of a block; () of a scalar or a pointer.

        Refused: ``p.shape[0]``; a pointer does not know the size of its array.

        >>> tl.zeros([2, 4], tl.int32).shape[1]
        4
        """
        return self.type.shape

    @property
    def numel(self) -> int:
        """How many elements there are; 1 of a scalar.

        >>> tl.zeros([2, 4], tl.int32).numel
        8
        """
        return self.type.numel

    @property
    def ndim(self) -> int:
        """How many dimensions there are; 0 of a scalar.

        >>> tl.zeros([2, 4], tl.int32).ndim
        2
        """
        return len(self.type.shape)

    def __len__(self) -> int:
        if not self.type.is_block():
            what = "pointer" if self.type.scalar.is_ptr() else "scalar"
            raise SemanticError(f"a {what} has no length; pass the size of an array as an argument")
        return self.type.shape[0]

    # Values are known in the interpreter only.

    #: NumPy's scalars leave operations on tensors to tensors.
    __array_ufunc__ = None

    def _known(self, what: str) -> Any:
        if not hasattr(self.handle, "__array__"):
            raise SemanticError(f"{what} of a run-time value is not known at compile time")
        from ..interpreter import values

        return values

    def __bool__(self) -> bool:
        return self._known("the truth").truth(self)

    def __index__(self) -> int:
        return self._known("the value").index(self)

    def __int__(self) -> int:
        return int(self._known("the value").number(self))

    def __float__(self) -> float:
        return float(self._known("the value").number(self))

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        array = self._known("the value").elements(self)
        return array if dtype is None else array.astype(dtype)

    def __format__(self, spec: str) -> str:
        return format(self._known("the value").number(self), spec) if spec else str(self)

    def __str__(self) -> str:
        if hasattr(self.handle, "__array__"):
            from ..interpreter import values

            return values.show(self)
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"

    __repr__ = __str__


def is_member(name: str) -> bool:
    """Whether kernels may ask a tensor for this attribute or method."""
    return not name.startswith("_") and hasattr(tensor, name)


class slice:
    """A Python slice, as it appears in an index."""

    def __init__(self, start: Any, stop: Any, step: Any) -> None:
        self.start = start
        self.stop = stop
        self.step = step


class tuple_type:
    """The type of a tuple, as a signature spells it."""

    def __init__(self, types: Sequence[Any]) -> None:
        self.types = tuple(types)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, tuple_type) and self.types == other.types

    def __hash__(self) -> int:
        return hash(self.types)

    def __repr__(self) -> str:
        return f"tuple[{', '.join(map(str, self.types))}]"


class tl_tuple(tuple):
    """``tl.tuple``: a tuple that may hold tensors and constants."""

    def __new__(cls, args: Sequence[Any] = (), type: tuple_type | None = None) -> tl_tuple:
        return super().__new__(cls, args)

    @property
    def values(self) -> list[Any]:
        return list(self)


def one(value: Any) -> str:
    """Names a value's type with its article, for messages."""
    name = describe(value)
    if value is None:
        return name
    vowel = (name[0] in "aeiouAEIO" and not name.startswith("uint")) or name.startswith("fp")
    return f"{'an' if vowel else 'a'} {name}"


def shown(value: Any) -> str:
    """A constant as it is written, anything else by its type, for messages."""
    return describe(value) if isinstance(value, tensor) else repr(value)


class TypesInText(str):
    """Text in which an f-string put the types of values that are known at run time only."""


def describe(value: Any) -> str:
    """Names the type of a value, for messages."""
    if isinstance(value, tensor):
        return str(value.type)
    if value is None:
        return "None"
    return "str" if isinstance(value, TypesInText) else type(value).__name__

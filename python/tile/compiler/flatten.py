"""Values of Python as lists of SSA values, for loops, branches and calls.

A variable may hold a tensor, a tuple of tensors, a descriptor, or a constant.
Its *structure* says how many SSA values it has and how to put it together
again from new ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..language.dtypes import Shape, dtype
from ..language.promotion import is_constant, to_tensor
from ..language.values import tensor, tl_tuple, unwrap


class Constant:
    """The structure of a value without SSA values."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Constant):
            return False
        if self.value is other.value:
            return True
        return type(self.value) is type(other.value) and bool(self.value == other.value)

    def __hash__(self) -> int:
        return 0

    def __str__(self) -> str:
        return f"the constant {self.value!r}"


class Sequence_:
    """The structure of a tuple or a list."""

    __slots__ = ("cls", "items")

    def __init__(self, cls: type, items: tuple[Any, ...]) -> None:
        self.cls = cls
        self.items = items

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence_) and self.cls is other.cls and self.items == other.items

    def __hash__(self) -> int:
        return hash(self.items)

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.items))})"


class Mapping_:
    """The structure of a dictionary, whose keys are constants."""

    __slots__ = ("items",)

    def __init__(self, items: dict[Any, Any]) -> None:
        self.items = items

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Mapping_)
            and list(self.items) == list(other.items)
            and self.items == other.items
        )

    def __hash__(self) -> int:
        return hash(tuple(self.items))

    def __str__(self) -> str:
        return f"{{{', '.join(f'{k!r}: {v}' for k, v in self.items.items())}}}"


def is_sequence(value: Any) -> bool:
    return isinstance(value, (tuple, list))


def make_sequence(cls: type, items: list[Any]) -> Any:
    """A tuple or list of the class, which may be a named tuple."""
    if hasattr(cls, "_fields"):
        return cls(*items)
    return cls(items)


def structure(value: Any) -> Any:
    """The structure of a value."""
    if isinstance(value, tensor):
        return value.type
    if is_sequence(value):
        cls = tuple if isinstance(value, Shape) else type(value)
        return Sequence_(cls, tuple(structure(v) for v in value))
    if isinstance(value, dict):
        return Mapping_({k: structure(v) for k, v in value.items()})
    describe = getattr(value, "__tile_structure__", None)
    if describe is not None and not isinstance(value, type):
        return describe()
    return Constant(value)


def flatten(value: Any, handles: list[Any]) -> None:
    """Appends the SSA values of a value."""
    if isinstance(value, tensor):
        handles.append(value.handle)
    elif is_sequence(value):
        for item in value:
            flatten(item, handles)
    elif isinstance(value, dict):
        for item in value.values():
            flatten(item, handles)
    elif hasattr(value, "__tile_flatten__") and not isinstance(value, type):
        value.__tile_flatten__(handles)


def flat_types(shape: Any, types: list[dtype]) -> None:
    """Appends the types of the SSA values of a structure."""
    if isinstance(shape, dtype):
        types.append(shape)
    elif isinstance(shape, Sequence_):
        for item in shape.items:
            flat_types(item, types)
    elif isinstance(shape, Mapping_):
        for item in shape.items.values():
            flat_types(item, types)
    elif not isinstance(shape, Constant):
        shape.flat_types(types)


def with_types(shape: Any, types: Iterator[dtype]) -> Any:
    """The structure, with other types of its SSA values."""
    if isinstance(shape, dtype):
        return next(types)
    if isinstance(shape, Sequence_):
        return Sequence_(shape.cls, tuple(with_types(item, types) for item in shape.items))
    if isinstance(shape, Mapping_):
        return Mapping_({k: with_types(v, types) for k, v in shape.items.items()})
    return shape if isinstance(shape, Constant) else shape.with_types(types)


def unflatten(shape: Any, handles: Iterator[Any]) -> Any:
    """A value of the structure, from new SSA values."""
    if isinstance(shape, dtype):
        return tensor(next(handles), shape)
    if isinstance(shape, Constant):
        return shape.value
    if isinstance(shape, Sequence_):
        return make_sequence(shape.cls, [unflatten(item, handles) for item in shape.items])
    if isinstance(shape, Mapping_):
        return {k: unflatten(v, handles) for k, v in shape.items.items()}
    return shape.unflatten(handles)


def common(a: Any, b: Any) -> Any:
    """The structure of which values of both structures can be, with the SSA values that they have;
    None if there is none. A tensor may be one that is still being computed: it is waited for before
    it is read."""
    if a == b:
        return a
    if isinstance(b, dtype) and hasattr(a, "awaits"):
        return a if a.awaits(b) else None
    if isinstance(a, dtype) and hasattr(b, "awaits"):
        return common(b, a)
    if isinstance(a, Sequence_) and isinstance(b, Sequence_):
        if a.cls is not b.cls or len(a.items) != len(b.items):
            return None
        items = tuple(map(common, a.items, b.items))
        return None if None in items else Sequence_(a.cls, items)
    if hasattr(a, "with_fields"):
        return a.with_fields(b, common)
    return None


def restructured(value: Any, shape: Any) -> Any:
    """The SSA values of a value, in a structure of the same types."""
    handles: list[Any] = []
    flatten(value, handles)
    return unflatten(shape, iter(handles))


def same(a: Any, b: Any) -> bool:
    """True if two values are one and the same: nothing was assigned."""
    if a is b:
        return True
    if isinstance(a, tensor) or isinstance(b, tensor):
        return (
            isinstance(a, tensor)
            and isinstance(b, tensor)
            and a.type == b.type
            and a.handle == b.handle
        )
    if is_sequence(a) and is_sequence(b):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return list(a) == list(b) and all(map(same, a.values(), b.values()))
    if type(a) is not type(b):
        return False
    if hasattr(a, "__tile_flatten__") and not isinstance(a, type):
        handles_a: list[Any] = []
        handles_b: list[Any] = []
        flatten(a, handles_a)
        flatten(b, handles_b)
        return handles_a == handles_b and structure(a) == structure(b)
    try:
        return bool(a == b)
    except Exception:  # Some user objects compare to non-booleans.
        return False


def materialize(value: Any) -> Any:
    """Turns the numbers in a value into tensors, so that it can vary."""
    value = unwrap(value)
    if is_constant(value):
        return to_tensor(value)
    if is_sequence(value):
        return make_sequence(type(value), [materialize(v) for v in value])
    if isinstance(value, dict):
        return {k: materialize(v) for k, v in value.items()}
    return value


def materialize_like(value: Any, model: Any) -> Any:
    """Like materialize, where numbers take the type of the model's tensor."""
    from ..language.promotion import constant

    value = unwrap(value)
    if is_constant(value):
        if isinstance(model, tensor) and not model.dtype.is_ptr():
            kind = 0 if isinstance(value, bool) else 1 if isinstance(value, int) else 2
            if model.dtype.kind().value >= kind and not model.type.is_block():
                return constant(value, model.type)
        return to_tensor(value)
    if is_sequence(value) and is_sequence(model) and len(value) == len(model):
        return make_sequence(
            type(value), [materialize_like(v, m) for v, m in zip(value, model, strict=False)]
        )
    if isinstance(value, dict) and isinstance(model, dict) and list(value) == list(model):
        return {k: materialize_like(v, model[k]) for k, v in value.items()}
    return materialize(value) if is_sequence(value) or isinstance(value, dict) else value


__all__ = [
    "Constant", "common", "flat_types", "flatten", "is_sequence", "make_sequence", "materialize",
    "materialize_like", "restructured", "same", "structure", "tl_tuple", "unflatten", "with_types",
]  # fmt: skip

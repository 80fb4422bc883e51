"""Classes whose instances hold tensors: they go through loops, branches and
calls as one value."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ..errors import SemanticError
from . import state
from .promotion import to_tensor
from .values import constexpr, describe, unwrap

if sys.version_info >= (3, 11) or TYPE_CHECKING:
    from typing import dataclass_transform
else:

    def dataclass_transform() -> Callable[[Any], Any]:
        """It tells type checkers something, and does nothing."""
        return lambda function: function


class AggregateStructure:
    """The structure of an aggregate: that of each of its fields."""

    __slots__ = ("cls", "fields")

    def __init__(self, cls: type, fields: dict[str, Any]) -> None:
        self.cls = cls
        self.fields = fields

    def flat_types(self, types: list[Any]) -> None:
        from ..compiler.flatten import flat_types

        for shape in self.fields.values():
            flat_types(shape, types)

    def with_types(self, types: Iterator[Any]) -> AggregateStructure:
        from ..compiler.flatten import with_types

        fields = {n: with_types(s, types) for n, s in self.fields.items()}
        return AggregateStructure(self.cls, fields)

    def with_fields(self, other: Any, combine: Any) -> AggregateStructure | None:
        """The structure whose fields combine those of both; None if one of them cannot."""
        if not isinstance(other, AggregateStructure) or self.cls is not other.cls:
            return None
        if list(self.fields) != list(other.fields):
            return None
        fields = {n: combine(s, other.fields[n]) for n, s in self.fields.items()}
        return None if None in fields.values() else AggregateStructure(self.cls, fields)

    def unflatten(self, handles: Iterator[Any]) -> Any:
        from ..compiler.flatten import unflatten

        return _make(self.cls, {n: unflatten(s, handles) for n, s in self.fields.items()})

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, AggregateStructure)
            and self.cls is other.cls
            and self.fields == other.fields
        )

    def __hash__(self) -> int:
        return hash(self.cls)

    def __str__(self) -> str:
        return f"{self.cls.__name__}({', '.join(f'{n}: {s}' for n, s in self.fields.items())})"


def _make(cls: type, fields: dict[str, Any]) -> Any:
    instance = object.__new__(cls)
    instance.__dict__.update(fields)
    return instance


def replace(instance: Any, changes: dict[str, Any]) -> Any:
    """An aggregate with other values in some of its fields."""
    cls = type(instance)
    fields = dict(instance.__dict__)
    for name in changes:
        if name not in fields:
            raise _FieldError(f"`{cls.__name__}` has no field '{name}'")
    return _make(cls, {**fields, **changes})


def aggregate_replace(instance: Any, **changes: Any) -> Any:
    """An aggregate like `instance`, with other values in some of its fields.

    It is made without `__init__`, in kernels and outside of them.

    Refused: ``tl.aggregate_replace(3, x=1)``.
    """
    if not hasattr(type(instance), "__tile_structure__"):
        raise _FieldError(
            f"aggregate_replace expects an aggregate instance, not {describe(instance)}"
        )
    known = type(instance).__tile_fields__
    if state._state.builder is None:  # Values of the host, as its constructor takes them.
        changes = {n: known[n].of_host(v) if n in known else v for n, v in changes.items()}
    else:
        changes = {n: known[n].in_kernel(v) if n in known else v for n, v in changes.items()}
    return replace(instance, changes)


aggregate_replace.__tile_builtin__ = True  # type: ignore[attr-defined]


class _FieldError(SemanticError, TypeError):
    """An aggregate is made with fields that it does not have."""


class _Field:
    """A field that a class declares."""

    def __init__(self, annotation: Any, default: Any) -> None:
        name = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
        kind = name.strip("'\"").split(".")[-1]
        self.is_constexpr, self.is_tensor = kind == "constexpr", kind == "tensor"
        self.default = default

    def of_host(self, value: Any) -> Any:
        """A value outside of kernels: there, constants are told from other numbers."""
        return constexpr(value) if self.is_constexpr else value

    def in_kernel(self, value: Any) -> Any:
        """A value inside of kernels: a number in a field for tensors may differ from iteration to
        iteration."""
        is_number = isinstance(unwrap(value), (bool, int, float))
        return to_tensor(value) if self.is_tensor and is_number else value


_MISSING = object()


def _fields_of(cls: type) -> dict[str, _Field]:
    """The fields of a class, after those of the classes that it derives from."""
    fields: dict[str, _Field] = {}
    for base in cls.__bases__:
        if base is not object and "__tile_fields__" not in base.__dict__:
            raise TypeError(
                f"Aggregates can only inherit from other aggregates: `{base.__name__}` is none"
            )
        fields.update(getattr(base, "__tile_fields__", {}))
    for name, annotation in inspect.get_annotations(cls).items():
        fields[name] = _Field(annotation, cls.__dict__.get(name, _MISSING))
    return fields


def _arguments_by_name(
    cls: type, fields: dict[str, _Field], arguments: Any, keywords: dict[str, Any]
) -> dict[str, Any]:
    """The value of each field, from what the class is called with."""
    given = dict(zip(fields, arguments, strict=False))
    twice = given.keys() & keywords.keys()
    unknown = [n for n in keywords if n not in fields]
    if len(arguments) > len(fields) or twice or unknown:
        raise _FieldError(
            f"`{cls.__name__}` takes {len(fields)} fields"
            + (f", and none is `{unknown[0]}`" if unknown else "")
            + (f", and `{min(twice)}` is given twice" if twice and not unknown else "")
        )
    given |= keywords
    values = {}
    for name, field in fields.items():
        if name in given:
            values[name] = given[name]
        elif field.default is not _MISSING:
            values[name] = unwrap(field.default)
        else:
            raise _FieldError(
                f"`{cls.__name__}` takes {len(fields)} fields, and `{name}` is not given"
            )
    return values


@dataclass_transform()
def aggregate(cls: type) -> type:
    """Makes a class usable in kernels.

    Its annotations name its fields, which may have default values. It may derive from other such
    classes: their fields come first. `__init__` (a plain or a jit function)
    sets them all, after which they do not change; other methods are jit
    functions.
    """
    fields = _fields_of(cls)
    names = list(fields)
    initialize = cls.__dict__.get("__init__") or next(
        (b.__tile_initialize__ for b in cls.__bases__ if hasattr(b, "__tile_initialize__")), None
    )

    def structure(self: Any) -> AggregateStructure:
        from ..compiler.flatten import structure as structure_of

        # While __init__ runs, only some of the fields are there.
        return AggregateStructure(
            cls, {n: structure_of(self.__dict__[n]) for n in names if n in self.__dict__}
        )

    def flatten(self: Any, handles: list[Any]) -> None:
        from ..compiler.flatten import flatten as flatten_into

        for name in names:
            if name in self.__dict__:
                flatten_into(self.__dict__[name], handles)

    def assign(self: Any, name: str, value: Any) -> None:
        if name not in names:
            raise SemanticError(f"`{cls.__name__}` declares no field `{name}`")
        if name in self.__dict__:
            raise SemanticError(
                f"the fields of `{cls.__name__}` do not change after __init__; make a new one"
            )
        self.__dict__[name] = fields[name].in_kernel(value)

    def assign_on_host(self: Any, name: str, value: Any) -> None:
        if name in names and name in self.__dict__:
            raise AttributeError(f"cannot assign to field '{name}' on immutable aggregate")
        if name in names and state._state.builder is not None:  # `__init__`, in a kernel.
            value = fields[name].in_kernel(value)
        object.__setattr__(self, name, value)

    if initialize is None:
        # The host and the interpreter make instances as Python does.
        def initialize_fields(self: Any, *arguments: Any, **keywords: Any) -> None:
            values = _arguments_by_name(cls, fields, arguments, keywords)
            if state._state.builder is None:
                values = {n: fields[n].of_host(v) for n, v in values.items()}
            self.__dict__.update(values)

        cls.__init__ = initialize_fields  # type: ignore[misc]

    def construct(generator: Any, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        instance = object.__new__(cls)
        if initialize is None:
            values = _arguments_by_name(cls, fields, arguments, keywords)
            instance.__dict__.update({n: fields[n].in_kernel(v) for n, v in values.items()})
        elif getattr(initialize, "__tile_jit__", False):
            generator.call_jit(initialize, [instance, *arguments], keywords)
        else:
            getattr(initialize, "fn", initialize)(instance, *arguments, **keywords)
        missing = [n for n in names if n not in instance.__dict__]
        if missing:
            raise SemanticError(f"`{cls.__name__}.__init__` does not set the field `{missing[0]}`")
        return instance

    cls.__tile_fields__ = fields  # type: ignore[attr-defined]
    cls.__tile_initialize__ = initialize  # type: ignore[attr-defined]
    cls.__setattr__ = assign_on_host  # type: ignore[assignment]
    cls.__tile_structure__ = structure  # type: ignore[attr-defined]
    cls.__tile_flatten__ = flatten  # type: ignore[attr-defined]
    cls.__tile_set__ = assign  # type: ignore[attr-defined]
    cls.__tile_construct__ = staticmethod(construct)  # type: ignore[attr-defined]
    return cls

"""Classes whose instances hold tensors: they go through loops, branches and
calls as one value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, dataclass_transform

from ..errors import SemanticError
from .values import builtin, describe


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
            raise SemanticError(f"`{cls.__name__}` has no field `{name}`")
    return _make(cls, {**fields, **changes})


@builtin
def aggregate_replace(instance: Any, **changes: Any) -> Any:
    """An aggregate like `instance`, with other values in some of its fields.

    It is made without `__init__`.

    Refused: ``tl.aggregate_replace(3, x=1)``.
    """
    if not hasattr(instance, "__tile_structure__"):
        raise SemanticError(f"aggregate_replace takes an aggregate, not {describe(instance)}")
    return replace(instance, changes)


@dataclass_transform()
def aggregate(cls: type) -> type:
    """Makes a class usable in kernels.

    Its annotations name its fields. `__init__` (a plain or a jit function)
    sets them all, after which they do not change; other methods are jit
    functions.
    """
    names = list(getattr(cls, "__annotations__", {}))
    initialize = cls.__dict__.get("__init__")

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
        self.__dict__[name] = value

    if initialize is None:
        # The interpreter makes instances as Python does.
        def initialize_fields(self: Any, *arguments: Any, **keywords: Any) -> None:
            if len(arguments) + len(keywords) != len(names):
                raise SemanticError(f"`{cls.__name__}` takes {len(names)} fields")
            self.__dict__.update(zip(names, arguments, strict=False))
            self.__dict__.update(keywords)

        cls.__init__ = initialize_fields  # type: ignore[misc]

    def construct(generator: Any, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        instance = object.__new__(cls)
        if initialize is None:
            if len(arguments) + len(keywords) != len(names):
                raise SemanticError(f"`{cls.__name__}` takes {len(names)} fields")
            instance.__dict__.update(zip(names, arguments, strict=False))
            instance.__dict__.update(keywords)
        elif getattr(initialize, "__tile_jit__", False):
            generator.call_jit(initialize, [instance, *arguments], keywords)
        else:
            getattr(initialize, "fn", initialize)(instance, *arguments, **keywords)
        missing = [n for n in names if n not in instance.__dict__]
        if missing:
            raise SemanticError(f"`{cls.__name__}.__init__` does not set the field `{missing[0]}`")
        return instance

    cls.__tile_structure__ = structure  # type: ignore[attr-defined]
    cls.__tile_flatten__ = flatten  # type: ignore[attr-defined]
    cls.__tile_set__ = assign  # type: ignore[attr-defined]
    cls.__tile_construct__ = staticmethod(construct)  # type: ignore[attr-defined]
    return cls

"""The values that a kernel was compiled with: what its code reads from modules, classes,
closures and constants. A kernel is compiled once; that one of them has changed since is
noticed at its next launch."""

from __future__ import annotations

import enum
import functools
import types
from dataclasses import dataclass
from typing import Any

_MISSING = object()
#: Equal to nothing: launches with such a reference are looked at in Python.
_LOOKED_AT = object()


@dataclass
class Reference:
    """One value, and where it was found."""

    #: What the code says, such as ``config.BLOCK``.
    text: str
    #: A dictionary of globals, or what has the attribute `name`.
    owner: Any
    name: str
    value: Any
    #: What was in a value that can be edited in place.
    contents: str | None = None

    def now(self) -> Any:
        if isinstance(self.owner, dict):
            return self.owner.get(self.name, _MISSING)
        try:
            found = getattr(self.owner, self.name, _MISSING)
        except Exception:  # A cell that was emptied, or a module that refuses.
            return _MISSING
        return getattr(found, "__func__", found)

    def has_changed(self) -> bool:
        now = self.now()
        if now is self.value and self.contents is None:
            return False
        if now is _MISSING:
            return True
        from .dependencies import constant_key

        if constant_key(now) != (self.contents or constant_key(self.value)):
            return True
        if self.contents is None:
            self.value = now  # Another object that says the same.
        return False

    def for_dispatcher(self) -> tuple[Any, str, Any]:
        value = self.value if self.contents is None else _LOOKED_AT
        return self.owner, self.name, value

    def is_variable(self) -> bool:
        """Whether it is the value of a global, or of a variable of the function around."""
        scope = isinstance(self.owner, (dict, types.CellType)) and "." not in self.text
        return scope and self.value is not None and _is_shown(self.value)

    def kind(self) -> str:
        """What the code reads, in words."""
        if isinstance(self.owner, types.CellType):
            return f"the variable `{self.text}` of the function around it"
        return f"the global variable `{self.text}`" if "." not in self.text else f"`{self.text}`"

    def explain(self, kernel: str) -> str:
        """What is wrong when it has changed."""
        now = self.now()
        end = f"a kernel does not see {self._whose()} change: pass it as an argument"
        if now is _MISSING:
            return f"{self.kind()} is gone, but `{kernel}` was compiled with it; {end}"
        if not _is_shown(now) or not _is_shown(self.value):
            return (
                f"{self.kind()} is another one now than when `{kernel}` was compiled; define the "
                "kernel again to compile it with what is there now"
            )
        was = self.value
        if now is was:
            return f"{self.kind()} was edited after `{kernel}` was compiled; {end}"
        if type(self.owner).__name__ == "constexpr":  # It is the variable that was edited.
            was, now = f"constexpr[{was!r}]", f"constexpr[{now!r}]"
        return (
            f"{self.kind()}: {self.text} has changed since we compiled this kernel, from {was} to "
            f"{now}; {end}"
        )

    def _whose(self) -> str:
        if isinstance(self.owner, types.CellType):
            return "variables of other functions"
        return "globals" if "." not in self.text else "attributes"


def _is_shown(value: Any) -> bool:
    """Whether a value is told by what it prints."""
    return not isinstance(value, (type, types.ModuleType, types.FunctionType)) and not getattr(
        type(value), "__tile_callable__", False
    )


def fields_of(value: Any) -> dict[str, Any]:
    """What is in an object, by name."""
    fields = dict(getattr(value, "__dict__", ()) or ())
    for cls in type(value).__mro__:
        for name in [n for n in fields if isinstance(vars(cls).get(n), functools.cached_property)]:
            del fields[name]  # It is there since it was read; what it was made of is there, too.
        slots = cls.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if hasattr(value, name):
                fields[name] = getattr(value, name)
    return fields


def is_editable(value: Any, constant: bool = False) -> bool:
    """Whether what a value says can change while it stays the same object. Of objects only
    those that were declared constants say what is in them."""
    if type(value).__name__ == "constexpr":
        return _has_editable_contents(value.value)
    return _has_editable_contents(value) if constant else _is_editable_container(value)


def _is_editable_container(value: Any) -> bool:
    if isinstance(value, (tuple, frozenset)):
        return any(map(_has_editable_contents, value))
    return isinstance(value, (list, dict, set))


def _has_editable_contents(value: Any) -> bool:
    if _is_editable_container(value):
        return True
    if isinstance(value, (tuple, frozenset, enum.Enum)) or not _is_shown(value):
        return False
    frozen = getattr(getattr(type(value), "__dataclass_params__", None), "frozen", False)
    fields = fields_of(value)
    return bool(fields) and (not frozen or any(map(_has_editable_contents, fields.values())))

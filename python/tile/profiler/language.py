"""Scopes in kernels: `import tile.profiler.language as pl`.

    with pl.scope("load"):
        x = tl.load(pointers)

A kernel records its scopes while a session with the backend `instrumentation` is active. At other
times it is the same as without them.
"""

from __future__ import annotations

from typing import Any

from ..compiler.instrumentation import records
from ..errors import SemanticError
from ..language.state import current
from ..language.values import builtin, constexpr

_SEMANTICS = ("triton", "gluon")


def enable_semantic(semantic_name: str) -> None:
    """Says that kernels of a language, `triton` or `gluon`, have scopes. They always may."""
    if semantic_name not in _SEMANTICS:
        known = ", ".join(_SEMANTICS)
        raise ValueError(f"the languages of kernels are {known}, not {semantic_name!r}")


def disable_semantic(semantic_name: str) -> None:
    """The opposite of `enable_semantic`; scopes stay allowed."""
    enable_semantic(semantic_name)


def _record(is_start: bool, name: Any, is_event: bool = False) -> None:
    if isinstance(name, constexpr):
        name = name.value
    if not isinstance(name, str):
        raise SemanticError(f"the name of a scope is a text that is known here, not {name!r}")
    b: Any = current()
    if b.eager or not records(b.options):
        return
    attributes = {"name": b.str_attr(name)}
    if is_start:
        attributes["isStart"] = b.unit_attr()
    if is_event:
        attributes["isEvent"] = b.unit_attr()
    b.create("proton.record", [], attributes, [])


@builtin
def record(is_start: bool, scope_name: str, semantic: Any = None) -> None:
    """Records that a scope begins, or ends."""
    _record(bool(getattr(is_start, "value", is_start)), scope_name)


@builtin
def enter_scope(name: str) -> None:
    """A scope begins here."""
    _record(True, name)


@builtin
def exit_scope(name: str) -> None:
    """The scope that was entered last by this name ends here."""
    _record(False, name)


class _Scope:
    """What `with` enters in kernels."""

    __tile_scope__ = True

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None:
        _record(True, self.name)

    def __exit__(self, *error: Any) -> None:
        _record(False, self.name)


@builtin
def scope(name: str) -> _Scope:
    """A scope around the statements of a `with`."""
    return _Scope(name)


class Event:
    """Something that may begin in one partition of warps and end in another one."""

    def __init__(self, name: str) -> None:
        self.name = name


@builtin
def allocate_event(name: str) -> Event:
    """An event of this name. Its first beginning belongs to its first end, and so on."""
    return Event(getattr(name, "value", name))


@builtin
def record_event(event: Event, is_start: bool) -> None:
    """Records that an event begins, or ends."""
    if not isinstance(event, Event):
        raise SemanticError(f"events are made by `allocate_event`, not {event!r}")
    _record(bool(getattr(is_start, "value", is_start)), event.name, is_event=True)


@builtin
def start_event(event: Event) -> None:
    """An event begins here."""
    record_event(event, True)


@builtin
def end_event(event: Event) -> None:
    """An event ends here."""
    record_event(event, False)


__all__ = [
    "Event", "allocate_event", "disable_semantic", "enable_semantic", "end_event", "enter_scope",
    "exit_scope", "record", "record_event", "scope", "start_event",
]  # fmt: skip

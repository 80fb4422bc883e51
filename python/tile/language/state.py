"""What the code being generated goes into: the builder of this thread."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..errors import SemanticError

if TYPE_CHECKING:
    from .builder import Builder


class _State(threading.local):
    builder: Any = None
    generator: Any = None


_state = _State()


def current() -> Builder:
    """The builder that operations are created with now."""
    builder = _state.builder
    if builder is None:
        raise SemanticError("tl operations work only inside a function decorated with @tile.jit")
    return builder


def current_generator() -> Any:
    """The code generator, for operations that call user functions."""
    return _state.generator


@contextmanager
def generating(builder: Any, generator: Any):
    """Makes `builder` the current one."""
    saved = _state.builder, _state.generator
    _state.builder, _state.generator = builder, generator
    try:
        yield
    finally:
        _state.builder, _state.generator = saved

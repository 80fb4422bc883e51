"""Copies of decorated functions, and how pickles name them. As functions of Python do, they go by
their name where a module has them under it. pickle would look there for the undecorated one."""

from __future__ import annotations

import copy
import importlib
import sys
import types
from typing import Any

#: Modules that pickle functions of the main program by value: its workers run another one.
_BY_VALUE = ("cloudpickle", "dill")


def _member(module: Any, path: str) -> Any:
    """What a module has under a qualified name."""
    for name in path.split("."):
        module = getattr(module, name)
    return module


def _inner(function: Any, depth: int) -> Any:
    for _ in range(depth):
        function = function.fn
    return function


def find(module: str, path: str, depth: int) -> Any:
    """The decorated function of a pickle: that many decorators down from the outermost one."""
    return _inner(_member(importlib.import_module(module), path), depth)


def _pickled_by_value() -> bool:
    frame = sys._getframe(1)
    while frame is not None:
        parts = str(frame.f_globals.get("__name__")).split(".")
        if any(name in parts for name in _BY_VALUE):
            return True
        frame = frame.f_back
    return False


def name_of(function: Any) -> tuple[str, str, int] | None:
    """The module, the qualified name and the depth of a decorated function; None without them."""
    base = function
    while getattr(base, "fn", None) is not None:
        base = base.fn
    module, path = getattr(base, "__module__", None), getattr(base, "__qualname__", None)
    changed = "_defined" in vars(function)  # It has another text than its module.
    if base is function or module is None or path is None or changed:
        return None
    if module == "__main__" and _pickled_by_value():
        return None
    try:
        outer = _member(sys.modules[module], path)
    except (KeyError, AttributeError):
        return None
    depth = 0
    while outer is not function:
        outer, depth = getattr(outer, "fn", None), depth + 1
        if outer is None or outer is base:
            return None
    return module, path, depth


class Copied:
    """What a decorator makes of a function."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        named = name_of(self)
        return super().__reduce_ex__(protocol) if named is None else (find, named)

    def __copy__(self) -> Any:
        # What `__reduce_ex__` makes where there is no name.
        make, arguments, state = object.__reduce_ex__(self, 4)[:3]
        result = make(*arguments)
        if hasattr(result, "__setstate__"):
            result.__setstate__(state)
        else:
            result.__dict__.update(state)
        for name, value in state.items():
            if isinstance(value, types.MethodType) and value.__self__ is self:
                result.__dict__[name] = types.MethodType(value.__func__, result)
        return result

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """A function with decorators, lists and configurations of its own. Functions of Python, and
        what these read, are shared."""
        result = memo[id(self)] = copy.copy(self)
        for name, value in vars(result).items():
            if name != "__globals__":
                result.__dict__[name] = _deep(value, memo)
        return result


def _deep(value: Any, memo: dict[int, Any]) -> Any:
    if type(value) in (list, tuple, set):
        return type(value)(_deep(item, memo) for item in value)
    if type(value) is dict:
        return {key: _deep(item, memo) for key, item in value.items()}
    is_configuration = hasattr(value, "all_kwargs") and not isinstance(value, type)
    return copy.deepcopy(value, memo) if is_configuration or isinstance(value, Copied) else value

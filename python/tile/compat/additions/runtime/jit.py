"""What ``triton.runtime.jit`` has beside our own names."""

from __future__ import annotations

import inspect
from typing import Any

from tile.runtime.driver import driver as driver
from tile.runtime.jit import ConstexprFunction, JITFunction
from tile.runtime.specialization import (
    compute_cache_key as compute_cache_key,
)
from tile.runtime.specialization import (
    make_binder,
)
from tile.runtime.specialization import (
    mangle_type as mangle_type,
)

JITCallable = JITFunction
BoundConstexprFunction = ConstexprFunction
TRITON_MODULE = "triton.language"
GLUON_MODULE = "triton.experimental.gluon.language"


def get_current_device() -> int:
    """The device that this thread launches on."""
    return driver.active.get_current_device()


def get_full_name(fn: Any) -> str:
    """A function's module and name."""
    return f"{fn.__module__}.{fn.__qualname__}"


def get_jit_fn_file_line(fn: Any) -> tuple[str, int]:
    """The file of a jit function, and the line of its ``def``."""
    while not isinstance(fn, JITFunction):
        fn = fn.fn
    return fn.fn.__code__.co_filename, fn.parse().node.lineno


def convert_to_tuple_if_list(item: Any) -> Any:
    """Nested lists as tuples."""
    return tuple(map(convert_to_tuple_if_list, item)) if isinstance(item, list) else item


class _Described:
    """A kernel as far as its binder needs it."""

    def __init__(self, sig: inspect.Signature, kparams: list) -> None:
        from tile.runtime.arguments import make_binder as bind

        self.__name__ = "dynamic_func"
        self.params = kparams
        self.arg_names = list(sig.parameters)
        self.bind = bind(self)

    def launcher(self) -> _Described:
        return self


def create_function_from_signature(sig: inspect.Signature, kparams: list, backend: Any) -> Any:
    """A function that returns the arguments by name, what is known of each, and
    the options among the keywords."""
    return make_binder(_Described(sig, kparams))

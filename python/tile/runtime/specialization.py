"""Arguments as Triton's own tools describe them, for programs that launch or
cache kernels by themselves.

An argument is described by a pair: its type in a signature, and what is known
of its value. That is the value of a constant, None where nothing was looked at,
or some of these letters:

- ``D``: a multiple of 16
- ``E``: an integer that is a multiple of 8
- ``S``: an integer that is negative
- ``L``: an integer that is 2^30 or more

A binder, of which programs compile by themselves, adds what a launch knows of other integers:

- ``N``: it is not negative
- ``M``: and it is less than 2^30
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

from ..errors import TileError
from . import descriptors
from . import specialize as sp


def native_specialize_impl(
    backend: Any, arg: Any, is_const: bool, specialize_value: bool, align: bool
) -> tuple[Any, Any]:
    """The pair of an argument."""
    if type(arg).__name__ == "constexpr":
        return ("constexpr", arg)
    if getattr(arg, "__tile_callable__", False):
        return ("constexpr", arg)
    if isinstance(arg, tuple):
        pairs = [native_specialize_impl(backend, a, is_const, True, True) for a in arg]
        return (_like(arg, (p[0] for p in pairs)), _like(arg, (p[1] for p in pairs)))
    try:
        key = (sp.specialize if specialize_value else sp.specialize_type_only)(arg)
    except TileError:
        raise TypeError(f"failed to specialize argument of type: {type(arg).__name__}") from None
    if key == "None":
        return ("constexpr", None)
    if key == "1":
        return ("constexpr", 1)
    if descriptors.is_descriptor(key):
        return (descriptors.decode(key)[0], None)
    if key == "i1" and isinstance(arg, bool):
        return ("u1", None)
    name = key.rstrip("LSDE")
    if is_const and name.startswith("*"):
        name = "*k" + name[1:]
    if not specialize_value or name == "fp32":
        return (name, None)
    plain = sp.unaligned(key)
    known = key[len(plain) :] if align else ""
    return (name, known + plain.removeprefix(name.replace("*k", "*")))


def _like(value: tuple, items: Any) -> tuple:
    return type(value)(*items) if hasattr(value, "_fields") else tuple(items)


def mangle_type(arg: Any, specialize: bool = False) -> Any:
    """The type of an argument in a signature."""
    return native_specialize_impl(None, arg, False, specialize, True)[0]


def parse_attr(text: str) -> list[list]:
    """What the letters of a description say, as attributes."""
    assert isinstance(text, str)
    known = [["tt.divisibility", n] for letter, n in sp.DIVISORS.items() if letter in text]
    if "N" in text:
        known.append(["tt.non_negative", 1])
    if "M" in text:
        known.append(["tt.max", sp.MOST])
    return known


def _with_range(kind: Any, known: Any) -> tuple[Any, Any]:
    """A pair with the letters of a binder."""
    if isinstance(kind, tuple):
        pairs = [_with_range(k, n) for k, n in zip(kind, known, strict=True)]
        return (kind, _like(known, (n for _, n in pairs)))
    if kind not in ("i32", "i64") or not isinstance(known, str) or "S" in known:
        return (kind, known)
    return (kind, known + ("N" if kind == "i64" or "L" in known else "NM"))


def compute_cache_key(kernel_key_cache: dict, specialization: list, options: dict) -> str:
    """Under which key a kernel is kept in ``device_caches``."""
    key = (tuple(map(str, specialization)), str(options))
    found = kernel_key_cache.get(key)
    if found is None:
        found = kernel_key_cache[key] = str(list(specialization)) + str(options)
    return found


def make_binder(fn: Any) -> Callable:
    """A function that returns the arguments by name, their descriptions, and
    the options among the keywords."""
    bind = fn.launcher().bind

    def binder(*args: Any, **kwargs: Any) -> tuple[dict, list, dict]:
        values, options = bind(*args, **kwargs)
        pairs = []
        for param, value in zip(fn.params, values, strict=True):
            if param.is_constexpr:
                pairs.append(("constexpr", value))
            else:
                pair = native_specialize_impl(
                    None, value, param.is_const, not param.do_not_specialize,
                    not param.do_not_specialize_on_alignment,
                )  # fmt: skip
                pairs.append(_with_range(*pair))
        return dict(zip(fn.arg_names, values, strict=True)), pairs, options

    return binder


class DeviceCaches(defaultdict):
    """``kernel.device_caches``: for each device the kernels by key, the keys by
    what they were computed from, the target, the backend and the binder."""

    def __init__(self, fn: Any) -> None:
        super().__init__(fn.create_binder)
        self._fn = fn

    def clear(self) -> None:
        """Forgets all kernels: the next launch takes one from the files, or compiles it."""
        super().clear()
        self._fn.forget_kernels()

    def lookup(self, device: Any, values: tuple, options: dict) -> Any:
        """The kernel that was compiled for these arguments, or None."""
        return self[device][0].get(self.key(device, values, options))

    def key(self, device: Any, values: tuple, options: dict) -> str:
        _, keys, _, _, binder = self[device]
        # The values are in order. The binder takes some by name alone.
        by_name = {
            p.name: value
            for p, value in zip(self._fn.params, values, strict=True)
            if p.is_keyword_only
        }
        positional = values[: len(values) - len(by_name)]
        _, specialization, options = binder(*positional, **by_name, **options)
        return compute_cache_key(keys, specialization, options)

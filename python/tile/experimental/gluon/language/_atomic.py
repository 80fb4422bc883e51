"""Atomic loads and stores, and waiting for a value in memory."""

from __future__ import annotations

from typing import Any

from tile.errors import SemanticError
from tile.language import atomic as _atomic
from tile.language import dtypes as dt
from tile.language.conversion import bitcast, cast
from tile.language.creation import ravel
from tile.language.memory import _check_pointer
from tile.language.program import device_assert, static_assert
from tile.language.promotion import to_tensor
from tile.language.standard import reduce_or
from tile.language.values import builtin, constexpr, tensor, unwrap
from tile.runtime.jit import jit


def _as_integers(pointer: Any, what: str) -> tuple[tensor, Any]:
    """The pointer to the bits of its elements, and their type."""
    pointer = _check_pointer(pointer, what)
    element = pointer.dtype.element_ty
    width = element.primitive_bitwidth
    if element.is_bool() or width not in (16, 32, 64):
        raise SemanticError(f"{what} supports types of 16, 32 and 64 bits, not {element}")
    if element.is_int():
        return pointer, element
    integer = dt.get_int_dtype(width, True)
    return cast(pointer, dt.pointer_type(integer, pointer.dtype.address_space)), element


def _semantic(sem: Any, default: str, what: str) -> str:
    sem = unwrap(sem)
    if sem is None:
        return default
    if sem not in (default, "relaxed"):
        raise SemanticError(f"sem of {what} is '{default}' or 'relaxed', not {sem!r}")
    return sem


@builtin
def atomic_load(pointer: Any, mask: Any = None, sem: Any = None, scope: Any = None) -> tensor:
    """Reads what others may write meanwhile. `sem` is `acquire` or `relaxed`."""
    places, element = _as_integers(pointer, "atomic_load")
    sem = _semantic(sem, "acquire", "atomic_load")
    bits = _atomic.atomic_or(places, 0, mask=mask, sem=sem, scope=scope)
    return bits if element.is_int() else bitcast(bits, element)


@builtin
def atomic_store(
    pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None
) -> None:
    """Writes what others may read meanwhile. `sem` is `release` or `relaxed`."""
    _as_integers(pointer, "atomic_store")
    sem = _semantic(sem, "release", "atomic_store")
    _atomic.atomic_xchg(pointer, val, mask=mask, sem=sem, scope=scope)


@jit
def atomic_poll(
    pointer: Any,
    expected_value: Any,
    sem: constexpr = None,  # type: ignore[assignment]
    scope: constexpr = None,  # type: ignore[assignment]
    timeout_ns: constexpr = None,  # type: ignore[assignment]
) -> Any:
    """Waits until all that `pointer` points to equals `expected_value`."""
    static_assert(timeout_ns is None, "tile has no code for atomic_poll with timeout_ns")
    seen = atomic_load(pointer, None, sem, scope) == expected_value
    if len(seen.shape) == 0:
        while not seen:
            seen = atomic_load(pointer, None, sem, scope) == expected_value
    else:
        while reduce_or(ravel(seen == 0), 0):
            seen = atomic_load(pointer, None, sem, scope) == expected_value
    return seen


@builtin
def expect_zero(x: Any, mask: Any) -> Any:
    """`x`, which is expected to be zero where `mask` holds: in kernels compiled with
    ``debug=True``, that is checked."""
    device_assert(to_tensor(x) == 0, "expect_zero: a value is not zero", mask)
    return x

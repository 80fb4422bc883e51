"""Waiting for what other programs store."""

from __future__ import annotations

from typing import Any

from ..errors import SemanticError
from ..runtime.jit import constexpr_function, jit
from .atomic import atomic_load
from .collective import inline_asm_elementwise
from .conversion import public_to_tensor as to_tensor
from .creation import arange
from .dtypes import int32, int64
from .extra.cuda import num_threads
from .methods import method
from .program import static_assert
from .promotion import is_constant
from .standard import max
from .target_info import is_cuda
from .values import builtin, constexpr, unwrap


@constexpr_function
def _is_polled(element):
    return element.is_int() and element.primitive_bitwidth >= 16


@builtin
def _checked(timeout_ns: Any) -> None:
    value = unwrap(timeout_ns)
    if is_constant(value) and value < 0:
        raise SemanticError(f"atomic_poll waits for no less than 0 ns, not for {value}")


@jit
def _nanoseconds():
    """The time, the same one for all threads of the program: the latest of what each reads."""
    reads = inline_asm_elementwise(
        "mov.u64 $0, %globaltimer;", "=l,r", [arange(0, num_threads())], int64, False, 1
    )
    return max(reads, 0)


@jit
def _any(flags):
    if constexpr(len(flags.shape) == 0):
        return flags
    return max(flags.to(int32)) != 0


@jit
def poll(
    pointer,
    expected_value,
    sem: constexpr,
    scope: constexpr,
    timeout_ns,
    clock: constexpr,
):
    """`atomic_poll`, with a function that tells the time."""
    static_assert(
        _is_polled(pointer.dtype.element_ty),
        "atomic_poll takes pointers to integers of 16 to 64 bits",
    )
    expected = to_tensor(expected_value).to(pointer.dtype.element_ty)
    missing = pointer == pointer  # All of them.
    if timeout_ns is None:
        while _any(missing):
            missing = missing & (atomic_load(pointer, missing, sem, scope) != expected)
    else:
        static_assert(is_cuda(), "the timeout of atomic_poll needs the clock of an NVIDIA GPU")
        _checked(timeout_ns)
        start = clock()
        goes_on = _any(missing)
        while goes_on:
            missing = missing & (atomic_load(pointer, missing, sem, scope) != expected)
            goes_on = _any(missing) & (clock() - start < timeout_ns)
    return ~missing


@method()
@jit
def atomic_poll(
    pointer,
    expected_value,
    sem: constexpr = None,
    scope: constexpr = None,
    timeout_ns=None,
):
    """Waits until memory holds `expected_value`; returns whether it did.

    `pointer` is a scalar or a block of pointers to integers of 16 to 64 bits, and
    `expected_value` is broadcast to it. The program waits for all of them. `sem` and `scope` are
    as in `tl.atomic_load`. With `timeout_ns`, elements that were not seen after so many
    nanoseconds give False. Each is loaded at least once. Only NVIDIA GPUs have such a clock.

    Refused: ``tl.atomic_poll(f, 1)``.

    >>> tl.atomic_store(p + 2, 3)
    >>> tl.atomic_poll(p + 2, 3)
    1
    """
    return poll(pointer, expected_value, sem, scope, timeout_ns, _nanoseconds)


__all__ = ["atomic_poll"]

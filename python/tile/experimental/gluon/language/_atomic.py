"""Atomic loads and stores, and waiting for a value in memory."""

from __future__ import annotations

from typing import Any

from tile.language.atomic import atomic_load, atomic_store
from tile.language.collective import inline_asm_elementwise
from tile.language.dtypes import int64
from tile.language.polling import poll
from tile.language.program import device_assert
from tile.language.promotion import to_tensor
from tile.language.standard import max
from tile.language.values import builtin, constexpr
from tile.runtime.jit import constexpr_function, jit

from ._core import arange, num_ctas, num_warps
from ._layouts import BlockedLayout


@constexpr_function
def _one_for_each_thread(warps: Any, blocks: Any) -> BlockedLayout:
    return BlockedLayout([1], [32], [warps], [0], [[0]] * (blocks.bit_length() - 1))


@jit
def _nanoseconds() -> Any:
    """The time, the same one for all threads of the program (or of the partition)."""
    layout: constexpr = _one_for_each_thread(num_warps(), num_ctas())
    reads = inline_asm_elementwise(
        "mov.u64 $0, %globaltimer;", "=l,r", [arange(0, num_warps() * 32, layout)], int64, False, 1
    )
    return max(reads, 0)


@jit
def atomic_poll(
    pointer: Any,
    expected_value: Any,
    sem: constexpr = None,  # type: ignore[assignment]
    scope: constexpr = None,  # type: ignore[assignment]
    timeout_ns: Any = None,
) -> Any:
    """Waits until memory holds `expected_value`; returns whether it did.

    `pointer` is a scalar or a tensor of pointers to integers of 16 to 64 bits. With `timeout_ns`,
    elements that were not seen after so many nanoseconds give False. Each is loaded at least once.
    Only NVIDIA GPUs have such a clock."""
    return poll(pointer, expected_value, sem, scope, timeout_ns, _nanoseconds)


@builtin
def expect_zero(x: Any, mask: Any) -> Any:
    """`x`, which is expected to be zero where `mask` holds: in kernels compiled with
    ``debug=True``, that is checked."""
    device_assert(to_tensor(x) == 0, "expect_zero: a value is not zero", mask)
    return x


__all__ = ["atomic_load", "atomic_poll", "atomic_store", "expect_zero"]

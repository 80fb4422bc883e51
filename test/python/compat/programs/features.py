"""Features that programs use here and there."""

from typing import NamedTuple

import numpy as np
import triton
import triton.language as tl
from triton.language import core
from triton.language.standard import _log2
from triton.runtime.errors import OutOfResources
from triton.runtime.jit import JITFunction, KernelInterface

assert issubclass(JITFunction, KernelInterface)
assert issubclass(OutOfResources, triton.TritonError)
assert core.constexpr is tl.constexpr and callable(_log2)
CONSTANT = tl.constexpr(3)
ANNOTATED: tl.constexpr = 4


class Pair(NamedTuple):
    ptr: tl.tensor
    scale: tl.tensor


@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit(do_not_specialize=["n"])
def scaled(out, pair, n, BLOCK: tl.constexpr, EVEN: tl.constexpr, OP: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = None if EVEN else offsets < n
    x = tl.load(pair.ptr + offsets, mask=mask)
    tl.static_assert(BLOCK >= 16, "small")
    if OP == "double":
        x = _double(x, times=CONSTANT)
    elif OP == "triple":
        x *= ANNOTATED
    else:
        tl.static_assert(False, f"no operation {OP}")
    tl.store(out + offsets, x * pair.scale, mask=mask)


@triton.jit
def _double(x, times: tl.constexpr = 1):
    for _ in tl.static_range(times):
        x = x + x
    return x


@triton.jit
def _combine(value1, index1, value2, index2):
    first = (value1 > value2) | ((value1 == value2) & (index1 < index2))
    return tl.where(first, value1, value2), tl.where(first, index1, index2)


@triton.jit
def reductions(x_ptr, out, BLOCK: tl.constexpr):
    index = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + index)
    value, at = tl.reduce((x, index), 0, _combine)
    tl.store(out, value)
    tl.store(out + 1, at)
    tl.store(out + 2, tl.sum(tl.cumsum(x, 0), 0))
    tl.store(out + 3, tl.argmax(x, 0))
    tl.store(out + 4, tl.max(tl.sort(x)))


x = np.arange(100, dtype=np.float32)
out = np.zeros_like(x)
grid = lambda meta: (triton.cdiv(100, meta["BLOCK"]),)  # noqa: E731
scaled[grid](out, Pair(x, 0.5), 100, BLOCK=32, OP="double")
np.testing.assert_array_equal(out, x * 4)
scaled[grid](out, Pair(x, 0.5), 100, BLOCK=32, OP="triple")
np.testing.assert_array_equal(out, x * 2)
try:
    scaled[grid](out, Pair(x, 0.5), 100, BLOCK=32, OP="other")
except triton.CompilationError as error:
    assert "no operation other" in str(error)
else:
    raise AssertionError
values = np.array([3, 9, 1, 9] * 4, np.float32)
result = np.zeros(5, np.float32)
reductions[(1,)](values, result, 16)
assert result.tolist() == [9, 1, np.cumsum(values).sum(), 1, 9]
assert triton.cdiv(7, 2) == 4 and triton.next_power_of_2(33) == 64
assert triton.knobs.compilation.always_compile in (True, False)

"""The programming model: program ids, loops, hints, compile-time checks."""

from __future__ import annotations

import builtins
import sys
from typing import Any, NoReturn

from ..errors import SemanticError, StaticAssertionError
from . import dtypes as dt
from .conversion import to_bool
from .promotion import to_tensor
from .state import current
from .values import TypesInText, builtin, constexpr, shown, tensor, unwrap


def _grid_axis(axis: Any, what: str) -> int:
    axis = unwrap(axis)
    if isinstance(axis, bool) or not isinstance(axis, int) or axis not in (0, 1, 2):
        raise SemanticError(f"{what} axis must be 0, 1, or 2 but got {shown(axis)}")
    return int(axis)


@builtin
def program_id(axis: Any) -> tensor:
    """The position of this program along an axis of the grid, as int32.

    `axis` is 0, 1 or 2.

    Refused: ``tl.program_id(3)``.

    >>> tl.program_id(0)
    0
    """
    b = current()
    attributes = {"axis": b.int_attr(32, _grid_axis(axis, "program_id"))}
    return tensor(b.create_one("tt.get_program_id", (), attributes, (b.type(dt.int32),)), dt.int32)


@builtin
def num_programs(axis: Any) -> tensor:
    """The number of programs along an axis of the grid, as int32.

    `axis` is 0, 1 or 2.

    Refused: ``tl.num_programs(3)``.

    >>> tl.num_programs(0)
    1
    """
    b = current()
    attributes = {"axis": b.int_attr(32, _grid_axis(axis, "num_programs"))}
    return tensor(
        b.create_one("tt.get_num_programs", (), attributes, (b.type(dt.int32),)), dt.int32
    )


def refuse_iteration() -> NoReturn:
    """Says that only loops go through ranges that are not constant."""
    raise SemanticError(
        "a range with run-time bounds can only be what a `for` loop goes through, inside a "
        "function decorated with @tile.jit; for a counter beside it, write `i += 1` in the loop"
    )


#: What a range is made of, as Triton's errors call it.
BOUNDS = ("lower bound", "upper bound", "step")


def refuse_bound(which: str, ty: Any) -> NoReturn:
    raise SemanticError(
        f"For {which} must be a scalar, got {ty}: the bounds and the step of a range are scalar "
        "integers"
    )


def _count(name: str, value: Any, least: int) -> int | None:
    """A hint on a loop that is a number."""
    value = unwrap(value)
    if value is None:
        return None
    if not isinstance(value, int) or not least <= value < 1 << 31:
        raise SemanticError(
            f"{name} of a loop is a constant integer from {least}, not {shown(value)}"
        )
    return int(value)


def _switch(name: str, value: Any) -> bool:
    """A hint on a loop that is on or off."""
    value = unwrap(value)
    if value is not None and not isinstance(value, int):
        raise SemanticError(f"{name} of a loop is the constant True or False, not {shown(value)}")
    return bool(value)


class range:
    """A loop's range, with hints on how to compile the loop.

    It counts as Python's `range` does: to `arg1`, or from `arg1` to `arg2` in steps of `step`. The
    bounds are integers, known when the kernel runs.

    - `num_stages`: so many iterations are in flight. Loads of later ones begin before they are
      needed. The default is the kernel's `num_stages`.
    - `loop_unroll_factor`: so many iterations become one.
    - `disallow_acc_multi_buffer`: a matmul's sum has one buffer, even where two would help.
    - `flatten`: this loop and the one inside of it become one.
    - `warp_specialize`: some warps load while others compute.
    - `disable_licm`: what does not change stays in the loop.

    Refused: ``for i in tl.range(0, 4.5): pass``.

    >>> s = 0
    >>> for i in tl.range(0, 4): s += i
    >>> s
    6
    """

    def __init__(
        self,
        arg1: Any,
        arg2: Any = None,
        step: Any = None,
        num_stages: Any = None,
        loop_unroll_factor: Any = None,
        disallow_acc_multi_buffer: bool = False,
        flatten: bool = False,
        warp_specialize: bool = False,
        disable_licm: bool = False,
    ) -> None:
        self.start, self.end = (0, arg1) if arg2 is None else (arg1, arg2)
        self.step = 1 if step is None else step
        self.num_stages = _count("num_stages", num_stages, 0)
        self.loop_unroll_factor = _count("loop_unroll_factor", loop_unroll_factor, 1)
        self.disallow_acc_multi_buffer = _switch(
            "disallow_acc_multi_buffer", disallow_acc_multi_buffer
        )
        self.flatten = _switch("flatten", flatten)
        self.warp_specialize = _switch("warp_specialize", warp_specialize)
        self.disable_licm = _switch("disable_licm", disable_licm)

    def __iter__(self) -> Any:
        bounds = [unwrap(v) for v in (self.start, self.end, self.step)]
        if all(isinstance(v, int) for v in bounds):
            return iter(builtins.range(*bounds))
        refuse_iteration()


class static_range:
    """A loop's range whose iterations are unrolled while compiling.

    It counts as Python's `range` does. The bounds are constants, and so is the counter in each
    iteration. Of a tuple or a list, it takes one item after the other. They may be tensors.

    Refused: ``[i for i in tl.static_range(tl.load(p))]``.

    >>> s = tl.zeros([2], tl.int32)
    >>> for i in tl.static_range(4): s += i
    >>> s
    [6 6]
    """

    def __init__(self, arg1: Any, arg2: Any = None, step: Any = None) -> None:
        arg1 = unwrap(arg1)
        if isinstance(arg1, (tuple, list, dict, builtins.range)) or hasattr(arg1, "__next__"):
            if arg2 is not None or step is not None:
                raise SemanticError("tl.static_range of items takes no other bounds")
            self.items = list(arg1)
            return
        start, end = (0, arg1) if arg2 is None else (arg1, arg2)
        values = [unwrap(v) for v in (start, end, 1 if step is None else step)]
        for value in values:
            if isinstance(value, bool) or not isinstance(value, int):
                raise SemanticError(
                    "tl.static_range takes constants; use tl.range for a run-time bound"
                )
        self.start, self.end, self.step = values
        if self.step == 0:
            raise SemanticError("tl.static_range needs a step other than 0")
        self.items = list(builtins.range(self.start, self.end, self.step))

    def __iter__(self) -> Any:
        return iter(self.items)


class condition:
    """The condition of a while loop, with hints on how to compile the loop.

    `disable_licm`: what does not change stays in the loop.

    >>> i = 0
    >>> while tl.condition(i < 5): i += 2
    >>> i
    6
    """

    def __init__(self, arg1: Any, disable_licm: bool = False) -> None:
        self.condition = arg1
        self.disable_licm = _switch("disable_licm", disable_licm)


def _hint(name: str, input: tensor, values: Any) -> tensor:
    values = unwrap(values)
    if isinstance(values, tensor):
        raise SemanticError(f"{name} takes constant integers, not a run-time value")
    values = [values] if isinstance(values, int) else [unwrap(v) for v in values]
    if len(values) != max(1, input.ndim):
        raise SemanticError(f"{name} got {len(values)} values for a rank of {input.ndim}")
    if any(isinstance(v, bool) or not isinstance(v, int) for v in values):
        raise SemanticError(f"{name} takes constant integers")
    if min(values) < 1:
        raise SemanticError(f"{name} takes integers from 1, not {min(values)}")
    handle = current().hint(name, input, values)
    return input if handle is input.handle else tensor(handle, input.type)


@builtin
def multiple_of(input: tensor, values: Any) -> tensor:
    """Promises that the values of `input` are multiples of `values`.

    Of contiguous elements it is the first of each run that is, and no run wraps around.

    Refused: ``tl.multiple_of(tl.arange(0, 4), tl.load(p))``.

    >>> tl.multiple_of(tl.arange(0, 4) * 8, 8)
    [0 8 16 24]
    """
    return _hint("multiple_of", input, values)


@builtin
def max_contiguous(input: tensor, values: Any) -> tensor:
    """Promises that runs of the first `values` elements are consecutive.

    A wrong promise gives wrong results.

    Refused: ``tl.max_contiguous(tl.arange(0, 4), tl.load(p))``.

    >>> tl.max_contiguous(tl.arange(0, 4), 4)
    [0 1 2 3]
    """
    return _hint("max_contiguous", input, values)


@builtin
def max_constancy(input: tensor, values: Any) -> tensor:
    """Promises that runs of the first `values` elements are equal.

    A wrong promise gives wrong results.

    Refused: ``tl.max_constancy(tl.arange(0, 4), tl.load(p))``.

    >>> tl.max_constancy(tl.arange(0, 4) // 4, 4)
    [0 0 0 0]
    """
    return _hint("max_constancy", input, values)


@builtin
def assume(cond: Any) -> None:
    """Promises that a condition holds.

    A wrong promise gives wrong results. `debug=True` checks it.

    Refused: ``tl.assume("x")``.

    >>> tl.assume(tl.num_programs(0) > 0)
    >>> tl.num_programs(0)
    1
    """
    if isinstance(unwrap(cond), (bool, int)):
        return
    b = current()
    condition = to_bool(cond)
    if condition.type.is_block():
        raise SemanticError(f"assume takes a scalar condition, not {condition.type}")
    b.create("llvm.intr.assume", (condition.handle,), {"op_bundle_sizes": b.i32_array_attr([])}, ())


@builtin
def debug_barrier() -> None:
    """Makes all threads of the program wait for one another.

    Accesses before it happen before those behind it.

    Refused: ``tl.debug_barrier(1)``.

    >>> tl.store(p + tl.arange(0, 4), 3 - tl.arange(0, 4))
    >>> tl.debug_barrier()
    >>> tl.load(p + 3 - tl.arange(0, 4))
    [0 1 2 3]
    """
    current().create("gpu.barrier", (), None, ())


@builtin
def static_assert(cond: Any, msg: str = "") -> None:
    """Fails the compilation unless a constant condition holds.

    Refused: ``tl.static_assert(1 == 2, 'no')``.

    >>> tl.static_assert(1 + 1 == 2)
    >>> 1
    1
    """
    cond = unwrap(cond)
    if isinstance(cond, tensor):
        raise SemanticError(
            "static_assert takes a constant condition; use tl.device_assert for a run-time one"
        )
    if not cond:
        text = str(unwrap(msg))
        raise StaticAssertionError(f"static assertion failed: {text}".removesuffix(": "))


@builtin
def static_print(
    *values: Any, sep: str = " ", end: str = "\n", file: Any = None, flush: bool = False
) -> None:
    """Prints while the kernel is compiled."""
    print(
        *map(unwrap, values),
        sep=unwrap(sep),
        end=unwrap(end),
        file=file or sys.stdout,
        flush=unwrap(flush),
    )


@builtin
def device_print(prefix: str, *args: Any, hex: bool = False) -> None:
    """Prints values when the kernel runs."""
    prefix = unwrap(prefix)
    if not isinstance(prefix, str):
        raise SemanticError("device_print takes a constant string first")
    if isinstance(prefix, TypesInText):
        raise SemanticError(
            "text is made while the kernel is compiled, when its run-time values are not known; "
            'pass them after the text, as in print("x:", x)'
        )
    values = [to_tensor(a) for a in args]
    b = current()
    if values:
        prefix = prefix.rstrip(" ")
        prefix += " " if prefix.endswith(":") else ": "
    if len(prefix) > 2 and not prefix.startswith(" "):
        prefix = " " + prefix
    attributes = {
        "prefix": b.str_attr(prefix),
        "hex": b.bool_attr(bool(unwrap(hex))),
        "isSigned": b.i32_array_attr([int(v.dtype.is_int_signed()) for v in values]),
    }
    b.create("tt.print", [v.handle for v in values], attributes, ())


@builtin
def device_assert(cond: Any, msg: str = "", mask: Any = None) -> None:
    """Stops the kernel with a message where a condition does not hold.

    Only in kernels compiled with ``debug=True``.

    >>> tl.device_assert(tl.arange(0, 4) < 4, 'small')
    >>> 1
    1
    """
    b = current()
    if not b.options.debug:
        return
    condition = to_bool(cond)
    if mask is not None:
        from .arithmetic import logical_not, logical_or

        condition = logical_or(condition, logical_not(to_tensor(mask)))
    b.create("tt.assert", (condition.handle,), {"message": b.str_attr(unwrap(msg))}, ())


@builtin
def expect_zero(x: Any, mask: Any) -> tensor:
    """x, which should have become zero where `mask` holds, by underflow.

    `debug=True` checks it. In kernels of `instrumentation_mode="fpsan"`, which do not round, the
    result is zero there.

    Refused: ``tl.expect_zero(None, True)``.

    >>> tl.expect_zero(tl.exp(tl.full([2], -200.0, tl.float32)), tl.arange(0, 2) < 1)
    [0 0]
    """
    from ..compiler.instrumentation import computes_exactly
    from .arithmetic import where

    b = current()
    x = to_tensor(x)
    if computes_exactly(b.options):
        return where(mask, 0, x)
    if b.options.debug:
        device_assert(x == 0, "expect_zero: a value is not zero", mask)
    return x


__all__ = [
    "assume", "condition", "constexpr", "debug_barrier", "device_assert", "device_print",
    "expect_zero", "max_constancy", "max_contiguous", "multiple_of", "num_programs", "program_id",
    "range",
    "static_assert", "static_print", "static_range",
]  # fmt: skip

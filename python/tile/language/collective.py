"""Reductions and scans with a function of the user's, dot, gather, histogram."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..errors import SemanticError
from . import dtypes as dt
from .axes import Merged, checked_axes, kept
from .conversion import cast, to_bool
from .creation import _reshape, checked_axis
from .dtypes import block_type
from .identities import switch_off
from .memory import choose
from .operands import Operands, is_sequence
from .promotion import broadcast_to_shape, constant, is_constant, raise_to_common_shape, to_tensor
from .state import current
from .values import builtin, describe, member, tensor, unwrap

_PRECISION = {"tf32": 0, "tf32x3": 1, "ieee": 2, "bf16x3": 3, "bf16x6": 4}
_SCALED_FORMATS = {"e4m3": 0, "e5m2": 1, "e2m3": 2, "e3m2": 3, "e2m1": 4, "bf16": 5, "fp16": 6}


def _combine_region(operands: Operands, combine_fn: Any, terminator: str) -> Any:
    """The region that combines two elements (each of all blocks) into one."""
    types = [x.dtype for x in operands.blocks]
    region, _ = current().combine(
        combine_fn, [*types, *types], terminator, operands.arguments, operands.results
    )
    return region


def _same_shapes(inputs: Sequence[tensor], what: str) -> tuple[int, ...]:
    shape = inputs[0].shape
    for x in inputs:
        if not x.type.is_block():
            raise SemanticError(f"{what} takes blocks, not the scalar {x.type}")
        if x.shape != shape:
            raise SemanticError(
                f"{what} takes blocks of one shape, not {list(shape)} and {list(x.shape)}"
            )
    return shape


@member()
@builtin
def reduce(
    input: Any, axis: Any, combine_fn: Any, keep_dims: bool = False, mask: Any = None,
    identity: Any = None,
) -> Any:  # fmt: skip
    """Combines the elements along `axis`, in order.

    `axis` is one axis, a tuple of several, or None for all. The elements of several axes are
    combined row by row. The result lacks these axes, or has one element there with `keep_dims`.

    `combine_fn` takes two elements and gives one; it must be associative. It is a function with
    `@tile.jit`, or one of the language. A tuple of blocks is combined together: `combine_fn` then
    takes the elements of two places, one place after the other. An aggregate of blocks is combined
    as one element.

    Where `mask` does not hold, an element counts as `identity`, which changes nothing it is
    combined with. Several blocks have a tuple of identities. That of `tl.add`, `tl.mul`,
    `tl.maximum` and `tl.minimum` is known.

    Refused: ``tl.reduce(tl.arange(0, 4), 1, tl.maximum)``.

    >>> tl.reduce(tl.arange(0, 8).reshape(2, 2, 2), (0, 2), tl.add)
    [10 18]

    >>> tl.reduce(tl.arange(0, 4), 0, tl.maximum, mask=tl.arange(0, 4) < 3)
    2
    """
    operands = Operands(input, "reduce")
    shape = _same_shapes(operands.blocks, "reduce")
    axes = checked_axes(axis, len(shape), "reduce")
    switch_off(operands, mask, identity, combine_fn)
    merged = Merged(shape, axes)
    if merged.is_uneven:
        # One axis after the other: a reshape would move elements.
        results = operands.blocks
        for d in reversed(axes):
            results = _reduced(operands, results, d, combine_fn)
    else:
        results = _reduced(operands, list(map(merged.of, operands.blocks)), merged.axis, combine_fn)
    if unwrap(keep_dims):
        results = [kept(r, axes, len(shape)) for r in results]
    return operands.again(results)


def _reduced(
    operands: Operands, blocks: Sequence[tensor], axis: int, combine_fn: Any
) -> list[tensor]:
    """Blocks such as the operands, without an axis."""
    inputs = raise_to_common_shape(*blocks)
    b = current()
    region = _combine_region(operands, combine_fn, "tt.reduce.return")
    types = [x.type.reduced(axis, x.dtype) for x in inputs]
    attributes = {"axis": b.int_attr(32, axis)}
    handles = b.create(
        "tt.reduce", [x.handle for x in inputs], attributes, [b.type(t) for t in types], (region,)
    )
    return [tensor(h, t) for h, t in zip(handles, types, strict=True)]


@member()
@builtin
def associative_scan(
    input: Any, axis: Any, combine_fn: Any, reverse: bool = False, mask: Any = None,
    identity: Any = None,
) -> Any:  # fmt: skip
    """Combines each element with all before it along `axis`.

    `axis` is one axis, a tuple of several, or None for all. Several are gone through row by row;
    the result has the shape of `input`. `combine_fn`, `mask` and `identity` are as in `tl.reduce`.
    `reverse` begins at the end.

    Refused: ``tl.associative_scan(tl.arange(0, 4), 1, tl.maximum)``.

    >>> tl.associative_scan(3 - tl.arange(0, 4), 0, tl.maximum)
    [3 3 3 3]

    >>> tl.associative_scan(tl.arange(0, 4).reshape(2, 2), (0, 1), tl.add)
    [0 1 3 6]
    """
    operands = Operands(input, "associative_scan")
    shape = _same_shapes(operands.blocks, "associative_scan")
    axes = checked_axes(axis, len(shape), "associative_scan")
    switch_off(operands, mask, identity, combine_fn)
    merged = Merged(shape, axes)
    inputs = raise_to_common_shape(*map(merged.of, operands.blocks))
    b = current()
    region = _combine_region(operands, combine_fn, "tt.scan.return")
    attributes = {
        "axis": b.int_attr(32, merged.axis), "reverse": b.bool_attr(bool(unwrap(reverse)))
    }  # fmt: skip
    types = [b.type(x.type) for x in inputs]
    handles = b.create("tt.scan", [x.handle for x in inputs], attributes, types, (region,))
    results = [tensor(h, x.type) for h, x in zip(handles, inputs, strict=True)]
    return operands.again(map(merged.undo, results))


def _check_pack(shape: Sequence[int], pack: int) -> None:
    """Neighbours lie within a row; where all extents are powers of two, rows may be shorter."""
    last = shape[-1] if shape else 1
    powers = all(n & (n - 1) == 0 for n in shape)
    if last % pack and (math.prod(shape) % pack or not powers):
        raise SemanticError(
            f"map_elementwise takes {pack} elements at once; expected a last extent that is a "
            f"multiple of {pack}, found {last}"
        )


@builtin
def map_elementwise(scalar_fn: Any, *args: Any, pack: int = 1) -> Any:
    """Applies a function of scalars, which may branch, to each element.

    The blocks have one shape. With `pack` the function takes and gives so many neighbours of each
    at once: elements that follow one another along the last dimension.

    Refused: ``tl.map_elementwise(p, p)``.

    >>> tl.map_elementwise(tl.maximum, tl.arange(0, 4), 3 - tl.arange(0, 4))
    [3 2 2 3]
    """
    pack = unwrap(pack)
    inputs = raise_to_common_shape(*map(to_tensor, args))
    _same_shapes(inputs, "map_elementwise")
    if pack < 1 or pack & (pack - 1):
        raise SemanticError(f"pack is a power of two, not {pack}")
    _check_pack(inputs[0].type.shape, pack)
    b = current()
    types = [x.dtype for x in inputs for _ in range(pack)]

    def results(outcome: Any) -> list[tensor]:
        found = [to_tensor(r) for r in (outcome if is_sequence(outcome) else [outcome])]
        if any(r.type.is_block() for r in found) or len(found) % pack:
            raise SemanticError(
                f"the function of map_elementwise must return scalars, {pack} for each result"
            )
        return found

    region, result_types = b.combine(scalar_fn, types, "tt.map_elementwise.return", list, results)
    handles = b.create(
        "tt.map_elementwise",
        [x.handle for x in inputs],
        {"pack": b.int_attr(32, pack)},
        [b.type(inputs[0].type.with_element_ty(t)) for t in result_types[::pack]],
        (region,),
    )
    outputs = [inputs[0].type.with_element_ty(t) for t in result_types[::pack]]
    values = tuple(tensor(h, t) for h, t in zip(handles, outputs, strict=True))
    return values[0] if len(values) == 1 else values


@member()
@builtin
def gather(src: tensor, index: tensor, axis: Any) -> tensor:
    """Takes elements of `src` along `axis`, as `index` says.

    `index` has the rank of `src`; the result has its shape.

    Refused: ``tl.gather(tl.arange(0, 4), tl.arange(0, 4).to(tl.float32), 0)``.

    >>> tl.gather(tl.arange(0, 4) * 10, 3 - tl.arange(0, 4), 0)
    [30 20 10 0]
    """
    if not index.dtype.is_int():
        raise SemanticError(f"gather's index has integers, not {index.dtype}")
    if src.ndim != index.ndim or not src.ndim:
        raise SemanticError(
            f"gather needs source and index of one rank, not {src.type} and {index.type}"
        )
    axis = checked_axis(axis, src.ndim, "gather")
    for d in range(src.ndim):
        if d != axis and src.shape[d] != index.shape[d]:
            raise SemanticError(
                f"gather along {axis} needs equal extents elsewhere, not {src.type} and "
                f"{index.type}"
            )
    ty = index.type.with_element_ty(src.dtype)
    b = current()
    handle = b.create_one(
        "tt.gather", (src.handle, index.handle), {"axis": b.int_attr(32, axis)}, (b.type(ty),)
    )
    return tensor(handle, ty)


@member()
@builtin
def histogram(input: tensor, num_bins: Any, mask: Any = None) -> tensor:
    """Counts how often each of 0 .. num_bins - 1 occurs, as int32.

    `input` is a block of integers of one dimension; `num_bins` is a constant. Other values are
    not counted, nor are those where `mask` does not hold.

    Refused: ``tl.histogram(tl.arange(0, 4).to(tl.float32), 4)``.

    >>> tl.histogram(tl.arange(0, 4) // 2, 4)
    [2 2 0 0]
    """
    return count(input, num_bins, mask, current().new_block)


def count(input: tensor, num_bins: Any, mask: Any, new_block: Any) -> tensor:
    """A histogram in a block that `new_block` gives."""
    num_bins = unwrap(num_bins)
    if input.ndim != 1 or not input.dtype.is_int():
        raise SemanticError(
            f"histogram takes a block of integers of one dimension, not {input.type}"
        )
    ty = new_block(dt.int32, (num_bins,))
    b = current()
    handles = [input.handle]
    if unwrap(mask) is not None:
        handles.append(broadcast_to_shape(to_bool(mask), input.shape).handle)
    return tensor(b.create_one("tt.histogram", handles, None, (b.type(ty),)), ty)


def _batched(x: tensor) -> tensor:
    return _reshape(x, (-1, *x.shape[-2:]), False, "reshape")


@builtin
def dot(
    input: tensor,
    other: tensor,
    acc: Any = None,
    input_precision: str | None = None,
    allow_tf32: bool | None = None,
    max_num_imprecise_acc: int | None = None,
    out_dtype: Any = dt.float32,
) -> tensor:
    """The matmul of two blocks, added to `acc` if there is one.

    `input` has [..., M, K] elements, `other` [..., K, N]; the result and `acc` have [..., M,
    N]. Ranks of 2 and 3 are taken. `input_precision` says how float32 is multiplied: 'tf32'
    (the default), 'tf32x3', 'bf16x3', 'bf16x6' or 'ieee', which is exact and slow. `allow_tf32`
    is its older form. `max_num_imprecise_acc` says how many products of fp8 are added up before
    float32 takes the sum. `out_dtype` is the type of the result; integers give int32, and with
    an `acc` of float16 the result has that type.

    Refused: ``tl.dot(tl.zeros([16, 16], tl.float16), tl.zeros([32, 16], tl.float16))``.

    >>> a = tl.full([16, 16], 1, tl.float16)
    >>> tl.sum(tl.dot(a, a))
    4096
    """
    for x in (input, other):
        if not isinstance(x, tensor) or not x.type.is_block():
            raise SemanticError(f"dot takes blocks, not {describe(x)}")
    if input.ndim != other.ndim or input.ndim < 2:
        raise SemanticError(
            f"dot takes two blocks of one rank, 2 or more, not {input.type} and {other.type}"
        )
    if input.shape[-1] != other.shape[-2]:
        raise SemanticError(
            f"dot cannot multiply {list(input.shape)} with {list(other.shape)}: "
            f"the inner extents are {input.shape[-1]} and {other.shape[-2]}"
        )
    if input.shape[:-2] != other.shape[:-2]:
        raise SemanticError(
            f"dot needs equal batch extents, not {list(input.shape)} and {list(other.shape)}"
        )
    if input.ndim > 3:
        # The products of all leading dimensions are one batch.
        leading = input.shape[:-2]
        acc = unwrap(acc)
        if isinstance(acc, tensor) and acc.shape[:-2] == leading:
            acc = _batched(acc)
        product = dot(
            _batched(input), _batched(other), acc, input_precision, allow_tf32,
            max_num_imprecise_acc, out_dtype,
        )  # fmt: skip
        return _reshape(product, (*leading, *product.shape[-2:]), False, "reshape")
    out_dtype, added = unwrap(out_dtype), unwrap(acc)
    if out_dtype == dt.float32 and isinstance(added, tensor) and added.dtype.is_fp16():
        out_dtype = dt.float16  # The sum decides.
    if out_dtype.is_fp16() and input.dtype.is_fp8() and other.dtype.is_fp8():
        # The sums are in fp32, and rounded once.
        acc = added
        product = dot(
            input, other, cast(acc, dt.float32) if isinstance(acc, tensor) else acc,
            input_precision, allow_tf32, max_num_imprecise_acc,
        )  # fmt: skip
        return cast(product, dt.float16)
    if input.dtype.is_fp8e4b15() or other.dtype.is_fp8e4b15():
        # No machine multiplies this format; fp16 holds every number of it.
        input, other = cast(input, dt.float16), cast(other, dt.float16)
    fp8_pair = input.dtype.is_fp8() and other.dtype.is_fp8()
    if input.dtype != other.dtype and not fp8_pair:
        raise SemanticError(f"dot takes operands of one type, not {input.dtype} and {other.dtype}")
    b = current()
    out = out_dtype
    element = input.dtype
    if element.is_floating() and isinstance(out, dt.dtype) and out.is_int():
        raise SemanticError(f"dot of floats adds up floats, not {out}")
    if element.is_int():
        # The IR's integers have no sign, and products of int8 are signed.
        if element.name != "int8":
            raise SemanticError(f"dot of integers takes int8, not {element}")
        out = dt.int32
    elif out.is_bf16():
        raise SemanticError(
            "dot does not accumulate in bf16; use out_dtype=tl.float32 and convert the result"
        )
    elif element.name in ("fp32", "bf16") or element.is_fp8():
        out = dt.float32
    elif element.name == "fp64":
        out = dt.float64
    if unwrap(input_precision) is not None and unwrap(allow_tf32) is not None:
        raise SemanticError("dot takes input_precision or allow_tf32, not both")
    precision = unwrap(input_precision)
    if precision is None:
        precision = "ieee" if unwrap(allow_tf32) is False else b.options.default_dot_input_precision
    code = choose(_PRECISION, str(precision).lower(), "input_precision")
    shape = (*input.shape[:-1], other.shape[-1])
    ty = block_type(out, shape)
    if acc is None or (is_constant(unwrap(acc)) and unwrap(acc) == 0):
        acc = constant(0, ty)
    elif not isinstance(acc, tensor) or acc.shape != shape:
        raise SemanticError(f"dot's acc must be {ty}, not {describe(acc)}")
    elif acc.dtype != out:
        if element.name != "fp16" or acc.dtype.name != "fp32":
            raise SemanticError(f"dot's acc must be {ty}, not {describe(acc)}")
        ty = acc.type
    imprecise = unwrap(max_num_imprecise_acc)
    if imprecise is None:
        imprecise = b.options.max_num_imprecise_acc_default if fp8_pair else 0
    elif fp8_pair and imprecise > input.shape[-1]:
        raise SemanticError(f"max_num_imprecise_acc ({imprecise}) must be <= K ({input.shape[-1]})")
    attributes = {
        "inputPrecision": b.int_attr(32, code),
        "maxNumImpreciseAcc": b.int_attr(32, imprecise),
    }
    handles = (input.handle, other.handle, acc.handle)
    return tensor(b.create_one("tt.dot", handles, attributes, (b.type(ty),)), ty)


@builtin
def dot_scaled(
    lhs: tensor,
    lhs_scale: Any,
    lhs_format: str,
    rhs: tensor,
    rhs_scale: Any,
    rhs_format: str,
    acc: Any = None,
    fast_math: bool = False,
    lhs_k_pack: bool = True,
    rhs_k_pack: bool = True,
    out_dtype: Any = dt.float32,
) -> tensor:
    """The matmul of two blocks in a microscaling format.

    `lhs` has [M, K] elements, and `rhs` [K, N]. A scale is a byte, the exponent of 32 elements
    along K: `lhs_scale` has [M, K / 32] of them, and `rhs_scale` [N, K / 32]. A format
    is 'e4m3', 'e5m2', 'e2m1' (two in a byte, along K where `k_pack` is true), 'bf16' or 'fp16'.
    A scale of None is 1. `fast_math` leaves out what scales of NaN need.

    Refused: ``tl.dot_scaled(p, None, 'e4m3', p, None, 'e4m3')``.

    >>> a = tl.full([32, 32], 1, tl.float8e4nv)
    >>> s = tl.full([32, 1], 127, tl.uint8)
    >>> tl.sum(tl.dot_scaled(a, s, 'e4m3', a, s, 'e4m3'))
    32768
    """
    formats = [
        choose(_SCALED_FORMATS, f, "a format of dot_scaled") for f in (lhs_format, rhs_format)
    ]
    for x in (lhs, rhs):
        if not isinstance(x, tensor) or not x.type.is_block() or x.ndim < 2:
            raise SemanticError(
                f"dot_scaled takes blocks of two dimensions or more, not {describe(x)}"
            )
    lhs_pack = 2 if unwrap(lhs_format) == "e2m1" else 1
    rhs_pack = 2 if unwrap(rhs_format) == "e2m1" else 1
    m = lhs.shape[-2] * (1 if unwrap(lhs_k_pack) else lhs_pack)
    k_lhs = lhs.shape[-1] * (lhs_pack if unwrap(lhs_k_pack) else 1)
    n = rhs.shape[-1] * (1 if unwrap(rhs_k_pack) else rhs_pack)
    k_rhs = rhs.shape[-2] * (rhs_pack if unwrap(rhs_k_pack) else 1)
    if k_lhs != k_rhs:
        raise SemanticError(f"dot_scaled's inner extents are {k_lhs} and {k_rhs}")
    b = current()
    ty = block_type(unwrap(out_dtype), (*lhs.shape[:-2], m, n))
    acc = constant(0, ty) if unwrap(acc) is None else acc
    if not isinstance(acc, tensor) or acc.type != ty:
        raise SemanticError(f"dot_scaled's acc must be {ty}, not {describe(acc)}")
    scales = [None if unwrap(s) is None else s for s in (lhs_scale, rhs_scale)]
    handles = [lhs.handle, rhs.handle, acc.handle, *[s.handle for s in scales if s is not None]]
    attributes = {
        "a_elem_type": b.int_attr(32, formats[0]),
        "b_elem_type": b.int_attr(32, formats[1]),
        "fastMath": b.bool_attr(bool(unwrap(fast_math))),
        "lhs_k_pack": b.bool_attr(bool(unwrap(lhs_k_pack))),
        "rhs_k_pack": b.bool_attr(bool(unwrap(rhs_k_pack))),
        "operandSegmentSizes": b.i32_array_attr([1, 1, 1, *[int(s is not None) for s in scales]]),
    }
    return tensor(b.create_one("tt.dot_scaled", handles, attributes, (b.type(ty),)), ty)


@builtin
def inline_asm_elementwise(
    asm: str, constraints: str, args: Any, dtype: Any, is_pure: bool, pack: int
) -> Any:
    """Runs assembly on each element, or on `pack` of them at a time."""
    return assembly(asm, constraints, args, dtype, is_pure, pack, {})


def assembly(
    asm: str, constraints: str, args: Any, dtype: Any, is_pure: bool, pack: int, more: dict
) -> Any:
    """The same, with `more` attributes."""
    inputs = raise_to_common_shape(*[to_tensor(a) for a in args]) if args else []
    outputs = unwrap(dtype)
    several = isinstance(outputs, (tuple, list))
    outputs = [unwrap(t) for t in outputs] if several else [outputs]
    b = current()
    block = inputs[0].type if inputs and inputs[0].type.is_block() else None
    types = [block.with_element_ty(t) if block else t for t in outputs]
    attributes = {
        "asm_string": b.str_attr(unwrap(asm)),
        "constraints": b.str_attr(unwrap(constraints)),
        "pure": b.bool_attr(bool(unwrap(is_pure))),
        "packed_element": b.int_attr(32, unwrap(pack)),
        **more,
    }
    handles = b.create(
        "tt.elementwise_inline_asm",
        [x.handle for x in inputs],
        attributes,
        [b.type(t) for t in types],
    )
    results = tuple(tensor(h, t) for h, t in zip(handles, types, strict=False))
    return results if several else results[0]


def extern_elementwise(
    args: list[tensor], result: dt.dtype, symbol: str, pure: bool = True
) -> tensor:
    """Calls a function of a device library on each element."""
    b = current()
    inputs = raise_to_common_shape(*args or [constant(0, dt.int32)])
    ty = inputs[0].type.with_element_ty(result)
    attributes = {
        "libname": b.str_attr(""),
        "libpath": b.str_attr(""),
        "symbol": b.str_attr(symbol),
        "pure": b.bool_attr(pure),
    }
    if not args:
        attributes["tt.no_arguments"] = b.unit_attr()
    handles = [cast(x, x.dtype).handle for x in inputs]
    return tensor(b.create_one("tt.extern_elementwise", handles, attributes, (b.type(ty),)), ty)

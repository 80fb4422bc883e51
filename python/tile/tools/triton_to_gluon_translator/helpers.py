"""What translated kernels call: operations on tensors that are all in one layout for their number
of dimensions. Which one that is, decides nothing but speed."""

from __future__ import annotations

from typing import Any

from tile.errors import SemanticError
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.amd import AMDMFMALayout, AMDWMMALayout, cdna3, rdna3, rdna4
from tile.experimental.gluon.language.nvidia import ampere
from tile.experimental.gluon.language.nvidia.hopper import tma
from tile.language import standard
from tile.language.creation import broadcast_to as _broadcast_to
from tile.language.creation import checked_axis
from tile.language.promotion import to_tensor
from tile.language.state import current, current_generator
from tile.language.values import builtin, tensor, unwrap, unwrap_shape

from . import descriptors
from .layouts import expand_dims, layout_for, settle
from .scaled import decoded


def _settled(function: Any, doc: str) -> Any:
    @builtin
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if getattr(function, "__tile_jit__", False):
            return settle(current_generator().call_function(function, list(args), kwargs))
        return settle(function(*args, **kwargs))

    wrapper.__doc__ = doc
    return wrapper


settled = _settled(lambda value: value, "A tensor in the layout of its number of dimensions.")


@builtin
def arange(start: Any, end: Any) -> Any:
    """The integers from `start` up to, not including, `end`."""
    return gl.arange(start, end, layout_for(1))


@builtin
def full(shape: Any, value: Any, dtype: Any) -> Any:
    """A tensor with `value` in every element."""
    return gl.full(shape, value, dtype, layout_for(len(unwrap_shape(shape))))


@builtin
def zeros(shape: Any, dtype: Any) -> Any:
    """A tensor of zeros."""
    return gl.full(shape, 0, dtype, layout_for(len(unwrap_shape(shape))))


@builtin
def zeros_like(input: Any) -> Any:
    """A tensor of zeros like `input`."""
    return gl.full(input.shape, 0, input.dtype, layout_for(len(input.shape)))


@builtin
def histogram(input: Any, num_bins: Any, mask: Any = None) -> Any:
    """Counts how often each of 0 .. num_bins - 1 occurs."""
    return gl.histogram(input, num_bins, mask, layout_for(1))


@builtin
def subscript(value: Any, index: Any) -> Any:
    """``value[index]``: new dimensions of a tensor, or an item of something else."""
    value, index = unwrap(value), unwrap(index)
    if not isinstance(value, tensor):
        return value[index]
    places = [unwrap(i) for i in (index if isinstance(index, tuple) else (index,))]
    axes = [i for i, place in enumerate(places) if place is None]
    return expand_dims(value, axes) if axes else value


@builtin
def broadcast_to(input: Any, *shape: Any) -> Any:
    """Repeats elements along the dimensions that have one."""
    extents = unwrap_shape(shape)
    value = to_tensor(input)
    if not value.type.is_block():
        return gl.full(extents, value, value.dtype, layout_for(len(extents)))
    while len(value.shape) < len(extents):
        value = expand_dims(value, 0)
    return _broadcast_to(value, *extents)


@builtin
def broadcast(input: Any, other: Any) -> Any:
    """Brings two tensors to their common shape."""
    pair = [to_tensor(input), to_tensor(other)]
    rank = max(len(value.shape) for value in pair)
    pair = [
        expand_dims(v, list(range(rank - len(v.shape)))) if len(v.shape) < rank else v for v in pair
    ]
    return gl.broadcast(*pair)


@builtin
def reshape(input: Any, *shape: Any, can_reorder: bool = False) -> Any:
    """The same elements under another shape."""
    return settle(gl.reshape(input, *shape))


@builtin
def squeeze(x: Any, dim: Any) -> Any:
    """A tensor without a dimension of one element."""
    axis = checked_axis(dim, len(x.shape), "squeeze")
    if x.shape[axis] != 1:
        raise SemanticError(f"squeeze drops a dimension of one element, not of {x.shape[axis]}")
    return settle(gl.reshape(x, [*x.shape[:axis], *x.shape[axis + 1 :]]))


@builtin
def unsqueeze(x: Any, dim: Any) -> Any:
    """A tensor with one more dimension, of one element."""
    return expand_dims(x, [checked_axis(dim, len(x.shape) + 1, "unsqueeze")])


@builtin
def interleave(a: Any, b: Any) -> Any:
    """The elements of two tensors in turns, along the last dimension."""
    joined = gl.join(a, b)
    return settle(gl.reshape(joined, [*joined.shape[:-2], 2 * joined.shape[-2]]))


@builtin
def debug_barrier() -> None:
    """All threads of the program wait for each other."""
    gl.barrier()


@builtin
def trans(input: Any, *dims: Any) -> Any:
    """The tensor with its dimensions in another order; two of them change places."""
    order = list(unwrap_shape(dims)) or [1, 0]
    return settle(gl.permute(input, order))


@builtin
def load(
    pointer: Any, mask: Any = None, other: Any = None, boundary_check: Any = (),
    padding_option: Any = "", cache_modifier: Any = "", eviction_policy: Any = "",
    volatile: bool = False,
) -> Any:  # fmt: skip
    """Reads the elements that `pointer` points to."""
    return gl.load(
        pointer, mask, other, cache_modifier=unwrap(cache_modifier) or None,
        eviction_policy=unwrap(eviction_policy) or None, volatile=volatile,
    )  # fmt: skip


@builtin
def store(
    pointer: Any, value: Any, mask: Any = None, boundary_check: Any = (),
    cache_modifier: Any = "", eviction_policy: Any = "",
) -> None:  # fmt: skip
    """Writes to where `pointer` points."""
    gl.store(
        pointer, value, mask, cache_modifier=unwrap(cache_modifier) or None,
        eviction_policy=unwrap(eviction_policy) or None,
    )  # fmt: skip


@builtin
def split(input: Any) -> Any:
    """The two halves of the last dimension, of two elements: one thread must have both."""
    b = current()
    rank = len(input.shape)
    ones = [1] * (rank - 2)
    pairs = gl.BlockedLayout(
        [*ones, 1, 2], [*ones, b.options.warp_size, 1], [*ones, b.num_warps, 1],
        list(range(rank))[::-1],
    )  # fmt: skip
    return settle(gl.split(gl.convert_layout(input, pairs)))


@builtin
def cat(input: Any, other: Any, can_reorder: bool = False, dim: Any = 0) -> Any:
    """The elements of two tensors of one dimension, one behind the other."""
    if len(input.shape) != 1:
        raise SemanticError("the translation of cat takes tensors of one dimension")
    pair = gl.permute(gl.join(input, other), [1, 0])
    return settle(gl.reshape(pair, [2 * input.shape[0]]))


def _accumulator(rank: int) -> tuple[Any, int, Any]:
    """The layout of a dot, the neighbours along K of its operands, and what multiplies."""
    b = current()
    ones, warps = [1] * (rank - 2), b.num_warps
    arch = str(b.options.arch)
    if arch.isdigit():
        layout = gl.NVMMADistributedLayout([2, 0], [*ones, warps, 1], [*ones, 16, 8])
        return layout, 2, ampere.mma_v2
    if arch.startswith("gfx9"):
        return AMDMFMALayout(3, [16, 16, 16], True, [*ones, warps, 1]), 4, cdna3.mfma
    bases = [[1 << i, 0] for i in range(warps.bit_length() - 1)]
    version = 1 if arch.startswith("gfx11") else 2
    multiply = rdna3.wmma if version == 1 else rdna4.wmma
    return AMDWMMALayout(version, True, bases), 16 // version, multiply


@builtin
def dot(
    input: Any, other: Any, acc: Any = None, input_precision: Any = None, allow_tf32: Any = None,
    max_num_imprecise_acc: Any = None, out_dtype: Any = gl.float32,
) -> Any:  # fmt: skip
    """``input @ other + acc``."""
    a, b = to_tensor(input), to_tensor(other)
    out = unwrap(out_dtype)
    if a.dtype.is_int():
        out = gl.int32
    elif a.dtype == gl.float64:
        out = gl.float64
    shape = [*a.shape[:-1], b.shape[-1]]
    has_unit = a.dtype.name in ("fp16", "bf16") and a.shape[-2] >= 16 and b.shape[-1] >= 16
    if has_unit and a.shape[-1] >= 16:
        layout, width, multiply = _accumulator(len(shape))
    else:
        layout, width, multiply = layout_for(len(shape)), 0, gl.dot_fma
    computed = gl.float32 if out == gl.float16 else out
    if acc is None or unwrap(acc) is None:
        sums = gl.full(shape, 0, computed, layout)
    else:
        sums = gl.convert_layout(acc.to(computed), layout)
    left = gl.convert_layout(a, gl.DotOperandLayout(0, layout, width))
    right = gl.convert_layout(b, gl.DotOperandLayout(1, layout, width))
    return settle(multiply(left, right, sums)).to(out)


@builtin
def dot_scaled(
    lhs: Any, lhs_scale: Any, lhs_format: Any, rhs: Any, rhs_scale: Any, rhs_format: Any,
    acc: Any = None, fast_math: Any = False, lhs_k_pack: Any = True, rhs_k_pack: Any = True,
    out_dtype: Any = gl.float32,
) -> Any:  # fmt: skip
    """The matmul of two blocks in a microscaling format: of bf16 numbers here."""
    left = decoded(to_tensor(lhs), lhs_scale, lhs_format, 1, lhs_k_pack)
    right = decoded(to_tensor(rhs), rhs_scale, rhs_format, 0, rhs_k_pack)
    return dot(left, right, acc, out_dtype=out_dtype)


@builtin
def num_threads() -> Any:
    """The number of threads of the program."""
    return current().num_warps * current().options.warp_size


@builtin
def gather(input: Any, *args: Any, **kwargs: Any) -> Any:
    """Elements of a tensor, or rows of the matrix of a descriptor."""
    if isinstance(unwrap(input), (descriptors.Descriptor, tma.tensor_descriptor)):
        return descriptors.obj_gather(input, *args, **kwargs)
    return settle(gl.gather(input, *args, **kwargs))


make_tensor_descriptor = descriptors.make_tensor_descriptor
obj_load = load_tensor_descriptor = descriptors.obj_load
obj_store = store_tensor_descriptor = descriptors.obj_store
obj_scatter = descriptors.obj_scatter

#: Functions whose results are in layouts of their own.
_SETTLED = (
    "sum max min xor_sum reduce reduce_or associative_scan cumsum cumprod join permute ravel "
    "map_elementwise"
)
for _name in _SETTLED.split():
    globals()[_name] = _settled(getattr(gl, _name), f"`gl.{_name}`, settled.")
for _name in ("argmax", "argmin"):
    globals()[_name] = _settled(getattr(standard, _name), f"`tl.{_name}`, settled.")
del _name

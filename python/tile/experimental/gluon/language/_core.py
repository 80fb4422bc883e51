"""The operations of the language with layouts, beside those that it shares with `tl`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tile.errors import SemanticError
from tile.language import collective as _collective
from tile.language import creation as _creation
from tile.language import dtypes as dt
from tile.language import memory as _memory
from tile.language.aggregate import replace
from tile.language.dtypes import dtype as _dtype
from tile.language.promotion import to_tensor as _to_tensor
from tile.language.shared_memory import Buffer
from tile.language.state import current, current_generator
from tile.language.values import (
    builtin,
    constexpr,
    describe,
    tensor,
    unwrap,
    unwrap_shape,
)
from tile.runtime.jit import constexpr_function

from . import _inference
from ._layouts import AutoLayout, DistributedLayout, DotOperandLayout, is_open
from ._policies import cache_hints
from ._types import distributed_type, set_layout, shared_memory_descriptor_type

GLUON_BUILTIN = "__tile_builtin__"


def _layout(value: Any) -> DistributedLayout:
    value = unwrap(value)
    if value is None:
        return AutoLayout()
    if not isinstance(value, DistributedLayout):
        raise SemanticError(f"layout is a layout of registers, not {value!r}")
    return value


def _check_block(value: Any, what: str) -> tensor:
    if not isinstance(value, tensor) or not value.type.is_block():
        raise SemanticError(f"{what} takes a tensor, not {describe(value)}")
    return value


# Creation.


@builtin
def arange(start: Any, end: Any, layout: Any = None) -> tensor:
    """The integers from `start` up to, not including, `end`, as int32."""
    start, end = _creation.range_of(start, end)
    return _creation.make_range(start, distributed_type(dt.int32, (end - start,), _layout(layout)))


@builtin
def full(shape: Any, value: Any, dtype: Any, layout: Any = None) -> tensor:
    """A tensor with `value` in every element."""
    shape, dtype = unwrap_shape(shape), _creation.element_type(dtype)
    ty = distributed_type(dtype, shape, _layout(layout)) if shape else dtype
    return _creation.filled(ty, value)


# Layouts.


@builtin
def convert_layout(value: Any, layout: Any, assert_trivial: bool = False) -> tensor:
    """The same tensor in another layout. With `assert_trivial`, an error unless that moves no data
    between threads."""
    value = _check_block(value, "convert_layout")
    layout = _layout(layout)
    ty = distributed_type(value.dtype, value.shape, layout)
    if unwrap(assert_trivial):
        have = value.type.layout
        what = f"layout conversion from {have!r}\nto {layout!r} is not trivial: "
        if is_open(have) or is_open(layout):
            raise SemanticError(f"{what}assert_trivial needs two layouts that are decided")
        if _inference.moves_data(have, layout, value.shape):
            raise SemanticError(f"{what}it moves data between threads")
    b = current()
    return tensor(b.create_one("ttg.convert_layout", (value.handle,), None, (b.type(ty),)), ty)


@builtin
def set_auto_layout(value: Any, layout: Any) -> tensor:
    """Decides the layout of a tensor whose own is left open."""
    value = _check_block(value, "set_auto_layout")
    layout = _layout(layout)
    if not isinstance(value.type.layout, AutoLayout):
        raise SemanticError(
            f"set_auto_layout decides an AutoLayout, but this tensor is in "
            f"{value.type.layout!r}; use gl.convert_layout"
        )
    if isinstance(layout, AutoLayout):
        raise SemanticError("set_auto_layout takes a layout that is not an AutoLayout itself")
    return set_layout(value, layout)


@constexpr_function
def to_linear_layout(layout: Any, shape: Any) -> Any:
    """The layout spelled out: what each bit of register, lane, warp and block adds."""
    return _inference.as_linear(unwrap(layout), unwrap_shape(shape))


@constexpr_function
def bank_conflicts(distr_ty: Any, shared_ty: Any) -> int:
    """How many more times than needed banks of shared memory are accessed by an instruction that
    moves a tensor of one type to or from a buffer of the other."""
    distr_ty, shared_ty = unwrap(distr_ty), unwrap(shared_ty)
    if not isinstance(distr_ty, distributed_type):
        raise SemanticError(f"bank_conflicts takes a distributed_type first, not {distr_ty!r}")
    if not isinstance(shared_ty, shared_memory_descriptor_type):
        raise SemanticError(
            f"bank_conflicts takes a shared_memory_descriptor_type second, not {shared_ty!r}"
        )
    if distr_ty.element_ty != shared_ty.element_ty or distr_ty.shape != shared_ty.shape:
        raise SemanticError(
            f"bank_conflicts takes types of one shape and element, not {distr_ty} and {shared_ty}"
        )
    return _inference.count_conflicts(distr_ty, shared_ty)


# Global memory.


@builtin
def load(
    pointer: Any,
    mask: Any = None,
    other: Any = None,
    *,
    cache_modifier: Any = None,
    eviction_policy: Any = None,
    volatile: bool = False,
    cache_policy: Any = None,
) -> tensor:
    """Reads the elements that `pointer` points to, where `mask` holds; elsewhere it is `other`."""
    cache_modifier, eviction_policy = cache_hints(cache_modifier, eviction_policy, cache_policy)
    return _memory.load(
        pointer, mask, other, cache_modifier=cache_modifier, eviction_policy=eviction_policy,
        volatile=volatile,
    )  # fmt: skip


@builtin
def store(
    pointer: Any,
    value: Any,
    mask: Any = None,
    *,
    cache_modifier: Any = None,
    eviction_policy: Any = None,
    cache_policy: Any = None,
) -> None:
    """Writes `value` to where `pointer` points, where `mask` holds."""
    cache_modifier, eviction_policy = cache_hints(cache_modifier, eviction_policy, cache_policy)
    _memory.store(
        pointer, value, mask, cache_modifier=cache_modifier, eviction_policy=eviction_policy
    )


# Computation.


@builtin
def histogram(input: Any, num_bins: Any, mask: Any = None, layout: Any = None) -> tensor:
    """Counts how often each of 0 .. num_bins - 1 occurs, as int32."""
    chosen = _layout(layout)

    def new_block(element: _dtype, shape: Sequence[int]) -> _dtype:
        return distributed_type(element, shape, chosen)

    return _collective.count(_check_block(input, "histogram"), num_bins, mask, new_block)


@builtin
def fp4_to_fp(src: Any, elem_type: Any, axis: Any) -> tensor:
    """Each byte of `src` holds two numbers of 4 bits (e2m1): both, as fp16 or bf16. The dimension
    `axis` has twice as many elements."""
    src = _check_block(src, "fp4_to_fp")
    element = unwrap(elem_type)
    if element not in (dt.float16, dt.bfloat16):
        raise SemanticError(f"fp4_to_fp makes fp16 or bf16, not {element}")
    if not src.dtype.is_int() or src.dtype.int_bitwidth != 8:
        raise SemanticError(f"fp4_to_fp takes int8 or uint8, not {src.dtype}")
    axis = _creation.checked_axis(axis, src.ndim, "fp4_to_fp")
    if is_open(src.type.layout):
        raise SemanticError("fp4_to_fp takes a tensor whose layout is decided")
    shape = [extent * (2 if d == axis else 1) for d, extent in enumerate(src.shape)]
    layout = _inference.infer("fp4_to_fp", src.type.layout, src.shape, [axis], shape)
    ty = distributed_type(element, shape, layout)
    b = current()
    attributes = {"axis": b.int_attr(32, axis)}
    return tensor(b.create_one("ttg.fp4_to_fp", (src.handle,), attributes, (b.type(ty),)), ty)


@builtin
def to_tensor(x: Any) -> Any:
    """A number as a scalar of the language; tensors stay as they are."""
    return _to_tensor(unwrap(x))


@builtin
def inline_asm(
    asm: Any, constraints: Any = "", args: Any = (), result_types: Any = (), is_pure: bool = False
) -> Any:
    """Runs assembly once in each thread, on scalars. Returns a tuple of results."""
    values = [_to_tensor(arg) for arg in unwrap(args)]
    for value in values:
        if value.type.is_block():
            raise SemanticError(
                f"inline_asm takes scalars, not {value.type}; inline_asm_elementwise takes tensors"
            )
    types = [unwrap(ty) for ty in unwrap(result_types)]
    return _collective.inline_asm_elementwise(asm, constraints, values, types, is_pure, 1)


@builtin
def aggregate_replace(instance: Any, **changes: Any) -> Any:
    """An aggregate like `instance`, with other values in some of its fields."""
    if not hasattr(instance, "__tile_structure__") or not hasattr(type(instance), "__tile_set__"):
        raise SemanticError(f"aggregate_replace takes an aggregate, not {describe(instance)}")
    return replace(instance, changes)


@builtin
def dot_fma(a: Any, b: Any, acc: Any) -> tensor:
    """a * b + acc, on plain arithmetic; the operands are in the `DotOperandLayout` of that of
    `acc`."""
    a, b = _check_block(a, "dot_fma"), _check_block(b, "dot_fma")
    acc = _check_block(acc, "dot_fma")
    return matrix_product(a, b, acc, "dot_fma", "ieee", k_width=0)


def refuse_unsigned(a: Any, b: Any, what: str) -> None:
    """The types of the IR do not tell bytes without a sign from others, and dots read a sign."""
    if "uint8" in (a.dtype.name, b.dtype.name):
        raise SemanticError(f"{what} of integers takes int8, not uint8")


def matrix_product(
    a: tensor, b: tensor, acc: tensor, what: str, precision: str, k_width: int | None = None
) -> tensor:
    """`tt.dot`, whose operands must be laid out for the accumulator."""
    for i, operand in enumerate((a, b)):
        layout = operand.type.layout
        if (
            not isinstance(layout, DotOperandLayout)
            or layout.operand_index != i
            or layout.parent != acc.type.layout
        ):
            raise SemanticError(
                f"operand {i} of {what} must be in DotOperandLayout({i}, <the layout of acc>, "
                f"k_width), with acc in\n    {acc.type.layout!r},\nbut it is in\n    {layout!r}"
            )
    _check_extents(a.shape, b.shape, acc.shape, what)
    refuse_unsigned(a, b, what)
    builder = current()
    attributes = {
        "inputPrecision": builder.int_attr(
            32, _memory.choose(_collective._PRECISION, precision, "input_precision")
        ),
        "maxNumImpreciseAcc": builder.int_attr(32, 0),
    }
    handles = (a.handle, b.handle, acc.handle)
    ty = acc.type
    return tensor(builder.create_one("tt.dot", handles, attributes, (builder.type(ty),)), ty)


def _check_extents(a: Sequence[int], b: Sequence[int], acc: Sequence[int], what: str) -> None:
    if a[-1] != b[-2] or tuple(acc) != (*a[:-1], b[-1]):
        raise SemanticError(f"{what} cannot multiply {list(a)} with {list(b)} into {list(acc)}")


# Shared memory.


class shared_memory_descriptor(Buffer):
    """A buffer in shared memory, or a view of one."""

    @property
    def nbytes_per_cta(self) -> int:
        return self.type.nbytes_per_cta

    @builtin
    def load(self, layout: Any) -> tensor:
        """Reads the whole buffer into registers."""
        return self._load(layout, {})

    def _load(self, layout: Any, flags: dict[str, bool]) -> tensor:
        ty = distributed_type(self.dtype, self.shape, _layout(layout))
        b = current()
        attributes = {name: b.bool_attr(flag) for name, flag in flags.items()} or None
        return tensor(b.create_one("ttg.local_load", (self.handle,), attributes, (b.type(ty),)), ty)

    @builtin
    def store(self, value: Any) -> None:
        """Writes a tensor over the whole buffer."""
        value = _check_block(value, "store")
        self._check_contents(value.type, "store")
        current().create("ttg.local_store", (value.handle, self.handle), None, ())

    def _check_contents(self, ty: Any, what: str) -> None:
        if ty.shape != self.shape or ty.scalar != self.dtype:
            raise SemanticError(
                f"{what} needs a tensor like the buffer, of shape {list(self.shape)} and type "
                f"{self.dtype}, not {list(ty.shape)} of {ty.scalar}"
            )

    @builtin
    def slice(self, start: Any, length: Any, dim: Any = 0) -> shared_memory_descriptor:
        """The part from `start` on, of `length` elements along `dim`."""
        start, length = unwrap(start), unwrap(length)
        axis = _creation.checked_axis(dim, self.rank, "slice")
        for name, value in (("start", start), ("length", length)):
            if isinstance(value, bool) or not isinstance(value, int):
                raise SemanticError(f"slice takes a constant {name}, not {describe(value)}")
        if start < 0 or length < 1 or start + length > self.shape[axis]:
            raise SemanticError(
                f"elements {start} to {start + length} are not in dimension {axis} of a buffer of "
                f"shape {list(self.shape)}"
            )
        shape = [*self.shape[:axis], length, *self.shape[axis + 1 :]]
        return self._part([start if d == axis else 0 for d in range(self.rank)], shape)

    @builtin
    def index(self, index: Any) -> shared_memory_descriptor:
        """One of the buffers that the first dimension counts."""
        if self.rank < 2:
            raise SemanticError(
                f"index needs a buffer of at least two dimensions, not {list(self.shape)}"
            )
        return self._one(self._checked_index(index))

    def _typed(self, handle: Any, shape: Sequence[int]) -> shared_memory_descriptor:
        """A view whose layout the operation has inferred."""
        from tile import _C

        from ._syntax import layout_of

        layout = layout_of(str(_C.layout.encoding(handle.type)), shape)
        ty = shared_memory_descriptor_type(self.dtype, shape, layout, shape)
        return shared_memory_descriptor(handle, ty)

    @builtin
    def permute(self, order: Any) -> shared_memory_descriptor:
        """The buffer with its dimensions in another order."""
        order = list(unwrap_shape(order))
        if sorted(order) != list(range(self.rank)):
            raise SemanticError(f"permute lists each of {self.rank} dimensions once, not {order}")
        b = current()
        handle = b.create_one(
            "ttg.memdesc_trans", (self.handle,), {"order": b.i32_array_attr(order)}
        )
        return self._typed(handle, [self.shape[d] for d in order])

    @builtin
    def reshape(self, shape: Any) -> shared_memory_descriptor:
        """The same elements under another shape."""
        from tile import _C

        shape = list(unwrap_shape(shape))
        b = current()
        ty = _C.layout.reshape_buffer(self.handle.type, shape)
        return self._typed(b.create_one("ttg.memdesc_reshape", (self.handle,), None, (ty,)), shape)

    @builtin
    def reinterpret(
        self, dtype: Any = None, shape: Any = None, layout: Any = None
    ) -> shared_memory_descriptor:
        """The bytes of the buffer as another type, shape and layout."""
        dtype, layout = unwrap(dtype), unwrap(layout)
        element = self.dtype if dtype is None else dtype
        extents = self.shape if unwrap(shape) is None else unwrap_shape(shape)
        ty = shared_memory_descriptor_type(element, extents, layout or self.layout, extents)
        if ty.numel * ty.element_ty.primitive_bitwidth > self.numel * self.dtype.primitive_bitwidth:
            raise SemanticError(
                f"{list(extents)} elements of {element} are larger than the buffer, of shape "
                f"{list(self.shape)} and type {self.dtype}"
            )
        return self._view("ttg.memdesc_reinterpret", None, ty)

    _reinterpret = reinterpret

    @builtin
    def _keep_alive(self) -> None:
        """The buffer lives until here."""
        current().create("ttg.local_dealloc", (self.handle,), None, ())


@builtin
def allocate_shared_memory(
    element_ty: Any, shape: Any, layout: Any, value: Any = None
) -> shared_memory_descriptor:
    """A buffer in shared memory, filled with `value` if that is given."""
    shape = unwrap_shape(shape)
    ty = shared_memory_descriptor_type(unwrap(element_ty), shape, layout, shape)
    _inference.linear_layout(ty.layout, shape[-ty.layout.rank :])  # Raises where it does not fit.
    value = unwrap(value)
    operands = []
    if value is not None:
        value = _check_block(value, "allocate_shared_memory")
        if value.shape != tuple(shape) or value.dtype != ty.element_ty:
            raise SemanticError(
                f"the buffer is {list(shape)} of {ty.element_ty}, but its contents are "
                f"{list(value.shape)} of {value.dtype}"
            )
        operands.append(value.handle)
    b = current()
    return shared_memory_descriptor(
        b.create_one("ttg.local_alloc", operands, None, (b.type(ty),)), ty
    )


# Threads.


@builtin
def barrier(*, cluster: bool = False) -> None:
    """All threads of the program (of the partition, in one) wait for each other; with `cluster`
    those of all blocks of the cluster."""
    b = current()
    if unwrap(cluster) and b.options.num_ctas > 1:
        b.create("ttnvgpu.cluster_barrier", (), {"relaxed": b.bool_attr(False)}, ())
        return
    b.create("gpu.barrier", (), None, ())


@builtin
def thread_barrier() -> None:
    """The older name of `barrier`."""
    barrier()


@builtin
def num_warps() -> int:
    """How many warps run this: those of the kernel, or of the partition."""
    return current().num_warps  # type: ignore[attr-defined]


@builtin
def num_ctas() -> int:
    """How many blocks run the kernel together."""
    return current().options.num_ctas


@builtin
def warp_specialize(
    functions_and_args: Any, worker_num_warps: Any, worker_num_regs: Any = None
) -> Any:
    """Runs several functions at once: the first on the warps of the kernel, each other one on
    warps of its own. Returns what the first one returns."""
    from ._partitions import specialize

    return specialize(
        current(), current_generator(), functions_and_args, worker_num_warps, worker_num_regs
    )


__all__ = [
    "GLUON_BUILTIN", "aggregate_replace", "allocate_shared_memory", "arange", "bank_conflicts",
    "barrier", "builtin", "constexpr", "convert_layout", "distributed_type", "dot_fma",
    "fp4_to_fp", "full", "histogram", "inline_asm", "load", "num_ctas", "num_warps",
    "set_auto_layout",
    "shared_memory_descriptor", "shared_memory_descriptor_type", "store", "thread_barrier",
    "to_linear_layout", "to_tensor", "warp_specialize",
]  # fmt: skip

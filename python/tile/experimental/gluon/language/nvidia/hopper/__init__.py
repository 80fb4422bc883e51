"""sm_90: bulk copies, barriers, clusters, and dots of warp groups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tile.errors import SemanticError
from tile.language.collective import _PRECISION
from tile.language.memory import choose
from tile.language.state import current
from tile.language.values import builtin, describe, tensor, unwrap

from ..._core import _check_block, _check_extents, refuse_unsigned, shared_memory_descriptor
from ..._layouts import DotOperandLayout, NVMMADistributedLayout
from ..ampere import CachePolicy, FractionalEvictionPolicy, async_copy, mma_v2
from ..ampere.mbarrier import check_barrier, predicate
from . import cluster, mbarrier, tma


@builtin
def fence_async_shared(cluster: bool = False) -> None:
    """Ordinary writes to shared memory before it come before asynchronous reads after it."""
    b = current()
    attributes = {"bCluster": b.bool_attr(bool(unwrap(cluster)))}
    b.create("ttnvgpu.fence_async_shared", (), attributes, ())


@builtin
def async_store(dst: Any, value: Any, mbarrier: Any) -> None:
    """Starts to write a tensor over a buffer, which may be in other blocks of the cluster. The
    bytes count towards the phase of the barrier in the block that they come to."""
    if not isinstance(dst, shared_memory_descriptor):
        raise SemanticError(f"async_store writes to shared memory, not to {describe(dst)}")
    value = _check_block(value, "async_store")
    dst._check_contents(value.type, "async_store")
    barrier = check_barrier(mbarrier, "async_store")
    handles = (dst.handle, value.handle, barrier.handle)
    current().create("ttnvgpu.async_shared_store", handles, None, ())


class warpgroup_mma_accumulator_type:
    """The structure of an accumulator in flight."""

    def __init__(self, ty: Any) -> None:
        self.ty = ty

    def flat_types(self, types: list[Any]) -> None:
        types.append(self.ty)

    def unflatten(self, handles: Iterator[Any]) -> warpgroup_mma_accumulator:
        return warpgroup_mma_accumulator(next(handles), self.ty)

    def awaits(self, ty: Any) -> bool:
        """Whether a tensor of the type may be an accumulator of this structure."""
        return bool(self.ty == ty)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, warpgroup_mma_accumulator_type) and self.ty == other.ty

    def __hash__(self) -> int:
        return hash(self.ty)

    def __str__(self) -> str:
        return f"warpgroup_mma_accumulator{self.ty}"


class warpgroup_mma_accumulator:
    """The sum of dots that may be unfinished: `warpgroup_mma_wait` gives the tensor."""

    def __init__(self, handle: Any, ty: Any) -> None:
        self.handle = handle
        self.tensor_type = ty

    def __tile_structure__(self) -> warpgroup_mma_accumulator_type:
        return warpgroup_mma_accumulator_type(self.tensor_type)

    def __tile_flatten__(self, handles: list[Any]) -> None:
        handles.append(self.handle)

    @property
    def type(self) -> warpgroup_mma_accumulator_type:
        return self.__tile_structure__()

    @property
    def shape(self) -> tuple[int, ...]:
        return self.tensor_type.shape


@builtin
def warpgroup_mma_init(value: Any) -> warpgroup_mma_accumulator:
    """A tensor as an accumulator, to which dots add while the program goes on."""
    value = _check_block(value, "warpgroup_mma_init")
    _check_accumulator(value.type.layout)
    return warpgroup_mma_accumulator(value.handle, value.type)


def _check_accumulator(layout: Any) -> None:
    if not isinstance(layout, NVMMADistributedLayout) or layout.version[0] != 3:
        raise SemanticError(
            "the accumulator of warpgroup_mma must be in NVMMADistributedLayout(version=[3, 0], "
            f"...), not in {layout!r}"
        )


def _operand(value: Any, index: int, layout: Any) -> Any:
    """The handle of an operand: a buffer, or for the first one a tensor as well."""
    if isinstance(value, shared_memory_descriptor):
        return value
    if index == 1 or not isinstance(value, tensor):
        raise SemanticError(
            f"operand {index} of warpgroup_mma is in shared memory"
            f"{'' if index else ', or a tensor'}, not {describe(value)}"
        )
    have = value.type.layout
    if not isinstance(have, DotOperandLayout) or have.operand_index or have.parent != layout:
        raise SemanticError(
            "a first operand in registers must be in DotOperandLayout(0, <the layout of acc>, "
            f"k_width), with acc in\n    {layout!r},\nbut it is in\n    {have!r}"
        )
    return value


@builtin
def warpgroup_mma(
    a: Any,
    b: Any,
    acc: Any,
    *,
    use_acc: Any = True,
    precision: Any = None,
    max_num_imprecise_acc: Any = None,
    is_async: bool = False,
) -> Any:
    """a * b + acc by a warp group. `is_async` returns an accumulator in flight: until
    `warpgroup_mma_wait`, operands in shared memory must not be written."""
    if isinstance(acc, warpgroup_mma_accumulator):
        ty, handle = acc.tensor_type, acc.handle
    else:
        acc = _check_block(acc, "warpgroup_mma")
        ty, handle = acc.type, acc.handle
    _check_accumulator(ty.layout)
    a, b = _operand(a, 0, ty.layout), _operand(b, 1, ty.layout)
    _check_extents(a.shape, b.shape, ty.shape, "warpgroup_mma")
    if a.dtype != b.dtype and not (a.dtype.is_fp8() and b.dtype.is_fp8()):
        raise SemanticError(
            f"warpgroup_mma takes operands of one type, not {a.dtype} and {b.dtype}"
        )
    refuse_unsigned(a, b, "warpgroup_mma")
    builder = current()
    imprecise = unwrap(max_num_imprecise_acc)
    if imprecise is None:
        imprecise = builder.options.max_num_imprecise_acc_default if a.dtype.is_fp8() else 0
    precision = unwrap(precision) or builder.options.default_dot_input_precision
    attributes = {
        "inputPrecision": builder.int_attr(32, choose(_PRECISION, precision, "precision")),
        "maxNumImpreciseAcc": builder.int_attr(32, imprecise),
        "isAsync": builder.bool_attr(bool(unwrap(is_async))),
    }
    operands = [a.handle, b.handle, handle, predicate(unwrap(use_acc)).handle]
    result = builder.create_one("ttnvgpu.warp_group_dot", operands, attributes, (builder.type(ty),))
    return warpgroup_mma_accumulator(result, ty) if unwrap(is_async) else tensor(result, ty)


@builtin
def warpgroup_mma_wait(num_outstanding: Any = 0, deps: Any = None) -> Any:
    """Waits until at most so many dots are unfinished. Returns `deps`: the tensors of
    accumulators, and buffers that may be written again."""
    count = unwrap(num_outstanding)
    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        raise SemanticError(
            f"warpgroup_mma_wait takes a constant number of products, not {describe(count)}"
        )
    deps = unwrap(deps)
    if deps is None:
        raise SemanticError(
            "warpgroup_mma_wait needs deps: the accumulators whose values are read after it"
        )
    deps = list(deps) if isinstance(deps, (tuple, list)) else [deps]
    b = current()
    attributes = {"pendings": b.int_attr(32, count)}
    handles = b.create(
        "ttnvgpu.warp_group_dot_wait", [d.handle for d in deps], attributes,
        [b.type(_type_of(d)) for d in deps],
    )  # fmt: skip
    results = [_waited(d, h) for d, h in zip(deps, handles, strict=True)]
    return results[0] if len(results) == 1 else tuple(results)


def _type_of(dep: Any) -> Any:
    return dep.tensor_type if isinstance(dep, warpgroup_mma_accumulator) else dep.type


def _waited(dep: Any, handle: Any) -> Any:
    if isinstance(dep, warpgroup_mma_accumulator):
        return tensor(handle, dep.tensor_type)
    if isinstance(dep, tensor):
        return tensor(handle, dep.type)
    return shared_memory_descriptor(handle, dep.type)


__all__ = [
    "CachePolicy", "FractionalEvictionPolicy", "async_copy", "async_store", "cluster",
    "fence_async_shared", "mbarrier", "mma_v2", "tma", "warpgroup_mma", "warpgroup_mma_accumulator",
    "warpgroup_mma_accumulator_type", "warpgroup_mma_init", "warpgroup_mma_wait",
]  # fmt: skip

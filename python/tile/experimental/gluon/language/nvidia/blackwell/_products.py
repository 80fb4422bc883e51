"""Dots of the tensor cores of sm_100, and copies that are ordered with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tile.errors import SemanticError
from tile.language.collective import _SCALED_FORMATS
from tile.language.shared_memory import TOKEN
from tile.language.state import current
from tile.language.values import builtin, describe, unwrap
from tile.runtime.jit import constexpr_function

from ..._core import shared_memory_descriptor
from ..ampere.mbarrier import check_barrier, is_always, predicate
from ._layouts import TensorMemoryLayout, TensorMemoryScalesLayout
from ._memory import tensor_memory_descriptor


def _buffer(value: Any, what: str, kinds: tuple) -> Any:
    if not isinstance(value, kinds):
        places = " or ".join(
            "tensor memory" if kind is tensor_memory_descriptor else "shared memory"
            for kind in kinds
        )
        raise SemanticError(f"{what} is in {places}, not {describe(value)}")
    return value


def _accumulator(value: Any, what: str) -> tensor_memory_descriptor:
    acc = _buffer(value, f"the accumulator of {what}", (tensor_memory_descriptor,))
    if not isinstance(acc.layout, TensorMemoryLayout):
        raise SemanticError(f"the accumulator of {what} is no buffer of scales")
    return acc


#: The formats that lie in memory as this language has it: 6-bit elements would have to be packed.
_FORMATS = ("e2m1", "e4m3", "e5m2")


def _format(value: Any, what: str) -> str:
    name = unwrap(value)
    if name in ("e2m3", "e3m2"):
        raise SemanticError(
            f"{what} takes no 6-bit elements ({name}): no layout packs them as the tensor core "
            "wants them"
        )
    if name not in _FORMATS:
        raise SemanticError(f"a format of {what} is {', '.join(_FORMATS)}, not {name!r}")
    return name


def _condition(value: Any) -> Any:
    return predicate(value).handle


class _Arrivals:
    """The barriers that hear of the end of a dot, each under its condition."""

    def __init__(self, mbarriers: Any, preds: Any, what: str) -> None:
        bars = unwrap(mbarriers)
        bars = [] if bars is None else list(bars)
        conditions = unwrap(preds)
        conditions = [True] * len(bars) if conditions is None else list(conditions)
        if len(bars) != len(conditions):
            raise SemanticError(
                f"{what} got {len(bars)} mbarriers and {len(conditions)} mbarrier_preds"
            )
        self.bars = [check_barrier(bar, what).handle for bar in bars]
        self.conditions = [_condition(c) for c in conditions]


def _attributes(acc: tensor_memory_descriptor, arrivals: _Arrivals, multicast: Any) -> dict:
    b = current()
    attributes: dict[str, Any] = {}
    if arrivals.bars:
        attributes["is_async"] = b.unit_attr()
    if acc.layout.two_ctas:
        attributes["two_ctas"] = b.unit_attr()
    if unwrap(multicast):
        attributes["multicast"] = b.unit_attr()
    return attributes


def _attributes_of_signs(a: Any, b: Any) -> dict:
    """Which operands are bytes without a sign: the types of the IR do not tell."""
    which = tuple(x.dtype.name == "uint8" for x in (a, b))
    if not any(which):
        return {}
    names = {(True, True): "is_unsigned", (True, False): "a_is_unsigned"}
    return {names.get(which, "b_is_unsigned"): current().unit_attr()}


@builtin
def tcgen05_mma(
    a: Any,
    b: Any,
    acc: Any,
    *,
    use_acc: Any = True,
    pred: Any = True,
    multicast: bool = False,
    mbarriers: Any = None,
    mbarrier_preds: Any = None,
) -> None:
    """Starts a * b + acc. With `mbarriers` the program goes on, and they hear of the end."""
    a = _buffer(a, "operand 0 of tcgen05_mma", (shared_memory_descriptor, tensor_memory_descriptor))
    b = _buffer(b, "operand 1 of tcgen05_mma", (shared_memory_descriptor,))
    acc = _accumulator(acc, "tcgen05_mma")
    use, when = _condition(use_acc), _condition(pred)
    arrivals = _Arrivals(mbarriers, mbarrier_preds, "tcgen05_mma")
    builder = current()
    count = len(arrivals.bars)
    attributes = _attributes(acc, arrivals, multicast)
    attributes |= _attributes_of_signs(a, b)
    attributes["operandSegmentSizes"] = builder.i32_array_attr([1, 1, 1, 0, 1, 1, count, count])
    handles = [a.handle, b.handle, acc.handle, use, when, *arrivals.bars, *arrivals.conditions]
    builder.create("ttnvgpu.tc_gen5_mma", handles, attributes, (builder.type(TOKEN),))


@builtin
def tcgen05_mma_scaled(
    a: Any,
    b: Any,
    acc: Any,
    a_scale: Any,
    b_scale: Any,
    a_type: Any,
    b_type: Any,
    *,
    use_acc: Any = True,
    pred: Any = True,
    multicast: bool = False,
    mbarriers: Any = None,
    mbarrier_preds: Any = None,
) -> None:
    """As `tcgen05_mma`, with a scale for each group of elements along K."""
    what = "tcgen05_mma_scaled"
    a = _buffer(a, f"operand 0 of {what}", (shared_memory_descriptor, tensor_memory_descriptor))
    b = _buffer(b, f"operand 1 of {what}", (shared_memory_descriptor,))
    acc = _accumulator(acc, what)
    scales = [
        _buffer(s, f"a scale of {what}", (tensor_memory_descriptor,)) for s in (a_scale, b_scale)
    ]
    for scale in scales:
        if not isinstance(scale.layout, TensorMemoryScalesLayout):
            raise SemanticError(f"scales of {what} have a TensorMemoryScalesLayout")
    formats = [_SCALED_FORMATS[_format(f, what)] for f in (a_type, b_type)]
    use, when = _condition(use_acc), _condition(pred)
    arrivals = _Arrivals(mbarriers, mbarrier_preds, what)
    builder = current()
    count = len(arrivals.bars)
    attributes = _attributes(acc, arrivals, multicast)
    attributes["a_type"], attributes["b_type"] = (builder.int_attr(32, f) for f in formats)
    attributes["operandSegmentSizes"] = builder.i32_array_attr(
        [1, 1, 1, 0, 1, 1, 1, 1, count, count]
    )
    handles = [
        a.handle, b.handle, acc.handle, *(s.handle for s in scales), use, when, *arrivals.bars,
        *arrivals.conditions,
    ]  # fmt: skip
    builder.create("ttnvgpu.tc_gen5_mma_scaled", handles, attributes, (builder.type(TOKEN),))


@builtin
def tcgen05_commit(barrier: Any, pred: Any = True, descs: Any = ()) -> None:
    """`barrier` hears of the end of all dots and copies that were started so far. So do those of
    all blocks that share one of the operands `descs` with this block."""
    bar = check_barrier(barrier, "tcgen05_commit")
    operands = [
        _buffer(desc, "an operand of tcgen05_commit", (shared_memory_descriptor,)).handle
        for desc in unwrap(descs)
    ]
    conditions = [] if is_always(pred) else [_condition(pred)]
    b = current()
    sizes = b.i32_array_attr([1, len(conditions), len(operands)])
    handles = [bar.handle, *conditions, *operands]
    b.create("ttnvgpu.tc_gen5_commit", handles, {"operandSegmentSizes": sizes}, ())


@builtin
def tcgen05_copy(src: Any, dst: Any) -> None:
    """Starts to copy shared memory to tensor memory, in order with dots."""
    source = _buffer(src, "what tcgen05_copy reads", (shared_memory_descriptor,))
    target = _buffer(dst, "what tcgen05_copy writes", (tensor_memory_descriptor,))
    current().create("ttnvgpu.tmem_copy", (source.handle, target.handle), None, ())


@constexpr_function
def tcgen05_mma_barrier_count(smems: Sequence[Any], multicast: bool, two_ctas: bool) -> int:
    """How many arrivals a barrier of a dot with these operands counts in each phase."""
    if not unwrap(multicast):
        return 1
    # Blocks that share an operand all hear of each other's dots, once each. Those of the first
    # block differ in bits that make no difference to the operand. A pair counts as one.
    hearers = {0}
    for smem in unwrap(smems):
        blocks = {0}
        for bit, basis in enumerate(unwrap(smem).layout.cga_layout):
            if not any(basis) and not (unwrap(two_ctas) and bit == 0):
                blocks |= {block | 1 << bit for block in blocks}
        hearers |= blocks
    return len(hearers)


__all__ = [
    "tcgen05_commit", "tcgen05_copy", "tcgen05_mma", "tcgen05_mma_barrier_count",
    "tcgen05_mma_scaled",
]  # fmt: skip

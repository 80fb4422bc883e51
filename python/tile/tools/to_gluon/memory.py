"""Global and shared memory, copies and waits, and what programs know of themselves."""

from __future__ import annotations

import json
from typing import Any

from .values import UntranslatedError, element_name
from .writer import Writer, operation

_CACHE = {2: ".ca", 3: ".cg", 4: ".wb", 5: ".cs", 6: ".wt", 7: ".cv"}
_EVICT = {2: "evict_first", 3: "evict_last"}


def _hints(w: Writer, op: Any) -> str:
    """The arguments that say how caches treat an access."""
    cache = _CACHE.get(w.integer(op, "cache", 1))
    evict = _EVICT.get(w.integer(op, "evict", 1))
    text = f', cache_modifier="{cache}"' if cache else ""
    text += f', eviction_policy="{evict}"' if evict else ""
    return text + (", volatile=True" if w.integer(op, "isVolatile") else "")


@operation("tt.load")
def _load(w: Writer, op: Any) -> str:
    pointer, *others = op.operands
    given = list(w.integers(op, "operandSegmentSizes"))
    names = [n for n, count in zip(("mask", "other"), given[1:], strict=False) if count]
    masks = "".join(f", {n}={w.typed(v)}" for n, v in zip(names, others, strict=True))
    return f"gl.load({w.get(pointer)}{masks}{_hints(w, op)})"


@operation("tt.store")
def _store(w: Writer, op: Any) -> str:
    pointer, value, *mask = op.operands
    masks = "".join(f", mask={w.typed(v)}" for v in mask)
    return f"gl.store({w.get(pointer)}, {w.typed(value)}{masks}{_hints(w, op)})"


_RMW = {
    1: "and", 2: "or", 3: "xor", 4: "add", 5: "add", 6: "max", 7: "min", 8: "max", 9: "min",
    10: "xchg",
}  # fmt: skip
_SEMANTICS = {1: "relaxed", 2: "acquire", 3: "release", 4: "acq_rel"}
_SCOPES = {1: "gpu", 2: "cta", 3: "sys"}


def _order(w: Writer, op: Any) -> str:
    sem, scope = _SEMANTICS[w.integer(op, "sem")], _SCOPES[w.integer(op, "scope")]
    return f', sem="{sem}", scope="{scope}"'


@operation("tt.atomic_rmw")
def _atomic(w: Writer, op: Any) -> str:
    kind = w.integer(op, "atomic_rmw_op")
    pointer, value, *mask = op.operands
    ty = w.type(value)
    if kind in (6, 7) and not ty.is_integer:
        raise UntranslatedError("an atomic operation that the language has no name for")
    masks = "".join(f", mask={w.typed(v)}" for v in mask)
    address, operand = w.get(pointer), w.typed(value)
    if kind in (8, 9):
        unsigned = f"gl.uint{ty.width}"
        address = f"{address}.to(gl.pointer_type({unsigned}), bitcast=True)"
        operand = f"{operand}.to({unsigned})"
    text = f"gl.atomic_{_RMW[kind]}({address}, {operand}{masks}{_order(w, op)})"
    return f"{text}.to({element_name(ty.element)})" if kind in (8, 9) else text


@operation("tt.atomic_cas")
def _swap(w: Writer, op: Any) -> str:
    pointer, compare, value = (w.typed(v) for v in op.operands)
    return f"gl.atomic_cas({pointer}, {compare}, {value}{_order(w, op)})"


# What programs know of themselves.


@operation("tt.get_program_id")
def _program(w: Writer, op: Any) -> str:
    return f"gl.program_id({w.integer(op, 'axis')})"


@operation("tt.get_num_programs")
def _programs(w: Writer, op: Any) -> str:
    return f"gl.num_programs({w.integer(op, 'axis')})"


@operation("llvm.intr.assume")
def _assume(w: Writer, op: Any) -> str:
    return f"gl.assume({w.get(op.operands[0])})"


@operation("tt.assert")
def _assert(w: Writer, op: Any) -> str:
    return f"gl.device_assert({w.get(op.operands[0])}, {w.attribute(op, 'message')})"


@operation("gpu.barrier", "ttg.barrier")
def _barrier(w: Writer, op: Any) -> str:
    return "gl.barrier()"


@operation("tt.elementwise_inline_asm")
def _assembly(w: Writer, op: Any) -> str:
    types = [element_name(w.type(r).element) for r in op.results]
    arguments = "".join(f"{w.typed(v)}, " for v in op.operands)
    pure, pack = bool(w.integer(op, "pure")), w.integer(op, "packed_element")
    result = f"({', '.join(types)},)" if len(types) > 1 else types[0]
    asm, constraints = (
        json.dumps(json.loads(w.attribute(op, name).replace("\\0A", "\\n").replace("\\09", "\\t")))
        for name in ("asm_string", "constraints")
    )
    return (
        f"gl.inline_asm_elementwise({asm}, {constraints}, ({arguments}), {result}, {pure}, {pack})"
    )


# Shared memory.


@operation("ttg.local_alloc")
def _alloc(w: Writer, op: Any) -> str:
    ty = w.type(op.results[0])
    value = "".join(f", {w.get(v)}" for v in op.operands)
    name = element_name(ty.element)
    layout = w.buffer_layout(ty)
    return f"gl.allocate_shared_memory({name}, {list(ty.shape or ())}, {layout}{value})"


@operation("ttg.local_dealloc")
def _dealloc(w: Writer, op: Any) -> str:
    return f"{w.get(op.operands[0])}._keep_alive()"


@operation("ttg.local_load")
def _local_load(w: Writer, op: Any) -> str:
    return f"{w.get(op.operands[0])}.load({w.layout(w.type(op.results[0]))})"


@operation("ttg.local_store")
def _local_store(w: Writer, op: Any) -> str:
    value, buffer = (w.get(v) for v in op.operands)
    return f"{buffer}.store({value})"


@operation("ttg.memdesc_index")
def _index(w: Writer, op: Any) -> str:
    buffer, index = (w.get(v) for v in op.operands)
    return f"{buffer}.index({index})"


@operation("ttg.memdesc_trans")
def _trans(w: Writer, op: Any) -> str:
    return f"{w.get(op.operands[0])}.permute({w.integers(op, 'order')})"


@operation("ttg.memdesc_reshape")
def _reshape(w: Writer, op: Any) -> str:
    return f"{w.get(op.operands[0])}.reshape({list(w.type(op.results[0]).shape or ())})"


@operation("ttg.memdesc_subslice")
def _slice(w: Writer, op: Any) -> str:
    text, source = w.get(op.operands[0]), w.type(op.operands[0])
    extents = w.type(op.results[0]).shape or ()
    for d, (start, extent) in enumerate(zip(w.integers(op, "offsets"), extents, strict=True)):
        if extent != (source.shape or ())[d]:
            text += f".slice({start}, {extent}, {d})"
    return text


# Copies of threads. Their tokens say what the order of the program says as well.


def _without_result(w: Writer, op: Any, text: str) -> None:
    for result in op.results:
        w.bind(result, "None")
    w.put(text)


@operation("ttg.async_copy_global_to_local")
def _copy(w: Writer, op: Any) -> None:
    w.program.imports.add("ampere")
    pointer, buffer, *masks = op.operands
    given = w.integers(op, "operandSegmentSizes")
    if len(given) > 3 and given[3]:
        raise UntranslatedError("a copy whose masked-off elements are not zero")
    mask = "".join(f", mask={w.typed(v)}" for v in masks)
    _without_result(
        w, op,
        f"ampere.async_copy.async_load({w.get(buffer)}, {w.get(pointer)}{mask}{_hints(w, op)})",
    )  # fmt: skip


@operation("ttg.async_commit_group")
def _commit(w: Writer, op: Any) -> None:
    w.program.imports.add("ampere")
    _without_result(w, op, "ampere.async_copy.commit_group()")


@operation("ttg.async_wait")
def _wait(w: Writer, op: Any) -> None:
    w.program.imports.add("ampere")
    _without_result(w, op, f"ampere.async_copy.wait_group({w.integer(op, 'num')})")


# Dots of warp groups.


@operation("ttnvgpu.warp_group_dot")
def _warp_group(w: Writer, op: Any) -> str:
    w.program.imports.add("hopper")
    a, b, acc, *use = op.operands
    more = f", use_acc={w.get(use[0])}" if use else ""
    imprecise = w.integer(op, "maxNumImpreciseAcc")
    more += f", max_num_imprecise_acc={imprecise}" if imprecise else ""
    precision = {0: "tf32", 2: "ieee"}.get(w.integer(op, "inputPrecision"), "tf32")
    more += f', precision="{precision}"'
    more += ", is_async=True" if w.integer(op, "isAsync") else ""
    return f"hopper.warpgroup_mma({w.get(a)}, {w.get(b)}, {w.get(acc)}{more})"


@operation("ttnvgpu.warp_group_dot_wait")
def _warp_group_wait(w: Writer, op: Any) -> str:
    deps = ", ".join(w.get(v) for v in op.operands)
    return f"hopper.warpgroup_mma_wait({w.integer(op, 'pendings')}, deps=({deps},))"


@operation("ttnvgpu.fence_async_shared")
def _fence(w: Writer, op: Any) -> str:
    w.program.imports.add("hopper")
    return f"hopper.fence_async_shared({bool(w.integer(op, 'bCluster'))})"


# Barriers in shared memory.


def _pred(w: Writer, values: Any) -> str:
    return "".join(f", pred={w.get(v)}" for v in values)


@operation("ttnvgpu.init_barrier")
def _init(w: Writer, op: Any) -> str:
    w.program.imports.add("hopper")
    return f"hopper.mbarrier.init({w.get(op.operands[0])}, count={w.integer(op, 'count')})"


@operation("ttnvgpu.inval_barrier")
def _invalidate(w: Writer, op: Any) -> str:
    w.program.imports.add("hopper")
    return f"hopper.mbarrier.invalidate({w.get(op.operands[0])})"


@operation("ttnvgpu.arrive_barrier")
def _arrive(w: Writer, op: Any) -> str:
    w.program.imports.add("hopper")
    barrier, *pred = op.operands
    count = w.integer(op, "count")
    return f"hopper.mbarrier.arrive({w.get(barrier)}, count={count}{_pred(w, pred)})"


@operation("ttnvgpu.wait_barrier")
def _wait_at(w: Writer, op: Any) -> str:
    w.program.imports.add("hopper")
    barrier, phase, *rest = op.operands
    has_pred = w.integers(op, "operandSegmentSizes")[2]
    deps = "".join(f"{w.get(v)}, " for v in rest[has_pred:])
    more = f", deps=({deps})" if deps else ""
    return (
        f"hopper.mbarrier.wait({w.get(barrier)}, {w.typed(phase)}{_pred(w, rest[:has_pred])}{more})"
    )

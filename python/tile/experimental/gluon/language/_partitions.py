"""`warp_specialize`: functions that run at once, each on warps of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tile.compiler.flatten import flat_types, flatten, structure, unflatten
from tile.errors import SemanticError
from tile.language.values import describe, unwrap


def _integers(values: Any, what: str, count: int) -> list[int]:
    values = [unwrap(v) for v in unwrap(values)]
    if len(values) != count or any(isinstance(v, bool) or not isinstance(v, int) for v in values):
        raise SemanticError(
            f"{what} has an integer for each of the {count} partitions beside the first, not "
            f"{values}"
        )
    return values


def _pairs(functions_and_args: Any) -> list[tuple[Any, list[Any]]]:
    pairs = []
    for pair in functions_and_args:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise SemanticError("warp_specialize takes pairs: a function, and its arguments")
        function, arguments = pair
        if not getattr(function, "__tile_jit__", False):
            raise SemanticError(
                f"a partition is a function decorated with @gluon.jit, not {describe(function)}"
            )
        if not isinstance(arguments, (tuple, list)):
            raise SemanticError(
                f"the arguments of `{function.__name__}` are a tuple, not {describe(arguments)}"
            )
        pairs.append((function, list(arguments)))
    if not pairs:
        raise SemanticError("warp_specialize needs at least the function of the first partition")
    return pairs


def specialize(
    builder: Any, generator: Any, functions_and_args: Any, worker_num_warps: Any, registers: Any
) -> Any:
    """Generates the partitions; returns what the first one returns."""
    (default, default_arguments), *workers = _pairs(functions_and_args)
    warps = _integers(worker_num_warps, "worker_num_warps", len(workers))
    for count in warps:
        if count < 1 or count & (count - 1):
            raise SemanticError(f"a partition has a power of two of warps, not {count}")
    attributes = {"partitionNumWarps": builder.i32_array_attr(warps)}
    if unwrap(registers) is not None:
        wanted = _integers(registers, "worker_num_regs", len(workers))
        attributes["requestedRegisters"] = builder.i32_array_attr(wanted)
    if builder.eager:
        return builder.run_partitions(default, default_arguments, workers, warps)

    saved, loc = builder.insertion_point, builder.loc
    captures: list[Any] = []
    places: list[tuple[int, Any]] = []
    for _, arguments in workers:
        places.append((len(captures), structure(tuple(arguments))))
        flatten(tuple(arguments), captures)
    capture_types: list[Any] = []
    for _, shape in places:
        flat_types(shape, capture_types)

    first = builder.region()
    builder.insert_at_end(first.blocks[0])
    value = generator.call_function(default, default_arguments, {})
    results: list[Any] = []
    flatten(value, results)
    builder.loc = loc
    builder.create("ttg.warp_yield", results, None, ())
    shape = structure(value)
    result_types: list[Any] = []
    flat_types(shape, result_types)

    regions = [
        _worker(builder, generator, function, place, count, capture_types)
        for (function, _), place, count in zip(workers, places, warps, strict=True)
    ]
    holder = builder.region()
    builder.insert_at_end(holder.blocks[0])
    builder.loc = loc
    builder.create("ttg.warp_specialize.partitions", (), None, (), regions)

    builder.insertion_point = saved
    handles = builder.create(
        "ttg.warp_specialize",
        captures,
        attributes,
        [builder.type(t) for t in result_types],
        (first, holder),
    )
    return unflatten(shape, iter(handles))


def _worker(
    builder: Any,
    generator: Any,
    function: Any,
    place: tuple[int, Any],
    num_warps: int,
    capture_types: Sequence[Any],
) -> Any:
    """A partition: it sees what was passed to it as arguments of its own."""
    begin, shape = place
    region = builder.region([builder.type(t) for t in capture_types])
    block = region.blocks[0]
    builder.insert_at_end(block)
    arguments = unflatten(shape, iter(list(block.arguments)[begin:]))
    with builder.partition(num_warps):
        value = generator.call_function(function, list(arguments), {})
    if value is not None:
        raise SemanticError(
            f"`{function.__name__}` returns a value, but only the first partition can; store it"
        )
    builder.create("ttg.warp_return", (), None, ())
    return region

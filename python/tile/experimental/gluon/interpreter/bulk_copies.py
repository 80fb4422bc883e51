"""Asynchronous copies that arrive at barriers, and bulk copies."""

from __future__ import annotations

from typing import Any

import numpy as np

from tile.interpreter.access import as_unsigned, atomically
from tile.interpreter.blocks import _REDUCE, write_masked
from tile.interpreter.numbers import scalar_of
from tile.interpreter.registry import operation

from .barriers import barrier_of


@operation("ttnvgpu.async_copy_mbarrier_arrive")
def _arrive(b: Any, operands: Any, attributes: Any, types: Any) -> None:
    """Threads arrive when their copies are done; those that were counted before arrive in vain."""
    if b.phantom:
        return
    barrier = barrier_of(operands[0])
    b.copies.commit()
    copies = [copy for group in b.copies.groups for copy in group]
    threads = b.num_warps * b.options.warp_size if (attributes or {}).get("noIncrement") else 0
    barrier.expect_copies(copies, threads)


# Bulk copies.


@operation("ttnvgpu.async_tma_copy_global_to_local")
def _bulk_load(b: Any, operands: Any, attributes: Any, types: Any) -> None:
    desc, *places, bar, buffer, pred = operands
    if b.phantom or not pred:
        return
    _, rank, moves, *_ = attributes["operandSegmentSizes"]
    addresses, mask = desc.pixels(places[:rank], places[rank:]) if moves else desc.at(places)
    value = desc.read(b, addresses, mask, "load of a descriptor")
    barrier_of(bar).add_copy(
        lambda: buffer.store(value.reshape(buffer.places.shape)), buffer.nbytes
    )


@operation("ttnvgpu.async_tma_copy_local_to_global")
def _bulk_store(b: Any, operands: Any, attributes: Any, types: Any) -> None:
    desc, *coordinates, buffer = operands
    if b.phantom:
        return
    addresses, mask = desc.at(coordinates)
    b.copies.stores.append(
        lambda: write_masked(b, addresses, mask, buffer.load(), "store to a descriptor")
    )


@operation("ttnvgpu.async_tma_reduce")
def _bulk_reduce(b: Any, operands: Any, attributes: Any, types: Any) -> None:
    desc, *coordinates, buffer = operands
    if b.phantom:
        return
    addresses, mask = desc.at(coordinates)
    combine = _REDUCE[attributes["kind"]]
    if desc.unsigned:
        combine = as_unsigned(combine)

    def reduce() -> None:
        values = buffer.load()[mask]
        if values.size:
            atomically(
                b, np.broadcast_to(addresses, mask.shape)[mask], values,
                "atomic operation of a descriptor",
                lambda found, turn: combine(found, values[turn]), mask,
            )  # fmt: skip

    b.copies.stores.append(reduce)


@operation("ttnvgpu.async_tma_gather")
def _bulk_gather(b: Any, operands: Any, attributes: Any, types: Any) -> None:
    desc, rows, column, bar, buffer, pred = operands
    if b.phantom or not pred:
        return
    addresses, mask = desc.rows(rows, scalar_of(column))
    value = desc.read(b, addresses, mask, "gather of a descriptor")
    barrier_of(bar).add_copy(lambda: buffer.store(value), buffer.nbytes)


@operation("ttnvgpu.async_tma_scatter")
def _bulk_scatter(b: Any, operands: Any, attributes: Any, types: Any) -> None:
    desc, rows, column, buffer = operands
    if b.phantom:
        return
    addresses, mask = desc.rows(rows, scalar_of(column))
    b.copies.stores.append(
        lambda: write_masked(b, addresses, mask, buffer.load(), "scatter of a descriptor")
    )


@operation("ttnvgpu.async_tma_store_wait")
def _store_wait(b: Any, operands: Any, attributes: Any, types: Any) -> None:
    if not b.phantom:
        b.copies.wait_for_stores(attributes["pendings"])

"""Asynchronous copies: they happen when the program waits for them.

Each partition has copies of its own: groups of those of its threads, and of bulk stores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tile.interpreter.access import as_unsigned, atomically
from tile.interpreter.blocks import _REDUCE, read_masked, write_masked
from tile.interpreter.registry import operation

from .barriers import barrier_of


class Copies:
    """What one partition has started."""

    def __init__(self) -> None:
        self.open: list[Callable[[], None]] = []
        self.groups: list[list[Callable[[], None]]] = []
        self.stores: list[Callable[[], None]] = []

    def commit(self) -> None:
        self.groups.append(self.open)
        self.open = []

    def wait(self, count: int) -> None:
        """Until at most so many groups are unfinished."""
        done = self.groups[: max(0, len(self.groups) - count)]
        self.groups = self.groups[len(done) :]
        for group in done:
            for copy in group:
                copy()

    def wait_for_stores(self, count: int) -> None:
        done = self.stores[: max(0, len(self.stores) - count)]
        self.stores = self.stores[len(done) :]
        for store in done:
            store()

    def finish(self) -> None:
        """Does all, as the end of a program does."""
        self.commit()
        self.wait(0)
        self.wait_for_stores(0)


def read(b: Any, addresses: np.ndarray, element: np.dtype, masks: Any) -> np.ndarray:
    """The elements at the addresses; where the mask does not hold, other ones or zeros."""
    if not masks:
        return b.memory.read(addresses, element)
    mask = np.broadcast_to(masks[0], addresses.shape)
    result = np.zeros(addresses.shape, element)
    if len(masks) > 1:
        result[...] = masks[1]
    if mask.any():
        result[mask] = b.memory.read(addresses[mask], element, mask=mask)
    return result


@operation("ttg.async_copy_global_to_local")
def _copy(b: Any, operands: Any, attributes: Any, types: Any) -> None:
    pointers, buffer, *masks = operands
    start(b, pointers, buffer, masks)


def start(b: Any, addresses: np.ndarray, buffer: Any, masks: Any) -> None:
    if not b.phantom:
        # Addresses are checked here, where the program has them; data comes later.
        value = read(b, addresses, buffer.element, masks)
        b.copies.open.append(lambda: buffer.store(value))


@operation("ttg.async_commit_group")
def _commit(b: Any, operands: Any, attributes: Any, types: Any) -> None:
    if not b.phantom:
        b.copies.commit()


@operation("ttg.async_wait")
def _wait(b: Any, operands: Any, attributes: Any, types: Any) -> None:
    if not b.phantom:
        b.copies.wait(attributes["num"])


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
    desc, *coordinates, bar, buffer, pred = operands
    if b.phantom or not pred:
        return
    addresses, mask = desc.at(coordinates)
    value = read_masked(b, addresses, mask, desc.element, desc.fill, "load of a descriptor")
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


@operation("ttnvgpu.async_tma_store_wait")
def _store_wait(b: Any, operands: Any, attributes: Any, types: Any) -> None:
    if not b.phantom:
        b.copies.wait_for_stores(attributes["pendings"])

"""Asynchronous copies: they happen when the program waits for them.

Each partition has copies of its own: groups of those of its threads, and of bulk stores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .registry import operation


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

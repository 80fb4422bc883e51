"""A set that remembers the order in which its items came."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableSet
from typing import TypeVar

T = TypeVar("T")


class ordered_set(MutableSet[T]):
    """Items by the order of their first addition."""

    def __init__(self, items: Iterable[T] = ()) -> None:
        self._items: dict[T, None] = dict.fromkeys(items)

    def __contains__(self, item: object) -> bool:
        return item in self._items

    def __iter__(self) -> Iterator[T]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def add(self, value: T) -> None:
        self._items.setdefault(value)

    def discard(self, value: T) -> None:
        self._items.pop(value, None)

    def update(self, *others: Iterable[T]) -> None:
        for items in others:
            self._items.update(dict.fromkeys(items))

    def __repr__(self) -> str:
        return f"ordered_set({list(self._items)!r})"

"""Memory: the arguments' arrays, at addresses far apart from one another.

Each array has a range of addresses of its own with nothing near it, so that
an access that leaves its array is found, however far it goes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import hints
from ..errors import InterpreterError

_SPACING = 40
#: Addresses of the first array; those of the host's own memory are below.
_FIRST = 1 << 52
_PAGE = (1 << 12) - 1
_SHIFT = {1: 0, 2: 1, 4: 2, 8: 3}


class _Raw:
    """Bytes at an address, for NumPy to look at."""

    def __init__(self, address: int, size: int, writable: bool) -> None:
        self.__array_interface__ = {
            "data": (address, not writable), "shape": (size,), "typestr": "|u1", "version": 3
        }  # fmt: skip


class Argument:
    """An array as the caller passed it: where it is, and what it is called."""

    __slots__ = ("address", "allocation", "dtype", "keep", "name", "shape", "size", "writable")

    def __init__(
        self, name: str, address: int, size: int, shape: Any, dtype: str, writable: bool, keep: Any
    ) -> None:
        self.name = name
        self.address = address
        self.size = size
        self.shape = tuple(shape)
        self.dtype = dtype
        self.writable = writable
        self.keep = keep
        self.allocation: Any = None


class Allocation:
    """A range of addresses: one argument, or several that share memory."""

    def __init__(self, index: int, arguments: list[Argument]) -> None:
        self.arguments = arguments
        self.host = min(a.address for a in arguments)
        self.size = max(a.address + a.size for a in arguments) - self.host
        # Aligned as the array itself is.
        self.start = _FIRST + (index << _SPACING) + (self.host & _PAGE)
        self.end = self.start + self.size
        self.writable = all(a.writable for a in arguments)
        self.bytes = np.asarray(_Raw(self.host, self.size, self.writable))
        self.views: dict[Any, np.ndarray] = {}

    def view(self, element: np.dtype) -> np.ndarray:
        """The whole range, as elements of a type."""
        found = self.views.get(element)
        if found is None:
            size = element.itemsize
            found = self.views[element] = self.bytes[: self.size // size * size].view(element)
        return found


class Memory:
    """All that a launch may access."""

    def __init__(self, arguments: list[Argument]) -> None:
        self.allocations: list[Allocation] = []
        #: Counts the writes that may have changed something.
        self.changes = 0
        group: list[Argument] = []
        end = -1
        for argument in sorted(arguments, key=lambda a: a.address):
            if group and argument.address >= end:
                self._add(group)
                group = []
            group.append(argument)
            end = max(end, argument.address + argument.size)
        if group:
            self._add(group)

    def _add(self, group: list[Argument]) -> None:
        allocation = Allocation(len(self.allocations), group)
        self.allocations.append(allocation)
        for argument in group:
            argument.allocation = allocation

    def find(self, address: int) -> tuple[Allocation, int] | None:
        """The array that an address is in, or nearest to, and where it starts:
        at its own address, or at the host's, which tables of pointers hold."""
        index = (address - _FIRST + (1 << (_SPACING - 1))) >> _SPACING
        if 0 <= index < len(self.allocations):
            return self.allocations[index], self.allocations[index].start
        for allocation in self.allocations:
            if allocation.host <= address < allocation.host + allocation.size:
                return allocation, allocation.host
        return None

    def resolve(
        self, addresses: np.ndarray, element: np.dtype, what: str, mask: Any
    ) -> tuple[Allocation, np.ndarray] | None:
        """The array that all addresses are in, and the elements' indices in it.

        None if they are in several arrays. Raises if any is in none.
        """
        size = element.itemsize
        if addresses.ndim == 0:
            low = high = int(addresses)
        else:
            low, high = int(addresses.min()), int(addresses.max())
        found = self.find(low)
        if found is None or low < found[1] or high + size > found[1] + found[0].size:
            self.check_each(addresses, size, what, mask)
            return None
        allocation, start = found
        if size > 1 and ((addresses & (size - 1)) != 0).any():
            raise self.misaligned(addresses, size, what)
        if start & (size - 1):
            return None  # Elements of another argument's alignment.
        offsets = addresses - start
        return allocation, offsets >> _SHIFT[size] if size > 1 else offsets

    def inside(self, address: int, size: int) -> bool:
        found = self.find(address)
        return found is not None and found[1] <= address <= found[1] + found[0].size - size

    def check_each(self, addresses: np.ndarray, size: int, what: str, mask: Any) -> None:
        """Raises unless every address is in some array and aligned."""
        if not all(self.inside(a, size) for a in addresses.reshape(-1).tolist()):
            raise self.outside(addresses, size, what, mask)
        if ((addresses & (size - 1)) != 0).any():
            raise self.misaligned(addresses, size, what)

    def _at(self, address: int, size: int) -> np.ndarray:
        found = self.find(address)
        assert found is not None, "checked before"
        offset = address - found[1]
        return found[0].bytes[offset : offset + size]

    # Access.

    # Where there is a `mask`, the addresses are those of the elements it has.

    def read(
        self, addresses: np.ndarray, element: np.dtype, what: str = "load", mask: Any = None
    ) -> np.ndarray:
        if addresses.size == 0:
            return np.empty(addresses.shape, element)
        found = self.resolve(addresses, element, what, mask)
        if found is not None:
            allocation, indices = found
            return allocation.view(element)[indices]
        size = element.itemsize
        raw = [self._at(a, size).tobytes() for a in addresses.reshape(-1).tolist()]
        return np.frombuffer(b"".join(raw), element).reshape(addresses.shape).copy()

    def write(
        self, addresses: np.ndarray, values: np.ndarray, what: str = "store", mask: Any = None
    ) -> None:
        if addresses.size == 0:
            return
        self.changes += 1
        found = self.resolve(addresses, values.dtype, what, mask)
        if found is not None:
            allocation, indices = found
            self.check_writable(allocation, what)
            allocation.view(values.dtype)[indices] = values
            return
        size = values.dtype.itemsize
        flat = np.ascontiguousarray(np.broadcast_to(values, addresses.shape)).reshape(-1)
        for address, value in zip(
            addresses.reshape(-1).tolist(), flat.view(np.uint8).reshape(-1, size), strict=True
        ):
            self.check_writable(self.find(address)[0], what)  # type: ignore[index]
            self._at(address, size)[...] = value

    @staticmethod
    def check_writable(allocation: Allocation, what: str) -> None:
        if not allocation.writable:
            names = " and ".join(a.name for a in allocation.arguments if not a.writable)
            raise InterpreterError(
                f"{what} writes to `{names}`, which is read-only", hints.WRITABLE
            )

    # Messages.

    def outside(
        self, addresses: np.ndarray, size: int, what: str, mask: Any = None
    ) -> InterpreterError:
        """What is wrong with an access: the first element that is nowhere."""
        flat = addresses.reshape(-1).tolist()
        wrong = [i for i, a in enumerate(flat) if not self.inside(a, size)]
        address = flat[wrong[0]]
        where = ""
        shape = addresses.shape if mask is None else mask.shape
        if shape:
            position = wrong[0] if mask is None else np.flatnonzero(mask)[wrong[0]]
            index = [int(k) for k in np.unravel_index(position, shape)]
            count = f"; {len(wrong)} of {len(flat)} elements are out of bounds"
            where = f" (at {index} of the block{count if len(wrong) > 1 else ''})"
        near = self.nearest(address)
        if near is None:
            return InterpreterError(
                f"{what} at the address {address:#x}, where no argument is{where}", hints.REACHABLE
            )
        argument, offset = near
        element = f"element {offset // size}" if offset % size == 0 else f"byte {offset}"
        return InterpreterError(
            f"{what} out of bounds: {element} of `{argument.name}`, which has the shape "
            f"{argument.shape} and elements of type {argument.dtype}{where}",
            hints.BOUNDARY_CHECK if "block pointer" in what else hints.mask(what),
        )

    def nearest(self, address: int) -> tuple[Argument, int] | None:
        """The argument at or next to an address, and the offset into it."""
        found = self.find(address)
        if found is None:
            return None
        allocation, start = found
        host = address - start + allocation.host

        def distance(argument: Argument) -> int:
            return max(argument.address - host, host - argument.address - argument.size + 1, 0)

        argument = min(allocation.arguments, key=distance)
        return argument, host - argument.address

    def misaligned(self, addresses: np.ndarray, size: int, what: str) -> InterpreterError:
        address = int(addresses[(addresses & (size - 1)) != 0].reshape(-1)[0])
        near = self.nearest(address)
        name = f" of `{near[0].name}`" if near else ""
        return InterpreterError(
            f"{what} of elements of {size} bytes{name} at an address that is not a multiple of "
            f"{size}"
        )

    def describe(self, address: int, size: int) -> str:
        """A pointer, for people: the argument and the element."""
        near = self.nearest(address)
        return f"{near[0].name}[{near[1] // size}]" if near else f"{address:#x}"

"""Kernels on a GPU that record for the profiler: the memory of their records, and who reads it.

A launch takes a piece of an arena on the device and goes on. Nothing is copied at a launch, and
nobody waits. The records are read when somebody asks for them, or when the arena is full: then all
that was launched is waited for, and the arena is empty again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from .. import knobs
from ..errors import DriverError
from ..knobs import HookChain
from . import memory
from .specialize import address_of


class Device(Protocol):
    """What a driver does with the memory of a device."""

    def allocate_memory(self, device: int, size: int) -> int:
        """The address of new memory."""

    def free_memory(self, device: int, address: int) -> None: ...

    def wait_for_device(self, device: int) -> None:
        """Waits for all that was launched on the device."""

    def read_memory(
        self, device: int, address: int, pitch: int, width: int, rows: int
    ) -> np.ndarray:
        """The first `width` bytes of each row of `pitch` bytes, as a matrix."""

    def is_capturing(self, stream: int) -> bool:
        """Whether launches on the stream go into a graph."""


@dataclass(slots=True, eq=False)
class RecordedLaunch:
    """A launch of a kernel that records."""

    name: str
    #: What the kernel says about its records.
    described: dict[str, Any]
    device: int
    stream: int
    #: The host's time before it.
    launched: int
    address: int
    #: Headers and records: a row for each unit of warps that records.
    rows: int
    #: What holds the memory until it was read.
    holder: Any
    #: Whether anybody asked for the records.
    is_wanted: bool
    #: What was read: of each row the header, and as many records as the fullest one has.
    data: np.ndarray | None = None


#: Launches for which there is room at least.
_LAUNCHES = 4
#: Which word of 32 bits of a header says how many records its unit made.
_COUNT = 14
#: Called with each launch on a GPU whose kernel records, on its thread.
RECORDED = HookChain()


class RecordArena:
    """The memory of one device for records."""

    def __init__(self, driver: Device, device: int) -> None:
        self._driver = driver
        self._device = device
        self._address = 0
        self._size = 0
        self._used = 0
        self._unread: list[RecordedLaunch] = []
        #: Held from when a launch takes its piece until it was launched.
        self.lock = threading.RLock()

    def take(self, size: int, alignment: int) -> int:
        """A piece, which is free until its records are read."""
        start = -(-self._used // alignment) * alignment
        if start + size > self._size:
            self.read()
            self._grow(size)
            start = 0
        self._used = start + size
        return self._address + start

    def launched(self, launch: RecordedLaunch) -> None:
        self._unread.append(launch)

    def read(self) -> None:
        """Waits for all that was launched, and reads its records."""
        with self.lock:
            unread, self._unread, self._used = self._unread, [], 0
            if unread:
                self._driver.wait_for_device(self._device)
            for group in _side_by_side([launch for launch in unread if launch.is_wanted]):
                self._read(group)
            for launch in unread:
                launch.holder = None

    def _read(self, group: list[RecordedLaunch]) -> None:
        """Two copies for all of them: a copy takes longer than a small launch."""
        known, address = group[0].described, group[0].address
        header, pitch = known["header_bytes"], known["unit_bytes"]
        rows = sum(launch.rows for launch in group)
        where = (self._device, address, pitch)
        headers = self._driver.read_memory(*where, header, rows)
        # Most warps make a few records, and there is room for many.
        made = headers.view(np.uint32)[:, _COUNT].max(initial=0)
        most = min(int(made), known["capacity"])
        data = self._driver.read_memory(*where, header + most * known["record_bytes"], rows)
        first = 0
        for launch in group:
            launch.data = data[first : first + launch.rows]
            first += launch.rows

    def _grow(self, size: int) -> None:
        if size <= self._size:
            return
        self.free()
        # There is room for some launches: not each of them waits.
        wanted = max(_LAUNCHES * size, knobs.proton.profile_buffer_size)
        self._address = self._driver.allocate_memory(self._device, wanted)
        self._size = wanted

    def free(self) -> None:
        """Gives the memory back."""
        with self.lock:
            self.read()
            if self._size:
                self._driver.free_memory(self._device, self._address)
            self._address = self._size = 0


def _side_by_side(launches: list[RecordedLaunch]) -> list[list[RecordedLaunch]]:
    """Launches of one kernel whose memory is in one piece."""
    groups: list[list[RecordedLaunch]] = []
    end = -1
    for launch in launches:
        if launch.address != end or groups[-1][0].described is not launch.described:
            groups.append([])
        groups[-1].append(launch)
        end = launch.address + launch.rows * launch.described["unit_bytes"]
    return groups


#: Those of this process.
_ARENAS: dict[tuple[Any, int], RecordArena] = {}


def read_all() -> None:
    """Reads the records of all that was launched until now."""
    for arena in list(_ARENAS.values()):
        arena.read()


def free_all() -> None:
    """Gives the memory of all devices back."""
    while _ARENAS:
        _, arena = _ARENAS.popitem()
        arena.free()


def recording(kernel: Any, driver: Any, device: int, ctas: int, launch: Callable) -> Callable:
    """Launches a kernel that records. `launch` takes the memory of the records behind the
    arguments."""
    metadata = kernel._metadata
    described = metadata["records"]
    size, alignment = metadata["profile_scratch_size"], metadata["profile_scratch_align"]
    name = metadata["name"]

    def run(x: int, y: int, z: int, stream: int, arguments: tuple) -> int:
        if driver.is_capturing(stream):
            raise DriverError(
                f"`{kernel.name}` records for the profiler, and such a launch cannot be captured "
                "into a graph: deactivate the session while the graph is captured"
            )
        arena = _ARENAS.get((driver, device))
        if arena is None:
            arena = _ARENAS.setdefault((driver, device), RecordArena(driver, device))
        blocks = x * y * z * ctas
        with arena.lock:
            holder = memory.allocate_for_profile(size * blocks, alignment, stream)
            address = arena.take(size * blocks, alignment) if holder is None else address_of(holder)
            now = time.time_ns()
            code = launch(x, y, z, stream, arguments, address)
            if code == 0:
                rows = blocks * described["units"]
                launched = RecordedLaunch(
                    name, described, device, stream, now, address, rows, holder, bool(RECORDED)
                )
                arena.launched(launched)
                RECORDED(launched)
        return code

    return run


__all__ = ["RECORDED", "RecordArena", "RecordedLaunch", "free_all", "read_all", "recording"]

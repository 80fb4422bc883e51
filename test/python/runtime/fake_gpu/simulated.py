"""The GPU that is not there, with kernels that do run: each launch goes on in the simulator.

Tensors are NumPy arrays, whose memory stands for the device's. What is between Python and the
driver is the code that runs on a GPU.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

import tile.sim
from tile.sim.tensormap import ELEMENT_TYPES

from . import FakeGPU

#: Widths of swizzles, by their numbers in the driver.
_SWIZZLES = (0, 32, 64, 128)
_Words = ctypes.POINTER(ctypes.c_uint32)
_LongWords = ctypes.POINTER(ctypes.c_uint64)
_Encode = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_uint32, ctypes.c_uint64, _LongWords,
    _LongWords, _Words, _Words, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int,
)  # fmt: skip


@_Encode
def _encode_map(  # type: ignore[no-untyped-def]
    at, kind, rank, base, shape, strides, box, steps, interleave, swizzle, promotion, fill
):
    """cuTensorMapEncodeTiled. Maps of a real driver are what the simulator makes."""
    # The driver has other numbers for types behind float64.
    assert kind < 8
    element = next(name for name, (code, _) in ELEMENT_TYPES.items() if code == kind)
    made = tile.sim.tensor_map(
        base, element, shape[:rank], strides[: rank - 1], box[:rank],
        swizzle=_SWIZZLES[swizzle], fill_nan=bool(fill), element_strides=steps[:rank],
    )  # fmt: skip
    ctypes.memmove(at, made, len(made))
    return 0


_Range = ctypes.CFUNCTYPE(ctypes.c_int, _LongWords, _LongWords, ctypes.c_uint64)


class Graph:
    """Launches that were captured."""

    def __init__(self) -> None:
        self.replays: list[Callable[[], None]] = []

    def replay(self) -> None:
        for launch in self.replays:
            launch()


class SimulatedGPU(FakeGPU):
    """While it is entered, the driver `cuda` runs kernels in the simulator."""

    def __enter__(self) -> SimulatedGPU:
        super().__enter__()
        from tile.runtime.driver import driver

        #: For each loaded function its kernel, decoded.
        self._kernels: dict[int, Any] = {}
        self.reports: list[Any] = []
        active = driver.active
        load = active.load

        def load_both(kernel: Any, device: int) -> Any:
            function = load(kernel, device)
            self._kernels[function.value] = kernel, tile.sim.load(kernel.asm["ptx"])
            return function

        active.load = load_both
        active.library.cuTensorMapEncodeTiled = _encode_map
        active.library.cuMemGetAddressRange_v2 = self._find_range = _Range(self._range)
        self._graph: Graph | None = None
        self._arrays: list[np.ndarray] = []
        self.on_launch(self._run)
        return self

    def to_device(self, array: np.ndarray) -> Any:
        """A tensor with these elements, which stay where they are."""
        self._arrays.append(array)
        return self.tensor(array.ctypes.data, str(array.dtype))

    def capture(self, launch: Callable[[], Any]) -> Graph:
        """What `launch` launches, as a graph that keeps the parameters, and nothing else."""
        self._graph = graph = Graph()
        self.library.fake_set_streams(0, 1)
        launch()
        self.library.fake_set_streams(0, 0)
        self._graph = None
        return graph

    def _range(self, base: Any, size: Any, address: int) -> int:
        """cuMemGetAddressRange: each array is an allocation."""
        for array in self._arrays:
            if array.ctypes.data <= address < array.ctypes.data + array.nbytes:
                base[0], size[0] = array.ctypes.data, array.nbytes
                return 0
        return 1

    def _run(self, config: Any, function: int, parameters: Any) -> None:
        kernel, module = self._kernels[function]
        name = kernel._metadata["name"]
        config = config.contents
        grid, block = tuple(config.grid), tuple(config.block)
        buffer = bytearray()
        for i, (_, _, offset, size, _) in enumerate(module.params(name)):
            buffer += bytes(offset - len(buffer)) + ctypes.string_at(parameters[i], size)
        shared = config.shared

        def run() -> None:
            self._simulate(kernel, module, grid, block, shared, buffer)

        if self._graph is not None:
            self._graph.replays.append(run)
        else:
            run()

    def _simulate(
        self, kernel: Any, module: Any, grid: Any, block: Any, shared: int, buffer: bytearray
    ) -> None:
        name = kernel._metadata["name"]
        allocations = [
            (a.ctypes.data, a.nbytes, f"array {i}", True) for i, a in enumerate(self._arrays)
        ]
        size = kernel._metadata.get("profile_scratch_size", 0) * int(np.prod(grid))
        if size:
            (records,) = np.frombuffer(buffer[-8:], np.uint64)
            allocations.append((int(records), size, "records", True))
        options = {
            "cluster": (kernel._metadata.get("num_ctas", 1), 1, 1),
            "dynamic_shared": shared, "timelines": int(np.prod(grid)),
        }  # fmt: skip
        launch = tile.sim.PreparedLaunch(
            module, name, grid, block, bytes(buffer), allocations, **options
        )
        self.reports.append(tile.sim.run_or_add(launch, lambda report: report))

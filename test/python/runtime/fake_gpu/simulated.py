"""The GPU that is not there, with kernels that do run: each launch goes on in the simulator.

Tensors are NumPy arrays, whose memory stands for the device's. What is between Python and the
driver is the code that runs on a GPU.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

import tile.sim

from . import FakeGPU


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
        self._arrays: list[np.ndarray] = []
        self.on_launch(self._run)
        return self

    def to_device(self, array: np.ndarray) -> Any:
        """A tensor with these elements, which stay where they are."""
        self._arrays.append(array)
        return self.tensor(array.ctypes.data, str(array.dtype))

    def _run(self, config: Any, function: int, parameters: Any) -> None:
        kernel, module = self._kernels[function]
        name = kernel._metadata["name"]
        config = config.contents
        grid, block = tuple(config.grid), tuple(config.block)
        buffer = bytearray()
        for i, (_, _, offset, size, _) in enumerate(module.params(name)):
            buffer += bytes(offset - len(buffer)) + ctypes.string_at(parameters[i], size)
        allocations = [
            (a.ctypes.data, a.nbytes, f"array {i}", True) for i, a in enumerate(self._arrays)
        ]
        size = kernel._metadata.get("profile_scratch_size", 0) * int(np.prod(grid))
        if size:
            (records,) = np.frombuffer(buffer[-8:], np.uint64)
            allocations.append((int(records), size, "records", True))
        options = {
            "cluster": (kernel._metadata.get("num_ctas", 1), 1, 1),
            "dynamic_shared": config.shared, "timelines": int(np.prod(grid)),
        }  # fmt: skip
        launch = tile.sim.PreparedLaunch(
            module, name, grid, block, bytes(buffer), allocations, **options
        )
        self.reports.append(tile.sim.run_or_add(launch, lambda report: report))

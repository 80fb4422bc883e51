"""Lets the tests, which use NumPy arrays, run on a GPU: arguments are copied
there before a launch and back after it."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np


class DeviceArray:
    """A view of a NumPy array's memory, on the GPU."""

    is_cuda = True

    def __init__(self, array: np.ndarray, copies: dict[int, tuple[np.ndarray, Any]]) -> None:
        import torch

        root = array
        while isinstance(root.base, np.ndarray):
            root = root.base
        key = root.__array_interface__["data"][0]
        if key not in copies:
            raw = root.reshape(-1).view(np.uint8)
            assert np.shares_memory(raw, root) or not root.size, (
                "the whole of an array must be contiguous"
            )
            copies[key] = (raw, torch.from_numpy(raw.copy()).cuda())
        self.dtype = array.dtype
        self.shape = array.shape
        self.offset = array.__array_interface__["data"][0] - key
        self.memory = copies[key][1]

    def data_ptr(self) -> int:
        return self.memory.data_ptr() + self.offset


def install() -> None:
    """Makes kernels take NumPy arrays on the cuda driver."""
    import torch

    from tile import knobs
    from tile.runtime.jit import JITFunction, KernelInterface, TensorWrapper
    from tile.tools.tensor_descriptor import TensorDescriptor

    run = JITFunction.run

    def run_with_copies(self: Any, *args: Any, grid: Any, warmup: bool = False, **kwargs: Any):
        if knobs.interpreting():
            return run(self, *args, grid=grid, warmup=warmup, **kwargs)
        copies: dict[int, tuple[np.ndarray, Any]] = {}

        def move(value: Any) -> Any:
            if isinstance(value, np.ndarray):
                return DeviceArray(value, copies)
            if isinstance(value, TensorWrapper):
                return TensorWrapper(move(value.base), value.dtype)
            if isinstance(value, tuple):
                return tuple(map(move, value))
            if isinstance(value, TensorDescriptor):
                return dataclasses.replace(value, base=move(value.base))
            return value

        moved = {k: move(v) for k, v in kwargs.items()}
        kernel = run(self, *map(move, args), grid=grid, warmup=warmup, **moved)
        if copies:  # A launch with nothing but torch's tensors may be captured in a graph.
            torch.cuda.synchronize()
        for raw, memory in copies.values():
            if raw.flags.writeable:
                raw[...] = memory.cpu().numpy()
        return kernel

    JITFunction.run = run_with_copies
    JITFunction.__getitem__ = KernelInterface.__getitem__  # By way of `run`.

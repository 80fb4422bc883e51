"""Lets the tests, which use NumPy arrays, run on a GPU: arguments are copied
there before a launch and back after it.

With `TILE_TEST_REPEATS=100`, kernels are launched a hundred times with the same arguments: where
one of the results differs from the first in a bit, threads race.
"""

from __future__ import annotations

import copy
import os
import sys
from typing import Any

import numpy as np
import pytest

REPEATS = int(os.environ.get("TILE_TEST_REPEATS", "1"))
#: What a kernel has whose result depends on the order of its programs.
ORDERED = ("tt.atomic_", "tt.descriptor_reduce", ".async_tma_reduce", "amdg.buffer_atomic_")


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


def move(value: Any, copies: dict[int, tuple[np.ndarray, Any]]) -> Any:
    """An argument of a launch whose arrays are on the GPU."""
    from tile.runtime.jit import TensorWrapper
    from tile.tools.tensor_descriptor import HostDescriptor

    if isinstance(value, np.ndarray):
        return DeviceArray(value, copies)
    if isinstance(value, TensorWrapper):
        return TensorWrapper(move(value.base, copies), value.dtype)
    if isinstance(value, tuple):
        items = [move(item, copies) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, HostDescriptor):
        # Descriptors of other classes have more than these fields: a layout, for example.
        moved = copy.copy(value)
        moved.base = move(value.base, copies)
        moved.__post_init__()  # The other memory must be aligned, too.
        return moved
    return value


def is_ordered(kernel: Any) -> bool:
    """Whether the result depends on the order of programs."""
    first = "glir" if "glir" in kernel.asm else "ttir"
    return any(op in kernel.asm[first] for op in ORDERED)


def repeat(launch: Any, initial: list[Any], memories: list[Any]) -> None:
    """Launches again from what memory held at first; all of it must become the same."""
    import torch

    results = [memory.clone() for memory in memories]
    for repetition in range(1, REPEATS):
        for memory, before in zip(memories, initial, strict=True):
            memory.copy_(before)
        launch()
        torch.cuda.synchronize()
        for memory, result in zip(memories, results, strict=True):
            differing = int((memory != result).sum())
            assert not differing, f"launch {repetition} differs from the first in {differing} bytes"


#: CUDA_ERROR_ILLEGAL_ADDRESS, the first of those that end a context; what comes before is about
#: a process that has not used the GPU.
_ENDS_THE_CONTEXT = 700


def check_context(test: str) -> None:
    """Ends the process if the GPU can no longer be used: pytest-xdist says then which test it was,
    and starts another one for the rest."""
    from tile.runtime.driver import driver

    library = getattr(driver._active, "library", None)
    code = library.cuCtxSynchronize() if library is not None else 0
    if code < _ENDS_THE_CONTEXT:
        return
    message = f"{test} ended the GPU's context (CUDA error {code}); give it the mark `simulator`"
    if "PYTEST_XDIST_WORKER" not in os.environ:
        pytest.exit(message, returncode=1)
    print(message, file=sys.__stderr__, flush=True)
    os._exit(1)


def install() -> None:
    """Makes kernels take NumPy arrays on the cuda driver."""
    import torch

    from tile import knobs
    from tile.runtime.jit import JITFunction, KernelInterface

    run = JITFunction.run

    def run_with_copies(self: Any, *args: Any, grid: Any, warmup: bool = False, **kwargs: Any):
        if knobs.interpreting():
            return run(self, *args, grid=grid, warmup=warmup, **kwargs)
        copies: dict[int, tuple[np.ndarray, Any]] = {}

        moved = {k: move(v, copies) for k, v in kwargs.items()}
        there = tuple(move(arg, copies) for arg in args)
        memories = [memory for _, memory in copies.values()]
        initial = [memory.clone() for memory in memories] if REPEATS > 1 else []
        kernel = run(self, *there, grid=grid, warmup=warmup, **moved)
        if copies:  # A launch with nothing but torch's tensors may be captured in a graph.
            torch.cuda.synchronize()
            if initial and not warmup and not is_ordered(kernel):
                repeat(lambda: run(self, *there, grid=grid, **moved), initial, memories)
        for raw, memory in copies.values():
            if raw.flags.writeable:
                raw[...] = memory.cpu().numpy()
        return kernel

    JITFunction.run = run_with_copies
    JITFunction.__getitem__ = KernelInterface.__getitem__  # By way of `run`.

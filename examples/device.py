"""Where the examples' arrays live: NumPy for the simulator, torch tensors on a GPU."""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np

import tile


class Device:
    """Moves arrays to and from the active driver's memory, and reports results."""

    def __init__(self) -> None:
        self.driver = tile.runtime.driver.active
        self.on_gpu = self.driver.name == "cuda"
        self.checked = self.failures = 0
        if self.on_gpu:
            import torch

            self.torch = torch

    def put(self, array: np.ndarray):
        array = np.ascontiguousarray(array)
        return self.torch.from_numpy(array).cuda() if self.on_gpu else array.copy()

    def empty_like(self, array: np.ndarray):
        """An output of the same shape and type, filled with a pattern no kernel writes."""
        poison = np.empty(array.shape, array.dtype)
        poison.view(np.uint8).fill(0xA5) if poison.ndim else None
        return self.put(poison)

    def get(self, array) -> np.ndarray:
        return array.cpu().numpy() if self.on_gpu else array

    def check(self, name: str, kernel, actual: np.ndarray, expected: np.ndarray) -> None:
        """Compares with the reference and prints one line."""
        if actual.dtype.kind == "f":
            a, e = actual.astype(np.float64), expected.astype(np.float64)
            scale = max(float(np.linalg.norm(e)), 1e-30)
            error = float(np.linalg.norm(a - e)) / scale
            ok = bool(np.isfinite(a).all()) and error < (
                1e-6 if actual.dtype != np.float16 else 1e-3
            )
            detail = f"relative error {error:.1e}"
        else:
            ok = bool(np.array_equal(actual, expected))
            detail = "exact" if ok else "differs"
        self.checked += 1
        self.failures += not ok
        assembly = kernel.asm["ptx" if "ptx" in kernel.asm else "amdgcn"]
        shape = "x".join(map(str, actual.shape))
        print(
            f"{'ok  ' if ok else 'FAIL'} {name:13} {actual.dtype!s:8} {shape:>10}  {detail:24}"
            f" {len(assembly.splitlines()):5} lines of assembly"
        )


def run_examples(*mains: Callable[[Device], None]) -> None:
    """What `python examples/x.py` does: runs examples, and says what was checked."""
    device = Device()
    print(f"driver: {device.driver.name}, target: {device.driver.get_current_target()}")
    for main in mains:
        main(device)
    print(f"compared with NumPy: {device.checked} results, {device.failures} differ")
    sys.exit(1 if device.failures else 0)

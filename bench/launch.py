"""Host time of one launch of an empty kernel with eleven arguments, beside the peer's.

python bench/launch.py
"""

from __future__ import annotations

import time

import torch
from peer import load, load_for_peer


def microseconds(kernel, repeats: int = 20, launches: int = 1000) -> float:
    """The best mean over `repeats` runs; the queue is drained between them."""
    tensors = [torch.zeros(16, device="cuda") for _ in range(5)]
    args = (*tensors, 100, 200, 300, 400, 500, 600)
    for _ in range(100):
        kernel[(1,)](*args)
    best = float("inf")
    for _ in range(repeats):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(launches):
            kernel[(1,)](*args)
        best = min(best, (time.perf_counter() - start) / launches * 1e6)
    return best


def main() -> None:
    for name, module in (("tile", load("empty")), ("peer", load_for_peer("empty"))):
        if module is not None:
            print(f"launch, 11 arguments, {name}: {microseconds(module.empty_kernel):.2f} us")


if __name__ == "__main__":
    main()

"""What choosing among configurations takes, from a cold cache, beside Triton's: a GPU is needed.

python bench/autotune.py
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from typing import Any

from peer import load, load_for_peer

#: Of a matrix product, and of a kernel without loops, whose stages make no difference.
MATMUL = [
    ({"BM": bm, "BN": bn, "BK": bk, "GROUP_M": 8}, warps, stages)
    for bm, bn in ((64, 64), (64, 128), (128, 64), (128, 128))
    for bk in (32, 64)
    for warps, stages in ((4, 3), (8, 3))
]
ADD = [
    ({"BLOCK": block}, warps, stages)
    for block in (512, 1024, 2048)
    for warps in (2, 4, 8)
    for stages in (1, 2)
]
CASES = ("matmul 4096^3", "matmul 512^3", "add 2^20")


def tuned(module: Any, kernel: Any, configs: list, key: list[str]) -> Any:
    made = [
        module.tile.Config(values, num_warps=warps, num_stages=stages)
        for values, warps, stages in configs
    ]
    return module.tile.autotune(configs=made, key=key)(kernel)


def measure(who: str, case: str) -> None:
    """Prints the seconds of the first launch, and what was chosen."""
    import torch

    find = load if who == "tile" else load_for_peer
    torch.empty(1, device="cuda")
    if case.startswith("matmul"):
        module, n = find("matmul"), int(case.split()[1].split("^")[0])
        kernel = tuned(module, module.matmul_kernel, MATMUL, ["M", "N", "K"])
        a, b, c = (torch.randn(n, n, device="cuda", dtype=torch.float16) for _ in range(3))
        arguments: tuple = (a, b, c, n, n, n, n, 1, n, 1, n, 1)

        def grid(meta: dict) -> tuple:
            return (-(-n // meta["BM"]) * -(-n // meta["BN"]),)
    else:
        module, n = find("vector_add"), 2**20
        kernel = tuned(module, module.add_kernel, ADD, ["n"])
        arguments = (*(torch.randn(n, device="cuda") for _ in range(3)), n)

        def grid(meta: dict) -> tuple:
            return (-(-n // meta["BLOCK"]),)

    torch.cuda.synchronize()
    start = time.perf_counter()
    kernel[grid](*arguments)
    torch.cuda.synchronize()
    seconds = time.perf_counter() - start
    print(f"{case:14} {len(kernel.configs):3} {who:5} {seconds:7.2f} s  {kernel.best_config}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        measure(*args.measure)
        return
    for case in CASES:
        for who in ("tile", "peer"):
            with tempfile.TemporaryDirectory(prefix="tile-bench-") as folder:
                environment = {**os.environ, "TILE_CACHE_DIR": folder, "TRITON_CACHE_DIR": folder}
                command = [sys.executable, __file__, "--measure", who, case]
                subprocess.run(command, env=environment, check=False, timeout=120)


if __name__ == "__main__":
    main()

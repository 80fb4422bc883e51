"""Speed of the PTX simulator, in lane instructions per second, with checks off and on.

Usage: python bench/sim.py [REPEATS]

The best of three runs counts. Beside the rate by the clock stands the rate per second of processor
time of one core, which does not depend on what else the machine does: two free cores give twice
as much.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

import tile.sim

PTX = Path(__file__).resolve().parents[1] / "test" / "unit" / "Simulator" / "ptx"
REPEATS = int(sys.argv[1]) if len(sys.argv) > 1 else 3


def measure(name: str, module: str, entry: str, grid, block, args) -> None:
    ptx = (PTX / f"{module}.ptx").read_text()
    tile.sim.load(ptx)
    for check in ("none", "all"):
        seconds = processor = float("inf")
        for _ in range(REPEATS):
            start, used = time.perf_counter(), time.process_time()
            report = tile.sim.launch(ptx, entry, grid, block, args, check=check)
            seconds = min(seconds, time.perf_counter() - start)
            processor = min(processor, time.process_time() - used)
        lanes = report.lane_instructions
        print(
            f"{name:28} check={check:5} {seconds:7.3f} s {lanes:12,} lane instructions "
            f"{lanes / seconds / 1e6:7.1f} M/s, {lanes / processor / 1e6:7.1f} M/s per core",
            flush=True,
        )


def main() -> None:
    rng = np.random.default_rng(0)
    n = 1 << 22
    x = rng.standard_normal(n, dtype=np.float32)
    measure("vector add 2^22", "basics", "vector_add", n // 128, 128, [x, x, np.zeros_like(x), n])
    x = rng.standard_normal((512, 4096), dtype=np.float32)
    measure("softmax 512 x 4096", "basics", "softmax", 512, 128, [x, np.zeros_like(x), 4096])
    v = np.arange(1, 1 << 15, dtype=np.uint32)
    measure(
        "collatz 2^15 (divergent)", "basics", "collatz", 256, 128, [v, np.zeros_like(v), len(v)]
    )
    h = rng.standard_normal((1024, 1024)).astype(np.float16)
    measure(
        "transpose 1024 x 1024",
        "basics",
        "transpose",
        (32, 32),
        (32, 8),
        [h, np.zeros_like(h), 1024, 1024],
    )
    a, b = rng.standard_normal((2, 512, 512)).astype(np.float16)
    c = np.zeros((512, 512), np.float32)
    measure(
        "matmul f16 512^3 mma.sync", "matmul", "matmul_f16", (8, 8), 128, [a, b, c, 512, 512, 512]
    )
    assert np.allclose(c, a.astype(np.float32) @ b.astype(np.float32), rtol=1e-2, atol=1e-2)
    a, b = rng.standard_normal((2, 256, 256)).astype(np.float32)
    measure(
        "matmul f32 256^3 plain",
        "matmul",
        "matmul_plain",
        (16, 16),
        256,
        [a, b, np.zeros_like(a), 256, 256, 256],
    )


if __name__ == "__main__":
    main()

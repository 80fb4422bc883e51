"""Speed of the PTX simulator, in lane instructions per second, with checks off and on.

Usage: python bench/sim.py [REPEATS]

The best of three runs counts. Beside the rate by the clock stands the rate per second of processor
time of one core. It does not depend on what else the machine does: two free cores give twice as
much.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

import tile.sim
from tile import knobs

TESTS = Path(__file__).resolve().parents[1] / "test"
PTX = TESTS / "unit" / "Simulator" / "ptx"
sys.path.insert(0, str(TESTS / "python" / "sim"))
import blackwell_kernels  # noqa: E402
import hopper  # noqa: E402
import sim_kernels  # noqa: E402

REPEATS = int(sys.argv[1]) if len(sys.argv) > 1 else 3


def measure(name: str, run: Callable[..., tile.sim.Report]) -> None:
    for check in ("none", "all"):
        seconds = processor = float("inf")
        for _ in range(REPEATS):
            start, used = time.perf_counter(), time.process_time()
            report = run(check=check)
            seconds = min(seconds, time.perf_counter() - start)
            processor = min(processor, time.process_time() - used)
        lanes = report.lane_instructions
        print(
            f"{name:32} check={check:5} {seconds:7.3f} s {processor:7.3f} s of one core "
            f"{lanes:12,} lane instructions {lanes / seconds / 1e6:7.1f} M/s, "
            f"{lanes / processor / 1e6:7.1f} M/s per core",
            flush=True,
        )


def measure_entry(name: str, module: str, entry: str, grid, block, args) -> None:
    ptx = (PTX / f"{module}.ptx").read_text()
    tile.sim.load(ptx)
    measure(name, partial(tile.sim.launch, ptx, entry, grid, block, args))


def measure_hopper(rng: np.random.Generator) -> None:
    """TMA, wgmma and warp-specialised kernels; a dot's rate says little, its time does."""
    x = rng.standard_normal((2048, 2048), dtype=np.float32)
    y = np.zeros_like(x)
    measure("copy by TMA, 2048^2 f32", partial(hopper.launch_copy, x, y))
    assert (x == y).all()
    a, b = rng.standard_normal((2, 1024, 1024)).astype(np.float16)
    want = a.astype(np.float32) @ b.astype(np.float32).T
    for name, ptx in (
        ("f16 1024^3 wgmma", hopper.product()),
        ("f16 1024^3 warp-specialised", hopper.warp_specialized()),
    ):
        c = np.zeros_like(want)
        tile.sim.load(ptx)
        measure(name, partial(hopper.launch_product, ptx, a, b, c))
        assert np.allclose(c, want, rtol=1e-2, atol=1e-2)


def measure_blackwell(rng: np.random.Generator) -> None:
    """A dot into tensor memory, by TMA."""
    a, b = rng.standard_normal((2, 1024, 1024)).astype(np.float16)
    want = a.astype(np.float32) @ b.astype(np.float32).T
    c, ptx = np.zeros_like(want), blackwell_kernels.product()
    tile.sim.load(ptx)
    measure("f16 1024^3 tcgen05", partial(blackwell_kernels.launch_product, ptx, a, b, c))
    assert np.allclose(c, want, rtol=1e-2, atol=1e-2)


def measure_order(rng: np.random.Generator) -> None:
    """CTAs that wait for each other's flags, in one order on one host thread and on all: what
    compares is the time by the clock."""
    tiles, parts, depth = 16, 8, 4096
    a, b = (rng.standard_normal(s, dtype=np.float32) for s in ((tiles, depth), (depth, 64)))
    c, work = np.zeros((tiles, 64), np.float32), np.zeros((tiles, parts, 64), np.float32)
    ptx = (PTX / "sharing.ptx").read_text()

    def run(threads: int, check: str) -> tile.sim.Report:
        flags = np.zeros((tiles, parts), np.uint32)
        arguments = [a, b, work, flags, c, depth, 0]
        return tile.sim.launch(
            ptx, "split_k", (tiles, parts), 64, arguments, threads=threads, check=check
        )

    for threads, name in ((1, "one thread"), (0, "all threads")):
        measure(f"split K by flags, {name}", partial(run, threads))
        assert np.allclose(c, a @ b, rtol=1e-3, atol=1e-3)


def measure_targets(rng: np.random.Generator) -> None:
    """The same kernels, compiled for the machines of PTX and of AMDGCN. Lanes of one do not do as
    much as those of the other: what compares is the time."""
    n = 1 << 20
    x, y, o = rng.standard_normal((3, n), dtype=np.float32)
    rows = rng.standard_normal((256, 4000), dtype=np.float32)
    half = rng.standard_normal((2, 512, 512)).astype(np.float16)
    single = rng.standard_normal((2, 256, 256), dtype=np.float32)
    for target in ("cuda:80", "hip:gfx942", "hip:gfx1100"):
        knobs.runtime.sim_target = target
        run = sim_kernels.add.simulate
        measure(f"add 2^20, {target}", partial(run, x, y, o, n, BLOCK=1024, grid=(n // 1024,)))
        run = sim_kernels.softmax.simulate
        measure(
            f"softmax 256 x 4000, {target}",
            partial(run, rows, np.zeros_like(rows), 4000, BLOCK=4096, grid=(256,)),
        )
        for (a, b), precision in ((half, "tf32"), (single, "ieee")):
            c = np.zeros(a.shape, np.float32)
            size = len(a)
            measure(
                f"{a.dtype} {size}^3, {target}",
                partial(
                    sim_kernels.product.simulate, a, b, c, size, size,
                    BM=64, BN=64, BK=32, PRECISION=precision, grid=(size // 64, size // 64),
                ),
            )  # fmt: skip
            assert np.allclose(c, a.astype(np.float32) @ b.astype(np.float32), rtol=1e-2, atol=1e-2)


def main() -> None:
    rng = np.random.default_rng(0)
    n = 1 << 22
    x = rng.standard_normal(n, dtype=np.float32)
    measure_entry(
        "vector add 2^22", "basics", "vector_add", n // 128, 128, [x, x, np.zeros_like(x), n]
    )
    x = rng.standard_normal((512, 4096), dtype=np.float32)
    measure_entry("softmax 512 x 4096", "basics", "softmax", 512, 128, [x, np.zeros_like(x), 4096])
    v = np.arange(1, 1 << 15, dtype=np.uint32)
    measure_entry(
        "collatz 2^15 (divergent)", "basics", "collatz", 256, 128, [v, np.zeros_like(v), len(v)]
    )
    h = rng.standard_normal((1024, 1024)).astype(np.float16)
    measure_entry(
        "transpose 1024 x 1024",
        "basics",
        "transpose",
        (32, 32),
        (32, 8),
        [h, np.zeros_like(h), 1024, 1024],
    )
    a, b = rng.standard_normal((2, 512, 512)).astype(np.float16)
    c = np.zeros((512, 512), np.float32)
    measure_entry(
        "matmul f16 512^3 mma.sync", "matmul", "matmul_f16", (8, 8), 128, [a, b, c, 512, 512, 512]
    )
    assert np.allclose(c, a.astype(np.float32) @ b.astype(np.float32), rtol=1e-2, atol=1e-2)
    a, b = rng.standard_normal((2, 256, 256)).astype(np.float32)
    measure_entry(
        "matmul f32 256^3 plain",
        "matmul",
        "matmul_plain",
        (16, 16),
        256,
        [a, b, np.zeros_like(a), 256, 256, 256],
    )
    measure_hopper(rng)
    measure_blackwell(rng)
    measure_order(rng)
    measure_targets(rng)


if __name__ == "__main__":
    main()

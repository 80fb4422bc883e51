"""What the profiler adds to a launch: microseconds of the host, off, as a tree and as a trace.

python3 test/gpu/measure_profiler.py [--peer]     (--peer: of the triton that is installed)
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import torch

LAUNCHES, ROUNDS = 2000, 9


def microseconds(launch: object) -> float:
    """Of a launch, the host's; the least of some rounds, as what disturbs only adds."""
    times = []
    for _ in range(ROUNDS):
        torch.cuda.synchronize()
        began = time.perf_counter()
        for _ in range(LAUNCHES):
            launch()
        times.append((time.perf_counter() - began) / LAUNCHES * 1e6)
        torch.cuda.synchronize()
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--peer", action="store_true")
    which = parser.parse_args()
    if which.peer:
        import triton
        import triton.language as tl
        import triton.profiler as proton

        jit = triton.jit
    else:
        import tile
        import tile.language as tl
        import tile.profiler as proton

        jit = tile.jit

    def metadata(grid: object, kernel: object, args: dict) -> dict:
        return {"name": "described", "flops": 128.0}

    @jit(launch_metadata=metadata)
    def described(x, BLOCK: tl.constexpr):
        offsets = tl.arange(0, BLOCK)
        tl.store(x + offsets, tl.load(x + offsets) + 1)

    @jit
    def small(x, BLOCK: tl.constexpr):
        offsets = tl.arange(0, BLOCK)
        tl.store(x + offsets, tl.load(x + offsets) + 1)

    globals()["tl"] = tl
    x = torch.zeros(128, device="cuda")

    def launch() -> None:
        small[(1,)](x, BLOCK=128)

    def launch_described() -> None:
        described[(1,)](x, BLOCK=128)

    def in_scope() -> None:
        with proton.scope("scope"):
            small[(1,)](x, BLOCK=128)

    name = "peer" if which.peer else "tile"
    launch()
    launch_described()
    off = microseconds(launch)
    print(f"{name}: off {off:.2f} us a launch; in a scope {microseconds(in_scope):.2f}")
    for data in ("tree", "trace"):
        for hook in (None, "triton"):
            with tempfile.TemporaryDirectory() as folder:
                session = proton.start(str(Path(folder) / "p"), data=data, hook=hook)
                launch()
                launch_described()
                plain, scoped = microseconds(launch), microseconds(in_scope)
                named = microseconds(launch_described)
                began = time.perf_counter()
                proton.finalize(session)
                took = (time.perf_counter() - began) * 1e3
            print(
                f"{name}: {data}, hook {hook}: {plain:.2f} us a launch ({plain - off:+.2f}); in a "
                f"scope {scoped:.2f}; with launch_metadata {named:.2f}; finalize {took:.0f} ms"
            )
    off = microseconds(launch)
    print(f"{name}: off again {off:.2f} us a launch")
    sys.stdout.flush()


if __name__ == "__main__":
    main()

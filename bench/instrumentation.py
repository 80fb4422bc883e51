"""What records in kernels cost: of the kernels' time, of a launch, and of a record.

python bench/instrumentation.py           on a GPU, with torch; Triton after tile, if it is there
"""

from __future__ import annotations

import importlib
import statistics
import sys
import tempfile
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from peer import ROOT, load, load_for_peer

sys.path.append(str(ROOT / "test" / "gpu"))
from measure_profiler import microseconds

#: Of a mode of the backend: "default" records each warp, in shared memory.
MODES = (
    "default",
    "default:granularity=warp_group",
    "default:buffer_type=global",
    "default:optimizations=clock32",
)
REPEATS = 15


@contextmanager
def session(proton: ModuleType, **how: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        number = proton.start(str(Path(folder) / "p"), **how)
        try:
            yield number
        finally:
            proton.finalize(number)


def kernels(module: ModuleType) -> dict[str, Callable[[], Any]]:
    """What is measured, each longer than 100 us."""
    n, rows, columns, size = 1 << 28, 32768, 4096, 4096
    x, y, out = (torch.rand(n, device="cuda") for _ in range(3))
    matrix, result = (
        torch.rand((rows, columns), device="cuda", dtype=torch.float16) for _ in range(2)
    )
    a, b, c = (torch.rand((size, size), device="cuda", dtype=torch.float16) for _ in range(3))
    return {
        "add of 2^28": lambda: module.add[(n // 8192,)](x, y, out, n, BLOCK=8192, num_warps=8),
        "softmax 32768 x 4096": lambda: module.softmax[(rows,)](
            matrix, result, columns, BLOCK=columns, num_warps=8
        ),
        "product 4096^3": lambda: module.product[(size // 128, size // 128)](
            a, b, c, size, size, BLOCK=128, BLOCK_K=64, num_warps=8, num_stages=3
        ),
    }


def device_time(launch: Callable[[], Any]) -> float:
    """Microseconds on the device, the median of some launches."""
    for _ in range(3):
        launch()
    torch.cuda.synchronize()
    times = []
    for _ in range(REPEATS):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        launch()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1e3)
    return statistics.median(times)


def measure_kernels(name: str, module: ModuleType, proton: ModuleType, modes: tuple) -> None:
    for kernel, launch in kernels(module).items():
        off = device_time(launch)
        print(f"{name}: {kernel}: {off:.1f} us without records")
        for mode in modes:
            try:
                with session(proton, backend="instrumentation", mode=mode):
                    on = device_time(launch)
            except Exception as error:  # One that a mode does not fit, or Triton cannot do.
                print(f"{name}: {kernel}, {mode}: {str(error).splitlines()[0]}")
                continue
            print(f"{name}: {kernel}, {mode}: {on:.1f} us, {on / off:.3f} of that")
        again = device_time(launch)
        print(f"{name}: {kernel}: {again:.1f} us again without records")


def measure_launches(name: str, module: ModuleType, proton: ModuleType) -> None:
    x = torch.zeros(128, device="cuda")

    def launch() -> None:
        module.small[(1,)](x, BLOCK=128)

    def in_scope() -> None:
        with proton.scope("scope"):
            launch()

    launch()
    off = microseconds(launch)
    print(f"{name}: {off:.2f} us a launch without a session")
    for backend in (None, "instrumentation"):
        for data in ("tree", "trace"):
            try:
                with session(proton, data=data, backend=backend):
                    launch()
                    on, scoped = microseconds(launch), microseconds(in_scope)
            except Exception as error:
                print(f"{name}: {backend or 'cupti'}, {data}: {str(error).splitlines()[0]}")
                continue
            print(
                f"{name}: {backend or 'cupti'}, {data}: {on:.2f} us a launch ({on - off:+.2f}), "
                f"{scoped:.2f} in a scope"
            )


def measure_records(module: ModuleType, proton: ModuleType) -> None:
    """Cycles that a record takes of a warp, and what remains of it in a scope around nothing."""
    out = torch.zeros(128, dtype=torch.int32, device="cuda")
    rounds = 200
    for mode in (
        "default", "default:optimizations=time_shift", "default:optimizations=clock32",
        "default:buffer_type=global", "default:buffer_strategy=flush",
    ):  # fmt: skip
        # All of them fit, with those of the loop around.
        sized = f"{mode}:buffer_size={1 << 16}"
        with session(proton, backend="instrumentation", mode=sized) as number:
            module.records[(1,)](out, rounds, BLOCK=128, num_warps=4)
            proton.deactivate(number, flushing=True)
            root = proton.data.get(number)[0]
        (around,) = root["children"][0]["children"]
        (nothing,) = around["children"]
        inner = nothing["metrics"]["cycles"] / nothing["metrics"]["count"]
        own = around["metrics"]["cycles"] / around["metrics"]["count"]
        whole = own + rounds * inner
        print(
            f"tile: {mode}: {whole / (2 * rounds):.1f} cycles a record; a scope around nothing "
            f"takes {inner:.1f}"
        )


def main() -> None:
    tile = load("instrumented_kernels")
    proton = importlib.import_module("tile.profiler")
    measure_records(tile, proton)
    measure_launches("tile", tile, proton)
    # All launches of a measurement fit into the memory: none waits for it.
    knobs = importlib.import_module("tile.knobs").proton
    knobs.profile_buffer_size = 16 << 30
    measure_kernels("tile", tile, proton, MODES)
    del knobs.profile_buffer_size
    if (peer := load_for_peer("instrumented_kernels")) is None:
        return
    proton = importlib.import_module("triton.profiler")
    peer.pl.enable_semantic("triton")
    measure_launches("peer", peer, proton)
    measure_kernels("peer", peer, proton, MODES[:2])


if __name__ == "__main__":
    main()

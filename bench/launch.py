"""Host time of one launch of an empty kernel, by its arguments, beside Triton's.

python bench/launch.py           on a GPU, with torch's tensors; Triton in the same run
python bench/launch.py --fake    what tile itself takes, on a libcuda that does nothing
"""

from __future__ import annotations

import argparse
import gc
import pathlib
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from peer import load, load_for_peer

CASES = (
    "the driver alone",
    "no arguments",
    "11 arguments",
    "19 arguments",
    "two that must not meet",
    "a tuple of 6",
    "a descriptor",
)


def microseconds(launch: Callable[[], Any], wait: Callable[[], Any], repeats: int = 20) -> float:
    """The best mean over `repeats` runs of 1000; the queue is drained between them."""
    for _ in range(100):
        launch()
    best = float("inf")
    gc.disable()
    for _ in range(repeats):
        wait()
        start = time.perf_counter()
        for _ in range(1000):
            launch()
        best = min(best, (time.perf_counter() - start) / 1000 * 1e6)
    gc.enable()
    return best


def launches(
    module: Any, tensor: Callable[[], Any], matrix: Callable[[], Any], descriptor: Any
) -> dict[str, Callable]:
    """What is measured: name -> a launch."""
    t = [tensor() for _ in range(9)]
    numbers = (100, 200, 300, 400, 500, 600, 700, 800, 900, 1000)
    nothing, eleven, nineteen = module.nothing, module.empty_kernel, module.nineteen
    apart, other = module.apart, matrix()
    several, described = module.tuples, module.descriptor
    eleven_arguments = (*t[:5], *numbers[:6])
    nineteen_arguments = (*t, *numbers)
    tuples = ((t[0], t[1]), (100, 200, 300, 400))
    return {
        "the driver alone": driver_alone(nothing[(1,)]()),
        "no arguments": lambda: nothing[(1,)](),
        "11 arguments": lambda: eleven[(1,)](*eleven_arguments),
        "19 arguments": lambda: nineteen[(1,)](*nineteen_arguments),
        "two that must not meet": lambda: apart[(1,)](t[0], other, 0),
        "a tuple of 6": lambda: several[(1,)](*tuples),
        "a descriptor": lambda: described[(1,)](descriptor),
    }


def driver_alone(kernel: Any) -> Callable[[], Any]:
    """The call that all launches end in; what Triton has is not known here."""
    loaded = list(getattr(kernel, "loaded", {}).values())
    if not loaded:
        return lambda: None
    call = loaded[0]
    return lambda: call(1, 1, 1, 0, ())


@contextmanager
def fake_gpu() -> Iterator[tuple[Callable, Callable, Callable]]:
    sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "test" / "python" / "runtime"))
    from fake_gpu import FakeGPU, build

    import tile.language as tl

    made = build(pathlib.Path(tempfile.mkdtemp(prefix="tile-bench-")))
    if made is None:
        sys.exit("bench/launch.py --fake needs a C compiler and Python's headers")
    # They are read as torch's tensors are.
    tensor = sys.modules["fake_tensor"].Viewed
    with FakeGPU(*made):
        yield (
            lambda: tensor(0x1000, tl.float32),
            lambda: tensor(0x2000, tl.float16),
            lambda: None,
        )


@contextmanager
def real_gpu() -> Iterator[tuple[Callable, Callable, Callable]]:
    import torch

    yield (
        lambda: torch.zeros(16, device="cuda"),
        lambda: torch.zeros(64, 64, device="cuda", dtype=torch.float16),
        torch.cuda.synchronize,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fake", action="store_true", help="on a GPU that is not there")
    fake = parser.parse_args().fake
    peer = None if fake else load_for_peer("empty")
    with fake_gpu() if fake else real_gpu() as (tensor, matrix, wait):
        results: dict[str, dict[str, float]] = {}
        for name, module in (("tile", load("empty")), ("peer", peer)):
            if module is None:
                continue
            descriptor = module.TensorDescriptor(matrix(), [64, 64], [64, 1], [16, 16])
            results[name] = {
                case: microseconds(launch, wait)
                for case, launch in launches(module, tensor, matrix, descriptor).items()
            }
    print(f"{'us of a launch':24}" + "".join(f"{name:>8}" for name in results))
    for case in CASES:
        print(f"{case:24}" + "".join(f"{times[case]:8.2f}" for times in results.values()))


if __name__ == "__main__":
    main()

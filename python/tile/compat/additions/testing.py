"""What ``triton.testing`` has beside our own names."""

from __future__ import annotations

import functools
import tempfile
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from tile import profiler, testing
from tile.compat.triton._C.libtriton.cublas import CublasLt
from tile.errors import TileError
from tile.runtime.driver import driver

#: Bytes of memory that a matmul may use.
_WORKSPACE = 32 * 2**20


@functools.cache
def _cublas_for_device(device: int) -> CublasLt:
    import torch

    return CublasLt(torch.empty(_WORKSPACE, dtype=torch.int8, device=f"cuda:{device}"))


def cublas() -> CublasLt | None:
    """cuBLAS on the current device, for matmuls to compare with; None where it is not."""
    active = driver.active
    if active.name != "cuda":
        return None
    return _cublas_for_device(active.get_current_device())


# Times of kernels alone, from the profiler.


def do_bench_proton(
    fn: Callable,
    warmup: float = 25,
    rep: float = 100,
    grad_to_none: Any = None,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
) -> Any:
    """The time of the kernels that `fn` launches, in milliseconds, without what the host does
    between them. Copies and the like do not count. `warmup` and `rep` are the milliseconds spent
    before and while measuring.

    In the simulator one call is made. The result is what its model says, and a warning says so.
    """
    count = 1
    empty: Any = None
    if _on_gpu("do_bench_proton"):
        active = driver.active
        empty = active.get_empty_cache_for_benchmark()
        around = testing.do_bench(fn, 0, 1, grad_to_none)
        for _ in range(int(warmup / max(around, 1e-3))):
            fn()
        count = max(1, int(rep / max(around, 1e-3)))

    def prepare() -> None:
        testing._clear_gradients(grad_to_none)
        if empty is not None:
            driver.active.clear_cache(empty)

    times = _kernel_times(fn, count, prepare)
    return testing._summarize_statistics(times, quantiles, return_mode)


def do_bench_cudagraph_proton(
    fn: Callable,
    rep: float = 20,
    grad_to_none: Any = None,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
) -> Any:
    """The same for calls of `fn` in a CUDA graph, without anything of the host."""
    if not _on_gpu("do_bench_cudagraph_proton") or driver.active.name != "cuda":
        raise TileError("do_bench_cudagraph_proton needs an NVIDIA GPU")
    import torch

    around = testing.do_bench_cudagraph(fn, 1, grad_to_none)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        testing._clear_gradients(grad_to_none)
        fn()
    empty = driver.active.get_empty_cache_for_benchmark()
    count = max(1, int(rep / max(around, 1e-3)))
    times = _kernel_times(graph.replay, count, lambda: driver.active.clear_cache(empty))
    return testing._summarize_statistics(times, quantiles, return_mode)


def _on_gpu(name: str) -> bool:
    """Whether a GPU runs the kernels."""
    if driver.active.has_events:
        return True
    warnings.warn(
        f"there is no GPU, so {name} measures nothing: it is the time of the simulator's model",
        stacklevel=3,
    )
    return False


def _kernel_times(call: Callable, count: int, prepare: Callable) -> list[float]:
    """What the kernels of each of so many calls took, in milliseconds."""
    with tempfile.TemporaryDirectory() as folder:
        session = profiler.start(f"{folder}/times", data="tree")
        if session is None:
            raise TileError("the profiler is turned off (TRITON_PROTON_DISABLE)")
        try:
            for i in range(count):
                prepare()
                with profiler.scope(f"call {i}"):
                    call()
            profiler.deactivate(session, flushing=True)
            root, devices = profiler.data.get(session)
        finally:
            profiler.finalize(session)
    found = {c["frame"]["name"]: _time(c, devices) for c in root["children"]}
    return [found[f"call {i}"] for i in range(count)]


def _time(node: dict[str, Any], devices: dict[str, Any]) -> float:
    """The milliseconds of all kernels below a node."""
    metrics = node["metrics"]
    time = metrics.get("time (ns)", 0) / 1e6
    if cycles := metrics.get("cycles", 0):
        kilohertz = devices[metrics["device_type"]][metrics["device_id"]]["clock_rate"]
        time += cycles / kilohertz
    return time + sum(_time(child, devices) for child in node["children"])

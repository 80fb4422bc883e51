"""Measuring and comparing: what benchmarks and tests of kernels need."""

from __future__ import annotations

import gc
import math
import statistics
import subprocess
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .errors import TileError
from .runtime.driver import driver


def _summarize_statistics(
    times: Sequence[float], quantiles: Sequence[float] | None, return_mode: str
) -> Any:
    if quantiles is not None:
        result = [_quantile(times, q) for q in quantiles]
        return result[0] if len(result) == 1 else result
    if return_mode == "all":
        return list(times)
    modes: dict[str, Callable[[Sequence[float]], float]] = {
        "min": min,
        "max": max,
        "mean": statistics.fmean,
        "median": statistics.median,
    }
    if return_mode not in modes:
        raise TileError(f"return_mode is one of min, max, mean, median, all, not {return_mode!r}")
    return modes[return_mode](times)


def _quantile(times: Sequence[float], q: float) -> float:
    """Between the two nearest measurements, linearly."""
    ordered = sorted(times)
    position = q * (len(ordered) - 1)
    low = math.floor(position)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (position - low)


def _clear_gradients(tensors: Any) -> None:
    for tensor in tensors or ():
        tensor.grad = None


def _host_bench(fn: Callable, warmup: float, rep: float, grad_to_none: Any) -> list[float]:
    """Times calls on the host: for the simulator, and where torch is absent."""
    synchronize = getattr(driver.active, "synchronize", lambda: None)

    def once() -> float:
        _clear_gradients(grad_to_none)
        start = time.perf_counter()
        fn()
        synchronize()
        return (time.perf_counter() - start) * 1e3

    estimate = max(once(), 1e-6)
    for _ in range(int(warmup / estimate)):
        once()
    return [once() for _ in range(max(1, int(rep / estimate)))]


def _estimated_bench(fn: Callable, grad_to_none: Any) -> list[float]:
    """In the simulator: what its model says that the launches of one call would take on a GPU."""
    from .backends.sim_driver import LAUNCHES
    from .runtime.tuning import estimate

    _clear_gradients(grad_to_none)
    reports: list[Any] = []

    def keep(launch: Any) -> None:
        reports.append(launch.report)

    LAUNCHES.add(keep)
    try:
        fn()
    finally:
        LAUNCHES.remove(keep)
    if not reports:
        warnings.warn(
            "there is no GPU, and the function launched no kernel in the simulator: this is the "
            "time of the host",
            stacklevel=5,
        )
        return _host_bench(fn, 0, 1, grad_to_none)
    gpu = reports[-1].roofline()["gpu"]
    warnings.warn(
        f"there is no GPU, so this is no measurement: it is what the {gpu} needs at least, by "
        f"what the simulator counted in {len(reports)} launch{'es' if len(reports) > 1 else ''}, "
        "without the time that a launch takes",
        stacklevel=5,
    )
    return [sum(map(estimate, reports))]


def do_bench(
    fn: Callable,
    warmup: float = 25,
    rep: float = 100,
    grad_to_none: Any = None,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
) -> Any:
    """The time of `fn` in milliseconds.

    `warmup` and `rep` are the milliseconds spent before and while measuring.
    On a GPU the second-level cache is emptied before each call, within these
    milliseconds: it may take longer than the call.

    In the simulator nothing can be measured. One call is made, and the result
    is what a GPU needs at least for its launches, by what the simulator
    counted. A warning says so.
    """
    return _bench_calls(fn, warmup, rep, grad_to_none, quantiles, return_mode)


def _bench_calls(
    fn: Callable,
    warmup: float = 25,
    rep: float = 100,
    grad_to_none: Any = None,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
    max_calls: int | None = None,
) -> Any:
    """As `do_bench`, with no more than so many calls before, and so many while measuring."""
    times = _bench(fn, warmup, rep, grad_to_none, max_calls)
    return _summarize_statistics(times, quantiles, return_mode)


def _bench(
    fn: Callable, warmup: float, rep: float, grad_to_none: Any, max_calls: int | None
) -> list[float]:
    """The times of calls."""
    if not getattr(driver.active, "has_events", False):
        if getattr(driver.active, "name", "") == "sim":
            return _estimated_bench(fn, grad_to_none)
        return _host_bench(fn, min(warmup, 0), min(rep, 1), grad_to_none)
    try:
        import torch
    except ImportError:
        return _host_bench(fn, warmup, rep, grad_to_none)
    active = driver.active
    flush = torch.empty(active.cache_bytes, dtype=torch.int8, device=active.torch_device)
    fn()
    torch.cuda.synchronize()

    def events(count: int) -> list[Any]:
        return [torch.cuda.Event(enable_timing=True) for _ in range(count)]

    def timed(count: int) -> tuple[list[float], float]:
        """The time of each call, and of a call with all that is around it."""
        starts, ends, (first,) = events(count), events(count), events(1)
        first.record()
        for start, end in zip(starts, ends, strict=True):
            _clear_gradients(grad_to_none)
            flush.zero_()
            start.record()
            fn()
            end.record()
        torch.cuda.synchronize()
        times = [s.elapsed_time(e) for s, e in zip(starts, ends, strict=True)]
        return times, first.elapsed_time(ends[-1]) / count

    _, around = timed(5)

    def count(milliseconds: float) -> int:
        calls = max(1, int(milliseconds / max(around, 1e-3)))
        return calls if max_calls is None else min(calls, max_calls)

    timed(count(warmup))
    return timed(count(rep))[0]


def do_bench_cudagraph(
    fn: Callable,
    rep: float = 20,
    grad_to_none: Any = None,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
) -> Any:
    """Like `do_bench`, with the calls recorded in a CUDA graph: the time the
    host needs for a launch does not count."""
    try:
        import torch
    except ImportError:
        raise TileError("do_bench_cudagraph needs torch") from None
    if not torch.cuda.is_available():
        raise TileError("do_bench_cudagraph needs an NVIDIA GPU")
    # The stream that graphs are captured on by default is one of the device that captured first.
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        fn()
        _clear_gradients(grad_to_none)
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        start.record()
        for _ in range(5):
            fn()
        end.record()
        torch.cuda.synchronize()
        count = max(1, int(rep / max(start.elapsed_time(end) / 5, 1e-3)))
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            for _ in range(count):
                _clear_gradients(grad_to_none)
                fn()
        torch.cuda.synchronize()
        times = []
        for _ in range(10):
            start.record()
            graph.replay()
            end.record()
            torch.cuda.synchronize()
            times.append(start.elapsed_time(end) / count)
    return _summarize_statistics(times, quantiles, return_mode)


@contextmanager
def cuda_graph_without_gc(*args: Any, **kwargs: Any) -> Iterator[Any]:
    """`torch.cuda.graph`, in which Python's garbage collector does not run: it may free memory of
    the device, which a capture does not allow."""
    import torch

    was_enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        with torch.cuda.graph(*args, **kwargs) as graph:
            yield graph
    finally:
        if was_enabled:
            gc.enable()


def assert_close(
    x: Any, y: Any, atol: float | None = None, rtol: float | None = None, err_msg: str = ""
) -> None:
    """Raises unless the two are equal within `atol` and `rtol` (1e-2, 0)."""
    import numpy as np

    def to_numpy(value: Any) -> Any:
        if hasattr(value, "detach"):
            value = value.detach().cpu()
            value = value.float() if str(value.dtype) == "torch.bfloat16" else value
            return value.numpy()
        value = np.asarray(value)
        return value.astype(np.float32) if value.dtype.name == "bfloat16" else value

    a, b = to_numpy(x), to_numpy(y)
    atol = 1e-2 if atol is None else float(atol)
    rtol = 0.0 if rtol is None else float(rtol)
    if a.size == 1 or b.size == 1:
        np.testing.assert_allclose(a, b, atol=atol, rtol=rtol, err_msg=err_msg, equal_nan=True)
        return
    if a.shape != b.shape:
        raise AssertionError(f"{err_msg} the shapes {a.shape} and {b.shape} differ".strip())
    if not np.allclose(a, b, atol=atol, rtol=rtol, equal_nan=True):
        np.testing.assert_allclose(a, b, atol=atol, rtol=rtol, err_msg=err_msg, equal_nan=True)


class Benchmark:
    """What a `perf_report` varies, and how it shows it."""

    def __init__(
        self,
        x_names: list[str],
        x_vals: list[Any],
        line_arg: str,
        line_vals: list[Any],
        line_names: list[str],
        plot_name: str,
        args: dict[str, Any],
        xlabel: str = "",
        ylabel: str = "",
        x_log: bool = False,
        y_log: bool = False,
        styles: Any = None,
    ) -> None:
        self.x_names = x_names
        self.x_vals = x_vals
        self.line_arg = line_arg
        self.line_vals = line_vals
        self.line_names = line_names
        self.plot_name = plot_name
        self.args = args
        self.xlabel = xlabel
        self.ylabel = ylabel
        self.x_log = x_log
        self.y_log = y_log
        self.styles = styles


class Mark:
    """A benchmark function with what it is run for."""

    def __init__(self, fn: Callable, benchmarks: Any) -> None:
        self.fn = fn
        self.benchmarks = benchmarks

    def _rows(self, bench: Benchmark, **kwargs: Any) -> list[list[Any]]:
        rows = []
        for x in bench.x_vals:
            values = x if isinstance(x, (tuple, list)) else [x] * len(bench.x_names)
            if len(values) != len(bench.x_names):
                raise TileError(
                    f"expected {len(bench.x_names)} values for {bench.x_names}, not {x}"
                )
            named = dict(zip(bench.x_names, values, strict=True))
            row = list(values)
            for line in bench.line_vals:
                result = self.fn(**named, **{bench.line_arg: line}, **bench.args, **kwargs)
                row.append(result[0] if isinstance(result, (tuple, list)) else result)
            rows.append(row)
        return rows

    def run(
        self,
        show_plots: bool = False,
        print_data: bool = False,
        save_path: str = "",
        return_df: bool = False,
        **kwargs: Any,
    ) -> Any:
        """Runs the benchmarks; prints a table, or returns the numbers."""
        single = isinstance(self.benchmarks, Benchmark)
        results = []
        for bench in [self.benchmarks] if single else self.benchmarks:
            header = [*bench.x_names, *[f"{n} ({bench.ylabel})" for n in bench.line_names]]
            rows = self._rows(bench, **kwargs)
            if print_data:
                print(f"{bench.plot_name}:")
                print(_table(header, rows))
            if save_path:
                _save(save_path, bench.plot_name, header, rows)
            if show_plots:
                _plot(bench, rows)
            results.append((header, rows))
        if return_df:
            import pandas

            frames = [pandas.DataFrame(rows, columns=header) for header, rows in results]
            return frames[0] if single else frames
        return None


def _table(header: list[str], rows: list[list[Any]]) -> str:
    cells = [header, *[[f"{v:.6g}" if isinstance(v, float) else str(v) for v in r] for r in rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in cells
    )


def _save(folder: str, name: str, header: list[str], rows: list[list[Any]]) -> None:
    import csv
    import os

    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, f"{name}.csv"), "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def _plot(bench: Benchmark, rows: list[list[Any]]) -> None:
    import matplotlib.pyplot as plt

    first = len(bench.x_names)
    for i, name in enumerate(bench.line_names):
        plt.plot([r[0] for r in rows], [r[first + i] for r in rows], label=name)
    plt.legend()
    plt.xlabel(bench.xlabel or bench.x_names[0])
    plt.ylabel(bench.ylabel)
    plt.xscale("log" if bench.x_log else "linear")
    plt.yscale("log" if bench.y_log else "linear")
    plt.show()


def perf_report(benchmarks: Any) -> Callable[[Callable], Mark]:
    """Marks a function that measures one point of a `Benchmark`."""
    return lambda fn: Mark(fn, benchmarks)


# Facts about the GPU.


def nvsmi(attrs: Sequence[str]) -> list[int]:
    """What nvidia-smi says about the first GPU."""
    command = [
        "nvidia-smi",
        "-i",
        "0",
        f"--query-gpu={','.join(attrs)}",
        "--format=csv,noheader,nounits",
    ]
    try:
        text = subprocess.run(
            command, capture_output=True, encoding="utf-8", errors="replace", check=True
        ).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise TileError(f"nvidia-smi does not answer: {error}") from None
    return [int(float(item)) for item in text.strip().split(",")]


def get_dram_gbps(device: int | None = None) -> float:
    """Peak bandwidth of the GPU's memory, in GB/s."""
    active = driver.active
    if not hasattr(active, "attribute"):
        raise TileError("the bandwidth of the memory is a property of a GPU; none is in use")
    device = active.get_current_device() if device is None else device
    clock_khz, bus_bits = active.attribute(36, device), active.attribute(37, device)
    return clock_khz * bus_bits * 2 / 1e6 / 8


def _multiprocessors(device: int | None) -> int:
    active = driver.active
    if not hasattr(active, "attribute"):
        raise TileError("the number of multiprocessors is a property of a GPU; none is in use")
    return active.attribute(16, active.get_current_device() if device is None else device)


def get_max_tensorcore_tflops(dtype: Any, clock_rate: float, device: int | None = None) -> float:
    """Peak rate of the tensor cores at a clock (in kHz), in TFLOP/s."""
    from .runtime.specialize import type_name

    arch = driver.active.get_current_target().arch
    # Multiply-adds of a 16-bit type for each multiprocessor and cycle, doubled.
    per_cycle = {70: 1024, 75: 1024, 80: 2048, 86: 1024, 89: 1024, 90: 4096, 100: 8192}
    known = [a for a in per_cycle if a <= arch]
    if not known:
        raise TileError(f"sm_{arch} has no tensor cores")
    scale = {"fp32": 0.5, "fp16": 1, "bf16": 1, "i8": 2, "fp8e4nv": 2, "fp8e5": 2}
    name = type_name(dtype)
    if name not in scale:
        raise TileError(f"tensor cores do not take {name}")
    return _multiprocessors(device) * per_cycle[max(known)] * scale[name] * clock_rate * 1e-9


def get_max_simd_tflops(dtype: Any, clock_rate: float, device: int | None = None) -> float:
    """Peak rate outside of the tensor cores at a clock (in kHz), in TFLOP/s."""
    from .runtime.specialize import type_name

    per_cycle = {"fp32": 256, "fp16": 512, "bf16": 512, "fp64": 128}
    name = type_name(dtype)
    if name not in per_cycle:
        raise TileError(f"no rate is known for {name}")
    return _multiprocessors(device) * per_cycle[name] * clock_rate * 1e-9


@contextmanager
def set_gpu_clock(ref_sm_clock: int = 1350, ref_mem_clock: int = 1215):
    """Fixes the clocks of the first GPU, which takes administrator rights."""

    def smi(*arguments: str) -> None:
        subprocess.run(["nvidia-smi", "-i", "0", *arguments], check=True, capture_output=True)

    try:
        smi("-pm", "1")
        smi(f"--lock-gpu-clocks={ref_sm_clock},{ref_sm_clock}")
        smi(f"--lock-memory-clocks={ref_mem_clock},{ref_mem_clock}")
        yield ref_sm_clock, ref_mem_clock
    finally:
        smi("--reset-gpu-clocks")
        smi("--reset-memory-clocks")


def cuda_memcheck(**target_kwargs: Any) -> Callable:
    """Checks the memory accesses of a test. The simulator always does; on a GPU
    run the test under ``compute-sanitizer``."""
    return lambda fn: fn

"""Kernels on an NVIDIA GPU: what CUPTI records, put under the scopes that launched them."""

from __future__ import annotations

import glob
import importlib.util
import math
import os
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ... import _C, knobs
from ...errors import TileError
from ...settings import warn
from ..core.records import Capture, Kernel
from ..core.sessions import sessions
from ..core.stack import Place as Location
from ..core.threads import Entered, threads
from ..metric import typed
from ..state import metadata_state
from .base import Backend
from .graph_metrics import GraphMetrics

if TYPE_CHECKING:
    from ..core.sessions import Sessions

_native = _C.cupti
#: The first architecture that TRITON_CUPTI_LIB_BLACKWELL_PATH is for.
_BLACKWELL = 100


def _folders() -> list[str]:
    """Where libcupti may be, the likeliest first."""
    found = []
    for package in ("nvidia.cu13", "nvidia.cuda_cupti"):
        try:
            spec = importlib.util.find_spec(package)
        except ModuleNotFoundError:
            continue
        found += [os.path.join(p, "lib") for p in (spec and spec.submodule_search_locations) or ()]
    home = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    return [*found, os.path.join(home, "extras", "CUPTI", "lib64"), os.path.join(home, "lib64")]


def library(arch: int) -> str:
    """The library: the one that is set, one that a package brought, or the system's."""
    chosen = knobs.proton.cupti_lib_dir
    if arch >= _BLACKWELL:
        chosen = knobs.proton.cupti_lib_blackwell_dir or chosen
    if chosen and os.path.isfile(chosen):
        return chosen
    for folder in [chosen] if chosen else _folders():
        if found := sorted(glob.glob(os.path.join(folder, "libcupti.so*"))):
            return found[-1]
    if chosen:
        raise TileError(f"there is no libcupti.so in {chosen}, which TRITON_CUPTI_LIB_PATH names")
    return "libcupti.so.13"


class Cupti(Backend):
    name = "cupti"
    device_type = "CUDA"

    def __init__(self) -> None:
        self.library = ""
        self.problem = ""
        self._ranges = _Ranges()
        #: Metrics of launches that were captured, by graph.
        self._deferred: dict[int, list[tuple[int, int, dict[str, Any]]]] = defaultdict(list)
        self._graph_metrics = GraphMetrics()
        self._is_capturing: Callable[[], bool] | None = None
        self._told: set[int] = set()
        self._devices: set[int] = set()

    def start(self, mode: Any) -> None:
        if mode.name not in ("", "periodic_flushing", "pcsampling"):
            raise TileError(f"the profiler backend cupti has no mode {mode.name!r}")
        self.library = library(self._arch())
        with_nvtx = knobs.proton.enable_nvtx
        if with_nvtx:
            # Is read when NVTX is used first.
            os.environ.setdefault("NVTX_INJECTION64_PATH", self.library)
            _native.set_on_range(self._ranges)
        hw_trace = knobs.proton.enable_hw_trace and self._arch() >= _BLACKWELL
        self.problem = _native.start(
            self.library, knobs.proton.profile_buffer_size, with_nvtx, hw_trace
        )
        if self.problem:
            # The program goes on, with its scopes and without kernels.
            warn(f"the profiler records no kernels: {self.problem}")
        elif mode.name == "pcsampling":
            self._start_sampling(mode.interval)
        threads.listener = _native.set_where
        if not self.problem:
            self._graph_metrics.prepare()

    def _start_sampling(self, interval: int) -> None:
        """Samples every `interval` cycles, to the nearest power of two."""
        driver = self._driver()
        driver.ensure_context(driver.get_current_device())
        problem = _native.start_sampling(min(max(round(math.log2(interval)), 5), 31))
        if problem:
            # Times are recorded all the same.
            warn(f"the profile has no source lines: {problem}")

    def stop(self) -> None:
        threads.listener = None
        _native.set_locate(None)
        _native.stop()
        _native.take()
        _native.set_wants_events(False)
        self._deferred.clear()
        self._graph_metrics.clear()
        self._told.clear()

    def changed(self, epoch: int, active: Sequence[Any]) -> None:
        # Records come later than launches, when nothing may be active any more.
        if any(s.data == "trace" for s in active):
            _native.set_wants_events(True)
        _native.set_locate(threads.node if any(s.context == "python" for s in active) else None)
        _native.set_epoch(epoch, bool(active))

    # Records.

    def collect(self, sessions: Sessions, wait: bool) -> None:
        if wait:
            self._synchronize()
        _native.flush(wait)
        sums, events, replays, dropped = _native.take()
        for place, count, nanoseconds in sums:
            sessions.add_kernel(self._kernel(place, count, nanoseconds))
        for place, scope, start, end, stream, replay in events:
            kernel = self._kernel(place, 1, end - start)
            kernel.scope, kernel.stream, kernel.replay = scope, stream, replay
            kernel.start, kernel.end = start, end
            sessions.add_kernel(kernel)
        lines, lost = _native.take_samples()
        for node, epoch, name, file, line, samples, reasons in lines:
            metrics = {"num_samples": samples, **reasons}
            below = [((str(Location(file, line, name)),), metrics)] if file else []
            kernel = Kernel(node, epoch, name, {} if file else metrics, below=below)
            sessions.add_kernel(kernel)
        for exec, graph, made, node, epoch in replays:
            if any(graph is None or made < s.began for s, _ in sessions.in_epoch(epoch)):
                self._tell_unknown(exec)
            for inner, captured, metrics in self._deferred.get(graph, ()):
                sessions.add_replayed(node, epoch, Capture(inner, captured), metrics)
            if graph is not None:
                self._graph_metrics.replayed(graph, node, epoch)
        for metric, node, epoch, value in self._graph_metrics.settle() if wait else ():
            capture = Capture(metric.node, metric.epoch)
            sessions.add_replayed(node, epoch, capture, {metric.name: typed(metric.name, value)})
        if dropped:
            warn(
                f"CUPTI dropped {dropped} records of kernels: TILE_PROFILE_BUFFER_SIZE makes its "
                "buffers larger"
            )
        if lost:
            warn(
                f"CUPTI dropped {lost} samples of the program counter: a longer `interval` takes "
                "fewer"
            )

    def _tell_unknown(self, exec: int) -> None:
        """Says once that nobody saw a graph made."""
        if exec not in self._told:
            self._told.add(exec)
            print(
                f"tile: Cannot find graph for graphExecId: {exec}. Its kernels stand in the scope "
                "of the replay; to see the scopes of the capture, start profiling before the "
                "graph is created.",
                file=sys.stderr,
            )

    def _kernel(self, place: tuple, count: int, nanoseconds: int) -> Kernel:
        node, epoch, name, device, captured = place
        self._devices.add(device)
        metrics = {
            "time (ns)": nanoseconds, "count": count, "device_id": str(device),
            "device_type": self.device_type,
        }  # fmt: skip
        capture = Capture(*captured) if captured else None
        return Kernel(node, epoch, name, metrics, capture=capture, device=device)

    def pending(self, epochs: Sequence[int]) -> bool:
        return _native.is_pending(list(epochs)) or self._graph_metrics.pending(set(epochs))

    def _synchronize(self) -> None:
        torch = sys.modules.get("torch")
        if torch is not None and torch.cuda.is_initialized():
            for device in range(torch.cuda.device_count()):
                torch.cuda.synchronize(device)
            return
        driver = self._driver()
        driver.ensure_context(driver.get_current_device())
        driver.synchronize()

    # Graphs.

    def defer(self, node: int, epoch: int, metrics: dict[str, Any]) -> bool:
        graph = self._captured_graph()
        if graph is None:
            return False
        self._deferred[graph].append((node, epoch, metrics))
        return True

    def defer_tensors(
        self, node: int, epoch: int, tensors: dict[str, Any], kernel: str | None
    ) -> bool:
        with metadata_state(kernel):
            self._graph_metrics.prepare()
            graph = self._captured_graph()
            if graph is not None:
                self._graph_metrics.capture(graph, node, epoch, tensors)
        return graph is not None

    def _captured_graph(self) -> int | None:
        """The graph that torch's current stream is captured into."""
        if self._is_capturing is None:
            torch = sys.modules.get("torch")
            if torch is None or not torch.cuda.is_initialized():
                return None
            self._is_capturing = torch._C._cuda_isCurrentStreamCapturing
        if not self._is_capturing():
            return None
        return _native.captured_graph(sys.modules["torch"].cuda.current_stream().cuda_stream)

    # The devices.

    def _driver(self) -> Any:
        from ...runtime.driver import driver

        return driver.active

    def _arch(self) -> int:
        return int(self._driver().get_current_target().arch)

    def devices(self) -> dict[str, Any]:
        driver = self._driver()
        found = {}
        for device in sorted(self._devices):
            known = driver.device_properties(device)
            arch = driver.attribute(75, device) * 10 + driver.attribute(76, device)
            found[str(device)] = {
                "arch": str(arch), "bus_width": known["mem_bus_width"],
                "clock_rate": known["sm_clock_rate"], "memory_clock_rate": known["mem_clock_rate"],
                "num_sms": known["multiprocessor_count"],
            }  # fmt: skip
        return {self.device_type: found} if found else {}

    def why_empty(self) -> str:
        return self.problem or super().why_empty()


class _Ranges(threading.local):
    """NVTX ranges of a thread, which are scopes."""

    def __init__(self) -> None:
        self.entered: list[Entered] = []

    def __call__(self, name: str | None) -> None:
        if name is not None:
            self.entered.append(sessions.enter(name, {}))
        elif self.entered:
            sessions.leave(self.entered.pop())

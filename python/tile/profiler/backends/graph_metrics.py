"""Metrics that are tensors, of launches that are captured into CUDA graphs.

A captured kernel appends the values to a buffer of the device, under the metric's number, each time
that its graph is replayed. The replays of a graph come one after the other: the buffer's n-th entry
of a number belongs to the graph's n-th replay.
"""

from __future__ import annotations

import itertools
import sys
from collections import defaultdict, deque
from dataclasses import dataclass
from typing import Any

import tile
import tile.language as tl

from ...errors import TileError
from ...settings import warn
from ..core.threads import threads

#: Words of the buffer: those in use come first.
_WORDS = 1 << 20
#: The name of the kernels, in profiles.
NAME = "<metric>"


@tile.jit(do_not_specialize=["number", "count", "capacity"])
def append(buffer, values, number, count, capacity, BLOCK: tl.constexpr):
    """Appends a number, a count and as many values, if there is room for all."""
    at = tl.atomic_add(buffer, count + 2)
    fits = at + count + 2 < capacity
    tl.store(buffer + 1 + at, number, fits)
    tl.store(buffer + 2 + at, count, fits)
    for first in range(0, count, BLOCK):
        which = first + tl.arange(0, BLOCK)
        inside = (which < count) & fits
        value = tl.load(values + which, inside, other=0).to(tl.int64, bitcast=True)
        tl.store(buffer + 3 + at + which, value, inside)


@dataclass(frozen=True)
class _Metric:
    """A metric of a captured launch."""

    number: int
    name: str
    node: int
    epoch: int
    graph: int
    is_float: bool
    is_scalar: bool


class GraphMetrics:
    """Of all devices."""

    def __init__(self) -> None:
        self._buffers: dict[int, Any] = {}
        self._numbers = itertools.count(1)
        self._metrics: dict[int, _Metric] = {}
        self._of_graph: dict[int, list[_Metric]] = defaultdict(list)
        #: For each metric the replays whose values were not read.
        self._replays: dict[int, deque[tuple[int, int]]] = defaultdict(deque)

    def prepare(self) -> None:
        """Makes the buffer of the current device; not during a capture."""
        torch = sys.modules.get("torch")
        if torch is None or not torch.cuda.is_initialized():
            return
        device = torch.cuda.current_device()
        if device in self._buffers or torch.cuda.is_current_stream_capturing():
            return
        buffer = torch.zeros(_WORDS, dtype=torch.int64, device=device)
        try:
            for dtype in (torch.float64, torch.int64):  # What is compiled now is there in captures.
                append[(1,)](buffer, buffer.view(dtype), 0, 0, 0, BLOCK=128)
        except TileError as error:
            warn(f"metrics that are tensors are not recorded in captured graphs: {error}")
            return
        buffer.zero_()
        self._buffers[device] = buffer

    def capture(self, graph: int, node: int, epoch: int, tensors: dict[str, Any]) -> None:
        """Appends tensors on the stream that is captured, at each replay."""
        torch = sys.modules["torch"]
        for name, tensor in tensors.items():
            buffer = self._buffers.get(tensor.get_device())
            if buffer is None:
                warn(
                    f"the metric {name!r} of a captured graph is not recorded: the session was "
                    "started before the device was used"
                )
                continue
            is_float = tensor.dtype.is_floating_point
            metric = _Metric(
                next(self._numbers), name, node, epoch, graph, is_float, tensor.numel() == 1
            )
            self._metrics[metric.number] = metric
            self._of_graph[graph].append(metric)
            values = tensor.detach().reshape(-1).contiguous()
            values = values.to(torch.float64 if is_float else torch.int64)
            threads.enter_launch(NAME, -1)
            try:
                append[(1,)](buffer, values, metric.number, values.numel(), _WORDS, BLOCK=128)
            finally:
                threads.leave_launch()

    def replayed(self, graph: int, node: int, epoch: int) -> None:
        """A graph was launched."""
        for metric in self._of_graph.get(graph, ()):
            self._replays[metric.number].append((node, epoch))

    def pending(self, epochs: set[int]) -> bool:
        """Whether values of replays in these epochs were not read."""
        return any(epoch in epochs for queue in self._replays.values() for _, epoch in queue)

    def settle(self) -> list[tuple[_Metric, int, int, Any]]:
        """Reads the buffers of idle devices: metric, path and epoch of the replay, value."""
        if not any(self._replays.values()):
            return []
        found = []
        for buffer in self._buffers.values():
            used = int(buffer[0])
            words = buffer[1 : 1 + min(used, _WORDS - 1)].cpu().numpy()
            buffer[0] = 0
            at = 0
            while at + 2 <= len(words):
                metric, count = self._metrics.get(int(words[at])), int(words[at + 1])
                values = words[at + 2 : at + 2 + count]
                at += 2 + count
                if metric is None or not self._replays[metric.number]:
                    break  # From here on, the buffer was full.
                node, epoch = self._replays[metric.number].popleft()
                values = (values.view("float64") if metric.is_float else values).tolist()
                found.append((metric, node, epoch, values[0] if metric.is_scalar else values))
            if used >= _WORDS:
                warn("metrics of replayed graphs are missing: there were too many between flushes")
        self._replays.clear()
        return found

    def clear(self) -> None:
        self._metrics.clear()
        self._of_graph.clear()
        self._replays.clear()

"""Data as a trace: an event for each scope and each kernel, as Chrome and Perfetto show them."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from .paths import Node
from .records import Kernel, Scope

HOST, DEVICE = 0, 1
#: The threads of a device's process: streams, and behind them the graphs replayed in them. Perfetto
#: knows numbers of 32 bits.
_STREAMS_OF_A_DEVICE, _GRAPHS = 1 << 16, 1 << 30
CAPTURED_AT = "<captured_at>"
#: Metrics that say what the event itself shows.
_SHOWN_ANYHOW = {"time (ns)", "count", "device_id", "device_type"}


def names(path: Iterable[Node]) -> list[str]:
    return ["ROOT", *(step.name for step in path)]


@dataclass(slots=True)
class _KernelAt:
    kernel: Kernel
    path: list[str]


@dataclass(slots=True)
class _ScopeAt:
    scope: Scope
    path: list[str]
    places: list[Node]


def _text(value: Any) -> str:
    """A metric, as events have it: numbers with a point have six digits behind it."""
    if isinstance(value, list):
        return "[" + ", ".join(map(_text, value)) + "]"
    return f"{value:.6f}" if isinstance(value, float) else str(value)


class Trace:
    """The trace of one phase of a session."""

    def __init__(self) -> None:
        self._scopes: list[_ScopeAt] = []
        self._kernels: list[_KernelAt] = []
        self._names: dict[int, list[str]] = {}
        self._lock = threading.Lock()

    @property
    def is_empty(self) -> bool:
        return not self._scopes and not self._kernels

    def add_scope(self, path: Sequence[Node], scope: Scope) -> None:
        with self._lock:
            self._scopes.append(_ScopeAt(scope, names(path), list(path)))

    def add_kernel(self, path: Sequence[Node], kernel: Kernel) -> None:
        with self._lock:
            # Launches from one place share a path, which the session keeps.
            known = self._names.get(id(path))
            if known is None:
                known = self._names[id(path)] = names(path)
            self._kernels.append(_KernelAt(kernel, known))

    def to_chrome(self, about: dict[str, Any], with_launches: bool = True) -> dict[str, Any]:
        """The whole trace, or what happened inside of kernels alone, if something did. `about` says
        what a backend knows: the unit of its time."""
        with self._lock:
            kernels = sorted(self._kernels, key=lambda k: k.kernel.start)
            scopes = sorted(self._scopes, key=lambda s: (s.scope.start, -s.scope.end))
        starts = [k.kernel.start for k in kernels] + [s.scope.start for s in scopes]
        base = min(starts, default=0)
        inside = [event for k in kernels for event in _inside(k, base)]
        if inside and not with_launches:
            return _chrome(inside, base, about)
        events = [_scope_event(s, base) for s in scopes]
        events += [_kernel_event(k, base) for k in kernels]
        events += _flows(scopes, kernels, base)
        events += _graph_scopes(kernels, base)
        events += inside
        if kernels:  # Without any there is one thread, whose name says nothing.
            events = [*_thread_names(scopes, kernels), *events]
        return _chrome(events, base, about)


def _chrome(events: list[dict[str, Any]], base: int, about: dict[str, Any]) -> dict[str, Any]:
    return {
        "baseTimeNanoseconds": base, "displayTimeUnit": "us", **about, "traceEvents": events,
    }  # fmt: skip


def _microseconds(time: int, base: int) -> float:
    return (time - base) / 1000


def _stream(kernel: Kernel) -> int:
    return kernel.device * _STREAMS_OF_A_DEVICE + kernel.stream % _STREAMS_OF_A_DEVICE


def _graph(kernel: Kernel) -> int:
    return _GRAPHS + _stream(kernel)


def _scope_event(at: _ScopeAt, base: int) -> dict[str, Any]:
    scope = at.scope
    args: dict[str, Any] = {"call_stack": at.path, "scope_id": scope.id}
    name, category = scope.name, "scope"
    if scope.metrics:
        values = {n: _text(v) for n, v in scope.metrics.items()}
        name += ": " + ", ".join(f"<{n}, {v}>" for n, v in values.items())
        args["metrics"] = values
        category = "metric"
    if at.places and at.places[-1].file:
        args["source"] = f"{at.places[-1].file}:{at.places[-1].line}"
    return {
        "ph": "X", "name": name, "cat": category, "pid": HOST, "tid": scope.thread,
        "ts": _microseconds(scope.start, base), "dur": (scope.end - scope.start) / 1000,
        "args": args,
    }  # fmt: skip


def _kernel_event(at: _KernelAt, base: int) -> dict[str, Any]:
    kernel = at.kernel
    args: dict[str, Any] = {"call_stack": at.path}
    if kernel.scope:
        args["scope_id"] = kernel.scope
    metrics = {n: _text(v) for n, v in kernel.metrics.items() if n not in _SHOWN_ANYHOW}
    if metrics:
        args["metrics"] = metrics
    return {
        "ph": "X", "name": at.path[-1], "cat": "kernel", "pid": DEVICE, "tid": _stream(kernel),
        "ts": _microseconds(kernel.start, base), "dur": (kernel.end - kernel.start) / 1000,
        "args": args,
    }  # fmt: skip


def _flows(scopes: list[_ScopeAt], kernels: list[_KernelAt], base: int) -> list[dict[str, Any]]:
    """Arrows from the scope that a launch was in to its kernel; one for each launch of a graph."""
    by_id = {s.scope.id: s.scope for s in scopes}
    events, numbers, replays = [], itertools.count(1), set()
    for at in kernels:
        kernel = at.kernel
        scope = by_id.get(kernel.scope)
        if scope is None or (kernel.replay and kernel.replay in replays):
            continue
        if kernel.replay:
            replays.add(kernel.replay)
        flow = {"name": "launch->kernel", "cat": "flow", "id": next(numbers), "bp": "e"}
        events.append({
            **flow, "ph": "s", "pid": HOST, "tid": scope.thread,
            "ts": _microseconds(scope.start, base),
        })  # fmt: skip
        events.append({
            **flow, "ph": "f", "pid": DEVICE, "tid": _stream(kernel),
            "ts": _microseconds(kernel.start, base),
        })  # fmt: skip
    return events


def _graph_scopes(kernels: list[_KernelAt], base: int) -> list[dict[str, Any]]:
    """The scopes of a capture, again for each replay: as long as their kernels run."""
    #: For each replay and stream, and each path in it: from when to when.
    ranges: dict[tuple[int, int], dict[tuple[str, ...], list[int]]] = {}
    for at in kernels:
        if at.kernel.capture is None or CAPTURED_AT not in at.path:
            continue
        found = ranges.setdefault((at.kernel.replay, _graph(at.kernel)), {})
        first = at.path.index(CAPTURED_AT)
        for end in range(first + 1, len(at.path)):
            span = found.setdefault(tuple(at.path[:end]), [at.kernel.start, at.kernel.end])
            span[0] = min(span[0], at.kernel.start)
            span[1] = max(span[1], at.kernel.end)
    return [
        {
            "ph": "X", "name": path[-1], "cat": "scope", "pid": DEVICE, "tid": graph,
            "ts": _microseconds(start, base), "dur": (end - start) / 1000,
            "args": {"call_stack": list(path)},
        }
        for (_, graph), found in ranges.items()
        for path, (start, end) in sorted(found.items(), key=lambda item: len(item[0]))
    ]  # fmt: skip


def _inside(at: _KernelAt, base: int) -> list[dict[str, Any]]:
    """What happened in a kernel, at the time at which it ran."""
    begin = _microseconds(at.kernel.start, base)
    found = []
    for event in at.kernel.inside:
        if "ts" in event:
            event = {**event, "ts": begin + event["ts"]}
        if event.get("args") and event["ph"] == "X":
            event["args"] = {"call_stack": at.path, **event["args"]}
        found.append(event)
    return found


def _thread_names(scopes: list[_ScopeAt], kernels: list[_KernelAt]) -> list[dict[str, Any]]:
    threads = {(HOST, s.scope.thread): f"CPU: {s.scope.thread_name}" for s in scopes}
    for at in kernels:
        kernel = at.kernel
        where = f"Stream {kernel.stream}"
        if kernel.device:
            where = f"Device {kernel.device} {where}"
        threads[DEVICE, _stream(kernel)] = where
        if CAPTURED_AT in at.path:
            threads[DEVICE, _graph(kernel)] = f"Graph: {where}"
    processes = [(HOST, "host"), (DEVICE, "device")]
    return [
        {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}}
        for pid, name in processes
    ] + [
        {"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": name}}
        for (pid, tid), name in threads.items()
    ]

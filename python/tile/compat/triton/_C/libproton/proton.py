"""What is native in Triton's profiler, on tile's sessions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tile.profiler.backends import NAMES
from tile.profiler.context import depth as get_context_depth
from tile.profiler.core.sessions import sessions
from tile.profiler.core.threads import new_id, threads
from tile.profiler.data import (
    advance_phase,
    clear,
    get,
    get_msgpack,
    is_phase_complete,
)
from tile.profiler.hooks.hook import HookManager
from tile.profiler.profile import begin, end

_BY_BACKEND = {"cuda": "cupti", "hip": "rocprofiler"}
#: What the value of a metric is, as `TensorMetric` says it.
metric_type_int64_index, metric_type_double_index = 0, 1
metric_type_vector_int64_index, metric_type_vector_double_index = 2, 3


@dataclass
class TensorMetric:
    """A metric whose value is at an address of the device."""

    ptr: int
    index: int


def select_profiler_from_triton_backend(backend: str) -> str:
    """Which profiler records the kernels of a backend."""
    if backend not in _BY_BACKEND:
        raise ValueError(f"No profiler registered for triton backend {backend}")
    return _BY_BACKEND[backend]


def get_available_profilers() -> list[str]:
    """The names of all profilers."""
    return list(NAMES)


# Sessions.


def start(
    path: str, context: str, data: str, backend: str, mode: str = "", *unused: Any
) -> int | None:
    return begin(path, context, data, backend, mode, None)


def activate(session: int) -> None:
    HookManager.activate(session)
    sessions.activate(session)


def activate_all() -> None:
    HookManager.activate()
    sessions.activate(None)


def deactivate(session: int, flushing: bool = False) -> None:
    HookManager.deactivate(session)
    sessions.deactivate(session, flushing)


def deactivate_all(flushing: bool = False) -> None:
    HookManager.deactivate()
    sessions.deactivate(None, flushing)


def finalize(session: int, format: str = "") -> None:
    end(session, format)


def finalize_all(format: str = "") -> None:
    end(None, format)


# What a thread does.


def record_scope() -> int:
    """A number for a scope."""
    return new_id()


def enter_scope(scope: int, name: str) -> None:
    sessions.enter(name, {}, scope)


def exit_scope(scope: int, name: str) -> None:
    for entered in threads.scopes[::-1]:
        if entered.id == scope:
            sessions.leave(entered)
            return


def enter_op(scope: int, name: str) -> None:
    threads.enter_launch(name, -1)


def exit_op(scope: int, name: str) -> None:
    threads.leave_launch()


def enter_state(name: str) -> None:
    threads.enter_states(name)


def exit_state() -> None:
    threads.leave_states()


def add_metrics(scope: int, metrics: dict[str, Any], tensor_metrics: Any = None) -> None:
    """Adds numbers to the metrics of a scope that the thread is in."""
    for entered in threads.scopes:
        if entered.id == scope:
            entered.metrics.update(metrics)
            sessions.add_metrics(entered.full, entered.epoch, metrics)


# Data.


def get_data(session: int, phase: int = 0) -> Any:
    return get(session, phase)


get_data_msgpack = get_msgpack
advance_data_phase = advance_phase
is_data_phase_complete = is_phase_complete
clear_data = clear


# Triton's recorder must be told how kernels record, and which kernels copy metrics. tile's records
# say so themselves, and its metrics are copied by tile.


def init_function_metadata(
    function: int, name: str, scopes: Sequence, parents: Sequence, path: str
) -> None:
    """Nothing to do."""


def destroy_function_metadata(function: int) -> None:
    """Nothing to do."""


def enter_instrumented_op(stream: int, function: int, buffer: int, size: int) -> None:
    """Nothing to do."""


def exit_instrumented_op(stream: int, function: int, buffer: int, size: int) -> None:
    """Nothing to do."""


def set_metric_kernels(*kernels: int) -> None:
    """Nothing to do."""


__all__ = [
    "TensorMetric", "activate", "activate_all", "add_metrics", "advance_data_phase", "clear_data",
    "deactivate", "deactivate_all", "destroy_function_metadata", "enter_instrumented_op",
    "enter_op", "enter_scope", "enter_state", "exit_instrumented_op", "exit_op", "exit_scope",
    "exit_state", "finalize", "finalize_all", "get_available_profilers", "get_context_depth",
    "get_data", "get_data_msgpack", "init_function_metadata", "is_data_phase_complete",
    "metric_type_double_index", "metric_type_int64_index", "metric_type_vector_double_index",
    "metric_type_vector_int64_index", "record_scope", "select_profiler_from_triton_backend",
    "set_metric_kernels", "start",
]  # fmt: skip

"""Scopes: names for what the program does, in which kernels are found again."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

from . import tensor_metrics
from .core.sessions import sessions
from .core.threads import Entered, new_id, threads
from .flags import flags
from .metric import transform_tensor_metrics

_CPU_TIME = "cpu_time (ns)"


class scope:
    """A scope, as a context manager and a decorator. `metrics` are numbers, lists of numbers and
    tensors, which add up where the scope is entered again."""

    def __init__(self, name: str, metrics: dict[str, Any] | None = None) -> None:
        self.name = name
        self.metrics = metrics
        #: One for each time that it was entered and not left; None while the profiler was off.
        self._entered: list[Entered | None] = []

    def __enter__(self) -> scope:
        self._entered.append(_enter(self.name, self.metrics) if flags.profiling_on else None)
        return self

    def __exit__(
        self, type: type | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        entered = self._entered.pop()
        if entered is not None:
            sessions.leave(entered)

    def __call__(self, function: Callable) -> Callable:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return wrapper


class cpu_timed_scope(scope):
    """A scope with the host's time as a metric, `cpu_time (ns)`."""

    def __init__(self, name: str, metrics: dict[str, Any] | None = None) -> None:
        if metrics is not None and _CPU_TIME in metrics:
            raise ValueError(f"cpu_timed_scope measures the metric {_CPU_TIME!r} itself")
        super().__init__(name, metrics)
        self._began: list[int] = []

    def __enter__(self) -> cpu_timed_scope:
        self._began.append(time.perf_counter_ns())
        super().__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        took = time.perf_counter_ns() - self._began.pop()
        entered = self._entered[-1]
        if entered is not None:
            _add(entered, {_CPU_TIME: took})
        super().__exit__(*error)


class _ByThread:
    """The scopes that `enter_scope` entered, by their numbers."""

    @property
    def scopes(self) -> list[tuple[int, str]]:
        return [(entered.id, entered.name) for entered in threads.scopes]


#: The scopes of the thread that asks.
thread_local_scopes = _ByThread()


def _enter(name: str, metrics: dict[str, Any] | None, id: int | None = None) -> Entered:
    if not metrics:
        return sessions.enter(name, {}, id)
    numbers, tensors = transform_tensor_metrics(metrics)
    entered = sessions.enter(name, numbers, id)
    if tensors:
        tensor_metrics.add(entered.full, entered.epoch, tensors)
    return entered


def _add(entered: Entered, metrics: dict[str, Any]) -> None:
    """Adds metrics to a scope that the thread is in."""
    numbers, tensors = transform_tensor_metrics(metrics)
    if numbers:
        entered.metrics.update(numbers)
        sessions.add_metrics(entered.full, entered.epoch, numbers)
    if tensors:
        tensor_metrics.add(entered.full, entered.epoch, tensors)


def enter_scope(name: str, *, metrics: dict[str, Any] | None = None) -> int | None:
    """Enters a scope on this thread; returns its number, or None while the profiler is off."""
    if not flags.profiling_on:
        return None
    return _enter(name, metrics, new_id()).id


def exit_scope(name: str | None = None, *, metrics: dict[str, Any] | None = None) -> int | None:
    """Leaves the innermost scope of this thread. With a name, it must be the scope's. `metrics` are
    added to those of the scope. Returns its number, or None where there is none."""
    entered = threads.innermost
    if entered is None:
        return None
    if name is not None and name != entered.name:
        raise ValueError(f"Scope name mismatch: {entered.name!r} is innermost, not {name!r}")
    if metrics and flags.profiling_on:
        _add(entered, metrics)
    sessions.leave(entered)
    return entered.id

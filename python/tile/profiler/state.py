"""States: labels below the present call path, for kernels that are launched inside."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import TracebackType
from typing import Any

from .core.threads import threads
from .flags import flags

#: What is bookkeeping of launches; viewers leave it out.
COMPUTE_METADATA_SCOPE_NAME = "__proton_launch_metadata"
COMPUTE_METADATA_SCOPE_PREFIX = COMPUTE_METADATA_SCOPE_NAME + ":"


class state:
    """A state, as a context manager and a decorator."""

    def __init__(self, name: str) -> None:
        self.name = name
        #: How often it was entered and counted: it may be entered again inside of itself.
        self._entered: list[bool] = []

    def __enter__(self) -> state:
        self._entered.append(enter_state(self.name) is not None)
        return self

    def __exit__(
        self, type: type | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._entered.pop():
            threads.leave_states()

    def __call__(self, function: Callable) -> Callable:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with type(self)(self.name):
                return function(*args, **kwargs)

        return wrapper


class metadata_state(state):
    """What runs inside is bookkeeping of a launch, of a kernel if there is a name."""

    def __init__(self, kernel_name: str | None = None) -> None:
        super().__init__(get_metadata_state_name(kernel_name))
        self.kernel_name = kernel_name

    def __enter__(self) -> metadata_state:
        is_on = flags.profiling_on
        self._entered.append(is_on)
        if is_on:
            threads.enter_states(*self._names())
        return self

    def _names(self) -> tuple[str, ...]:
        if self.kernel_name is None:
            return (COMPUTE_METADATA_SCOPE_NAME,)
        return COMPUTE_METADATA_SCOPE_NAME, self.kernel_name

    def __exit__(self, *error: Any) -> None:
        if self._entered.pop():
            threads.leave_states(len(self._names()))

    def __call__(self, function: Callable) -> Callable:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with metadata_state(self.kernel_name):
                return function(*args, **kwargs)

        return wrapper


def get_metadata_state_name(kernel_name: str | None = None) -> str:
    """The name of the state for the bookkeeping of a kernel's launches."""
    if kernel_name is None:
        return COMPUTE_METADATA_SCOPE_NAME
    return COMPUTE_METADATA_SCOPE_PREFIX + kernel_name


def enter_state(name: str) -> str | None:
    """Enters a state on this thread; None while the profiler is off."""
    if not flags.profiling_on:
        return None
    threads.enter_states(name)
    return name


def exit_state() -> None:
    """Leaves the innermost state of this thread."""
    threads.leave_states()

"""What launches in C look at: the dispatcher of a kernel, and the state of the process."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any

from .. import _C, knobs
from .arguments import SPECIALIZE, TYPE_ONLY, UNALIGNED, VALUE, constant_in_key
from .driver import driver


@functools.lru_cache(maxsize=1)
def _launch_state() -> Any:
    """What the launches of all kernels look at, without running Python."""
    from ..language.dtypes import dtype
    from .jit import JITFunction

    return _C.launch.LaunchState(
        drivers=driver,
        environment=knobs.environment_of_the_process(),
        flags=knobs.INTERPRETING + knobs.INSTRUMENTING,
        settings=(knobs.runtime.__dict__, knobs.compilation.__dict__),
        overrides=(
            "interpret",
            "launch_enter_hook",
            "launch_exit_hook",
            "described_enter_hook",
            "described_exit_hook",
            "add_stages_inspection_hook",
        ),
        # Those that programs add to. What takes their place is one of the overrides.
        hooks=(_chain("launch_enter_hook").calls, _chain("launch_exit_hook").calls),
        describe=tuple(SPECIALIZE[m] for m in (VALUE, UNALIGNED, TYPE_ONLY)),
        constant=constant_in_key,
        opaque=(dtype, JITFunction),
        mode=(knobs.compilation.__dict__, "instrumentation_mode"),
    )


def _chain(name: str) -> Any:
    """The functions of a hook, also while something else takes its place."""
    return getattr(type(knobs.runtime), name)


@functools.lru_cache(maxsize=1)
def _around() -> tuple[list, Any, Any]:
    """What is called around launches of kernels that have a `launch_metadata`."""
    from ..compiler.compiler import LaunchMetadata

    enter, exit = _chain("described_enter_hook"), _chain("described_exit_hook")

    def enter_described(kernel: Any, grid: tuple, stream: Any, values: tuple) -> Any:
        kernel._init_handles()
        told = LaunchMetadata(kernel, grid, stream, values)
        enter(told)
        return told

    return enter.calls, enter_described, exit


def make_dispatcher(fn: Any, modes: list, slow: Callable) -> Any:
    """What launches a kernel without running Python; it leaves to `slow` what it does not know."""
    state = _launch_state()
    missing = inspect.Parameter.empty
    return _C.launch.Dispatcher(
        state=state,
        modes=modes,
        names=tuple(sys.intern(p.name) for p in fn.params),
        defaults=tuple(state if p.default is missing else p.default for p in fn.params),
        hooks=fn.pre_run_hooks,
        slow=slow,
        around=_around() if fn.launch_metadata is not None else None,
        positional=sum(not p.is_keyword_only for p in fn.params),
    )

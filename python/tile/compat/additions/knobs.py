"""What ``triton.knobs`` has beside our own names."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Protocol, TypedDict

from triton._C.libtriton import getenv_bool as getenv_bool

from tile import knobs, settings
from tile.compiler.times import CompileTimes as CompileTimes

base_knobs = knobs.Group
env_str, env_bool = settings.text, settings.flag
env_opt_str = settings.text
toenv = settings.text_of
Env = settings.FromEnvironment
#: What Python sets is written to the environment, for the processes that it starts.
propagate_env = True
build_knobs = type(knobs.build)
redis_knobs = type(knobs.redis)
cache_knobs = type(knobs.cache)
compilation_knobs = type(knobs.compilation)
autotuning_knobs = type(knobs.autotuning)
runtime_knobs = type(knobs.runtime)
language_knobs = type(knobs.language)
nvidia_knobs = type(knobs.nvidia)
amd_knobs = type(knobs.amd)
proton_knobs = type(knobs.proton)


def env_opt_bool(key: str) -> Any:
    """A flag, or None."""
    return settings.flag(key, None)


def env_int(key: str, default: int = 0) -> Any:
    """A setting that is a number."""
    return knobs.Knob(key, default, int)


@dataclass(frozen=True)
class NvidiaTool:
    """A program of NVIDIA's."""

    path: str
    version: str


# What hooks and listeners are called with, for classes that derive from these.


class CompilationListener(Protocol):
    """Told of each compile."""

    def __call__(
        self, *, src: Any, metadata: dict[str, Any], metadata_group: dict[str, str],
        times: CompileTimes, cache_hit: bool,
    ) -> None: ...  # fmt: skip


class LaunchHook(Protocol):
    """Called around launches, with what `get()` of its argument tells."""

    def __call__(self, metadata: Any) -> None: ...


class InitHandleHook(Protocol):
    """Called around what a driver loads."""

    def __call__(
        self, module: Any, function: Any, name: str, metadata_group: dict[str, str], hash: str
    ) -> None: ...


class JITHookCompileInfo(TypedDict):
    """What of a compile a `JITHook` is told."""

    key: str
    signature: dict
    constants: dict
    num_warps: int
    num_stages: int
    num_ctas: int
    specialization_data: str | None


class JITHook(Protocol):
    """Called around compiles for launches."""

    def __call__(
        self, *, key: str, repr: str, fn: Any, compile: JITHookCompileInfo,
        is_manual_warmup: bool, already_compiled: bool,
    ) -> bool | None: ...  # fmt: skip


class PipelineStagesHook(Protocol):
    """Called with the stages of a compile, which it may replace."""

    def __call__(
        self, backend: Any, stages: dict[str, Any], options: Any, language: Any, capability: Any
    ) -> None: ...


class AutotuneListener(Protocol):
    """Told of each choice of an autotuner."""

    def __call__(
        self, *, fn: Any, key: tuple, best_config: Any, configs_timings: dict[Any, list[float]],
        duration: float | None, cache_hit: bool,
    ) -> None: ...  # fmt: skip


class BuildImpl(Protocol):
    """Builds a library from a file of C, in place of the compiler that is installed; returns its
    path."""

    def __call__(
        self, name: str, src: str, srcdir: str, library_dirs: list[str], include_dirs: list[str],
        libraries: list[str], /,
    ) -> str: ...  # fmt: skip


def setenv(key: str, value: str | None) -> None:
    """Sets or clears an environment variable."""
    if value is None:
        os.environ.pop(key, None)
    else:
        os.environ[key] = value


def refresh_knobs() -> None:
    """Nothing to do: settings read their variables when they are asked for."""

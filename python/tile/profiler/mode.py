"""Modes of backends: text such as ``pcsampling:interval=1024``, or an object."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class Optimize(Enum):
    """What makes records in kernels cheaper, or their times better."""

    TIMESHIFT = "time_shift"
    SCHED_STORES = "sched_stores"
    SCHED_BARRIERS = "sched_barriers"
    CLOCK32 = "clock32"

    def __str__(self) -> str:
        return self.value


def _table(*names: str) -> dict[str, str]:
    return {name: name for name in names}


metric_types = _table("cycle")
sampling_strategies = _table("none", "selective")
granularities = _table(
    "cta", "warp", "warp_2", "warp_4", "warp_8",
    "warp_group", "warp_group_2", "warp_group_4", "warp_group_8",
)  # fmt: skip
buffer_strategies = _table("circular", "flush")
buffer_types = _table("shared", "global")
optimizations = {o.value: o for o in Optimize}


@dataclass(frozen=True)
class BaseMode:
    """A mode: what the backend records."""

    name: str = ""

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class PCSampling(BaseMode):
    """Samples of the program counter, every `interval` cycles, by source line."""

    name: str = field(default="pcsampling", init=False)
    interval: int = 1000

    def __post_init__(self) -> None:
        if self.interval < 1:
            raise ValueError(
                f"the interval of pcsampling is a number of cycles, not {self.interval}"
            )

    def __str__(self) -> str:
        return f"{self.name}:interval={self.interval}"


@dataclass(frozen=True)
class PeriodicFlushing(BaseMode):
    """A file for each phase of the session."""

    name: str = field(default="periodic_flushing", init=False)
    format: str = ""

    def __str__(self) -> str:
        return f"{self.name}:format={self.format}"


@dataclass(frozen=True)
class InstrumentationMode(BaseMode):
    """Records inside kernels."""

    metric_type: str = "cycle"
    sampling_strategy: str = "none"
    sampling_options: str = ""
    granularity: str = "warp"
    buffer_strategy: str = "circular"
    buffer_type: str = "shared"
    buffer_size: int = 0
    optimizations: Any = ()

    def __post_init__(self) -> None:
        tables = {
            "metric_type": metric_types, "sampling_strategy": sampling_strategies,
            "granularity": granularities, "buffer_strategy": buffer_strategies,
            "buffer_type": buffer_types,
        }  # fmt: skip
        for key, table in tables.items():
            _one_of(key, getattr(self, key), table)
        chosen = self.optimizations
        if isinstance(chosen, str):
            chosen = [part for part in chosen.split(",") if part]
        texts = tuple(str(_one_of("optimizations", str(part), optimizations)) for part in chosen)
        object.__setattr__(self, "optimizations", texts)
        object.__setattr__(self, "buffer_size", int(self.buffer_size))
        if self.buffer_size < 0:
            raise ValueError(f"buffer_size is a number of bytes, not {self.buffer_size}")

    def __str__(self) -> str:
        keys = (
            "metric_type", "sampling_strategy", "sampling_options", "granularity",
            "buffer_strategy", "buffer_type", "buffer_size",
        )  # fmt: skip
        parts = [f"{key}={getattr(self, key)}" for key in keys]
        return ":".join([self.name, *parts, f"optimizations={','.join(self.optimizations)}"])


@dataclass(frozen=True)
class Default(InstrumentationMode):
    """Records of the scopes that kernels have."""

    name: str = field(default="default", init=False)


@dataclass(frozen=True)
class MMA(InstrumentationMode):
    """Records of matrix products, too."""

    name: str = field(default="mma", init=False)


def _one_of(key: str, value: Any, table: dict[str, Any]) -> Any:
    if value not in table:
        raise ValueError(f"{key} is one of {', '.join(table)}, not {value!r}")
    return table[value]


_MODES: dict[str, type[BaseMode]] = {
    "pcsampling": PCSampling, "periodic_flushing": PeriodicFlushing, "default": Default,
    "mma": MMA,
}  # fmt: skip


def parse(mode: Any) -> BaseMode:
    """The mode that a text or an object stands for."""
    if mode is None or mode == "":
        return BaseMode()
    if isinstance(mode, BaseMode):
        return mode
    name, *parts = str(mode).split(":")
    if name not in _MODES:
        raise ValueError(f"unknown mode: {name}; there are {', '.join(_MODES)}")
    keys: dict[str, Any] = {}
    for part in parts:
        key, equals, value = part.partition("=")
        if not equals:
            raise ValueError(f"a mode is name:key=value:..., but {part!r} has no '='")
        keys[key] = int(value) if key in ("interval", "buffer_size") else value
    try:
        return _MODES[name](**keys)
    except TypeError:
        known = [k for k in _MODES[name].__dataclass_fields__ if k != "name"]
        raise ValueError(
            f"the mode {name} has the keys {', '.join(known)}, not {', '.join(keys)}"
        ) from None

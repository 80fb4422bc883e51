"""Backends: where records of kernels come from."""

from __future__ import annotations

from ...errors import TileError
from .base import Backend, make_once

#: The names that programs use, and what they mean.
NAMES = ("cupti", "rocprofiler", "roctracer", "instrumentation", "simulator")


def by_driver() -> str:
    """The backend for what runs the kernels."""
    from ...runtime.driver import driver

    return {"cuda": "cupti", "hip": "rocprofiler", "sim": "simulator"}[driver.active.name]


def find(name: str) -> Backend:
    """A backend by its name; the same one each time."""
    if name == "simulator":
        from .simulator import Simulator

        return make_once(name, Simulator)
    if name == "instrumentation":
        if (runner := by_driver()) != "simulator":
            from .device_instrumentation import DeviceInstrumentation

            device_type = "CUDA" if runner == "cupti" else "HIP"
            return make_once(f"{name} on {device_type}", lambda: DeviceInstrumentation(device_type))
        from .instrumentation import Instrumentation

        return make_once(name, Instrumentation)
    if name == "cupti":
        if by_driver() != name:
            raise TileError("the profiler backend cupti needs an NVIDIA GPU that runs the kernels")
        from .cupti import Cupti

        return make_once(name, Cupti)
    if name not in NAMES:
        raise TileError(f"there is no profiler backend {name!r}; there are {', '.join(NAMES)}")
    if name == "roctracer":
        raise TileError("there is no profiler backend roctracer: rocprofiler is what came after it")
    if by_driver() != name:
        raise TileError("the profiler backend rocprofiler needs an AMD GPU that runs the kernels")
    from .rocprofiler import Rocprofiler

    return make_once(name, Rocprofiler)


__all__ = ["NAMES", "Backend", "by_driver", "find"]

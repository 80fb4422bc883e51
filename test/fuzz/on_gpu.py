"""Runs programs on the GPU of this machine, in place of the simulator."""

from __future__ import annotations

import functools
import os
import sys
from pathlib import Path
from typing import Any

from tile.errors import DriverError

from .program import Config, Program


def wanted() -> bool:
    """Whether the caller chose the GPU."""
    return os.environ.get("TILE_DRIVER") == "cuda"


@functools.cache
def _take_numpy_arrays() -> None:
    """Lets launches take NumPy arrays, in the way that the Python tests do."""
    sys.path.append(str(Path(__file__).resolve().parents[1] / "python"))
    import on_device

    on_device.install()


def run(program: Program, kernel: Any, values: dict[str, Any], config: Config) -> dict[str, Any]:
    """Compiles and runs a program; returns the texts of its stages."""
    _take_numpy_arrays()
    ctas = {"num_ctas": config.num_ctas} if config.num_ctas > 1 else {}
    launched = kernel[program.grid](
        **values,
        num_warps=config.num_warps,
        num_stages=config.num_stages,
        **ctas,
        **dict(config.options),
    )
    return launched.asm


def ends_process(error: Exception) -> bool:
    """Whether the GPU itself reported the error. No later launch of the process works then: it has
    to end, and `cli.run_chunk` starts another one for the seeds that are left."""
    return isinstance(error, DriverError) and "CUDA error" in str(error)

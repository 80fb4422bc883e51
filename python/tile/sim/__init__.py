"""Runs PTX kernels without a GPU, with checks and deterministic counters.

import numpy as np
import tile.sim

report = tile.sim.launch(ptx, "add", (4,), (128,), [x, y, out, np.int32(n)])
print(report.summary())
"""

from __future__ import annotations

from .group import LaunchGroup, launch_group, run_or_add
from .launcher import ASSUMPTIONS, SimulationError, array_shape, launch, load
from .prepared import PreparedLaunch
from .reachable import reachable
from .report import Report
from .sarif import sarif
from .suppressions import Suppression, read_suppressions
from .tensormap import im2col_tensor_map, tensor_map

__all__ = [
    "ASSUMPTIONS", "LaunchGroup", "PreparedLaunch", "Report", "SimulationError", "Suppression",
    "array_shape", "im2col_tensor_map", "launch", "launch_group", "load", "reachable",
    "read_suppressions", "run_or_add", "sarif", "tensor_map",
]  # fmt: skip

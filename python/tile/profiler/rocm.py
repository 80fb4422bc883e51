"""Libraries of ROCm."""

from __future__ import annotations

import os


def configure_runtime() -> None:
    """Lets the profiler of AMD's run time see what this process does. It has to be called before
    the first use of the GPU."""
    os.environ.setdefault("ROCPROFILER_REGISTER_FORCE_LOAD", "1")

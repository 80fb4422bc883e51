"""The stages of a compile for an NVIDIA GPU."""

from __future__ import annotations

from tile.backends.stages import GLIR, TTGIR, TTIR, Stage, llir

STAGES = (
    TTIR,
    GLIR,
    TTGIR,
    llir("ptx_kernel", r'^target triple = "nvptx64?-(?P<arch>)'),
    Stage(
        "ptx",
        is_code=True,
        kernel_pattern=r"\.(?:visible|extern)\s+\.entry\s+([\w$]+)",
        # PTX goes on to the GPUs that come later, or to those of its family, unless it is for one.
        target_patterns=(r"^\s*\.target\s+sm_(?P<arch>\d+)(?P<only>[af]?)",),
    ),
    Stage("cubin", is_binary=True, is_code=True, resources=True),
)

"""The stages of a compile for the toy machine."""

from __future__ import annotations

from tile.backends.stages import TTIR, Stage

STAGES = (
    TTIR,
    Stage(
        "toyasm",
        kernel_pattern=r"^\.kernel (\w+)",
        target_patterns=(r"^\.machine (?P<arch>\w+)",),
    ),
    Stage("toybin", is_binary=True, is_code=True, resources=True),
)

"""The stages of a compile for an AMD GPU."""

from __future__ import annotations

from tile.backends.stages import GLIR, TTGIR, TTIR, Stage, llir

STAGES = (
    TTIR,
    GLIR,
    TTGIR,
    llir(
        "amdgpu_kernel",
        r'^attributes .*"target-cpu"="(?P<arch>gfx\w+)"',
        r'^target triple = "amdgcn-(?P<arch>)',
    ),
    Stage(
        "amdgcn",
        kernel_pattern=r"\.amdhsa_kernel\s+([\w$.]+)",
        target_patterns=(r'^\s*\.amdgcn_target\s+"amdgcn-amd-amdhsa--(?P<arch>gfx\w+)',),
    ),
    Stage("hsaco", is_binary=True, is_code=True),
)

"""What is known about a GPU, from the compiler's table."""

from __future__ import annotations

from typing import Any

from tile import _C
from tile.errors import TileError

#: Before Turing, which is the first with the instructions that kernels need.
_OLDER = range(20, 75)
#: Numbers that PTX 9.0 gave other names.
_RENAMED = {101: 110}
#: GPUs for which programs with explicit layouts are written in `glir`, and not compiled further.
#: Until then, each has the facts of another one.
WITHOUT_CODE = {107: 103}


def find_facts(arch: Any) -> Any:
    """The row of a compute capability such as 90."""
    if isinstance(arch, bool) or not isinstance(arch, int):
        raise TileError(f"the architecture of a cuda target is a number such as 90, not {arch!r}")
    if arch in _RENAMED:
        raise TileError(f"unknown target cuda:{arch}: it is named cuda:{_RENAMED[arch]} now")
    if arch in _OLDER:
        raise TileError(
            f"cuda:{arch} is not supported: GPUs older than Turing (cuda:75), such as Volta, are "
            "not compiled for"
        )
    facts = _C.targets.lookup(f"cuda:{WITHOUT_CODE.get(arch, arch)}")
    if facts is None:
        known = ", ".join(map(str, _C.targets.known("cuda")))
        raise TileError(f"unknown target cuda:{arch}: known ones are {known}")
    return facts

"""Which target the text of a stage is for: each says so, but for `ttir`, which is for all."""

from __future__ import annotations

import re
from typing import NamedTuple

from ..backends import GPUTarget
from ..errors import TileError


class TextTarget(NamedTuple):
    """What a text says of its target: ``cuda`` and ``90``, say."""

    backend: str
    arch: str = ""
    #: Whether it is also for what came after the architecture.
    goes_on: bool = False

    def __str__(self) -> str:
        return f"{self.backend}:{self.arch}" if self.arch else self.backend

    def fits(self, target: GPUTarget) -> bool:
        """Whether the text may be compiled for a target."""
        if self.backend != target.backend:
            return False
        arch = str(target.arch).split(":")[0]
        if self.arch in ("", arch):
            return True
        return self.goes_on and arch.isdigit() and int(self.arch) <= int(arch)


#: What says it, and how: the first that is found counts. The names of groups are the fields.
_STATED = {
    "ttir": (r'\b(?:ttg|triton_gpu)\.target"?\s*=\s*"(?P<backend>\w+):(?P<arch>\w+)',),
    "llir": (
        r'!"ttg\.target", !"(?P<backend>\w+):(?P<arch>\w+)',
        r'^attributes .*"target-cpu"="(?P<hip>gfx\w+)"',
        r'^target triple = "(?:nvptx64?-(?P<cuda>)|amdgcn-(?P<hip>))',
    ),
    # PTX goes on to the GPUs that come later, unless it is for a family or for one of them.
    "ptx": (r"^\s*\.target\s+sm_(?P<cuda>\d+)(?P<only>[af]?)",),
    "amdgcn": (r'^\s*\.amdgcn_target\s+"amdgcn-amd-amdhsa--(?P<hip>gfx\w+)',),
}
_STATED["ttgir"] = _STATED["ttir"]


def text_target(stage: str, text: str) -> TextTarget | None:
    """The target that the text of a stage states; None if it states none."""
    for pattern in _STATED.get(stage, ()):
        found = re.search(pattern, text, re.MULTILINE)
        if found is None:
            continue
        fields = found.groupdict()
        for backend in ("cuda", "hip"):
            if fields.get(backend) is not None:
                return TextTarget(backend, fields[backend], fields.get("only") == "")
        return TextTarget(fields["backend"], fields["arch"])
    return None


def check_text_target(stage: str, text: str, target: GPUTarget, what: str) -> None:
    """Refuses the text of a stage, which `what` names, where it is for another target."""
    stated = text_target(stage, text)
    if stated is not None and not stated.fits(target):
        raise TileError(f"{what} is for {stated}, the target is {target}")

"""Which target the text of a stage is for: each says so, but for `ttir`, which is for all."""

from __future__ import annotations

import re
from typing import NamedTuple

from ..backends import GPUTarget, stages_named
from ..errors import TileError


class TextTarget(NamedTuple):
    """What a text says of its target: ``cuda`` and ``90``, say."""

    backend: str
    arch: str = ""
    #: Whether it is for other architectures, too: "" for those that came later, "f" for those of
    #: its family among them, "a" for none.
    only: str = "a"

    def __str__(self) -> str:
        return f"{self.backend}:{self.arch}" if self.arch else self.backend

    def fits(self, target: GPUTarget) -> bool:
        """Whether the text may be compiled for a target."""
        if self.backend != target.backend:
            return False
        arch = str(target.arch).split(":")[0]
        if self.arch in ("", arch):
            return True
        if self.only == "a" or not arch.isdigit() or int(self.arch) > int(arch):
            return False
        return self.only == "" or int(self.arch) // 10 == int(arch) // 10


def text_target(name: str, text: str) -> TextTarget | None:
    """The target that the text of a stage states; None if it states none."""
    for kind, stage in stages_named(name):
        for pattern in stage.target_patterns:
            if found := re.search(pattern, text, re.MULTILINE):
                fields = found.groupdict()
                return TextTarget(
                    fields.get("backend") or kind, fields["arch"], fields.get("only", "a")
                )
    return None


def check_text_target(stage: str, text: str, target: GPUTarget, what: str) -> None:
    """Refuses the text of a stage, which `what` names, where it is for another target."""
    stated = text_target(stage, text)
    if stated is not None and not stated.fits(target):
        raise TileError(f"{what} is for {stated}, the target is {target}")

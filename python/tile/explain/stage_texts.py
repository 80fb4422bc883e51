"""The texts of a kernel's stages, with the source lines of each line."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..errors import CompilerToolError
from . import locations
from .locations import Lines


@dataclass
class StageText:
    name: str
    text: str
    places: Lines = field(default_factory=list)
    #: Why there is no text.
    missing: str = ""


def read_stage(name: str, text: str, is_module: bool) -> StageText:
    return StageText(name, text, locations.reader_of(name, is_module)(text))


def stage_texts(kernel: Any, backend: Any) -> list[StageText]:
    """All stages that are text, in order; then the other ways to look at stages."""
    found = []
    for stage in kernel.stages:
        if stage.name in kernel.asm and not stage.is_binary:
            found.append(read_stage(stage.name, kernel.asm[stage.name], stage.is_module))
    for name, (stage, _) in backend.views().items():
        if stage not in kernel.asm:
            reason = f"there is no {stage}: the tool that makes it is not installed"
            found.append(StageText(name, "", missing=reason))
            continue
        try:
            text = kernel.asm[name]
        except CompilerToolError as error:
            found.append(StageText(name, "", missing=str(error)))
            continue
        found.append(StageText(name, text, locations.of_machine_code(text)))
    return found

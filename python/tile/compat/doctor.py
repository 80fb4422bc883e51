"""What ``import triton`` gives, and why."""

from __future__ import annotations

import importlib.machinery
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from .finder import alien_modules
from .release import Release, version


@dataclass(frozen=True)
class Diagnosis:
    """What was found out about a process."""

    #: "tile", or the file of the triton that is loaded or would be.
    uses: str
    #: Why, in a sentence.
    reason: str
    #: The release that ``triton.__version__`` says.
    version: str
    tile_version: str
    #: Where another triton is installed, if one is.
    other: str | None

    def __str__(self) -> str:
        lines = [
            f"import triton gives: {self.uses}",
            f"because: {self.reason}",
            f"tile {self.tile_version} stands for triton {self.version} (TILE_COMPAT_VERSION)",
            f"another triton: {self.other or 'not installed'}",
        ]
        return "\n".join(lines)


def _installed_elsewhere() -> str | None:
    """The place of a triton in the path, ours apart."""
    spec = importlib.machinery.PathFinder.find_spec("triton")
    if spec is None or spec.origin is None:
        return None
    # The distribution tile-compiler-triton is tile.
    ours = "tile-compiler-triton" in Path(spec.origin).read_text(encoding="utf-8", errors="replace")
    return None if ours else spec.origin


def examine(on: bool) -> Diagnosis:
    """Looks at this process; `on` says whether the switch is."""
    from .. import __version__

    other = _installed_elsewhere()
    alien = alien_modules()
    if on:
        uses, reason = "tile", "the switch is on (tile.compat, or TILE_COMPAT=1)"
        if Release.at_most(version()).version != ".".join(version().split(".")[:2]):
            reason += f"; the names are those of {Release.at_most(version()).version}"
    elif alien:
        uses, reason = alien[0], "it was imported before tile.compat"
    elif other:
        uses, reason = other, "it is installed, and the switch is off"
    else:
        uses, reason = "nothing", "the switch is off, and no triton is installed"
    if not on and "tile_compat_hook" not in sys.modules and os.environ.get("TILE_COMPAT"):
        reason += "; TILE_COMPAT is set, but this Python does not run tile's .pth hook"
    return Diagnosis(uses, reason, version(), __version__, other)

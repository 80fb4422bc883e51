"""Assembly of any compiler: what can be said of it without a launch."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from ..compiler import compile
from ..compiler.compiler import IRSource
from ..compiler.text_target import text_target
from ..errors import TileError
from .explanation import SCHEMA, plain
from .resources import resources


def explain_assembly(path: Path) -> dict[str, Any]:
    """As `Explanation.to_dict` gives it, without what a launch would say."""
    from ..backends import find_backend, parse_target

    source = IRSource(path)
    stated = text_target(source.ext, source.src)
    if stated is None:
        raise TileError(f"{path} does not say which target it is for")
    target = parse_target(str(stated))
    kernel = compile(source, target, {"num_warps": _warps(source.src, target.warp_size)})
    found = plain(resources(kernel, find_backend(target), None))
    # Its own memory is in the text, and nobody added it up.
    found["shared"] = None
    found["occupancy"] = None
    return {
        "schema": SCHEMA, "name": kernel.name, "target": str(target), "options": {},
        "constants": {}, "resources": found, "counters": {}, "lines": [], "roofline": {},
        "findings": None,
    }  # fmt: skip


def _warps(text: str, lanes: int) -> int:
    """Of a block, where the text says how many threads it has."""
    found = re.search(r"\.(?:reqntid|maxntid)\s+(\d+)(?:,\s*(\d+))?(?:,\s*(\d+))?", text)
    threads = 1
    for size in found.groups() if found else (str(lanes),):
        threads *= int(size or 1)
    warps = max(1, threads // lanes)
    return 1 << (warps - 1).bit_length()

"""A layout as a table of what each place holds."""

from __future__ import annotations

import itertools
from typing import Any


def _element(bases: dict[str, Any], index: dict[str, int], rank: int) -> tuple[int, ...]:
    element = [0] * rank
    for dim, value in index.items():
        for bit, image in enumerate(bases[dim]):
            if value >> bit & 1:
                element = [a ^ b for a, b in zip(element, image, strict=True)]
    return tuple(element)


def _say(element: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, element))})"


def hardware_view(layout: Any) -> str:
    """For a tensor: a table for each warp, a line for each lane and a column for each register.
    For a buffer: the element at each offset."""
    bases = layout.bases
    rank = len(layout.out_dims)
    sizes = {dim: 1 << len(images) for dim, images in bases.items()}
    lines: list[str] = []
    if "offset" in bases:
        for block in range(sizes.get("block", 1)):
            if sizes.get("block", 1) > 1:
                lines.append(f"block {block}")
            for offset in range(sizes["offset"]):
                index = {"offset": offset, "block": block} if "block" in bases else {
                    "offset": offset
                }  # fmt: skip
                lines.append(f"{offset}: {_say(_element(bases, index, rank))}")
        return "\n".join(lines) + "\n"
    blocks, warps = sizes.get("block", 1), sizes.get("warp", 1)
    for block, warp in itertools.product(range(blocks), range(warps)):
        lines.append(f"block {block}, warp {warp}" if blocks > 1 else f"warp {warp}")
        rows = [
            [
                _say(
                    _element(
                        bases,
                        {"register": r, "lane": lane, "warp": warp, "block": block},
                        rank,
                    )
                )
                for r in range(sizes["register"])
            ]
            for lane in range(sizes["lane"])
        ]
        width = max(len(cell) for row in rows for cell in row)
        head = " ".join(f"r{r}".rjust(width) for r in range(sizes["register"]))
        margin = len(str(sizes["lane"] - 1)) + 1
        lines.append(" " * margin + " " + head)
        for lane, row in enumerate(rows):
            cells = " ".join(cell.rjust(width) for cell in row)
            lines.append(f"t{lane}".rjust(margin) + " " + cells)
    return "\n".join(lines) + "\n"

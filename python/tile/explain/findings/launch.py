"""How well a grid fills a GPU."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from .finding import Finding

#: Of the last wave's room.
_IDLE = 0.25
#: With more waves the last one does not matter.
_MOST_WAVES = 4


def tail_wave(explanation: Any, backend: Any) -> Iterator[Finding]:
    """A last wave of blocks that leaves most of the GPU idle."""
    occupancy = explanation.resources.occupancy
    if occupancy is None or not occupancy.blocks_at_once:
        return
    blocks, room = math.prod(explanation.grid), occupancy.blocks_at_once
    waves, rest = divmod(blocks, room)
    if not 1 <= waves <= _MOST_WAVES or not rest or rest > _IDLE * room:
        return
    share = rest / room
    yield Finding(
        "tail-wave",
        f"The grid has {blocks} blocks; the GPU holds {room} at once. The last {rest} run "
        f"alone, and {1 - share:.0%} of the GPU is idle meanwhile.",
        "Choose a block size whose grid is a multiple of what the GPU holds, or make the kernel "
        "persistent: as many programs as the GPU holds, each with a loop over tiles.",
    )

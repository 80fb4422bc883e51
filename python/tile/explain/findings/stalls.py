"""What warps of a GPU waited for, where a profile says so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..stalls import MEANINGS
from .finding import Finding

#: A line that has this share of a kernel's samples is worth a look, and so is what this share of
#: the line's samples waited for.
_LINE, _CAUSE = 0.2, 0.4

_REMEDIES = {
    "barrier": "Give all warps the same work before the barrier, or reduce over fewer warps.",
    "gmma": "Let more products run at once: more stages (num_stages), or two warp groups.",
    "lg_throttle": "Access more bytes at once: neighbouring threads, neighbouring elements.",
    "long_scoreboard": "Load earlier: more stages (num_stages) in a loop, more warps, or blocks "
    "whose data stays in shared memory.",
    "math_pipe_throttle": "The arithmetic is the limit: use the tensor core, or a narrower type.",
    "mio_throttle": "Access shared memory in wider pieces, and call fewer special functions.",
    "no_instructions": "Unroll less: the loop does not fit into the instruction cache.",
    "short_scoreboard": "Look for bank conflicts and conversions of layouts on this line.",
}


def stalls(explanation: Any, backend: Any) -> Iterator[Finding]:
    samples = explanation.stalls
    for one in samples.lines if samples is not None else ():
        if one.share < _LINE or not one.causes:
            continue
        name, _, share = one.causes[0]
        if share < _CAUSE or name not in _REMEDIES:
            continue
        yield Finding(
            "stalls",
            f"{one.share:.0%} of the samples that a GPU took are on this line, and {share:.0%} of "
            f"these wait for {MEANINGS[name]} ({name}).",
            _REMEDIES[name],
            one.file,
            one.line,
        )

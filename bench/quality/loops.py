"""Loops of machine code."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection


def innermost_loops(
    size: int, branches: dict[int, tuple[int, bool]], of: Collection[int] | None = None
) -> list[list[int]]:
    """The instructions of each natural loop that contains no other.

    The code has `size` instructions; `branches` gives where some of them branch to, and whether
    they may go on to the next one as well. Where `of` names instructions, loops without any of
    these do not count: a loop that asks whether a barrier is through is part of the loop around it.
    """
    starts = sorted({0, *(i + 1 for i in branches), *(to for to, _ in branches.values())})
    starts = [start for start in starts if start < size]
    ends = [*starts[1:], size]
    number = {start: i for i, start in enumerate(starts)}
    followers: list[list[int]] = []
    for end in ends:
        to, goes_on = branches.get(end - 1, (end, False))
        places = {to, end} if goes_on else {to}
        followers.append([number[place] for place in places if place in number])
    before: list[list[int]] = [[] for _ in starts]
    for block, successors in enumerate(followers):
        for successor in successors:
            before[successor].append(block)

    dominators: list[set[int] | None] = [None] * len(starts)
    dominators[0] = {0}
    changed = True
    while changed:
        changed = False
        for block in range(1, len(starts)):
            over = [d for p in before[block] if (d := dominators[p]) is not None]
            found = set.intersection(*over) | {block} if over else None
            if found != dominators[block]:
                dominators[block], changed = found, True

    loops: dict[int, set[int]] = {}
    for block, successors in enumerate(followers):
        for header in successors:
            # No path from the start reaches blocks without dominators.
            if header not in (dominators[block] or ()):
                continue
            body = loops.setdefault(header, {header})
            waiting = [block]
            while waiting:
                if (at := waiting.pop()) not in body:
                    body.add(at)
                    waiting += before[at]
    if of is not None:
        blocks = {bisect_right(starts, i) - 1 for i in of}
        loops = {header: body for header, body in loops.items() if body & blocks}
    bodies = [b for h, b in loops.items() if not any(o in b for o in loops if o != h)]
    return [
        [i for block in sorted(body) for i in range(starts[block], ends[block])] for body in bodies
    ]

"""Which warps of a kernel are which partition of it, for what is said about hangs."""

from __future__ import annotations

import re

from tile import _C

#: Gives partitions their warps, as the compile of the kernel did.
_PASS = "tritongpu-allocate-warp-groups"
_WARP = re.compile(r"\bwarp (\d+)\b")

#: The first warp of a group, how many it has, and its name.
Partition = tuple[int, int, str]


def partitions_of(ttgir: str) -> list[Partition]:
    """The partitions of a kernel by the text of its stage `ttgir`; nothing where it has none."""
    warps = re.search(r'"?ttg\.num-warps"? = (\d+)', ttgir)
    if warps is None or "ttg.warp_specialize" not in ttgir:
        return []
    context = _C.ir.Context()
    module = _C.ir.Module.parse(ttgir, context)
    _C.passes.PassManager.parse(_PASS, context).run(module)
    found = {(0, int(warps[1]), "default partition")}
    # Several loops may have partitions; the same warps run theirs one after the other.
    starts: list[str] = []
    for line in str(module).splitlines():
        if one := re.search(r"warpGroupStartIds = array<i32: ([\d, ]+)>", line):
            starts = one[1].split(",")
        if one := re.match(r"\s*partition(\d+)\(.*\) num_warps\((\d+)\)", line):
            number = int(one[1])
            if number < len(starts):
                found.add((int(starts[number]), int(one[2]), f"partition {number}"))
    return sorted(found)


def name_warps(message: str, partitions: list[Partition]) -> str:
    """A message that names warps by their numbers, with the partition of each."""

    def named(found: re.Match) -> str:
        warp = int(found[1])
        for first, count, name in partitions:
            if first <= warp < first + count:
                return f"{found[0]} ({name})"
        return found[0]

    return _WARP.sub(named, message) if partitions else message

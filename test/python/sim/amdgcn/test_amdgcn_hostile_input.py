"""Damaged assembly is refused, or does something that is found; it never ends the process."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

import tile.sim
from tile.errors import TileError

HERE = Path(__file__).parent
WORDS = ["v0", "v[0:3]", "s[4:7]", "null", "vcc", "off", "-1", "0x7fffffffffffffff", "a5", "",
         "exec", "m0", "v255", "s105", "@", "[", "offset:99999", "op_sel:[1,1,1,1,1]", "1e400",
         "quad_perm:[9]", "row_shl:99", "hwreg(", "sdwa", "vmcnt(", "lit(", "|v1"]  # fmt: skip


def damaged(lines: list[str], rng: random.Random) -> str:
    out = list(lines)
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(out))
        kind = rng.randrange(5)
        if kind == 0:
            del out[at]
        elif kind == 1:
            out[at] = out[at][: rng.randrange(len(out[at]) + 1)]
        elif kind == 2:
            out.insert(at, out[rng.randrange(len(out))])
        else:
            parts = out[at].split(",")
            place = rng.randrange(len(parts))
            head = parts[place].split(" ")[0] + " " if kind == 3 else ""
            parts[place] = head + rng.choice(WORDS)
            out[at] = ",".join(parts)
    return "\n".join(out)


@pytest.mark.parametrize("target", ["gfx942", "gfx1100"])
def test_damaged_programs(target):
    lines = (HERE / f"programs-{target}.s").read_text().splitlines()
    rng = random.Random(5)
    refused = 0
    for _ in range(150):
        try:
            module = tile.sim.load(damaged(lines, rng))
            for entry in module.entries[:4]:
                arrays = [np.zeros(256, np.uint32) for _ in module.params(entry)]
                arguments = [
                    a if p[3] == 8 else 1 for a, p in zip(arrays, module.params(entry), strict=True)
                ]
                text = damaged(lines, rng)
                tile.sim.launch(
                    text, entry, 1, 64, arguments, max_instructions=2000, raise_on_finding=False
                )
        except TileError:
            refused += 1
    assert refused > 30

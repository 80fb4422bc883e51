"""Atomics on a word of which an array has a part: allowed where they leave the other bytes as they
are, out of bounds where they could change one."""

from __future__ import annotations

import numpy as np
import pytest
from asmlib import kernel, run

NEUTRAL = {"and": 0xFF, "or": 0, "xor": 0, "cmpswap": 0, "add": None, "swap": None}
COMBINE = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}


def body(op: str, target: str) -> str:
    suffix = "" if target == "gfx942" else "_u32" if op == "add" else "_b32"
    value = "v[4:5]" if op == "cmpswap" else "v4"
    return f"""
	s_load_dwordx2 s[8:9], s[0:1], 0
	s_load_dwordx2 s[10:11], s[0:1], 8
	v_mov_b32 v3, 0
	s_waitcnt lgkmcnt(0)
	global_load_{"dwordx2" if target == "gfx942" else "b64"} v[4:5], v3, s[10:11]
	s_and_b32 s8, s8, -4
	s_waitcnt vmcnt(0)
	global_atomic_{op}{suffix} v3, {value}, s[8:9]
"""


@pytest.mark.parametrize("target", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("op", NEUTRAL)
def test_parts_of_words(op, target):
    """All parts of a word that an array may have, with all bytes that an operand may change."""
    rng = np.random.default_rng(7)
    text = kernel(body(op, target), [8, 8], target)
    for first in range(4):
        for end in range(first + 1, 5):
            for subset in range(16):
                inside = all(first <= i < end for i in range(4) if subset >> i & 1)
                memory = rng.integers(0, 256, 16, np.uint8)
                difference = rng.integers(1, 256, 4, np.uint8)
                difference[[i for i in range(4) if not subset >> i & 1]] = 0
                before = memory.copy()
                operands = np.zeros(8, np.uint8)
                operands[:4] = difference ^ (NEUTRAL[op] or 0)
                if op == "cmpswap":  # The new value, and what it compares with.
                    operands[:4], operands[4:] = memory[4:8] ^ difference, memory[4:8]
                report = run(
                    text, [memory[4 + first : 4 + end], operands], block=1, raise_on_finding=False
                )
                allowed = (inside and NEUTRAL[op] is not None) or (first, end) == (0, 4)
                assert report.ok == allowed, (first, end, subset)
                if not allowed:
                    found = report.to_dict()["findings"]
                    assert [f["kind"] for f in found] == ["out-of-bounds"]
                elif op in COMBINE:
                    before[4:8] = COMBINE[op](before[4:8], operands[:4])
                elif op == "cmpswap":
                    before[4:8] ^= difference
                if op not in ("add", "swap"):
                    np.testing.assert_array_equal(memory, before)

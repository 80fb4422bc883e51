"""Atomics on a word of which an array has a part: allowed where they leave the other bytes as they
are, out of bounds where they could change one."""

from __future__ import annotations

import numpy as np
import pytest
from ptxlib import HEADER

import tile.sim

KERNEL = """{header}
.visible .entry op(.param .u64 mem, .param .u64 b, .param .u64 c, .param .u64 out)
{{
  .reg .b32 %b, %c, %d; .reg .b64 %m, %q;
  ld.param.u64 %m, [mem]; and.b64 %m, %m, -4;
  ld.param.u64 %q, [b]; ld.global.b32 %b, [%q];
  ld.param.u64 %q, [c]; ld.global.b32 %c, [%q];
  {text}
  ld.param.u64 %q, [out]; st.global.b32 [%q], %d;
  ret;
}}
"""
#: What an operation gives for the old value and its operands.
OPERATIONS = {
    "and": ("atom.global.and.b32 %d, [%m], %b;", lambda old, b, c: old & b),
    "or": ("atom.global.or.b32 %d, [%m], %b;", lambda old, b, c: old | b),
    "xor": ("atom.global.xor.b32 %d, [%m], %b;", lambda old, b, c: old ^ b),
    "red.or": ("red.global.or.b32 [%m], %b; mov.b32 %d, 0;", lambda old, b, c: old | b),
    "cas": ("atom.global.cas.b32 %d, [%m], %b, %c;", lambda old, b, c: np.where(old == b, c, old)),
    "exch": ("atom.global.exch.b32 %d, [%m], %b;", lambda old, b, c: b),
    "add": ("atom.global.add.u32 %d, [%m], %b;", lambda old, b, c: old + b),
}


def word(rng, neutral: int, changed: list[int]) -> np.ndarray:
    """A word that differs from the neutral one in the given bytes."""
    out = np.full(4, neutral, np.uint8)
    out[changed] ^= rng.integers(1, 256, len(changed), np.uint8)
    return out.view(np.uint32)


@pytest.mark.parametrize("op", OPERATIONS)
def test_parts_of_words(op):
    """All parts of a word that an array may have, with all bytes that an operand may change."""
    text, combine = OPERATIONS[op]
    rng = np.random.default_rng(7)
    refused = allowed = 0
    for first in range(4):
        for end in range(first + 1, 5):
            for subset in range(16):
                changed = [i for i in range(4) if subset >> i & 1]
                memory = np.zeros(16, np.uint8)
                memory[:] = rng.integers(0, 256, 16, np.uint8)
                b = word(rng, 0xFF if op == "and" else 0, changed)
                c = np.zeros(1, np.uint32)
                if op == "cas":
                    b = memory[4:8].view(np.uint32).copy()
                    c = (b.view(np.uint8) ^ word(rng, 0, changed).view(np.uint8)).view(np.uint32)
                before, out = memory.copy(), np.zeros(1, np.uint32)
                report = tile.sim.launch(
                    KERNEL.format(header=HEADER, text=text), "op", 1, 1,
                    [memory[4 + first : 4 + end], b, c, out], raise_on_finding=False,
                )  # fmt: skip
                keeps = op not in ("exch", "add") and all(first <= i < end for i in changed)
                assert report.ok == (keeps or (first, end) == (0, 4)), (first, end, changed)
                if report.ok:
                    old = before[4:8].view(np.uint32)
                    before[4:8] = combine(old, b, c).astype(np.uint32).view(np.uint8)
                    allowed += 1
                else:
                    found = report.to_dict()["findings"]
                    assert [f["kind"] for f in found] == ["out-of-bounds"]
                    refused += 1
                np.testing.assert_array_equal(memory, before)
    assert allowed >= 16 and refused > 32


def test_words_of_two_arrays():
    """An atomic may change bytes of one of two arrays that share a word, not of both."""
    rng = np.random.default_rng(8)
    for changed in ([], [0], [1], [0, 1], [2], [3], [2, 3], [1, 2], [0, 3], [0, 1, 2, 3]):
        memory = rng.integers(0, 256, 16, np.uint8)
        b, out = word(rng, 0, changed), np.zeros(1, np.uint32)
        # The other array comes as the third argument, of which the kernel only loads a word.
        text = OPERATIONS["xor"][0]
        whole = np.concatenate([memory])
        report = tile.sim.launch(
            KERNEL.format(header=HEADER, text=text).replace("ld.global.b32 %c, [%q];", ""), "op", 1,
            1, [whole[4:6], b, whole[6:8], out], raise_on_finding=False,
        )  # fmt: skip
        assert report.ok == (not (set(changed) & {0, 1} and set(changed) & {2, 3})), changed


def test_loads_for_other_ends():
    """A word that is only loaded must be in the array as a whole."""
    memory = np.zeros(16, np.uint8)
    b = c = out = np.zeros(1, np.uint32)
    report = tile.sim.launch(
        KERNEL.format(header=HEADER, text="ld.global.b32 %d, [%m];"), "op", 1, 1,
        [memory[4:7], b, c, out], raise_on_finding=False,
    )  # fmt: skip
    assert [f["kind"] for f in report.to_dict()["findings"]] == ["out-of-bounds"]

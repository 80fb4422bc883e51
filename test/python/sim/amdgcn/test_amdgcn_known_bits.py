# ruff: noqa: E501  (assembly reads better unbroken)
"""Bits of a result that do not depend on bits that nobody wrote may be used, and no others.

An instruction runs once with each choice of a few bits of its operands: a bit of the result that is
always the same is known. Then these bits come from a register that nobody wrote. To use the known
bits must be no mistake, and to use one of the others must be one.
"""

from __future__ import annotations

import random

import numpy as np
import pytest
from asmlib import WAVE, findings, kernel, run

# Words of the result and of each operand; k is what says how the others are taken.
VECTOR = {
    "v_mov_b32": (1, "1"),
    "v_not_b32": (1, "1"),
    "v_bfrev_b32": (1, "1"),
    "v_and_b32": (1, "11"),
    "v_or_b32": (1, "11"),
    "v_xor_b32": (1, "11"),
    "v_xnor_b32": (1, "11"),
    "v_and_or_b32": (1, "111"),
    "v_or3_b32": (1, "111"),
    "v_bfi_b32": (1, "111"),
    "v_lshlrev_b32": (1, "k1"),
    "v_lshrrev_b32": (1, "k1"),
    "v_ashrrev_i32": (1, "k1"),
    "v_lshlrev_b64": (2, "k2"),
    "v_lshrrev_b64": (2, "k2"),
    "v_ashrrev_i64": (2, "k2"),
    "v_lshl_or_b32": (1, "1k1"),
    "v_bfe_u32": (1, "1kk"),
    "v_bfe_i32": (1, "1kk"),
    "v_alignbit_b32": (1, "11k"),
    "v_alignbyte_b32": (1, "11k"),
    "v_perm_b32": (1, "11k"),
}
VECTOR_SUMS = {
    "v_add_u32": (1, "11"),
    "v_sub_u32": (1, "11"),
    "v_mul_lo_u32": (1, "11"),
    "v_add3_u32": (1, "111"),
    "v_lshl_add_u32": (1, "1k1"),
    "v_add_lshl_u32": (1, "11k"),
}
SCALAR = {
    "s_mov_b32": (1, "1"),
    "s_not_b64": (2, "2"),
    "s_brev_b32": (1, "1"),
    "s_and_b64": (2, "22"),
    "s_or_b32": (1, "11"),
    "s_xor_b64": (2, "22"),
    "s_lshl_b32": (1, "1k"),
    "s_lshr_b32": (1, "1k"),
    "s_ashr_i32": (1, "1k"),
    "s_lshl_b64": (2, "2k"),
    "s_lshr_b64": (2, "2k"),
    "s_ashr_i64": (2, "2k"),
    "s_bfe_u32": (1, "1k"),
    "s_bfe_i32": (1, "1k"),
    "s_bfe_u64": (2, "2k"),
    "s_bfe_i64": (2, "2k"),
    "s_sext_i32_i8": (1, "1"),
    "s_sext_i32_i16": (1, "1"),
    "s_pack_ll_b32_b16": (1, "11"),
    "s_pack_lh_b32_b16": (1, "11"),
    "s_pack_hh_b32_b16": (1, "11"),
}
SCALAR_SUMS = {
    "s_add_u32": (1, "11"),
    "s_sub_u32": (1, "11"),
    "s_add_i32": (1, "11"),
    "s_mul_i32": (1, "11"),
    "s_lshl2_add_u32": (1, "11"),
}
#: Bits that nobody wrote, in all operands together.
BITS = 4


class Case:
    """An instruction with numbers as its operands, of which some bits are open."""

    def __init__(self, name: str, words: int, operands: str, chance: random.Random) -> None:
        self.name, self.words, self.scalar = name, words, name.startswith("s_")
        # Registers by operand, and the number in each of them.
        self.registers, self.values = [], {}
        at = 20
        for kind in operands:
            count = 2 if kind == "2" else 1
            self.registers.append(list(range(at, at + count)))
            for register in range(at, at + count):
                self.values[register] = chance.getrandbits(32)
            if kind == "k":
                width = chance.randrange(40) << 16 if "s_bfe" in name else 0
                known = chance.randrange(64) | width
                self.values[at] = chance.getrandbits(32) if "perm" in name else known
            at += 2
        data = [
            register
            for kind, registers in zip(operands, self.registers, strict=True)
            for register in registers
            if kind != "k" or chance.random() < 0.1
        ]
        # Some of them next to each other, as sums carry.
        first = chance.randrange(32)
        near = chance.random() < 0.5
        self.open = [
            (chance.choice(data), (first + i) % 32 if near else chance.randrange(32))
            for i in range(BITS)
        ]
        controls = {r[0] for k, r in zip(operands, self.registers, strict=True) if k == "k"}
        self.decided = not any(register in controls for register, _ in self.open)

    def text(self, written: bool) -> str:
        """Operands of which a lane, or a workgroup, has its own choice of the open bits; or they
        come from a register that nobody wrote."""
        kind = "s" if self.scalar else "v"
        lines = []
        for register, value in self.values.items():
            holes = sum({1 << bit for r, bit in self.open if r == register})
            place = f"{kind}{register}"
            if not written and holes:
                lines += [f"{kind}_and_b32 {place}, {holes:#x}, {kind}60",
                          f"{kind}_xor_b32 {place}, {value:#x}, {place}"]  # fmt: skip
                continue
            lines.append(f"{kind}_mov_b32 {place}, {value:#x}")
            for i, (r, bit) in enumerate(self.open):
                if r != register:
                    continue
                lines += ([f"s_bfe_u32 s50, s2, {i | 1 << 16:#x}", f"s_lshl_b32 s50, s50, {bit}"]
                          if self.scalar else
                          [f"v_bfe_u32 v50, v0, {i}, 1", f"v_lshlrev_b32 v50, {bit}, v50"])  # fmt: skip
                lines.append(f"{kind}_xor_b32 {place}, {place}, {kind}50")
        names = [
            f"{kind}[{first}:{last}]" if last > first else f"{kind}{first}"
            for first, *_, last in ([r[0], r[-1]] for r in [[10, 9 + self.words], *self.registers])
        ]
        return "\n".join([*lines, f"{self.name} {', '.join(names)}"])

    def store(self, masks: list[int]) -> str:
        kind = "s" if self.scalar else "v"
        lines = []
        for word, mask in enumerate(masks):
            lines += [f"{kind}_and_b32 {kind}{10 + word}, {mask:#x}, {kind}{10 + word}"]
            if self.scalar:
                lines += [f"v_mov_b32 v2, s{10 + word}"]
            lines += [f"global_store_dword v1, v{2 if self.scalar else 10 + word}, s[8:9] offset:{4 * word}"]  # fmt: skip
        return "\n".join(lines)

    def kernel(self, written: bool, masks: list[int], target: str) -> str:
        index = (
            "v_mov_b32 v1, s2\nv_lshlrev_b32 v1, 3, v1"
            if self.scalar
            else "v_lshlrev_b32 v1, 3, v0"
        )
        start = f"s_load_dwordx2 s[8:9], s[0:1], 0\n{index}\ns_waitcnt lgkmcnt(0)\n"
        body = start + self.text(written) + "\n" + self.store(masks) + "\n"
        return kernel(body, [8], target)

    def shape(self) -> tuple[int, int]:
        return (2**BITS, 1) if self.scalar else (1, 2**BITS)


def known_bits(case: Case, target: str) -> list[int]:
    """The bits of each word of the result that are the same for all choices."""
    out = np.zeros((2**BITS, 2), np.uint32)
    run(case.kernel(True, [0xFFFFFFFF] * case.words, target), [out], *case.shape())
    differ = np.bitwise_or.reduce(out ^ out[:1], axis=0)
    return [~int(d) & 0xFFFFFFFF for d in differ[: case.words]]


def check(name: str, target: str, exact: bool) -> None:
    table = {**VECTOR, **VECTOR_SUMS, **SCALAR, **SCALAR_SUMS}
    chance = random.Random(f"{name} {target}")
    for _ in range(8):
        case = Case(name, *table[name], chance)
        known = known_bits(case, target)

        def found(masks: list[int], case: Case = case) -> list[str]:
            out = np.zeros((2**BITS, 2), np.uint32)
            return findings(case.kernel(False, masks, target), [out], *case.shape())

        if exact and case.decided:
            assert found(known) == [], case.text(False)
        elif case.decided:
            # What is below all open bits takes no carry.
            low = min(bit for _, bit in case.open)
            assert found([(1 << low) - 1] * case.words) == [], case.text(False)
        for word, mask in enumerate(known):
            others = [bit for bit in range(32) if not mask >> bit & 1]
            for bit in chance.sample(others, min(2, len(others))):
                masks = [1 << bit if w == word else 0 for w in range(case.words)]
                assert found(masks) == ["uninitialized"], case.text(False)


@pytest.mark.parametrize("target", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("name", [*VECTOR, *SCALAR])
def test_bits_of_their_own(name, target):
    check(name, target, exact=True)


@pytest.mark.parametrize("target", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("name", [*VECTOR_SUMS, *SCALAR_SUMS])
def test_bits_that_carry(name, target):
    check(name, target, exact=False)


def test_waves_are_wide_enough():
    assert min(WAVE.values()) >= 2**BITS

"""Conversions by instructions that exchange halves of registers (gfx950), executed."""

from __future__ import annotations

import random

import numpy as np
import pytest
from test_convert_layout import DTYPES, kernel

import tile
import tile.sim
from tile.backends.compiler import GPUTarget

WAVE_BITS = 6


def linear(register: list, lane: list, warp: list) -> str:
    return f"#ttg.linear<{{register = {register}, lane = {lane}, warp = {warp}, block = []}}>"


def convert(shape, src: str, dst: str, dtype: str, warps: int, tmp_path) -> str:
    """Runs the conversion with all checks, compares, and returns the assembly."""
    text = kernel(shape, src, dst, dtype, warps)
    text = text.replace("cuda:80", "hip:gfx950")
    text = text.replace('"ttg.threads-per-warp" = 32', '"ttg.threads-per-warp" = 64')
    path = tmp_path / "convert.ttgir"
    path.write_text(text)
    compiled = tile.compile(str(path), target=GPUTarget("hip", "gfx950", 64))
    assembly = compiled.asm["amdgcn"]
    x = np.random.default_rng(0).integers(-100, 100, shape).astype(DTYPES[dtype])
    y = np.zeros_like(x)
    tile.sim.launch(assembly, "k", 1, 64 * warps, [x, y], dynamic_shared=compiled.metadata.shared)
    np.testing.assert_array_equal(x, y)
    return assembly


@pytest.mark.parametrize("seed", range(12))
def test_a_lane_bit_and_a_register_bit_change_places(seed, tmp_path):
    rng = random.Random(seed)
    warps = rng.choice([1, 2, 4])
    numbers = WAVE_BITS + warps.bit_length() - 1
    register_bits = rng.randrange(1, 5)
    rows = rng.randrange(numbers + register_bits + 1)
    columns = numbers + register_bits - rows
    bits = [[1 << i, 0] for i in range(rows)] + [[0, 1 << i] for i in range(columns)]
    rng.shuffle(bits)
    register, lane = bits[:register_bits], bits[register_bits:][:WAVE_BITS]
    warp = bits[register_bits + WAVE_BITS :]
    src = linear(register, lane, warp)
    bit, other = rng.choice([4, 5]), rng.randrange(register_bits)
    register, lane = list(register), list(lane)
    register[other], lane[bit] = lane[bit], register[other]
    rng.shuffle(register)
    dst = linear(register, lane, warp)
    dtype = rng.choice(["i8", "f16", "f32", "i32"])
    assembly = convert((1 << rows, 1 << columns), src, dst, dtype, warps, tmp_path)
    assert f"v_permlane{1 << bit}_swap" in assembly
    assert "ds_bpermute" not in assembly and "ds_swizzle" not in assembly


@pytest.mark.parametrize("seed", range(12))
def test_both_lane_bits_and_register_bits_change_places(seed, tmp_path):
    """Also where one lane bit gets what the other one has: one exchange comes before the other."""
    rng = random.Random(seed)
    register_bits = rng.randrange(1, 5)
    bits = [[1 << i, 0] for i in range(WAVE_BITS)] + [[0, 1 << i] for i in range(register_bits)]
    rng.shuffle(bits)
    register, lane = bits[:register_bits], bits[register_bits:]
    src = linear(register, lane, [])
    first, then = rng.sample([4, 5], 2)
    for bit in (first, then):
        other = 0 if seed % 2 else rng.randrange(register_bits)
        register[other], lane[bit] = lane[bit], register[other]
    rng.shuffle(register)
    dst = linear(register, lane, [])
    dtype = rng.choice(["i8", "f16", "f32", "i32"])
    shape = (1 << WAVE_BITS, 1 << register_bits)
    assembly = convert(shape, src, dst, dtype, 1, tmp_path)
    assert "v_permlane32_swap" in assembly and "v_permlane16_swap" in assembly
    assert "ds_bpermute" not in assembly and "ds_swizzle" not in assembly


def test_words_of_64_bits_and_other_lanes_go_another_way(tmp_path):
    register = [[0, 1], [0, 2]]
    lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0]]
    src = linear(register, lane, [])
    for dtype, bit in (("i64", 5), ("f32", 3)):
        to, exchanged = list(register), list(lane)
        to[0], exchanged[bit] = lane[bit], register[0]
        dst = linear(to, exchanged, [])
        assert "_swap_b32" not in convert((64, 4), src, dst, dtype, 1, tmp_path)

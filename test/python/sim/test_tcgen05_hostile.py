# ruff: noqa: E501  (PTX text reads better unbroken)
"""Descriptors, addresses and numbers at random: a finding or a result, never anything else."""

from __future__ import annotations

import os

import numpy as np
import tensor_memory as tm
from tensor_memory import LANES

import tile.sim

COUNT = int(os.environ.get("TILE_TEST_HOSTILE", "150"))
KINDS = ["f16", "tf32", "f8f6f4", "i8", "mxf8f6f4.block_scale", "mxf4.block_scale", "mxf4nvf4.block_scale.block16"]  # fmt: skip


def random_bits(rng, good, bits):
    """Something near what is right, or anything."""
    if rng.random() < 0.2:
        return int(rng.integers(0, 1 << 32)) | int(rng.integers(0, 1 << 32)) << 32 & (
            (1 << bits) - 1
        )
    value = good
    for _ in range(int(rng.integers(0, 4))):
        value ^= 1 << int(rng.integers(0, bits))
    return value


def mma(rng):
    kind = KINDS[rng.integers(0, len(KINDS))]
    m, n = int(rng.choice([32, 64, 128, 256])), int(rng.choice([8, 16, 64, 256]))
    good = m >> 4 << 24 | n >> 3 << 17 | 1 << 4
    i = random_bits(rng, good, 32) & 0xFFFFFFFF
    mode = ["none", "atoms", "128", "64", "32"][rng.integers(0, 5)]
    a, b = (random_bits(rng, tm.sdesc(0, 128, 1024, mode), 64) for _ in range(2))
    d, t = (int(rng.choice([0, 0, 16, 32, 1 << 20, rng.integers(0, 1 << 32)])) for _ in range(2))
    first = "[%x0]" if rng.random() < 0.3 else "%d0"
    scales = ", [%x1], [%x2]" if "block_scale" in kind else ""
    stationary = ".ws" if not scales and rng.random() < 0.2 else ""
    return f"mov.b64 %d0, {a}; mov.b64 %d1, {b}; mov.b32 %i, {i}; add.u32 %x0, %t, {t}; add.u32 %x1, %t, {d}; add.u32 %x2, %t, {t}; tcgen05.mma{stationary}.cta_group::1.kind::{kind} [%x1], {first}, %d1, %i{scales}, %always;"


def copy(rng):
    shape = ["128x256b", "4x256b", "128x128b", "64x128b.warpx2::02_13", "32x128b.warpx4"][rng.integers(0, 5)]  # fmt: skip
    how = ["", ".b8x16.b6x16_p32", ".b8x16.b4x16_p64"][rng.integers(0, 3)]
    d = random_bits(rng, tm.sdesc(0, 128, 128, "none"), 64)
    t = int(rng.choice([0, 32, rng.integers(0, 1 << 32)]))
    return (
        f"mov.b64 %d0, {d}; add.u32 %x0, %t, {t}; tcgen05.cp.cta_group::1.{shape}{how} [%x0], %d0;"
    )


def shift(rng):
    return f"add.u32 %x0, %t, {int(rng.choice([0, 1 << 21, rng.integers(0, 1 << 32)]))}; tcgen05.shift.cta_group::1.down [%x0];"


def test_random_operands():
    rng = np.random.default_rng(int(os.environ.get("TILE_TEST_HOSTILE_SEED", "0")))
    shared = rng.integers(0, 256, 8192).astype(np.uint8)
    tensor = rng.integers(0, 1 << 32, (LANES, 64), dtype=np.uint64).astype(np.uint32)
    outcomes = {True: 0, False: 0}
    for _ in range(COUNT):
        body = [mma, mma, mma, copy, shift][rng.integers(0, 5)](rng)
        try:
            tm.run(body, shared, tensor, schedule_seed=int(rng.integers(0, 3)))
            outcomes[True] += 1
        except tile.sim.SimulationError:
            outcomes[False] += 1
    assert min(outcomes.values()) > COUNT // 20, outcomes

"""Layouts drawn at random, for programs that say theirs."""

from __future__ import annotations

import random

from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.amd import AMDMFMALayout, AMDWMMALayout
from tile.experimental.gluon.language.amd.cdna5 import PartitionedSharedLayout


def split(rng: random.Random, total: int, parts: int) -> list[int]:
    """Powers of two that multiplied give `total`."""
    result = [1] * parts
    while total > 1:
        result[rng.randrange(parts)] *= 2
        total //= 2
    return result


def order(rng: random.Random, rank: int) -> list[int]:
    dims = list(range(rank))
    rng.shuffle(dims)
    return dims


def blocked(rng: random.Random, rank: int, num_warps: int = 4, lanes: int = 32) -> gl.BlockedLayout:
    size = split(rng, rng.choice([1, 2, 4, 8]), rank)
    return gl.BlockedLayout(
        size, split(rng, lanes, rank), split(rng, num_warps, rank), order(rng, rank)
    )


def linear(
    rng: random.Random, shape: list[int], num_warps: int = 4, lanes: int = 32
) -> gl.DistributedLinearLayout:
    """Every bit of the tensor goes to a bit of a register, lane or warp; what is left over holds
    copies."""
    rank = len(shape)
    bits = [
        [1 << b if d == dim else 0 for d in range(rank)]
        for dim in range(rank)
        for b in range(shape[dim].bit_length() - 1)
    ]
    rng.shuffle(bits)
    warps = num_warps.bit_length() - 1
    parts = []
    for count in (lanes.bit_length() - 1, warps):
        taken, bits = bits[:count], bits[count:]
        parts.append(taken + [[0] * rank] * (count - len(taken)))
    return gl.DistributedLinearLayout(bits, parts[0], parts[1], [], list(shape))


def accumulator(rng: random.Random, machine: str, num_warps: int):
    """A layout of the results of fp16's matrix instruction on a machine, and how many neighbours
    along K a lane has of an operand."""
    warps = split(rng, num_warps, 2)
    if machine.startswith("cuda:"):
        return gl.NVMMADistributedLayout([2, 0], warps, [16, 8]), 2
    transposed = rng.random() < 0.5
    if machine in ("hip:gfx942", "hip:gfx950"):
        version, shape = (3, [[32, 32, 8], [16, 16, 16]]) if machine == "hip:gfx942" else (
            4, [[32, 32, 16], [16, 16, 32]])  # fmt: skip
        tiles = rng.choice([None, [1, 2], [2, 1]])
        layout = AMDMFMALayout(version, rng.choice(shape), transposed, warps, tiles_per_warp=tiles)
        return layout, 4 if version == 3 else 8
    version = 1 if machine.startswith("hip:gfx11") else 2
    bases = [[0, 1 << b] for b in range(warps[1].bit_length() - 1)]
    bases += [[1 << b, 0] for b in range(warps[0].bit_length() - 1)]
    return AMDWMMALayout(version, transposed, bases), 16 if version == 1 else 8


def distributed(
    rng: random.Random,
    shape: list[int],
    num_warps: int = 4,
    lanes: int = 32,
    machine: str = "cuda:80",
):
    """A layout for a tensor of this shape."""
    kind = rng.choice(["blocked", "blocked", "linear", "slice", "mma"])
    rank = len(shape)
    if kind == "linear":
        return linear(rng, shape, num_warps, lanes)
    if kind == "slice":
        return gl.SliceLayout(rng.randrange(rank + 1), blocked(rng, rank + 1, num_warps, lanes))
    if kind == "mma" and rank == 2 and min(shape) >= 16:
        return accumulator(rng, machine, num_warps)[0]
    return blocked(rng, rank, num_warps, lanes)


def partitioned(rng: random.Random, shape: list[int]):
    """A layout of pieces in partitions of LDS."""
    dim = rng.randrange(len(shape))
    partitions, groups = rng.choice([(2, 1), (2, 2), (4, 1), (1, 2)])
    while shape[dim] < partitions * groups:
        partitions, groups = partitions // 2 or 1, 1
    piece = [e // (partitions * groups) if d == dim else e for d, e in enumerate(shape)]
    inside = gl.SwizzledSharedLayout(2, 1, 2, order(rng, len(shape)))
    if rng.random() < 0.5:
        inside = gl.PaddedSharedLayout.with_identity_for([[16, 2]], piece, order(rng, len(shape)))
    return PartitionedSharedLayout(partitions, groups, dim, inside)


def shared(rng: random.Random, shape: list[int], bits: int, machine: str = "cuda:80"):
    """A layout for a buffer of this shape."""
    rank = len(shape)
    kind = rng.choice(["swizzled", "padded", "linear", "nvmma", "plain"])
    if machine.startswith("hip:") and rng.random() < 0.15:
        return partitioned(rng, shape)
    if kind == "nvmma" and rank == 2 and bits < 64 and machine.startswith("cuda:"):
        return gl.NVMMASharedLayout.get_default_for(
            shape, {8: gl.int8, 16: gl.float16, 32: gl.float32}[bits], rng.random() < 0.5
        )
    if kind == "padded":
        pairs = [[rng.choice([16, 32, 64]), rng.choice([1, 2, 4, 8])]]
        return gl.PaddedSharedLayout.with_identity_for(pairs, shape, order(rng, rank))
    if kind == "linear":
        bases = [
            [1 << b if d == dim else 0 for d in range(rank)]
            for dim in range(rank)
            for b in range(shape[dim].bit_length() - 1)
        ]
        rng.shuffle(bases)
        return gl.SharedLinearLayout(bases)
    if kind == "swizzled" and rank > 1:
        vec, per_phase, max_phase = (rng.choice([1, 2, 4]) for _ in range(3))
        return gl.SwizzledSharedLayout(vec, per_phase, max_phase, order(rng, rank))
    return gl.SwizzledSharedLayout(1, 1, 1, order(rng, rank))

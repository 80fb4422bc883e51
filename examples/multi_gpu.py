"""Kernels over several GPUs: each rank reads and writes the memory of all others, as
torch.distributed._symmetric_memory gives it. The simulator runs all ranks at once.

    python examples/multi_gpu.py    # in the simulator
    torchrun --nproc-per-node 2 bench/multi_gpu.py
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import tile
import tile.language as tl

WORLD_IN_THE_SIMULATOR = 2
#: Flags of the signal pad of each rank: one for each program and each rank that signals.
MOST_PROGRAMS = 64


@tile.jit
def sync_ranks(pads, rank, WORLD: tl.constexpr):
    """Returns when the same program of each rank has called this. What they stored before is there
    then. `pads` are the addresses of all ranks' signal pads, whose flags are zero, also afterwards.
    """
    peers = tl.arange(0, WORLD)
    slot = tl.program_id(0) * WORLD
    # What all threads of this program did comes before the signal.
    tl.debug_barrier()
    theirs = tl.load(pads + peers).to(tl.pointer_type(tl.int32)) + slot + rank
    tl.atomic_add(theirs, 1, sem="release", scope="sys")
    mine = tl.load(pads + rank).to(tl.pointer_type(tl.int32)) + slot + peers
    while tl.min(tl.atomic_load(mine, sem="acquire", scope="sys"), axis=0) < 1:
        pass
    # A rank that is one call ahead may have signalled again.
    tl.atomic_add(mine, -1, sem="relaxed", scope="sys")
    tl.debug_barrier()


@tile.jit
def memory_of(addresses, rank, like):
    """The pointer to a rank's memory; elements are those of `like`."""
    return tl.multiple_of(tl.load(addresses + rank).to(like.dtype), 16)


@tile.jit
def one_shot_all_reduce(
    inputs, pads, out_ptr, n, rank, WORLD: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    """Each rank adds up everything: one way of traffic, and little waiting."""
    sync_ranks(pads, rank, WORLD)
    step = tl.num_programs(0) * BLOCK
    for start in range(tl.program_id(0) * BLOCK, n, step):
        i = start + tl.arange(0, BLOCK)
        total = tl.zeros((BLOCK,), tl.float32)
        for peer in tl.static_range(WORLD):
            total += tl.load(memory_of(inputs, peer, out_ptr) + i, mask=i < n, other=0.0)
        tl.store(out_ptr + i, total.to(out_ptr.dtype.element_ty), mask=i < n)
    # No rank goes on, and changes its input, before all have read it.
    sync_ranks(pads, rank, WORLD)


@tile.jit
def two_shot_all_reduce(
    buffers, pads, own_ptr, n, rank, WORLD: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    """Each rank adds up its share, and gives it to all: in place, with less traffic."""
    sync_ranks(pads, rank, WORLD)
    share = tl.cdiv(tl.cdiv(n, WORLD), BLOCK) * BLOCK
    step = tl.num_programs(0) * BLOCK
    for start in range(tl.program_id(0) * BLOCK, share, step):
        i = rank * share + start + tl.arange(0, BLOCK)
        total = tl.zeros((BLOCK,), tl.float32)
        for peer in tl.static_range(WORLD):
            total += tl.load(memory_of(buffers, peer, own_ptr) + i, mask=i < n, other=0.0)
        for peer in tl.static_range(WORLD):
            to = memory_of(buffers, peer, own_ptr) + i
            tl.store(to, total.to(own_ptr.dtype.element_ty), mask=i < n)
    sync_ranks(pads, rank, WORLD)


@tile.jit
def all_to_all(
    inputs, pads, out_ptr, n, rank, WORLD: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    """Part `r` of a rank's input goes to rank `r`; a part has `n` elements."""
    sync_ranks(pads, rank, WORLD)
    step = tl.num_programs(0) * BLOCK
    for start in range(tl.program_id(0) * BLOCK, n, step):
        i = start + tl.arange(0, BLOCK)
        for turn in tl.static_range(WORLD):
            # Another one for each rank, so that no link has all the traffic.
            peer = (rank + turn) % WORLD
            x = tl.load(memory_of(inputs, peer, out_ptr) + rank * n + i, mask=i < n)
            tl.store(out_ptr + peer * n + i, x, mask=i < n)
    sync_ranks(pads, rank, WORLD)


@tile.jit
def gather_matmul(
    shares, pads, own_ptr, gathered_ptr, ready_ptr, b_ptr, c_ptr, M, N, K, rank,
    WORLD: tl.constexpr, COPIERS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
    BK: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """``c = a @ b``, where each rank has `M` of the rows of `a`. The first programs copy the rows
    of the others, and the rest multiplies what is there: its own rows first. `ready_ptr` has a
    zero for each rank. `M` is a multiple of `BM`, and `K` of `BK`."""
    if tl.program_id(0) < COPIERS:
        sync_ranks(pads, rank, WORLD)
        for turn in tl.static_range(1, WORLD):
            peer = (rank + turn) % WORLD
            source = memory_of(shares, peer, own_ptr)
            target = gathered_ptr + peer.to(tl.int64) * M * K
            for start in range(tl.program_id(0) * BLOCK, M * K, COPIERS * BLOCK):
                i = start + tl.arange(0, BLOCK)
                tl.store(target + i, tl.load(source + i, mask=i < M * K), mask=i < M * K)
            tl.atomic_add(ready_ptr + peer, 1, sem="release", scope="gpu")
        sync_ranks(pads, rank, WORLD)
    else:
        index = tl.program_id(0) - COPIERS
        columns = tl.cdiv(N, BN)
        tiles = M // BM * columns
        peer = (rank + index // tiles) % WORLD
        tile_m, tile_n = index % tiles // columns, index % columns
        a_ptr = gathered_ptr + peer.to(tl.int64) * M * K
        if peer == rank:
            a_ptr = own_ptr
        else:
            while tl.atomic_load(ready_ptr + peer, sem="acquire", scope="gpu") < COPIERS:
                pass
        m, n, k = tile_m * BM + tl.arange(0, BM), tile_n * BN + tl.arange(0, BN), tl.arange(0, BK)
        a_ptrs = a_ptr + m[:, None] * K + k[None, :]
        b_ptrs = b_ptr + k[:, None] * N + n[None, :]
        inside = n[None, :] < N
        acc = tl.zeros((BM, BN), tl.float32)
        for _ in range(0, K, BK):
            acc = tl.dot(tl.load(a_ptrs), tl.load(b_ptrs, mask=inside, other=0.0), acc)
            a_ptrs += BK
            b_ptrs += BK * N
        c_ptrs = c_ptr + (peer * M + m)[:, None].to(tl.int64) * N + n[None, :]
        tl.store(c_ptrs, acc.to(c_ptr.dtype.element_ty), mask=inside)


class Ranks:
    """Memory of several ranks in the simulator."""

    def __init__(self, world: int) -> None:
        self.world = world
        self.pads = self.alike(lambda: np.zeros(2 * MOST_PROGRAMS * world, np.int32))
        self.arrays = list(self.pads)

    def alike(self, make):
        return [make() for _ in range(self.world)]

    def addresses(self, arrays: list[np.ndarray]) -> np.ndarray:
        """What a kernel gets to reach an array of each rank."""
        self.arrays += arrays
        return np.array([x.ctypes.data for x in arrays], np.int64)

    def launch(self, kernel, grid, arguments, **constants):
        """Runs the kernel on all ranks at once; `arguments` gives those of a rank."""
        with tile.sim.reachable(*self.arrays), tile.sim.launch_group():
            for rank in range(self.world):
                compiled = kernel[grid](*arguments(rank), rank, WORLD=self.world, **constants)
        return compiled


def main(device, world: int = WORLD_IN_THE_SIMULATOR) -> None:
    if device.on_gpu:
        print("bench/multi_gpu.py runs these kernels on GPUs: torchrun starts a process for each")
        return
    rng = np.random.default_rng(0)
    ranks = Ranks(world)
    pads = ranks.addresses(ranks.pads)
    n = 5000

    def check(name: str, compiled, actual: Sequence[Any], expected: Sequence[Any]) -> None:
        device.check(name, compiled, np.stack(actual), np.stack(expected))

    x = ranks.alike(lambda: rng.standard_normal(n).astype(np.float16))
    want = [sum(v.astype(np.float64) for v in x)] * world
    out = ranks.alike(lambda: np.full(n, np.nan, np.float16))
    inputs = ranks.addresses(x)
    compiled = ranks.launch(
        one_shot_all_reduce, (3,), lambda r: (inputs, pads, out[r], n), BLOCK=512
    )
    check("one_shot", compiled, out, want)

    compiled = ranks.launch(two_shot_all_reduce, (2,), lambda r: (inputs, pads, x[r], n), BLOCK=512)
    check("two_shot", compiled, x, want)

    x = ranks.alike(lambda: rng.standard_normal((world, n)).astype(np.float16))
    out = ranks.alike(lambda: np.full((world, n), np.nan, np.float16))
    inputs = ranks.addresses(x)
    compiled = ranks.launch(all_to_all, (3,), lambda r: (inputs, pads, out[r], n), BLOCK=512)
    check("all_to_all", compiled, out, [np.stack([v[r] for v in x]) for r in range(world)])

    m, columns, k = 64, 72, 96
    a = ranks.alike(lambda: rng.standard_normal((m, k)).astype(np.float16))
    b = ranks.alike(lambda: rng.standard_normal((k, columns)).astype(np.float16))
    c = ranks.alike(lambda: np.full((world * m, columns), np.nan, np.float16))
    gathered = ranks.alike(lambda: np.empty((world * m, k), np.float16))
    ready = ranks.alike(lambda: np.zeros(world, np.int32))
    shares = ranks.addresses(a)
    copiers = 2
    compiled = ranks.launch(
        gather_matmul, (copiers + world * (m // 32) * tile.cdiv(columns, 32),),
        lambda r: (shares, pads, a[r], gathered[r], ready[r], b[r], c[r], m, columns, k),
        COPIERS=copiers, BM=32, BN=32, BK=32, BLOCK=512,
    )  # fmt: skip
    whole = np.concatenate(a).astype(np.float64)
    check("gather_matmul", compiled, c, [whole @ v.astype(np.float64) for v in b])
    if any(p.any() for p in ranks.pads):
        raise AssertionError("a flag is not zero again")


if __name__ == "__main__":
    from device import run_examples

    run_examples(main)

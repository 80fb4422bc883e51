"""Matrix product on sm_100 by programs that go from tile to tile. One warp copies, one multiplies
and four store. There are two accumulators: while one is stored, the next tile is multiplied into
the other. A program knows its tiles when it starts. Or it takes over the tiles of programs that
have not started (cluster launch control): then nobody waits for the slowest."""

from __future__ import annotations

import numpy as np

import tile
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.nvidia.blackwell import (
    TensorMemoryLayout,
    allocate_tensor_memory,
    clc,
    fence_async_shared,
    mbarrier,
    tcgen05_commit,
    tcgen05_mma,
    tma,
)
from tile.experimental.gluon.nvidia.blackwell import TensorDescriptor

#: Answers of the hardware that may be there before all partitions have read the oldest.
ANSWERS = gl.constexpr(2)
#: Partitions that read them.
READERS = gl.constexpr(4)


@gluon.jit
def next_tile(number, n, tiles, answers, asked, read, CLC: gl.constexpr):
    """The tile behind the `n`-th of this program, and whether there is one."""
    if CLC:
        slot = n % ANSWERS
        mbarrier.wait(asked.index(slot), (n // ANSWERS) & 1)
        answer = clc.load_result(answers.index(slot))
        mbarrier.arrive(read.index(slot))
        found = answer.is_canceled()
        number = answer.program_id(0)
    else:
        number += gl.num_programs(0)
        found = number < tiles
    return number, found


@gluon.jit
def ask_for_tiles(number, tiles, answers, asked, read, CLC: gl.constexpr):
    """Asks for one tile after another, until there is none."""
    found = True
    n = 0
    while found:
        slot = n % ANSWERS
        mbarrier.wait(read.index(slot), (n // ANSWERS + 1) & 1)
        mbarrier.expect(asked.index(slot), 16)
        clc.try_cancel(answers.index(slot), asked.index(slot))
        number, found = next_tile(number, n, tiles, answers, asked, read, CLC)
        n += 1


@gluon.jit
def copy_tiles(
    a, b, sa, sb, ready, empty, columns, steps, number, tiles, answers, asked, read,
    STAGES: gl.constexpr, CLC: gl.constexpr,
):  # fmt: skip
    found = True
    n, step = 0, 0
    while found:
        i, j = number // columns, number % columns
        for k in range(steps):
            slot = step % STAGES
            bar = ready.index(slot)
            # Of a barrier that nobody arrived at yet, the phase before the first has ended.
            mbarrier.wait(empty.index(slot), (step // STAGES + 1) & 1)
            mbarrier.expect(bar, a.nbytes_per_cta + b.nbytes_per_cta)
            tma.async_load(a, [i * a.block_shape[0], k * a.block_shape[1]], bar, sa.index(slot))
            tma.async_load(b, [k * b.block_shape[0], j * b.block_shape[1]], bar, sb.index(slot))
            step += 1
        number, found = next_tile(number, n, tiles, answers, asked, read, CLC)
        n += 1


@gluon.jit
def multiply_tiles(
    sa, sb, ready, empty, accs, full, stored, steps, number, tiles, answers, asked, read,
    STAGES: gl.constexpr, CLC: gl.constexpr,
):  # fmt: skip
    found = True
    n, step = 0, 0
    while found:
        mbarrier.wait(stored.index(n % 2), (n // 2 + 1) & 1)
        for k in range(steps):
            slot = step % STAGES
            mbarrier.wait(ready.index(slot), (step // STAGES) & 1)
            tcgen05_mma(
                sa.index(slot), sb.index(slot), accs.index(n % 2), use_acc=k > 0,
                mbarriers=[empty.index(slot)],
            )  # fmt: skip
            step += 1
        tcgen05_commit(full.index(n % 2))
        number, found = next_tile(number, n, tiles, answers, asked, read, CLC)
        n += 1


@gluon.jit
def store_tiles(
    c, accs, full, stored, columns, number, tiles, answers, asked, read, CLC: gl.constexpr
):
    buffer = gl.allocate_shared_memory(c.dtype, c.block_shape, c.layout)
    found = True
    n = 0
    while found:
        i, j = number // columns, number % columns
        mbarrier.wait(full.index(n % 2), (n // 2) & 1)
        values = accs.index(n % 2).load()
        # The accumulator may be overwritten: its values are in registers.
        mbarrier.arrive(stored.index(n % 2))
        tma.store_wait(0)
        gl.barrier()
        buffer.store(values.to(c.dtype))
        fence_async_shared()
        gl.barrier()
        tma.async_store(c, [i * c.block_shape[0], j * c.block_shape[1]], buffer)
        number, found = next_tile(number, n, tiles, answers, asked, read, CLC)
        n += 1
    tma.store_wait(0)


@gluon.jit
def persistent_kernel(
    a, b, c, M, N, K, STAGES: gl.constexpr, ACC: gl.constexpr, CLC: gl.constexpr
):  # fmt: skip
    BM: gl.constexpr = c.block_shape[0]
    BN: gl.constexpr = c.block_shape[1]
    columns = gl.cdiv(N, BN)
    tiles = gl.cdiv(M, BM) * columns
    steps = gl.cdiv(K, a.block_shape[1])
    first = gl.program_id(0)
    sa = gl.allocate_shared_memory(a.dtype, [STAGES, *a.block_shape], a.layout)
    sb = gl.allocate_shared_memory(b.dtype, [STAGES, *b.block_shape], b.layout)
    accs = allocate_tensor_memory(gl.float32, [2, BM, BN], ACC)
    ready = mbarrier.allocate_mbarrier(batch=STAGES)
    empty = mbarrier.allocate_mbarrier(batch=STAGES)
    full = mbarrier.allocate_mbarrier(batch=2)
    stored = mbarrier.allocate_mbarrier(batch=2)
    answers = gl.allocate_shared_memory(
        gl.int64, [ANSWERS, 2], gl.SwizzledSharedLayout(1, 1, 1, [0])
    )
    asked = mbarrier.allocate_mbarrier(batch=ANSWERS)
    read = mbarrier.allocate_mbarrier(batch=ANSWERS)
    for s in gl.static_range(STAGES):
        mbarrier.init(ready.index(s), count=1)
        mbarrier.init(empty.index(s), count=1)
    for s in gl.static_range(2):
        mbarrier.init(full.index(s), count=1)
        mbarrier.init(stored.index(s), count=1)
    for s in gl.static_range(ANSWERS):
        mbarrier.init(asked.index(s), count=1)
        mbarrier.init(read.index(s), count=READERS)
    store = (c, accs, full, stored, columns, first, tiles, answers, asked, read, CLC)
    multiply = (
        sa, sb, ready, empty, accs, full, stored, steps, first, tiles, answers, asked, read, STAGES,
        CLC,
    )  # fmt: skip
    copy = (
        a, b, sa, sb, ready, empty, columns, steps, first, tiles, answers, asked, read, STAGES, CLC
    )  # fmt: skip
    if CLC:
        gl.warp_specialize(
            [
                (store_tiles, store),
                (multiply_tiles, multiply),
                (copy_tiles, copy),
                (ask_for_tiles, (first, tiles, answers, asked, read, CLC)),
            ],
            worker_num_warps=[1, 1, 1],
            worker_num_regs=[32, 32, 32],
        )
    else:
        gl.warp_specialize(
            [(store_tiles, store), (multiply_tiles, multiply), (copy_tiles, copy)],
            worker_num_warps=[1, 1],
            worker_num_regs=[32, 32],
        )


def arguments(a, b, c, block, stages, take_over):
    (m, k), n = a.shape, c.shape[1]
    bm, bn, bk = block
    descs = [
        TensorDescriptor.from_tensor(
            tensor, shape, gl.NVMMASharedLayout.get_default_for(shape, gl.float16)
        )
        for tensor, shape in ((a, [bm, bk]), (b, [bk, bn]), (c, [bm, bn]))
    ]
    acc = TensorMemoryLayout([bm, bn], col_stride=1)
    return (*descs, m, n, k, stages, acc, take_over)


def matmul(
    a, b, c, programs: int = 148, take_over: bool = False, block=(128, 128, 64), stages: int = 3,
    **options,
):  # fmt: skip
    """``c = a @ b`` in fp16; rows of all three are multiples of 16 bytes. With `take_over` there is
    a program for each tile, and those that run take over tiles of those that do not yet."""
    tiles = tile.cdiv(c.shape[0], block[0]) * tile.cdiv(c.shape[1], block[1])
    given = arguments(a, b, c, block, stages, take_over)
    return persistent_kernel[(tiles if take_over else min(programs, tiles),)](*given, **options)


def main(device) -> None:
    rng = np.random.default_rng(9)
    for take_over in (False, True):
        for m, n, k in ((256, 384, 128), (200, 136, 72)):
            a, b = (rng.standard_normal(s).astype(np.float16) for s in ((m, k), (k, n)))
            expected = (a.astype(np.float32) @ b.astype(np.float32)).astype(np.float16)
            c = device.empty_like(expected)
            kernel = matmul(device.put(a), device.put(b), c, programs=2, take_over=take_over)
            device.check("tcgen05 persistent", kernel, device.get(c), expected)


if __name__ == "__main__":
    import os

    # Tensor memory is what these GPUs have.
    os.environ.setdefault("TILE_SIM_TARGET", "cuda:100")
    from demo import run_examples

    run_examples(main)

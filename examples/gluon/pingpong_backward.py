"""The gradients of attention on sm_90. Each of two groups of four warps has 64 keys; queries and
the gradients of results go by, copied by a warp of its own. The groups take turns: while one
multiplies, the other one computes its weights."""

from __future__ import annotations

import numpy as np

import tile
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
)
from tile.experimental.gluon.nvidia.hopper import TensorDescriptor


@gluon.jit
def differentiate(
    dq_ptr, dk_ptr, dv_ptr, lse_ptr, delta_ptr, sq, sdo, sk, sv, kv_ready, ready, empty, my_turn,
    other_turn, head, start, N, scale, steps, ME: gl.constexpr, STAGES: gl.constexpr,
):  # fmt: skip
    """The part of one group. All dots have keys as rows, so that weights stay in registers."""
    BN: gl.constexpr = sk.shape[0]
    D: gl.constexpr = sk.shape[1]
    BM: gl.constexpr = sq.shape[1]
    S: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, BM, 16])
    G: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, D, 16])
    LOG2E: gl.constexpr = 1.4426950408889634
    sds = gl.allocate_shared_memory(
        sk.dtype, [BN, BM], gl.NVMMASharedLayout.get_default_for([BN, BM], gl.float16)
    )
    keys = start + ME * BN + gl.arange(0, BN, layout=gl.SliceLayout(1, S))
    dk = gl.zeros([BN, D], gl.float32, G)
    dv = gl.zeros([BN, D], gl.float32, G)
    mbarrier.wait(kv_ready, 0)
    for n in range(steps):
        slot = n % STAGES
        q, do = sq.index(slot), sdo.index(slot)
        mbarrier.wait(ready.index(slot), (n // STAGES) & 1)
        mbarrier.wait(my_turn, (n + 1 - ME) & 1)
        s = gl.zeros([BN, BM], gl.float32, S)
        s = warpgroup_mma(sk, q.permute([1, 0]), s, use_acc=False)
        dp = gl.zeros([BN, BM], gl.float32, S)
        dp = warpgroup_mma(sv, do.permute([1, 0]), dp, use_acc=False)
        mbarrier.arrive(other_turn)
        rows = n * BM + gl.arange(0, BM, layout=gl.SliceLayout(0, S))
        lse = gl.load(lse_ptr + head * N + rows, mask=rows < N, other=0.0)
        delta = gl.load(delta_ptr + head * N + rows, mask=rows < N, other=0.0)
        seen = (keys[:, None] < N) & (rows[None, :] < N)
        p = gl.where(seen, gl.exp2((s * scale - lse[None, :]) * LOG2E), 0.0)
        ds = (p * (dp - delta[None, :]) * scale).to(sk.dtype)
        dv = warpgroup_mma(gl.convert_layout(p.to(sk.dtype), gl.DotOperandLayout(0, G, 2)), do, dv)
        dk = warpgroup_mma(gl.convert_layout(ds, gl.DotOperandLayout(0, G, 2)), q, dk)
        sds.store(ds)
        fence_async_shared()
        gl.barrier()
        dq = gl.zeros([BM, D], gl.float32, G)
        dq = warpgroup_mma(sds.permute([1, 0]), sk, dq, use_acc=False)
        mbarrier.arrive(empty.index(slot))
        rows = n * BM + gl.arange(0, BM, layout=gl.SliceLayout(1, G))
        columns = gl.arange(0, D, layout=gl.SliceLayout(0, G))
        places = dq_ptr + (head * N + rows[:, None]) * D + columns[None, :]
        gl.atomic_add(places, dq, mask=rows[:, None] < N, sem="relaxed")
    keys = start + ME * BN + gl.arange(0, BN, layout=gl.SliceLayout(1, G))
    columns = gl.arange(0, D, layout=gl.SliceLayout(0, G))
    places = (head * N + keys[:, None]) * D + columns[None, :]
    gl.store(dk_ptr + places, dk, mask=keys[:, None] < N)
    gl.store(dv_ptr + places, dv, mask=keys[:, None] < N)


@gluon.jit
def copy(
    q, do, k, v, sq, sdo, sk, sv, kv_ready, ready, empty, head, start, N, steps,
    STAGES: gl.constexpr,
):  # fmt: skip
    BM: gl.constexpr = q.block_shape[0]
    BN: gl.constexpr = k.block_shape[0]
    mbarrier.expect(kv_ready, 2 * (k.nbytes_per_cta + v.nbytes_per_cta))
    for i in gl.static_range(2):
        tma.async_load(k, [head * N + start + i * BN, 0], kv_ready, sk.index(i))
        tma.async_load(v, [head * N + start + i * BN, 0], kv_ready, sv.index(i))
    for n in range(steps):
        slot = n % STAGES
        mbarrier.wait(empty.index(slot), (n // STAGES + 1) & 1)
        mbarrier.expect(ready.index(slot), q.nbytes_per_cta + do.nbytes_per_cta)
        tma.async_load(q, [head * N + n * BM, 0], ready.index(slot), sq.index(slot))
        tma.async_load(do, [head * N + n * BM, 0], ready.index(slot), sdo.index(slot))


@gluon.jit
def backward_kernel(
    q, do, k, v, dq_ptr, dk_ptr, dv_ptr, lse_ptr, delta_ptr, N, scale, STAGES: gl.constexpr
):  # fmt: skip
    head, start = gl.program_id(1), gl.program_id(0) * 2 * k.block_shape[0]
    steps = gl.cdiv(N, q.block_shape[0])
    sk = gl.allocate_shared_memory(k.dtype, [2, *k.block_shape], k.layout)
    sv = gl.allocate_shared_memory(v.dtype, [2, *v.block_shape], v.layout)
    sq = gl.allocate_shared_memory(q.dtype, [STAGES, *q.block_shape], q.layout)
    sdo = gl.allocate_shared_memory(do.dtype, [STAGES, *do.block_shape], do.layout)
    kv_ready = mbarrier.allocate_mbarrier()
    ready = mbarrier.allocate_mbarrier(batch=STAGES)
    empty = mbarrier.allocate_mbarrier(batch=STAGES)
    turns = mbarrier.allocate_mbarrier(batch=2)
    mbarrier.init(kv_ready, count=1)
    for s in gl.static_range(STAGES):
        mbarrier.init(ready.index(s), count=1)
        mbarrier.init(empty.index(s), count=2)
    for i in gl.static_range(2):
        mbarrier.init(turns.index(i), count=1)
    first, second = turns.index(0), turns.index(1)
    gl.warp_specialize(
        [
            (
                differentiate,
                (dq_ptr, dk_ptr, dv_ptr, lse_ptr, delta_ptr, sq, sdo, sk.index(0), sv.index(0),
                 kv_ready, ready, empty, first, second, head, start, N, scale, steps, 0, STAGES),
            ),
            (
                differentiate,
                (dq_ptr, dk_ptr, dv_ptr, lse_ptr, delta_ptr, sq, sdo, sk.index(1), sv.index(1),
                 kv_ready, ready, empty, second, first, head, start, N, scale, steps, 1, STAGES),
            ),
            (
                copy,
                (q, do, k, v, sq, sdo, sk, sv, kv_ready, ready, empty, head, start, N, steps,
                 STAGES),
            ),
        ],
        worker_num_warps=[4, 1],
        worker_num_regs=[240, 24],
    )  # fmt: skip


def arguments(q, k, v, do, dq, dk, dv, lse, delta, bm, stages):
    heads, n, d = q.shape
    descs = [
        TensorDescriptor.from_tensor(
            tensor.reshape(heads * n, d), block,
            gl.NVMMASharedLayout.get_default_for(block, gl.float16),
        )
        for tensor, block in ((q, [bm, d]), (do, [bm, d]), (k, [64, d]), (v, [64, d]))
    ]  # fmt: skip
    return (*descs, dq, dk, dv, lse, delta, n, d**-0.5, stages)


def backward(q, k, v, do, dq, dk, dv, lse, delta, bm: int = 64, stages: int = 2):
    """The gradients of q (added to `dq`), k and v for that of the result, `do`; of fp16 into fp32.
    `lse` has the logarithms of the sums of the weights, `delta` the sums of ``o * do``."""
    heads, n, _ = q.shape
    given = arguments(q, k, v, do, dq, dk, dv, lse, delta, bm, stages)
    return backward_kernel[(tile.cdiv(n, 128), heads)](*given, num_warps=4)


def reference(q, k, v, do):
    """The gradients, and the two sums of each row that the kernel is given."""
    q, k, v, do = (x.astype(np.float64) for x in (q, k, v, do))
    scale = q.shape[-1] ** -0.5
    s = q @ k.transpose(0, 2, 1) * scale
    top = s.max(-1, keepdims=True)
    lse = top + np.log(np.exp(s - top).sum(-1, keepdims=True))
    p = np.exp(s - lse)
    delta = ((p @ v) * do).sum(-1, keepdims=True)
    ds = p * (do @ v.transpose(0, 2, 1) - delta) * scale
    gradients = ds @ k, ds.transpose(0, 2, 1) @ q, p.transpose(0, 2, 1) @ do
    return gradients, lse[..., 0].astype(np.float32), delta[..., 0].astype(np.float32)


def main(device) -> None:
    rng = np.random.default_rng(12)
    for heads, n, d in ((1, 128, 64), (2, 72, 64)):
        tensors = [rng.standard_normal((heads, n, d)).astype(np.float16) for _ in range(4)]
        gradients, lse, delta = reference(*tensors)
        dq = device.put(np.zeros((heads, n, d), np.float32))
        dk, dv = (device.empty_like(np.zeros((heads, n, d), np.float32)) for _ in range(2))
        q, k, v, do, lse, delta = (device.put(x) for x in (*tensors, lse, delta))
        kernel = backward(q, k, v, do, dq, dk, dv, lse, delta)
        for found, expected in zip((dq, dk, dv), gradients, strict=True):
            rounded = expected.astype(np.float16)
            device.check("backward", kernel, device.get(found).astype(np.float16), rounded)


if __name__ == "__main__":
    from demo import run_examples

    run_examples(main)

"""Mistakes planted in the examples: a table of the example, what finds the mistake, the text of the
example and what stands there instead. The twin of each is the example itself."""

from __future__ import annotations

RACES = "race async-race"

#: Example, kinds of findings, text, mistake.
PLANTED = [
    # Groups of copies.
    ("async_matmul", "async-race", "wait_group(STAGES - 2)", "wait_group(STAGES - 1)"),
    ("async_matmul", "async-race", "wait_group(STAGES - 2)", "wait_group(STAGES)"),
    ("async_matmul", "async-race", "        async_copy.wait_group(STAGES - 2)\n", ""),
    ("async_matmul", "async-race", "    async_copy.commit_group()\n", ""),
    ("async_matmul", "async-race", "sa.index(k % STAGES).load", "sa.index((k + 1) % STAGES).load"),
    ("async_matmul", "async-race", "sb.index(k % STAGES).load", "sb.index((k + 1) % STAGES).load"),
    (
        "async_matmul",
        "async-race uninitialized",
        "sa.index(ahead % STAGES), sb",
        "sa.index(k % STAGES), sb",
    ),
    (
        "async_matmul",
        "out-of-bounds",
        "mask = (rows[:, None] < M) & (ks[None, :] < K)",
        "mask = ks[None, :] < K",
    ),
    (
        "async_matmul",
        "out-of-bounds",
        "mask = (rows[:, None] < M) & (columns[None, :] < N)",
        "mask = columns[None, :] < N",
    ),
    (
        "experts_matmul",
        "async-race",
        "async_copy.wait_group(STAGES - 2)",
        "async_copy.wait_group(STAGES - 1)",
    ),
    (
        "experts_matmul",
        "async-race",
        "sx.index(k % STAGES).load",
        "sx.index((k + 1) % STAGES).load",
    ),
    (
        "experts_matmul",
        "out-of-bounds",
        "mask = has_token[:, None] & (ks[None, :] < K)",
        "mask = has_token[:, None]",
    ),
    (
        "experts_matmul",
        "out-of-bounds",
        "mask=valid[:, None] & (columns[None, :] < N)",
        "mask=valid[:, None]",
    ),
    (
        "experts_matmul",
        "race out-of-bounds",
        "mask=valid[:, None] & (columns[None, :] < N)",
        "mask=columns[None, :] < N",
    ),
    (
        "experts_matmul",
        "out-of-bounds",
        "tokens = gl.load(order_ptr + places, mask=has_token, other=0)",
        "tokens = gl.load(order_ptr + places)",
    ),
    # Masks.
    ("vector_add", "out-of-bounds", "mask = offsets < n", "mask = offsets < n + 1"),
    ("vector_add", "out-of-bounds", "total, mask)", "total)"),
    (
        "transpose",
        "out-of-bounds",
        "mask = (rows[:, None] < M) & (columns[None, :] < N)",
        "mask = columns[None, :] < N",
    ),
    (
        "transpose",
        "out-of-bounds race",
        "mask = (rows[:, None] < N) & (columns[None, :] < M)",
        "mask = rows[:, None] < N",
    ),
    # Bulk copies.
    (
        "tma_copy",
        "async-race",
        "    mbarrier.wait(barrier, 0)\n    mbarrier.invalidate(barrier)\n",
        "",
    ),
    ("tma_copy", "async-race", "mbarrier.wait(barrier, 0)", "mbarrier.wait(barrier, 1)"),
    ("tma_copy", "deadlock", "src.nbytes_per_cta)", "src.nbytes_per_cta + 16)"),
    ("tma_copy", "deadlock mbarrier-misuse async-race", "src.nbytes_per_cta)", "16)"),
    ("tma_copy", "deadlock", "mbarrier.init(barrier, count=1)", "mbarrier.init(barrier, count=2)"),
    ("tma_copy", "mbarrier-misuse", "    mbarrier.init(barrier, count=1)\n", ""),
    (
        "tma_copy",
        "deadlock mbarrier-misuse",
        "    mbarrier.expect(barrier, src.nbytes_per_cta)\n",
        "",
    ),
    (
        "tma_copy",
        "mbarrier-misuse",
        "    mbarrier.wait(barrier, 0)\n    mbarrier.invalidate(barrier)\n",
        "    mbarrier.invalidate(barrier)\n    mbarrier.wait(barrier, 0)\n",
    ),
    (
        "tma_copy",
        "async-race",
        "    tma.store_wait(0)\n",
        "    buffer.store(x)\n    tma.store_wait(0)\n",
    ),
    # Rings of buffers, and dots that go on.
    (
        "wgmma_matmul",
        RACES,
        "mbarrier.wait(ready.index(stage), (k // STAGES) & 1)",
        "mbarrier.wait(ready.index(stage), (k // STAGES + 1) & 1)",
    ),
    ("wgmma_matmul", "deadlock " + RACES, "slot = ahead % STAGES", "slot = (ahead + 1) % STAGES"),
    (
        "wgmma_matmul",
        "deadlock mbarrier-misuse",
        "for s in gl.static_range(STAGES - 1):\n        start_copies",
        "for s in gl.static_range(STAGES):\n        start_copies",
    ),
    (
        "persistent_matmul",
        RACES,
        "        tma.store_wait(buffers.shape[0] - 1)\n        gl.barrier()\n        buffer.store",
        "        buffer.store",
    ),
    ("persistent_matmul", RACES, "(step // STAGES) & 1", "(step // STAGES + 1) & 1"),
    (
        "persistent_matmul",
        "deadlock " + RACES,
        "ahead = step + STAGES - 1",
        "ahead = step + STAGES",
    ),
    (
        "persistent_matmul",
        "deadlock " + RACES,
        "            step += 1\n",
        "            step += 2\n",
    ),
    (
        "persistent_matmul",
        RACES + " deadlock",
        "slot = step % STAGES\n            mbarrier",
        "slot = (step + 1) % STAGES\n            mbarrier",
    ),
    (
        "persistent_matmul",
        RACES,
        "warpgroup_mma_wait(1, deps=(acc,))",
        "warpgroup_mma_wait(2, deps=(acc,))",
    ),
    # Partitions.
    (
        "pingpong_attention",
        RACES + " deadlock mbarrier-misuse",
        "        mbarrier.wait(self.empty.index(slot), (n // self.SLOTS + 1) & 1)\n",
        "",
    ),
    (
        "pingpong_attention",
        RACES,
        "        mbarrier.wait(self.ready.index(slot), (n // self.SLOTS) & 1)\n",
        "",
    ),
    ("pingpong_attention", RACES, "sq.index(queries.wait(2 * tile + ME))", "sq.index(ME)"),
    (
        "pingpong_attention",
        "deadlock",
        "                blocks.release(step + n)\n",
        "",
    ),
    ("pingpong_attention", "deadlock", "mbarrier.arrive(other_turn)", "mbarrier.arrive(my_turn)"),
    ("pingpong_attention", "deadlock", "(turn + 1 - ME) & 1", "(turn + ME) & 1 ^ ME ^ (n > 1)"),
    (
        "pingpong_attention",
        RACES + " deadlock",
        "make_ring(STAGES, 2)  # Both groups read them.",
        "make_ring(STAGES, 1)",
    ),
    (
        "pingpong_attention",
        RACES,
        "                acc, p = warpgroup_mma_wait(0, deps=(acc, p))\n"
        "                blocks.release(step + n)\n",
        "                blocks.release(step + n)\n"
        "                acc, p = warpgroup_mma_wait(0, deps=(acc, p))\n",
    ),
    (
        "pingpong_attention",
        "deadlock",
        "queries.fill(2 * tile + i, q.nbytes_per_cta)",
        "queries.fill(2 * tile + i, 2 * q.nbytes_per_cta)",
    ),
    (
        "pingpong_attention",
        RACES,
        "        tma.store_wait(0)\n        gl.barrier()\n        so.reshape",
        "        so.reshape",
    ),
    ("pingpong_backward", RACES, "    mbarrier.wait(kv_ready, 0)\n", ""),
    (
        "pingpong_backward",
        RACES + " mbarrier-misuse",
        "        mbarrier.arrive(other_turn)\n",
        "        mbarrier.arrive(other_turn)\n        mbarrier.arrive(empty.index(slot))\n",
    ),
    (
        "pingpong_backward",
        "race",
        'gl.atomic_add(places, dq, mask=rows[:, None] < N, sem="relaxed")',
        "gl.store(places, dq, mask=rows[:, None] < N)",
    ),
    (
        "pingpong_backward",
        "out-of-bounds",
        "lse_ptr + head * N + rows, mask=rows < N, other=0.0)",
        "lse_ptr + head * N + rows)",
    ),
    (
        "pingpong_backward",
        "deadlock",
        "mbarrier.init(turns.index(i), count=1)",
        "mbarrier.init(turns.index(i), count=2)",
    ),
    (
        "pingpong_backward",
        RACES + " deadlock",
        "mbarrier.wait(ready.index(slot), (n // STAGES) & 1)",
        "mbarrier.wait(ready.index(slot), (n // STAGES + 1) & 1)",
    ),
    # Clusters.
    (
        "cluster_matmul",
        RACES + " mbarrier-misuse",
        "    cluster.barrier()\n    for s in gl.static_range(STAGES - 1):",
        "    for s in gl.static_range(STAGES - 1):",
    ),
    ("cluster_matmul", RACES, "        cluster.barrier()\n        ahead", "        ahead"),
    (
        "cluster_matmul",
        "deadlock",
        "a.nbytes_per_cta + b.nbytes_per_cta, pred",
        "a.nbytes_per_cta + 2 * b.nbytes_per_cta, pred",
    ),
    ("cluster_matmul", RACES, "(k // STAGES) & 1", "(k // STAGES + 1) & 1"),
    ("split_k_matmul", "mbarrier-misuse unstarted-cta " + RACES, "    cluster.barrier()\n", ""),
    ("split_k_matmul", RACES, "    mbarrier.wait(bar, 0, deps=[buffer])\n", ""),
    (
        "split_k_matmul",
        "deadlock",
        "mbarrier.expect(bar, buffer.nbytes_per_cta)",
        "mbarrier.expect(bar, 2 * buffer.nbytes_per_cta)",
    ),
    (
        "split_k_matmul",
        "deadlock mbarrier-misuse " + RACES,
        "mbarrier.expect(bar, buffer.nbytes_per_cta)",
        "mbarrier.expect(bar, buffer.nbytes_per_cta // 2)",
    ),
    ("split_k_matmul", "deadlock", "mbarrier.init(bar, count=1)", "mbarrier.init(bar, count=3)"),
    ("split_k_matmul", "out-of-bounds", "mask=(rows < M) & (k < K)", "mask=k < K"),
]

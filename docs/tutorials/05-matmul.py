# %% [markdown]
# # 5. Matmul with autotuning
#
# You multiply two matrices on tensor cores, and let tile choose the sizes of the blocks.
#
# Each program computes one tile of `c`. It goes along `K` in steps of `BK`, and adds the product of a tile of
# `a` and a tile of `b` to a sum in registers.
#
# ```text
#            BN                      K
#         +------+              +----------+
#      BM |  c   |   =   BM     | a tiles  |   times the tiles of b below each other
#         +------+              +----------+
# ```

# %%
import numpy as np

import tile
import tile.language as tl


@tile.autotune(
    configs=[
        tile.Config({"BM": 32, "BN": 32, "BK": 32}, num_warps=2, num_stages=2),
        tile.Config({"BM": 64, "BN": 64, "BK": 32}, num_warps=4, num_stages=3),
    ],
    key=["M", "N", "K"],
)
@tile.jit
def matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    ks = tl.arange(0, BK)
    # [:, None] makes a column of addresses, [None, :] a row. Their sum is a block of BM x BK.
    a_ptrs = a_ptr + rows[:, None] * K + ks[None, :]
    b_ptrs = b_ptr + ks[:, None] * N + cols[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        a = tl.load(a_ptrs, mask=(rows[:, None] < M) & (ks[None, :] < K - k), other=0.0)
        b = tl.load(b_ptrs, mask=(ks[:, None] < K - k) & (cols[None, :] < N), other=0.0)
        acc = tl.dot(a, b, acc)
        a_ptrs += BK
        b_ptrs += BK * N
    c_ptrs = c_ptr + rows[:, None] * N + cols[None, :]
    mask = (rows[:, None] < M) & (cols[None, :] < N)
    tl.store(c_ptrs, acc.to(tl.float16), mask=mask)


# %% [markdown]
# - `tl.dot` is the matmul of two blocks. `acc` stays in fp32, also when `a` and `b` are fp16.
# - `other=0.0` matters here: undefined elements along `K` would enter the sum.
# - tile loads the next tiles while the tensor cores work on these ones. `num_stages` says how many tiles are on
#   their way.
#
# The grid depends on the block sizes, and the autotuner chooses them. So the grid is a function: it gets the
# values of the configuration.


# %%
def matmul(a, b):
    (m, k), n = a.shape, b.shape[1]
    c = np.full((m, n), np.nan, np.float16)

    def grid(meta):
        return tile.cdiv(m, meta["BM"]), tile.cdiv(n, meta["BN"])

    return c, matmul_kernel[grid](a, b, c, m, n, k)


rng = np.random.default_rng(4)
a = rng.standard_normal((100, 72)).astype(np.float16)
b = rng.standard_normal((72, 136)).astype(np.float16)
c, kernel = matmul(a, b)

exact = a.astype(np.float64) @ b.astype(np.float64)
np.testing.assert_allclose(c, exact, rtol=2e-3, atol=2e-2)
print("chosen:", matmul_kernel.best_config)
print("uses tensor cores:", "mma" in kernel.asm["ptx"])

# %% [markdown]
# ## How it was chosen
#
# On a GPU the autotuner measures each configuration. Here no GPU is there. The autotuner then estimates the time
# from what the simulator counts. Take this choice as a start, not as a measurement.
#
# `key` names arguments. If one of them has a new value, the autotuner chooses again. Otherwise it takes the
# choice that it knows. Choices are [kept on disk](../runtime.md#autotuning) for the next process.
#
# You see what each configuration does if you launch it yourself. `matmul_kernel.fn` is the kernel without its
# autotuner.

# %%
for config in matmul_kernel.configs:
    m, n = tile.cdiv(100, config.kwargs["BM"]), tile.cdiv(136, config.kwargs["BN"])
    report = matmul_kernel.fn.simulate(
        a, b, np.empty_like(c), 100, 136, 72, grid=(m, n), **config.all_kwargs()
    )
    loaded = report.counters["global_load_bytes"] + report.counters["async_bytes"]
    size = f"{config.kwargs['BM']} x {config.kwargs['BN']}"
    print(f"tiles of {size}: {m * n:2} programs, {loaded} bytes loaded")

# %% [markdown]
# Larger tiles load less: each element of `a` is loaded once for each column of tiles. But there are fewer
# programs, and a GPU needs many of them. [Fast matmuls](../howto/fast-products.md) has the next steps for
# Hopper: copies by the TMA engine, warps of their own for copies, several tiles for each program.
#
# Next: [attention](06-attention.md), two matmuls with a softmax between them.

"""The front end's cost: AST to verified TTIR of a matrix product, and `import tile`.

    python bench/front_end.py [--repeats 50]

Works without a GPU. Times are the best of the repeats, in processor time of this
process and its children, so that other work on the machine counts little.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time

import tile
import tile.language as tl
from tile import _C
from tile.backends import GPUTarget, find_backend
from tile.compiler import ASTSource

GOAL_TTIR_MS = 15.0
GOAL_IMPORT_MS = 120


def matmul_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    bias_ptr,
    M,
    N,
    K,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    stride_cm,
    stride_cn,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
    HAS_BIAS: tl.constexpr,
    ACTIVATION: tl.constexpr,
):
    # Which tile of C this program makes.
    pid = tl.program_id(axis=0)
    num_pid_m = tl.cdiv(M, BLOCK_M)
    num_pid_n = tl.cdiv(N, BLOCK_N)
    num_pid_in_group = GROUP_M * num_pid_n
    group_id = pid // num_pid_in_group
    first_pid_m = group_id * GROUP_M
    group_size_m = min(num_pid_m - first_pid_m, GROUP_M)
    pid_m = first_pid_m + ((pid % num_pid_in_group) % group_size_m)
    pid_n = (pid % num_pid_in_group) // group_size_m

    # Where its operands are.
    offs_am = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    offs_bn = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    offs_k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + (offs_am[:, None] * stride_am + offs_k[None, :] * stride_ak)
    b_ptrs = b_ptr + (offs_k[:, None] * stride_bk + offs_bn[None, :] * stride_bn)

    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        left = K - k * BLOCK_K
        a = tl.load(a_ptrs, mask=offs_k[None, :] < left, other=0.0)
        b = tl.load(b_ptrs, mask=offs_k[:, None] < left, other=0.0)
        accumulator = tl.dot(a, b, accumulator)
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk

    if HAS_BIAS:
        accumulator += tl.load(bias_ptr + offs_bn)[None, :].to(tl.float32)
    if ACTIVATION == "leaky_relu":
        accumulator = tl.where(accumulator >= 0, accumulator, 0.01 * accumulator)
    c = accumulator.to(c_ptr.dtype.element_ty)

    offs_cm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_cn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    c_ptrs = c_ptr + stride_cm * offs_cm[:, None] + stride_cn * offs_cn[None, :]
    c_mask = (offs_cm[:, None] < M) & (offs_cn[None, :] < N)
    tl.store(c_ptrs, c, mask=c_mask)


SIGNATURE = dict(
    zip(
        "a_ptr b_ptr c_ptr bias_ptr M N K stride_am stride_bk stride_cm".split(),
        "*fp16 *fp16 *fp16 *fp16 i32 i32 i32 i32 i32 i32".split(),
        strict=True,
    )
)
CONSTANTS = {
    "stride_ak": 1, "stride_bn": 1, "stride_cn": 1, "BLOCK_M": 128, "BLOCK_N": 128,
    "BLOCK_K": 64, "GROUP_M": 8, "HAS_BIAS": True, "ACTIVATION": "leaky_relu",
}  # fmt: skip


def ttir_ms(repeats: int) -> float:
    """From a function that was never seen to a verified module, in a new context."""
    options = find_backend(GPUTarget("cuda", 90, 32)).parse_options({})
    best = float("inf")
    for _ in range(repeats):
        source = ASTSource(tile.jit(matmul_kernel), SIGNATURE, CONSTANTS)
        context = _C.ir.Context()
        start = time.process_time()
        source.make_ir(options, context)
        best = min(best, time.process_time() - start)
    return best * 1e3


def import_ms(statement: str, repeats: int) -> float:
    """Processor time of an interpreter that runs `statement`, above an idle one's."""

    def once(text: str) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", text], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    best = min(once(statement) for _ in range(repeats))
    return (best - min(once("pass") for _ in range(repeats))) * 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=50)
    repeats = parser.parse_args().repeats
    print("| work | ms | goal |\n|---|---|---|")
    print(f"| matmul, AST to verified TTIR | {ttir_ms(repeats):.1f} | {GOAL_TTIR_MS:.0f} |")
    imports = max(3, repeats // 5)
    print(f"| `import tile` | {import_ms('import tile', imports):.0f} | {GOAL_IMPORT_MS:.0f} |")


if __name__ == "__main__":
    main()

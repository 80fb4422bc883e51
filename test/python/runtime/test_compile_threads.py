"""Compiles in the threads of an executor."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from reference import on_nvidia, poisoned

import tile
import tile.language as tl


def test_asynchronous_compiles():
    kernels = []
    with ThreadPoolExecutor(4) as executor, tile.AsyncCompileMode(executor):
        for n in (4, 8, 16, 32):

            @tile.jit
            def kernel(out_ptr, N: tl.constexpr):
                tl.store(out_ptr + tl.arange(0, N), N)

            kernels.append(kernel.warmup(poisoned(n, "i32"), N=n, grid=(1,)))
    stage, begin = ("ptx", ".entry kernel") if on_nvidia() else ("amdgcn", "\nkernel:")
    assert all(begin in k.asm[stage] for k in kernels)

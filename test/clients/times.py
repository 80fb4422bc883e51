"""What compiled models cost from a cold cache on, and then; where nothing else runs."""

from __future__ import annotations

import time
from typing import Any

import torch
from cases import Case
from models import TransformerBlock, step

PACKAGE = "torch"


def _transformer_block(device: str) -> None:
    """How long a block takes from nothing to the end of 50 steps."""
    model = TransformerBlock(1024, 16).to(device, torch.bfloat16)
    x = torch.randn(4, 512, 1024, device=device, dtype=torch.bfloat16)
    torch._dynamo.reset()
    compiled = torch.compile(model)
    start = time.perf_counter()
    step(compiled, x)
    torch.cuda.synchronize()
    first = time.perf_counter() - start
    for _ in range(5):
        step(compiled, x)
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(50):
        step(compiled, x)
    torch.cuda.synchronize()
    each = (time.perf_counter() - start) / 50
    print(f"transformer block: {first:.2f} s to the first step, {each * 1e3:.3f} ms a step")


def _part_of_triton(device: str) -> None:
    """What of a block's cold compile, in one process, is spent in `triton.compile`."""
    import triton
    from torch._inductor import config, utils

    compile, seconds = triton.compile, []

    def timed(*args: Any, **kwargs: Any) -> Any:
        start = time.perf_counter()
        try:
            return compile(*args, **kwargs)
        finally:
            seconds.append(time.perf_counter() - start)

    model = TransformerBlock(1024, 16).to(device, torch.bfloat16)
    x = torch.randn(4, 512, 1024, device=device, dtype=torch.bfloat16)
    torch._dynamo.reset()
    fresh = getattr(utils, "fresh_cache", None) or utils.fresh_inductor_cache
    triton.compile = timed
    try:
        with config.patch(compile_threads=1), fresh():
            start = time.perf_counter()
            step(torch.compile(model), x)
            torch.cuda.synchronize()
            whole = time.perf_counter() - start
    finally:
        triton.compile = compile
    assert seconds, "no kernel was compiled"
    print(
        f"transformer block in one process: {whole:.2f} s to the first step, of which "
        f"{sum(seconds):.2f} s in triton.compile ({len(seconds)} kernels)"
    )


def cases(device: str) -> list[Case]:
    return [
        Case("transformer_block", lambda: _transformer_block(device), ("cuda",), 100),
        Case("part_of_triton", lambda: _part_of_triton(device), ("cuda",), 100),
    ]

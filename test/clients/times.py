"""What compiled models cost from a cold cache on, and then; where nothing else runs."""

from __future__ import annotations

import time

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


def cases(device: str) -> list[Case]:
    return [Case("transformer_block", lambda: _transformer_block(device), ("cuda",), 100)]

"""Kernels as users of torch.compile write them beside their models."""

from __future__ import annotations

from collections.abc import Callable

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x, y = tl.load(x_ptr + offsets, mask), tl.load(y_ptr + offsets, mask)
    tl.store(out_ptr + offsets, x + y, mask)


@triton.autotune([triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 128})], key=["n"])
@triton.jit
def scale_kernel(x_ptr, out_ptr, n, factor, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask) * factor, mask)


def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    add_kernel[(triton.cdiv(x.numel(), 128),)](x, y, out, x.numel(), BLOCK=128)
    return out * 2


def scale(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    scale_kernel[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, out, x.numel(), 2.5)
    return out.relu() + y


def scale_in_place(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    out = x.clone()
    scale_kernel[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](out, out, x.numel(), 2.5)
    return out + x


def functions() -> dict[str, tuple[Callable, Callable]]:
    """Functions that launch kernels, and the same without."""
    return {
        "add": (add, lambda x, y: (x + y) * 2),
        "scale": (scale, lambda x, y: (x * 2.5).relu() + y),
        "scale_in_place": (scale_in_place, lambda x, y: x * 3.5),
    }

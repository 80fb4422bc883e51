"""xformers' kernels in Triton."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import pretend
import torch
from cases import Case, Inputs, check

PACKAGE = "xformers"


def configure(device: str) -> None:
    if device == "cpu":
        pretend.a_gpu_is_there()


def _module(name: str) -> Any:
    return importlib.import_module(f"xformers.ops._triton.{name}")


def _norm(x: torch.Tensor, weight: torch.Tensor | None) -> torch.Tensor:
    y = x.float()
    y = y * torch.rsqrt((y * y).mean(-1, keepdim=True) + 1e-6)
    return (y if weight is None else y * weight.float()).to(x.dtype)


def _rms_norm(columns: int, weighted: bool) -> Callable[[str], None]:
    def run(device: str) -> None:
        make = Inputs(device)
        x = make.normal(5, columns, dtype=torch.bfloat16)
        weight = make.normal(columns, dtype=torch.bfloat16) if weighted else None
        found = _module("rmsnorm_kernels")._rms_norm_forward(x, weight, 1e-6)
        check(found, _norm(x, weight), 2e-2)

    return run


def _rms_norm_add(device: str) -> None:
    make = Inputs(device)
    x, y, weight = make.normal(7, 300), make.normal(7, 300), make.normal(300)
    total = x + y
    found = _module("rmsnorm_kernels")._rms_norm_add_forward(x, y, weight, 1e-6)
    check((found, x), (_norm(total, weight), total), 1e-4)


def _index_select(device: str) -> None:
    make = Inputs(device)
    source, index = make.normal(20, 700), make.integers(0, 20, 9)
    out = torch.empty(9, 700, device=device)
    _module("k_index_select_cat").index_select_cat_fwd_kernel[(9, 2)](
        out, source, index, 9, 700, *source.stride(), BLOCK_SIZE_INDEX=1, BLOCK_SIZE_COL=512
    )
    check(out, source[index])


def _tiled_matmul(device: str) -> None:
    make = Inputs(device)
    half = torch.float16
    a = [[make.normal(m, k, dtype=half) for k in (64, 32)] for m in (32, 64)]
    b = [[make.normal(k, n, dtype=half) for n in (64, 128)] for k in (64, 32)]
    c = [[torch.empty(m, n, dtype=half, device=device) for n in (64, 128)] for m in (32, 64)]
    _module("tiled_matmul_kernels")._launch_triton_matmul(a, b, c, [32, 64], [64, 128], [64, 32])
    wide = torch.cat([torch.cat(row, 1) for row in a]).float()
    other = torch.cat([torch.cat(row, 1) for row in b]).float()
    check(torch.cat([torch.cat(row, 1) for row in c]), wide.matmul(other).half(), 2e-2)


def cases(device: str) -> list[Case]:
    runs: dict[str, Callable[[str], None]] = {
        "rms_norm": _rms_norm(256, True),
        "rms_norm_without_weights": _rms_norm(384, False),
        "rms_norm_of_long_rows": _rms_norm(9000, True),
        "rms_norm_add": _rms_norm_add,
        "index_select": _index_select,
        "tiled_matmul": _tiled_matmul,
    }
    # It asks nvidia-smi for the clock, to choose among configurations.
    devices = {"tiled_matmul": ("cuda",)}
    return [
        Case(name, lambda run=run: run(device), devices.get(name, ("cpu", "cuda")))
        for name, run in runs.items()
    ]

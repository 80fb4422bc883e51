"""Helion: kernels over tiles of tensors, which it compiles to Triton."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pretend
import torch
import torch.nn.functional as F
from cases import Case, Inputs, check

PACKAGE = "helion"


def configure(device: str) -> None:
    if device == "cpu":
        pretend.a_gpu_is_there()


def _kernels() -> dict[str, Any]:
    from helion_functions import KERNELS

    return KERNELS


def _matmul(name: str) -> Callable[[str], None]:
    def run(device: str) -> None:
        make = Inputs(device)
        x, y = make.normal(64, 48, dtype=torch.float16), make.normal(48, 96, dtype=torch.float16)
        check(_kernels()[name](x, y), x.float().matmul(y.float()).half(), 1e-2)

    return run


def _add(device: str) -> None:
    make = Inputs(device)
    x, y = make.normal(50, 70), make.normal(70)
    check(_kernels()["add"](x, y), x + y)


def _softmax(name: str) -> Callable[[str], None]:
    def run(device: str) -> None:
        x = Inputs(device).normal(9, 100)
        check(_kernels()[name](x), torch.softmax(x, 1))

    return run


def _rms_norm(device: str) -> None:
    make = Inputs(device)
    x, weight = make.normal(7, 96), make.normal(96)
    check(_kernels()["rms_norm"](x, weight), F.rms_norm(x, (96,), weight, 1e-5))


def _sums(device: str) -> None:
    x = Inputs(device).normal(30, 50)
    check(_kernels()["sums"](x), x.sum(1), 1e-4)


def _attention(device: str) -> None:
    make = Inputs(device)
    q, k, v = (make.normal(2, 64, 32) for _ in range(3))
    expected = F.scaled_dot_product_attention(q[None], k[None], v[None])[0]
    check(_kernels()["attention"](q, k, v), expected, 2e-2)


def _gather(device: str) -> None:
    make = Inputs(device)
    table, index = make.normal(40, 24), make.integers(0, 40, 30)
    check(_kernels()["gather"](table, index), table[index])


def _histogram(device: str) -> None:
    index = Inputs(device).integers(0, 16, 500)
    out = torch.zeros(16, dtype=torch.int32, device=device)
    check(_kernels()["histogram"](index, out), torch.bincount(index, minlength=16).int())


def cases(device: str) -> list[Case]:
    runs: dict[str, Callable[[str], None]] = {
        "add": _add,
        "softmax": _softmax("softmax"),
        "softmax_in_parts": _softmax("softmax_in_parts"),
        "rms_norm": _rms_norm,
        "sums": _sums,
        "matmul": _matmul("matmul"),
        "matmul_by_descriptors": _matmul("matmul_by_descriptors"),
        "matmul_persistent": _matmul("matmul_persistent"),
        "attention": _attention,
        "gather": _gather,
        "histogram": _histogram,
    }
    # Helion asks a GPU how many programs of a persistent kernel it holds.
    needs_gpu = {"matmul_persistent": ("cuda",)}
    return [
        Case(name, lambda run=run: run(device), needs_gpu.get(name, ("cpu", "cuda")))
        for name, run in runs.items()
    ]

"""torchao's kernels: dots and conversions of narrow types."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pretend
import torch
from cases import Case, Inputs, check

PACKAGE = "torchao"


def configure(device: str) -> None:
    if device == "cpu":
        pretend.a_gpu_is_there()


def _module(name: str) -> Any:
    return importlib.import_module(f"torchao.{name}")


def _integers(device: str) -> tuple[torch.Tensor, torch.Tensor]:
    make = Inputs(device)
    return (
        make.integers(-128, 128, 64, 96, dtype=torch.int8),
        make.integers(-128, 128, 96, 128, dtype=torch.int8),
    )


def _product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return a.cpu().long().matmul(b.cpu().long()).to(a.device)


_CONFIG = SimpleNamespace(
    num_warps=4, num_stages=3, num_ctas=1,
    kwargs={"BLOCK_M": 32, "BLOCK_N": 64, "BLOCK_K": 32, "GROUP_M": 8},
)  # fmt: skip


def _int_matmul(device: str) -> None:
    a, b = _integers(device)
    c = torch.empty(64, 128, dtype=torch.int32, device=device)
    _module("kernel.intmm_triton").int_matmul_kernel(a, b, c, _CONFIG)
    check(c, _product(a, b).int())


def _int_scaled_matmul(device: str) -> None:
    a, b = _integers(device)
    scales = Inputs(device).uniform(64, 1)
    c = torch.empty(64, 128, device=device)
    _module("kernel.intmm_triton").int_scaled_matmul_kernel(a, b, scales, c, _CONFIG)
    check(c, _product(a, b) * scales, 1e-5)


def _scaled_int8_mm(device: str) -> None:
    a, b = _integers(device)
    rows, columns = Inputs(device).uniform(64), Inputs(device).uniform(128)
    found = _module("prototype.quantized_training.int8_mm").scaled_int8_mm_cuda(a, b, rows, columns)
    check(found, _product(a, b) * rows[:, None] * columns, 1e-5)


def _quantized(name: str, reference: str) -> Callable[[str], None]:
    """Blocks of fp8 with their scales, against torchao's own functions of torch."""

    def run(device: str) -> None:
        kernels = _module("prototype.blockwise_fp8_training.kernels")
        x = Inputs(device).normal(256, 128)
        found, scales = getattr(kernels, name)(x)
        expected, others = getattr(kernels, reference)(x)
        check(scales, others, 1e-5)
        # The scales are rounded in another order: elements differ by one step of fp8.
        check(found.float(), expected.float(), 0.07)

    return run


def _blockwise_gemm(device: str) -> None:
    kernels = _module("prototype.blockwise_fp8_training.kernels")
    make = Inputs(device)
    # Scales are loaded without masks: the rows must fill blocks.
    a, a_scales = kernels.triton_fp8_blockwise_act_quant_lhs(make.normal(256, 256))
    b, b_scales = kernels.triton_fp8_blockwise_weight_quant_rhs(make.normal(256, 256))
    found = kernels.triton_fp8_gemm_1x128_128x128(a, b, a_scales, b_scales)
    wide = a.float() * a_scales.repeat_interleave(128, 1)
    other = b.float() * b_scales.repeat_interleave(128, 0).repeat_interleave(128, 1)
    check(found, wide.matmul(other), 3e-2)  # The tensor core adds fp8 with few bits.


def _to_fp8(name: str) -> Callable[[str], None]:
    def run(device: str) -> None:
        kernels = _module("prototype.float8nocompile.kernels.fp8_dynamic_tensorwise")
        # What a mask leaves out counts for the maximum: there must be none.
        x = Inputs(device).normal(64, 512, dtype=torch.bfloat16)
        config = _module("float8.float8_training_tensor").LinearMMConfig()
        found = getattr(kernels, name)(x, torch.float8_e4m3fn, config)
        scale = torch.finfo(torch.float8_e4m3fn).max / x.float().abs().max()
        check(found._scale.reshape(()), scale, 1e-5)
        check(found._data.float(), (x.float() * scale).to(torch.float8_e4m3fn).float(), 0.07)

    return run


def cases(device: str) -> list[Case]:
    runs: dict[str, Callable[[str], None]] = {
        "int_matmul": _int_matmul,
        "int_scaled_matmul": _int_scaled_matmul,
        "scaled_int8_mm": _scaled_int8_mm,
        "act_quant_lhs": _quantized(
            "triton_fp8_blockwise_act_quant_lhs", "torch_blockwise_scale_act_quant_lhs"
        ),
        "act_quant_rhs": _quantized(
            "triton_fp8_blockwise_act_quant_rhs", "torch_blockwise_scale_act_quant_rhs"
        ),
        "weight_quant_rhs": _quantized(
            "triton_fp8_blockwise_weight_quant_rhs", "torch_blockwise_scale_weight_quant"
        ),
        "blockwise_gemm": _blockwise_gemm,
        "to_fp8_row_major": _to_fp8("hp_to_fp8_row_major"),
        "to_fp8_col_major": _to_fp8("hp_to_fp8_col_major"),
    }
    return [Case(name, lambda run=run: run(device)) for name, run in runs.items()]

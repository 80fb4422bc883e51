"""What both inference engines work on: requests of a batch, with keys and values in pages."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import torch

from .inputs import normal, whole

#: (name, heads of queries, heads of keys, width).
LLAMA_8B = ("llama 8b", 32, 8, 128)
LLAMA_70B = ("llama 70b", 64, 8, 128)
QWEN_3 = ("qwen 3 30b", 32, 4, 128)
GPT_OSS = ("gpt-oss 20b", 64, 8, 64)
MODELS = (LLAMA_8B, LLAMA_70B)


def import_engines() -> None:
    """Makes both engines' kernels importable, without the engines' own modules."""
    import engineless
    import sglang_kernels
    import vllm_kernels

    for client in (vllm_kernels, sglang_kernels):
        client.configure("cuda")
    importlib.import_module("vllm.model_executor")
    name, folder = "vllm.model_executor", Path(sys.modules["vllm"].__path__[0], "model_executor")
    for part in ("kernels", "linear", "mixed_precision"):
        name, folder = f"{name}.{part}", folder / part
        engineless.shell(name, folder)
    engineless.stand_in(f"{name}.MPLinearKernel")
    for part in ("parameter", "layers.quantization.utils.w8a8_utils"):
        engineless.stand_in(f"vllm.model_executor.{part}")
    engineless.stand_in("vllm.v1.attention.backends.utils", NULL_BLOCK_ID=0, PAD_SLOT_ID=-1)
    engineless.stand_in("vllm.utils.deep_gemm", is_deep_gemm_e8m0_used=lambda: False)
    engineless.stand_in("sglang.kernels.jit.utils", is_arch_support_pdl=lambda: False)
    engineless.stand_in("sglang.srt.layers.deep_gemm_wrapper", ENABLE_JIT_DEEPGEMM=False)
    importlib.import_module("sglang.srt.layers")
    layers = Path(sys.modules["sglang"].__path__[0], "srt", "layers")
    engineless.shell("sglang.srt.layers.moe", layers / "moe")
    engineless.stand_in("sglang.srt.layers.moe.utils", get_moe_padding_size=lambda *args: 0)
    engineless.stand_in(
        "sglang.srt.batch_invariant_ops", is_batch_invariant_mode_enabled=lambda: False
    )


class Pages:
    """Keys and values of `batch` sequences of `length` tokens, in pages of any order."""

    def __init__(self, batch: int, length: int, page: int, heads: int, width: int) -> None:
        count = -(-length // page)
        self.keys, self.values = (normal(batch * count, page, heads, width) for _ in "kv")
        order = torch.randperm(batch * count, device="cuda")
        self.table = order.to(torch.int32).view(batch, count)
        self.lengths = torch.full((batch,), length, dtype=torch.int32, device="cuda")
        self.length = length


def starts(count: int, each: int) -> torch.Tensor:
    return torch.arange(count + 1, device="cuda", dtype=torch.int32) * each


def awq(rows: int, columns: int, group: int) -> tuple[torch.Tensor, ...]:
    """Packed weights of four bits, their scales and zeros."""
    words = [
        whole(-(2**31), 2**31 - 1, n, columns // 8, dtype=torch.int32)
        for n in (rows, rows // group)
    ]
    scales = normal(rows // group, columns, dtype=torch.float16) * 0.01
    return words[0], scales, words[1]

"""Experts and quantised matmuls as inference engines run them, at batches of 1 to 512.

SGLang's fused experts with weights of bf16, fp8 and int4, triton-kernels' with mxfp4, vLLM's
matmuls of four-bit weights, SGLang's of fp8 blocks.
"""

from __future__ import annotations

import importlib
from typing import Any

import torch

from . import serving
from .inputs import Make, Run, call, normal, uniform, whole

TOKENS = (1, 16, 128, 512)
#: (name, experts, chosen, width, width of an expert); DeepSeek's on one of eight GPUs.
QWEN_3 = ("qwen 3 30b", 128, 8, 2048, 768)
DEEPSEEK_3 = ("deepseek v3", 256, 8, 7168, 256)
FP8 = torch.float8_e4m3fn
#: Elements that share a scale: of fp8 in both directions, of int4 along the sum.
FP8_BLOCK, GROUP = 128, 128
#: (rows, columns) of weights in Llama 3 8B and 70B.
WEIGHTS = ((4096, 4096), (4096, 28672), (8192, 8192))


def _align(chosen: torch.Tensor, experts: int, block: int) -> tuple[torch.Tensor, ...]:
    """The tokens by expert, each expert's padded to whole blocks: ids, experts of blocks, count."""
    flat = chosen.flatten().long()
    most = flat.numel() + experts * (block - 1)
    order = flat.argsort(stable=True)
    counts = torch.zeros(experts, dtype=torch.int64, device="cuda")
    counts.scatter_add_(0, flat, torch.ones_like(flat))
    padded = (counts + block - 1) // block * block
    ends, expert = padded.cumsum(0), flat[order]
    within = torch.arange(flat.numel(), device="cuda") - (counts.cumsum(0) - counts)[expert]
    ids = torch.full((most,), flat.numel(), dtype=torch.int32, device="cuda")
    ids[(ends - padded)[expert] + within] = order.int()
    blocks = torch.arange(-(-most // block), device="cuda") * block
    of_block = torch.searchsorted(ends, blocks, right=True).clamp(max=experts - 1)
    return ids, of_block.int(), ends[-1:].int()


def _weights(kind: str, experts: int, n: int, k: int) -> tuple[torch.Tensor, Any]:
    """Weights of experts, and their scales."""
    if kind == "bf16":
        return normal(experts, n, k) * 0.02, None
    if kind == "fp8":
        blocks = (experts, -(-n // FP8_BLOCK), k // FP8_BLOCK)
        return normal(experts, n, k, dtype=FP8), uniform(*blocks) * 0.02
    scales = normal(experts, n, k // GROUP, dtype=torch.bfloat16) * 0.01
    return whole(0, 255, experts, n, k // 2, dtype=torch.uint8), scales


def _config(kind: str, tokens: int) -> dict[str, int]:
    """What vLLM takes for shapes that nobody tuned."""
    if kind == "fp8":
        sizes = (16 if tokens <= 64 else 64, FP8_BLOCK, FP8_BLOCK)
        warps, stages = 4, 3
    elif kind == "int4":
        few = (32, 64) if tokens == 1 else (64, 32)
        sizes = (16 if tokens <= 20 else 32 if tokens <= 40 else 64, *few)
        warps, stages = 4, 3
    else:
        rows = 16 if tokens <= 32 else 32 if tokens <= 96 else 64
        sizes = (rows, *((64, 128) if tokens <= 64 else (128, 64)))
        warps, stages = 4 if tokens <= 128 else 8, 4 if tokens <= 32 else 3
    named = dict(zip(("BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K"), sizes, strict=True))
    return named | {"GROUP_SIZE_M": 1, "num_warps": warps, "num_stages": stages}


def _fused(kind: str, tokens: int, experts: int, chosen: int, k: int, n: int) -> Make:
    """Both matmuls of a layer: each token's experts, the activation, and back."""

    def make() -> Run:
        from triton import language as tl

        module = importlib.import_module("sglang.kernels.ops.moe.fused_moe_triton_kernels")
        up, down = _weights(kind, experts, 2 * n, k), _weights(kind, experts, k, n)
        x = normal(tokens, k)
        probabilities, ids = normal(tokens, experts, dtype=torch.float32).softmax(-1).topk(chosen)
        config = _config(kind, tokens)
        aligned = _align(ids, experts, config["BLOCK_SIZE_M"])
        hidden, out = normal(tokens, chosen, 2 * n), normal(tokens, chosen, k)
        block = {"bf16": None, "fp8": [FP8_BLOCK, FP8_BLOCK], "int4": [0, GROUP]}[kind]

        scales = {k: uniform(tokens, k // FP8_BLOCK)}
        scales[n] = uniform(tokens * chosen, n // FP8_BLOCK)

        def multiply(a: Any, weights: Any, to: Any, weigh: bool, each: int) -> None:
            scale = scales[a.shape[1]] if kind == "fp8" else None
            a = a.to(FP8) if kind == "fp8" else a
            module.invoke_fused_moe_kernel(
                a, weights[0], None, to, scale, weights[1], None, probabilities, ids, *aligned,
                weigh, each, config, tl.bfloat16, kind == "fp8", False, False, kind == "int4",
                False, block,
            )  # fmt: skip

        def run() -> torch.Tensor:
            multiply(x, up, hidden, False, chosen)
            gate, value = hidden.view(-1, 2 * n).chunk(2, -1)
            multiply(torch.nn.functional.silu(gate) * value, down, out, True, 1)
            return out.sum(1)

        return run

    return make


def _mxfp4(tokens: int, experts: int, chosen: int, k: int, n: int) -> Make:
    """triton-kernels' matmuls of gpt-oss, whose weights have four bits and shared exponents."""

    def make() -> Run:
        ogs, routing, tensor, swiglu = (
            importlib.import_module(f"triton_kernels.{m}")
            for m in ("matmul_ogs", "routing", "tensor", "swiglu")
        )
        mxfp = importlib.import_module("triton_kernels.numerics_details.mxfp")
        x, logits = normal(tokens, k), normal(tokens, experts, dtype=torch.float16)

        def weights(rows: int, columns: int) -> tuple[Any, Any]:
            values, scales = mxfp.downcast_to_mxfp(
                normal(experts, rows, columns) * 0.02, torch.uint8, axis=1
            )
            wrapped = tensor.wrap_torch_tensor(values, dtype=tensor.FP4)
            config = ogs.PrecisionConfig(weight_scale=tensor.wrap_torch_tensor(scales))
            return wrapped, config

        up, down = weights(k, 2 * n), weights(n, k)

        def run() -> torch.Tensor:
            data, gather, scatter = routing.routing(logits, chosen)
            hidden = ogs.matmul_ogs(
                x, up[0], None, data, gather_indx=gather, precision_config=up[1]
            )
            hidden = swiglu.swiglu(hidden, 1.702, swiglu.PrecisionConfig(limit=7.0))
            return ogs.matmul_ogs(
                hidden, down[0], None, data, scatter_indx=scatter, gammas=data.gate_scal,
                precision_config=down[1],
            )  # fmt: skip

        return run

    return make


def _w4a16(m: int, k: int, n: int) -> Make:
    def make() -> Run:
        weight, scales, zeros = serving.awq(k, n, GROUP)
        name = "vllm.model_executor.kernels.linear.mixed_precision.triton_w4a16"
        function = importlib.import_module(name)._triton_w4a16_gemm_impl
        return call(function, normal(m, k, dtype=torch.float16), weight, scales, zeros, GROUP)

    return make


def _w8a8(m: int, k: int, n: int) -> Make:
    def make() -> Run:
        a, b = normal(m, k, dtype=FP8), normal(n, k, dtype=FP8)
        scales = uniform(m, k // FP8_BLOCK), uniform(n // FP8_BLOCK, k // FP8_BLOCK)
        module = importlib.import_module("sglang.kernels.ops.gemm.fp8_kernel")
        function = module.w8a8_block_fp8_matmul_triton
        return call(function, a, b, *scales, [FP8_BLOCK, FP8_BLOCK], torch.bfloat16)

    return make


def rows() -> dict[str, Make]:
    import matmul_ogs

    serving.import_engines()
    matmul_ogs.configure("cuda")
    found: dict[str, Make] = {}
    for tokens in TOKENS:
        for kind in ("bf16", "fp8", "int4"):
            found[f"{QWEN_3[0]} {kind} {tokens} tokens"] = _fused(kind, tokens, *QWEN_3[1:])
        found[f"{DEEPSEEK_3[0]} fp8 {tokens} tokens"] = _fused("fp8", tokens, *DEEPSEEK_3[1:])
        found[f"gpt-oss 20b mxfp4 {tokens} tokens"] = _mxfp4(tokens, 32, 4, 2880, 2880)
    for k, n in WEIGHTS:
        for m in (1, 16, 64):
            found[f"w4a16 {m}x{k}x{n}"] = _w4a16(m, k, n)
            found[f"w8a8 {m}x{k}x{n}"] = _w8a8(m, k, n)
    return found

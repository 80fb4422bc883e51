"""vLLM's kernels at sizes of Llama 3 8B and 70B, without the engine."""

from __future__ import annotations

import importlib
from typing import Any

import torch

from . import serving
from .inputs import Make, Run, call, normal, uniform, whole


def _module(name: str) -> Any:
    return importlib.import_module(f"vllm.{name}")


def _decode(batch: int, length: int, heads: int, kv_heads: int, width: int) -> Make:
    def make() -> Run:
        page, splits = 16, 8
        pages = serving.Pages(batch, length, page, kv_heads, width)
        q = normal(batch, heads, width)
        out, lse = torch.empty_like(q), torch.empty(batch, heads, device="cuda")
        partial = torch.empty(batch, heads, splits, width + 1, device="cuda")
        one = torch.ones((), device="cuda")
        function = _module("v1.attention.ops.triton_decode_attention").decode_attention_fwd

        def run() -> torch.Tensor:
            function(
                q, pages.keys, pages.values, out, lse, pages.table, pages.lengths, partial,
                splits, width**-0.5, page, k_scale=one, v_scale=one,
            )  # fmt: skip
            return out

        return run

    return make


def _latent(batch: int, length: int) -> Make:
    """Attention over DeepSeek's latent keys: 576 wide, of which 512 are the values."""

    def make() -> Run:
        page, splits, heads = 16, 8, 128
        pages = serving.Pages(batch, length, page, 1, 576)
        values = pages.keys[..., :512]
        q = normal(batch, heads, 576)
        out, lse = normal(batch, heads, 512), torch.empty(batch, heads, device="cuda")
        partial = torch.empty(batch, heads, splits, 513, device="cuda")
        one = torch.ones((), device="cuda")
        function = _module("v1.attention.ops.triton_decode_attention").decode_attention_fwd

        def run() -> torch.Tensor:
            function(
                q, pages.keys, values, out, lse, pages.table, pages.lengths, partial,
                splits, 576**-0.5, page, k_scale=one, v_scale=one,
            )  # fmt: skip
            return out

        return run

    return make


def _prefill(count: int, length: int, heads: int, kv_heads: int, width: int) -> Make:
    def make() -> Run:
        q = normal(count * length, heads, width)
        k, v = (normal(count * length, kv_heads, width) for _ in "kv")
        out = torch.empty_like(q)
        starts = serving.starts(count, length)[:-1].contiguous()
        sizes = torch.full((count,), length, dtype=torch.int32, device="cuda")
        function = _module("v1.attention.ops.triton_prefill_attention").context_attention_fwd

        def run() -> torch.Tensor:
            function(q, k, v, out, starts, sizes, length)
            return out

        return run

    return make


def _unified(
    count: int, queries: int, length: int, heads: int, kv_heads: int, width: int, window: int = 0
) -> Make:
    def make() -> Run:
        pages = serving.Pages(count, length, 16, kv_heads, width)
        q = normal(count * queries, heads, width)
        out = torch.empty_like(q)
        starts = serving.starts(count, queries)
        function = _module("v1.attention.ops.triton_unified_attention").unified_attention

        def run() -> torch.Tensor:
            function(
                q, pages.keys, pages.values, out, starts, queries, pages.lengths, length,
                width**-0.5, True, (window - 1, 0) if window else (-1, -1), pages.table, 0.0,
                None, None, None,
            )  # fmt: skip
            return out

        return run

    return make


def _merge() -> Run:
    shape = (4096, 32, 128)
    a, b, out = (normal(*shape) for _ in range(3))
    first, second, lse = (normal(32, 4096, dtype=torch.float32) for _ in range(3))
    function = _module("v1.attention.ops.triton_merge_attn_states").merge_attn_states

    def run() -> torch.Tensor:
        function(out, a, first, b, second, lse)
        return out

    return run


def _store_pages() -> Run:
    k, v = normal(8192, 8, 128), normal(8192, 8, 128)
    keys, values = (torch.zeros(1024, 16, 8, 128, device="cuda", dtype=k.dtype) for _ in "kv")
    slots = torch.randperm(1024 * 16, device="cuda")[:8192]
    one = torch.ones((), device="cuda")
    module = _module("v1.attention.ops.triton_reshape_and_cache_flash")

    def run() -> torch.Tensor:
        module.triton_reshape_and_cache_flash(k, v, keys, values, slots, "auto", one, one)
        return keys

    return run


def _awq_gemm(m: int, k: int, n: int, splits: int) -> Make:
    def make() -> Run:
        weight, scales, zeros = serving.awq(k, n, 128)
        function = _module("model_executor.layers.quantization.awq_triton").awq_gemm_triton
        return call(function, normal(m, k, dtype=torch.float16), weight, scales, zeros, splits)

    return make


def _awq_dequantize() -> Run:
    weight, scales, zeros = serving.awq(4096, 14336, 128)
    function = _module("model_executor.layers.quantization.awq_triton").awq_dequantize_triton
    return call(function, weight, scales, zeros)


def _scaled_mm(m: int, n: int, k: int) -> Make:
    def make() -> Run:
        a = whole(-100, 100, m, k, dtype=torch.int8)
        b = whole(-100, 100, n, k, dtype=torch.int8).t()
        module = "model_executor.layers.quantization.compressed_tensors.triton_scaled_mm"
        return call(
            _module(module).triton_scaled_mm,
            a, b, uniform(m, 1) / 1000, uniform(n, 1) / 1000, torch.bfloat16, normal(n),
        )  # fmt: skip

    return make


def _int8() -> Run:
    module = _module("model_executor.layers.quantization.utils.int8_utils")
    return call(module.per_token_quant_int8, normal(8192, 4096))


def _invariant(name: str, *make: Any) -> Make:
    def start() -> Run:
        function = getattr(_module("model_executor.determinism.batch_invariant"), name)
        return call(function, *(m() if callable(m) else m for m in make))

    return start


def top_k_top_p(batch: int, words: int) -> Make:
    def make() -> Run:
        logits = normal(batch, words, dtype=torch.float32) * 3
        k = whole(1, 60, batch, dtype=torch.int32)
        p = uniform(batch) * 0.8 + 0.1
        function = _module("v1.sample.ops.topk_topp_triton").apply_top_k_top_p_triton
        return lambda: function(logits.clone(), k, p)

    return make


def _gated_norm() -> Run:
    x, z, weight = normal(8192, 4096), normal(8192, 4096), normal(4096)
    function = _module("model_executor.layers.mamba.ops.layernorm_gated").rms_norm_gated
    return call(function, x, weight, None, z=z, eps=1e-6, norm_before_gate=False)


def rows() -> dict[str, Make]:
    import vllm_kernels as client

    client.configure("cuda")
    found: dict[str, Make] = {}
    for name, *shape in serving.MODELS:
        for batch, length in ((1, 8192), (16, 4096), (64, 2048)):
            found[f"decode {name} {batch}x{length}"] = _decode(batch, length, *shape)
            found[f"unified decode {name} {batch}x{length}"] = _unified(batch, 1, length, *shape)
        found[f"prefill {name} 4x2048"] = _prefill(4, 2048, *shape)
        found[f"unified prefill {name} 4x2048"] = _unified(4, 2048, 2048, *shape)
    found["unified window 4096 llama 8b 16x8192"] = _unified(16, 1, 8192, 32, 8, 128, 4096)
    for name, *shape in (serving.QWEN_3, serving.GPT_OSS):
        found[f"decode {name} 16x4096"] = _decode(16, 4096, *shape)
        found[f"unified decode {name} 16x4096"] = _unified(16, 1, 4096, *shape)
    found["unified window 128 gpt-oss 20b 16x4096"] = _unified(
        16, 1, 4096, *serving.GPT_OSS[1:], 128
    )
    for batch in (1, 16, 64):
        found[f"latent decode {batch}x4096"] = _latent(batch, 4096)
    found |= {"merge attention states": _merge, "store pages": _store_pages}
    for m in (1, 16, 64):
        found[f"awq {m}x4096x14336"] = _awq_gemm(m, 4096, 14336, 8)
    found["awq dequantize 4096x14336"] = _awq_dequantize
    for m in (16, 512, 4096):
        found[f"int8 matmul {m}x4096x4096"] = _scaled_mm(m, 4096, 4096)
    return found | {
        "int8 quantization 8192x4096": _int8,
        "invariant rms_norm 8192x4096": _invariant(
            "rms_norm_batch_invariant", lambda: normal(8192, 4096), lambda: normal(4096)
        ),
        "invariant log_softmax 512x128256": _invariant("log_softmax", lambda: normal(512, 128256)),
        "invariant mean 8192x4096": _invariant("mean_dim", lambda: normal(8192, 4096), 1),
        "top k, top p 64x128256": top_k_top_p(64, 128256),
        "gated norm 8192x4096": _gated_norm,
    }

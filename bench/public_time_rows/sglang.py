"""SGLang's kernels at sizes of Llama 3 8B and 70B, without the engine."""

from __future__ import annotations

import importlib
from typing import Any

import torch

from . import serving
from .inputs import Make, Run, call, normal, uniform, whole


def _ops(name: str) -> Any:
    return importlib.import_module(f"sglang.kernels.ops.{name}")


def _decode(batch: int, length: int, heads: int, kv_heads: int, width: int) -> Make:
    def make() -> Run:
        most = 8
        k, v = (normal(batch * length, kv_heads, width) for _ in "kv")
        where = torch.randperm(batch * length, device="cuda")
        starts = serving.starts(batch, length)
        q = normal(batch, heads, width)
        out = torch.empty_like(q)
        partial = torch.empty(batch, heads, most, width, device="cuda")
        sums = torch.empty(batch, heads, most, device="cuda")
        splits = torch.full((batch,), most, dtype=torch.int32, device="cuda")
        function = _ops("attention.decode_attention").decode_attention_fwd

        def run() -> torch.Tensor:
            function(
                q, k, v, out, starts, where, partial, sums, splits, most, width**-0.5, 1.0, 1.0
            )
            return out

        return run

    return make


def _extend(count: int, prefix: int, fresh: int, heads: int, kv_heads: int, width: int) -> Make:
    def make() -> Run:
        pool = [normal(count * prefix, kv_heads, width) for _ in "kv"]
        new = [normal(count * fresh, kv_heads, width) for _ in "kv"]
        q = normal(count * fresh, heads, width)
        where = torch.randperm(count * prefix, device="cuda")
        out = torch.empty_like(q)
        function = _ops("attention.extend_attention").extend_attention_fwd
        q_starts, starts = serving.starts(count, fresh), serving.starts(count, prefix)

        def run() -> torch.Tensor:
            function(
                q, *new, out, *pool, q_starts, starts, where, None, True, None, fresh, 1.0, 1.0
            )
            return out

        return run

    return make


def _prefill(count: int, length: int, heads: int, kv_heads: int, width: int) -> Make:
    def make() -> Run:
        q = normal(count * length, heads, width)
        k, v = (normal(count * length, kv_heads, width) for _ in "kv")
        out = torch.empty_like(q)
        starts = serving.starts(count, length)
        sizes = torch.full((count,), length, dtype=torch.int32, device="cuda")
        function = _ops("attention.prefill_attention").context_attention_fwd

        def run() -> torch.Tensor:
            function(q, k, v, out, starts, sizes, length)
            return out

        return run

    return make


def _renorm(name: str, limit: Any) -> Make:
    def make() -> Run:
        probabilities = (normal(64, 128256, dtype=torch.float32) * 3).softmax(-1)
        return call(getattr(_ops("sampling.renorm_triton"), name), probabilities, limit())

    return make


def _norm(name: str, *makes: Any) -> Make:
    def make() -> Run:
        function = getattr(_ops("layernorm.fused_rmsnorm"), name)
        return call(function, *(m() for m in makes), 1e-6)

    return make


def rows() -> dict[str, Make]:
    import sglang_kernels as client

    client.configure("cuda")
    found: dict[str, Make] = {}
    for name, *shape in serving.MODELS:
        for batch, length in ((1, 8192), (16, 4096), (64, 2048)):
            found[f"decode {name} {batch}x{length}"] = _decode(batch, length, *shape)
        found[f"extend {name} 4x(2048+512)"] = _extend(4, 2048, 512, *shape)
        found[f"prefill {name} 4x2048"] = _prefill(4, 2048, *shape)
    for name, *shape in (serving.QWEN_3, serving.GPT_OSS):
        found[f"decode {name} 16x4096"] = _decode(16, 4096, *shape)
    row = lambda: normal(8192, 4096)  # noqa: E731
    weight = lambda: normal(4096)  # noqa: E731
    return found | {
        "rms_norm 8192x4096": _norm("fused_rmsnorm", row, weight),
        "dual residual norm 8192x4096": _norm(
            "fused_dual_residual_rmsnorm", row, row, weight, weight
        ),
        "gelu and mul 8192x28672": lambda: call(
            _ops("activation.gelu_and_mul_triton").gelu_and_mul_triton, normal(8192, 28672)
        ),
        "softcap 512x128256": lambda: call(
            _ops("activation.softcap").softcap_inplace_logits,
            normal(512, 128256, dtype=torch.float32), 30.0,
        ),
        "gate top k 8192x256": lambda: call(
            _ops("moe.gate_topk").gate_topk, normal(8192, 256, dtype=torch.float32), 8
        ),
        "top k renorm 64x128256": _renorm(
            "top_k_renorm_probs_triton", lambda: whole(1, 60, 64)
        ),
        "top p renorm 64x128256": _renorm("top_p_renorm_probs_triton", lambda: uniform(64)),
        "logsumexp 512x128256": lambda: call(
            importlib.import_module("sglang.srt.layers.logsumexp").row_logsumexp,
            normal(512, 128256, dtype=torch.float32),
        ),
    }  # fmt: skip

"""SGLang's kernels, as far as they are imported without the engine."""

from __future__ import annotations

import importlib
from types import SimpleNamespace
from typing import Any

import engineless
import pretend
import serving
import torch
import torch.nn.functional as F
from cases import Case, Inputs, check

PACKAGE = "sglang"


def configure(device: str) -> None:
    if device == "cpu":
        pretend.a_gpu_is_there()
    engineless.prepare("sglang")


def _ops(name: str) -> Any:
    return importlib.import_module(f"sglang.kernels.ops.{name}")


def _rms_norm(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * weight


# Attention.


def _decode(heads: int, kv_heads: int) -> Any:
    def run(device: str) -> None:
        make = Inputs(device)
        batch, width, most = 3, 64, 4
        lengths = [5, 37, 64]
        k, v = (make.normal(120, kv_heads, width, dtype=torch.float16) for _ in range(2))
        where = torch.randperm(120, generator=make.generator)[: sum(lengths)].to(device)
        starts = torch.tensor([0, 5, 42, 106], dtype=torch.int32, device=device)
        q = make.normal(batch, heads, width, dtype=torch.float16)
        out = torch.empty_like(q)
        partial = torch.empty(batch, heads, most, width, device=device)
        sums = torch.empty(batch, heads, most, device=device)
        splits = torch.tensor([1, 2, 4], dtype=torch.int32, device=device)
        _ops("attention.decode_attention").decode_attention_fwd(
            q, k, v, out, starts, where, partial, sums, splits, most, width**-0.5, 1.0, 1.0
        )
        expected = [
            serving.attention(q[i : i + 1], k[at], v[at], causal=False)
            for i, at in enumerate(where.split(lengths))
        ]
        check(out, torch.cat(expected), 5e-3)

    return run


def _extend(device: str) -> None:
    make = Inputs(device)
    prefix, fresh, heads, kv_heads, width = [17, 0, 40], [9, 33, 1], 4, 2, 64
    pool = [make.normal(90, kv_heads, width, dtype=torch.float16) for _ in range(2)]
    new = [make.normal(sum(fresh), kv_heads, width, dtype=torch.float16) for _ in range(2)]
    q = make.normal(sum(fresh), heads, width, dtype=torch.float16)
    where = torch.randperm(90, generator=make.generator)[: sum(prefix)].to(device)
    q_starts = torch.tensor([0, 9, 42, 43], dtype=torch.int32, device=device)
    starts = torch.tensor([0, 17, 17, 57], dtype=torch.int32, device=device)
    out = torch.empty_like(q)
    _ops("attention.extend_attention").extend_attention_fwd(
        q, *new, out, *pool, q_starts, starts, where, None, True, None, max(fresh), 1.0, 1.0
    )
    expected = []
    for i, (part, at) in enumerate(zip(q.split(fresh), where.split(prefix), strict=True)):
        k, v = (torch.cat([p[at], n.split(fresh)[i]]) for p, n in zip(pool, new, strict=True))
        expected.append(serving.attention(part, k, v, causal=True))
    check(out, torch.cat(expected), 5e-3)


def _prefill(device: str) -> None:
    make = Inputs(device)
    lengths = [20, 70]
    q = make.normal(90, 4, 64, dtype=torch.float16)
    k, v = (make.normal(90, 2, 64, dtype=torch.float16) for _ in range(2))
    out = torch.empty_like(q)
    starts, sizes = (torch.tensor(x, dtype=torch.int32, device=device) for x in ([0, 20], lengths))
    _ops("attention.prefill_attention").context_attention_fwd(q, k, v, out, starts, sizes, 70)
    check(out, serving.by_sequence(lengths, q, k, v), 5e-3)


def _merge(device: str) -> None:
    serving.check_merge(
        device,
        lambda out, a, la, b, lb, lse: _ops("attention.merge_state").merge_state_triton(
            a, la, b, lb, out, lse
        ),
        transposed=False,
    )


def _lightning(device: str) -> None:
    make = Inputs(device)
    q, k, v = (make.normal(1, 2, 100, 64) for _ in range(3))
    decay = torch.tensor([0.1, 0.5], device=device)
    out, _ = _ops("attention.linear.lightning_attn").lightning_attention(q, k, v, decay)
    steps = torch.arange(100, device=device)
    apart = (steps[:, None] - steps).float()
    weights = torch.where(apart >= 0, torch.exp(-decay[:, None, None] * apart), 0)
    check(out, (q @ k.transpose(-1, -2) * weights) @ v, 2e-1)


# Norms, activations, embeddings.


def _norms(device: str) -> None:
    make = Inputs(device)
    x, weight = make.normal(7, 96), make.normal(96)
    norms = _ops("layernorm.fused_rmsnorm")
    check(norms.fused_rmsnorm(x, weight, 1e-6), _rms_norm(x, weight), 1e-4)
    residual, second = make.normal(7, 96), make.normal(96)
    found = norms.fused_dual_residual_rmsnorm(x, residual, weight, second, 1e-6)
    together = _rms_norm(x, weight) + residual
    check(found, (_rms_norm(together, second), together), 1e-4)
    check(_ops("attention.fla.l2norm").l2norm_fwd(x), F.normalize(x, dim=-1, eps=0), 1e-4)


def _norm_fp32(device: str) -> None:
    make = Inputs(device)
    x, weight = make.normal(7, 96), make.normal(96)
    found = _ops("layernorm.rmsnorm_fp32").rmsnorm_fp32(x, weight, 1e-6)
    check(found, _rms_norm(x, weight), 1e-4)


def _activations(device: str) -> None:
    make = Inputs(device)
    x = make.normal(5, 160)
    gate, value = x.chunk(2, -1)
    found, _ = _ops("activation.gelu_and_mul_triton").gelu_and_mul_triton(x)
    check(found, F.gelu(gate) * value, 1e-4)
    softcap = _ops("activation.softcap")
    found = softcap.softcap_inplace_logits(make.normal(3, 100) * 0 + x[:3, :100], 30.0)
    check(found, 30 * torch.tanh(x[:3, :100] / 30), 1e-4)


def _rotary(device: str) -> None:
    make = Inputs(device)
    x, angle = make.normal(2, 9, 4, 64), make.normal(9, 32)
    found = _ops("diffusion.rope.rotary_triton").apply_rotary_embedding(x, angle.cos(), angle.sin())
    a, b = x[..., ::2], x[..., 1::2]
    cos, sin = angle.cos()[:, None], angle.sin()[:, None]
    check(found, torch.stack([a * cos - b * sin, b * cos + a * sin], -1).flatten(-2), 1e-4)


# Quantised weights.


def _awq(device: str) -> None:
    serving.check_awq_dequantize(device, _ops("quantization.awq_triton").awq_dequantize_triton)


def _int8(device: str) -> None:
    module = _ops("quantization.int8_kernel")
    serving.check_int8(device, module.per_token_quant_int8)
    serving.check_int8(device, lambda x: module.per_token_group_quant_int8(x, 32), 32)


# Routing and sampling.


def _gate_topk(device: str) -> None:
    x = Inputs(device).normal(9, 100)
    values, indices = _ops("moe.gate_topk").gate_topk(x, 6)
    expected = x.topk(6)
    check((values, indices.long()), (expected.values, expected.indices))


def _router(device: str) -> None:
    make = Inputs(device)
    x, experts = make.normal(6, 128, dtype=torch.float16), make.normal(8, 128, dtype=torch.float16)
    weights, chosen = _ops("moe.router").fused_moe_router_shim(30.0, x, experts, 2, False)
    logits = x.float() @ experts.float().t()
    probabilities = torch.softmax(30 * torch.tanh(logits / 30), -1)
    expected = probabilities.topk(2)
    check(chosen.long(), expected.indices)
    check(weights.float(), expected.values, 2e-3)


def _renorm(device: str) -> None:
    make = Inputs(device)
    probabilities = (make.normal(5, 400) * 3).softmax(-1)
    module = _ops("sampling.renorm_triton")
    k = torch.tensor([1, 5, 40, 399, 400], device=device)
    values, order = probabilities.sort(descending=True)
    kept = torch.arange(400, device=device) < k[:, None]
    expected = torch.zeros_like(probabilities).scatter_(1, order, values * kept)
    found = module.top_k_renorm_probs_triton(probabilities, k)
    check(found, expected / expected.sum(-1, keepdim=True), 1e-4)
    p = make.uniform(5) * 0.8 + 0.1
    kept = values.cumsum(-1) - values < p[:, None]
    expected = torch.zeros_like(probabilities).scatter_(1, order, values * kept)
    found = module.top_p_renorm_probs_triton(probabilities, p)
    check(found, expected / expected.sum(-1, keepdim=True), 1e-3)


def _logsumexp(device: str) -> None:
    x = Inputs(device).normal(5, 700)
    module = importlib.import_module("sglang.srt.layers.logsumexp")
    most, rest = module.row_logsumexp(x)
    check(most + rest, x.logsumexp(-1), 1e-4)
    check(most, x.amax(-1))


def _triton_sum(device: str) -> None:
    x = Inputs(device).normal(4, 50)
    module = importlib.import_module("sglang.test.kernels.triton_sum")
    check(module.triton_sum(x, 1), x.sum(1), 1e-4)


def cases(device: str) -> list[Case]:
    runs = SimpleNamespace(
        decode_attention=_decode(4, 4), decode_attention_grouped=_decode(8, 2),
        extend_attention=_extend, prefill_attention=_prefill, merge_attention_states=_merge,
        lightning_attention=_lightning, norms=_norms, norm_fp32=_norm_fp32,
        activations=_activations, rotary=_rotary, awq_dequantize=_awq, int8_quantization=_int8,
        gate_topk=_gate_topk, router=_router, renorm=_renorm, logsumexp=_logsumexp,
        triton_sum=_triton_sum,
    )  # fmt: skip
    # They ask for tensors on a device.
    where = {"norm_fp32": ("cuda",), "renorm": ("cuda",)}
    return [
        Case(name, lambda run=run: run(device), where.get(name, ("cpu", "cuda")))
        for name, run in vars(runs).items()
    ]

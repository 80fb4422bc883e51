"""What inference engines run for each token beside attention and matmuls.

These are states of gated delta rules, of KDA and of Mamba, convolutions, RoPE into the cache, norms
that quantise, and sampling. The kernels are vLLM's and SGLang's, the sizes those of Qwen 3 Next,
Kimi and Nemotron.
"""

from __future__ import annotations

import importlib
from typing import Any

import torch
import torch.nn.functional as F

from . import serving
from .inputs import Make, Run, call, normal, uniform, whole

BATCHES = (1, 16, 64)
#: Qwen 3 Next: heads of keys and of values, and their width. Kimi's have as many of both.
HEADS, VALUE_HEADS, WIDTH = 16, 32, 128
#: Nemotron H 8B: heads, their width, the state's, groups.
MAMBA = (128, 64, 128, 8)
WORDS = 128256


def _vllm(name: str) -> Any:
    return importlib.import_module(f"vllm.{name}")


def _sglang(name: str) -> Any:
    return importlib.import_module(f"sglang.kernels.ops.{name}")


def _slots(batch: int) -> torch.Tensor:
    """Which state each request has, of twice as many; that at 0 is no request's."""
    return (torch.randperm(2 * batch - 1, device="cuda")[:batch] + 1).to(torch.int32)


def _delta_decode(batch: int) -> Make:
    def make() -> Run:
        mixed = normal(batch, (2 * HEADS + VALUE_HEADS) * WIDTH)
        a, b = normal(batch, VALUE_HEADS), normal(batch, VALUE_HEADS)
        decay, bias = (normal(VALUE_HEADS, dtype=torch.float32) for _ in "ab")
        start = normal(2 * batch, VALUE_HEADS, WIDTH, WIDTH, dtype=torch.float32)
        out = normal(batch, 1, VALUE_HEADS, WIDTH)
        module = _vllm("third_party.flash_linear_attention.ops.fused_recurrent")
        function, slots = module.fused_recurrent_gated_delta_rule_packed_decode, _slots(batch)

        def run() -> Any:
            return function(mixed, a, b, decay, bias, WIDTH**-0.5, start.clone(), out, slots, True)

        return run

    return make


def _delta_prefill(count: int, length: int) -> Make:
    def make() -> Run:
        tokens = count * length
        q, k = (F.normalize(normal(1, tokens, HEADS, WIDTH), dim=-1) for _ in "qk")
        v = normal(1, tokens, VALUE_HEADS, WIDTH)
        decay = F.logsigmoid(normal(1, tokens, VALUE_HEADS, dtype=torch.float32) + 3)
        beta = normal(1, tokens, VALUE_HEADS).sigmoid()
        state = normal(count, VALUE_HEADS, WIDTH, WIDTH, dtype=torch.float32)
        function = _vllm("third_party.flash_linear_attention.ops.chunk").chunk_gated_delta_rule
        starts = serving.starts(count, length).long()
        return call(
            function, q, k, v, decay, beta, initial_state=state, output_final_state=True,
            cu_seqlens=starts,
        )  # fmt: skip

    return make


def _kda_decode(batch: int) -> Make:
    def make() -> Run:
        q, k, v = (normal(1, batch, VALUE_HEADS, WIDTH) for _ in "qkv")
        decay = F.logsigmoid(normal(1, batch, VALUE_HEADS, WIDTH, dtype=torch.float32) + 3)
        beta = normal(1, batch, VALUE_HEADS, dtype=torch.float32).sigmoid()
        start = normal(2 * batch, VALUE_HEADS, WIDTH, WIDTH, dtype=torch.float32)
        function = _vllm("third_party.flash_linear_attention.ops.kda").fused_recurrent_kda
        starts, slots = serving.starts(batch, 1).long(), _slots(batch).long()

        def run() -> Any:
            return function(
                q, k, v, decay, beta, initial_state=start.clone(), cu_seqlens=starts,
                ssm_state_indices=slots,
            )  # fmt: skip

        return run

    return make


def _mamba_decode(batch: int) -> Make:
    def make() -> Run:
        heads, width, state, groups = MAMBA
        start = normal(2 * batch, heads, width, state)
        x, out = normal(batch, heads, width), normal(batch, heads, width)
        step = normal(batch, heads)[..., None].expand(-1, -1, width)
        decay = -uniform(heads)[:, None, None].expand(-1, width, state)
        b, c = normal(batch, groups, state), normal(batch, groups, state)
        skip, bias = (uniform(heads)[:, None].expand(-1, width) for _ in "db")
        function = _vllm("model_executor.layers.mamba.ops.mamba_ssm").selective_state_update
        slots = _slots(batch)

        def run() -> torch.Tensor:
            function(
                start.clone(), x, step, decay, b, c, skip, bias, dt_softplus=True,
                state_batch_indices=slots, out=out,
            )  # fmt: skip
            return out

        return run

    return make


def _mamba_prefill(count: int, length: int) -> Make:
    def make() -> Run:
        heads, width, state, groups = MAMBA
        tokens, chunk = count * length, 256
        x, out = normal(tokens, heads, width), normal(tokens, heads, width)
        b, c = normal(tokens, groups, state), normal(tokens, groups, state)
        step, decay = normal(tokens, heads), -uniform(heads)
        skip, bias = uniform(heads), uniform(heads)
        starts = serving.starts(count, length)
        chunks = serving.starts(tokens // chunk, chunk)
        last = serving.starts(count, length // chunk)[1:] - 1
        sequence = torch.arange(tokens // chunk, device="cuda", dtype=torch.int32)
        sequence = sequence // (length // chunk)
        module = _vllm("model_executor.layers.mamba.ops.ssd_combined")

        def run() -> torch.Tensor:
            module.mamba_chunk_scan_combined_varlen(
                x, step, decay, b, c, chunk, starts, chunks, last, sequence, out, D=skip,
                dt_bias=bias, dt_softplus=True,
            )  # fmt: skip
            return out

        return run

    return make


def _convolve(batch: int) -> Make:
    """A token of each request, and the three before it."""

    def make() -> Run:
        width = (2 * HEADS + VALUE_HEADS) * WIDTH
        x, weight = normal(batch, width), normal(width, 4)
        state = normal(2 * batch, 3, width).transpose(1, 2)
        function = _vllm("model_executor.layers.mamba.ops.causal_conv1d").causal_conv1d_update
        slots = _slots(batch)
        return lambda: function(x.clone(), state, weight, None, "silu", conv_state_indices=slots)

    return make


def _rope_into_cache(tokens: int, heads: int, kv_heads: int, width: int) -> Make:
    def make() -> Run:
        page, most = 16, 8192
        q = normal(tokens, heads, width)
        k, v = (normal(tokens, kv_heads, width) for _ in "kv")
        keys, values = (normal(most // page, page, kv_heads, width) for _ in "kv")
        where = torch.randperm(most, device="cuda")[:tokens]
        angles = normal(most, width)
        one = torch.ones(1, device="cuda")
        module = _sglang("attention.fused_qk_rope_reshape_and_cache")
        return call(
            module.fused_qk_rope_reshape_and_cache, q, k, v, keys, values, where, where, angles,
            one, one, True, True, apply_scale=False, output_zeros=False,
        )  # fmt: skip

    return make


def _norm_rope(tokens: int) -> Make:
    """Qwen 3 Next: norms of queries and keys, a quarter of them rotated, and the gate."""

    def make() -> Run:
        heads, kv_heads, width, rotated = 16, 2, 256, 64
        function = _vllm("model_executor.layers.fused_qk_norm_rope").fused_qk_rmsnorm_rope_gate
        return call(
            function, normal(tokens, heads * width * 2), normal(tokens, kv_heads * width),
            normal(width), normal(width), normal(8192, rotated), whole(0, 8191, tokens), 1e-6,
            heads, kv_heads, width, rotated,
        )  # fmt: skip

    return make


def _quantise(tokens: int, columns: int) -> Make:
    def make() -> Run:
        module = _sglang("quantization.fp8_kernel")
        return call(module._per_token_group_quant_8bit_raw, normal(tokens, columns), 128)

    return make


def _norm_and_quantise(tokens: int, columns: int) -> Make:
    def make() -> Run:
        function = _sglang("layernorm.rmsnorm_fp8_e8m0").rmsnorm_fp8_e8m0_quant
        return call(function, normal(tokens, columns), normal(columns), 1e-6)

    return make


def _temperatures(batch: int) -> Make:
    def make() -> Run:
        function = _sglang("sampling.temperature_softmax").temperature_softmax
        return call(function, normal(batch, WORDS, dtype=torch.float32), uniform(batch, 1) + 0.5)

    return make


def rows() -> dict[str, Make]:
    serving.import_engines()
    from .vllm import top_k_top_p

    found: dict[str, Make] = {}
    for batch in BATCHES:
        found |= {
            f"gated delta rule, {batch} tokens": _delta_decode(batch),
            f"kda, {batch} tokens": _kda_decode(batch),
            f"mamba 2, {batch} tokens": _mamba_decode(batch),
            f"convolution, {batch} tokens": _convolve(batch),
            f"rope into cache llama 8b, {batch} tokens": _rope_into_cache(
                batch, *serving.LLAMA_8B[1:]
            ),
            f"rope into cache llama 70b, {batch} tokens": _rope_into_cache(
                batch, *serving.LLAMA_70B[1:]
            ),
            f"norms, rope and gate, {batch} tokens": _norm_rope(batch),
            f"norm and fp8 {batch}x7168": _norm_and_quantise(batch, 7168),
            f"top k, top p {batch}x{WORDS}": top_k_top_p(batch, WORDS),
        }
    return found | {
        f"softmax by temperature 1x{WORDS}": _temperatures(1),
        f"softmax by temperature 16x{WORDS}": _temperatures(16),
        "gated delta rule 4x2048": _delta_prefill(4, 2048),
        "mamba 2 4x2048": _mamba_prefill(4, 2048),
        "rope into cache llama 8b 4096": _rope_into_cache(4096, *serving.LLAMA_8B[1:]),
        "norm and fp8 4096x7168": _norm_and_quantise(4096, 7168),
        "fp8 by groups 16x7168": _quantise(16, 7168),
        "fp8 by groups 4096x7168": _quantise(4096, 7168),
    }

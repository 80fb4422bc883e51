"""vLLM's kernels, as far as they are imported without the engine."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import engineless
import pretend
import serving
import torch
from cases import Case, Inputs, check

PACKAGE = "vllm"


def configure(device: str) -> None:
    if device == "cpu":
        pretend.a_gpu_is_there()
        # vLLM wants to see one active driver; without devices it does not look.
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
    engineless.prepare("vllm")
    _platform()


def _platform() -> None:
    """What vLLM asks about the machine, without the look at its own extension that it takes."""
    folder = Path(sys.modules["vllm"].__path__[0])
    platforms = engineless.shell("vllm.platforms", folder / "platforms")
    platforms.current_platform = None
    platforms.vllm_version_matches_substr = lambda text: False
    interface = importlib.import_module("vllm.platforms.interface")

    class Cuda(interface.Platform):
        _enum = interface.PlatformEnum.CUDA
        device_name = device_type = "cuda"
        dispatch_key = "CUDA"

        @classmethod
        def get_device_capability(cls, device_id: int = 0) -> Any:
            return interface.DeviceCapability(*torch.cuda.get_device_capability(device_id))

        @classmethod
        def get_device_name(cls, device_id: int = 0) -> str:
            return torch.cuda.get_device_name(device_id)

        @classmethod
        def num_compute_units(cls, device_id: int = 0) -> int:
            return torch.cuda.get_device_properties(device_id).multi_processor_count

    for name, value in vars(interface).items():
        if not name.startswith("_") and not hasattr(platforms, name):
            setattr(platforms, name, value)
    platforms.current_platform = Cuda()


def _module(name: str) -> Any:
    return importlib.import_module(f"vllm.{name}")


def _attention(name: str) -> Any:
    return _module(f"v1.attention.ops.{name}")


# Attention over pages of keys and values.


def _decode(heads: int, kv_heads: int) -> Any:
    def run(device: str) -> None:
        make = Inputs(device)
        batch, width, page, splits = 3, 64, 16, 4
        lengths = torch.tensor([5, 37, 64], dtype=torch.int32, device=device)
        pages = serving.Pages(make, lengths, page, kv_heads, width, torch.float16)
        q = make.normal(batch, heads, width, dtype=torch.float16)
        out, lse = torch.empty_like(q), torch.empty(batch, heads, device=device)
        partial = torch.empty(batch, heads, splits, width + 1, device=device)
        one = torch.ones((), device=device)
        _attention("triton_decode_attention").decode_attention_fwd(
            q, pages.keys, pages.values, out, lse, pages.table, lengths, partial, splits,
            width**-0.5, page, k_scale=one, v_scale=one,
        )  # fmt: skip
        expected = [
            serving.attention(q[i : i + 1], *pages.of(i), causal=False) for i in range(batch)
        ]
        check(out, torch.cat(expected), 5e-3)

    return run


def _prefill(device: str) -> None:
    make = Inputs(device)
    lengths, heads, kv_heads, width = [20, 70], 4, 2, 64
    q = make.normal(sum(lengths), heads, width, dtype=torch.float16)
    k, v = (make.normal(sum(lengths), kv_heads, width, dtype=torch.float16) for _ in range(2))
    out = torch.empty_like(q)
    starts = torch.tensor([0, lengths[0]], dtype=torch.int32, device=device)
    sizes = torch.tensor(lengths, dtype=torch.int32, device=device)
    _attention("triton_prefill_attention").context_attention_fwd(
        q, k, v, out, starts, sizes, max(lengths)
    )
    check(out, serving.by_sequence(lengths, q, k, v), 5e-3)


def _unified(window: int) -> Any:
    def run(device: str) -> None:
        make = Inputs(device)
        queries, heads, kv_heads, width, page = [1, 12, 33], 4, 2, 64, 16
        lengths = torch.tensor([19, 40, 33], dtype=torch.int32, device=device)
        pages = serving.Pages(make, lengths, page, kv_heads, width, torch.bfloat16)
        q = make.normal(sum(queries), heads, width, dtype=torch.bfloat16)
        out = torch.empty_like(q)
        starts = torch.tensor([0, 1, 13, 46], dtype=torch.int32, device=device)
        _attention("triton_unified_attention").unified_attention(
            q, pages.keys, pages.values, out, starts, max(queries), lengths, 40, width**-0.5, True,
            (window - 1, 0) if window else (-1, -1), pages.table, 0.0, None, None, None,
        )  # fmt: skip
        expected = [
            serving.attention(part, *pages.of(i), causal=True, window=window)
            for i, part in enumerate(q.split(queries))
        ]
        check(out, torch.cat(expected), 2e-2)

    return run


def _merge(device: str) -> None:
    serving.check_merge(
        device,
        lambda out, a, la, b, lb, lse: _attention("triton_merge_attn_states").merge_attn_states(
            out, a, la, b, lb, lse
        ),
        transposed=True,
    )


def _store_pages(device: str) -> None:
    make = Inputs(device)
    k, v = (make.normal(7, 2, 32, dtype=torch.float16) for _ in range(2))
    keys, values = (torch.zeros(4, 16, 2, 32, device=device, dtype=torch.float16) for _ in "kv")
    slots = torch.tensor([3, 4, 40, -1, 63, 17, 18], device=device)
    one = torch.ones((), device=device)
    _attention("triton_reshape_and_cache_flash").triton_reshape_and_cache_flash(
        k, v, keys, values, slots, "auto", one, one
    )
    for found, given in ((keys, k), (values, v)):
        expected = torch.zeros(64, 2, 32, device=device, dtype=torch.float16)
        kept = slots >= 0
        expected[slots[kept]] = given[kept]
        check(found.view(64, 2, 32), expected)


# Quantised dots.


def _awq_dequantize(device: str) -> None:
    serving.check_awq_dequantize(
        device, _module("model_executor.layers.quantization.awq_triton").awq_dequantize_triton
    )


def _awq_gemm(device: str) -> None:
    awq = _module("model_executor.layers.quantization.awq_triton")
    make = Inputs(device)
    weight, scales, zeros = serving.awq(make, 128, 64, 32)
    x = make.normal(9, 128, dtype=torch.float16)
    found = awq.awq_gemm_triton(x, weight, scales, zeros, 2)
    check(found, x @ serving.awq_reference(weight, scales, zeros, 32), 5e-2)


def _scaled_mm(device: str) -> None:
    make = Inputs(device)
    a = make.integers(-100, 100, 33, 96, dtype=torch.int8)
    b = make.integers(-100, 100, 48, 96, dtype=torch.int8).t()
    scale_a, scale_b = make.uniform(33, 1), make.uniform(48, 1)
    bias = make.normal(48, dtype=torch.float16)
    found = _module(
        "model_executor.layers.quantization.compressed_tensors.triton_scaled_mm"
    ).triton_scaled_mm(a, b, scale_a / 1000, scale_b / 1000, torch.float16, bias)
    product = (a.double() @ b.double()) * (scale_a / 1000) * (scale_b / 1000).t()
    check(found, (product + bias).half(), 5e-3)


def _int8(device: str) -> None:
    # Groups are done by the extension on a GPU.
    module = _module("model_executor.layers.quantization.utils.int8_utils")
    serving.check_int8(device, module.per_token_quant_int8)


# The same result whatever the batch.


def _batch_invariant(device: str) -> None:
    ops = _module("model_executor.determinism.batch_invariant")
    make = Inputs(device)
    x, weight = make.normal(5, 300), make.normal(300)
    check(ops.log_softmax(x), x.log_softmax(-1), 1e-4)
    check(ops.mean_dim(cube := make.normal(4, 9, 33), 1), cube.mean(1), 1e-5)
    norm = x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * weight
    check(ops.rms_norm_batch_invariant(x, weight), norm, 1e-4)


# Sampling.


def _top_k_top_p(device: str) -> None:
    make = Inputs(device)
    logits = make.normal(9, 500) * 3
    k = make.integers(1, 60, 9, dtype=torch.int32)
    p = make.uniform(9) * 0.8 + 0.1
    found = _module("v1.sample.ops.topk_topp_triton").apply_top_k_top_p_triton(logits.clone(), k, p)
    values, order = logits.sort(dim=-1)
    values = values.masked_fill(values < values.gather(1, 500 - k.long()[:, None]), -torch.inf)
    values = values.masked_fill(values.softmax(-1).cumsum(-1) <= 1 - p[:, None], -torch.inf)
    check(found, torch.empty_like(logits).scatter_(1, order, values))


def _sampling(device: str) -> None:
    make = Inputs(device)
    requests = torch.tensor([2, 0, 1, 2], dtype=torch.int32, device=device)
    logits = make.normal(4, 700)
    temperature = torch.tensor([0.5, 2.0, 1.0], device=device)
    found = logits.clone()
    gumbel = _module("v1.worker.gpu.sample.gumbel")
    gumbel.apply_temperature(found, requests, temperature)
    check(found, logits / temperature[requests.long()][:, None], 1e-5)
    min_p = torch.tensor([0.0, 0.1, 0.5], device=device)
    found = logits.clone()
    _module("v1.worker.gpu.sample.min_p").apply_min_p(found, requests, min_p)
    rows = min_p[requests.long()][:, None]
    floor = logits.max(-1, keepdim=True).values + rows.log()
    check(found, logits.masked_fill((logits < floor) & (rows > 0), -torch.inf))
    greedy = torch.zeros(3, device=device)
    seed = torch.arange(3, device=device)
    position = torch.arange(4, device=device)
    found = gumbel.gumbel_sample(logits, requests, greedy, seed, position, True, False)
    check(found.long(), logits.argmax(-1))


# Low-rank adaptation.


def _lora(device: str) -> None:
    make = Inputs(device)
    tokens, hidden, rank, adapters = 12, 64, 16, 3
    mapping = make.integers(-1, adapters, tokens, dtype=torch.int32)
    order = mapping.argsort(stable=True).to(torch.int32)
    ids, counts = mapping.unique(return_counts=True)
    padded = torch.full((adapters + 1,), -1, dtype=torch.int32, device=device)
    padded[: len(ids)] = ids
    sizes = torch.zeros(adapters + 1, dtype=torch.int32, device=device)
    sizes[: len(ids)] = counts.int()
    starts = torch.zeros(adapters + 2, dtype=torch.int32, device=device)
    starts[1:] = sizes.cumsum(0)
    meta = (mapping, order, sizes, starts, padded, torch.tensor([False]))
    active = torch.tensor([len(ids)], dtype=torch.int32)
    a = make.normal(adapters, rank, hidden, dtype=torch.float16)
    b = make.normal(adapters, hidden, rank, dtype=torch.float16)
    x = make.normal(tokens, hidden, dtype=torch.float16)
    shrunk = torch.zeros(1, tokens, rank, device=device)
    _module("lora.ops.triton_ops.lora_shrink_op")._lora_shrink(x, [a], shrunk, *meta, active, 0.5)
    used = mapping >= 0
    expected = torch.zeros_like(shrunk[0])
    expected[used] = 0.5 * torch.einsum(
        "th,trh->tr", x[used].float(), a[mapping[used].long()].float()
    )
    check(shrunk[0], expected, 2e-2)
    base = make.normal(tokens, hidden, dtype=torch.float16)
    out = base.clone()
    _module("lora.ops.triton_ops.lora_expand_op")._lora_expand(
        shrunk, [b], out, *meta, active, 0, True
    )
    grown = base.float()
    grown[used] += torch.einsum(
        "tr,thr->th", expected[used].half().float(), b[mapping[used].long()].float()
    )
    check(out, grown.half(), 5e-2)


def _gated_norm(device: str) -> None:
    make = Inputs(device)
    x, z, weight = make.normal(5, 96), make.normal(5, 96), make.normal(96)
    found = _module("model_executor.layers.mamba.ops.layernorm_gated").rms_norm_gated(
        x, weight, None, z=z, eps=1e-6, norm_before_gate=False
    )
    gated = x * torch.nn.functional.silu(z)
    check(found, gated * torch.rsqrt((gated * gated).mean(-1, keepdim=True) + 1e-6) * weight, 1e-4)


def _linear_attention_parts(device: str) -> None:
    make = Inputs(device)
    fla = "third_party.flash_linear_attention.ops."
    x = make.normal(2, 9, 4, 64)
    found = _module(fla + "l2norm").l2norm_fwd(x, eps=1e-6)
    check(found, x * torch.rsqrt((x * x).sum(-1, keepdim=True) + 1e-6), 1e-4)
    g = make.normal(1, 100, 4)
    found = _module(fla + "cumsum").chunk_local_cumsum(g, chunk_size=64)
    check(found, torch.cat([part.cumsum(1) for part in g.split(64, 1)], 1), 1e-4)


def cases(device: str) -> list[Case]:
    runs = SimpleNamespace(
        decode_attention=_decode(4, 4), decode_attention_grouped=_decode(8, 2),
        prefill_attention=_prefill, unified_attention=_unified(0),
        unified_attention_window=_unified(9), merge_attention_states=_merge,
        store_pages=_store_pages, awq_dequantize=_awq_dequantize, awq_gemm=_awq_gemm,
        scaled_mm=_scaled_mm, int8_quantization=_int8, batch_invariant=_batch_invariant,
        top_k_top_p=_top_k_top_p, sampling=_sampling, lora=_lora, gated_norm=_gated_norm,
        linear_attention_parts=_linear_attention_parts,
    )  # fmt: skip
    # It stores and loads again in one program without a barrier, which the simulator refuses.
    where = {"top_k_top_p": ("cuda",)}
    return [
        Case(name, lambda run=run: run(device), where.get(name, ("cpu", "cuda")))
        for name, run in vars(runs).items()
    ]

"""triton-kernels' mixture of experts, as vLLM carries them, at sizes of gpt-oss and Qwen 3."""

from __future__ import annotations

import importlib
from typing import Any

import torch

from .inputs import Make, Run, call, normal


def _module(name: str) -> Any:
    return importlib.import_module(f"triton_kernels.{name}")


def _experts(tokens: int, experts: int, chosen: int, k: int, n: int) -> Make:
    """Tokens gathered by expert, multiplied, activated, multiplied, and scattered back."""

    def make() -> Run:
        ogs, routing, swiglu = (_module(m) for m in ("matmul_ogs", "routing", "swiglu"))
        logits = normal(tokens, experts, dtype=torch.float16)
        x = normal(tokens, k)
        up, down = normal(experts, k, 2 * n) * 0.02, normal(experts, n, k) * 0.02

        def run() -> Any:
            data, gather, scatter = routing.routing(logits, chosen)
            hidden = ogs.matmul_ogs(x, up, None, data, gather_indx=gather)
            hidden = swiglu.swiglu(hidden, 1.702, swiglu.PrecisionConfig(limit=7.0))
            return ogs.matmul_ogs(
                hidden, down, None, data, scatter_indx=scatter, gammas=data.gate_scal
            )

        return run

    return make


def _dense(m: int, n: int, k: int) -> Make:
    return lambda: call(_module("matmul_ogs").matmul_ogs, normal(m, k), normal(k, n), None)


def _downcast(kind: Any) -> Make:
    def make() -> Run:
        x = normal(8192, 4096)
        return call(_module("numerics_details.mxfp").downcast_to_mxfp, x, kind, 1)

    return make


def rows() -> dict[str, Make]:
    import matmul_ogs as client

    client.configure("cuda")
    found: dict[str, Make] = {}
    for tokens in (1, 16, 128, 512, 4096):
        found[f"gpt-oss 20b {tokens} tokens"] = _experts(tokens, 32, 4, 2880, 2880)
        found[f"qwen 3 30b {tokens} tokens"] = _experts(tokens, 128, 8, 2048, 768)
    return found | {
        "dense 4096x4096x4096": _dense(4096, 4096, 4096),
        "dense 64x4096x4096": _dense(64, 4096, 4096),
        "mxfp4 downcast 8192x4096": _downcast(torch.uint8),
        "mxfp8 downcast 8192x4096": _downcast(torch.float8_e4m3fn),
    }

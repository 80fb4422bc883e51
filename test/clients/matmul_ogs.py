"""triton-kernels, the mixture-of-experts kernels of Triton's makers, as vLLM carries them.

The package of that name on PyPI is another one.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import engineless
import pretend
import torch
from cases import Case, Inputs, check

PACKAGE = "vllm"


def configure(device: str) -> None:
    if device == "cpu":
        pretend.a_gpu_is_there()
    engineless.prepare("vllm")
    sys.path.append(str(Path(sys.modules["vllm"].__path__[0]) / "third_party"))
    importlib.import_module("triton_kernels")


def _module(name: str) -> Any:
    return importlib.import_module(f"triton_kernels.{name}")


def _routing(device: str) -> None:
    routing = _module("routing")
    logits = Inputs(device).normal(37, 16)
    found, expected = (f(logits, 4) for f in (routing.routing, routing.routing_torch))
    check(found[0].gate_scal.float(), expected[0].gate_scal.float(), 1e-3)
    check(found[0].expt_hist.int(), expected[0].expt_hist.int())
    for a, b in zip(found[1:], expected[1:], strict=True):
        check(a.src_indx.int(), b.src_indx.int())
        check(a.dst_indx.int(), b.dst_indx.int())


def _topk(device: str) -> None:
    x = Inputs(device).normal(21, 64, dtype=torch.float16)
    values, indices, _ = _module("topk").topk(x, 4)
    expected = x.topk(4)
    # They come by their places.
    order = expected.indices.argsort(-1)
    check(indices.long(), expected.indices.gather(1, order))
    check(values, expected.values.float().softmax(-1).gather(1, order).half(), 2e-3)


def _dense(device: str) -> None:
    ogs = _module("matmul_ogs")
    make = Inputs(device)
    x, w = make.normal(70, 96, dtype=torch.bfloat16), make.normal(96, 64, dtype=torch.bfloat16)
    bias = make.normal(64)
    found = ogs.matmul_ogs(x, w, bias)
    check(found, (x.float() @ w.float() + bias).to(torch.bfloat16), 5e-2)


def _experts(device: str) -> None:
    """Tokens gathered by expert, multiplied, and scattered back with their gates."""
    ogs, routing = _module("matmul_ogs"), _module("routing")
    make = Inputs(device)
    tokens, experts, chosen, k, n = 37, 8, 2, 64, 96
    logits = make.normal(tokens, experts)
    data, gather, scatter = routing.routing(logits, chosen)
    x = make.normal(tokens, k, dtype=torch.bfloat16)
    w = make.normal(experts, k, n, dtype=torch.bfloat16)
    bias = make.normal(experts, n)
    up = ogs.matmul_ogs(x, w, bias, data, gather_indx=gather)
    # The experts of a token come by their numbers.
    weights, picks = logits.topk(chosen)
    order = picks.argsort(-1)
    weights, picks = weights.softmax(-1).gather(1, order), picks.gather(1, order)
    each = torch.einsum("tk,tckn->tcn", x.float(), w.float()[picks]) + bias[picks]
    expected = each.flatten(0, 1)[gather.src_indx.long()]
    check(up, expected.to(torch.bfloat16), 5e-2)
    down = make.normal(experts, n, k, dtype=torch.bfloat16)
    found = ogs.matmul_ogs(up, down, None, data, scatter_indx=scatter, gammas=data.gate_scal)
    back = torch.einsum("tcn,tcnk->tck", each.to(torch.bfloat16).float(), down.float()[picks])
    check(found.float(), (back * weights[..., None]).sum(1), 5e-1)


def _swiglu(device: str) -> None:
    swiglu = _module("swiglu")
    a = Inputs(device).normal(33, 128, dtype=torch.bfloat16)
    config = swiglu.PrecisionConfig(limit=1.0)
    found, expected = (f(a, 1.1, config) for f in (swiglu.swiglu, swiglu.swiglu_torch))
    check(found, expected, 2e-2)


def _compaction(device: str) -> None:
    module = _module("compaction")
    make = Inputs(device)
    values, indices = make.normal(11, 8), make.integers(0, 32, 11, 8, dtype=torch.int32)
    mask = make.integers(-(2**31), 2**31, 11, 1).to(torch.int32)
    check(module.compaction(values, indices, mask), module.compaction_torch(values, indices, mask))


def _mxfp(kind: str) -> Any:
    def run(device: str) -> None:
        mxfp = _module("numerics_details.mxfp")
        ty = torch.uint8 if kind == "fp4" else torch.float8_e4m3fn
        x = Inputs(device).normal(9, 128, dtype=torch.bfloat16)
        found, expected = (
            f(x, ty, 1) for f in (mxfp.downcast_to_mxfp, mxfp.downcast_to_mxfp_torch)
        )
        for a, b in zip(found, expected, strict=True):
            check(a.view(torch.uint8), b.view(torch.uint8))
        back = [
            f(*expected, torch.bfloat16, 1)
            for f in (mxfp.upcast_from_mxfp, mxfp.upcast_from_mxfp_torch)
        ]
        check(*back)

    return run


def cases(device: str) -> list[Case]:
    runs = SimpleNamespace(
        routing=_routing, topk=_topk, dense=_dense, experts=_experts, swiglu=_swiglu,
        compaction=_compaction, mxfp4=_mxfp("fp4"), mxfp8=_mxfp("fp8"),
    )  # fmt: skip
    # Its reference needs a device.
    where = {"routing": ("cuda",)}
    return [
        Case(name, lambda run=run: run(device), where.get(name, ("cpu", "cuda")))
        for name, run in vars(runs).items()
    ]

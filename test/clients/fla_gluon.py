"""fla-core's kernels with explicit layouts (Gluon), against its own references and torch's."""

from __future__ import annotations

from collections.abc import Callable

import pretend
import torch
import torch.nn.functional as F
from cases import Case, Inputs, check

PACKAGE = "fla-core"


def configure(device: str) -> None:
    if device == "cpu":
        pretend.a_gpu_is_there()


def _sinkhorn(n: int, count: int, iterations: int) -> Callable[[str], None]:
    def run(device: str) -> None:
        from fla.ops.utils.sinkhorn import gluon, naive_sinkhorn

        make = Inputs(device)
        x, weights = make.normal(count, n, n, grad=True), make.normal(count, n, n)
        expected = naive_sinkhorn(x, iterations)
        (grad,) = torch.autograd.grad((expected * weights).sum(), x)
        found, backward = gluon.sinkhorn_fwd_gluon(x.detach(), iterations)
        check(found, expected.detach(), 1e-4)
        check(backward(x.detach(), weights, iterations), grad, 1e-4)

    return run


def _cross_entropy(rows: int, columns: int, dtype: torch.dtype, **options: float) -> Callable:
    def run(device: str) -> None:
        from fla.modules.fused_cross_entropy import gluon

        make = Inputs(device)
        logits = make.normal(rows, columns, dtype=dtype)
        target = make.integers(0, columns, rows)
        target[1] = -100
        smoothing, scale = options.get("label_smoothing", 0.0), options.get("logit_scale", 1.0)
        cap = options.get("logit_softcapping")
        wide = logits.float().requires_grad_()
        scores = wide * scale
        scores = cap * torch.tanh(scores / cap) if cap else scores
        expected = F.cross_entropy(scores, target, reduction="none", label_smoothing=smoothing)
        loss, _, lse = gluon.cross_entropy_fwd_gluon(logits, target, **options)[:3]
        check(loss, expected.detach(), 1e-3)
        check(lse, scores.logsumexp(-1).detach(), 1e-3)
        weights = make.normal(rows)
        (grad,) = torch.autograd.grad((expected * weights).sum(), wide)
        found = gluon.cross_entropy_bwd_gluon(logits, target, lse, weights, **options)
        check(found.float(), grad, 1e-3 if dtype == torch.float32 else 2e-2)

    return run


def _convolution(activation: str | None, biased: bool) -> Callable[[str], None]:
    def run(device: str) -> None:
        from fla.modules.causal_conv1d.backends import gluon

        make = Inputs(device)
        x, weight = make.normal(2, 100, 64, grad=True), make.normal(64, 4, grad=True)
        bias = make.normal(64, grad=True) if biased else None
        padded = F.pad(x.transpose(1, 2), (3, 0))
        expected = F.conv1d(padded, weight[:, None], bias, groups=64).transpose(1, 2)
        expected = F.silu(expected) if activation else expected
        parts = [x, weight, *[bias] * biased]
        values = [part.detach() for part in parts]
        options = {"bias": values[2] if biased else None, "activation": activation}
        found, _ = gluon.causal_conv1d_fwd_gluon(*values[:2], **options)
        check(found, expected.detach(), 1e-4)
        dy = make.normal(2, 100, 64)
        grads = torch.autograd.grad(expected, parts, dy)
        ours = gluon.causal_conv1d_bwd_gluon(values[0], dy, None, values[1], **options)
        check(ours[: len(grads)], grads, 1e-3)

    return run


def cases(device: str) -> list[Case]:
    half = torch.float16
    runs: dict[str, Callable[[str], None]] = {
        "sinkhorn": _sinkhorn(4, 7, 5),
        "sinkhorn_of_many": _sinkhorn(6, 200, 3),
        "sinkhorn_in_blocks": _sinkhorn(3, 5, 23),
        "cross_entropy": _cross_entropy(5, 1000, torch.float32),
        "cross_entropy_half": _cross_entropy(4, 768, half, label_smoothing=0.1, logit_scale=0.5),
        "cross_entropy_in_parts": _cross_entropy(3, 5000, torch.float32, logit_softcapping=20.0),
        "convolution": _convolution(None, False),
        "convolution_with_silu": _convolution("silu", True),
    }
    return [Case(name, lambda run=run: run(device)) for name, run in runs.items()]

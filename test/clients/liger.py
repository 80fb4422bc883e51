"""Liger-Kernel: every operation of its functional interface, forward and backward."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from cases import Case, Inputs, check

PACKAGE = "liger_kernel"

Make = Callable[[Inputs], tuple]


def _gradients(results: Any, inputs: tuple) -> tuple:
    """The gradients of a fixed weighting of all results."""
    results = results if isinstance(results, tuple) else (results,)
    total = torch.zeros(())
    for result in results:
        if result is not None and result.is_floating_point() and result.requires_grad:
            count = torch.arange(result.numel(), device=result.device).reshape(result.shape)
            total = total.to(result.device) + (result.float() * torch.cos(count)).sum()
    wanted = [i for i in inputs if isinstance(i, torch.Tensor) and i.requires_grad]
    return torch.autograd.grad(total, wanted)


def compare(ours: Callable, reference: Callable, make: Make, device: str, bound: float) -> None:
    """Results and gradients of both, on inputs of their own."""
    first, second = make(Inputs(device)), make(Inputs(device))
    found, expected = ours(*first), reference(*second)
    check(found, expected, bound)
    if any(isinstance(i, torch.Tensor) and i.requires_grad for i in first):
        check(_gradients(found, first), _gradients(expected, second), bound)


def rms(x: torch.Tensor, w: torch.Tensor, eps: float = 1e-6, offset: float = 0.0) -> torch.Tensor:
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + eps) * (offset + w)


def rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    half = x.shape[-1] // 2
    turned = torch.cat([-x[..., half:], x[..., :half]], -1)
    return x * cos[:, None] + turned * sin[:, None]


def jsd(log_p: torch.Tensor, log_q: torch.Tensor, beta: float) -> torch.Tensor:
    p, q = log_p.exp(), log_q.exp()
    log_m = torch.log((1 - beta) * p + beta * q)
    terms = beta * q * (log_q - log_m) + (1 - beta) * p * (log_p - log_m)
    return terms.sum() / log_p.shape[0]


def sparsemax(x: torch.Tensor) -> torch.Tensor:
    ordered = x.sort(-1, descending=True).values
    sums = ordered.cumsum(-1) - 1
    ranks = torch.arange(1, x.shape[-1] + 1, device=x.device)
    support = (ranks * ordered > sums).sum(-1, keepdim=True)
    return (x - sums.gather(-1, support - 1) / support).clamp(min=0)


def poly_norm(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    def normalised(y: torch.Tensor) -> torch.Tensor:
        return y * torch.rsqrt((y * y).mean(-1, keepdim=True) + 1e-6)

    return w[0] * normalised(x**3) + w[1] * normalised(x**2) + w[2] * normalised(x) + b


def _angles(m: Inputs, length: int, width: int) -> tuple[torch.Tensor, torch.Tensor]:
    angles = m.uniform(1, length, width // 2) * 3
    angles = torch.cat([angles, angles], -1)
    return angles.cos(), angles.sin()


def _operations() -> dict[str, tuple[Callable, Callable, Make]]:
    """Name: Liger's function, the same by torch, and the inputs of both."""
    import liger_kernel.transformers.functional as liger

    def logits(rows: int, columns: int, **more: Any) -> Make:
        return lambda m: (m.normal(rows, columns, grad=True), m.integers(0, columns, rows))

    def grad(*shapes: tuple[int, ...]) -> Make:
        return lambda m: tuple(m.normal(*shape, grad=True) for shape in shapes)

    def logs(rows: int, columns: int) -> Make:
        return lambda m: (
            m.normal(rows, columns).log_softmax(-1).detach().requires_grad_(),
            m.normal(rows, columns).log_softmax(-1),
        )

    return {
        "cross_entropy": (liger.liger_cross_entropy, F.cross_entropy, logits(13, 300)),
        "cross_entropy_smoothed": (
            lambda x, t: liger.liger_cross_entropy(x, t, label_smoothing=0.1),
            lambda x, t: F.cross_entropy(x, t, label_smoothing=0.1),
            logits(9, 130),
        ),
        "cross_entropy_sum_softcap": (
            lambda x, t: liger.liger_cross_entropy(x, t, reduction="sum", softcap=5.0),
            lambda x, t: F.cross_entropy(5 * torch.tanh(x / 5), t, reduction="sum"),
            logits(9, 130),
        ),
        "fused_linear_cross_entropy": (
            liger.liger_fused_linear_cross_entropy,
            lambda x, w, t: F.cross_entropy(x @ w.t(), t),
            lambda m: (
                m.normal(10, 32, grad=True),
                m.normal(70, 32, grad=True),
                m.integers(0, 70, 10),
            ),
        ),
        "fused_linear_kl_div": (
            liger.liger_fused_linear_kl_div,
            lambda x, w, t: F.kl_div((x @ w.t()).log_softmax(-1), t, reduction="batchmean"),
            lambda m: (
                m.normal(10, 32, grad=True),
                m.normal(70, 32, grad=True),
                m.normal(10, 70).softmax(-1),
            ),
        ),
        "geglu": (
            liger.liger_geglu,
            lambda a, b: F.gelu(a, approximate="tanh") * b,
            grad((7, 96), (7, 96)),
        ),
        "swiglu": (liger.liger_swiglu, lambda a, b: F.silu(a) * b, grad((7, 96), (7, 96))),
        "relu_squared": (liger.liger_relu_squared, lambda x: F.relu(x) ** 2, grad((5, 100))),
        "softmax": (liger.liger_softmax, lambda x: x.softmax(-1), grad((6, 200))),
        "sparsemax": (liger.liger_sparsemax, sparsemax, grad((6, 40))),
        "layer_norm": (
            lambda x, w, b: liger.liger_layer_norm(x, w, b, 1e-5),
            lambda x, w, b: F.layer_norm(x, w.shape, w, b, 1e-5),
            grad((9, 80), (80,), (80,)),
        ),
        "group_norm": (
            lambda x, w, b: liger.liger_group_norm(x, w, b, 8, 4, 1e-5),
            lambda x, w, b: F.group_norm(x, 4, w, b, 1e-5),
            grad((3, 8, 20), (8,), (8,)),
        ),
        "rms_norm": (lambda x, w: liger.liger_rms_norm(x, w, 1e-6), rms, grad((9, 80), (80,))),
        "rms_norm_gemma": (
            lambda x, w: liger.liger_rms_norm(x, w, 1e-6, 1.0, "gemma"),
            lambda x, w: rms(x, w, offset=1.0),
            grad((9, 80), (80,)),
        ),
        "fused_add_rms_norm": (
            lambda x, r, w: liger.liger_fused_add_rms_norm(x, r, w, 1e-6),
            lambda x, r, w: (rms(x + r, w), x + r),
            grad((9, 80), (9, 80), (80,)),
        ),
        "poly_norm": (liger.liger_poly_norm, poly_norm, grad((9, 64), (3,), ())),
        "dyt": (
            liger.liger_dyt,
            lambda x, a, g, b: g * torch.tanh(a * x) + b,
            grad((9, 64), (1,), (64,), (64,)),
        ),
        "kl_div": (
            lambda x, y: liger.liger_kl_div(x, y.exp(), reduction="batchmean"),
            lambda x, y: F.kl_div(x, y.exp(), reduction="batchmean"),
            logs(8, 90),
        ),
        "jsd": (
            lambda x, y: liger.liger_jsd(x, y, beta=0.3),
            lambda x, y: jsd(x, y, 0.3),
            logs(8, 90),
        ),
        "tvd": (
            lambda x, y: liger.liger_tvd(x.exp(), y.exp(), reduction="batchmean"),
            lambda x, y: (x.exp() - y.exp()).abs().sum() / 2 / x.shape[0],
            logs(8, 90),
        ),
        "fused_linear_jsd": (
            liger.liger_fused_linear_jsd,
            lambda x, w, y, v: jsd((x @ w.t()).log_softmax(-1), (y @ v.t()).log_softmax(-1), 0.5),
            lambda m: (
                m.normal(6, 32, grad=True),
                m.normal(50, 32, grad=True),
                m.normal(6, 32),
                m.normal(50, 32),
            ),
        ),
        "rope": (
            liger.liger_rope,
            lambda q, k, c, s: (rotate(q, c, s), rotate(k, c, s)),
            lambda m: (
                m.normal(2, 4, 8, 16, grad=True),
                m.normal(2, 2, 8, 16, grad=True),
                *_angles(m, 8, 16),
            ),
        ),
        "multi_token_attention": (
            lambda s, w: liger.liger_multi_token_attention(s, w, padding=1),
            _multi_token_attention,
            lambda m: (m.normal(2, 4, 12, 12, grad=True), m.normal(4, 4, 3, 3, grad=True)),
        ),
        "embedding": (
            lambda w, i: _functions().LigerEmbeddingFunction.apply(w, i),
            lambda w, i: F.embedding(i, w),
            lambda m: (m.normal(20, 16, grad=True), m.integers(0, 20, 3, 5)),
        ),
    }


def _functions() -> Any:
    import liger_kernel.ops as functions
    from liger_kernel.ops.experimental.embedding import LigerEmbeddingFunction

    functions.LigerEmbeddingFunction = LigerEmbeddingFunction
    return functions


def _multi_token_attention(scores: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    ahead = torch.ones(scores.shape[-2:], device=scores.device).triu(1) > 0
    attention = scores.masked_fill(ahead, float("-inf")).softmax(-1)
    return F.conv2d(attention, weight, padding=1).masked_fill(ahead, 0.0)


#: What asks torch for properties of a GPU.
ON_A_GPU = {"dyt"}


def cases(device: str) -> list[Case]:
    return [
        Case(
            name,
            lambda o=ours, r=reference, m=make: compare(o, r, m, device, 2e-3),
            ("cuda",) if name in ON_A_GPU else ("cpu", "cuda"),
        )
        for name, (ours, reference, make) in _operations().items()
    ]

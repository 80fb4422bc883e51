"""fla-core: linear attentions, delta rules and its modules, against plain recurrences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pretend
import torch
import torch.nn.functional as F
from cases import Case, Inputs, check

PACKAGE = "fla-core"


def configure(device: str) -> None:
    if device != "cpu":
        return
    pretend.a_gpu_is_there()
    from triton.runtime.autotuner import Autotuner

    # How long the simulator takes says nothing; the first configuration will do.
    prune = Autotuner.prune_configs
    Autotuner.prune_configs = lambda self, kwargs: prune(self, kwargs)[:1]


def recurrence(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    decay: torch.Tensor | None = None,
    beta: torch.Tensor | None = None,
    delta: bool = False,
    scale: float | None = None,
) -> torch.Tensor:
    """``o = q S`` with ``S = exp(decay) S + k v``; by the delta rule ``v - k S`` is added instead.

    All are (batch, time, heads, width); `decay` has a width of its own, or none.
    """
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    state = torch.zeros(*q.shape[:1], q.shape[2], q.shape[-1], v.shape[-1], device=q.device)
    result = []
    for t in range(q.shape[1]):
        if decay is not None:
            step = decay[:, t].exp()
            state = state * (step[..., None] if step.dim() == 3 else step[..., None, None])
        value = v[:, t]
        if delta:
            value = value - torch.einsum("bhk,bhkv->bhv", k[:, t], state)
        if beta is not None:
            value = value * beta[:, t][..., None]
        state = state + torch.einsum("bhk,bhv->bhkv", k[:, t], value)
        result.append(torch.einsum("bhk,bhkv->bhv", q[:, t] * scale, state))
    return torch.stack(result, 1)


def attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, gate: torch.Tensor | None = None
) -> torch.Tensor:
    """Causal attention; a gate adds the sum of what it lets pass between two positions."""
    scores = torch.einsum("bihd,bjhd->bhij", q, k) * q.shape[-1] ** -0.5
    if gate is not None:
        sums = gate.cumsum(1).transpose(1, 2)
        scores = scores + sums[..., :, None] - sums[..., None, :]
    ahead = torch.ones(scores.shape[-2:], device=q.device).triu(1) > 0
    return torch.einsum("bhij,bjhd->bihd", scores.masked_fill(ahead, float("-inf")).softmax(-1), v)


Make = Callable[[Inputs], tuple]


def _operations() -> dict[str, tuple[Callable, Callable, Make]]:
    """Name: the library's function, the same by torch, and the inputs of both."""
    import fla.ops as ops

    def three(m: Inputs, length: int = 64, width: int = 32) -> list[torch.Tensor]:
        return [m.normal(1, length, 2, width) * 0.5 for _ in range(3)]

    def decays(m: Inputs, *width: int) -> torch.Tensor:
        return F.logsigmoid(m.normal(1, 64, 2, *width) + 2)

    def leaves(*values: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return tuple(v.detach().requires_grad_() for v in values)

    def unit(k: torch.Tensor) -> torch.Tensor:
        return F.normalize(k, dim=-1)

    def plain(m: Inputs) -> tuple:
        return leaves(*three(m))

    def gated(m: Inputs) -> tuple:
        return leaves(*three(m), decays(m))

    def wide(m: Inputs) -> tuple:
        return leaves(*three(m), decays(m, 32))

    def ruled(m: Inputs) -> tuple:
        q, k, v = three(m)
        return leaves(q, unit(k), v, m.normal(1, 64, 2).sigmoid())

    def gated_rule(m: Inputs, *width: int) -> tuple:
        q, k, v = three(m)
        return leaves(q, unit(k), v, decays(m, *width), m.normal(1, 64, 2).sigmoid())

    def delta(q: Any, k: Any, v: Any, beta: Any) -> torch.Tensor:
        return recurrence(q, k, v, beta=beta, delta=True)

    def gated_delta(q: Any, k: Any, v: Any, g: Any, beta: Any) -> torch.Tensor:
        return recurrence(q, k, v, g, beta, delta=True)

    def first(function: Callable) -> Callable:
        return lambda *args: function(*args)[0]

    return {
        "fused_recurrent_simple_gla": (first(ops.fused_recurrent_simple_gla), recurrence, gated),
        "chunk_simple_gla": (first(ops.chunk_simple_gla), recurrence, gated),
        "parallel_simple_gla": (first(ops.parallel_simple_gla), recurrence, gated),
        "fused_recurrent_gla": (first(ops.fused_recurrent_gla), recurrence, wide),
        "chunk_gla": (first(ops.chunk_gla), recurrence, wide),
        "fused_recurrent_linear_attn": (
            lambda q, k, v: ops.fused_recurrent_linear_attn(q, k, v, normalize=False)[0],
            recurrence,
            plain,
        ),
        "chunk_linear_attn": (
            lambda q, k, v: ops.chunk_linear_attn(q, k, v, normalize=False)[0],
            recurrence,
            plain,
        ),
        "fused_recurrent_retention": (first(ops.fused_recurrent_retention), _retention, plain),
        "chunk_retention": (first(ops.chunk_retention), _retention, plain),
        "parallel_retention": (first(ops.parallel_retention), _retention, plain),
        "fused_recurrent_delta_rule": (first(ops.fused_recurrent_delta_rule), delta, ruled),
        "chunk_delta_rule": (_narrow(first(ops.chunk_delta_rule)), delta, ruled),
        "fused_recurrent_gated_delta_rule": (
            lambda q, k, v, g, b: ops.fused_recurrent_gated_delta_rule(q, k, v, g=g, beta=b)[0],
            gated_delta,
            lambda m: tuple(x.detach() for x in gated_rule(m)),
        ),
        "chunk_gated_delta_rule": (
            _narrow(first(ops.chunk_gated_delta_rule)),
            gated_delta,
            gated_rule,
        ),
        "chunk_kda": (_narrow(first(ops.chunk_kda)), gated_delta, lambda m: gated_rule(m, 32)),
        "parallel_attn": (ops.parallel_attn, attention, plain),
        "parallel_forgetting_attn": (ops.parallel_forgetting_attn, attention, gated),
    }


def _narrow(function: Callable) -> Callable:
    """The function, of arguments in the only type that it takes."""
    return lambda *args: function(*(a.to(torch.bfloat16) for a in args))


def _retention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    heads = torch.arange(q.shape[2], device=q.device, dtype=torch.float32)
    decay = torch.log1p(-torch.exp2(-5.0 - heads)).expand(q.shape[:3])
    return recurrence(q, k, v, decay)


def _modules() -> dict[str, tuple[Callable, Callable, Make]]:
    from fla.modules.activations import logsigmoid, swiglu
    from fla.modules.fused_cross_entropy import FusedCrossEntropyLoss
    from fla.modules.l2norm import l2_norm
    from fla.modules.layernorm import layer_norm, rms_norm

    def grads(*shapes: tuple[int, ...]) -> Make:
        return lambda m: tuple(m.normal(*shape, grad=True) for shape in shapes)

    def rms(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5) * w

    return {
        "swiglu": (swiglu, lambda x, y: F.silu(x) * y, grads((6, 64), (6, 64))),
        "logsigmoid": (logsigmoid, F.logsigmoid, grads((6, 64))),
        "l2_norm": (
            l2_norm,
            lambda x: x * torch.rsqrt((x * x).sum(-1, keepdim=True) + 1e-6),
            grads((8, 64)),
        ),
        "layer_norm": (
            lambda x, w, b: layer_norm(x, w, b),
            lambda x, w, b: F.layer_norm(x, (64,), w, b),
            grads((8, 64), (64,), (64,)),
        ),
        "rms_norm": (lambda x, w: rms_norm(x, w, None), rms, grads((8, 64), (64,))),
        "cross_entropy": (
            lambda x, t: FusedCrossEntropyLoss()(x, t),
            F.cross_entropy,
            lambda m: (m.normal(9, 120, grad=True), m.integers(0, 120, 9)),
        ),
    }


def _compare(ours: Callable, reference: Callable, make: Make, device: str) -> None:
    first, second = make(Inputs(device)), make(Inputs(device))
    found, expected = ours(*first), reference(*second)
    check(found.float(), expected.float(), 2e-2)
    wanted = [x for x in first if x.requires_grad]
    if wanted:
        weights = torch.cos(torch.arange(found.numel(), device=device).reshape(found.shape))
        others = [x for x in second if x.requires_grad]
        check(
            list(torch.autograd.grad((found.float() * weights).sum(), wanted)),
            list(torch.autograd.grad((expected.float() * weights).sum(), others)),
            5e-2,
        )


#: A minute and more each in the simulator, and what asks for a CUDA tensor.
SLOW = {"cross_entropy", "chunk_gated_delta_rule", "chunk_kda", "parallel_retention", "chunk_gla"}


def cases(device: str) -> list[Case]:
    return [
        Case(
            name,
            lambda o=ours, r=reference, m=make: _compare(o, r, m, device),
            ("cuda",) if name in SLOW else ("cpu", "cuda"),
            300,
        )
        for name, (ours, reference, make) in {**_modules(), **_operations()}.items()
    ]

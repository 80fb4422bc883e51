"""flash-linear-attention: its operations and modules, forward and backward."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F

from .inputs import Make, normal, whole, with_gradients

#: Batch, tokens and heads of a layer of 1.3 to 7 billion parameters; widths of the heads.
SHAPE = (4, 4096, 16)
WIDTH = 128


def _heads(count: int, width: int = WIDTH) -> list[torch.Tensor]:
    return [normal(*SHAPE, width) * 0.3 for _ in range(count)]


def _leaves(*values: torch.Tensor) -> list[torch.Tensor]:
    return [v.detach().bfloat16().requires_grad_() for v in values]


def _decay(*width: int) -> torch.Tensor:
    return F.logsigmoid(normal(*SHAPE, *width, dtype=torch.float32) + 3)


def _unit(x: torch.Tensor) -> torch.Tensor:
    return F.normalize(x, dim=-1)


def rows() -> dict[str, Make]:
    import fla.ops as ops
    from fla.modules.activations import logsigmoid, swiglu, swish
    from fla.modules.convolution import causal_conv1d
    from fla.modules.fused_cross_entropy import FusedCrossEntropyLoss
    from fla.modules.l2norm import l2_norm
    from fla.modules.layernorm import layer_norm, rms_norm
    from fla.modules.rotary import rotary_embedding

    def beta() -> torch.Tensor:
        return normal(*SHAPE).sigmoid()

    def first(function: Callable) -> Callable:
        def run(*args: Any) -> Any:
            result = function(*args)
            return result[0] if isinstance(result, tuple) else result

        return run

    def op(function: Callable, make: Callable[[], list[torch.Tensor]]) -> Make:
        return lambda: with_gradients(first(function), *_leaves(*make()))

    def ruled() -> list[torch.Tensor]:
        q, k, v = _heads(3)
        return [q, _unit(k), v, beta()]

    def gated_rule(*width: int) -> list[torch.Tensor]:
        q, k, v = _heads(3)
        return [q, _unit(k), v, _decay(*width), beta()]

    def wkv() -> list[torch.Tensor]:
        r, k, v, a = _heads(4, 64)
        kk = _unit(k)
        return [r, _decay(64), k, v, -kk, kk * a.sigmoid()]

    operations = {
        # Backward, it refuses Triton 3.6 on Hopper.
        "chunk_simple_gla": lambda: _forward(ops.chunk_simple_gla, [*_heads(3), _decay()]),
        "chunk_gla": op(ops.chunk_gla, lambda: [*_heads(3), _decay(WIDTH)]),
        "chunk_linear_attn": op(
            lambda q, k, v: ops.chunk_linear_attn(q, k, v, normalize=False), lambda: _heads(3)
        ),
        "chunk_retention": op(ops.chunk_retention, lambda: _heads(3)),
        "chunk_delta_rule": op(ops.chunk_delta_rule, ruled),
        "chunk_gated_delta_rule": lambda: _forward(ops.chunk_gated_delta_rule, gated_rule()),
        "chunk_kda": op(ops.chunk_kda, lambda: gated_rule(WIDTH)),
        "fused_recurrent_gla": op(ops.fused_recurrent_gla, lambda: [*_heads(3, 64), _decay(64)]),
        "fused_recurrent_gated_delta_rule": lambda: _forward(
            lambda q, k, v, g, b: ops.fused_recurrent_gated_delta_rule(q, k, v, g=g, beta=b)[0],
            [x[:, :256].contiguous() for x in gated_rule()],
        ),
        "chunk_rwkv7": op(ops.chunk_rwkv7, wkv),
        "parallel_attn": op(ops.parallel_attn, lambda: _heads(3)),
        "parallel_forgetting_attn": op(
            ops.parallel_forgetting_attn, lambda: [*_heads(3, 64), _decay()]
        ),
        "parallel_simple_gla": op(ops.parallel_simple_gla, lambda: [*_heads(3, 64), _decay()]),
    }

    def norm(function: Callable, count: int) -> Make:
        return lambda: with_gradients(
            function,
            normal(8192, 4096, grad=True),
            *(normal(4096, grad=True) for _ in range(count)),
        )

    def plain(function: Callable, *shapes: tuple[int, ...]) -> Make:
        return lambda: with_gradients(function, *(normal(*s, grad=True) for s in shapes))

    operations |= {
        "swiglu 8192x11008": plain(swiglu, (8192, 11008), (8192, 11008)),
        "swish 8192x11008": plain(swish, (8192, 11008)),
        "logsigmoid 8192x4096": plain(logsigmoid, (8192, 4096)),
        "l2_norm 262144x128": plain(l2_norm, (262144, 128)),
        "layer_norm 8192x4096": norm(layer_norm, 2),
        "rms_norm 8192x4096": norm(lambda x, w: rms_norm(x, w, None), 1),
        "cross_entropy 4096x32000": lambda: with_gradients(
            lambda x, t: FusedCrossEntropyLoss()(x, t),
            normal(4096, 32000, grad=True),
            whole(0, 32000, 4096),
        ),
        "causal_conv1d 4x4096x2048": lambda: with_gradients(
            lambda x, w: causal_conv1d(x, w, activation="silu", backend="triton")[0],
            normal(4, 4096, 2048, grad=True),
            normal(2048, 4, grad=True),
        ),
        "rotary 4x4096x16x128": lambda: with_gradients(
            rotary_embedding,
            normal(*SHAPE, WIDTH, grad=True),
            *(normal(SHAPE[1], WIDTH // 2) for _ in ("cos", "sin")),
        ),
    }
    return operations


def _forward(function: Callable, inputs: list[torch.Tensor]) -> Callable:
    values = [x.bfloat16() for x in inputs]
    return lambda: function(*values)

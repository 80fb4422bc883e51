"""What `torch.compile` makes of the parts of models, forward and backward."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F

from .inputs import Make, call, normal, whole, with_gradients


def _rms(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    y = x.float()
    return (y * torch.rsqrt((y * y).mean(-1, keepdim=True) + 1e-6)).to(x.dtype) * w


def _rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    half = x.shape[-1] // 2
    return x * cos + torch.cat([-x[..., half:], x[..., :half]], -1) * sin


def _adam(p: torch.Tensor, g: torch.Tensor, m: torch.Tensor, v: torch.Tensor) -> tuple:
    m = 0.9 * m + 0.1 * g
    v = 0.999 * v + 0.001 * g * g
    return p - 1e-3 * m / (v.sqrt() + 1e-8), m, v


def _quantise(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    scale = x.abs().amax(-1, keepdim=True).float() / 448
    return (x / scale).to(torch.float8_e4m3fn).view(torch.uint8), scale


def rows() -> dict[str, Make]:
    def compiled(function: Callable, grad: bool, *make: Callable[[], torch.Tensor]) -> Make:
        def start():
            torch._dynamo.reset()
            return (with_gradients if grad else call)(torch.compile(function), *(m() for m in make))

        return start

    def x(*shape: int, dtype=torch.bfloat16, grad: bool = True):
        return lambda: normal(*shape, dtype=dtype, grad=grad)

    single = torch.float32
    return {
        "layer_norm residual 8192x4096": compiled(
            lambda x, r, w, b: F.layer_norm(x + r, (4096,), w, b),
            True, x(8192, 4096), x(8192, 4096), x(4096), x(4096),
        ),
        "rms_norm residual 8192x4096": compiled(
            lambda x, r, w: _rms(x + r, w), True, x(8192, 4096), x(8192, 4096), x(4096)
        ),
        "rms_norm 4096x8192": compiled(_rms, True, x(4096, 8192), x(8192)),
        "softmax 8192x4096": compiled(lambda x: x.softmax(-1), True, x(8192, 4096)),
        "softmax 2048x32768": compiled(lambda x: x.softmax(-1), True, x(2048, 32768)),
        "log_softmax 1024x128256": compiled(lambda x: x.log_softmax(-1), False, x(1024, 128256)),
        "var_mean 8192x4096": compiled(
            lambda x: torch.var_mean(x, -1), False, x(8192, 4096, dtype=single, grad=False)
        ),
        "cross_entropy 4096x32768": compiled(
            lambda x, t: F.cross_entropy(x.float(), t), True, x(4096, 32768),
            lambda: whole(0, 32768, 4096),
        ),
        "batch_norm 32x256x56x56": compiled(
            lambda x, w, b: F.batch_norm(x, None, None, w, b, True), True,
            x(32, 256, 56, 56, dtype=single), x(256, dtype=single), x(256, dtype=single),
        ),
        "group_norm 16x320x64x64": compiled(
            lambda x, w, b: F.group_norm(x, 32, w, b), True,
            x(16, 320, 64, 64), x(320), x(320),
        ),
        "gelu 8192x16384": compiled(lambda x: F.gelu(x, approximate="tanh"), True, x(8192, 16384)),
        "swiglu 8192x14336": compiled(
            lambda x, y: F.silu(x) * y, True, x(8192, 14336), x(8192, 14336)
        ),
        "dropout residual 8192x4096": compiled(
            lambda x, r: F.dropout(x, 0.1, True) + r, True, x(8192, 4096), x(8192, 4096)
        ),
        "rope 4x32x2048x128": compiled(
            _rotate, True, x(4, 32, 2048, 128), x(2048, 128, grad=False), x(2048, 128, grad=False)
        ),
        "argmax 8192x8192": compiled(
            lambda x: x.argmax(-1), False, x(8192, 8192, dtype=torch.float16, grad=False)
        ),
        "sum columns 16384x4096": compiled(
            lambda x: x.sum(0), False, x(16384, 4096, dtype=single, grad=False)
        ),
        "sum all 8192x8192": compiled(
            lambda x: x.sum(), False, x(8192, 8192, dtype=single, grad=False)
        ),
        "amax quantise 8192x4096": compiled(_quantise, False, x(8192, 4096, grad=False)),
        "adam 64M": compiled(
            _adam, False, *(x(1 << 26, dtype=single, grad=False) for _ in range(4))
        ),
        "cumsum 4096x8192": compiled(
            lambda x: x.cumsum(-1), False, x(4096, 8192, dtype=single, grad=False)
        ),
        "embedding 16384 of 32000x4096": compiled(
            lambda w, i: F.embedding(i, w), True, x(32000, 4096), lambda: whole(0, 32000, 16384)
        ),
        "transpose add 8192x8192": compiled(
            lambda x, y: x.t() + y, False, x(8192, 8192), x(8192, 8192)
        ),
        "cat 2 of 8192x4096": compiled(
            lambda x, y: torch.cat([x, y * 2], -1), False, x(8192, 4096), x(8192, 4096)
        ),
        "max_pool 32x64x112x112": compiled(
            lambda x: F.max_pool2d(x, 3, 2, 1), False, x(32, 64, 112, 112, grad=False)
        ),
        "upsample 16x256x64x64": compiled(
            lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"), False,
            x(16, 256, 64, 64, grad=False),
        ),
    }  # fmt: skip

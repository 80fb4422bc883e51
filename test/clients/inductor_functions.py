"""The functions that torch.compile is given, and the arguments they are called with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from cases import Inputs

Function = Callable[..., Any]


def functions() -> dict[str, tuple[Function, Callable[[Inputs], tuple]]]:
    """What is compiled, and the arguments it is called with."""

    def one(*shape: int, **how: Any) -> Callable[[Inputs], tuple]:
        return lambda make: (make.normal(*shape, **how),)

    def two(*shape: int, **how: Any) -> Callable[[Inputs], tuple]:
        return lambda make: (make.normal(*shape, **how), make.normal(*shape, **how))

    def whole(low: int, high: int, *shape: int, **how: Any) -> Callable[[Inputs], tuple]:
        return lambda make: (
            make.integers(low, high, *shape, **how), make.integers(1, high, *shape, **how),
        )  # fmt: skip

    half = torch.float16
    brain = torch.bfloat16
    return {
        # Pointwise.
        "add": (lambda x, y: x + y, two(1000)),
        "broadcast": (
            lambda x, y: x[:, None] * y[None, :] + 1,
            lambda m: (m.normal(37), m.normal(53)),
        ),
        "gelu": (lambda x: F.gelu(x), one(700)),
        "gelu_tanh": (lambda x: F.gelu(x, approximate="tanh"), one(700)),
        "silu_mul": (lambda x, y: F.silu(x) * y, two(17, 45, dtype=half)),
        "where": (lambda x, y: torch.where(x > y, x, y * 2), two(511)),
        "clamp_bf16": (lambda x: x.clamp(-0.5, 0.5) + 1, one(300, dtype=brain)),
        "transcendentals": (
            lambda x: (
                torch.sin(x)
                + torch.exp(-x.abs())
                + torch.erf(x)
                + torch.atan2(x, x + 1)
                + torch.expm1(x)
            ),
            one(600),
        ),
        "special": (lambda x: torch.lgamma(x.abs() + 1) + torch.digamma(x.abs() + 1), one(200)),
        "pow": (lambda x: x.abs() ** 1.7 + x**3, one(300)),
        "rounding": (
            lambda x: torch.stack(
                [torch.floor(x * 3), torch.ceil(x * 3), torch.round(x * 3), torch.trunc(x * 3)]
            ),
            one(200),
        ),
        "isnan_isinf": (lambda x: torch.isnan(1 / x) | torch.isinf(1 / (x - x)), one(200)),
        "integers": (lambda x, y: (x * 7 + y) % 13 - x // y, whole(-100, 100, 400)),
        "int32_bits": (
            lambda x, y: (x & y) | (x ^ 5) << 2 >> 1,
            whole(0, 1000, 300, dtype=torch.int32),
        ),
        "int8_arithmetic": (lambda x, y: x * y + x, whole(-50, 50, 300, dtype=torch.int8)),
        "uint8_to_float": (lambda x, y: x.float() / 255 + y, whole(0, 255, 300, dtype=torch.uint8)),
        "bool_logic": (lambda x, y: (x > 0) & ~(y > 0) ^ (x > y), two(200)),
        "float64": (lambda x, y: torch.sqrt(x * x + y * y), two(200, dtype=torch.float64)),
        "complex": (
            lambda x, y: torch.view_as_real(torch.complex(x, y) * torch.complex(y, x)),
            two(100),
        ),
        "fp8_cast": (lambda x: x.to(torch.float8_e4m3fn).float() * 2, one(256)),
        "transpose": (lambda x: x.t().contiguous() + 1, one(67, 35)),
        "permute_cat": (
            lambda x, y: torch.cat([x.permute(2, 0, 1), y.permute(2, 0, 1)], 1),
            two(5, 7, 9),
        ),
        "slice_stride": (lambda x: x[::2, 3:11] * 2, one(31, 17)),
        "pad": (lambda x: F.pad(x, (2, 3), value=1.5), one(9, 20)),
        "roll_flip": (lambda x: torch.roll(x, 3, 1) + x.flip(0), one(8, 30)),
        "tril_triu": (lambda x: x.tril(1) + x.triu(-2) * 2, one(24, 24)),
        "arange_index": (
            lambda x: x + torch.arange(x.shape[0], device=x.device)[:, None],
            one(16, 40),
        ),
        "one_hot": (lambda x, y: F.one_hot(x, 11).float(), whole(0, 11, 30)),
        # Reductions.
        "sum_rows": (lambda x: x.sum(1), one(33, 257)),
        "sum_columns": (lambda x: x.sum(0), one(257, 33)),
        "sum_all": (lambda x: x.sum(), one(5000)),
        "mean_half": (lambda x: x.mean(-1), one(20, 300, dtype=half)),
        "max_min": (lambda x: (x.max(1), x.min(1)), one(19, 130)),
        "amax_nan": (lambda x: torch.where(x > 2.3, float("nan"), x).amax(1), one(19, 130)),
        "argmax": (lambda x: (x.argmax(1), x.argmin(0)), one(25, 77)),
        "prod": (lambda x: (x.abs() * 0.1 + 0.95).prod(1), one(10, 60)),
        "any_all": (lambda x: ((x > 2).any(1), (x > -4).all(0)), one(21, 90)),
        "var_std": (lambda x: (x.var(1), x.std(1)), one(13, 200)),
        "norm": (lambda x: (x.norm(dim=1), torch.linalg.vector_norm(x, 3, dim=1)), one(13, 200)),
        "logsumexp": (lambda x: torch.logsumexp(x, 1), one(14, 150)),
        "count_nonzero": (lambda x: (x > 0.5).sum(0), one(60, 20)),
        "int_sum": (lambda x, y: (x.sum(1), y.amax(1)), whole(-9, 9, 12, 200)),
        "outer_softmax": (lambda x: F.softmax(x, 0), one(40, 12)),
        "softmax": (lambda x: F.softmax(x, -1), one(11, 333)),
        "log_softmax_half": (lambda x: F.log_softmax(x.float(), -1), one(11, 100, dtype=half)),
        "masked_softmax": (
            lambda x: F.softmax(x.masked_fill(torch.ones_like(x).triu(1) > 0, float("-inf")), -1),
            one(24, 24),
        ),
        "cross_entropy": (
            lambda x, t: F.cross_entropy(x, t),
            lambda m: (m.normal(30, 90), m.integers(0, 90, 30)),
        ),
        "mse_huber": (lambda x, y: (F.mse_loss(x, y), F.huber_loss(x, y)), two(500)),
        # Normalisation.
        "layer_norm": (
            lambda x, w, b: F.layer_norm(x, (96,), w, b),
            lambda m: (m.normal(15, 96), m.normal(96), m.normal(96)),
        ),
        "rms_norm": (
            lambda x, w: x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * w,
            lambda m: (m.normal(15, 130), m.normal(130)),
        ),
        "batch_norm": (
            lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True),
            lambda m: (m.normal(6, 8, 9), m.normal(8), m.normal(8)),
        ),
        "group_norm": (
            lambda x, w, b: F.group_norm(x, 4, w, b),
            lambda m: (m.normal(3, 8, 21), m.normal(8), m.normal(8)),
        ),
        # Scans and sorting.
        "cumsum": (lambda x: torch.cumsum(x, 1), one(9, 100)),
        "cumprod": (lambda x: torch.cumprod(x.abs() * 0.1 + 0.95, 1), one(9, 60)),
        "cummax": (lambda x: torch.cummax(x, 1), one(9, 60)),
        "logcumsumexp": (lambda x: torch.logcumsumexp(x, 1), one(9, 60)),
        "sort": (lambda x: torch.sort(x, 1), one(9, 64)),
        "sort_descending": (
            lambda x: torch.sort(x, dim=1, descending=True, stable=True),
            one(9, 50),
        ),
        "topk": (lambda x: torch.topk(x, 5, 1).values, one(9, 64)),
        # Indirect accesses.
        "embedding": (
            lambda w, i: F.embedding(i, w),
            lambda m: (m.normal(50, 16), m.integers(0, 50, 4, 7)),
        ),
        "gather": (
            lambda x, i: x.gather(1, i),
            lambda m: (m.normal(10, 30), m.integers(0, 30, 10, 8)),
        ),
        "scatter_add": (
            lambda x, i, s: x.scatter_add(0, i, s),
            lambda m: (m.normal(20, 6), m.integers(0, 20, 33, 6), m.normal(33, 6)),
        ),
        "index_put": (
            lambda x, i, v: x.index_put((i,), v, accumulate=True),
            lambda m: (m.normal(20, 6), m.integers(0, 20, 15), m.normal(15, 6)),
        ),
        "index_select": (
            lambda x, i: x.index_select(0, i) * 2,
            lambda m: (m.normal(20, 6), m.integers(0, 20, 9)),
        ),
        "bucketize": (
            lambda x: torch.bucketize(x, torch.linspace(-2, 2, 17, device=x.device)),
            one(300),
        ),
        "searchsorted": (
            lambda b, x: torch.searchsorted(b, x),
            lambda m: (m.normal(40).sort().values, m.normal(60)),
        ),
        "histogram": (lambda x, y: torch.bincount(x, minlength=9), whole(0, 9, 100)),
        # Pooling and resampling.
        "max_pool": (lambda x: F.max_pool2d(x, 3, 2, 1), one(2, 3, 13, 15)),
        "avg_pool": (lambda x: F.avg_pool2d(x, 2), one(2, 3, 12, 14)),
        "adaptive_pool": (lambda x: F.adaptive_avg_pool2d(x, 4), one(2, 3, 12, 16)),
        "interpolate": (
            lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"),
            one(1, 2, 6, 7),
        ),
        "unfold": (lambda x: F.unfold(x, 3), one(1, 2, 8, 8)),
        # Random numbers.
        "dropout": (lambda x: F.dropout(x, 0.5).ne(0).logical_or(x.eq(0)).sum() > 0, one(1000)),
        # In place, and several outputs.
        "in_place": (lambda x, y: (x.clone().add_(y).mul_(2), y - 1), two(100)),
        "many_outputs": (lambda x: (x + 1, x * 2, x.sum(0), x.sum(1), x.relu()), one(20, 30)),
        "fused_adam": (
            lambda p, g, m, v: (
                p - 1e-3 * (0.9 * m + 0.1 * g) / (torch.sqrt(0.99 * v.abs() + 0.01 * g * g) + 1e-8),
                0.9 * m + 0.1 * g,
            ),
            lambda m: tuple(m.normal(300) for _ in range(4)),
        ),
        # Matrix products beside pointwise work.
        "linear_relu": (
            lambda x, w, b: F.relu(F.linear(x, w, b)),
            lambda m: (m.normal(20, 24), m.normal(16, 24), m.normal(16)),
        ),
        "attention": (
            lambda q, k, v: torch.softmax(q @ k.transpose(-1, -2) * 0.25, -1) @ v,
            lambda m: tuple(m.normal(2, 3, 20, 16) for _ in range(3)),
        ),
    }

"""Liger-Kernel, forward and backward, at the widths of Llama 3, Qwen 3 and Gemma."""

from __future__ import annotations

import torch

from .inputs import Make, normal, uniform, whole, with_gradients


def _logs(rows: int, columns: int) -> list[torch.Tensor]:
    first, second = (normal(rows, columns, dtype=torch.float32).log_softmax(-1) for _ in "ab")
    return [first.detach().requires_grad_(), second]


def _angles(length: int, width: int) -> list[torch.Tensor]:
    angles = uniform(1, length, width // 2) * 3
    angles = torch.cat([angles, angles], -1)
    return [angles.cos().bfloat16(), angles.sin().bfloat16()]


def rows() -> dict[str, Make]:
    import liger_kernel.transformers.functional as liger

    def norm(function, rows: int, columns: int, *more):
        return lambda: with_gradients(
            function, normal(rows, columns, grad=True), normal(columns, grad=True), *more
        )

    def two(function, rows: int, columns: int):
        return lambda: with_gradients(
            function, normal(rows, columns, grad=True), normal(rows, columns, grad=True)
        )

    def logits(rows: int, columns: int, **more):
        return lambda: with_gradients(
            lambda x, t: liger.liger_cross_entropy(x.clone(), t, **more),
            normal(rows, columns, grad=True),
            whole(0, columns, rows),
        )

    def pair(function, rows: int, columns: int):
        return lambda: with_gradients(function, *_logs(rows, columns))

    return {
        "rms_norm 8192x4096": norm(liger.liger_rms_norm, 8192, 4096, 1e-6),
        "rms_norm 8192x8192": norm(liger.liger_rms_norm, 8192, 8192, 1e-6),
        "rms_norm 16384x128": norm(liger.liger_rms_norm, 16384 * 8, 128, 1e-6),
        "rms_norm gemma 8192x3584": norm(liger.liger_rms_norm, 8192, 3584, 1e-6, 1.0, "gemma"),
        "fused_add_rms_norm 8192x4096": lambda: with_gradients(
            lambda x, r, w: liger.liger_fused_add_rms_norm(x, r, w, 1e-6),
            *(normal(8192, 4096, grad=True) for _ in "xr"),
            normal(4096, grad=True),
        ),
        "layer_norm 8192x4096": lambda: with_gradients(
            lambda x, w, b: liger.liger_layer_norm(x, w, b, 1e-5),
            normal(8192, 4096, grad=True),
            *(normal(4096, grad=True) for _ in "wb"),
        ),
        "group_norm 32x320x64x64": lambda: with_gradients(
            lambda x, w, b: liger.liger_group_norm(x, w, b, 320, 32, 1e-5),
            normal(32, 320, 4096, dtype=torch.float32, grad=True),
            *(normal(320, dtype=torch.float32, grad=True) for _ in "wb"),
        ),
        "poly_norm 8192x4096": lambda: with_gradients(
            liger.liger_poly_norm,
            normal(8192, 4096, grad=True),
            normal(3, grad=True),
            normal(grad=True),
        ),
        "dyt 8192x4096": lambda: with_gradients(
            liger.liger_dyt,
            normal(8192, 4096, grad=True),
            normal(1, grad=True),
            *(normal(4096, grad=True) for _ in "gb"),
        ),
        "geglu 8192x14336": two(liger.liger_geglu, 8192, 14336),
        "swiglu 8192x14336": two(liger.liger_swiglu, 8192, 14336),
        "swiglu 8192x28672": two(liger.liger_swiglu, 4096, 28672),
        "relu_squared 8192x14336": lambda: with_gradients(
            liger.liger_relu_squared, normal(8192, 14336, grad=True)
        ),
        "softmax 8192x4096": lambda: with_gradients(
            liger.liger_softmax, normal(8192, 4096, grad=True)
        ),
        "softmax 2048x32768": lambda: with_gradients(
            liger.liger_softmax, normal(2048, 32768, grad=True)
        ),
        "sparsemax 2048x4096": lambda: with_gradients(
            liger.liger_sparsemax, normal(2048, 4096, dtype=torch.float32, grad=True)
        ),
        "cross_entropy 4096x32768": logits(4096, 32768),
        "cross_entropy 2048x128256": logits(2048, 128256),
        "cross_entropy smoothed 2048x151936": logits(2048, 151936, label_smoothing=0.1),
        "cross_entropy softcap 2048x32768": logits(2048, 32768, softcap=30.0),
        "fused_linear_cross_entropy 4096x4096x32768": lambda: with_gradients(
            liger.liger_fused_linear_cross_entropy,
            normal(4096, 4096, grad=True),
            (normal(32768, 4096) * 0.02).detach().requires_grad_(),
            whole(0, 32768, 4096),
        ),
        "kl_div 2048x32768": pair(
            lambda x, y: liger.liger_kl_div(x, y.exp(), reduction="batchmean"), 2048, 32768
        ),
        "jsd 2048x32768": pair(lambda x, y: liger.liger_jsd(x, y, beta=0.3), 2048, 32768),
        "tvd 2048x32768": pair(
            lambda x, y: liger.liger_tvd(x.exp(), y.exp(), reduction="batchmean"), 2048, 32768
        ),
        "rope 4x32x2048x128": lambda: with_gradients(
            liger.liger_rope,
            normal(4, 32, 2048, 128, grad=True),
            normal(4, 8, 2048, 128, grad=True),
            *_angles(2048, 128),
        ),
    }

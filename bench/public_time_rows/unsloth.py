"""unsloth's kernels, at the widths of Llama 3 8B and Gemma 2 9B."""

from __future__ import annotations

import importlib
from types import SimpleNamespace
from typing import Any

import torch

from .inputs import Make, call, normal, uniform, whole, with_gradients


def _kernels(module: str) -> Any:
    return importlib.import_module(f"unsloth.kernels.{module}")


def _angles(length: int, width: int) -> list[torch.Tensor]:
    angles = uniform(length, width // 2) * 3
    angles = torch.cat([angles, angles], -1)
    return [angles.cos().bfloat16(), angles.sin().bfloat16()]


def rows() -> dict[str, Make]:
    import unsloth_kernels as client

    client.configure("cuda")

    def rms(gemma: bool, columns: int) -> Make:
        def make():
            norm = SimpleNamespace(weight=normal(columns), variance_epsilon=1e-6, eps=1e-6)
            function = _kernels("rms_layernorm").fast_rms_layernorm
            return with_gradients(
                lambda x: function(norm, x, gemma), normal(4, 2048, columns, grad=True)
            )

        return make

    def gate(module: str, name: str) -> Make:
        return lambda: call(
            getattr(_kernels(module), name), normal(4, 2048, 14336), normal(4, 2048, 14336)
        )

    def gate_backward(module: str, name: str) -> Make:
        def make():
            function = getattr(_kernels(module), name)
            given = [normal(8192, 14336) for _ in range(3)]
            return lambda: function(*(x.clone() for x in given))

        return make

    return {
        "rms_norm 8192x4096": rms(False, 4096),
        "rms_norm gemma 8192x3584": rms(True, 3584),
        "swiglu 8192x14336": gate("swiglu", "swiglu_fg_kernel"),
        "swiglu backward 8192x14336": gate_backward("swiglu", "swiglu_DWf_DW_dfg_kernel"),
        "geglu exact 8192x14336": gate("geglu", "geglu_exact_forward_kernel"),
        "geglu exact backward": gate_backward("geglu", "geglu_exact_backward_kernel"),
        "geglu approx 8192x14336": gate("geglu", "geglu_approx_forward_kernel"),
        "geglu approx backward": gate_backward("geglu", "geglu_approx_backward_kernel"),
        "cross_entropy 2048x128256": lambda: with_gradients(
            lambda x, t: _kernels("cross_entropy_loss").fast_cross_entropy_loss(x * 1.0, t),
            normal(1, 2048, 128256, grad=True),
            whole(0, 128256, 1, 2048),
        ),
        "cross_entropy 4096x32000": lambda: with_gradients(
            lambda x, t: _kernels("cross_entropy_loss").fast_cross_entropy_loss(x * 1.0, t),
            normal(2, 2048, 32000, grad=True),
            whole(0, 32000, 2, 2048),
        ),
        "rope 4x32x2048x128": lambda: call(
            lambda q, k, c, s: _kernels("rope_embedding").fast_rope_embedding(
                q.clone(), k.clone(), c, s
            ),
            normal(4, 32, 2048, 128),
            normal(4, 8, 2048, 128),
            *_angles(2048, 128),
        ),
    }

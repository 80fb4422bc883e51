"""The kernels of NVIDIA's apex that are written in Triton (`apex.contrib.openfold_triton`)."""

from __future__ import annotations

import contextlib
import importlib
import os
from collections.abc import Callable
from typing import Any

import pretend
import torch
from cases import Case, Inputs, check

PACKAGE = "apex"


def configure(device: str) -> None:
    # Its optimizer reads a global table in a kernel.
    os.environ["TRITON_ALLOW_NON_CONSTEXPR_GLOBALS"] = "1"
    if device == "cpu":
        pretend.a_gpu_is_there()
        pretend.its_tensors_are_here()


def _module(name: str) -> Any:
    return importlib.import_module(f"apex.contrib.openfold_triton{name}")


def _gradients(out: torch.Tensor, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
    weights = torch.cos(torch.arange(out.numel(), device=out.device)).reshape(out.shape)
    return torch.autograd.grad(out, inputs, weights.to(out.dtype))


def _layer_norm(shape: tuple[int, ...], strided: bool) -> Callable[[str], None]:
    def run(device: str) -> None:
        make = Inputs(device)
        x = make.normal(*shape)
        x = (x.transpose(1, 2) if strided else x).requires_grad_()
        columns = x.shape[-1]
        weight, bias = make.normal(columns, grad=True), make.normal(columns, grad=True)
        apply = _module("").LayerNormSmallShapeOptImpl.apply
        found = apply(x, (columns,), weight, bias, 1e-5)
        expected = torch.nn.functional.layer_norm(x, (columns,), weight, bias, 1e-5)
        check(found, expected, 1e-4)
        parts = x, weight, bias
        check(_gradients(found, *parts), _gradients(expected, *parts), 1e-3)

    return run


def _reference(q: Any, k: Any, v: Any, mask: Any, bias: Any) -> torch.Tensor:
    scores = (q @ k.transpose(-1, -2)) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores + (mask - 1.0) * 1e9
    if bias is not None:
        scores = scores + bias
    return torch.softmax(scores, -1) @ v


def _attention(masked: bool, biased: bool) -> Callable[[str], None]:
    def run(device: str) -> None:
        make = Inputs(device)
        batch, heads, length, size = 2, 2, 128, 32
        half = torch.float16
        shape = 1, batch, heads, length, size
        parts = [(0.5 * make.normal(*shape)).to(half).requires_grad_() for _ in range(3)]
        bias = mask = None
        if biased:
            bias = (0.5 * make.normal(1, 1, heads, length, length)).to(half).requires_grad_()
        if masked:
            mask = (make.normal(1, batch, 1, 1, length) > 0).to(half)
        found = _module("").AttnTri(*parts, mask, bias, 1e9, True)
        wide = [part.detach().float().requires_grad_() for part in parts]
        other = bias.detach().float().requires_grad_() if biased else None
        expected = _reference(*wide, mask if mask is None else mask.float(), other)
        check(found.float(), expected, 1e-2)
        ours, theirs = [*parts, *[bias] * biased], [*wide, *[other] * biased]
        if biased and device == "cpu":  # Its backward pass asks for a bias on a GPU.
            return
        for a, b in zip(_gradients(found, *ours), _gradients(expected, *theirs), strict=True):
            check(a.float().reshape(b.shape), b, 2e-2)

    return run


def _reachable(optimizer: Any, *lists: Any) -> Any:
    """Its kernel is given tables of addresses: the simulator must be told of the tensors there."""
    if not optimizer._pointer_buffers_initialized:
        optimizer._build_pointer_buffers()
    moments = [m for state in optimizer.state.values() for m in state.values()]
    tensors = [t.detach() for part in lists for t in part]
    grads = [c.grad for part in lists for c in part if c.grad is not None]
    try:
        from tile.sim import reachable
    except ModuleNotFoundError:  # With Triton.
        return contextlib.nullcontext()
    return reachable(*tensors, *grads, *moments)


def _adam_with_averages(decay: float, averaged: int, compute: Any, state: Any) -> Callable:
    def run(device: str) -> None:
        swa = _module(".fused_adam_swa")
        make = Inputs(device)
        sizes = 7, 128, 300, 1000
        states = [make.normal(n, dtype=state) for n in sizes]
        grads = [make.normal(n, dtype=compute) for n in sizes]
        expected = [p.clone().requires_grad_() for p in states]
        adam = torch.optim.Adam(expected, lr=1e-2, betas=(0.8, 0.9), eps=1e-6, weight_decay=1e-3)
        parameters = [torch.nn.Parameter(p.clone()) for p in states]
        narrow = [p.to(compute) for p in states]
        averages = [make.normal(n, dtype=state) for n in sizes]
        means = [p.clone() for p in averages]
        optimizer = swa.FusedAdamSWA(
            parameters, narrow, averages, decay, lr=1e-2, betas=(0.8, 0.9), eps=1e-6,
            weight_decay=1e-3, adam_math_mode=swa.AdamMathType.PyTorchAdam,
        )  # fmt: skip
        optimizer.swa_param_groups[0]["n_averaged"] = averaged
        for step in range(2):
            for p, c, g in zip(expected, narrow, grads, strict=True):
                p.grad, c.grad = g.to(state) * (step + 1), g * (step + 1)
            adam.step()
            with _reachable(optimizer, parameters, narrow, averages):
                optimizer.step()
            for i, p in enumerate(expected):
                new = p.detach()
                first = averaged + step == 0
                means[i] = new.clone() if first else means[i] + (1 - decay) * (new - means[i])
        tolerance = 1e-5
        check([p.detach() for p in parameters], [p.detach() for p in expected], tolerance)
        check(averages, means, tolerance)
        check(narrow, [p.detach().to(compute) for p in expected], 1e-2)

    return run


def cases(device: str) -> list[Case]:
    runs: dict[str, Callable[[str], None]] = {
        # Its variances are right for powers of two alone.
        "layer_norm": _layer_norm((3, 50, 128), False),
        "layer_norm_of_short_rows": _layer_norm((7, 16), False),
        "layer_norm_strided": _layer_norm((2, 6, 10, 64), True),
        "attention": _attention(False, False),
        "attention_with_mask": _attention(True, False),
        "attention_with_mask_and_bias": _attention(True, True),
        "adam": _adam_with_averages(0.9, 0, torch.float32, torch.float32),
        "adam_averaged": _adam_with_averages(0.9, 3, torch.bfloat16, torch.float32),
        "adam_of_doubles": _adam_with_averages(0.75, 1, torch.float32, torch.float64),
    }
    return [Case(name, lambda run=run: run(device)) for name, run in runs.items()]

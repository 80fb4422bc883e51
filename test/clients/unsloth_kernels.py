"""unsloth's kernels, without the rest of unsloth, which wants to load a model first."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import tempfile
import types
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pretend
import torch
import torch.nn.functional as F
from cases import Case, Inputs, check

PACKAGE = "unsloth"


def configure(device: str) -> None:
    # Where it writes what it makes up on import; by default into the current folder.
    os.environ.setdefault("UNSLOTH_COMPILE_LOCATION", tempfile.mkdtemp(prefix="unsloth-"))
    if device == "cpu":
        pretend.a_gpu_is_there()
        torch.cuda.is_available = lambda: True
        torch._C._cuda_getCurrentRawStream = lambda device: 0
    for name in ("unsloth", "unsloth.kernels", "unsloth_zoo"):
        _without_init(name)
    sys.modules["unsloth_zoo"].DEVICE_TYPE = "cuda"
    sys.modules["unsloth_zoo"].DEVICE_TYPE_TORCH = "cuda"


def _without_init(name: str) -> None:
    """A package whose modules can be imported without running its own first."""
    parent, _, last = name.rpartition(".")
    if parent:
        folder = os.path.join(sys.modules[parent].__path__[0], last)
    else:
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            raise ModuleNotFoundError(name, name=name)
        folder = os.path.dirname(spec.origin)
    package = types.ModuleType(name)
    package.__path__ = [folder]
    sys.modules[name] = package


def _kernels(module: str) -> Any:
    return importlib.import_module(f"unsloth.kernels.{module}")


def _rms_norm(gemma: bool) -> Callable[[str], None]:
    def run(device: str) -> None:
        def inputs() -> tuple[torch.Tensor, torch.Tensor]:
            make = Inputs(device)
            return make.normal(2, 9, 64, grad=True), make.normal(64)

        x, w = inputs()
        norm = SimpleNamespace(weight=w, variance_epsilon=1e-6, eps=1e-6)
        found = _kernels("rms_layernorm").fast_rms_layernorm(norm, x, gemma)
        y, v = inputs()
        expected = y * torch.rsqrt((y * y).mean(-1, keepdim=True) + 1e-6) * (v + gemma)
        check(found, expected, 1e-3)
        weights = torch.cos(torch.arange(found.numel(), device=device).reshape(found.shape))
        (grad,) = torch.autograd.grad((found * weights).sum(), x)
        (other,) = torch.autograd.grad((expected * weights).sum(), y)
        check(grad, other, 2e-3)

    return run


def _swiglu(device: str) -> None:
    make = Inputs(device)
    e, g = make.normal(2, 9, 64), make.normal(2, 9, 64)
    check(_kernels("swiglu").swiglu_fg_kernel(e, g), F.silu(e) * g, 1e-3)


def _geglu(approximate: str) -> Callable[[str], None]:
    def run(device: str) -> None:
        make = Inputs(device)
        gate, up = make.normal(2, 9, 64), make.normal(2, 9, 64)
        name = "geglu_exact_forward_kernel" if approximate == "none" else (
            "geglu_approx_forward_kernel"
        )  # fmt: skip
        found = getattr(_kernels("geglu"), name)(gate, up)
        check(found, F.gelu(gate, approximate=approximate) * up, 1e-3)

    return run


def _cross_entropy(device: str) -> None:
    def inputs() -> tuple[torch.Tensor, torch.Tensor]:
        make = Inputs(device)
        return make.normal(2, 7, 150, grad=True), make.integers(0, 150, 2, 7)

    x, t = inputs()
    found = _kernels("cross_entropy_loss").fast_cross_entropy_loss(x * 1.0, t)
    y, u = inputs()
    expected = F.cross_entropy(y.view(-1, 150), u.view(-1))
    check(found, expected, 1e-3)
    check(torch.autograd.grad(found, x), torch.autograd.grad(expected, y), 1e-3)


def _rope(device: str) -> None:
    make = Inputs(device)
    q, k = make.normal(2, 4, 8, 32), make.normal(2, 2, 8, 32)
    angles = make.uniform(8, 16) * 3
    cos, sin = torch.cat([angles, angles], -1).cos(), torch.cat([angles, angles], -1).sin()

    def rotate(x: torch.Tensor) -> torch.Tensor:
        return x * cos + torch.cat([-x[..., 16:], x[..., :16]], -1) * sin

    expected = rotate(q), rotate(k)
    found = _kernels("rope_embedding").fast_rope_embedding(q.clone(), k.clone(), cos, sin)
    check(found, expected, 1e-3)


def cases(device: str) -> list[Case]:
    runs = {
        "rms_norm": _rms_norm(False), "rms_norm_gemma": _rms_norm(True), "swiglu": _swiglu,
        "geglu_exact": _geglu("none"), "geglu_approx": _geglu("tanh"),
        "cross_entropy": _cross_entropy, "rope": _rope,
    }  # fmt: skip
    return [Case(name, lambda r=run: r(device)) for name, run in runs.items()]

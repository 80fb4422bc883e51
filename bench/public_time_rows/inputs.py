"""What rows are made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

Run = Callable[[], Any]
Make = Callable[[], Run]


def normal(*shape: int, dtype: Any = torch.bfloat16, grad: bool = False) -> torch.Tensor:
    value = torch.randn(shape, device="cuda", dtype=torch.float32).to(dtype)
    return value.requires_grad_(grad)


def uniform(*shape: int, dtype: Any = torch.float32) -> torch.Tensor:
    return torch.rand(*shape, device="cuda").to(dtype)


def whole(low: int, high: int, *shape: int, dtype: Any = torch.int64) -> torch.Tensor:
    return torch.randint(low, high, shape, device="cuda", dtype=dtype)


def call(function: Callable, *args: Any, **kwargs: Any) -> Run:
    """The operation alone."""
    return lambda: function(*args, **kwargs)


def wave(like: torch.Tensor) -> torch.Tensor:
    """Other than of ones, the gradients that norms and softmax have of it are not zero."""
    count = torch.arange(like.numel(), device=like.device, dtype=torch.float32)
    return torch.cos(count).view(like.shape).to(like.dtype)


def with_gradients(function: Callable, *args: Any, **kwargs: Any) -> Run:
    """The operation and its gradients, of a fixed weighting of the results."""
    waves: dict[int, torch.Tensor] = {}
    wanted = [a for a in args if isinstance(a, torch.Tensor) and a.requires_grad]

    def run() -> Any:
        results = function(*args, **kwargs)
        results = results if isinstance(results, (tuple, list)) else (results,)
        out = [r for r in results if isinstance(r, torch.Tensor) and r.requires_grad]
        weights = [
            waves[i] if i in waves else waves.setdefault(i, wave(r)) for i, r in enumerate(out)
        ]
        return [*out, *torch.autograd.grad(out, wanted, weights, allow_unused=True)]

    return run

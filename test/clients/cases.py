"""What a client's driver is made of: cases, and how a result is compared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch


@dataclass(frozen=True)
class Case:
    """One thing that a client does, against the same thing done by torch."""

    name: str
    #: Raises where the client fails or its result is wrong.
    run: Callable[[], None]
    #: Where it makes sense: "cpu" is the simulator.
    devices: tuple[str, ...] = ("cpu", "cuda")
    #: Seconds until it counts as failed.
    limit: int = 120


@dataclass
class Inputs:
    """Random inputs, the same for each run; tests say which they need."""

    device: str
    generator: torch.Generator = field(init=False)

    def __post_init__(self) -> None:
        self.generator = torch.Generator().manual_seed(0)

    def normal(self, *shape: int, dtype: Any = torch.float32, grad: bool = False) -> torch.Tensor:
        value = torch.randn(shape, generator=self.generator).to(dtype).to(self.device)
        return value.requires_grad_(grad)

    def uniform(self, *shape: int, dtype: Any = torch.float32) -> torch.Tensor:
        return torch.rand(shape, generator=self.generator).to(dtype).to(self.device)

    def integers(self, low: int, high: int, *shape: int, dtype: Any = torch.int64) -> torch.Tensor:
        value = torch.randint(low, high, shape, generator=self.generator)
        return value.to(dtype).to(self.device)


def flat(value: Any) -> list[Any]:
    """The tensors in a result, in order."""
    if isinstance(value, (tuple, list)):
        return [item for part in value for item in flat(part)]
    if isinstance(value, dict):
        return [item for part in value.values() for item in flat(part)]
    return [] if value is None else [value]


def check(found: Any, expected: Any, tolerance: float | None = None) -> None:
    """Raises unless all tensors agree, in shape, type and value."""
    found, expected = flat(found), flat(expected)
    assert len(found) == len(expected), f"{len(found)} results, expected {len(expected)}"
    for a, b in zip(found, expected, strict=True):
        if not isinstance(a, torch.Tensor):
            assert a == b, f"found {a}, expected {b}"
            continue
        bounds = {} if tolerance is None else {"rtol": tolerance, "atol": tolerance}
        torch.testing.assert_close(a, b, equal_nan=True, **bounds)

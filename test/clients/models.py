"""torch.compile over small whole models, forward and backward."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from cases import Case, check
from inductor import configure as configure
from torch import nn

PACKAGE = "torch"


class TransformerBlock(nn.Module):
    """Attention and a gated MLP, each after a norm."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.RMSNorm(width)])
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 8 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        qkv = self.qkv(self.norms[0](x)).view(batch, length, 3, self.heads, -1)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-1, -2) / (width // self.heads) ** 0.5
        ahead = torch.ones(length, length, device=x.device, dtype=torch.bool).triu(1)
        attention = torch.softmax(scores.masked_fill(ahead, float("-inf")).float(), -1).to(x.dtype)
        x = x + self.out((attention @ v).transpose(1, 2).reshape(batch, length, width))
        gate, value = self.up(self.norms[1](x)).chunk(2, -1)
        return x + self.down(F.silu(gate) * value)


class ConvNet(nn.Module):
    """Convolutions, batch norms, pooling and a classifier."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, padding=1), nn.BatchNorm2d(16), nn.GELU(), nn.AdaptiveAvgPool2d(2),
        )  # fmt: skip
        self.head = nn.Linear(64, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.body(x).flatten(1)).log_softmax(-1)


class StateSpace(nn.Module):
    """A diagonal linear recurrence over the sequence, by a scan."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.decay = nn.Parameter(torch.linspace(-1, 1, width))
        self.inner, self.outer = nn.Linear(width, 2 * width), nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        u, gate = self.inner(x).chunk(2, -1)
        steps = torch.arange(x.shape[1], device=x.device, dtype=x.dtype)[:, None]
        decay = torch.sigmoid(self.decay) * 0.1
        states = torch.cumsum(u * torch.exp(decay * steps), 1) * torch.exp(-decay * steps)
        return self.outer(states * torch.sigmoid(gate))


def _models() -> dict[str, tuple[nn.Module, tuple[int, ...]]]:
    torch.manual_seed(0)
    return {
        "transformer_block": (TransformerBlock(64, 4), (2, 24, 64)),
        "conv_net": (ConvNet(), (4, 3, 16, 16)),
        "state_space": (StateSpace(32), (2, 40, 32)),
    }


def step(model: nn.Module, x: torch.Tensor) -> list[torch.Tensor]:
    model.zero_grad()
    result = model(x)
    (result.float() ** 2).mean().backward()
    return [result, *(p.grad.clone() for p in model.parameters())]


def _compare(name: str, device: str) -> None:
    model, shape = _models()[name]
    model = model.to(device)
    x = torch.randn(shape, generator=torch.Generator().manual_seed(1)).to(device)
    expected = step(model, x)
    torch._dynamo.reset()
    check(step(torch.compile(model), x), expected, 2e-3)


def cases(device: str) -> list[Case]:
    return [
        Case(name, lambda n=name: _compare(name=n, device=device), limit=600) for name in _models()
    ]

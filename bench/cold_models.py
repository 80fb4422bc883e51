"""Five models as timm and transformers define them, with random weights.

They are for how long a cold `torch.compile` takes: what matters is how many kernels of which kind
it makes.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import nn


class Bottleneck(nn.Module):
    """timm's block of ResNet 50."""

    def __init__(self, inner: int, outer: int, stride: int, before: int) -> None:
        super().__init__()
        shapes = ((before, inner, 1, 1), (inner, inner, 3, stride), (inner, outer, 1, 1))
        self.convolutions = nn.ModuleList(
            nn.Conv2d(a, b, size, step, size // 2, bias=False) for a, b, size, step in shapes
        )
        self.norms = nn.ModuleList(nn.BatchNorm2d(b) for _, b, _, _ in shapes)
        self.skip = nn.Identity()
        if stride > 1 or before != outer:
            skip = nn.Conv2d(before, outer, 1, stride, bias=False)
            self.skip = nn.Sequential(skip, nn.BatchNorm2d(outer))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x
        for i, (convolution, norm) in enumerate(zip(self.convolutions, self.norms, strict=True)):
            y = norm(convolution(y))
            y = F.relu(y) if i < 2 else y
        return F.relu(y + self.skip(x))


class ResNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(),
            nn.MaxPool2d(3, 2, 1),
        )  # fmt: skip
        blocks: list[nn.Module] = []
        before = 64
        for stage, count in enumerate((3, 4, 6, 3)):
            for i in range(count):
                inner = 64 << stage
                stride = 2 if stage and not i else 1
                blocks.append(Bottleneck(inner, 4 * inner, stride, before))
                before = 4 * inner
        self.blocks, self.head = nn.Sequential(*blocks), nn.Linear(before, 1000)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.blocks(self.stem(x)).mean((2, 3)))


class Attention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        result = F.scaled_dot_product_attention(q, k, v)
        return self.out(result.transpose(1, 2).reshape(batch, length, width))


class EncoderBlock(nn.Module):
    """A block of ViT (its norms come first) or of BERT (they come last)."""

    def __init__(self, width: int, heads: int, norms_first: bool) -> None:
        super().__init__()
        self.first, self.norms = norms_first, nn.ModuleList(nn.LayerNorm(width) for _ in "ab")
        self.attention = Attention(width, heads)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for norm, part in zip(self.norms, (self.attention, self.mlp), strict=True):
            x = x + part(norm(x)) if self.first else norm(x + part(x))
        return x


class ViT(nn.Module):
    def __init__(self, width: int = 768, depth: int = 12) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, width, 16, 16)
        self.places = nn.Parameter(torch.randn(1, 197, width) * 0.02)
        self.token = nn.Parameter(torch.zeros(1, 1, width))
        self.blocks = nn.Sequential(*(EncoderBlock(width, 12, True) for _ in range(depth)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 1000)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(len(x), -1, -1), x], 1) + self.places
        return self.head(self.norm(self.blocks(x))[:, 0])


class Bert(nn.Module):
    def __init__(self, width: int = 768, depth: int = 12, words: int = 30522) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(512, width)
        self.norm = nn.LayerNorm(width)
        self.blocks = nn.Sequential(*(EncoderBlock(width, 12, False) for _ in range(depth)))
        self.head = nn.Sequential(
            nn.Linear(width, width), nn.GELU(), nn.LayerNorm(width), nn.Linear(width, words)
        )

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        places = torch.arange(ids.shape[1], device=ids.device)
        return self.head(self.blocks(self.norm(self.words(ids) + self.places(places))))


class LlamaBlock(nn.Module):
    """RMSNorm, grouped queries with RoPE, and a gated MLP."""

    def __init__(self, width: int, heads: int, kv_heads: int, inner: int) -> None:
        super().__init__()
        self.heads, self.kv_heads, self.size = heads, kv_heads, width // heads
        self.norms = nn.ModuleList(nn.RMSNorm(width, 1e-5) for _ in "ab")
        linear = lambda a, b: nn.Linear(a, b, bias=False)  # noqa: E731
        self.q, self.out = linear(width, width), linear(width, width)
        self.kv = linear(width, 2 * kv_heads * self.size)
        self.gate, self.up, self.down = (
            linear(width, inner), linear(width, inner), linear(inner, width),
        )  # fmt: skip

    def rotate(self, x: torch.Tensor) -> torch.Tensor:
        places = torch.arange(x.shape[2], device=x.device, dtype=torch.float32)
        steps = torch.arange(0, self.size, 2, device=x.device, dtype=torch.float32)
        angles = places[:, None] * 500000.0 ** (-steps / self.size)
        angles = torch.cat([angles, angles], -1)
        a, b = x.chunk(2, -1)
        turned = x.float() * angles.cos() + torch.cat([-b, a], -1).float() * angles.sin()
        return turned.to(x.dtype)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        y = self.norms[0](x)
        q = self.q(y).view(batch, length, self.heads, -1).transpose(1, 2)
        k, v = self.kv(y).view(batch, length, 2, self.kv_heads, -1).permute(2, 0, 3, 1, 4)
        result = F.scaled_dot_product_attention(
            self.rotate(q), self.rotate(k), v, is_causal=True, enable_gqa=True
        )
        x = x + self.out(result.transpose(1, 2).reshape(batch, length, width))
        y = self.norms[1](x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Llama(nn.Module):
    def __init__(self, width: int = 2048, depth: int = 4, words: int = 32000) -> None:
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.blocks = nn.Sequential(*(LlamaBlock(width, 32, 8, 5632) for _ in range(depth)))
        self.norm, self.head = nn.RMSNorm(width, 1e-5), nn.Linear(width, words, bias=False)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.head(self.norm(self.blocks(self.words(ids))))


class ConvNeXtBlock(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.depthwise = nn.Conv2d(width, width, 7, 1, 3, groups=width)
        self.norm = nn.LayerNorm(width, 1e-6)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.scale = nn.Parameter(torch.full((width,), 1e-6))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm(self.depthwise(x).permute(0, 2, 3, 1))
        return x + (self.down(F.gelu(self.up(y))) * self.scale).permute(0, 3, 1, 2)


class ConvNeXt(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        parts: list[nn.Module] = []
        before = 3
        for stage, count in enumerate((3, 3, 9, 3)):
            width, size = 96 << stage, 2 if stage else 4
            parts += [nn.GroupNorm(1, before)] if stage else []
            parts += [nn.Conv2d(before, width, size, size)]
            parts += [ConvNeXtBlock(width) for _ in range(count)]
            before = width
        self.body, self.head = nn.Sequential(*parts), nn.Linear(before, 1000)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.body(x).mean((2, 3)))


def _image(device: str) -> torch.Tensor:
    return torch.randn(16, 3, 224, 224, device=device, dtype=torch.bfloat16)


def _ids(device: str) -> torch.Tensor:
    return torch.randint(0, 30000, (4, 512), device=device)


#: What each is called, and what makes it and its input.
MODELS: dict[str, tuple[Callable[[], nn.Module], Callable[[str], torch.Tensor]]] = {
    "resnet 50": (ResNet, _image),
    "vit base": (ViT, _image),
    "convnext tiny": (ConvNeXt, _image),
    "bert base": (Bert, _ids),
    "llama, 4 layers": (Llama, _ids),
}


def step(model: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> torch.Tensor:
    """Forward and backward, with a loss over classes or words."""
    result = model(x).float()
    target = x if x.dtype == torch.int64 else torch.zeros(len(x), device=x.device).long()
    loss = F.cross_entropy(result.flatten(0, -2), target.flatten())
    loss.backward()
    return loss

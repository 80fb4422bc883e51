"""What drivers of inference engines share: pages of keys and values, and plain references."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from cases import Inputs, check

#: Where AWQ keeps the eight numbers of a word.
_AWQ_ORDER = (0, 4, 1, 5, 2, 6, 3, 7)


def attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool, window: int = 0
) -> torch.Tensor:
    """(time, heads, width); the last query sees the last key."""
    k, v = (x.repeat_interleave(q.shape[1] // x.shape[1], 1) for x in (k, v))
    scores = torch.einsum("qhd,khd->hqk", q.float(), k.float()) * q.shape[-1] ** -0.5
    ahead = torch.arange(len(k), device=q.device) - (
        torch.arange(len(q), device=q.device)[:, None] + len(k) - len(q)
    )
    if causal:
        scores = scores.masked_fill(ahead > 0, float("-inf"))
    if window:
        scores = scores.masked_fill(ahead <= -window, float("-inf"))
    return torch.einsum("hqk,khd->qhd", scores.softmax(-1), v.float()).to(q.dtype)


def by_sequence(lengths: list[int], *tensors: torch.Tensor) -> torch.Tensor:
    """Causal attention within each sequence."""
    parts = zip(*(t.split(lengths) for t in tensors), strict=True)
    return torch.cat([attention(*part, causal=True) for part in parts])


class Pages:
    """Keys and values of some sequences, in pages here and there."""

    def __init__(
        self, make: Inputs, lengths: torch.Tensor, page: int, heads: int, width: int, dtype: Any
    ) -> None:
        self.lengths = lengths.tolist()
        most = -(-max(self.lengths) // page)
        count = most * len(self.lengths) + 2
        self.keys, self.values = (make.normal(count, page, heads, width, dtype=dtype) for _ in "kv")
        order = torch.randperm(count, generator=make.generator)[: most * len(self.lengths)]
        # As wide as for longer sequences, which kernels rely on.
        table = torch.zeros(len(self.lengths), most + 8, dtype=torch.int32)
        table[:, :most] = order.view(-1, most)
        self.table = table.to(make.device)

    def of(self, sequence: int) -> tuple[torch.Tensor, torch.Tensor]:
        """The keys and values of a sequence."""
        length = self.lengths[sequence]
        pages = self.table[sequence, : -(-length // self.keys.shape[1])].long()
        return self.keys[pages].flatten(0, 1)[:length], self.values[pages].flatten(0, 1)[:length]


def check_merge(device: str, merge: Callable[..., Any], transposed: bool) -> None:
    """Two halves of an attention's keys, merged by what their sums were."""
    make = Inputs(device)
    a, b = (make.normal(5, 4, 64, dtype=torch.float16) for _ in range(2))
    la, lb = make.normal(5, 4), make.normal(5, 4)
    turned = [x.t().contiguous() if transposed else x for x in (la, lb)]
    out, lse = torch.empty_like(a), torch.empty_like(turned[0])
    merge(out, a, turned[0], b, turned[1], lse)
    together = torch.logaddexp(la, lb)
    weights = [(x - together).exp()[..., None] for x in (la, lb)]
    check(out, (weights[0] * a + weights[1] * b).half(), 5e-3)
    check(lse.t() if transposed else lse, together, 1e-4)


def awq(make: Inputs, rows: int, columns: int, group: int) -> tuple[torch.Tensor, ...]:
    """Weights of 4 bits, scales and zeros as AWQ packs them."""
    weight = make.integers(-(2**31), 2**31, rows, columns // 8).to(torch.int32)
    zeros = make.integers(-(2**31), 2**31, rows // group, columns // 8).to(torch.int32)
    return weight, make.uniform(rows // group, columns, dtype=torch.float16) / 10, zeros


def awq_reference(
    weight: torch.Tensor, scales: torch.Tensor, zeros: torch.Tensor, group: int
) -> torch.Tensor:
    shifts = torch.tensor(_AWQ_ORDER, device=weight.device, dtype=torch.int32) * 4

    def unpack(words: torch.Tensor) -> torch.Tensor:
        return ((words[:, :, None] >> shifts) & 15).flatten(1)

    spread = [x.repeat_interleave(group, 0) for x in (unpack(zeros), scales)]
    return ((unpack(weight) - spread[0]) * spread[1]).to(scales.dtype)


def check_awq_dequantize(device: str, dequantize: Callable[..., Any]) -> None:
    weight, scales, zeros = awq(Inputs(device), 128, 64, 32)
    check(dequantize(weight, scales, zeros), awq_reference(weight, scales, zeros, 32), 1e-3)


def check_int8(device: str, quantize: Callable[..., Any], group: int = 128) -> None:
    """Groups of each row as int8 with a scale."""
    x = Inputs(device).normal(7, 128, dtype=torch.float16)
    values, scales = quantize(x)
    parts, scales = x.view(7, -1, group).float(), scales.reshape(7, -1).float()
    check(scales, parts.abs().amax(-1) / 127, 2e-3)
    off = (values.view_as(parts).float() - parts / scales[..., None]).abs().max().item()
    assert off <= 1.01, f"off by {off}"

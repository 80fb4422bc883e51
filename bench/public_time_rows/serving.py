"""What both inference engines work on: requests of a batch, with keys and values in pages."""

from __future__ import annotations

import torch

from .inputs import normal, whole

#: (name, heads of queries, heads of keys, width).
LLAMA_8B = ("llama 8b", 32, 8, 128)
LLAMA_70B = ("llama 70b", 64, 8, 128)
QWEN_3 = ("qwen 3 4b", 32, 8, 128)
MODELS = (LLAMA_8B, LLAMA_70B)


class Pages:
    """Keys and values of `batch` sequences of `length` tokens, in pages of any order."""

    def __init__(self, batch: int, length: int, page: int, heads: int, width: int) -> None:
        count = -(-length // page)
        self.keys, self.values = (normal(batch * count, page, heads, width) for _ in "kv")
        order = torch.randperm(batch * count, device="cuda")
        self.table = order.to(torch.int32).view(batch, count)
        self.lengths = torch.full((batch,), length, dtype=torch.int32, device="cuda")
        self.length = length


def starts(count: int, each: int) -> torch.Tensor:
    return torch.arange(count + 1, device="cuda", dtype=torch.int32) * each


def awq(rows: int, columns: int, group: int) -> tuple[torch.Tensor, ...]:
    """Packed weights of four bits, their scales and zeros."""
    words = [
        whole(-(2**31), 2**31 - 1, n, columns // 8, dtype=torch.int32)
        for n in (rows, rows // group)
    ]
    scales = normal(rows // group, columns, dtype=torch.float16) * 0.01
    return words[0], scales, words[1]

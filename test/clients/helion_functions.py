"""Kernels of Helion, as its users write them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import helion
import helion.language as hl
import torch
import torch.nn.functional as F


def kernel(function: Callable, **config: Any) -> Any:
    return helion.kernel(function, config=helion.Config(**config), static_shapes=True)


def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    x, y = torch.broadcast_tensors(x, y)
    out = torch.empty_like(x)
    for tile in hl.tile(out.size()):
        out[tile] = x[tile] + y[tile]
    return out


def softmax(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    for tile in hl.tile(x.size(0)):
        out[tile, :] = F.softmax(x[tile, :], dim=1)
    return out


def rms_norm(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    for tile in hl.tile(x.size(0)):
        row = x[tile, :].to(torch.float32)
        scale = torch.rsqrt(torch.mean(row * row, dim=-1) + 1e-5)
        out[tile, :] = (row * scale[:, None] * weight[:].to(torch.float32)).to(out.dtype)
    return out


def sums(x: torch.Tensor) -> torch.Tensor:
    m, n = x.size()
    out = torch.empty([m], dtype=x.dtype, device=x.device)
    for tile in hl.tile(m):
        total = hl.zeros([tile], dtype=torch.float32)
        for part in hl.tile(n):
            total += x[tile, part].sum(dim=1)
        out[tile] = total
    return out


def matmul(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    m, k = x.size()
    n = y.size(1)
    out = torch.empty([m, n], dtype=x.dtype, device=x.device)
    for rows, columns in hl.tile([m, n]):
        total = hl.zeros([rows, columns], dtype=torch.float32)
        for inner in hl.tile(k):
            total = torch.addmm(total, x[rows, inner], y[inner, columns])
        out[rows, columns] = total
    return out


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    heads, m, d = q.size()
    d = hl.specialize(d)
    out = torch.empty_like(q)
    for head, rows in hl.tile([heads, m]):
        query = q[head, rows, :]
        most = hl.full([head, rows], float("-inf"), dtype=torch.float32)
        size = torch.full_like(most, 1.0)
        total = hl.zeros([head, rows, d], dtype=torch.float32)
        for keys in hl.tile(k.size(1)):
            scores = torch.bmm(query, k[head, keys, :].transpose(1, 2)) * d**-0.5
            largest = torch.maximum(most, torch.amax(scores, -1))
            weights = torch.exp(scores - largest[:, :, None])
            shrink = torch.exp(most - largest)
            size = size * shrink + torch.sum(weights, -1)
            total = torch.baddbmm(total * shrink[:, :, None], weights.to(v.dtype), v[head, keys, :])
            most = largest
        out[head, rows, :] = (total / size[:, :, None]).to(out.dtype)
    return out


def gather(table: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    out = torch.empty([index.size(0), table.size(1)], dtype=table.dtype, device=table.device)
    for rows, columns in hl.tile(out.size()):
        out[rows, columns] = table[index[rows], columns]
    return out


def histogram(index: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
    for tile in hl.tile(index.size(0)):
        hl.atomic_add(out, [index[tile]], 1)
    return out


KERNELS = {
    "add": kernel(add, block_sizes=[16, 32]),
    "softmax": kernel(softmax, block_sizes=[4]),
    "softmax_in_parts": kernel(softmax, block_sizes=[4], reduction_loops=[32]),
    "rms_norm": kernel(rms_norm, block_sizes=[2]),
    "sums": kernel(sums, block_sizes=[8, 16]),
    "matmul": kernel(matmul, block_sizes=[32, 32, 16]),
    "matmul_by_descriptors": kernel(matmul, block_sizes=[32, 32, 16], indexing="tensor_descriptor"),
    "matmul_persistent": kernel(
        matmul, block_sizes=[32, 32, 16], pid_type="persistent_interleaved"
    ),
    "attention": kernel(attention, block_sizes=[1, 32, 32]),
    "gather": kernel(gather, block_sizes=[8, 16]),
    "histogram": kernel(histogram, block_sizes=[64]),
}

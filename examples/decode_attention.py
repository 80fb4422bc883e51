"""Attention of one new token of each request over keys and values in pages.

One request would have few programs, so its keys are split. A program reads a part of the keys once,
for all the queries that share them. A second kernel puts the parts together. It may be launched
before the first one ends.
"""

from __future__ import annotations

import numpy as np

import tile
import tile.language as tl
from tile.language.extra.cuda import gdc_launch_dependents, gdc_wait

LOG2_E = tl.constexpr(1.4426950408889634)
#: `dot` wants so many rows.
LEAST_ROWS = 16
#: How many numbers a program of the second kernel has: all parts of some columns.
NUMBERS = 4096


@tile.jit
def part_kernel(
    q_ptr, k_ptr, v_ptr, table_ptr, lengths_ptr, parts_ptr, logs_ptr, scale, most_pages,
    KV_HEADS: tl.constexpr, GROUP: tl.constexpr, ROWS: tl.constexpr, D: tl.constexpr,
    PAGE: tl.constexpr, BLOCK: tl.constexpr, SPLITS: tl.constexpr, EARLY: tl.constexpr,
):  # fmt: skip
    if EARLY:
        gdc_launch_dependents()
    split, head, request = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    length = tl.load(lengths_ptr + request)
    share = tl.cdiv(tl.cdiv(length, BLOCK), SPLITS) * BLOCK
    end = min(length, (split + 1) * share)
    rows, d = tl.arange(0, ROWS), tl.arange(0, D)
    queries = (request * KV_HEADS + head) * GROUP + rows
    q = tl.load(q_ptr + queries[:, None] * D + d, mask=rows[:, None] < GROUP, other=0.0)
    most = tl.full((ROWS,), float("-inf"), tl.float32)
    total = tl.zeros((ROWS,), tl.float32)
    acc = tl.zeros((ROWS, D), tl.float32)
    for first in range(split * share, end, BLOCK):
        keys = first + tl.arange(0, BLOCK)
        there = keys < end
        page = tl.load(table_ptr + request * most_pages + keys // PAGE, mask=there, other=0)
        place = (page.to(tl.int64) * PAGE + keys % PAGE) * KV_HEADS + head
        k = tl.load(k_ptr + place[:, None] * D + d, mask=there[:, None], other=0.0)
        v = tl.load(v_ptr + place[:, None] * D + d, mask=there[:, None], other=0.0)
        scores = tl.where(there, tl.dot(q, k.T) * (scale * LOG2_E), float("-inf"))
        higher = tl.maximum(most, tl.max(scores, 1))
        weights = tl.exp2(scores - higher[:, None])
        old = tl.exp2(most - higher)
        total = total * old + tl.sum(weights, 1)
        acc = tl.dot(weights.to(v.dtype), v, acc * old[:, None])
        most = higher
    # A part without keys counts nothing: its logarithm is minus infinity.
    place = queries * SPLITS + split
    mask = rows < GROUP
    acc = tl.where(total[:, None] > 0, acc / total[:, None], 0.0)
    tl.store(parts_ptr + place[:, None] * D + d, acc, mask=mask[:, None])
    tl.store(logs_ptr + place, tl.where(total > 0, most + tl.log2(total), float("-inf")), mask=mask)


@tile.jit
def combine_kernel(
    parts_ptr, logs_ptr, out_ptr, D: tl.constexpr, COLUMNS: tl.constexpr, SPLITS: tl.constexpr,
    PARTS: tl.constexpr, EARLY: tl.constexpr,
):  # fmt: skip
    if EARLY:
        gdc_wait()
    query, part = tl.program_id(0), tl.arange(0, PARTS)
    d = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    there, places = part < SPLITS, query * SPLITS + part
    logs = tl.load(logs_ptr + places, mask=there, other=float("-inf"))
    weights = tl.exp2(logs - tl.max(logs, 0))
    mask = there[:, None] & (d < D)
    parts = tl.load(parts_ptr + places[:, None] * D + d, mask=mask, other=0.0)
    out = tl.sum(parts * weights[:, None], 0) / tl.sum(weights, 0)
    tl.store(out_ptr + query * D + d, out.to(out_ptr.dtype.element_ty), mask=d < D)


def decode(
    q, keys, values, table, lengths, parts, logs, out, block=64, splits=8, early=False, **options
):  # fmt: skip
    """``q`` and ``out``: [requests, heads, D]. ``keys``, ``values``: [pages, page, heads of keys,
    D]. ``table[i, j]`` is the page of the keys of request ``i`` from ``j * page`` on. ``parts``
    has room for ``splits`` fp32 rows for each query, ``logs`` for a number for each. Every request
    has a key. With ``early``, on sm_90 and later, the two launches overlap."""
    requests, heads, width = q.shape
    page, kv_heads = keys.shape[1:3]
    group = heads // kv_heads
    kernel = part_kernel[(splits, kv_heads, requests)](
        q, keys, values, table, lengths, parts, logs, width**-0.5, table.shape[1],
        KV_HEADS=kv_heads, GROUP=group, ROWS=max(LEAST_ROWS, tile.next_power_of_2(group)),
        D=width, PAGE=page, BLOCK=block, SPLITS=splits, EARLY=early, **options,
    )  # fmt: skip
    overlap = {"launch_pdl": True} if early else {}
    count = tile.next_power_of_2(splits)
    columns = max(1, min(width, NUMBERS // count))
    combine_kernel[(requests * heads, tile.cdiv(width, columns))](
        parts, logs, out, D=width, COLUMNS=columns, SPLITS=splits, PARTS=count, EARLY=early,
        num_warps=max(1, count * columns // 1024), **overlap,
    )  # fmt: skip
    return kernel


def reference(q, keys, values, table, lengths):
    """The same in NumPy."""
    requests, heads, width = q.shape
    page, kv_heads = keys.shape[1:3]
    out = np.empty(q.shape)
    for i in range(requests):
        places = [(table[i, n // page], n % page) for n in range(lengths[i])]
        k, v = (np.stack([x[p] for p in places]).astype(np.float64) for x in (keys, values))
        for h in range(heads):
            scores = k[:, h * kv_heads // heads] @ q[i, h].astype(np.float64) * width**-0.5
            weights = np.exp(scores - scores.max())
            out[i, h] = weights / weights.sum() @ v[:, h * kv_heads // heads]
    return out


def main(device) -> None:
    rng = np.random.default_rng(31)
    requests, kv_heads, group, width, page, splits = 3, 2, 4, 64, 16, 3
    lengths = np.array([150, 5, 64], np.int32)
    most = -(-int(lengths.max()) // page)
    table = rng.permutation(requests * most).astype(np.int32).reshape(requests, most)
    q = rng.standard_normal((requests, kv_heads * group, width)).astype(np.float16)
    shape = (requests * most, page, kv_heads, width)
    keys, values = (rng.standard_normal(shape).astype(np.float16) for _ in "kv")
    parts = device.empty_like(np.empty((*q.shape[:2], splits, width), np.float32))
    logs = device.empty_like(np.empty((*q.shape[:2], splits), np.float32))
    out = device.empty_like(q)
    expected = reference(q, keys, values, table, lengths)
    target = device.driver.get_current_target()
    for early in (False, True):
        if early and (target.backend != "cuda" or target.arch < 90):
            continue
        kernel = decode(
            device.put(q), device.put(keys), device.put(values), device.put(table),
            device.put(lengths), parts, logs, out, block=32, splits=splits, early=early,
        )  # fmt: skip
        name = "decode, early" if early else "decode_attention"
        device.check(name, kernel, device.get(out), expected)


if __name__ == "__main__":
    from device import run_examples

    run_examples(main)

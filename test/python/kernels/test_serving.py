"""The examples of serving, beyond the case that each shows: ragged sizes, empty parts, few rows."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from reference import poisoned

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
TOLERANCE = 2e-3


def example(name: str) -> ModuleType:
    sys.path.insert(0, str(EXAMPLES))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(EXAMPLES))


def check(found: np.ndarray, expected: np.ndarray) -> None:
    assert np.isfinite(found.astype(np.float64)).all()
    error = np.linalg.norm(found.astype(np.float64) - expected) / np.linalg.norm(expected)
    assert error < TOLERANCE


@pytest.mark.every_target
@pytest.mark.parametrize(
    "lengths, group, width, page, block, splits",
    [
        # More parts than blocks of keys, and a request of one key.
        ([1, 33, 64], 1, 64, 16, 32, 8),
        # Queries that are no power of two share keys; pages are larger than blocks.
        ([70, 131], 5, 64, 64, 32, 2),
        ([100], 8, 128, 8, 64, 1),
        ([257, 16], 20, 32, 4, 16, 4),
    ],
)
def test_attention_of_one_token(
    lengths: list[int], group: int, width: int, page: int, block: int, splits: int
) -> None:
    attention = example("decode_attention")
    rng = np.random.default_rng(len(lengths) * 100 + group)
    requests, kv_heads = len(lengths), 2
    most = -(-max(lengths) // page) + 1
    table = rng.permutation(requests * most).astype(np.int32).reshape(requests, most)
    # What no request has is no page: nobody reads it.
    for i, length in enumerate(lengths):
        table[i, -(-length // page) :] = 1 << 20
    q = rng.standard_normal((requests, kv_heads * group, width)).astype(np.float16)
    shape = (requests * most, page, kv_heads, width)
    keys, values = (rng.standard_normal(shape).astype(np.float16) for _ in "kv")
    parts = poisoned((*q.shape[:2], splits, width), "fp32")
    logs, out = poisoned((*q.shape[:2], splits), "fp32"), poisoned(q.shape, "fp16")
    inputs = (q, keys, values, table, np.array(lengths, np.int32))
    attention.decode(*inputs, parts, logs, out, block=block, splits=splits)
    check(out, attention.reference(*inputs))


@pytest.mark.every_target
@pytest.mark.parametrize(
    "m, n, k, bm, bn, step, splits, warps",
    [
        (1, 64, 256, 16, 64, 1, 1, 4),
        # More parts than groups: some add up nothing.
        (16, 40, 384, 16, 32, 1, 4, 2),
        # A step of two groups of which there are five.
        (37, 130, 640, 16, 64, 2, 2, 4),
        (3, 24, 640, 16, 16, 2, 2, 1),
    ],
)
def test_weights_of_four_bits(
    m: int, n: int, k: int, bm: int, bn: int, step: int, splits: int, warps: int
) -> None:
    quantised = example("quantised_matmul")
    rng = np.random.default_rng(m)
    weights = rng.integers(-8, 8, (n, k))
    weights[0, :16] = np.arange(-8, 8)  # Every weight that there is.
    scales = (rng.random((k // quantised.GROUP, n)) * 0.01).astype(np.float16)
    x = rng.standard_normal((m, k)).astype(np.float16)
    exact = weights * np.repeat(scales.astype(np.float64), quantised.GROUP, axis=0).T
    words, counters = quantised.pack(weights), np.zeros(-(-n // bn) * -(-m // bm), np.int32)
    for _ in range(2):  # The counters are zero again.
        parts, out = poisoned((splits, m, n), "fp32"), poisoned((m, n), "fp16")
        quantised.matmul(
            x, words, scales, parts, counters, out, bm=bm, bn=bn, step=step, splits=splits,
            num_warps=warps,
        )  # fmt: skip
        check(out, x.astype(np.float64) @ exact.T)


@pytest.mark.every_target
@pytest.mark.parametrize("source", [np.int8, np.uint8])
@pytest.mark.parametrize(
    "m, n, k, bn, splits", [(1, 64, 256, 64, 1), (16, 40, 200, 32, 2), (37, 130, 144, 64, 4)]
)
def test_weights_of_eight_bits(m: int, n: int, k: int, bn: int, splits: int, source: type) -> None:
    quantised = example("quantised_matmul")
    rng = np.random.default_rng(m)
    limits = np.iinfo(source)
    weights = rng.integers(limits.min, limits.max, (n, k), source, endpoint=True)
    scales = (rng.random(n) * 0.01).astype(np.float16)
    x = rng.standard_normal((m, k)).astype(np.float16)
    exact = weights * scales[:, None].astype(np.float64)
    counters = np.zeros(-(-n // bn) * -(-m // 16), np.int32)
    for _ in range(2):
        parts, out = poisoned((splits, m, n), "fp32"), poisoned((m, n), "fp16")
        quantised.matmul_of_bytes(
            x, weights, scales, parts, counters, out, bn=bn, bk=64, splits=splits
        )
        check(out, x.astype(np.float64) @ exact.T)


def test_a_sum_of_half_groups_is_refused() -> None:
    quantised = example("quantised_matmul")
    x, words = np.zeros((1, 320), np.float16), np.zeros((64, 40), np.int32)
    with pytest.raises(ValueError, match="320 steps, which is no multiple of 128"):
        quantised.matmul(x, words, None, None, None, None)


@pytest.mark.every_target
@pytest.mark.parametrize(
    "tokens, experts, chosen, k, n, bn, bk",
    [(1, 4, 2, 64, 40, 32, 32), (40, 3, 1, 72, 64, 64, 64), (7, 9, 4, 96, 24, 32, 32)],
)
def test_experts_of_few_tokens(
    tokens: int, experts: int, chosen: int, k: int, n: int, bn: int, bk: int
) -> None:
    layers = example("experts")
    rng = np.random.default_rng(tokens)
    x = rng.standard_normal((tokens, k)).astype(np.float16)
    shapes = ((experts, n, k), (experts, n, k), (experts, k, n))
    weights = [(rng.standard_normal(shape) * 0.2).astype(np.float16) for shape in shapes]
    choices = np.stack([rng.permutation(experts)[:chosen] for _ in range(tokens)])
    shares = rng.random((tokens, chosen)).astype(np.float32)
    order, blocks = layers.by_expert(choices, experts)
    hidden = poisoned((tokens * chosen, n), "fp16")
    parts, out = poisoned((tokens * chosen, k), "fp32"), poisoned(x.shape, "fp16")
    layers.layer(x, *weights, order, blocks, shares, hidden, parts, out, bn=bn, bk=bk)
    check(out, layers.reference(x, *weights, choices, shares))

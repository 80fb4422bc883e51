"""Pipelined loops whose counters come to the ends of their types, or have no sign, and loops that
hand values on for several iterations."""

from __future__ import annotations

import numpy as np
import pytest
from machines import AMD_TARGETS, run_on
from reference import poisoned, random

import tile
import tile.language as tl

BLOCK = 32
#: With and without dots that run on by themselves, and on AMD's GPUs.
TARGETS = ["cuda:80", "cuda:90", *AMD_TARGETS]

pytestmark = pytest.mark.every_target


@tile.jit
def sum_blocks(out, x, first, end, step, DOWN: tl.constexpr, STAGES: tl.constexpr,
               BLOCK: tl.constexpr):  # fmt: skip
    """Adds up blocks, each times the counter of its iteration, modulo 2^32."""
    lane = tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), tl.int32)
    for i in tl.range(first, end, step, num_stages=STAGES):
        number = (first - i) // -step if DOWN else (i - first) // step
        acc += tl.load(x + number.to(tl.int32) * BLOCK + lane) * i.to(tl.int32)
    tl.store(out + lane, acc)


@tile.jit
def sum_constant_blocks(out, x, FIRST: tl.constexpr, END: tl.constexpr, STEP: tl.constexpr,
                        STAGES: tl.constexpr, BLOCK: tl.constexpr):  # fmt: skip
    lane = tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), tl.int32)
    number = 0
    for i in tl.range(FIRST, END, STEP, num_stages=STAGES):
        acc += tl.load(x + number * BLOCK + lane) * i.to(tl.int32)
        number += 1
    tl.store(out + lane, acc)


def check_sum(launch, counters: range) -> None:
    """`launch(out, x)` must read what there is, and no more."""
    x = random((max(len(counters), 1), BLOCK), "i32", seed=len(counters))
    out = poisoned(BLOCK, "i32")
    launch(out, x)
    expected = np.zeros(BLOCK, np.int64)
    for number, i in enumerate(counters):
        expected += x[number] * ((i + 2**31) % 2**32 - 2**31)
    np.testing.assert_array_equal(out, expected.astype(np.int32))


RANGES = [
    range(2**31 - 100, 2**31 - 1, 64),
    range(2**31 - 200, 2**31 - 1, 64),
    range(2**31 - 2, 2**31 - 1, 1),
    range(-(2**31) + 100, -(2**31), -64),
    range(-(2**31) + 3, -(2**31), -1),
    range(2**31 - 1, 2**31 - 4, -1),
    range(0, 2**31 - 1, 2**30),
    range(-(2**31), 2**31 - 1, 2**30),
    range(-(2**31), -(2**31) + 3, 1),
    range(-(2**31), -(2**31), 1),
    range(2**31 - 1, -(2**31), 2**30),
]


@pytest.mark.sweep
@pytest.mark.parametrize("counters", RANGES, ids=str)
@pytest.mark.parametrize("stages", [2, 4])
def test_constant_counters_near_the_ends(counters, stages):
    start, stop, step = counters.start, counters.stop, counters.step
    if stop - start >= 2**31:
        pytest.skip("refused: it goes further than an i32 can count")
    check_sum(
        lambda out, x: sum_constant_blocks[(1,)](out, x, start, stop, step, stages, BLOCK),
        counters,
    )


@pytest.mark.sweep
@pytest.mark.parametrize("counters", RANGES, ids=str)
@pytest.mark.parametrize("stages", [2, 4])
def test_counters_near_the_ends(counters, stages):
    start, stop, step = counters.start, counters.stop, counters.step
    if stop - start >= 2**31:
        pytest.skip("the number of the block is a difference that overflows")

    @tile.jit
    def known_step(out, x, first, end, STEP: tl.constexpr, STAGES: tl.constexpr,
                   BLOCK: tl.constexpr):  # fmt: skip
        sum_blocks(out, x, first, end, STEP, STEP < 0, STAGES, BLOCK)

    check_sum(lambda out, x: known_step[(1,)](out, x, start, stop, step, stages, BLOCK), counters)
    if step > 0:
        check_sum(
            lambda out, x: sum_blocks[(1,)](out, x, start, stop, step, False, stages, BLOCK),
            counters,
        )


@tile.jit
def sum_unsigned(out, x, bounds, STEP: tl.constexpr, STAGES: tl.constexpr, BLOCK: tl.constexpr):
    first, end = tl.load(bounds), tl.load(bounds + 1)
    step = tl.load(bounds + 2) if STEP == 0 else STEP
    sum_blocks(out, x, first, end, step, False, STAGES, BLOCK)


@pytest.mark.sweep(4)
@pytest.mark.parametrize("dtype", [np.uint32, np.uint64, np.int64])
@pytest.mark.parametrize("stages", [2, 3, 4])
@pytest.mark.parametrize("known", [False, True])
def test_counters_of_any_type(dtype, stages, known):
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    for counters in (
        range(0, 0, 1),
        range(0, 1, 7),
        range(0, 5, 1),
        range(3, 40, 8),
        range(low, low + 20, 7),
        range(high - 100, high, 64),
        range(high - 3, high, 1),
        range(high, low, 1),
        range(high // 2 - 1, high // 2 + 3, 1),
    ):
        bounds = np.array([counters.start, counters.stop, counters.step], dtype)
        step = counters.step if known else 0
        check_sum(
            lambda out, x, bounds=bounds, step=step: sum_unsigned[(1,)](
                out, x, bounds, step, stages, BLOCK
            ),
            counters,
        )


@pytest.mark.parametrize("dtype", [np.uint32, np.uint64])
def test_a_step_of_half_the_range(dtype):
    high = np.iinfo(dtype).max
    for counters in (range(0, high, high // 2), range(5, high, high // 2 + 1)):
        bounds = np.array([counters.start, counters.stop, counters.step], dtype)
        check_sum(
            lambda out, x, bounds=bounds: sum_unsigned[(1,)](out, x, bounds, 0, 4, BLOCK), counters
        )


@tile.jit
def offsets_below_zero(out, x, end: tl.uint32, FIRST: tl.constexpr):
    """From counters without a sign that are none of a signed type."""
    middle = x + 8
    for i in tl.range(FIRST, end):
        tl.store(out + (i - FIRST), tl.load(middle + i.to(tl.int32) // 2**28))


def test_offsets_below_zero():
    first, end = 2**31 - 3, 2**31 + 4
    x = random(16, "i32")
    out = poisoned(end - first, "i32")
    offsets_below_zero[(1,)](out, x, end, first)
    signed = [(i + 2**31) % 2**32 - 2**31 for i in range(first, end)]
    np.testing.assert_array_equal(out, [x[int(i / 2**28) + 8] for i in signed])


@tile.jit
def product_of_unsigned_length(
    out, a, b, K: tl.uint32, BM: tl.constexpr, BK: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    m, k = tl.arange(0, BM), tl.arange(0, BK)
    acc = tl.zeros((BM, BM), tl.float32)
    for i in tl.range(0, K, BK, num_stages=STAGES):
        x = tl.load(a + m[:, None] * K + (i + k)[None, :])
        y = tl.load(b + (i + k)[:, None] * BM + m[None, :])
        acc = tl.dot(x, y, acc)
    tl.store(out + m[:, None] * BM + m[None, :], acc)


@pytest.mark.sweep
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("stages", [2, 3, 4])
@pytest.mark.parametrize("trips", [0, 1, 2, 3, 7])
def test_product_of_unsigned_length(stages, trips, target, monkeypatch):
    run_on(target, monkeypatch)
    m, k = 64, 32
    rng = np.random.default_rng(trips)
    a = rng.integers(-4, 5, (m, max(trips, 1) * k)).astype(np.float16)
    b = rng.integers(-4, 5, (max(trips, 1) * k, m)).astype(np.float16)
    out = poisoned((m, m), "fp32")
    product_of_unsigned_length[(1,)](out, a, b, trips * k, m, k, stages)
    expected = a.astype(np.float32) @ b.astype(np.float32) if trips else np.zeros((m, m))
    np.testing.assert_array_equal(out, expected)


#: What a loop hands on, by name: statements of its body, of which the last ones change what later
#: iterations see.
HANDED_ON = {
    "the counter": ("v = x + last", "last = k"),
    "two iterations": ("v = x + p * 3", "p = q", "q = k * k"),
    "three iterations": ("v = x + p * 3", "p = q", "q = r", "r = k + 5"),
    "a swap": ("v = x + p - 2 * q", "p, q = q, p"),
    "a cycle of three": ("v = x * p + r", "p, q, r = q, r, p"),
    "from outside": ("v = x + p", "p = n"),
    "a block": ("v = x + block * 7", "block = x"),
    "a block for two iterations": ("v = x + older * 7", "older = block", "block = x"),
    "an address": ("v = x", "at = after", "after = k * 2 % 5"),
    "an address that swaps": ("v = x", "at, after = after, at"),
    "an address of the counter": ("v = x", "at = k * 3"),
    "an address from outside": ("v = x", "at = n"),
    "all of it": ("v = x + p + block", "block = x", "p = at", "at = after", "after = q", "q = k"),
}
STATE = ("last", "p", "q", "r", "at", "after", "block", "older")

SOURCE = """
@tile.jit
def kernel(out, table, n, STAGES: tl.constexpr, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    last, p, q, r, at, after = 11, 12, 13, 14, 1, 2
    block, older = lane, lane * 2
    acc = tl.zeros((BLOCK,), tl.int32)
    for k in tl.range(0, n, num_stages=STAGES):
        x = tl.load(table + (at + k) % 8 * BLOCK + lane)
{body}
        acc = acc * 3 + v
    tl.store(out + lane, acc)
    for i in tl.static_range(6):
        tl.store(out + (i + 1) * BLOCK + lane, (last, p, q, r, at, after)[i])
    tl.store(out + 7 * BLOCK + lane, block)
    tl.store(out + 8 * BLOCK + lane, older)
"""


def hand_on(table: np.ndarray, n: int, body: str) -> np.ndarray:
    """What the kernel must come to, in Python."""
    lane = np.arange(BLOCK, dtype=np.int64)
    s = dict(last=11, p=12, q=13, r=14, at=1, after=2, block=lane, older=lane * 2, n=n)
    acc = np.zeros(BLOCK, np.int64)
    for k in range(n):
        s |= {"k": k, "x": table[(s["at"] + k) % 8].astype(np.int64)}
        exec(body, {}, s)
        acc = acc * 3 + s["v"]
    rows = [acc, *(s[name] for name in STATE)]
    return np.stack([np.broadcast_to(row, BLOCK) for row in rows]).astype(np.int32)


@pytest.fixture(scope="module")
def kernel_of(tmp_path_factory):
    """Kernels are read from files."""
    folder = tmp_path_factory.mktemp("kernels")

    def make(name: str):
        body = "\n".join(f"        {line}" for line in HANDED_ON[name])
        path = folder / f"{name.replace(' ', '_')}.py"
        path.write_text(f"import tile\nimport tile.language as tl\n{SOURCE.format(body=body)}")
        space: dict = {}
        exec(compile(path.read_text(), str(path), "exec"), space)
        return space["kernel"]

    return make


@pytest.mark.sweep
@pytest.mark.parametrize("name", HANDED_ON)
@pytest.mark.parametrize("stages", [2, 3, 5])
def test_values_handed_on(name, stages, kernel_of):
    kernel = kernel_of(name)
    table = random((8, BLOCK), "i32", seed=3)
    for n in (0, 1, 2, 3, 5):
        out = poisoned((9, BLOCK), "i32")
        kernel[(1,)](out, table, n, stages, BLOCK)
        np.testing.assert_array_equal(out, hand_on(table, n, "\n".join(HANDED_ON[name])))


@tile.jit
def pointer_after_the_loop(out, x, n, STAGES: tl.constexpr, BLOCK: tl.constexpr):
    pointers = x + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), tl.int32)
    for _ in tl.range(0, n, num_stages=STAGES):
        acc = acc * 3 + tl.load(pointers)
        pointers += BLOCK
    tl.store(out + tl.arange(0, BLOCK), acc + 1000 * tl.load(pointers))


@pytest.mark.sweep
@pytest.mark.parametrize("stages", [2, 3, 4, 5])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 6])
def test_pointers_after_few_iterations(n, stages):
    x = random((8, BLOCK), "i32", seed=n)
    out = poisoned(BLOCK, "i32")
    pointer_after_the_loop[(1,)](out, x, n, stages, BLOCK)
    acc = np.zeros(BLOCK, np.int64)
    for row in x[:n].astype(np.int64):
        acc = acc * 3 + row
    np.testing.assert_array_equal(out, (acc + 1000 * x[n].astype(np.int64)).astype(np.int32))


@tile.jit
def product_with_memory(
    out, a, b, n, BM: tl.constexpr, BK: tl.constexpr, STAGES: tl.constexpr,
    SPECIALIZE: tl.constexpr,
):  # fmt: skip
    """Blocks of A are multiplied with those of B that the iteration before the last one had."""
    m, k = tl.arange(0, BM), tl.arange(0, BK)
    acc = tl.zeros((BM, BM), tl.float32)
    before, now, last = 0, 0, -1
    for i in tl.range(0, n, num_stages=STAGES, warp_specialize=SPECIALIZE):
        x = tl.load(a + m[:, None] * BK + k[None, :] + i * BM * BK)
        y = tl.load(b + k[:, None] * BM + m[None, :] + before * BM * BK)
        acc = tl.dot(x, y, acc)
        before = now
        now = i
        last = i
    tl.store(out + m[:, None] * BM + m[None, :], acc + before + 100 * now + 10000 * last)


@pytest.mark.sweep(4)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("specialize", [False, True])
@pytest.mark.parametrize("stages", [1, 2, 3, 4])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 6])
def test_product_with_memory(n, stages, specialize, target, monkeypatch):
    run_on(target, monkeypatch)
    m, k = 64, 32
    rng = np.random.default_rng(n)
    a = rng.integers(-4, 5, (max(n, 1), m, k)).astype(np.float16)
    b = rng.integers(-4, 5, (max(n, 1), k, m)).astype(np.float16)
    out = poisoned((m, m), "fp32")
    product_with_memory[(1,)](out, a, b, n, m, k, stages, specialize)
    acc = np.zeros((m, m), np.float64)
    before, now, last = 0, 0, -1
    for i in range(n):
        acc += a[i].astype(np.float64) @ b[before].astype(np.float64)
        before, now, last = now, i, i
    np.testing.assert_array_equal(out, acc + before + 100 * now + 10000 * last)


@tile.jit
def rotated_products(
    out, a, b, n, BM: tl.constexpr, STAGES: tl.constexpr, SPECIALIZE: tl.constexpr
):
    """Two dots of an iteration are used in the next one, one after the other."""
    m = tl.arange(0, BM)
    at = m[:, None] * BM + m[None, :]
    acc = tl.zeros((BM, BM), tl.float32)
    first, second = acc, acc
    for i in tl.range(0, n, num_stages=STAGES, warp_specialize=SPECIALIZE):
        x = tl.load(a + at + i * BM * BM)
        y = tl.load(b + at + i * BM * BM)
        both = tl.dot(x, y)
        acc = acc + first
        acc = acc * 2 - second
        acc = acc + both
        first = tl.dot(y, y)
        second = tl.dot(x, x)
    tl.store(out + at, acc + first - second * 3)


@pytest.mark.sweep
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("specialize", [False, True])
@pytest.mark.parametrize("stages", [2, 3])
@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_rotated_products(n, stages, specialize, target, monkeypatch):
    run_on(target, monkeypatch)
    m = 64
    rng = np.random.default_rng(n)
    a, b = (rng.integers(-2, 3, (max(n, 1), m, m)).astype(np.float16) for _ in range(2))
    out = poisoned((m, m), "fp32")
    rotated_products[(1,)](out, a, b, n, m, stages, specialize)
    acc = first = second = np.zeros((m, m))
    for x, y in zip(a[:n].astype(np.float64), b[:n].astype(np.float64), strict=True):
        acc = (acc + first) * 2 - second + x @ y
        first, second = y @ y, x @ x
    np.testing.assert_array_equal(out, acc + first - second * 3)


@tile.jit
def nest_of_products(
    out, a, b, bounds, tiles, STEP: tl.constexpr, BM: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    m = tl.arange(0, BM)
    at = m[:, None] * BM + m[None, :]
    first, end = tl.load(bounds), tl.load(bounds + 1)
    for t in tl.range(tl.load(tiles), tl.load(tiles + 1), flatten=True):
        acc = tl.zeros((BM, BM), tl.float32)
        tile_number = (t - tl.load(tiles)).to(tl.int32)
        for i in tl.range(first, end, STEP, num_stages=STAGES):
            number = ((i - first) // STEP).to(tl.int32)
            acc = tl.dot(
                tl.load(a + at + number * BM * BM), tl.load(b + at + tile_number * BM * BM), acc
            )
        tl.store(out + at + tile_number * BM * BM, acc)


@pytest.mark.sweep
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64, np.uint64])
@pytest.mark.parametrize("trips", [0, 1, 3])
def test_nest_of_products_near_the_ends(dtype, trips, target, monkeypatch):
    run_on(target, monkeypatch)
    m, step, high, tiles = 32, 7, np.iinfo(dtype).max, 2
    rng = np.random.default_rng(trips)
    a = rng.integers(-4, 5, (max(trips, 1), m, m)).astype(np.float16)
    b = rng.integers(-4, 5, (tiles, m, m)).astype(np.float16)
    expected = [sum((x @ y for x in a[:trips]), np.zeros((m, m))) for y in b.astype(np.float32)]
    for inner in ((0, trips * step), (high - trips * step, high - 3 if trips else high)):
        for outer in ((0, tiles), (high - tiles, high)):
            out = poisoned((tiles, m, m), "fp32")
            kernel = nest_of_products[(1,)](
                out, a, b, np.array(inner, dtype), np.array(outer, dtype), step, m, 3
            )
            np.testing.assert_array_equal(out, expected)
            # One loop, and another for dots without terms.
            assert kernel.asm["ttgir"].count("scf.for") == 2


@tile.jit
def sums_that_change_places(out, a, b, n, BM: tl.constexpr, STAGES: tl.constexpr,
                            SPECIALIZE: tl.constexpr):  # fmt: skip
    """One of them is zero at times when the other takes it over."""
    m = tl.arange(0, BM)
    at = m[:, None] * BM + m[None, :]
    p = tl.zeros((BM, BM), tl.float32)
    q = tl.zeros((BM, BM), tl.float32)
    for i in tl.range(0, n, num_stages=STAGES, warp_specialize=SPECIALIZE):
        x = tl.load(a + at + i * BM * BM)
        y = tl.load(b + at + i * BM * BM)
        p, q = tl.dot(x, y, q), tl.where(i == 1, 0, p)
    tl.store(out + at, p + 100 * q)


@pytest.mark.sweep
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("specialize", [False, True])
@pytest.mark.parametrize("stages", [1, 3])
@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_sums_that_change_places(n, stages, specialize, target, monkeypatch):
    run_on(target, monkeypatch)
    m = 64
    rng = np.random.default_rng(n)
    a, b = (rng.integers(-2, 3, (max(n, 1), m, m)).astype(np.float16) for _ in range(2))
    out = poisoned((m, m), "fp32")
    sums_that_change_places[(1,)](out, a, b, n, m, stages, specialize)
    p = q = np.zeros((m, m))
    for i in range(n):
        p, q = q + a[i].astype(np.float64) @ b[i].astype(np.float64), p * (i != 1)
    np.testing.assert_array_equal(out, p + 100 * q)


@tile.jit
def scaled_product(out, a, b, scales, K, N: tl.constexpr, BLOCK: tl.constexpr):
    n, k = tl.arange(0, N), tl.arange(0, BLOCK)
    acc = tl.zeros((N, N), tl.float32)
    for i in range(0, K, BLOCK):
        left = tl.load(a + n[:, None] * K + i + k[None, :])
        scale = tl.load(scales + (i // BLOCK) * N + n)
        right = tl.load(b + (i + k)[:, None] * N + n[None, :]) * scale[None, :]
        acc = tl.dot(left, right, acc)
    tl.store(out + n[:, None] * N + n[None, :], acc)


@pytest.mark.parametrize("target", TARGETS)
def test_scales_that_are_fewer_than_threads(target, monkeypatch):
    """What a loop with dots loads is copied beside the threads, be it 32 halves for 128 threads."""
    run_on(target, monkeypatch)
    N, K = 32, 160
    a, b = random((N, K), "fp16", 1), random((K, N), "fp16", 2)
    scales, out = random((K // BLOCK, N), "fp16", 3), poisoned((N, N), "fp32")
    kernel = scaled_product[(1,)](out, a, b, scales, K, N, BLOCK)
    scaled = b * np.repeat(scales, BLOCK, axis=0)
    expected = a.astype(np.float32) @ scaled.astype(np.float32)
    np.testing.assert_allclose(out, expected, rtol=1e-2, atol=1e-2)
    if target.startswith("cuda"):
        assert "ld.global" not in kernel.asm["ptx"]

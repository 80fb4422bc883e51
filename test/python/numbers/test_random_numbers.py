"""Random numbers: bit for bit those of Philox, and the distributions made of them."""

from __future__ import annotations

import numpy as np
import pytest

import tile
import tile.language as tl

pytestmark = pytest.mark.both_ways

N = 64
MULTIPLIERS = {32: (0xD2511F53, 0xCD9E8D57), 64: (0xD2E7470EE14C6C93, 0xCA5A826395121157)}
WEYL = {32: (0x9E3779B9, 0xBB67AE85), 64: (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)}


def philox(counter, key, width, rounds=10):
    """Philox-4 of one counter in integers of Python."""
    mask = 2**width - 1
    (a, b), (w0, w1) = MULTIPLIERS[width], WEYL[width]
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(rounds):
        first, second = a * c0, b * c2
        c0, c1, c2, c3 = (
            second >> width ^ c1 ^ k0,
            second & mask,
            first >> width ^ c3 ^ k1,
            first & mask,
        )
        k0, k1 = k0 + w0 & mask, k1 + w1 & mask
    return c0, c1, c2, c3


def test_the_reference_is_the_published_one():
    # Of the authors' known answers (Random123, kat_vectors).
    zeros = philox((0,) * 4, (0, 0), 32)
    assert zeros == (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)
    ones = philox((2**32 - 1,) * 4, (2**32 - 1,) * 2, 32)
    assert ones == (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)


@tile.jit
def integers_kernel(seed_ptr, offset_ptr, out_ptr, ROUNDS: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    seed, offset = tl.load(seed_ptr), tl.load(offset_ptr + i)
    a, b, c, d = tl.randint4x(seed, offset, ROUNDS)
    tl.store(out_ptr + i, a)
    tl.store(out_ptr + N + i, b)
    tl.store(out_ptr + 2 * N + i, c)
    tl.store(out_ptr + 3 * N + i, d)
    tl.store(out_ptr + 4 * N + i, tl.randint(seed, offset, n_rounds=ROUNDS))


@pytest.mark.sweep(3)
@pytest.mark.parametrize("seed", [0, 42, -1, 2**62 + 12345, -(2**40) - 1])
@pytest.mark.parametrize("rounds", [10, 6])
@pytest.mark.parametrize("kind", [np.int32, np.uint32, np.int64])
def test_integers(seed, rounds, kind):
    offsets = np.arange(N).astype(kind) * kind(97_003)
    if kind is np.int64:
        offsets = offsets * kind(2**33 + 5)
    out = np.zeros((5, N), np.uint32)
    integers_kernel[(1,)](np.array([seed]), offsets, out, ROUNDS=rounds, N=N)
    key = (seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF)
    for i, offset in enumerate(offsets):
        counter = (int(offset) & 0xFFFFFFFF, int(offset) >> 32 & 0xFFFFFFFF, 0, 0)
        if kind is not np.int64:
            counter = (int(offset) & 0xFFFFFFFF, 0, 0, 0)
        expected = philox(counter, key, 32, rounds)
        assert tuple(map(int, out[:4, i])) == expected
        assert out[4, i] == expected[0]


@tile.jit
def philox_kernel(seed_ptr, counter_ptr, out_ptr, f_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    c0, c1 = tl.load(counter_ptr + i), tl.load(counter_ptr + N + i)
    c2, c3 = tl.load(counter_ptr + 2 * N + i), tl.load(counter_ptr + 3 * N + i)
    a, b, c, d = tl.philox(tl.load(seed_ptr), c0, c1, c2, c3)
    tl.store(out_ptr + i, a)
    tl.store(out_ptr + N + i, b)
    tl.store(out_ptr + 2 * N + i, c)
    tl.store(out_ptr + 3 * N + i, d)
    tl.store(f_ptr + i, tl.uint_to_uniform_float(a))


@pytest.mark.parametrize("width", [32, 64])
def test_all_of_the_counter(width):
    kind = np.uint32 if width == 32 else np.uint64
    counters = np.random.default_rng(0).integers(0, 2**width, (4, N), dtype=kind)
    seed = 0x123456789ABCDEF0
    out, floats = np.zeros((4, N), kind), np.zeros(N, np.float32)
    philox_kernel[(1,)](np.array([seed]), counters, out, floats, N=N)
    key = (seed & 0xFFFFFFFF, seed >> 32) if width == 32 else (seed, 0)
    for i in range(N):
        assert tuple(map(int, out[:, i])) == philox(tuple(map(int, counters[:, i])), key, width)
    np.testing.assert_array_equal(floats, uniform(out[0]))


def uniform(words):
    """What `uint_to_uniform_float` gives: the sign folds, then a scale below one."""
    bits = words.dtype.itemsize * 8
    signed = words.view(np.int32 if bits == 32 else np.int64)
    folded = np.where(signed < 0, ~signed, signed)
    scale = np.float32(4.6566127342e-10 if bits == 32 else 1.0842020432385337e-19)
    return folded.astype(np.float32) * scale


@tile.jit
def floats_kernel(seed, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b, c, d = tl.rand4x(seed, i)
    tl.store(out_ptr + i, a)
    tl.store(out_ptr + N + i, b)
    tl.store(out_ptr + 2 * N + i, c)
    tl.store(out_ptr + 3 * N + i, d)
    tl.store(out_ptr + 4 * N + i, tl.rand(seed, i))
    a, b, c, d = tl.randn4x(seed, i)
    tl.store(out_ptr + 5 * N + i, a)
    tl.store(out_ptr + 6 * N + i, b)
    tl.store(out_ptr + 7 * N + i, c)
    tl.store(out_ptr + 8 * N + i, d)
    tl.store(out_ptr + 9 * N + i, tl.randn(seed, i))


@pytest.mark.parametrize("seed", [0, 7, 2**31 - 1])
def test_floats(seed):
    n = 512
    out = np.zeros((10, n), np.float32)
    floats_kernel[(1,)](seed, out, N=n)
    words = np.array([philox((i, 0, 0, 0), (seed, 0), 32) for i in range(n)], np.uint32).T
    u = np.stack([uniform(np.ascontiguousarray(w)) for w in words])
    np.testing.assert_array_equal(out[:4], u)
    np.testing.assert_array_equal(out[4], u[0])
    assert (out[:5] >= 0).all() and (out[:5] < 1).all()
    # Box and Muller's pairs.
    wide = u.astype(np.float64)
    radius = np.sqrt(-2 * np.log(np.maximum(wide[::2], 1e-7)))
    angle = 2 * np.pi * wide[1::2]
    normal = np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).reshape(4, n)
    np.testing.assert_allclose(out[5:9], normal, 1e-4, 2e-6)
    np.testing.assert_allclose(out[9], normal[0], 1e-4, 2e-6)
    assert abs(out[5:9].mean()) < 0.1 and abs(out[5:9].std() - 1) < 0.1


def test_the_largest_word_is_below_one():
    words = np.array([2**31 - 1, 2**31, 2**32 - 1, 0, 1, 2**31 - 2, 5, 6], np.uint32)
    out = np.zeros(8, np.float32)
    uniform_kernel[(1,)](words, out, N=8)
    assert (out < 1).all() and out[3] == 0 and out[2] == 0
    np.testing.assert_array_equal(out, uniform(words))


@tile.jit
def uniform_kernel(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.uint_to_uniform_float(tl.load(x_ptr + i)))

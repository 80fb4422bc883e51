"""Descriptors made on the host whose loads round numbers of fp32 to tf32."""

from __future__ import annotations

import numpy as np
import pytest
from machines import AMD_TARGETS, run_on
from reference import poisoned, tf32

import tile
import tile.language as tl
from tile.errors import TileError
from tile.tools.tensor_descriptor import TensorDescriptor

pytestmark = pytest.mark.both_ways

#: With copies by TMA, without (old, and consumer's), and those of AMD, one of which copies blocks.
TARGETS = ["cuda:80", "cuda:90", "cuda:100", "cuda:120", *AMD_TARGETS, "hip:gfx1250"]


def numbers(*shape: int) -> np.ndarray:
    """All kinds: ties to the even and to the odd neighbour, those that carry into the exponent or
    to infinity, subnormal ones, and what is not finite."""
    rng = np.random.default_rng(39)
    bits = rng.integers(0, 2**32, shape, np.uint32)
    low = np.array([0, 1, 0xFFF, 0x1000, 0x1001, 0x1FFF], np.uint32)
    bits = bits & ~np.uint32(0x1FFF) | rng.choice(low, shape)
    special = np.array(
        [
            0x3F7FF000, 0x3F7FEFFF, 0x7F7FF000, 0xFF7FFFFF, 0x00001000, 0x80003000, 0x00000FFF,
            0x007FF000, 0x7F800000, 0xFF800000, 0, 0x80000000, 0x3F801000, 0x3F803000,
        ],
        np.uint32,
    )  # fmt: skip
    bits.reshape(-1)[: len(special)] = special
    values = bits.view(np.float32)
    return np.where(np.isnan(values), np.float32(np.nan), values)


def test_the_reference_agrees_with_arithmetic_on_bits():
    x = numbers(64, 64)
    bits = x.view(np.uint32).astype(np.uint64)
    rounded = (bits + 0xFFF + (bits >> 13 & 1) & 0xFFFFE000).astype(np.uint32)
    expected = np.where(np.isfinite(x), rounded.view(np.float32), x)
    np.testing.assert_array_equal(tf32(x), expected)
    assert (tf32(x) != x).sum() > x.size / 2


@tile.jit
def load(src, out_ptr, row, column, M: tl.constexpr, N: tl.constexpr):
    place = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out_ptr + place, src.load([row, column]))


def descriptor(x, block, rounds, **more):
    return TensorDescriptor.from_tensor(x, block, round_f32_to_tf32=rounds, **more)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("shape", [(16, 64), (13, 60), (13, 61)])
def test_loads_round(shape, target, monkeypatch):
    """By copies, where rows are multiples of 16 bytes, and by pointers."""
    run_on(target, monkeypatch)
    storage = numbers(16, 64)
    x = storage[: shape[0], : shape[1]]
    for rounds in (True, False, True):
        out = poisoned((16, 64), "fp32")
        source = TensorDescriptor(storage, shape, [64, 1], [16, 64], "zero", rounds)
        load[(1,)](source, out, 0, 0, 16, 64)
        expected = np.zeros((16, 64), np.float32)
        expected[: shape[0], : shape[1]] = tf32(x) if rounds else x
        np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("target", ["cuda:90", "hip:gfx942"])
def test_what_is_out_of_bounds_is_padded(target, monkeypatch):
    run_on(target, monkeypatch)
    x, out = numbers(16, 64), poisoned((16, 64), "fp32")
    load[(1,)](descriptor(x, [16, 64], True, padding="nan"), out, 8, 32, 16, 64)
    expected = np.full((16, 64), np.nan, np.float32)
    expected[:8, :32] = tf32(x)[8:, 32:]
    np.testing.assert_array_equal(out, expected)


@tile.jit
def choose(a, b, out_ptr, which, M: tl.constexpr, N: tl.constexpr):
    place = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    if which > 1:
        value = a.load([0, 0])
    else:
        value = b.load([0, 0])
    tl.store(out_ptr + place, value)
    for i in range(2):
        a, b = b, a
        tl.store(out_ptr + (i + 1) * M * N + place, a.load([0, 0]))


@pytest.mark.parametrize("target", ["cuda:80", "cuda:90", "hip:gfx1100"])
def test_of_two_descriptors_one_rounds(target, monkeypatch):
    """Whichever of them a loop, or a branch, loads through."""
    run_on(target, monkeypatch)
    x, y = numbers(16, 64), numbers(16, 64)[::-1].copy()
    for first, second in [(True, False), (False, True), (True, True)]:
        expected = {
            "a": tf32(x) if first else x,
            "b": tf32(y) if second else y,
        }
        for which in (1, 2):
            out = poisoned((3, 16, 64), "fp32")
            a, b = descriptor(x, [16, 64], first), descriptor(y, [16, 64], second)
            choose[(1,)](a, b, out, which, 16, 64)
            chosen = "a" if which > 1 else "b"
            np.testing.assert_array_equal(out[0], expected[chosen])
            np.testing.assert_array_equal(out[1], expected["b"])
            np.testing.assert_array_equal(out[2], expected["a"])


@tile.jit(noinline=True)
def load_first(src):
    return src.load([0, 0])


@tile.jit
def call(src, other, out_ptr, M: tl.constexpr, N: tl.constexpr):
    place = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out_ptr + place, load_first(src))
    tl.store(out_ptr + M * N + place, load_first(other))


@pytest.mark.parametrize("target", ["cuda:80", "cuda:90", "hip:gfx942"])
def test_a_function_is_told(target, monkeypatch):
    run_on(target, monkeypatch)
    x, out = numbers(16, 64), poisoned((2, 16, 64), "fp32")
    call[(1,)](descriptor(x, [16, 64], True), descriptor(x, [16, 64], False), out, 16, 64)
    np.testing.assert_array_equal(out, np.stack([tf32(x), x]))


@tile.jit
def gather(src, out_ptr, rows_ptr, M: tl.constexpr, N: tl.constexpr):
    place = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out_ptr + place, src.gather(tl.load(rows_ptr + tl.arange(0, M)), 0))


@pytest.mark.parametrize("target", ["cuda:80", "cuda:100", "hip:gfx1100"])
def test_gathered_rows_round(target, monkeypatch):
    run_on(target, monkeypatch)
    x, out = numbers(32, 64), poisoned((8, 64), "fp32")
    rows = np.array([3, 31, 0, 3, 40, 17, 8, 1], np.int32)
    gather[(1,)](descriptor(x, [1, 64], True), out, rows, 8, 64)
    expected = np.zeros((8, 64), np.float32)
    expected[rows < 32] = tf32(x)[rows[rows < 32]]
    np.testing.assert_array_equal(out, expected)


@tile.jit
def store(dst, x_ptr, M: tl.constexpr, N: tl.constexpr):
    place = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    dst.store([0, 0], tl.load(x_ptr + place))


@pytest.mark.parametrize("target", ["cuda:80", "cuda:90", "hip:gfx1100"])
def test_stores_do_not_round(target, monkeypatch):
    run_on(target, monkeypatch)
    x, out = numbers(16, 64), poisoned((16, 64), "fp32")
    store[(1,)](descriptor(out, [16, 64], True), x, 16, 64)
    np.testing.assert_array_equal(out, x)


@tile.jit
def multiply(a, b, c_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    acc = tl.zeros((M, N), tl.float32)
    for k in range(0, a.shape[1], K):
        acc = tl.dot(a.load([0, k]), b.load([k, 0]), acc)
    tl.store(c_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], acc)


@pytest.mark.parametrize("target", ["cuda:80", "cuda:90", "cuda:100"])
def test_dots_take_rounded_operands(target, monkeypatch):
    """A tensor core cuts the last bits off where nobody has rounded."""
    run_on(target, monkeypatch)
    rng = np.random.default_rng(3)
    a, b = (rng.random(s, np.float32) + 1 for s in ((64, 128), (128, 64)))
    found = {}
    for rounds in (True, False):
        c = poisoned((64, 64), "fp32")
        blocks = descriptor(a, [64, 32], rounds), descriptor(b, [32, 64], rounds)
        multiply[(1,)](*blocks, c, 64, 64, 32)
        exact = a.astype(np.float64) @ b
        found[rounds] = np.abs(c / exact - 1).mean()
        if rounds:
            np.testing.assert_allclose(c, tf32(a).astype(np.float64) @ tf32(b), rtol=2e-6)
    assert found[True] < 5e-5, found


@pytest.mark.compiled
def test_each_is_compiled():
    x, out = numbers(16, 64), poisoned((16, 64), "fp32")
    kernels = [
        load[(1,)](descriptor(x, [16, 64], rounds), out, 0, 0, 16, 64)
        for rounds in (True, False, True, False)
    ]
    assert kernels[0] is kernels[2] is not kernels[1] is kernels[3]
    # Setting it on a descriptor that is there, too.
    source = descriptor(x, [16, 64], False)
    source.round_f32_to_tf32 = True
    assert load[(1,)](source, out, 0, 0, 16, 64) is kernels[0]


@pytest.mark.compiled
def test_copies_round_by_themselves(monkeypatch):
    run_on("cuda:90", monkeypatch)
    x, out = numbers(16, 64), poisoned((16, 64), "fp32")
    kernel = load[(1,)](descriptor(x, [16, 64], True), out, 0, 0, 16, 64)
    assert "cp.async.bulk.tensor" in kernel.asm["ptx"]
    assert [m["element_type"] for m in kernel._metadata["tensor_maps"]] == [11]
    assert "0x7f800000" not in kernel.asm["ptx"].lower()


@pytest.mark.parametrize("dtype", ["float16", "int32", "float64"])
def test_other_types_do_not_round(dtype):
    x = np.zeros((16, 64), dtype)
    with pytest.raises(TileError, match="round_f32_to_tf32 is only supported for float32"):
        descriptor(x, [16, 64], True)

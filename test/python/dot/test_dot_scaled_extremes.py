"""tl.dot_scaled at the ends of the range: any scale, and elements of all sizes.

The rule (docs/numerics.md): the elements of a group are multiplied and added up. What a group gives
is scaled by both of its scales, as if exponents had no bounds. Only what the accumulator cannot
hold overflows or becomes zero.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import tile
import tile.language as tl

M, N, K, GROUP = 16, 32, 64, 32
E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6], np.float64)
E2M1 = np.concatenate([E2M1, -E2M1])
BYTES = {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2}
WIDE = {"bf16": ml_dtypes.bfloat16, "fp16": np.float16}
TARGETS = ["cuda:80", "cuda:90", "cuda:120", "hip:gfx942", "hip:gfx950", "hip:gfx1100"]


@tile.jit
def kernel(
    a, a_scale, b, b_scale, c, out, A: tl.constexpr, B: tl.constexpr, FAST: tl.constexpr,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
):  # fmt: skip
    PACK_A: tl.constexpr = 2 if A == "e2m1" else 1
    PACK_B: tl.constexpr = 2 if B == "e2m1" else 1
    pid = tl.program_id(0)
    rows, cols, groups = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K // 32)
    inner_a, inner_b = tl.arange(0, K // PACK_A), tl.arange(0, K // PACK_B)
    x = tl.load(a + (pid * M + rows[:, None]) * (K // PACK_A) + inner_a[None, :])
    y = tl.load(b + (pid * (K // PACK_B) + inner_b[:, None]) * N + cols[None, :])
    x_scale = None
    y_scale = None
    if a_scale is not None:
        x_scale = tl.load(a_scale + (pid * M + rows[:, None]) * (K // 32) + groups[None, :])
    if b_scale is not None:
        y_scale = tl.load(b_scale + (pid * N + cols[:, None]) * (K // 32) + groups[None, :])
    where = (pid * M + rows[:, None]) * N + cols[None, :]
    acc = tl.load(c + where)
    acc = tl.dot_scaled(x, x_scale, A, y, y_scale, B, acc, fast_math=FAST)
    tl.store(out + where, acc)


@tile.jit
def loop_kernel(
    a, a_scale, b, b_scale, c, out, seen, steps, A: tl.constexpr, B: tl.constexpr,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, STORES: tl.constexpr,
):  # fmt: skip
    """Adds up the products of all steps; each has operands of its own."""
    PACK_A: tl.constexpr = 2 if A == "e2m1" else 1
    PACK_B: tl.constexpr = 2 if B == "e2m1" else 1
    rows, cols, groups = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K // 32)
    inner_a, inner_b = tl.arange(0, K // PACK_A), tl.arange(0, K // PACK_B)
    where = rows[:, None] * N + cols[None, :]
    acc = tl.load(c + where)
    for i in range(steps):
        x = tl.load(a + (i * M + rows[:, None]) * (K // PACK_A) + inner_a[None, :])
        y = tl.load(b + (i * (K // PACK_B) + inner_b[:, None]) * N + cols[None, :])
        x_scale = None
        y_scale = None
        if a_scale is not None:
            x_scale = tl.load(a_scale + (i * M + rows[:, None]) * (K // 32) + groups[None, :])
        if b_scale is not None:
            y_scale = tl.load(b_scale + (i * N + cols[:, None]) * (K // 32) + groups[None, :])
        acc = tl.dot_scaled(x, x_scale, A, y, y_scale, B, acc)
        if STORES:
            tl.store(seen + i, tl.load(seen + i) + 1)
    tl.store(out + where, acc)


def elements(form: str, shape: tuple[int, ...], rng: np.random.Generator):
    """Random elements, all bits of them: as the kernel gets them, packed along the last axis, and
    what they are."""
    if form == "e2m1":
        codes = rng.integers(0, 16, shape).astype(np.uint8)
        return codes[..., ::2] | codes[..., 1::2] << 4, E2M1[codes]
    if form in BYTES:
        bits = rng.integers(0, 256, shape).astype(np.uint8)
        values = bits.view(BYTES[form]).astype(np.float64)
        # NaN and infinities have a test of their own: they would be everywhere.
        bits[~np.isfinite(values)] = 0x3C
        return bits, bits.view(BYTES[form]).astype(np.float64)
    values = rng.standard_normal(shape) * 2.0 ** rng.integers(
        *((-100, 100) if form == "bf16" else (-20, 12)), shape
    )
    values = values.astype(WIDE[form])
    return values, values.astype(np.float64)


def spread(scale: np.ndarray | None) -> np.ndarray | float:
    if scale is None:
        return 1.0
    factors = np.where(scale == 255, np.nan, np.ldexp(1.0, scale.astype(int) - 127))
    return np.repeat(factors, GROUP, axis=-1)


def launch(a, a_scale, of_a, b, b_scale, of_b, c, fast=False) -> np.ndarray:
    """Operands and scales with K last, of several programs."""
    out = np.full(c.shape, 7, np.float32)
    b = np.ascontiguousarray(np.swapaxes(b, -1, -2))
    kernel[(c.shape[0],)](
        a, a_scale, b, b_scale, c, out, of_a, of_b, fast, c.shape[1], c.shape[2], K
    )
    return out


def check(out: np.ndarray, x: np.ndarray, y: np.ndarray, c: np.ndarray, steps: int = 1) -> None:
    """Against sums in float64, whose exponents have room for all that is multiplied."""
    with np.errstate(all="ignore"):
        products = np.einsum("pmk,pnk->pmnk", x, y)
        want = products.sum(-1) + c
        size = np.abs(products).sum(-1) + np.abs(c)
        largest = float(np.finfo(np.float32).max)
        # The accumulator may round at each step, and each addend may become zero.
        near = np.abs(out - want) <= steps * (size * 2.0**-20 + K * 2.0**-149)
        # Where parts of a sum are too large, it depends on the order.
        too_large = size > largest * 0.99
    good = np.where(np.isnan(want), np.isnan(out), near | too_large)
    assert good.all(), [(tuple(i), out[tuple(i)], want[tuple(i)]) for i in np.argwhere(~good)[:4]]
    surely = (np.abs(want) > 4 * largest) & (size <= np.abs(want) * 1.5)
    assert not (np.isfinite(out) & surely).any()


@pytest.fixture(params=[*TARGETS, "interpreted"])
def way(request, monkeypatch) -> str:
    if request.param == "interpreted":
        monkeypatch.setenv("TILE_INTERPRET", "1")
    else:
        monkeypatch.setenv("TILE_SIM_TARGET", request.param)
    return request.param


def test_two_of_the_issue(way):
    """2 * 2^127 times 2 * 2^-127 is 4; 2^-9 and a scale of 2^-127 come back by 2^127."""
    two, least = np.uint8(0x40), np.uint8(0x01)
    a = np.zeros((2, M, K), np.uint8)
    b = np.zeros((2, N, K), np.uint8)
    a[0, :, 0] = b[0, :, 0] = two
    a[1, :, 0] = least
    b[1, :, 0] = np.float32(64).astype(BYTES["e4m3"]).view(np.uint8)
    a_scale, b_scale = np.full((2, M, 2), 254, np.uint8), np.full((2, N, 2), 0, np.uint8)
    a_scale[1], b_scale[1] = 0, 254
    c = np.zeros((2, M, N), np.float32)
    out = launch(a, a_scale, "e4m3", b, b_scale, "e4m3", c)
    np.testing.assert_array_equal(out[0], 4)
    np.testing.assert_array_equal(out[1], 0.125)


FORMATS = ("e2m1", "e4m3", "e5m2")
PAIRS = [
    *((x, y) for x in FORMATS for y in FORMATS), ("e2m1", "bf16"), ("bf16", "e4m3"),
    ("e5m2", "bf16"), ("fp16", "e4m3"), ("e2m1", "fp16"), ("fp16", "e5m2"),
]  # fmt: skip


@pytest.mark.sweep
@pytest.mark.parametrize(("of_a", "of_b"), PAIRS)
def test_all_scales(of_a, of_b, way):
    """Each byte is a scale of both operands; among them pairs that cancel, and ordinary ones."""
    rng = np.random.default_rng(5)
    programs = 8
    # Rows for the largest instructions, for which fp16 is split.
    M = 64 if "fp16" in (of_a, of_b) else 16
    a, x = elements(of_a, (programs, M, K), rng)
    b, y = elements(of_b, (programs, N, K), rng)
    a_scale = rng.permutation(programs * M * 2).reshape(programs, M, 2).astype(np.uint8)
    b_scale = rng.integers(0, 256, (programs, N, 2)).astype(np.uint8)
    # Of the second half, all in a group cancel but for a little.
    half = programs // 2
    base = rng.integers(0, 255, (half, 1, 2))
    a_scale[half:] = np.clip(base + rng.integers(-3, 4, (half, M, 2)), 0, 254)
    b_scale[half:] = np.clip(254 - base + rng.integers(-3, 4, (half, N, 2)), 0, 254)
    a_scale = a_scale if of_a not in WIDE else None
    b_scale = b_scale if of_b not in WIDE else None
    c = rng.standard_normal((programs, M, N)).astype(np.float32)
    out = launch(a, a_scale, of_a, b, b_scale, of_b, c)
    with np.errstate(all="ignore"):
        check(out, x * spread(a_scale), y * spread(b_scale), c)


@pytest.mark.parametrize("of_a", ["e4m3", "e5m2"])
def test_special_elements(of_a, way):
    """NaN and infinities, with scales at both ends beside them."""
    rng = np.random.default_rng(6)
    kind = BYTES[of_a]
    bits = np.full((1, M, K), np.float32(1).astype(kind).view(np.uint8))
    special = np.arange(256, dtype=np.uint8)[
        ~np.isfinite(np.arange(256, dtype=np.uint8).view(kind))
    ]
    for i, code in enumerate(special[: M // 2]):
        bits[0, 2 * i, rng.integers(K)] = code
    other = np.full((1, N, K), np.float32(2).astype(kind).view(np.uint8))
    other[0, 3], other[0, 4, 5] = 0, np.float32(-1).astype(kind).view(np.uint8)
    c = np.zeros((1, M, N), np.float32)
    for low, high in ((127, 127), (254, 0), (0, 254)):
        a_scale, b_scale = np.full((1, M, 2), low, np.uint8), np.full((1, N, 2), high, np.uint8)
        a_scale[0, 5, 1], b_scale[0, 7, 0] = 255, 255
        out = launch(bits, a_scale, of_a, other, b_scale, of_a, c)
        with np.errstate(all="ignore"):
            x = bits.view(kind).astype(np.float64) * spread(a_scale)
            y = other.view(kind).astype(np.float64) * spread(b_scale)
            want = np.einsum("pmk,pnk->pmn", x, y)
        np.testing.assert_array_equal(np.isnan(out), np.isnan(want))
        np.testing.assert_array_equal(out, want.astype(np.float32))


@pytest.mark.sweep
@pytest.mark.parametrize("scale", [127, 246, 1])
@pytest.mark.parametrize("narrow", ["e4m3", "e5m2"])
@pytest.mark.parametrize("wide_is_left", [False, True])
def test_special_elements_of_fp16(narrow, wide_is_left, scale, way):
    """An operand of fp16 is multiplied as the sum of two parts, one of which may be zero where the
    other operand is infinite."""
    rng = np.random.default_rng(9)
    kind = BYTES[narrow]
    rare = np.array([0, -0.0, 2**-24, -(2**-24), 3 * 2**-23, 65504, -65504, 2049 / 2048, np.inf,
                     -np.inf, np.nan], np.float16)  # fmt: skip
    M = N = 64
    wide = np.full((1, N, K), 1.0, np.float16)
    if scale > 127:  # Sums have to be numbers of fp32.
        rare[np.abs(rare) == 65504] = 1
    for i, value in enumerate(rare):
        wide[0, i, rng.integers(K)] = value
    bits = np.full((1, M, K), np.float32(1).astype(kind).view(np.uint8))
    codes = np.arange(256, dtype=np.uint8)
    special = codes[~np.isfinite(codes.view(kind))]
    for i, code in enumerate(special[: M // 2]):
        bits[0, 2 * i, rng.integers(K)] = code
    # An infinity beside each of the rare numbers.
    bits[0, 1] = special[0]
    scales = np.full((1, M, 2), scale, np.uint8)
    c = np.zeros((1, M, N), np.float32)
    x = bits.view(kind).astype(np.float64) * spread(scales)
    y = wide.astype(np.float64)
    with np.errstate(all="ignore"):
        want = np.einsum("pmk,pnk->pmn", x, y)
        if wide_is_left:
            out = launch(wide, None, "fp16", bits, scales, narrow, c.swapaxes(1, 2).copy())
            out = out.swapaxes(1, 2)
        else:
            out = launch(bits, scales, narrow, wide, None, "fp16", c)
        np.testing.assert_array_equal(np.isnan(out), np.isnan(want))
        np.testing.assert_allclose(out, want.astype(np.float32), rtol=2.0**-20)


LOOPS = [("e4m3", "e4m3", 2), ("e2m1", "bf16", 1), ("bf16", "e5m2", 2), ("e5m2", "fp16", 1)]


@pytest.mark.sweep(4)
@pytest.mark.parametrize("extreme", [(), (0,), (2,), (1, 2)])
@pytest.mark.parametrize(("of_a", "of_b", "scaled"), LOOPS)
@pytest.mark.parametrize("stores", [False, True])
def test_loops(of_a, of_b, scaled, extreme, stores, way):
    """Loops run as if scales were ordinary, and again where those of some steps are not; one that
    writes runs once."""
    rng = np.random.default_rng(7)
    steps = 3
    M = 64 if "fp16" in (of_a, of_b) else 16
    a, x = elements(of_a, (steps, M, K), rng)
    b, y = elements(of_b, (steps, N, K), rng)
    a_scale = rng.integers(120, 135, (steps, M, 2)).astype(np.uint8)
    b_scale = rng.integers(120, 135, (steps, N, 2)).astype(np.uint8)
    for step in extreme:
        a_scale[step] = rng.integers(0, 4, (M, 2))
        b_scale[step] = rng.integers(251, 255, (N, 2)) if scaled == 2 else 0
    if scaled == 1:
        b_scale = None
    c = rng.standard_normal((M, N)).astype(np.float32)
    out, seen = np.full((M, N), 7, np.float32), np.zeros(steps, np.int32)
    loop_kernel[(1,)](
        a, a_scale, np.ascontiguousarray(np.swapaxes(b, -1, -2)), b_scale, c, out, seen, steps,
        of_a, of_b, M, N, K, stores,
    )  # fmt: skip
    with np.errstate(all="ignore"):
        x, y = x * spread(a_scale), y * spread(b_scale)
        along_k = [np.moveaxis(v, 0, 1).reshape(1, v.shape[1], -1) for v in (x, y)]
        check(out[None], *along_k, c[None], steps)
    assert (seen == stores).all()

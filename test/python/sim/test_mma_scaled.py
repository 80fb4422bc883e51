# ruff: noqa: E501  (PTX text reads better unbroken)
"""mma.sync with .kind (sm_120): bytes of 4, 6 or 8 bits, packed e2m1, and scale factors of blocks along K.

The places are written here element by element, from the figures of the ISA, not with the formula of the simulator.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from test_mma import c_place, mma_ptx

import tile.sim
from tile.errors import TileError

rng = np.random.default_rng(11)
NARROW = {
    "e4m3": (8, 0, ml_dtypes.float8_e4m3fn), "e5m2": (8, 0, ml_dtypes.float8_e5m2),
    "e2m3": (6, 0, ml_dtypes.float6_e2m3fn), "e3m2": (6, 0, ml_dtypes.float6_e3m2fn),
    "e2m1": (4, 2, ml_dtypes.float4_e2m1fn),
}  # fmt: skip
SCALES = {"ue8m0": ml_dtypes.float8_e8m0fnu, "ue4m3": ml_dtypes.float8_e4m3fn}


def random_elements(kind, shape):
    """Finite numbers, and their bits."""
    bits, _, dtype = NARROW[kind]
    codes = rng.integers(0, 1 << bits, shape).astype(np.uint8)
    values = codes.view(dtype).astype(np.float64)
    codes[~np.isfinite(values)] = 1
    return codes.view(dtype).astype(np.float64), codes


def fragments(codes, packed, shift, is_a):
    """Words of 32 lanes: of A (16 rows) four for each lane, of B (8 columns) two."""
    words = np.zeros((32, 4 if is_a else 2), np.uint32)
    for lane in range(32):
        group, quarter = lane >> 2, lane & 3
        for j in range(words.shape[1]):
            row = group + 8 * (j & 1) if is_a else group
            half = j >> 1 if is_a else j
            for i in range(8 if packed else 4):
                k = 8 * quarter + i + 32 * half if packed else 4 * quarter + i + 16 * half
                bits = int(codes[row, k]) << (0 if packed else shift)
                words[lane, j] |= np.uint32(bits << ((4 if packed else 8) * i))
    return words


def scale_words(codes, byte, thread, is_a):
    """Lanes without factors hold anything."""
    words = rng.integers(0, 1 << 32, 32, dtype=np.uint64).astype(np.uint32)
    for row in range(len(codes)):
        lane = 4 * (row % 8) + (2 * thread + row // 8 if is_a else thread)
        word = int(words[lane])
        for i, code in enumerate(codes[row]):
            at = 8 * (byte + i)
            word = word & ~(255 << at) | int(code) << at
        words[lane] = word
    return words


def kernel(suffix, half, scaled, selectors, header):
    """The operands of mma_ptx, and words of scale factors in the last two registers of C's row."""
    count = 2 if half else 4
    scales = f", %c{count}, {selectors[0]}, %c{count + 1}, {selectors[1]}" if scaled else ""
    registers = ", ".join(f"%c{i}" for i in range(count))
    scales = scales.replace("{", "{{").replace("}", "}}")
    declare = ".reg .b16 %h<4>; mov.b16 %h0, 0; mov.b16 %h1, 1; mov.b16 %h2, 2; mov.b16 %h3, 3;"
    text = f"{declare} mma.sync.aligned.{suffix} {{d}}, {{a}}, {{b}}, {{{{{registers}}}}}{scales};"
    ptx = mma_ptx(text, [4, 2, count + 2, count], False)
    return f".version {header[0]}\n.target {header[1]}\n.address_size 64\n" + ptx[ptx.index(".visible") :]  # fmt: skip


def check(kind, a, b, scale=None, vector=1, half=False, bytes_=(0, 0), threads=(0, 0), spelled=True, registers=False, header=("9.1", "sm_120a")):  # fmt: skip
    packed = kind in ("mxf4", "mxf4nvf4")
    k = 64 if packed else 32
    av, ac = random_elements(a, (16, k))
    bv, bc = random_elements(b, (8, k))
    count = 2 if half else 4
    cv = rng.standard_normal((16, 8)).astype(np.float16 if half else np.float32)
    c = np.zeros((32, count + 2), np.uint32)
    for lane in range(32):
        for i in range(4):
            value = cv[c_place(lane, i)]
            if half:
                c[lane, i // 2] |= np.uint32(int(value.view(np.uint16)) << 16 * (i % 2))
            else:
                c[lane, i] = value.view(np.uint32)
    d = "f16" if half else "f32"
    suffix = f"m16n8k{k}.row.col.kind::{kind}"
    want = cv.astype(np.float64)
    selectors = ["{0, 0}", "{0, 0}"]
    if scale:
        suffix += ".block_scale" + (f".scale_vec::{vector}X" if spelled else "")
        sac, sbc = (
            rng.integers(*((120, 135) if scale == "ue8m0" else (8, 96)), (n, vector)).astype(
                np.uint8
            )
            for n in (16, 8)
        )
        c[:, count] = scale_words(sac, bytes_[0], threads[0], True)
        c[:, count + 1] = scale_words(sbc, bytes_[1], threads[1], False)
        name = "{{%h{}, %h{}}}" if registers else "{{{}, {}}}"
        selectors = [name.format(x, t) for x, t in zip(bytes_, threads, strict=True)]
        av = av * np.repeat(sac.view(SCALES[scale]).astype(np.float64), k // vector, axis=1)
        bv = bv * np.repeat(sbc.view(SCALES[scale]).astype(np.float64), k // vector, axis=1)
    suffix += f".{d}.{a}.{b}.{d}" + (f".{scale}" if scale else "")
    want = want + av @ bv.T
    out = np.zeros((32, count), np.uint32)
    words = [fragments(x, packed, NARROW[t][1], i == 0) for i, (x, t) in enumerate([(ac, a), (bc, b)])]  # fmt: skip
    ptx = kernel(suffix, half, scale, selectors, header)
    tile.sim.launch(ptx, "op", 1, 32, [*words, c, out])
    flat = out.view(np.float16 if half else np.float32)
    got = np.zeros((16, 8))
    for lane in range(32):
        for i in range(4):
            got[c_place(lane, i)] = flat[lane, i]
    if half:
        with np.errstate(over="ignore"):
            np.testing.assert_allclose(got, want.astype(np.float16), rtol=1e-3, atol=1e-3)
    else:
        np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-6 * np.abs(want).max())


@pytest.mark.parametrize("b", NARROW)
@pytest.mark.parametrize("a", NARROW)
def test_bytes(a, b):
    check("f8f6f4", a, b)
    check("f8f6f4", a, b, half=True)
    check("mxf8f6f4", a, b, "ue8m0")


@pytest.mark.parametrize("thread", [0, 1])
@pytest.mark.parametrize("byte", [0, 1, 2, 3])
def test_selectors_of_one_factor(byte, thread):
    check("mxf8f6f4", "e4m3", "e2m1", "ue8m0", 1, False, (byte, 3 - byte), (thread, thread + 2), spelled=False)  # fmt: skip
    check("mxf8f6f4", "e5m2", "e3m2", "ue8m0", 1, False, (byte, byte), (1 - thread, 3), registers=True)  # fmt: skip


@pytest.mark.parametrize("byte", [0, 2])
def test_two_factors(byte):
    for kind in ("mxf4", "mxf4nvf4"):
        check(kind, "e2m1", "e2m1", "ue8m0", 2, False, (byte, 2 - byte), (1, 2), spelled=True)
    check("mxf4", "e2m1", "e2m1", "ue8m0", 2, False, (byte, byte), (0, 1), spelled=False)


@pytest.mark.parametrize("target", ["sm_120a", "sm_120f", "sm_121a", "sm_121f"])
@pytest.mark.parametrize("scale", ["ue4m3", "ue8m0"])
def test_four_factors(scale, target):
    check("mxf4nvf4", "e2m1", "e2m1", scale, 4, threads=(1, 3), header=("9.1", target))


@pytest.mark.parametrize("target", ["sm_100a", "sm_103a", "sm_110f"])
def test_bytes_of_eight_bits_elsewhere(target):
    check("f8f6f4", "e4m3", "e5m2", header=("9.0", target))


@pytest.mark.parametrize(
    ("suffix", "selector", "target", "message"),
    [
        ("mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0", "0, 0", "sm_100a", "needs .target sm_120a, sm_120f"),
        ("f8f6f4.f32.e2m1.e2m1.f32", "0, 0", "sm_103a", "needs .target sm_120a, sm_120f"),
        ("f8f6f4.f32.e4m3.e4m3.f32", "0, 0", "sm_120", "needs a target of one architecture"),
        ("mxf8f6f4.f32.e4m3.e4m3.f32.ue8m0", "0, 0", "sm_120a", "needs .block_scale"),
        ("mxf8f6f4.block_scale.scale_vec::2X.f32.e4m3.e4m3.f32.ue8m0", "0, 0", "sm_120a", "do not go together"),
        ("mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0", "4, 0", "sm_120a", "out of range"),
        ("mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0", "0, 2", "sm_120a", "out of range"),
        ("mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue4m3", "0, 0", "sm_120a", "do not go together"),
    ],
)  # fmt: skip
def test_refused(suffix, selector, target, message):
    kind = suffix.split(".")[0]
    scales = ("{0, 0}",) * 2 if kind == "f8f6f4" else ("{" + selector + "}", "{0, 0}")
    ptx = kernel(
        f"m16n8k32.row.col.kind::{suffix}", False, kind != "f8f6f4", scales, ("9.1", target)
    )
    words = [np.zeros((32, n), np.uint32) for n in (4, 2, 6, 4)]
    with pytest.raises(TileError, match=message):
        tile.sim.launch(ptx, "op", 1, 32, words)


@pytest.mark.parametrize("selector", ["%h2, %h0", "%h1, %h0", "%h0, %h3"])
def test_registers_that_select_nothing(selector):
    suffix = "m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3"
    ptx = kernel(suffix, False, True, ["{" + selector + "}", "{0, 0}"], ("9.1", "sm_120a"))
    words = [np.zeros((32, n), np.uint32) for n in (4, 2, 6, 4)]
    with pytest.raises(tile.sim.SimulationError, match="bad-selector"):
        tile.sim.launch(ptx, "op", 1, 32, words)

"""What gfx950 has beyond gfx942, against NumPy."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from asmlib import floats, halves, integers, kernel, lanes, run, same
from test_amdgcn_matrix import encode, multiply, spread

from tile.errors import TileError

u32 = np.uint32
#: Values of all bit patterns of a format, by its number in cbsz and blgp.
FORMATS = [
    np.arange(256, dtype=np.uint8).view(ml_dtypes.float8_e4m3fn).astype(np.float64),
    np.arange(256, dtype=np.uint8).view(ml_dtypes.float8_e5m2).astype(np.float64),
    np.arange(64, dtype=np.uint8).view(ml_dtypes.float6_e2m3fn).astype(np.float64),
    np.arange(64, dtype=np.uint8).view(ml_dtypes.float6_e3m2fn).astype(np.float64),
    np.arange(16, dtype=np.uint8).view(ml_dtypes.float4_e2m1fn).astype(np.float64),
]
BITS = [8, 8, 6, 6, 4]
MORE_MFMA = """f32_32x32x16_f16 f32_16x16x32_f16 f32_32x32x16_bf16 f32_16x16x32_bf16
i32_32x32x32_i8 i32_16x16x64_i8""".split()


def results(m: int) -> tuple[np.ndarray, np.ndarray]:
    """Where row i and column j of an m x m result are: lanes, items."""
    i, j = np.meshgrid(np.arange(m), np.arange(m), indexing="ij")
    return j + m * (i // 4 % (64 // m)), i % 4 + 4 * (i // 4 // (64 // m))


def taken(out: np.ndarray, m: int, dtype: type) -> np.ndarray:
    lane, item = results(m)
    return np.ascontiguousarray(out.T).view(dtype)[lane.ravel(), item.ravel()].reshape(m, m)


def pack(codes: np.ndarray, bits: int) -> np.ndarray:
    """Codes by [lane, item] as registers, [word, lane]."""
    lane_bits = (codes[:, :, None] >> np.arange(bits) & 1).reshape(len(codes), -1)
    packed = np.packbits(lane_bits.astype(np.uint8), axis=1, bitorder="little")
    return np.ascontiguousarray(packed.view(u32).T)


@pytest.mark.parametrize("name", MORE_MFMA)
def test_longer_products(name):
    m, k = (32, int(name[10:12])) if name[4] == "3" else (16, int(name[10:12]))
    kind = name.rsplit("_", 1)[1]
    rng = np.random.default_rng(len(name))
    bits_a, a = encode(rng.standard_normal((m, k)), kind)
    bits_b, b = encode(rng.standard_normal((k, m)), kind)
    each = m * k // 64
    i, p = np.meshgrid(np.arange(m), np.arange(k), indexing="ij")
    words_a = spread(bits_a, i + m * (p // each), p % each, each, 64)
    words_b = spread(bits_b.T.copy(), i + m * (p // each), p % each, each, 64)
    dtype = np.int32 if kind == "i8" else np.float32
    c = (rng.standard_normal((m, m)) * 8).astype(dtype)
    out = multiply(
        f"v_mfma_{name}", words_a, words_b, spread(c, *results(m), m * m // 64, 64), "gfx950"
    )
    want = a @ b + c
    assert np.allclose(taken(out, m, dtype), want, rtol=1e-6, atol=1e-6)


def small_operand(rng: np.random.Generator, kind: int, m: int, k: int, scales: np.ndarray):
    """Registers of an operand, and its values times their scales. A lane has 32 elements along K:
    side by side, or, of 8 bits, 16 each of the two halves of K."""
    ordinary = np.flatnonzero(np.abs(np.nan_to_num(FORMATS[kind], nan=1e9)) <= 8)
    codes = ordinary[rng.integers(0, len(ordinary), (m, k))].astype(np.uint8)
    i, p = np.meshgrid(np.arange(m), np.arange(k), indexing="ij")
    lane, item = i + m * (p // 32), p % 32
    if BITS[kind] == 8:
        lane, item = i + m * (p // 16 % (64 // m)), p % 16 + 16 * (p // (k // 2))
    by_lane = np.zeros((64, 32), np.uint8)
    by_lane[lane, item] = codes
    return pack(by_lane, BITS[kind]), FORMATS[kind][codes] * np.repeat(scales, 32, 1)


@pytest.mark.parametrize("m", [16, 32])
@pytest.mark.parametrize(("left", "right"), [(0, 0), (1, 4), (2, 3), (3, 0), (4, 4), (4, 2)])
@pytest.mark.parametrize("scaled", [False, True])
def test_small_formats(m, left, right, scaled):
    k = 2048 // m
    rng = np.random.default_rng(left * 5 + right)
    bytes_of = rng.integers(0, 4, 2) if scaled else [0, 0]
    exponents = rng.integers(110, 140, (2, m, k // 32)) if scaled else np.full((2, m, k // 32), 127)
    # The scale of elements k of a row is in lane i + m (k // 32); other bytes say something else.
    i, g = np.meshgrid(np.arange(m), np.arange(k // 32), indexing="ij")
    registers = rng.integers(0, 1 << 32, (2, 1, 64), np.uint64).astype(u32)
    for index in range(2):
        shift = u32(8 * bytes_of[index])
        row = registers[index, 0]
        row[i + m * g] = (
            row[i + m * g] & ~(u32(255) << shift) | exponents[index].astype(u32) << shift
        )
    scales = 2.0 ** (exponents - 127)
    words_a, a = small_operand(rng, left, m, k, scales[0])
    words_b, b = small_operand(rng, right, m, k, scales[1])
    c = (rng.standard_normal((m, m)) * 8).astype(np.float32)
    words_c = spread(c, *results(m), m * m // 64, 64)
    lower, upper = [n & 1 for n in bytes_of], [n >> 1 for n in bytes_of]
    suffix = f" cbsz:{left} blgp:{right}"
    if scaled:
        suffix = (
            f", v30, v31 op_sel:[{lower[0]},{lower[1]},0] op_sel_hi:[{upper[0]},{upper[1]},0]"
            + suffix
        )
    out = multiply(
        f"v_mfma_{'scale_' if scaled else ''}f32_{m}x{m}x{k}_f8f6f4", words_a, words_b, words_c,
        "gfx950", suffix=suffix, others={30: registers[0], 31: registers[1]},
    )  # fmt: skip
    want = a @ b.T + c
    size = np.abs(a) @ np.abs(b.T) + np.abs(c)
    assert (np.abs(taken(out, m, np.float32) - want) <= 1e-6 * size).all()


def test_a_scale_of_255_is_no_number():
    ones = np.full((8, 64), 0x38383838, u32)
    scales = np.full((1, 64), 127, u32)
    scales[0, 3] = 255
    out = multiply(
        "v_mfma_scale_f32_16x16x128_f8f6f4", ones, ones, np.zeros((4, 64), u32), "gfx950",
        suffix=", v30, v31 op_sel_hi:[0,0,0]", others={30: scales, 31: np.full((1, 64), 127, u32)},
    )  # fmt: skip
    got = taken(out, 16, np.float32)
    assert np.isnan(got[3]).all()
    assert (np.delete(got, 3, 0) == 128).all()


def test_any_function_of_three_bits():
    a, b, c = integers(50, 3)
    for table in (0x00, 0x01, 0x6C, 0xCA, 0x96, 0xE8, 0xFF):
        want = np.zeros_like(a)
        for i in range(8):
            if table >> i & 1:
                want |= (a if i & 4 else ~a) & (b if i & 2 else ~b) & (c if i & 1 else ~c)
        got = lanes(
            f"v_bitop3_b32 {{d}}, {{0}}, {{1}}, {{2}} bitop3:{table:#x}", [a, b, c], 1, "gfx950"
        )
        same(got, want, hex(table))
        x, y, z = (halves(v.astype(np.uint16)) for v in (a, b, c))
        start = np.full(len(a), 0x12345678, u32)
        got = lanes(
            f"v_bitop3_b16 {{d}}, {{0}}, {{1}}, {{2}} bitop3:{table:#x}",
            [x, y, z],
            1,
            "gfx950",
            start=start,
        )
        same(got & u32(0xFFFF), want & u32(0xFFFF), hex(table))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_packed_minima_of_three():
    a, b, c = floats(100, 3, np.float16)
    # What the halves of a register hold.
    pairs = [
        v | np.roll(v, 1) << u32(16) for v in (x.view(np.uint16).astype(u32) for x in (a, b, c))
    ]
    for name, function in {"minimum": np.minimum, "maximum": np.maximum}.items():
        got = lanes(f"v_pk_{name}3_f16 {{d}}, {{0}}, {{1}}, {{2}}", pairs, 1, "gfx950")
        want = function(function(a, b), c)
        for half, expected in ((got & u32(0xFFFF), want), (got >> u32(16), np.roll(want, 1))):
            number = half.astype(np.uint16).view(np.float16)
            zero = np.float16(0)
            same(np.where(number == 0, zero, number), np.where(expected == 0, zero, expected), name)


@pytest.mark.parametrize("row", [16, 32])
def test_rows_change_places(row):
    first, second = np.arange(64, dtype=u32), np.arange(64, dtype=u32) + u32(100)
    text = f"v_permlane{row}_swap_b32 {{0}}, {{1}}\nv_lshl_or_b32 {{d}}, {{1}}, 16, {{0}}"
    got = lanes(text, [first, second], 1, "gfx950")
    want_first, want_second = first.copy(), second.copy()
    for lane in range(64):
        if not lane & row:
            want_first[lane + row], want_second[lane] = second[lane], first[lane + row]
    same(got, want_second << u32(16) | want_first)


def transposed_load(name: str, data: np.ndarray, words: int, target: str = "gfx950") -> np.ndarray:
    """Each lane loads its `words` words of LDS, side by side; the result by [lane, word]."""
    out = np.zeros((64, words), u32)
    body = [
        "s_load_dwordx2 s[8:9], s[0:1], 0", "s_load_dwordx2 s[10:11], s[0:1], 8",
        "s_waitcnt lgkmcnt(0)", f"v_mul_u32_u24 v1, {4 * words}, v0",
    ]  # fmt: skip
    for w in range(words):
        body += [
            f"global_load_dword v2, v1, s[10:11] offset:{4 * w}", "s_waitcnt vmcnt(0)",
            f"ds_write_b32 v1, v2 offset:{4 * w}",
        ]  # fmt: skip
    body += ["s_waitcnt lgkmcnt(0)", f"{name} v[4:{3 + words}], v1", "s_waitcnt lgkmcnt(0)"]
    body += [f"global_store_dword v1, v{4 + w}, s[8:9] offset:{4 * w}" for w in range(words)]
    text = kernel("\n".join(body), [8, 8], target, lds=64 * 4 * words)
    run(text, [out, data], 1, 64)
    return out


@pytest.mark.parametrize("bits", [4, 6, 8, 16])
def test_transposing_loads(bits):
    words = 3 if bits == 6 else 2
    count = words * 32 // bits
    codes = np.random.default_rng(bits).integers(0, 1 << bits, (4, count, 16)).astype(u32)
    # Of 16 lanes each: `count` rows of 16 elements, side by side in memory.
    stream = (codes.reshape(4, -1, 1) >> np.arange(bits, dtype=u32) & u32(1)).astype(np.uint8)
    data = np.packbits(stream.reshape(64, -1), axis=1, bitorder="little").view(u32)
    got = transposed_load(f"ds_read_b{32 * words}_tr_b{bits}", np.ascontiguousarray(data), words)
    want = pack(codes.transpose(0, 2, 1).reshape(64, count), bits).T
    assert (got == want).all()


@pytest.mark.parametrize(("stride", "lost"), [(4, 0), (8, 0), (16, 1), (128, 15), (256, 31)])
def test_bank_conflicts(stride, lost):
    """Of 64 banks; the halves of the wave are served one after the other."""
    body = f"v_mul_u32_u24 v1, {stride}, v0\nds_write_b32 v1, v0\ns_waitcnt lgkmcnt(0)"
    report = run(kernel(body, [8], "gfx950", lds=16384), [np.zeros(4, u32)], 1, 64)
    assert report.to_dict()["counters"]["bank_conflicts"] == 2 * lost


def test_other_targets_have_none_of_it():
    with pytest.raises(TileError, match="has no such instruction"):
        transposed_load("ds_read_b64_tr_b16", np.zeros((64, 2), u32), 2, "gfx942")

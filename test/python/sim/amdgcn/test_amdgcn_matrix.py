# ruff: noqa: E501  (assembly reads better unbroken)
"""MFMA of CDNA and WMMA of RDNA against products of matrices."""

from __future__ import annotations

import re
from functools import partial

import numpy as np
import pytest
from asmlib import WAVE, kernel, run

from tile.errors import TileError

u32 = np.uint32


def fnuz(mantissa: int) -> np.ndarray:
    """All values of a float of 8 bits whose one NaN is 0x80, and whose bias is larger by one."""
    bias = {3: 8, 2: 16}[mantissa]
    out = []
    for b in range(256):
        exponent, fraction = (b & 127) >> mantissa, (b & ((1 << mantissa) - 1)) / (1 << mantissa)
        value = (
            (1 + fraction) * 2.0 ** (exponent - bias) if exponent else fraction * 2.0 ** (1 - bias)
        )
        out.append(np.nan if b == 128 else -value if b >> 7 else value)
    return np.array(out)


def encode(values: np.ndarray, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Bits of small random numbers in a format, and the numbers they stand for."""
    if kind == "f64":
        return values.view(np.uint64), values
    if kind in ("f32", "xf32"):
        bits = values.astype(np.float32).view(u32)
        exact = (
            (bits & u32(0xFFFFE000)).view(np.float32) if kind == "xf32" else bits.view(np.float32)
        )
        return bits, exact.astype(np.float64)
    if kind == "f16":
        half = values.astype(np.float16)
        return half.view(np.uint16), half.astype(np.float64)
    if kind == "bf16":
        bits = (values.astype(np.float32).view(u32) >> u32(16)).astype(np.uint16)
        return bits, (bits.astype(u32) << u32(16)).view(np.float32).astype(np.float64)
    if kind in ("fp8", "bf8"):
        table = fnuz(3 if kind == "fp8" else 2)
        ordinary = np.flatnonzero(np.abs(np.nan_to_num(table, nan=1e9)) <= 4)
        bits = ordinary[(np.abs(values * 1e6).astype(np.int64) % len(ordinary))].astype(np.uint8)
        return bits, table[bits]
    whole = np.clip(np.round(values * 40), -128, 127).astype(np.int8)
    return whole.view(np.uint8), whole.astype(np.float64)


MFMA = """f32_32x32x1_2b_f32 f32_16x16x1_4b_f32 f32_4x4x1_16b_f32 f32_32x32x2_f32 f32_16x16x4_f32
f32_16x16x8_xf32 f32_32x32x4_xf32 f32_32x32x4_2b_f16 f32_16x16x4_4b_f16 f32_4x4x4_16b_f16 f32_32x32x8_f16
f32_16x16x16_f16 f32_32x32x4_2b_bf16 f32_16x16x4_4b_bf16 f32_4x4x4_16b_bf16 f32_32x32x8_bf16 f32_16x16x16_bf16
i32_32x32x4_2b_i8 i32_16x16x4_4b_i8 i32_4x4x4_16b_i8 i32_32x32x16_i8 i32_16x16x32_i8 f32_16x16x32_fp8_fp8
f32_16x16x32_fp8_bf8 f32_16x16x32_bf8_fp8 f32_16x16x32_bf8_bf8 f32_32x32x16_fp8_fp8 f32_32x32x16_fp8_bf8
f32_32x32x16_bf8_fp8 f32_32x32x16_bf8_bf8 f64_16x16x4_f64 f64_4x4x4_4b_f64""".split()


def registers(first: int, count: int, letter: str = "v") -> str:
    return f"{letter}{first}" if count == 1 else f"{letter}[{first}:{first + count - 1}]"


def multiply(
    opcode: str,
    a: np.ndarray,
    b: np.ndarray,
    c: np.ndarray,
    target: str,
    *,
    letter: str = "v",
    suffix: str = "",
    third: str = "",
    others: dict[int, np.ndarray] | None = None,
) -> np.ndarray:
    """Runs one matrix instruction of a wave; operands by [word, lane]. `third`: the operand in
    place of the sum; `others`: further registers that it reads."""
    wave = WAVE[target]
    out = np.zeros_like(c)
    others = others or {}
    lines = ["v_lshlrev_b32 v1, 2, v0"]
    first = {"a": 4, "b": 40, "c": 80}
    for i in range(4 + len(others)):
        lines.append(f"s_load_dwordx2 s[{8 + 2 * i}:{9 + 2 * i}], s[0:1], {8 * i}")
    lines.append("s_waitcnt lgkmcnt(0)")
    for index, (name, words) in enumerate([("a", a), ("b", b), ("c", c)]):
        for w in range(len(words)):
            lines.append(f"v_add_u32 v2, {4 * wave * w}, v1")
            lines.append(
                f"global_load_dword v{first[name] + w}, v2, s[{10 + 2 * index}:{11 + 2 * index}]"
            )
    for index, register in enumerate(others):
        lines.append(f"global_load_dword v{register}, v1, s[{16 + 2 * index}:{17 + 2 * index}]")
    lines.append("s_waitcnt vmcnt(0)")
    result = registers(80, len(c))
    if letter == "a":
        lines += [f"v_accvgpr_write_b32 a{w}, v{80 + w}" for w in range(len(c))]
        result = registers(0, len(c), "a")
    lines.append(
        f"{opcode} {result}, {registers(4, len(a))}, {registers(40, len(b))}, "
        f"{third or result}{suffix}"
    )
    if letter == "a":
        lines += [f"v_accvgpr_read_b32 v{80 + w}, a{w}" for w in range(len(c))]
    for w in range(len(c)):
        lines.append(f"v_add_u32 v2, {4 * wave * w}, v1")
        lines.append(f"global_store_dword v2, v{80 + w}, s[8:9]")
    arguments = [out, a, b, c, *others.values()]
    run(kernel("\n".join(lines), [8] * len(arguments), target), arguments, 1, wave)
    return out


def spread(
    matrix: np.ndarray, lanes: np.ndarray, items: np.ndarray, count: int, wave: int
) -> np.ndarray:
    """Elements into registers: [word, lane]."""
    flat = np.zeros((wave, count), matrix.dtype)
    flat[lanes.ravel(), items.ravel()] = matrix.ravel()
    return np.ascontiguousarray(flat.view(u32).T)


@pytest.mark.parametrize("name", MFMA)
def test_mfma(name):
    m, n, k = (int(x) for x in re.search(r"(\d+)x(\d+)x(\d+)", name).groups())
    blocks = int(found.group(1)) if (found := re.search(r"_(\d+)b_", name)) else 1
    kinds = [
        p for p in name.split("_") if p in ("f16", "bf16", "f32", "xf32", "f64", "i8", "fp8", "bf8")
    ]
    kind_a, kind_b = (kinds[-2], kinds[-1]) if kinds[-1] in ("fp8", "bf8") else (kinds[-1],) * 2
    rng = np.random.default_rng(len(name))
    bits_a, a = encode(rng.standard_normal((blocks, m, k)), kind_a)
    bits_b, b = encode(rng.standard_normal((blocks, k, n)), kind_b)
    each = m * k * blocks // 64
    block, i, p = np.meshgrid(np.arange(blocks), np.arange(m), np.arange(k), indexing="ij")
    words_a = spread(bits_a, i + m * (block + blocks * (p // each)), p % each, each, 64)
    block, p, j = np.meshgrid(np.arange(blocks), np.arange(k), np.arange(n), indexing="ij")
    words_b = spread(bits_b, j + n * (block + blocks * (p // each)), p % each, each, 64)
    # Where the ISA manual's figures have the results.
    block, i, j = np.meshgrid(np.arange(blocks), np.arange(m), np.arange(n), indexing="ij")
    if name == "f64_4x4x4_4b_f64":
        lane, item = j + 4 * block + 16 * i, 0 * i
    elif name.startswith("f64"):
        lane, item = j + 16 * (i % 4), i // 4
    elif m == 4:
        lane, item = j + 4 * block, i
    elif m == 16:
        lane, item = j + 16 * (i // 4), i % 4 + 4 * block
    else:
        lane, item = j + 32 * (i // 4 % 2), i % 4 + 4 * (i // 8) + 16 * block
    dtype = {"f64": np.float64, "i32": np.int32}.get(name[:3], np.float32)
    c = (rng.standard_normal((blocks, m, n)) * 8).astype(dtype)
    count = m * n * blocks // 64
    words_c = spread(c, lane, item, count, 64)
    out = multiply(
        f"v_mfma_{name}", words_a, words_b, words_c, "gfx942", letter="a" if m == 16 else "v"
    )
    got = np.ascontiguousarray(out.T).view(dtype)[lane.ravel(), item.ravel()].reshape(c.shape)
    want = np.einsum("bik,bkj->bij", a, b) + c
    if dtype == np.int32:
        assert (got == want.astype(np.int64)).all()
    else:
        assert np.allclose(got, want, rtol=1e-12 if dtype == np.float64 else 1e-6, atol=1e-6)


@pytest.mark.parametrize("cbsz, abid", [(4, 11), (2, 3), (1, 0), (0, 0)])
def test_mfma_of_blocks_that_share_a_matrix(cbsz, abid):
    """CBSZ: 2^CBSZ neighbouring blocks read the A of their block ABID."""
    rng = np.random.default_rng(cbsz)
    a, b = rng.integers(-4, 5, (2, 16, 4, 4)).astype(np.float16)
    lane, item = np.meshgrid(np.arange(64), np.arange(4), indexing="ij")
    # A lane has a row of A, and a column of B.
    words_a = spread(a.reshape(64, 4).view(np.uint16), lane, item, 4, 64)
    columns = np.ascontiguousarray(b.transpose(0, 2, 1)).reshape(64, 4)
    words_b = spread(columns.view(np.uint16), lane, item, 4, 64)
    out = multiply(
        "v_mfma_f32_4x4x4_16b_f16", words_a, words_b, np.zeros((4, 64), u32), "gfx942",
        suffix=f" cbsz:{cbsz} abid:{abid}",
    )  # fmt: skip
    shared = a[np.arange(16) // 2**cbsz * 2**cbsz + abid]
    want = shared.astype(np.float32) @ b.astype(np.float32)
    assert (out.view(np.float32).reshape(4, 16, 4).transpose(1, 0, 2) == want).all()


@pytest.mark.parametrize("blgp", [1, 2, 4, 5, 6, 7])
def test_mfma_on_lanes_of_b_that_others_read(blgp):
    """BLGP: all lanes read the B of the first or second 32, or of one of the four 16."""
    rng = np.random.default_rng(blgp)
    lanes, first = (32, 32 * (blgp - 1)) if blgp < 4 else (16, 16 * (blgp - 4))
    lane = np.arange(64)
    start = rng.standard_normal((16, 64)).astype(np.float32).view(u32)
    for name, words, results in (
        ("f32_32x32x8_f16", 2, 16), ("f32_16x16x1_4b_f32", 1, 16), ("i32_4x4x4_16b_i8", 1, 4),
    ):  # fmt: skip
        a, b = (rng.integers(-4, 5, (2, words, 64)).astype(np.float32)).view(u32)
        moved = np.ascontiguousarray(b[:, first + lane % lanes])
        product = partial(multiply, f"v_mfma_{name}", a, c=start[:results], target="gfx942")
        got = product(b=b, suffix=f" blgp:{blgp}")
        assert (got == product(b=moved)).all() and (got != product(b=b)).any(), name


@pytest.mark.parametrize(
    ("name", "modifiers", "message"),
    [("f32_4x4x4_16b_f16", "cbsz:5", "more blocks share a matrix than there are"),
     ("f32_16x16x4_4b_f16", "cbsz:3", "more blocks share a matrix than there are"),
     ("f32_16x16x4_4b_f16", "cbsz:1 abid:2", "abid is not a block of those"),
     ("f32_4x4x4_16b_f16", "blgp:3", "blgp is not supported")],
)  # fmt: skip
def test_mfma_of_wrong_blocks(name, modifiers, message):
    words = np.zeros((2, 64), u32)
    results = np.zeros((4 if name[4] == "4" else 16, 64), u32)
    with pytest.raises(TileError, match=message):
        multiply(f"v_mfma_{name}", words, words, results, "gfx942", suffix=f" {modifiers}")


@pytest.mark.parametrize(
    ("name", "kind", "result"),
    [("f32_16x16x16_f16", "f16", "f32"), ("f32_16x16x16_bf16", "bf16", "f32"),
     ("f16_16x16x16_f16", "f16", "f16"), ("bf16_16x16x16_bf16", "bf16", "bf16"),
     ("i32_16x16x16_iu8", "i8", "i32")],
)  # fmt: skip
def test_wmma(name, kind, result):
    rng = np.random.default_rng(5)
    bits_a, a = encode(rng.standard_normal((16, 16)), kind)
    bits_b, b = encode(rng.standard_normal((16, 16)), kind)
    # A lane holds a row of A, or a column of B; both halves of the wave hold the same.
    words_a = np.ascontiguousarray(np.concatenate([bits_a, bits_a]).view(u32).T)
    words_b = np.ascontiguousarray(np.concatenate([bits_b.T, bits_b.T]).copy().view(u32).T)
    i, j = np.meshgrid(np.arange(16), np.arange(16), indexing="ij")
    lane, item = j + 16 * (i % 2), i // 2
    start = rng.standard_normal((16, 16)) * 4
    if result == "i32":
        c = (start * 100).astype(np.int32)
        words_c, values = spread(c, lane, item, 8, 32), c.astype(np.float64)
    elif result == "f32":
        c = start.astype(np.float32)
        words_c, values = spread(c, lane, item, 8, 32), c.astype(np.float64)
    else:
        bits, values = encode(start, result)
        words_c = spread(bits.astype(u32), lane, item, 8, 32)
    suffix = " neg_lo:[1,1,0]" if result == "i32" else ""
    out = multiply(f"v_wmma_{name}", words_a, words_b, words_c, "gfx1100", suffix=suffix)
    words = out.T[lane.ravel(), item.ravel()].reshape(16, 16)
    want = a @ b + values
    if result == "i32":
        assert (words.view(np.int32) == want).all()
    elif result == "f32":
        assert np.allclose(words.view(np.float32), want, rtol=1e-6, atol=1e-6)
    elif result == "f16":
        assert np.allclose(words.astype(np.uint16).view(np.float16), want, rtol=1e-3, atol=1e-3)
    else:
        got = ((words & 0xFFFF) << 16).astype(u32).view(np.float32)
        assert np.allclose(got, want, rtol=1e-2, atol=1e-2)

"""v_cvt_scalef32_*: conversions with a scale of gfx950, against ml_dtypes."""

from __future__ import annotations

import itertools

import ml_dtypes
import numpy as np
import pytest
from asmlib import kernel, lanes, run, same

from tile.errors import TileError

u32 = np.uint32
TYPES = {
    "f32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "fp8": ml_dtypes.float8_e4m3fn,
    "bf8": ml_dtypes.float8_e5m2,
    "fp6": ml_dtypes.float6_e2m3fn,
    "bf6": ml_dtypes.float6_e3m2fn,
    "fp4": ml_dtypes.float4_e2m1fn,
}
BITS = {"f32": 32, "f16": 16, "bf16": 16, "fp8": 8, "bf8": 8, "fp6": 6, "bf6": 6, "fp4": 4}
LARGE = ["f32", "f16", "bf16"]
#: What a result's registers hold before.
OLD = 0x5A5A5A5A


def codes_of(values: np.ndarray, name: str) -> np.ndarray:
    """Bit patterns of numbers, rounded once, to nearest even."""
    with np.errstate(over="ignore"):
        small = values.astype(TYPES[name])
    if BITS[name] == 32:
        return small.view(u32)
    return small.view(np.uint16 if BITS[name] == 16 else np.uint8).astype(u32)


def numbers_of(codes: np.ndarray, name: str) -> np.ndarray:
    storage = {32: np.uint32, 16: np.uint16}.get(BITS[name], np.uint8)
    return codes.astype(storage).view(TYPES[name]).astype(np.float64)


def pack(codes: np.ndarray, bits: int) -> np.ndarray:
    """Codes by [lane, item] as registers, [word, lane]; what is left of the last one is 0."""
    stream = (codes[:, :, None] >> np.arange(bits, dtype=u32) & u32(1)).reshape(len(codes), -1)
    stream = np.pad(stream.astype(np.uint8), ((0, 0), (0, -stream.shape[1] % 32)))
    return np.ascontiguousarray(np.packbits(stream, axis=1, bitorder="little").view(u32).T)


def random_codes(name: str, count: int, seed: int) -> np.ndarray:
    """By [lane, item]: all bit patterns of small formats, and numbers of many magnitudes, some of
    them halfway between two of a small format."""
    rng = np.random.default_rng(seed)
    if BITS[name] < 16:
        return rng.integers(0, 1 << BITS[name], (64, count)).astype(u32)
    values = rng.standard_normal((64, count)) * np.exp2(rng.integers(-12, 12, (64, count)))
    ties = rng.integers(-64, 64, (64, count)) * np.exp2(rng.integers(-6, 4, (64, count)))
    return codes_of(np.where(rng.random((64, count)) < 0.5, values, ties), name)


def convert(text: str, sources: list[np.ndarray], scales: np.ndarray, words: int) -> np.ndarray:
    """`text` has {d}, {0}, {1} for the result and the sources, and {s} for the scale. Registers
    are given and returned by [word, lane]."""
    out = np.full((words, 64), OLD, u32)
    first = [40, 60]
    arguments = [out, *sources, scales]
    lines = ["v_lshlrev_b32 v1, 2, v0"]
    for i in range(len(arguments)):
        lines.append(f"s_load_dwordx2 s[{8 + 2 * i}:{9 + 2 * i}], s[0:1], {8 * i}")
    lines.append("s_waitcnt lgkmcnt(0)")
    for register, array, base in zip([4, *first], [out, *sources], range(8, 20, 2), strict=False):
        for w in range(len(array)):
            lines += [f"v_add_u32 v2, {256 * w}, v1",
                      f"global_load_dword v{register + w}, v2, s[{base}:{base + 1}]"]  # fmt: skip
    base = 8 + 2 * (len(arguments) - 1)
    lines += [f"global_load_dword v80, v1, s[{base}:{base + 1}]", "s_waitcnt vmcnt(0)"]

    def name(at: int, count: int) -> str:
        return f"v{at}" if count == 1 else f"v[{at}:{at + count - 1}]"

    named = [name(at, len(array)) for at, array in zip(first, sources, strict=False)]
    lines.append(text.format(*named, d=name(4, words), s="v80"))
    for w in range(words):
        lines += [f"v_add_u32 v2, {256 * w}, v1", f"global_store_dword v2, v{4 + w}, s[8:9]"]
    run(kernel("\n".join(lines), [8] * len(arguments), "gfx950"), arguments, 1, 64)
    return out


def scales_of(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Operands whose exponents are scales, with other bits that do not matter, and the scales."""
    rng = np.random.default_rng(seed)
    exponents = rng.integers(121, 134, 64)
    rubbish = rng.integers(0, 1 << 23, 64) | rng.integers(0, 2, 64) << 31
    return (exponents << 23 | rubbish).astype(u32), np.exp2(exponents - 127.0)[:, None]


def compare(got: np.ndarray, want: np.ndarray, name: str, count: int) -> None:
    """Registers of `count` codes, whose numbers are equal; any NaN equals any NaN."""
    stream = np.unpackbits(np.ascontiguousarray(got.T).view(np.uint8), axis=1, bitorder="little")
    bits = BITS[name]
    items = stream[:, : count * bits].reshape(64, count, bits)
    codes = (items.astype(u32) << np.arange(bits, dtype=u32)).sum(2, dtype=u32)
    a, b = numbers_of(codes, name), numbers_of(want, name)
    bad = (codes != want) & ~(np.isnan(a) & np.isnan(b))
    assert not bad.any(), (a[bad][:4], b[bad][:4])


def place(bits: int, part: int) -> str:
    """op_sel of a result of 8 or 16 bits."""
    return f"0,0,{part & 1},{part >> 1}" if bits == 8 else f"0,0,0,{part}"


@pytest.mark.parametrize("name", ["fp8", "bf8", "fp4"])
@pytest.mark.parametrize("part", range(4))
def test_two_floats_to_a_part(name, part):
    bits = 2 * BITS[name]
    if bits * part >= 32:
        return
    codes, (operand, scales) = random_codes("f32", 2, part), scales_of(part)
    text = f"v_cvt_scalef32_pk_{name}_f32 {{d}}, {{0}}, {{1}}, {{s}} op_sel:[{place(bits, part)}]"
    got = convert(text, [codes.T[:1].copy(), codes.T[1:].copy()], operand, 1)
    want = codes_of(numbers_of(codes, "f32") / scales, name)
    ones = u32(((1 << bits) - 1) << bits * part)
    assert (got & ~ones == u32(OLD) & ~ones).all()
    compare(got >> u32(bits * part), want, name, 2)


@pytest.mark.parametrize(
    ("name", "large"), list(itertools.product(["fp8", "bf8", "fp4"], LARGE[1:]))
)
@pytest.mark.parametrize("part", range(4))
def test_two_halves_to_a_part(name, large, part):
    bits = 2 * BITS[name]
    if bits * part >= 32:
        return
    codes, (operand, scales) = random_codes(large, 2, part), scales_of(part)
    # Of two sources, 16 bits of a result are said to be there by the third place of the list.
    chosen = place(bits, part) if bits == 8 else f"0,0,{part}"
    text = f"v_cvt_scalef32_pk_{name}_{large} {{d}}, {{0}}, {{s}} op_sel:[{chosen}]"
    got = convert(text, [pack(codes, 16)], operand, 1)
    want = codes_of(numbers_of(codes, large) / scales, name)
    ones = u32(((1 << bits) - 1) << bits * part)
    assert (got & ~ones == u32(OLD) & ~ones).all()
    compare(got >> u32(bits * part), want, name, 2)


@pytest.mark.parametrize(("name", "large"), list(itertools.product(["fp8", "bf8", "fp4"], LARGE)))
@pytest.mark.parametrize("part", range(4))
def test_two_from_a_part(name, large, part):
    bits = 2 * BITS[name]
    if bits * part >= 32:
        return
    codes, (operand, scales) = random_codes(name, 32 // BITS[name], part), scales_of(part)
    text = f"v_cvt_scalef32_pk_{large}_{name} {{d}}, {{0}}, {{s}} op_sel:[{part & 1},{part >> 1}]"
    got = convert(text, [pack(codes, BITS[name])], operand, BITS[large] // 16)
    taken = codes[:, 2 * part : 2 * part + 2]
    compare(got, codes_of(numbers_of(taken, name) * scales, large), large, 2)


@pytest.mark.parametrize("name", ["fp8", "bf8"])
@pytest.mark.parametrize("part", range(4))
def test_one_of_a_byte(name, part):
    codes, (operand, scales) = random_codes(name, 4, part), scales_of(part)
    numbers = numbers_of(codes[:, part : part + 1], name) * scales
    chosen = f"op_sel:[{part & 1},{part >> 1}"
    text = f"v_cvt_scalef32_f32_{name} {{d}}, {{0}}, {{s}} {chosen}]"
    compare(convert(text, [pack(codes, 8)], operand, 1), codes_of(numbers, "f32"), "f32", 1)
    for half in range(2):
        text = f"v_cvt_scalef32_f16_{name} {{d}}, {{0}}, {{s}} {chosen},{half}]"
        got = convert(text, [pack(codes, 8)], operand, 1)
        compare(got >> u32(16 * half), codes_of(numbers, "f16"), "f16", 1)
        assert ((got >> u32(16 - 16 * half) & u32(0xFFFF)) == OLD & 0xFFFF).all()


@pytest.mark.parametrize(("name", "large"), list(itertools.product(["fp6", "bf6"], LARGE)))
def test_thirty_two_of_six_bits(name, large):
    codes, (operand, scales) = random_codes(name, 32, 1), scales_of(1)
    got = convert(
        f"v_cvt_scalef32_pk32_{large}_{name} {{d}}, {{0}}, {{s}}",
        [pack(codes, 6)], operand, BITS[large],
    )  # fmt: skip
    compare(got, codes_of(numbers_of(codes, name) * scales, large), large, 32)


@pytest.mark.parametrize(("name", "large"), list(itertools.product(["fp6", "bf6"], LARGE)))
def test_thirty_two_to_six_bits(name, large):
    codes, (operand, scales) = random_codes(large, 32, 2), scales_of(2)
    sources, text = [pack(codes, 16)] if large != "f32" else [], "pk32"
    if large == "f32":
        # The elements come from two operands in turns.
        sources, text = [codes.T[::2].copy(), codes.T[1::2].copy()], "2xpk16"
    operands = ", ".join(f"{{{i}}}" for i in range(len(sources)))
    text = f"v_cvt_scalef32_{text}_{name}_{large} {{d}}, {operands}, {{s}}"
    got = convert(text, sources, operand, 6)
    compare(got, codes_of(numbers_of(codes, large) / scales, name), name, 32)


def test_a_scale_of_255_is_no_number():
    codes = random_codes("fp8", 4, 0)
    infinity = np.full(64, 0x7F800000, u32)
    text = "v_cvt_scalef32_pk_f32_fp8 {d}, {0}, {s}"
    assert np.isnan(convert(text, [pack(codes, 8)], infinity, 2).view(np.float32)).all()


def test_signs_of_floats():
    codes, (operand, scales) = random_codes("f32", 2, 5), scales_of(5)
    sources = [codes.T[:1].copy(), codes.T[1:].copy()]
    got = convert("v_cvt_scalef32_pk_fp8_f32 {d}, -{0}, |{1}|, {s}", sources, operand, 1)
    numbers = numbers_of(codes, "f32") / scales
    numbers = np.stack([-numbers[:, 0], np.abs(numbers[:, 1])], 1)
    compare(got, codes_of(numbers, "fp8"), "fp8", 2)
    with pytest.raises(TileError, match="signs of its numbers"):
        convert("v_cvt_scalef32_pk_fp8_f16 {d}, -{0}, {s}", sources[:1], operand, 1)


def test_random_numbers():
    a = np.random.default_rng(3).integers(0, 1 << 32, 64, np.uint64).astype(u32)
    want = a << u32(1) ^ np.where(a >> u32(31), u32(0xC5), u32(0))
    same(lanes("v_prng_b32 {d}, {0}", [a], 1, "gfx950"), want)

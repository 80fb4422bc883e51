# ruff: noqa: E501  (assembly reads better unbroken)
"""What comes with HIP's device library and with arrays in registers, against Python's integers."""

from __future__ import annotations

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from asmlib import findings, integers, kernel, lanes, run, same

from tile.errors import TileError

u32, i64 = np.uint32, np.int64


def pi(bits: int) -> Fraction:
    """To so many bits, after Machin."""
    one = 1 << (bits + 32)

    def arctangent(x: int) -> int:
        total = term = one // x
        n, sign = 3, -1
        while term:
            term //= x * x
            total += sign * (term // n)
            n, sign = n + 2, -sign
        return total

    return Fraction(4 * (4 * arctangent(5) - arctangent(239)), one)


@pytest.mark.parametrize("target", ["gfx942", "gfx1100", "gfx1200"])
def test_reduction_of_arguments(target):
    """Parts of 2 / pi, for arguments that are so large."""
    fraction = int(2 / pi(1500) * (1 << 1201))
    exponents = np.array([0, 1000, 1077, 1078, 1100, 1500, 1968, 2040, 2046], np.uint64)
    x = (exponents << np.uint64(52) | np.uint64(12345)).view(np.float64)
    for part in range(3):
        got = lanes(f"v_trig_preop_f64 {{d}}, {{0}}, {part}", [x], 2, target).view(np.float64)
        for value, exponent in zip(got.tolist(), exponents.tolist(), strict=True):
            shift = part * 53 + max(0, exponent - 1077)
            bits = (fraction << shift >> (1201 - 53)) & ((1 << 53) - 1)
            scale = -53 - shift + (128 if exponent >= 1968 else 0)
            assert Fraction(value) == bits * Fraction(2) ** scale, (part, exponent)


def bytes_of(a: np.ndarray) -> np.ndarray:
    return a.view(np.uint8).reshape(-1, 4).astype(i64)


def words_of(a: np.ndarray, dtype: type = np.uint16) -> np.ndarray:
    return a.view(dtype).reshape(-1, 2).astype(i64)


def test_sums_of_differences():
    a, b, c = integers(100, 3)
    x, y = bytes_of(a), bytes_of(b)
    apart = np.abs(x - y)
    for name, want in {
        "v_sad_u16": np.abs(words_of(a) - words_of(b)).sum(1) + c,
        "v_sad_hi_u8": (apart.sum(1) << 16) + c,
        "v_msad_u8": (apart * (y != 0)).sum(1) + c,
        "v_lerp_u8": ((x + y + (bytes_of(c) & 1)) >> 1 << [0, 8, 16, 24]).sum(1),
        "v_dot2_i32_i16": (words_of(a, np.int16) * words_of(b, np.int16)).sum(1) + c,
        "v_dot2_u32_u16": (words_of(a) * words_of(b)).sum(1) + c,
    }.items():
        got = lanes(f"{name} {{d}}, {{0}}, {{1}}, {{2}}", [a, b, c])
        same(got, (want & 0xFFFFFFFF).astype(u32), name)
    low = np.clip(words_of(a, np.int16), 0, 255)
    same(lanes("v_sat_pk_u8_i16 {d}, {0}", [a]), (low[:, 0] | low[:, 1] << 8).astype(u32))
    got = lanes("v_add_i16 {d}, {0}, {1} clamp", [a & u32(0xFFFF), b & u32(0xFFFF)])
    total = words_of(a, np.int16)[:, 0] + words_of(b, np.int16)[:, 0]
    same(got, np.clip(total, -32768, 32767).astype(np.int16).view(np.uint16).astype(u32))


@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_dot_products_of_halves(kind):
    dtype = np.float16 if kind == "f16" else ml_dtypes.bfloat16
    rng = np.random.default_rng(4)
    a, b, c = (rng.standard_normal((64, 2)).astype(np.float32).astype(dtype) for _ in range(3))
    words = [v.view(np.uint16).reshape(-1).view(u32) for v in (a, b, c)]
    x, y, z = (v.astype(np.float64) for v in (a, b, c))
    got = lanes(f"v_dot2_{kind}_{kind} {{d}}, {{0}}, {{1}}, {{2}}", words, 1, "gfx1100")
    want = ((x * y).sum(1) + z[:, 0]).astype(np.float32).astype(dtype)
    assert ((got & u32(0xFFFF)) == want.view(np.uint16)).all()
    if kind == "f16":
        got = lanes("v_pk_fmac_f16 {d}, {0}, {1}", words[:2], 1, "gfx1100", start=words[2])
        assert (got == (x * y + z).astype(np.float16).view(np.uint16).reshape(-1).view(u32)).all()


def test_dot_products_of_bytes():
    rng = np.random.default_rng(5)
    formats = {"fp8": ml_dtypes.float8_e4m3fn, "bf8": ml_dtypes.float8_e5m2}
    c = rng.standard_normal(64).astype(np.float32)
    for first, second in (("fp8", "fp8"), ("fp8", "bf8"), ("bf8", "fp8"), ("bf8", "bf8")):
        a = rng.standard_normal((64, 4)).astype(np.float32).astype(formats[first])
        b = rng.standard_normal((64, 4)).astype(np.float32).astype(formats[second])
        words = [v.view(np.uint8).reshape(-1).view(u32) for v in (a, b)]
        got = lanes(
            f"v_dot4_f32_{first}_{second} {{d}}, {{0}}, {{1}}, {{2}}", [*words, c], 1, "gfx1200"
        )
        want = (a.astype(np.float64) * b.astype(np.float64)).sum(1) + c
        assert np.allclose(got.view(np.float32), want, rtol=1e-6, atol=1e-6)


START = """s_load_dwordx2 s[8:9], s[0:1], 0
v_lshlrev_b32 v1, 2, v0
s_waitcnt lgkmcnt(0)
"""


@pytest.mark.parametrize("target", ["gfx942", "gfx1100"])
def test_masks(target):
    """EXEC from a mask and EXEC; a bit for each quad, and two for each bit."""
    wide = target == "gfx942"
    size, full = (64, "-1") if wide else (32, "-1")
    suffix, result, source = ("b64", "s[20:21]", "s[22:23]") if wide else ("b32", "s20", "s22")
    every = (1 << size) - 1
    mask, old = 0x123400FF00FF4321 & every, 0x0FF00FF0F0F0F0F0 & every
    names = {
        "nand": ~(mask & old), "nor": ~(mask | old), "xnor": ~(mask ^ old),
        "orn1" if wide else "or_not0": ~mask | old, "orn2" if wide else "or_not1": mask | ~old,
    }  # fmt: skip
    execs = "exec" if wide else "exec_lo"
    for name, want in names.items():
        out = np.zeros(4, u32)
        body = (
            START
            + f"""s_mov_b32 s22, {mask & 0xFFFFFFFF:#x}
s_mov_b32 s23, {mask >> 32:#x}
s_mov_b32 exec_lo, {old & 0xFFFFFFFF:#x}
{f"s_mov_b32 exec_hi, {old >> 32:#x}" if wide else "s_mov_b32 s21, 0"}
s_{name}_saveexec_{suffix} {result}, {source}
s_mov_b32 s24, exec_lo
s_mov_b32 s25, {"exec_hi" if wide else "0"}
s_mov_b{size} {execs}, {full}
v_mov_b32 v4, s20
v_mov_b32 v5, s21
v_mov_b32 v6, s24
v_mov_b32 v7, s25
v_mov_b32 v8, 0
global_store_dwordx4 v8, v[4:7], s[8:9]
"""
        )
        run(kernel(body, [8], target), [out], 1, size)
        words = [old & 0xFFFFFFFF, old >> 32, want & 0xFFFFFFFF, (want & every) >> 32]
        assert out.tolist() == words, name
    quads = sum((mask >> 4 * i & 15 != 0) << i for i in range(8))
    twice = sum((mask >> i & 1) * 3 << 2 * i for i in range(32))
    for text, want in [("s_quadmask_b32 s20, s22", quads),
                       ("s_bitreplicate_b64_b32 s[20:21], s22", twice & 0xFFFFFFFF),
                       ("s_bitreplicate_b64_b32 s[20:21], s22\ns_mov_b32 s20, s21", twice >> 32)]:  # fmt: skip
        out = np.zeros(1, u32)
        body = f"{START}s_mov_b32 s22, {mask & 0xFFFFFFFF:#x}\n{text}\nv_mov_b32 v4, s20\nv_mov_b32 v8, 0\nglobal_store_dword v8, v4, s[8:9]\n"
        run(kernel(body, [8], target), [out], 1, 1)
        assert out[0] == want, text


ARRAY = (
    START
    + """v_mov_b32 v10, v0
v_add_u32 v11, 100, v0
v_add_u32 v12, 200, v0
v_mov_b32 v13, 0
s_mov_b32 s12, {index}
{read}
{write}
v_add_u32 v5, v4, v12
v_add_u32 v5, v5, v13
global_store_dword v1, v5, s[8:9]
"""
)
RELATIVE = {
    "gfx942": ("s_set_gpr_idx_on s12, gpr_idx(SRC0)\nv_mov_b32 v4, v10\ns_set_gpr_idx_off",
               "s_set_gpr_idx_on s12, gpr_idx(DST)\nv_mov_b32 v11, v0\ns_set_gpr_idx_off"),
    "gfx1100": ("s_mov_b32 m0, s12\nv_movrels_b32 v4, v10",
                "s_mov_b32 m0, s12\nv_movreld_b32 v11, v0"),
}  # fmt: skip


@pytest.mark.parametrize("target", RELATIVE)
def test_arrays_in_registers(target):
    read, write = RELATIVE[target]
    i = np.arange(32, dtype=u32)
    for index in range(3):
        out = np.zeros(32, u32)
        run(kernel(ARRAY.format(index=index, read=read, write=write), [8], target), [out], 1, 32)
        array = [i, i + 100, i + 200, i * 0]
        value = array[index].copy()
        array[1 + index] = i
        assert (out == value + array[2] + array[3]).all()
    # A register that holds nothing, and one that there is not.
    text = kernel(ARRAY.format(index=5, read=read, write="").replace("v5", "v6"), [8], target)
    assert findings(text, [np.zeros(32, u32)], 1, 32) == ["bad-register"]
    text = kernel(ARRAY.format(index=0, read=read.replace("v10", "v3"), write=""), [8], target)
    assert "uninitialized" in findings(text, [np.zeros(32, u32)], 1, 32)


def test_only_a_move_is_indexed():
    text = "s_set_gpr_idx_on s12, gpr_idx(SRC0)\nv_add_u32 v4, 1, v10\ns_set_gpr_idx_off"
    with pytest.raises(TileError, match="only one v_mov_b32"):
        run(kernel(text, [8], "gfx942"), [np.zeros(1, u32)], 1, 64)

# ruff: noqa: E501  (assembly reads better unbroken)
"""What gfx1250 has of its own: integers of 64 bits, bfloat16, offsets that are scaled, 1,024 vector
registers, pairs of more instructions, WMMA on longer rows."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from asmlib import halves, integers, kernel, lanes, run, same
from test_amdgcn_gfx12 import encoded
from test_amdgcn_matrix import encode, multiply, spread

from tile.errors import TileError

u32, u64, i64, f32 = np.uint32, np.uint64, np.int64, np.float32
GPU = "gfx1250"


def test_integers_of_64_bits():
    a, b = integers(150, 2, 64)
    (n,) = integers(len(a), 1)
    n = n[: len(a)]
    signed = n.view(np.int32).astype(i64)
    for name, want in {
        "v_add_nc_u64": a + b,
        "v_sub_nc_u64": a - b,
        "v_mul_u64": a * b,
        "v_min_u64": np.minimum(a, b),
        "v_max_u64": np.maximum(a, b),
        "v_min_i64": np.minimum(a.view(i64), b.view(i64)).view(u64),
        "v_max_i64": np.maximum(a.view(i64), b.view(i64)).view(u64),
    }.items():
        same(lanes(f"{name} {{d}}, {{0}}, {{1}}", [a, b], 2, GPU), want, name)
    got = lanes("v_mad_nc_u64_u32 {d}, {1}, {1}, {0}", [a, n], 2, GPU)
    same(got, n.astype(u64) * n.astype(u64) + a)
    got = lanes("v_mad_nc_i64_i32 {d}, {1}, -3, {0}", [a, n], 2, GPU)
    same(got, (signed * -3).view(u64) + a)
    same(
        lanes("v_add_nc_u64 {d}, 0x123456789abcdef0, {0}", [a], 2, GPU), a + u64(0x123456789ABCDEF0)
    )
    same(lanes("v_mad_u32 {d}, {0}, {0}, 7", [n], 1, GPU), n * n + u32(7))


def test_literals_of_64_bits():
    """Of a literal of 32 bits, a double has the upper half."""
    x = np.arange(32, dtype=np.float64)
    for literal, value in {
        "0x3de6124613a86d09": np.array(0x3DE6124613A86D09, u64).view(np.float64),
        "0x40450000": 42.0,
        "lit64(0x40450000)": np.array(0x40450000, u64).view(np.float64),
    }.items():
        same(lanes(f"v_add_f64 {{d}}, {literal}, {{0}}", [x], 2, GPU), x + value, literal)
        same(
            lanes(f"v_fmaak_f64 {{d}}, {{0}}, {{0}}, {literal}", [x], 2, GPU),
            x * x + value,
            literal,
        )


def test_pairs_of_instructions():
    a, b = integers(100, 2)
    text = "v_dual_bitop2_b32 {{d}}, {{0}}, {{1}} bitop3:{} :: v_dual_lshrrev_b32 v41, 3, {{1}}"
    for code, want in {"0x40": a & b, "0x54": a | b, "0x14": a ^ b}.items():
        same(lanes(text.format(code), [a, b], 1, GPU), want, code)
        got = lanes(text.format(code) + "\nv_mov_b32 {d}, v41", [a, b], 1, GPU)
        same(got, b >> u32(3))


def test_bfloat16():
    rng = np.random.default_rng(3)
    a, b, c = (rng.standard_normal(256).astype(f32).astype(ml_dtypes.bfloat16) for _ in range(3))
    x, y, z = (v.astype(np.float64) for v in (a, b, c))

    def pair(low, high):
        return low.view(np.uint16).astype(u32) | high.view(np.uint16).astype(u32) << u32(16)

    def rounded(v):
        return v.astype(ml_dtypes.bfloat16)

    words = [pair(a, b), pair(b, c), pair(c, a)]
    for text, low, high in [
        ("v_pk_add_bf16 {d}, {0}, {1}", x + y, y + z),
        ("v_pk_mul_bf16 {d}, {0}, {1} neg_lo:[1,0]", -x * y, y * z),
        ("v_pk_fma_bf16 {d}, {0}, {1}, {2}", x * y + z, y * z + x),
        ("v_pk_min_num_bf16 {d}, {0}, {1}", np.minimum(x, y), np.minimum(y, z)),
        ("v_pk_max_num_bf16 {d}, {0}, {1}", np.maximum(x, y), np.maximum(y, z)),
    ]:
        assert (lanes(text, words, 1, GPU) == pair(rounded(low), rounded(high))).all(), text
    start = np.full(256, 0x12340000, u32)
    operands = [halves(v.view(np.uint16)) for v in (a, b, c)]
    got = lanes("v_fma_bf16 {d}, {0}, {1}, {2}", operands, 1, GPU, start=start)
    assert (got == start + rounded(x * y + z).view(np.uint16)).all()
    got = lanes("v_fma_mix_f32_bf16 {d}, {0}, {1}, {2} op_sel:[0,1,0] op_sel_hi:[1,1,0]",
                [words[0], words[1], z.astype(f32)], 1, GPU)  # fmt: skip
    assert (got.view(f32) == (x * z + z).astype(f32)).all()
    for name, function in {"v_tanh_f32": np.tanh}.items():
        got = lanes(f"{name} {{d}}, {{0}}", [z.astype(f32)], 1, GPU)
        assert np.allclose(got.view(f32), function(z), rtol=1e-6)


START = """s_load_b64 s[8:9], s[0:1], 0
s_load_b64 s[10:11], s[0:1], 8
s_wait_kmcnt 0
"""


def test_offsets_of_lanes():
    """They have a sign, and may count elements."""
    x = np.arange(64, dtype=u32) * u32(3)
    body = (
        START
        + """v_sub_nc_u32 v1, 31, v0
v_sub_nc_u32 v2, v1, 31
s_add_nc_u64 s[10:11], s[10:11], 0xfc
global_load_b32 v3, v2, s[10:11] scale_offset offset:-128
global_load_b32 v4, v2, s[10:11] scale_offset
s_wait_loadcnt 0
global_store_b32 v0, v3, s[8:9] scale_offset
global_store_b32 v0, v4, s[8:9] offset:128 scale_offset
"""
    )
    out = np.zeros(64, u32)
    run(kernel(body, [8, 8], GPU), [out, x], 1, 32)
    assert (out[:32] == x[31::-1]).all() and (out[32:] == x[:31:-1]).all()


def test_logic_of_three_takes_lanes_by_dpp():
    x = np.random.default_rng(3).integers(0, 1 << 32, 32, dtype=u32)
    body = (
        START
        + """v_mov_b32 v3, v0
global_load_b32 v2, v0, s[10:11] scale_offset
s_wait_loadcnt 0
v_bitop3_b32_e64_dpp v3, v2, v0, 1 bitop3:0xf2 row_xmask:1 row_mask:0xf bank_mask:0xf bound_ctrl:1
global_store_b32 v0, v3, s[8:9] scale_offset
"""
    )
    out = np.zeros(32, u32)
    run(kernel(body, [8, 8], GPU), [out, x], 1, 32)
    lanes = np.arange(32, dtype=u32)
    assert (out == (x[lanes ^ 1] | (~lanes & 1))).all()


def test_scalar_offsets_that_count_what_is_loaded():
    x = np.arange(64, dtype=u32) * u32(3) + u32(7)
    body = (
        START
        + """s_mov_b32 s16, 5
s_load_b32 s17, s[10:11], s16 offset:8 scale_offset
s_load_b64 s[18:19], s[10:11], s16 scale_offset
s_load_u16 s20, s[10:11], s16 offset:2 scale_offset
s_load_b32 s21, s[10:11], s16 offset:3
s_wait_kmcnt 0
v_mov_b32 v3, s17
v_mov_b32 v4, s18
v_mov_b32 v5, s19
v_mov_b32 v6, s20
v_mov_b32 v7, s21
v_mov_b32 v1, 0
global_store_b32 v1, v3, s[8:9]
global_store_b32 v1, v4, s[8:9] offset:4
global_store_b32 v1, v5, s[8:9] offset:8
global_store_b32 v1, v6, s[8:9] offset:12
global_store_b32 v1, v7, s[8:9] offset:16
"""
    )
    out = np.zeros(5, u32)
    run(kernel(body, [8, 8], GPU), [out, x], 1, 1)
    assert out.tolist() == [x[7], x[10], x[11], x[3] & 0xFFFF, x[2]]


MANY = (
    START
    + """v_lshlrev_b32 v2, 2, v0
s_set_vgpr_msb 0x40
v_mov_b32 v5 /*v261*/, v0
s_set_vgpr_msb 0xc0
v_add_nc_u32 v5 /*v773*/, 100, v0
{mode}
v_add_nc_u32 v5, v5 /*v261*/, v5 /*v773*/
v_dual_mov_b32 v6, v5 /*v261*/ :: v_dual_add_nc_u32 v7, v5 /*v261*/, v5 /*v773*/
s_set_vgpr_msb 0
v_add3_u32 v5, v5, v6, v7
{end}
global_store_b32 v2, v5, s[8:9]
"""
)


def test_registers_beyond_256():
    out, x = np.zeros(32, u32), np.zeros(1, u32)
    i = np.arange(32, dtype=u32)
    run(kernel(MANY.format(mode="s_set_vgpr_msb 0xc00d", end=""), [8, 8], GPU), [out, x], 1, 32)
    assert (out == 2 * (2 * i + 100) + i).all()
    for end in ("s_set_vgpr_msb 4\ns_branch next\nnext:\ns_set_vgpr_msb 0", ""):
        run(kernel(MANY.format(mode="s_set_vgpr_msb 13", end=end), [8, 8], GPU), [out, x], 1, 32)
    for mode, end, message in [
        ("s_set_vgpr_msb 13", "s_branch next\ns_set_vgpr_msb 1\nnext:\ns_set_vgpr_msb 0", "differ"),
        ("s_set_vgpr_msb s3", "", "takes a number"),
    ]:
        with pytest.raises(TileError, match=message):
            run(kernel(MANY.format(mode=mode, end=end), [8, 8], GPU), [out, x], 1, 32)
    # Who reads another register than the one that was written finds nothing in it.
    with pytest.raises(TileError, match="uninitialized"):
        run(kernel(MANY.format(mode="s_set_vgpr_msb 9", end=""), [8, 8], GPU), [out, x], 1, 32)


@pytest.mark.parametrize(
    ("name", "kinds", "result"),
    [("f32_16x16x4_f32", ("f32", "f32"), "f32"),
     ("f32_16x16x32_f16", ("f16", "f16"), "f32"), ("f32_16x16x32_bf16", ("bf16", "bf16"), "f32"),
     ("f16_16x16x32_f16", ("f16", "f16"), "f16"), ("bf16_16x16x32_bf16", ("bf16", "bf16"), "bf16"),
     ("i32_16x16x64_iu8", ("i8", "i8"), "i32"),
     ("f32_16x16x64_fp8_fp8", ("fp8", "fp8"), "f32"), ("f32_16x16x64_fp8_bf8", ("fp8", "bf8"), "f32"),
     ("f16_16x16x64_bf8_fp8", ("bf8", "fp8"), "f16"), ("f16_16x16x64_bf8_bf8", ("bf8", "bf8"), "f16"),
     ("f32_16x16x128_fp8_bf8", ("fp8", "bf8"), "f32"), ("f32_16x16x128_bf8_fp8", ("bf8", "fp8"), "f32"),
     ("f16_16x16x128_fp8_fp8", ("fp8", "fp8"), "f16")],
)  # fmt: skip
def test_wmma(name, kinds, result):
    rng = np.random.default_rng(8)
    depth = int(name.split("_")[1].split("x")[2])
    bits_a, a = encoded(rng.standard_normal((16, depth)), kinds[0])
    bits_b, b = encoded(rng.standard_normal((depth, 16)), kinds[1])
    # Eight neighbours along K in a lane, the next eight in the lane 16 further, and so on.
    chunk = min(8, depth // 2)
    row, k = np.meshgrid(np.arange(16), np.arange(depth), indexing="ij")
    place = row + 16 * (k // chunk % 2), k // (2 * chunk) * chunk + k % chunk
    words_a = spread(bits_a, *place, depth // 2, 32)
    words_b = spread(np.ascontiguousarray(bits_b.T), *place, depth // 2, 32)
    i, j = np.meshgrid(np.arange(16), np.arange(16), indexing="ij")
    lane, item = j + 16 * (i // 8), i % 8
    start = rng.standard_normal((16, 16)) * 4
    bits_c, c = ((start * 100).astype(np.int32),) * 2 if result == "i32" else encode(start, result)
    words_c = spread(bits_c, lane, item, 8, 32)
    suffix = " neg_lo:[1,1,0]" if result == "i32" else " matrix_a_reuse"
    out = multiply(f"v_wmma_{name}", words_a, words_b, words_c, GPU, suffix=suffix)
    dtype = {"i32": np.int32, "f32": f32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}[result]
    got = np.ascontiguousarray(out.T).view(dtype)[lane, item].astype(np.float64)
    tolerance = {"i32": 0, "f32": 1e-5, "f16": 2e-3, "bf16": 1e-2}[result]
    assert np.allclose(got, a @ b + c, rtol=tolerance, atol=tolerance)


def test_it_alone_has_them():
    text = kernel("v_wmma_f32_16x16x32_f16 v[8:15], v[16:23], v[24:31], 0", [8], "gfx1201")
    with pytest.raises(TileError, match="no such instruction"):
        run(text, [np.zeros(1, u32)], 1, 32)


@pytest.mark.parametrize("bits", [8, 16])
def test_transposing_loads(bits):
    """16 lanes load 8 rows of 16 elements, in pieces of 8. The pieces of a row are 8 lanes apart,
    or, of bytes, 4, and the fifth row begins at lane 8."""
    words = 2 if bits == 8 else 4
    matrix = np.random.default_rng(bits).integers(0, 1 << bits, (2, 8, 16)).astype(f"u{bits // 8}")
    data = np.zeros((32, 8), matrix.dtype)
    for lane in range(16):
        row = lane % 8 if bits == 16 else lane % 4 + 4 * (lane // 8)
        piece = lane // 8 if bits == 16 else lane // 4 % 2
        data[lane::16] = matrix[:, row, 8 * piece : 8 * piece + 8]
    out = np.zeros_like(data)
    size = {2: "b64", 4: "b128"}[words]
    body = f"""s_load_b128 s[8:11], s[0:1], 0
s_wait_kmcnt 0
v_mul_u32_u24 v1, {4 * words}, v0
global_load_{size} v[4:{3 + words}], v1, s[10:11]
s_wait_loadcnt 0
ds_store_{size} v1, v[4:{3 + words}]
s_wait_dscnt 0
ds_load_tr{bits}_{size} v[8:{7 + words}], v1
s_wait_dscnt 0
global_store_{size} v1, v[8:{7 + words}], s[8:9]
"""
    run(kernel(body, [8, 8], GPU, lds=512), [out, data], 1, 32)
    assert (out.reshape(2, 16, 8) == matrix.transpose(0, 2, 1)).all()
    with pytest.raises(TileError, match="has no such instruction"):
        run(kernel(body, [8, 8], "gfx1201", lds=512), [out, data], 1, 32)


def test_mode_of_waits_between_vector_instructions():
    """Code that says to wait itself for vector registers runs as other code does."""
    x = np.arange(32, dtype=u32)
    mode = "s_setreg_imm32_b32 hwreg({}, 0, 2), 2"
    body = "v_add_nc_u32 {d}, {0}, {0}"
    prologue = mode.format("HW_REG_WAVE_SCHED_MODE")
    same(lanes(body, [x], 1, GPU, prologue=prologue), 2 * x)
    with pytest.raises(TileError, match="is not supported"):
        lanes(body, [x], 1, GPU, prologue=mode.format("HW_REG_WAVE_STATUS"))

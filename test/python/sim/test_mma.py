# ruff: noqa: E501  (PTX text reads better unbroken)
"""mma.sync of every shape and type, ldmatrix, stmatrix, movmatrix: layouts as the ISA's figures give them."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from ptxlib import HEADER

import tile.sim

rng = np.random.default_rng(7)


def registers(count, prefix, kind):
    return ", ".join(
        f"%{prefix}{i}" for i in range(count)
    ), f".reg .{kind} %{prefix}<{max(count, 1)}>;"


def mma_ptx(text, counts, wide):
    """One warp: fragments of A, B and C come from memory, lane by lane, and D goes back."""
    kind, size = ("b64", 8) if wide else ("b32", 4)
    body = []
    names = {}
    for prefix, count in zip("abcd", counts, strict=True):
        names[prefix], declaration = registers(count, prefix, kind)
        body.append(declaration)
    body.append(".reg .b64 %p, %o; .reg .b32 %l; mov.u32 %l, %laneid;")
    for index, (prefix, count) in enumerate(zip("abc", counts, strict=False)):
        body.append(f"ld.param.u64 %p, [p{index}]; mad.wide.u32 %p, %l, {count * size}, %p;")
        body += [f"ld.global.{kind} %{prefix}{i}, [%p+{i * size}];" for i in range(count)]
    body.append(text.format(**{k: "{" + v + "}" for k, v in names.items()}))
    body.append(f"ld.param.u64 %p, [p3]; mad.wide.u32 %p, %l, {counts[3] * size}, %p;")
    body += [f"st.global.{kind} [%p+{i * size}], %d{i};" for i in range(counts[3])]
    return (
        HEADER
        + ".visible .entry op(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3)\n{\n"
        + "\n".join(body)
        + "\nret;\n}\n"
    )


# (row, k) of element i of A; (k, column) of element i of B; (row, column) of element i of C: from the ISA.
def a_place(bits, lane, i):
    e = max(1, 32 // bits) if bits < 64 else 1
    register, inside = divmod(i, e)
    return lane // 4 + 8 * (register % 2), (register // 2) * 4 * e + (lane % 4) * e + inside


def a_place_8(bits, lane, i):
    e = max(1, 32 // bits) if bits < 64 else 1
    register, inside = divmod(i, e)
    return lane // 4, register * 4 * e + (lane % 4) * e + inside


def b_place(bits, lane, i):
    e = max(1, 32 // bits) if bits < 64 else 1
    register, inside = divmod(i, e)
    return register * 4 * e + (lane % 4) * e + inside, lane // 4


def c_place(lane, i):
    return lane // 4 + 8 * (i // 2), 2 * (lane % 4) + i % 2


def pack(matrix_bits, bits, place, per_lane):
    """Bit patterns of a matrix to (32, registers) words."""
    if bits == 64:
        out = np.zeros((32, per_lane), np.uint64)
        for lane in range(32):
            for i in range(per_lane):
                out[lane, i] = matrix_bits[place(bits, lane, i)]
        return out
    out = np.zeros((32, per_lane * bits // 32), np.uint32)
    for lane in range(32):
        for i in range(per_lane):
            out[lane, i * bits // 32] |= np.uint32(
                int(matrix_bits[place(bits, lane, i)]) << (i * bits % 32)
            )
    return out


TYPES = {
    "f16": (16, np.float16), "bf16": (16, ml_dtypes.bfloat16), "tf32": (32, np.float32), "e4m3": (8, ml_dtypes.float8_e4m3fn),
    "e5m2": (8, ml_dtypes.float8_e5m2), "f64": (64, np.float64), "s8": (8, np.int8), "u8": (8, np.uint8), "s4": (4, None), "u4": (4, None), "b1": (1, None),
}  # fmt: skip


def random_matrix(kind, shape):
    """Values in float64 or int, and bit patterns."""
    bits, dtype = TYPES[kind]
    if kind == "s4":
        values = rng.integers(-8, 8, shape)
        return values, values & 15
    if kind in ("u4", "b1"):
        values = rng.integers(0, 1 << bits, shape)
        return values, values
    if kind in ("s8", "u8"):
        values = rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max + 1, shape).astype(dtype)
        return values.astype(np.int64), values.view(np.uint8)
    values = rng.standard_normal(shape).astype(dtype)
    if kind == "tf32":
        values = (values.view(np.uint32) & 0xFFFFE000).view(np.float32)
    return values.astype(np.float64), values.view(np.dtype(f"u{bits // 8}"))


CASES = [
    *[(16, 8, k, "f32", "f16", "f16", "f32") for k in (8, 16)],
    *[(16, 8, k, "f16", "f16", "f16", "f16") for k in (8, 16)],
    *[(16, 8, k, "f32", "bf16", "bf16", "f32") for k in (8, 16)],
    *[(16, 8, k, "f32", "tf32", "tf32", "f32") for k in (4, 8)],
    *[(16, 8, 32, "f32", a, b, "f32") for a in ("e4m3", "e5m2") for b in ("e4m3", "e5m2")],
    (16, 8, 16, "f32", "e4m3", "e4m3", "f32"),
    (8, 8, 4, "f64", "f64", "f64", "f64"),
    *[(16, 8, k, "f64", "f64", "f64", "f64") for k in (4, 8, 16)],
    *[(16, 8, k, "s32", a, b, "s32") for k in (16, 32) for a in ("s8", "u8") for b in ("s8", "u8")],
    (8, 8, 16, "s32", "s8", "s8", "s32"),
    *[(16, 8, k, "s32", "s4", "u4", "s32") for k in (32, 64)],
    (8, 8, 32, "s32", "u4", "s4", "s32"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: "m{}n{}k{}_{}_{}_{}_{}".format(*c))
def test_mma(case):
    m, n, k, d, a, b, c = case
    bits = TYPES[a][0]
    av, ab = random_matrix(a, (m, k))
    bv, bb = random_matrix(b, (k, n))
    place = a_place_8 if m == 8 else a_place
    wide = a == "f64"
    fragments = [pack(ab, bits, place, m * k // 32), pack(bb, bits, b_place, n * k // 32)]
    count = m * n // 32
    cv, cb = random_matrix({"s32": "s8"}.get(c, "tf32" if c == "f32" else c), (m, n))
    if c == "s32":
        cb = cv.astype(np.int32).view(np.uint32)
    fragments.append(
        pack(cb, {"f16": 16, "f64": 64}.get(c, 32), lambda _, lane, i: c_place(lane, i), count)
    )
    out_regs = count // 2 if d == "f16" else count
    out = np.zeros((32, out_regs), np.uint64 if wide else np.uint32)
    counts = [f.shape[1] for f in fragments] + [out_regs]
    text = f"mma.sync.aligned.m{m}n{n}k{k}.row.col.{d}.{a}.{b}.{c} {{d}}, {{a}}, {{b}}, {{c}};"
    tile.sim.launch(mma_ptx(text, counts, wide), "op", 1, 32, [*fragments, out])
    want = av @ bv + cv
    got = np.zeros((m, n))
    flat = out.view({"f32": np.float32, "f16": np.float16, "s32": np.int32, "f64": np.float64}[d])
    for lane in range(32):
        for i in range(count):
            got[c_place(lane, i)] = flat[lane, i]
    if d == "s32":
        assert (got == want).all()
    else:
        np.testing.assert_allclose(
            got,
            want,
            rtol={"f16": 2e-3, "f32": 1e-6, "f64": 1e-14}[d],
            atol={"f16": 4e-3, "f32": 1e-5, "f64": 1e-14}[d],
        )


@pytest.mark.parametrize("op", ["xor", "and"])
def test_mma_bits(op):
    av, ab = random_matrix("b1", (16, 256))
    bv, bb = random_matrix("b1", (256, 8))
    fragments = [pack(ab, 1, a_place, 128), pack(bb, 1, b_place, 64), np.zeros((32, 4), np.uint32)]
    out = np.zeros((32, 4), np.uint32)
    text = f"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.{op}.popc {{d}}, {{a}}, {{b}}, {{c}};"
    tile.sim.launch(mma_ptx(text, [4, 2, 4, 4], False), "op", 1, 32, [*fragments, out])
    pairs = av[:, :, None] ^ bv[None] if op == "xor" else av[:, :, None] & bv[None]
    want = pairs.sum(1)
    assert all(out[lane, i] == want[c_place(lane, i)] for lane in range(32) for i in range(4))


def test_mma_saturates():
    ones = np.full((32, 4), 0x7F7F7F7F, np.uint32)
    big = np.full((32, 4), 0x7FFFFFF0, np.uint32)
    out = np.zeros((32, 4), np.uint32)
    for suffix, want in (
        (".satfinite", 0x7FFFFFFF),
        ("", (0x7FFFFFF0 + 32 * 127 * 127) & 0xFFFFFFFF),
    ):
        text = (
            f"mma.sync.aligned.m16n8k32.row.col{suffix}.s32.s8.s8.s32 {{d}}, {{a}}, {{b}}, {{c}};"
        )
        tile.sim.launch(
            mma_ptx(text, [4, 2, 4, 4], False), "op", 1, 32, [ones, ones[:, :2].copy(), big, out]
        )
        assert (out == want).all()


MATRIX_COPY = (
    HEADER
    + """
.visible .entry op(.param .u64 in, .param .u64 out)
{{
  .shared .align 16 .b8 buffer[1024];
  .reg .b64 %a, %b; .reg .b32 %l, %s, %row, %r<8>;
  mov.u32 %l, %laneid; mov.b32 %r4, 0; mov.b32 %r5, 0; mov.b32 %r6, 0; mov.b32 %r7, 0;
  ld.param.u64 %a, [in]; mad.wide.u32 %a, %l, 16, %a;
  ld.global.v4.b32 {{%r0, %r1, %r2, %r3}}, [%a];
  mov.u32 %s, buffer; mad.lo.u32 %row, %l, 16, %s;
  {text}
  ld.param.u64 %b, [out]; mad.wide.u32 %b, %l, 16, %b;
  st.global.v4.b32 [%b], {{%r4, %r5, %r6, %r7}};
  ret;
}}
"""
)


def fragment(matrix):
    """What lane l holds of an 8 x 8 matrix of halves: row l / 4, columns 2 (l % 4) and the next."""
    return np.array(
        [
            int(matrix[x // 4, 2 * (x % 4) + 1]) << 16 | int(matrix[x // 4, 2 * (x % 4)])
            for x in range(32)
        ],
        np.uint32,
    )


@pytest.mark.parametrize("trans", ["", ".trans"])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_ldmatrix_stmatrix(count, trans):
    rows = rng.integers(0, 1 << 16, (4, 8, 8)).astype(np.uint16)
    out = np.zeros((32, 4), np.uint32)
    names = ", ".join(f"%r{4 + i}" for i in range(count))
    text = f"st.shared.v4.b32 [%row], {{%r0, %r1, %r2, %r3}}; bar.warp.sync 0xffffffff; ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 {{{names}}}, [%row];"
    tile.sim.launch(MATRIX_COPY.format(text=text), "op", 1, 32, [rows, out])
    for j in range(count):
        assert (out[:, j] == fragment(rows[j].T if trans else rows[j])).all()
    registers = np.stack([fragment(rows[j]) for j in range(4)], 1).copy()
    names = ", ".join(f"%r{i}" for i in range(count))
    text = f"stmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 [%row], {{{names}}}; bar.warp.sync 0xffffffff; ld.shared.v4.b32 {{%r4, %r5, %r6, %r7}}, [%row];"
    text = "st.shared.v4.b32 [%row], {%r4, %r5, %r6, %r7}; bar.warp.sync 0xffffffff; " + text
    stored = np.zeros((4, 8, 8), np.uint16)
    tile.sim.launch(MATRIX_COPY.format(text=text), "op", 1, 32, [registers, stored], check="races")
    for j in range(count):
        assert (stored[j] == (rows[j].T if trans else rows[j])).all()


def byte_rows(rng, padding):
    """Rows of 16 elements as they are in shared memory, and the elements."""
    bits = {"": 8, ".b8x16.b6x16_p32": 6, ".b8x16.b4x16_p64": 4}[padding]
    elements = rng.integers(0, 1 << bits, (32, 16)).astype(np.uint8)
    packed = np.zeros((32, 16), np.uint8)
    for row in range(32):
        for i in range(16):
            for b in range(bits):
                at = i * bits + b
                packed[row, at // 8] |= (int(elements[row, i]) >> b & 1) << at % 8
    return packed, elements


@pytest.mark.parametrize("padding", ["", ".b8x16.b6x16_p32", ".b8x16.b4x16_p64"])
@pytest.mark.parametrize("shape,count", [("m16n16", 1), ("m16n16", 2), ("m8n16", 1), ("m8n16", 2), ("m8n16", 4)])  # fmt: skip
def test_ldmatrix_of_bytes(shape, count, padding):
    """m8n16: four neighbours of a row. m16n16: of rows 4 q + 2 r and the next, what columns g and g + 8 have."""
    across = shape == "m16n16"
    kind = padding or (".b8" if across else None)
    if kind is None:
        return
    packed, elements = byte_rows(rng, padding)
    out = np.zeros((32, 4), np.uint32)
    registers = count * (2 if across else 1)
    names = ", ".join(f"%r{4 + i}" for i in range(registers))
    # What is padding is not written.
    store = {"": "v4.b32 [%row], {%r0, %r1, %r2, %r3}", ".b8x16.b6x16_p32": "v2.b32 [%row], {%r0, %r1}; st.shared.b32 [%row+8], %r2", ".b8x16.b4x16_p64": "v2.b32 [%row], {%r0, %r1}"}[padding]  # fmt: skip
    text = f"st.shared.{store}; bar.warp.sync 0xffffffff; ldmatrix.sync.aligned.{shape}.x{count}{'.trans' if across else ''}.shared{kind} {{{names}}}, [%row];"
    header = ".version 8.8\n.target sm_120a\n.address_size 64\n"
    body = MATRIX_COPY.format(text=text)
    tile.sim.launch(header + body[body.index(".visible") :], "op", 1, 32, [packed, out])
    for j in range(count):
        m = elements[(16 if across else 8) * j :]
        for lane in range(32):
            g, q = lane // 4, lane % 4
            for r in range(registers // count):
                want = m[g, 4 * q : 4 * q + 4]
                if across:
                    rows = 4 * q + 2 * r
                    want = [m[rows, g], m[rows + 1, g], m[rows, g + 8], m[rows + 1, g + 8]]
                got = out[lane, j * (registers // count) + r]
                assert list(np.array([got]).view(np.uint8)) == list(want)


@pytest.mark.parametrize("count", [1, 2, 4])
def test_stmatrix_of_bytes(count):
    """A fragment of 16 x 8 sums, as bytes, goes to memory transposed."""
    matrices = rng.integers(0, 256, (4, 16, 8)).astype(np.uint8)
    registers = np.zeros((32, 4), np.uint32)
    for j in range(4):
        for lane in range(32):
            g, q = lane // 4, 2 * (lane % 4)
            m = matrices[j]
            four = [m[g, q], m[g, q + 1], m[g + 8, q], m[g + 8, q + 1]]
            registers[lane, j] = np.array(four, np.uint8).view(np.uint32)[0]
    stored = np.zeros((4, 8, 16), np.uint8)
    names = ", ".join(f"%r{i}" for i in range(count))
    text = f"st.shared.v4.b32 [%row], {{%r4, %r5, %r6, %r7}}; bar.warp.sync 0xffffffff; stmatrix.sync.aligned.m16n8.x{count}.trans.shared.b8 [%row], {{{names}}}; bar.warp.sync 0xffffffff; ld.shared.v4.b32 {{%r4, %r5, %r6, %r7}}, [%row];"
    header = ".version 8.8\n.target sm_100a\n.address_size 64\n"
    body = MATRIX_COPY.format(text=text)
    tile.sim.launch(header + body[body.index(".visible") :], "op", 1, 32, [registers, stored])
    for j in range(count):
        assert (stored[j] == matrices[j].T).all()


def test_movmatrix():
    m = rng.integers(0, 1 << 16, (8, 8)).astype(np.uint16)
    registers, out = np.zeros((32, 4), np.uint32), np.zeros((32, 4), np.uint32)
    registers[:, 0] = fragment(m)
    tile.sim.launch(
        MATRIX_COPY.format(text="movmatrix.sync.aligned.m8n8.trans.b16 %r4, %r0;"),
        "op",
        1,
        32,
        [registers, out],
    )
    assert (out[:, 0] == fragment(m.T)).all()

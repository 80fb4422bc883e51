# ruff: noqa: E501  (PTX text reads better unbroken)
"""Dots with sparse A: every shape and type, where metadata lies, and what is wrong with it."""

from __future__ import annotations

import numpy as np
import pytest
from ptxlib import HEADER
from test_mma import TYPES, a_place, b_place, c_place, pack, random_matrix
from test_strict import assemble
from test_wgmma import DTYPES, SPAN, descriptor, k_major_image, mn_major_image, result, wgmma_ptx
from test_wgmma import random as random_group

import tile.sim
from tile.errors import TileError

rng = np.random.default_rng(19)


def chunk_of(kind):
    """Columns of a chunk, and the elements that one of its two places stands for."""
    return {32: (2, 1), 4: (8, 2)}.get(TYPES[kind][0], (4, 1))


def choose_columns(kind, k):
    """For each of 16 rows the columns that are stored, and four bits for each chunk."""
    width, run = chunk_of(kind)
    columns = np.zeros((16, k // 2), np.int64)
    nibbles = np.zeros((16, k // width), np.uint32)
    for row in range(16):
        for chunk in range(k // width):
            if width == 2:
                place = rng.integers(0, 2)
                nibbles[row, chunk] = (0b0100, 0b1110)[place]
                columns[row, chunk] = 2 * chunk + place
                continue
            low, high = sorted(rng.choice(4, 2, replace=False))
            nibbles[row, chunk] = low | high << 2
            at = [width * chunk + p * run + j for p in (low, high) for j in range(run)]
            columns[row, 2 * run * chunk : 2 * run * (chunk + 1)] = at
    return columns, nibbles


def metadata_words(kind, nibbles, selector):
    """One word a lane. Lanes that the selector does not name hold rubbish."""
    words = rng.integers(0, 1 << 32, 32, dtype=np.uint64).astype(np.uint32)
    halves = TYPES[kind][0] >= 16
    per_word = 4 if halves else 8  # chunks of one row in a lane
    pieces = nibbles.shape[1] // per_word  # of a row
    lanes = pieces if halves else 2 * pieces  # of a quad
    for group in range(8):
        for piece in range(pieces):
            row, other = (
                sum(int(n) << (4 * i) for i, n in enumerate(nibbles[r, piece * per_word : (piece + 1) * per_word]))
                for r in (group, group + 8)
            )  # fmt: skip
            lane = 4 * group + lanes * selector
            if halves:
                words[lane + piece] = row | other << 16
            else:
                words[lane + 2 * piece], words[lane + 2 * piece + 1] = row, other
    return words


def sparse_ptx(text, counts):
    """One warp: A, B, C and metadata come from memory, lane by lane, and D goes back."""
    body = [".reg .b64 %p; .reg .b32 %l; mov.u32 %l, %laneid;"]
    names = {}
    for index, (prefix, count) in enumerate(zip("abced", counts, strict=True)):
        registers = [f"%{prefix}{i}" for i in range(count)]
        names[prefix] = registers[0] if prefix == "e" else "{" + ", ".join(registers) + "}"
        body.append(
            f".reg .b32 %{prefix}<{count}>; ld.param.u64 %p, [p{index}]; mad.wide.u32 %p, %l, {4 * count}, %p;"
        )
        if prefix != "d":
            body += [f"ld.global.b32 {r}, [%p+{4 * i}];" for i, r in enumerate(registers)]
    body.append(text.format(**names))
    body += [f"st.global.b32 [%p+{4 * i}], %d{i};" for i in range(counts[-1])]
    params = ", ".join(f".param .u64 p{i}" for i in range(5))
    return HEADER + f".visible .entry op({params})\n{{\n" + "\n".join(body) + "\nret;\n}\n"


CASES = [
    *[(k, d, "f16", "f16") for k in (16, 32) for d in ("f32", "f16")],
    *[(k, "f32", "bf16", "bf16") for k in (16, 32)],
    *[(k, "f32", "tf32", "tf32") for k in (8, 16)],
    (64, "f32", "e4m3", "e5m2"),
    (64, "f32", "e5m2", "e4m3"),
    *[(k, "s32", "s8", "u8") for k in (32, 64)],
    (32, "s32", "u8", "u8"),
    *[(k, "s32", "s4", "u4") for k in (64, 128)],
]


def run_case(case, selector, form="sp::ordered_metadata", spoil=None):
    k, d, a, b = case
    bits = TYPES[a][0]
    columns, nibbles = choose_columns(a, k)
    if spoil:
        spoil(nibbles)
    av, ab = random_matrix(a, (16, k // 2))
    bv, bb = random_matrix(b, (k, 8))
    cv, cb = random_matrix({"s32": "s8", "f32": "tf32"}.get(d, d), (16, 8))
    if d == "s32":
        cb = cv.astype(np.int32).view(np.uint32)
    fragments = [
        pack(ab, bits, a_place, k // 4),
        pack(bb, TYPES[b][0], b_place, k // 4),
        pack(cb, 16 if d == "f16" else 32, lambda _, lane, i: c_place(lane, i), 4),
        metadata_words(a, nibbles, selector).reshape(32, 1),
        np.zeros((32, 2 if d == "f16" else 4), np.uint32),
    ]
    text = f"mma.{form}.sync.aligned.m16n8k{k}.row.col.{d}.{a}.{b}.{d} {{d}}, {{a}}, {{b}}, {{c}}, {{e}}, {selector};"
    ptx = sparse_ptx(text, [f.shape[1] for f in fragments])
    assert assemble(ptx) in (True, None)
    report = tile.sim.launch(ptx, "op", 1, 32, fragments, raise_on_finding=False)
    dense = np.zeros((16, k), av.dtype)
    np.put_along_axis(dense, columns, av, 1)
    flat = fragments[4].view({"f32": np.float32, "f16": np.float16, "s32": np.int32}[d])
    got = np.zeros((16, 8))
    for lane in range(32):
        for i in range(4):
            got[c_place(lane, i)] = flat[lane, i]
    return report, got, dense @ bv + cv


@pytest.mark.parametrize("case", CASES, ids=lambda c: "k{}_{}_{}_{}".format(*c))
def test_sparse_product(case):
    k, d, a, _ = case
    width, _ = chunk_of(a)
    lanes = 4 * k // width // 16
    for selector in range(4 // lanes):
        report, got, want = run_case(case, selector)
        assert report.ok
        if d == "s32":
            assert (got == want).all()
        else:
            rtol, atol = (2e-3, 8e-3) if d == "f16" else (1e-6, 1e-5)
            np.testing.assert_allclose(got, want, rtol=rtol, atol=atol)


def test_infinities_beside_what_is_stored_do_not_count():
    """Zeros that are not stored meet nothing: no NaN of zero times infinity."""
    ones = np.full((32, 2), 0x3C003C00, np.uint32)
    b = np.full((32, 2), 0x3C003C00, np.uint32)
    b[:, :] = 0x3C007C00  # infinity in even rows of B
    words = np.full((32, 1), 0xDDDDDDDD, np.uint32)  # places 1 and 3
    c, out = np.zeros((32, 4), np.float32), np.zeros((32, 4), np.float32)
    text = "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {d}, {a}, {b}, {c}, {e}, 0;"
    tile.sim.launch(sparse_ptx(text, [2, 2, 4, 1, 4]), "op", 1, 32, [ones, b, c, words, out])
    assert (out == 8).all()


def test_places_out_of_order():
    """Places in falling order are for .sp alone; equal ones for nobody, but for chunks without metadata."""
    case = (32, "f32", "f16", "f16")

    def fall(nibbles):
        nibbles[3, 2] = 1 << 2 | 3

    def repeat(nibbles):
        nibbles[3, 2] = 2 << 2 | 2

    def clear(nibbles):
        nibbles[3, 2] = 0

    kinds = {
        (form, spoil.__name__): [f["kind"] for f in run_case(case, 0, form, spoil)[0].findings]
        for form in ("sp", "sp::ordered_metadata")
        for spoil in (fall, repeat, clear)
    }
    bad = ["bad-metadata"]
    assert kinds == {
        ("sp", "fall"): [], ("sp", "repeat"): bad, ("sp", "clear"): [],
        ("sp::ordered_metadata", "fall"): bad, ("sp::ordered_metadata", "repeat"): bad,
        ("sp::ordered_metadata", "clear"): [],
    }  # fmt: skip
    assert run_case((16, "f32", "tf32", "tf32"), 0, "sp", lambda n: n.__setitem__((0, 0), 0b0110))[
        0
    ].findings


# Sparse wgmma. Rows are padded to 128 bytes, which every swizzle allows; the dot reads their first part.
GROUP_CASES = [
    *[("f16", "f32", 64, name, 0, 0, False) for name in ("none", "64B", "128B")],
    ("f16", "f16", 64, "128B", 0, 1, True),
    ("bf16", "f32", 64, "64B", 1, 1, False),
    ("bf16", "f32", 128, "128B", 0, 0, True),
    ("tf32", "f32", 24, "128B", 0, 0, False),
    ("tf32", "f32", 64, "64B", 0, 0, True),
    ("e4m3", "f32", 64, "128B", 0, 0, False),
    ("e5m2", "f16", 64, "64B", 0, 0, True),
    ("s8", "s32", 64, "128B", 0, 0, False),
    ("u8", "s32", 32, "none", 0, 0, True),
]


def group_operand(matrix, name, transposed, start):
    """Image and descriptor of a matrix (MN, K)."""
    count, wide = matrix.shape[0], matrix.dtype.itemsize
    if transposed:
        k = matrix.shape[1]
        leading, stride = (128, k * 16) if name == "none" else (k * SPAN[name], 8 * SPAN[name])
        return mn_major_image(np.ascontiguousarray(matrix.T), name), descriptor(
            start, leading, stride, name
        )
    rows = np.zeros((count, 128 // wide), matrix.dtype)
    rows[:, : matrix.shape[1]] = matrix
    leading, stride = (count * 16, 128) if name == "none" else (16, 8 * SPAN[name])
    return k_major_image(rows.view(np.uint8), name), descriptor(start, leading, stride, name)


def launch_group(case, spoil=None, order="wgmma.fence.sync.aligned;", tail="", **options):
    """Runs one product of a warp group; the report, what it gave and what it should."""
    kind, acc, n, name, trans_a, trans_b, in_registers = case
    size = np.dtype(DTYPES[kind]).itemsize
    k = 64 // size
    bits = 8 * size
    planes = [choose_columns(kind, k) for _ in range(4)]
    a, b = random_group(kind, (64, k // 2)), random_group(kind, (k, n))
    image_a, desc_a = group_operand(a, name, trans_a, 0)
    image_b, desc_b = group_operand(np.ascontiguousarray(b.T), name, trans_b, len(image_a))
    selector = 0 if bits == 8 else 1
    if spoil:
        spoil(planes[2][1])
    words = np.concatenate([metadata_words(kind, nibbles, selector) for _, nibbles in planes])
    descs = np.concatenate([np.array([desc_a, desc_b], np.uint64).view(np.uint32), words])
    fragments = np.zeros((128, 1, 4), np.uint32)
    if in_registers:
        raw = np.ascontiguousarray(a).view(np.dtype(f"u{size}"))
        for w in range(4):
            fragments[32 * w : 32 * w + 32, 0] = pack(
                raw[16 * w : 16 * w + 16], bits, a_place, k // 4
            )
    extra = "" if acc == "s32" else ", 1, 1"
    if bits == 16:
        extra += f", {trans_b}" if in_registers else f", {trans_a}, {trans_b}"
    text = f"wgmma.mma_async.sp.sync.aligned.m64n{n}k{k}.{acc}.{kind}.{kind} {{d}}, {{a}}, {{b}}, %meta, {selector}, {{p}}{extra};"
    load = ".reg .b32 %meta; mad.wide.u32 %x, %t, 4, %k; ld.global.b32 %meta, [%x+16];"
    d_regs = n // 4 if acc == "f16" else n // 2
    ptx = wgmma_ptx(
        text + tail, 1, d_regs, len(image_a), len(image_b), in_registers, order=load + order
    )
    assert assemble(ptx) in (True, None)
    out = np.zeros((128, d_regs), np.uint32)
    image = np.concatenate([image_a, image_b])
    report = tile.sim.launch(
        ptx, "op", 1, 128, [image, descs, fragments, out], raise_on_finding=False, **options
    )
    dense = np.zeros((64, k))
    np.put_along_axis(
        dense, np.concatenate([columns for columns, _ in planes]), a.astype(np.float64), 1
    )
    return report, result(out, n, acc), dense @ b.astype(np.float64)


@pytest.mark.parametrize("case", GROUP_CASES, ids=lambda c: "_".join(map(str, c)))
def test_sparse_product_of_a_warp_group(case):
    for options in ({}, {"schedule_seed": 3}):
        report, got, want = launch_group(case, **options)
        assert report.ok
        if case[1] == "s32":
            assert (got == want).all()
        else:
            coarse = case[1] == "f16" or case[0] in ("e4m3", "e5m2")
            np.testing.assert_allclose(
                got, want, rtol=1e-2 if coarse else 1e-5, atol=5e-2 if coarse else 1e-4
            )


def test_misuse_of_sparse_products():
    """Metadata is a register of the dot; rows of B must fit into the swizzle's pattern."""
    case = GROUP_CASES[1]
    assert launch_group(case)[0].ok

    def repeat(nibbles):
        nibbles[3, 2] = 2 << 2 | 2

    assert [f["kind"] for f in launch_group(case, repeat)[0].findings] == ["bad-metadata"]
    early = launch_group(case, tail=" mov.b32 %meta, 0;")[0]
    assert {f["kind"] for f in early.findings} == {"async-register"}
    narrow = launch_group((*case[:3], "32B", *case[4:]))[0]
    assert [f["kind"] for f in narrow.findings] == ["bad-descriptor"]


@pytest.mark.parametrize(
    "text",
    [
        "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2}, {%r3,%r4}, {%f1,%f2,%f3,%f4}, META, 0;",
        "wgmma.mma_async.sp.sync.aligned.m64n8k64.s32.s8.s8 {%r1,%r2,%r3,%r4}, {%r5,-1,%r6,%r8}, %rd1, META, 0, %p1;",
    ],
)
def test_metadata_is_a_register(text):
    """Elements of A may be numbers; the metadata may not."""
    for metadata, good in (("%r7", True), ("5", False), ("_", False)):
        module = f"{HEADER}.visible .entry k() {{ .reg .b32 %r<9>; .reg .f32 %f<5>; .reg .b64 %rd<2>; .reg .pred %p<2>;\n{text.replace('META', metadata)}\nret; }}"
        assert assemble(module) in (good, None)
        if good:
            assert tile.sim.load(module).entries
            continue
        with pytest.raises(TileError, match="expected a register"):
            tile.sim.load(module)

# ruff: noqa: E501  (PTX text reads better unbroken)
"""ld and st in every width, vector, space and cache form; address spaces; variables with initial values."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from ptxlib import HEADER, header_for, width

import tile.sim
from tile.errors import TileError

rng = np.random.default_rng(13)


def launch(body, args, params, threads=32, head="", **options):
    declared = ", ".join(f".param .{kind} p{i}" for i, kind in enumerate(params.split()))
    ptx = f"""{header_for(body)}{head}
.visible .entry op({declared})
{{
  .reg .b16 %h<9>; .reg .b32 %r<20>; .reg .b64 %q<20>; .reg .b128 %x<4>; .reg .pred %p<8>; .reg .f32 %f<4>;
  mov.u32 %r0, %tid.x;
{body}
  ret;
}}
"""
    return tile.sim.launch(ptx, "op", 1, threads, args, **options)


def data(count, dtype):
    return rng.integers(0, 256, count * np.dtype(dtype).itemsize).astype(np.uint8).view(dtype)


REGISTERS = {1: "h", 2: "h", 4: "r", 8: "q", 16: "x"}


@pytest.mark.sweep(4)
@pytest.mark.parametrize("space", ["global", "generic", "shared", "local"])
@pytest.mark.parametrize("kind", ["b8", "u8", "s8", "b16", "u16", "s16", "f16", "bf16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64", "b128"])  # fmt: skip
@pytest.mark.parametrize("vector", [1, 2, 4, 8])
def test_copies(kind, vector, space):
    size = width(kind)
    total = size * vector
    wide = total > 16
    if total > 32 or (vector == 8 and size < 4) or (size == 16 and vector > 1):
        pytest.skip("no such access")
    if wide and space in ("shared", "local"):
        pytest.skip("only global memory has accesses of 32 bytes")
    source = rng.integers(0, 256, 32 * total).astype(np.uint8)
    names = [f"%{REGISTERS[size]}{i + 1}" if size < 16 else f"%x{i}" for i in range(vector)]
    group = names[0] if vector == 1 else "{" + ", ".join(names) + "}"
    suffix = ("" if vector == 1 else f".v{vector}") + "." + (kind if kind != "f16" and kind != "bf16" else "b16")  # fmt: skip
    move = f"ld.global{suffix} {group}, [%q10];"
    if space in ("shared", "local"):
        move += f"st.{space}{suffix} [%r10], {group};"
        # Through the memory and back in bytes, so that both directions are seen.
        move += "".join(f"ld.{space}.b8 %h0, [%r10+{i}]; st.global.b8 [%q11+{i}], %h0;" for i in range(total))  # fmt: skip
        move += f"ld.{space}{suffix} {group}, [%r10];"
    where = ".global" if space == "global" else ""
    out = np.zeros_like(source)
    launch(
        f"""
  .shared .align 32 .b8 s[{32 * total}]; .local .align 32 .b8 mine[32];
  ld.param.u64 %q10, [p0]; mad.wide.u32 %q10, %r0, {total}, %q10;
  ld.param.u64 %q11, [p1]; mad.wide.u32 %q11, %r0, {total}, %q11;
  {f"mov.u32 %r10, s; mad.lo.u32 %r10, %r0, {total}, %r10;" if space == "shared" else "mov.u32 %r10, mine;"}
  {move}
  st{where}{suffix} [%q11], {group};""",
        [source, out],
        "u64 u64",
    )
    assert (out == source).all()


@pytest.mark.parametrize("kind", ["u8", "s8", "b8", "u16", "s16", "b16", "u32", "s32", "b32"])
@pytest.mark.parametrize("register", [16, 32, 64])
def test_narrow_loads_extend(kind, register):
    size = width(kind)
    if size * 8 > register:
        pytest.skip("does not fit")
    source = data(32, f"{'i' if kind[0] == 's' else 'u'}{size}")
    out = np.zeros(32, f"u{register // 8}")
    name = {16: "%h1", 32: "%r1", 64: "%q1"}[register]
    launch(
        f"""
  ld.param.u64 %q10, [p0]; mad.wide.u32 %q10, %r0, {size}, %q10;
  ld.param.u64 %q11, [p1]; mad.wide.u32 %q11, %r0, {register // 8}, %q11;
  ld.global.{kind} {name}, [%q10]; st.global.b{register} [%q11], {name};""",
        [source, out],
        "u64 u64",
    )
    assert (out == source.astype(f"i{register // 8}").view(out.dtype)).all()


LOADS = ["", ".ca", ".cg", ".cs", ".lu", ".cv", ".nc", ".ca.nc", ".L1::evict_last", ".L1::no_allocate.L2::128B", ".L2::64B", ".volatile", ".mmio.relaxed.sys", ".relaxed.gpu", ".relaxed.cta", ".acquire.sys", ".weak", ".L1::evict_first.L2::256B", ".relaxed.cluster"]  # fmt: skip
STORES = ["", ".wb", ".cg", ".cs", ".wt", ".volatile", ".mmio.relaxed.sys", ".relaxed.gpu", ".release.sys", ".weak", ".L1::evict_unchanged", ".relaxed.cluster"]  # fmt: skip


def modifiers(op, forms):
    """`.volatile` and the orderings come before the space, cache operators after it."""
    for form in forms:
        before = form.startswith(
            (".volatile", ".mmio", ".relaxed", ".acquire", ".release", ".weak")
        )
        yield f"{op}{form}.global" if before else f"{op}.global{form}"


def test_every_cache_form_moves_the_same_bytes():
    source = data(32, np.uint32)
    head = "ld.param.u64 %q1, [p0]; mad.wide.u32 %q1, %r0, 4, %q1; ld.param.u64 %q2, [p1]; mad.wide.u32 %q2, %r0, 4, %q2;"
    policy = "createpolicy.fractional.L2::evict_last.b64 %q3, 1.0; createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %q4, 0.5;"
    for load in [*modifiers("ld", LOADS), "ldu.global", "ld.global.L2::cache_hint", "ld.global.nc.L1::no_allocate.L2::cache_hint"]:  # fmt: skip
        out = np.zeros_like(source)
        hint = ", %q3" if "cache_hint" in load else ""
        launch(f"{head}{policy} {load}.u32 %r1, [%q1]{hint}; st.global.u32 [%q2], %r1;", [source, out], "u64 u64")  # fmt: skip
        assert (out == source).all(), load
    for store in [*modifiers("st", STORES), "st.global.L2::cache_hint"]:
        out = np.zeros_like(source)
        hint = ", %q4" if "cache_hint" in store else ""
        launch(f"{head}{policy} ld.global.u32 %r1, [%q1]; {store}.u32 [%q2], %r1{hint};", [source, out], "u64 u64")  # fmt: skip
        assert (out == source).all(), store
    hints = "prefetch.global.L1 [%q1]; prefetch.global.L2 [%q1]; prefetch.global.L2::evict_last [%q1]; prefetchu.L1 [%q1]; applypriority.global.L2::evict_normal [%q1], 128;"
    out = np.zeros_like(source)
    launch(f"{head}{hints} ld.global.u32 %r1, [%q1]; st.global.u32 [%q2], %r1;", [source, out], "u64 u64")  # fmt: skip
    assert (out == source).all()


def test_offsets_and_constant_addresses():
    source, out = data(64, np.uint32), np.zeros(8, np.uint32)
    launch(
        """
  .shared .align 16 .b32 s[16];
  ld.param.u64 %q1, [p0]; ld.param.u64 %q2, [p1]; setp.ne.u32 %p1, %r0, 0; @%p1 bra DONE;
  add.s64 %q3, %q1, 128; ld.global.u32 %r1, [%q3+-128]; ld.global.u32 %r2, [%q3+-124]; ld.global.u32 %r3, [%q3+124];
  st.shared.u32 [s], %r1; st.shared.u32 [s+4], %r2; mov.u32 %r4, s; st.shared.u32 [%r4+8], %r3;
  ld.shared.v2.u32 {%r5, %r6}, [s]; ld.shared.u32 %r7, [s+8];
  st.global.v2.u32 [%q2], {%r5, %r6}; st.global.u32 [%q2+8], %r7;
  ld.global.v2.u32 {_, %r8}, [%q1+8]; st.global.u32 [%q2+12], %r8; st.global.v2.b32 [%q2+16], {7, 0f3F800000};
DONE:""",
        [source, out],
        "u64 u64",
    )
    assert out.tolist() == [*source[[0, 1, 63, 3]].tolist(), 7, 0x3F800000, 0, 0]


def test_variables_and_their_initial_values():
    head = """
.global .align 4 .u32 counts[4] = {1, 2, 0xFFFFFFFF};
.global .align 2 .b8 bytes[5] = {104, 105, 0, -1};
.const .align 8 .f64 real = 0d3FF8000000000000;
.const .f32 single[2] = {0f40490FDB, 1.5};
.global .align 8 .u64 pointer = generic(counts)+4;
.global .u64 table[2] = {counts, bytes};
.global .align 4 .b32 grid[2][2] = {{1, 2}, {3, 4}};
"""
    body = """
  ld.param.u64 %q1, [p0]; setp.ne.u32 %p1, %r0, 0; @%p1 bra DONE;
  ld.global.u32 %r1, [counts+8]; st.global.u32 [%q1], %r1; ld.global.u32 %r1, [counts+12]; st.global.u32 [%q1+4], %r1;
  ld.global.s8 %r1, [bytes+3]; st.global.u32 [%q1+8], %r1; ld.global.u8 %r1, [bytes+1]; st.global.u32 [%q1+12], %r1;
  ld.const.b64 %q2, [real]; st.global.b64 [%q1+16], %q2; ld.const.v2.b32 {%r1, %r2}, [single]; st.global.v2.b32 [%q1+24], {%r1, %r2};
  ld.global.u64 %q3, [pointer]; ld.u32 %r1, [%q3]; st.global.u32 [%q1+32], %r1;
  ld.global.u64 %q3, [table+8]; ld.global.u8 %r1, [%q3]; st.global.u32 [%q1+36], %r1;
  ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [grid]; add.u32 %r1, %r1, %r4; st.global.u32 [%q1+40], %r1;
  st.global.u32 [counts], 77; ld.global.u32 %r1, [counts]; st.global.u32 [%q1+44], %r1;
DONE:"""
    for _ in range(2):  # a launch starts from the initial values, whatever the last one wrote
        out = np.zeros(12, np.uint32)
        launch(body.replace("st.global.u32 [counts], 77;", "ld.global.u32 %r5, [counts]; add.u32 %r5, %r5, 76; st.global.u32 [counts], %r5;"), [out], "u64", head=head)  # fmt: skip
        want = [0xFFFFFFFF, 0, 0xFFFFFFFF, 105, *struct.unpack("<2I", struct.pack("<d", 1.5)), 0x40490FDB, 0x3FC00000, 2, 104, 5, 77]  # fmt: skip
        assert out.tolist() == want
    with pytest.raises(tile.sim.SimulationError, match="writes to the read-only 'real'"):
        launch("mov.u64 %q1, real; st.global.u32 [%q1], 1;", [], "", head=head)


def test_address_spaces_of_generic_pointers():
    source, out = data(32, np.uint32), np.zeros(16, np.uint32)
    launch(
        """
  .shared .align 4 .b32 s[4]; .local .align 4 .b32 l[4];
  setp.ne.u32 %p1, %r0, 0; @%p1 bra DONE;
  ld.param.u64 %q1, [p0]; ld.param.u64 %q2, [p1];
  cvta.to.global.u64 %q3, %q1; mov.u64 %q4, s; cvta.shared.u64 %q4, %q4; mov.u64 %q5, l; cvta.local.u64 %q5, %q5;
  mov.u64 %q6, p0; cvta.param.u64 %q6, %q6;
  ld.u32 %r1, [%q3]; st.u32 [%q4+4], %r1; st.u32 [%q5+8], %r1; ld.shared.u32 %r2, [s+4]; ld.local.u32 %r3, [l+8];
  st.global.v2.u32 [%q2], {%r2, %r3}; ld.u64 %q7, [%q6]; sub.u64 %q7, %q7, %q1; st.global.u64 [%q2+8], %q7;
  isspacep.global %p1, %q1; isspacep.shared %p2, %q4; isspacep.local %p3, %q5; isspacep.shared %p4, %q1; isspacep.global %p5, %q4; isspacep.shared::cluster %p6, %q4; isspacep.param %p7, %q6;
  selp.u32 %r4, 1, 0, %p1; selp.u32 %r5, 1, 0, %p2; selp.u32 %r6, 1, 0, %p3; selp.u32 %r7, 1, 0, %p4;
  st.global.v4.u32 [%q2+16], {%r4, %r5, %r6, %r7};
  selp.u32 %r4, 1, 0, %p5; selp.u32 %r5, 1, 0, %p6; selp.u32 %r6, 1, 0, %p7; st.global.v2.u32 [%q2+32], {%r4, %r5}; st.global.u32 [%q2+40], %r6;
  cvta.to.shared.u64 %q8, %q4; mov.u64 %q9, s; sub.u64 %q8, %q8, %q9; st.global.u32 [%q2+44], %r0; cvt.u32.u64 %r8, %q8; st.global.u32 [%q2+44], %r8;
DONE:""",
        [source, out],
        "u64 u64",
    )
    assert out.tolist() == [source[0], source[0], 0, 0, 1, 1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 0]


def test_one_request_into_several_spaces():
    """Lanes of one generic load point to global, shared and local memory."""
    source, out = data(32, np.uint32), np.zeros(32, np.uint32)
    launch(
        """
  .shared .align 4 .b32 s[32]; .local .align 4 .b32 l[1];
  ld.param.u64 %q1, [p0]; mad.wide.u32 %q1, %r0, 4, %q1; ld.param.u64 %q2, [p1]; mad.wide.u32 %q2, %r0, 4, %q2;
  ld.global.u32 %r1, [%q1]; add.u32 %r2, %r1, 1; add.u32 %r3, %r1, 2;
  mov.u64 %q3, s; mad.wide.u32 %q3, %r0, 4, %q3; cvta.shared.u64 %q3, %q3; st.u32 [%q3], %r2;
  mov.u64 %q4, l; cvta.local.u64 %q4, %q4; st.u32 [%q4], %r3;
  rem.u32 %r4, %r0, 3; setp.eq.u32 %p1, %r4, 1; setp.eq.u32 %p2, %r4, 2;
  selp.b64 %q5, %q3, %q1, %p1; selp.b64 %q5, %q4, %q5, %p2; ld.u32 %r5, [%q5]; st.global.u32 [%q2], %r5;""",
        [source, out],
        "u64 u64",
    )
    assert (out == source + np.arange(32, dtype=np.uint32) % 3).all()


def test_parameters_of_every_type():
    kinds = "u8 s8 u16 s16 u32 s32 u64 s64 f32 f64 b8 b16 b32 b64"
    values = [200, -3, 60000, -7, 4_000_000_000, -9, 1 << 63, -11, 1.5, -2.25, 255, 0xABCD, 0xDEADBEEF, 1 << 40]  # fmt: skip
    out = np.zeros(14, np.int64)
    loads = "".join(f"ld.param.{k} %q1, [p{i + 1}]; st.global.b64 [%q2+{i * 8}], %q1;" for i, k in enumerate(kinds.split()) if k not in ("f32",))  # fmt: skip
    launch(
        "ld.param.u64 %q2, [p0]; setp.ne.u32 %p1, %r0, 0; @%p1 bra DONE;" + loads + "ld.param.f32 %f1, [p9]; st.global.f32 [%q2+64], %f1;\nDONE:",
        [out, *values],
        "u64 " + kinds,
    )  # fmt: skip
    got = out.tolist()
    assert got[:6] == values[:6]
    assert out[6:8].view(np.uint64).tolist() == [1 << 63, (1 << 64) - 11]
    assert out[8:9].view(np.float32)[0] == 1.5 and out[9:10].view(np.float64)[0] == -2.25
    assert got[10:] == values[10:]


def test_structures_come_as_bytes():
    ptx = f"""{HEADER}
.visible .entry op(.param .u64 out, .param .align 8 .b8 pair[16])
{{
  .reg .b64 %q<4>; .reg .b32 %r<2>;
  ld.param.u64 %q1, [out]; ld.param.u32 %r1, [pair]; ld.param.u64 %q2, [pair+8];
  st.global.u32 [%q1], %r1; st.global.u64 [%q1+8], %q2; ret;
}}
"""
    out = np.zeros(2, np.int64)
    tile.sim.launch(ptx, "op", 1, 1, [out, struct.pack("<iiq", 5, 0, -6)])
    assert out.tolist() == [5, -6]
    with pytest.raises(TileError, match="'pair' has 16 bytes, 8 were given"):
        tile.sim.launch(ptx, "op", 1, 1, [out, bytes(8)])
    with pytest.raises(TileError, match="'pair' has 16 bytes; give it as bytes"):
        tile.sim.launch(ptx, "op", 1, 1, [out, 5])


@pytest.mark.parametrize(("cache", "size"), [("ca", 4), ("ca", 8), ("ca", 16), ("cg", 16)])
@pytest.mark.parametrize("form", ["", "size", "ignore", "prefetch", "hint"])
def test_cp_async(cache, size, form):
    source = rng.integers(0, 256, (32, size)).astype(np.uint8)
    take = np.arange(32, dtype=np.uint32) % (size + 1)
    skip = np.arange(32, dtype=np.uint32) % 2
    out = np.zeros_like(source)
    tail = {"size": ", %r3", "ignore": ", %p1", "hint": ", %q5"}.get(form, "")
    modifier = {"prefetch": ".L2::128B", "hint": ".L2::cache_hint"}.get(form, "")
    launch(
        f"""
  .shared .align 16 .b8 s[{32 * size}];
  ld.param.u64 %q1, [p0]; mad.wide.u32 %q1, %r0, {size}, %q1; ld.param.u64 %q2, [p1]; mad.wide.u32 %q2, %r0, {size}, %q2;
  ld.param.u64 %q3, [p2]; mad.wide.u32 %q3, %r0, 4, %q3; ld.global.u32 %r3, [%q3]; ld.param.u64 %q4, [p3]; mad.wide.u32 %q4, %r0, 4, %q4; ld.global.u32 %r4, [%q4];
  setp.ne.u32 %p1, %r4, 0; mov.b64 %q5, 0; mov.u32 %r1, s; mad.lo.u32 %r1, %r0, {size}, %r1;
  cp.async.{cache}.shared.global{modifier} [%r1], [%q1], {size}{tail};
  cp.async.commit_group; cp.async.wait_group 0;
  {"".join(f"ld.shared.u8 %r2, [%r1+{i}]; st.global.u8 [%q2+{i}], %r2;" for i in range(size))}""",
        [source, out, take, skip],
        "u64 u64 u64 u64",
    )
    want = source.copy()
    if form == "size":
        want[np.arange(size)[None] >= take[:, None]] = 0
    if form == "ignore":
        want[skip == 1] = 0
    assert (out == want).all()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ld.global %r1, [%q1];", "a type is missing"),
        ("ld.global.v4.b64 {%q1, %q2, %q3, %q4}, [%q1];", None),
        ("ld.global.v8.b64 {%q1, %q2, %q3, %q4, %q5, %q6, %q7, %q8}, [%q1];", "wider than 32 bytes"),
        ("ld.global.u32 %r1, %q1;", "expected an address"),
        ("ld.global.u32 [%q1], %r1;", "expected an address|expected one register"),
        ("ld.global.pred %p1, [%q1];", "not allowed"),
        ("st.global.u32 [%q1];", "expected 2 to 3 operands, found 1"),
        ("st.global.wrong.u32 [%q1], %r1;", "unknown modifier '.wrong'"),
        ("cp.async.cg.shared.global [%r1], [%q1], 8;", "16"),
        ("cp.async.ca.shared.global [%r1], [%q1], 5;", "4, 8 or 16"),
        ("isspacep %p1, %q1;", "needs a space"),
        ("cvta.global.u32 %r1, %r2;", "needs a space and .u64"),
    ],
)  # fmt: skip
def test_bad_forms(text, message):
    ptx = f"{header_for(text)}.visible .entry op() {{ .reg .b32 %r<9>; .reg .b64 %q<9>; .reg .pred %p<3>;\n{text} ret; }}"
    if message is None:
        tile.sim.load(ptx)
        return
    with pytest.raises(TileError, match=message):
        tile.sim.load(ptx)


def test_multimem_of_one_gpu():
    """What is reduced over a group of one GPU is what it holds."""
    source, out = data(64, np.uint32), np.zeros(64, np.uint32)
    sums = np.arange(64, dtype=np.uint32)
    before = sums.copy()
    text = """
  ld.param.u64 %q1, [p0]; mad.wide.u32 %q1, %r0, 4, %q1; ld.param.u64 %q2, [p1]; mad.wide.u32 %q2, %r0, 4, %q2; ld.param.u64 %q3, [p2]; mad.wide.u32 %q3, %r0, 4, %q3;
  multimem.ld_reduce.relaxed.sys.global.add.u32 %r1, [%q1]; multimem.st.relaxed.gpu.global.u32 [%q2], %r1; multimem.red.release.gpu.global.add.u32 [%q3], %r1;
"""  # fmt: skip
    launch(text, [source, out, sums], "u64 u64 u64", threads=64)
    assert (out == source).all() and (sums == before + source).all()


STACK = """
.func g(.reg .u64 size) {{ .local .align 8 .b8 mine[64]; st.local.u64 [mine], 1; st.local.u64 [mine+56], 1; ret; }}
.func f(.reg .u64 size) {{ .reg .u64 %m<4>; .reg .pred %p; .local .align 8 .b64 own; stacksave.u64 %m1;
alloca.u64 %m2, size, 16; st.local.u64 [own], 7; st.local.u64 [%m2], size; {0}
ld.local.u64 %m3, [%m2]; setp.ne.u64 %p, %m3, size; @%p trap; stackrestore.u64 %m1; ret; }}
"""


def test_alloca_of_each_lane():
    """Memory of different sizes that calls leave alone, given back at the end."""
    text = """
  mul.wide.u32 %q1, %r0, 8; add.u64 %q1, %q1, 8; mov.u32 %r1, 0;
LOOP: call f, (%q1); add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 3000; @%p1 bra LOOP;
"""
    assert launch(text, [], "", head=STACK.format("call g, (size);")).ok
    for wrong, kind in [("ld.local.u64 %m3, [%m2+8];", "uninitialized"), ("ld.local.u64 %m3, [%m2+500000];", "out-of-bounds"), ("alloca.u64 %m3, 600000;", "stack-overflow"), ("sub.u64 %m1, %m1, 64;", "bad-stack")]:  # fmt: skip
        report = launch(text, [], "", head=STACK.format(wrong), raise_on_finding=False)
        assert kind in {f["kind"] for f in report.findings}, report.messages

# ruff: noqa: E501  (PTX text reads better unbroken)
"""What ptxas refuses is refused, and what it takes is taken; ptxas itself is asked where there is one."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile

import pytest
from ptxlib import HEADER

import tile.sim
from tile.backends import backends
from tile.errors import TileError

REGISTERS = """.reg .b16 %h<9>; .reg .b32 %r<20>; .reg .u32 %u<9>; .reg .s32 %s<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>;
.reg .f64 %d<9>; .reg .pred %p<9>; .reg .f16 %e<5>; .reg .b128 %q<4>; .shared .align 16 .b8 sm[64];
"""


def body(text: str, before: str = "") -> str:
    return f"{HEADER}{before}.visible .entry k(.param .u64 p)\n{{\n{REGISTERS}{text}\nret;\n}}\n"


def module(text: str) -> str:
    return f"{HEADER}{text}\n.visible .entry k() {{ ret; }}\n"


def assemble(text: str) -> bool | None:
    """Whether ptxas takes it; None if there is none."""
    path = sys.modules[backends()["nvidia"].__module__].tools.ptxas_path(90)
    if not path:
        return None
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write(text)
        file.flush()
        target = re.search(r"^\.target (sm_100a?)$", text, re.M)
        arch = target[1] if target else "sm_90a"
        found = subprocess.run([path, f"-arch={arch}", "-o", "/dev/null", file.name], capture_output=True, check=False)  # fmt: skip
    return found.returncode == 0


TYPES = "has type"
#: (refused, what it says, a twin that is right)
INSTRUCTIONS = [
    ("add.u32 %rd1, %rd1, %rd2;", TYPES, "add.u64 %rd1, %rd1, %rd2;"),
    ("add.u64 %r1, %r1, %r2;", TYPES, "add.u32 %r1, %r1, %r2;"),
    ("add.u32 %r1, %h1, %r2;", TYPES, "add.u16 %h1, %h1, %h2;"),
    ("add.u32 %f1, %f1, %f2;", TYPES, "add.f32 %r1, %r1, %r2;"),
    ("add.f32 %u1, %u1, %u2;", TYPES, "add.u32 %s1, %u1, %s2;"),
    ("mov.u32 %f1, %r2;", TYPES, "mov.b32 %f1, %r2;"),
    ("mov.u32 %rd1, %r1;", TYPES, "mov.f32 %r1, %f1;"),
    ("ld.global.u32 %h1, [%rd1];", TYPES, "ld.global.u8 %r1, [%rd1];"),
    ("ld.global.u32 %f1, [%rd1];", TYPES, "ld.global.u32 %rd2, [%rd1];"),
    ("ld.global.u16 %f1, [%rd1];", TYPES, "ld.global.b32 %d1, [%rd1];"),
    ("st.global.u32 [%rd1], %h1;", TYPES, "st.global.u8 [%rd1], %r1;"),
    ("st.global.u32 [%rd1], %f1;", TYPES, "st.global.b32 [%rd1], %f1;"),
    ("cvt.u32.u32 %r1, %h2;", TYPES, "cvt.u32.u16 %r1, %r2;"),
    ("setp.eq.u32 %p1, %rd1, %rd2;", TYPES, "setp.eq.u64 %p1, %rd1, %rd2;"),
    ("selp.u32 %rd1, %r1, %r2, %p1;", TYPES, "selp.b32 %f1, %f1, %r2, %p1;"),
    ("shl.b32 %r1, %r1, %rd2;", TYPES, "shl.b64 %rd1, %rd1, %r2;"),
    ("shl.b32 %r1, %r1, %h2;", TYPES, "shl.b32 %r1, %r1, %r2;"),
    ("mad.wide.u32 %r1, %r1, %r2, %r3;", TYPES, "mad.wide.u32 %rd1, %r1, %r2, %rd2;"),
    ("atom.global.add.u64 %r1, [%rd1], %r2;", TYPES, "atom.global.add.u64 %rd2, [%rd1], %rd3;"),
    ("shfl.sync.idx.b32 %rd1, %rd1, 0, 31, -1;", TYPES, "shfl.sync.idx.b32 %f1, %f1, 0, 31, -1;"),
    ("mov.b32 %r1, {%r1, %r2};", TYPES, "mov.b64 %rd1, {%r1, %f2};"),
    ("add.u32 %p1, %p1, %p2;", TYPES, "and.pred %p1, %p1, %p2;"),
    ("add.f16x2 %f1, %f1, %f2;", TYPES, "add.f16x2 %r1, %r1, %r2;"),
    ("add.f16 %r1, %r1, %r2;", TYPES, "add.f16 %h1, %e1, %h2;"),
    ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4},{%f1,%f2,%f3,%rd4},{%r5,%r6},{%f1,%f2,%f3,%f4};", TYPES, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r1,%r2,%r3,%r4},{%r1,%r2,%r3,%r4},{%r5,%r6},{%f1,%f2,%f3,%f4};"),
    ("ld.shared.u32 %r1, [%f1];", "no address", "ld.shared.u32 %r1, [%r2];"),
    ("ld.global.u32 %r1, [%r2];", "64 bits", "ld.shared.u32 %r1, [%rd1];"),
    ("ld.u32 %r1, [%r2];", "64 bits", "ld.u32 %r1, [%rd1];"),
    ("mov.u32 %r1, 1.5;", "expected an integer", "mov.f32 %f1, 1.5;"),
    ("add.f32 %f1, %f1, 1;", "expected a floating-point", "add.u32 %r1, %r1, 1;"),
    ("mov.u32 %r1, 089;", "malformed number", "mov.u32 %r1, 077;"),
    ("mov.f32 %f1, 1.5.2;", "malformed number", "mov.f32 %f1, 1.52;"),
    ("mov.f32 %f1, 0f3F80;", "malformed number", "mov.f32 %f1, 0f3F800000;"),
    ("mov.u32 %r1, 0b102;", "malformed number", "mov.u32 %r1, 0b101;"),
    (".reg .b32 %x; .reg .b32 %x;", "declared twice", ".reg .b32 %x; { .reg .b32 %x; }"),
    (".reg .b32 %x<4>; .reg .b32 %x<5>;", "declared twice", ".reg .b32 %x<4>; .reg .b32 %y<5>;"),
    (".reg .b32 %x<4>; .reg .b32 %x1;", "declared twice", ".reg .b32 %x<4>; .reg .b32 %x4;"),
    (".reg .b32 p;", "declared twice", ".reg .b32 q;"),
    (".reg .b32 x; x: mov.u32 %r1, 0;", "defined twice", ".reg .b32 x; y: mov.u32 %r1, 0;"),
    ("x: mov.u32 %r1, 0; x: mov.u32 %r1, 0;", "defined twice", "x: mov.u32 %r1, 0; { x: mov.u32 %r1, 0; }"),
    (".shared .u32 z = 4;", "cannot have an initial value", ".shared .u32 z;"),
    (".local .u32 z = 4;", "cannot have an initial value", ".local .u32 z;"),
    (".reg .u32 z = 4;", "cannot have an initial value", ".reg .u32 z;"),
    ("@%r1 mov.u32 %r1, 0;", "not a predicate", "@%p1 mov.u32 %r1, 0;"),
    ("st.const.u32 [%rd1], %r1;", "cannot be written", "st.global.u32 [%rd1], %r1;"),
    ("add.u32 %r1, -%r1, %r2;", "after the sign", "sub.u32 %r1, %r2, %r1;"),
    ("ld.global.v2.u32 {%r1, %r2, %r3}, [%rd1];", "expected 2 registers", "ld.global.v2.u32 {%r1, %r2}, [%rd1];"),
    ("add.sat.f64 %d1, %d1, %d2;", "unknown modifier", "add.sat.f32 %f1, %f1, %f2;"),
    ("add.ftz.f64 %d1, %d1, %d2;", "unknown modifier", "add.f64 %d1, %d1, %d2;"),
    ("fma.f32 %f1, %f1, %f2, %f3;", "needs a rounding", "fma.rn.f32 %f1, %f1, %f2, %f3;"),
    ("div.f32 %f1, %f1, %f2;", "needs", "div.full.f32 %f1, %f1, %f2;"),
    ("rcp.approx.f64 %d1, %d2;", "approximation of .f64", "rcp.approx.ftz.f64 %d1, %d2;"),
    ("setmaxnreg.inc.sync.aligned.u32 20;", "multiple of 8", "setmaxnreg.inc.sync.aligned.u32 64;"),
    ("ld.global.u32 %r1, [%rd1-4];", "negative offset", "ld.global.u32 %r1, [%rd1+8-4];"),
    ("bra NO;", "unknown label", "bra YES; YES:"),
    ("mov.u32 %r1, \u00e9;", "not ASCII", "mov.u32 %r1, 1; // \u00e9"),
]  # fmt: skip
#: Whole modules.
MODULES = [
    (module(".shared .u32 z = 4;"), "cannot have an initial value", module(".global .u32 z = 4;")),
    (module(".extern .global .u32 z = 4;"), "cannot have an initial value", module(".const .u32 z = 4;")),
    (module(".shared .b8 z[];"), "has no size", module(".extern .shared .b8 z[];")),
    (module(".global .u32 x; .global .u32 x;"), "declared twice", module(".global .u32 x; .global .u32 y;")),
    (module(".global .u64 x = y; .global .u32 y;"), "declared later", module(".global .u32 y; .global .u64 x = y;")),
    (module(".global .u64 x = f; .func f() { ret; }"), "declared later", module(".func f() { ret; } .global .u64 x = f;")),
    (module(".global .u32 k;"), "name of a variable", module(".global .u32 l;")),
    (HEADER + ".visible .entry k(.param .u64 p, .param .u64 p) { ret; }", "declared twice", HEADER + ".visible .entry k(.param .u64 p, .param .u64 q) { ret; }"),
    (module(".visible .entry k() { ret; }"), "defined twice", module(".visible .entry l() { ret; }")),
    (module("") + "/* open", "ends in a comment", module("") + "/* closed */"),
    (HEADER + ".visible .entry k() .maxntid 64 .reqntid 32 { ret; }", "exclude each other", HEADER + ".visible .entry k() .reqntid 32 { ret; }"),
    (module("").replace("sm_90a", "sm_91"), "unknown target", module("")),
    (module("").replace("sm_90a", "sm_80a"), "unknown target", module("").replace("sm_90a", "sm_80")),
    (module("").replace("8.8", "7.8"), "needs .version 8.0", module("").replace("8.8", "8.0")),
    (module("").replace("8.8", "7.7").replace("sm_90a", "sm_90"), "needs .version 7.8", module("").replace("8.8", "7.8").replace("sm_90a", "sm_90")),
]  # fmt: skip


WIDE = ".v8.b32 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}"


def test_accesses_of_32_bytes():
    for text, message in (
        (f"ld.shared{WIDE}, [%rd1];", "only global memory"),
        (f"ld.local{WIDE}, [%rd1];", "only global memory"),
        ("ld.global.v2.b128 {%q1, %q2}, [%rd1];", "no vectors of .b128"),
    ):
        texts = [body(t).replace("sm_90a", "sm_100a") for t in (text, f"ld.global{WIDE}, [%rd1];")]
        refused(texts[0], message, texts[1])


def refused(text: str, message: str, right: str) -> None:
    with pytest.raises(TileError, match=message):
        tile.sim.load(text)
    assert tile.sim.load(right).entries
    if assemble(right) is not None:
        assert not assemble(text)
        assert assemble(right)


CASES = [(body(text), message, body(right)) for text, message, right in INSTRUCTIONS] + MODULES


@pytest.mark.parametrize(("text", "message", "right"), CASES, ids=range(len(CASES)))
def test_refused_and_taken(text, message, right):
    refused(text, message, right)


#: instruction: the first target and version that have it.
NEEDS = {
    "wgmma.fence.sync.aligned;": ("sm_90a", "8.0"),
    "setmaxnreg.inc.sync.aligned.u32 64;": ("sm_90a", "8.0"),
    "cp.async.wait_all;": ("sm_80", "7.0"),
    "mbarrier.init.shared.b64 [%r1], 1;": ("sm_80", "7.0"),
    "mbarrier.try_wait.shared.b64 %p1, [%r1], %rd1;": ("sm_90", "7.8"),
    "barrier.cluster.arrive;": ("sm_90", "7.8"),
    "mapa.shared::cluster.u32 %r1, %r2, 0;": ("sm_90", "7.8"),
    "cp.async.bulk.commit_group;": ("sm_90", "8.0"),
    "fence.proxy.async;": ("sm_90", "8.0"),
    "elect.sync %r1|%p1, -1;": ("sm_90", "8.0"),
    "redux.sync.add.u32 %r1, %r2, -1;": ("sm_80", "7.0"),
    "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r2], {%r1};": ("sm_90", "7.8"),
    "redux.sync.min.f32 %f1, %f2, -1;": ("sm_100a", "8.6"),
    "ld.global.v8.b32 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%rd1];": ("sm_100", "8.8"),
    "st.global.v4.f64 [%rd1], {%d1, %d2, %d3, %d4};": ("sm_100", "8.8"),
    "ld.v4.b64 {%rd1, %rd2, %rd3, %rd4}, [%rd1];": ("sm_100", "8.8"),
    "add.rn.f32x2 %rd1, %rd2, %rd3;": ("sm_100", "8.6"),
    "fma.rn.f32x2 %rd1, %rd2, %rd3, %rd1;": ("sm_100", "8.6"),
    "ex2.approx.ftz.bf16 %h1, %h2;": ("sm_90", "7.8"),
    "tanh.approx.bf16 %h1, %h2;": ("sm_90", "7.8"),
    "tanh.approx.f32 %f1, %f2;": ("sm_75", "7.0"),
    "sub.bf16x2 %r1, %r2, %r3;": ("sm_90", "7.8"),
    "mul.bf16 %h1, %h2, %h3;": ("sm_90", "7.8"),
    "fma.rn.bf16x2 %r1, %r2, %r3, %r4;": ("sm_80", "7.0"),
    "neg.bf16 %h1, %h2;": ("sm_80", "7.0"),
    "max.f16x2 %r1, %r2, %r3;": ("sm_80", "7.0"),
    "max.bf16 %h1, %h2, %h3;": ("sm_80", "7.0"),
    "setp.eq.bf16 %p1, %h1, %h2;": ("sm_90", "7.8"),
    "cvt.rn.bf16.f32 %h1, %f1;": ("sm_80", "7.0"),
    "cvt.rn.f16x2.f32 %r1, %f1, %f2;": ("sm_80", "7.0"),
    "cvt.rna.tf32.f32 %r1, %f1;": ("sm_80", "7.0"),
    "cvt.rn.f16x2.e4m3x2 %r1, %h1;": ("sm_89", "8.1"),
    "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r1], %r2, [%r3];": ("sm_90", "8.1"),
    "createpolicy.fractional.L2::evict_last.b64 %rd1, 1.0;": ("sm_80", "7.4"),
    "ld.global.L2::cache_hint.b32 %r1, [%rd1], %rd2;": ("sm_80", "7.4"),
    "ld.global.L2::128B.b32 %r1, [%rd1];": ("sm_75", "7.4"),
    "ld.global.L1::evict_last.b32 %r1, [%rd1];": ("sm_70", "7.4"),
    "st.global.L2::cache_hint.b32 [%rd1], %r1, %rd2;": ("sm_80", "7.4"),
    "st.global.L1::evict_first.b32 [%rd1], %r1;": ("sm_70", "7.4"),
    "cp.async.ca.shared.global.L2::128B [%r1], [%rd1], 4;": ("sm_80", "7.4"),
}  # fmt: skip
BELOW = {
    "sm_100a": "sm_90a",
    "sm_100": "sm_90a",
    "sm_90a": "sm_90",
    "sm_90": "sm_89",
    "sm_89": "sm_87",
    "sm_80": "sm_75",
    "sm_75": "sm_72",
    "sm_70": "sm_62",
}
BEFORE = {
    "8.8": "8.7",
    "8.6": "8.5",
    "8.1": "8.0",
    "8.0": "7.8",
    "7.8": "7.7",
    "7.4": "7.3",
    "7.0": "6.5",
}


@pytest.mark.parametrize("text", NEEDS)
def test_targets_and_versions(text):
    target, version = NEEDS[text]

    def at(target, version):
        registers = REGISTERS.replace(".reg .b128 %q<4>;", "")
        return f".version {version}\n.target {target}\n.address_size 64\n.visible .entry k() {{ {registers} {text} ret; }}\n"

    refused(at(BELOW[target], "8.8"), "target", at(target, version))
    later = "sm_100a" if target == "sm_90a" else target
    if BEFORE[version] != "6.5":
        with pytest.raises(TileError, match="version"):
            tile.sim.load(at(later if "wgmma" not in text else target, BEFORE[version]))


def test_integers_beyond_64_bits():
    """ptxas wraps them; the simulator does not guess."""
    for text in ("0x1FFFFFFFFFFFFFFFF", "18446744073709551616", "02777777777777777777777"):
        with pytest.raises(TileError, match="does not fit into 64 bits"):
            tile.sim.load(body(f"mov.u64 %rd1, {text};"))
    tile.sim.load(body("mov.u64 %rd1, 0xFFFFFFFFFFFFFFFF; mov.u64 %rd2, 18446744073709551615;"))

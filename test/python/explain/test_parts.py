"""The parts of an explanation by themselves, on texts that say what is to come out."""

from __future__ import annotations

import itertools
import random

import pytest
from reference import sim_only

from tile.compiler.watch import PipelineRun, Remark
from tile.explain import locations, passes
from tile.explain.inlined import add_helpers, with_helpers
from tile.explain.resources import opcodes
from tile.explain.roofline import roofline
from tile.explain.schedule import schedules
from tile.explain.shared_memory import buffer_bytes, memory_map
from tile.explain.timeline import timeline

pytestmark = sim_only

MLIR = """
#loc1 = loc("/a/kernel.py":7:1)
#loc5 = loc("x"(#loc2))
module {
  tt.func @f(%a: i32 loc("a"(#loc1))) {
    %x = arith.addi %a, %a : i32 loc(#loc5)
    %y = arith.muli %x, %x : i32 loc(#loc6)
    %z = arith.muli %x, %y : i32 loc(fused[#loc2, "/a/kernel.py":10:2])
    tt.return loc(#loc)
  } loc(#loc1)
}
#loc = loc(unknown)
#loc2 = loc("/a/kernel.py":8:3)
#loc3 = loc("/lib/helper.py":40:3)
#loc6 = loc(callsite(#loc3 at #loc2))
"""


def found_in(lines, text, what):
    (at,) = (i for i, line in enumerate(text.splitlines()) if what in line)
    return lines[at]


def test_lines_of_mlir():
    lines = locations.of_mlir(MLIR)
    kernel = "/a/kernel.py"
    assert found_in(lines, MLIR, "%x =") == [(kernel, 8)]
    assert found_in(lines, MLIR, "%y =") == [("/lib/helper.py", 40), (kernel, 8)]
    assert found_in(lines, MLIR, "%z =") == [(kernel, 8), (kernel, 10)]
    assert found_in(lines, MLIR, "tt.return") == []
    assert found_in(lines, MLIR, "#loc2 =") == []


LLVM = """
define void @f() !dbg !5 {
  %1 = add i32 1, 2, !dbg !9
  %2 = mul i32 %1, 2, !dbg !14
  ret void
}
!5 = distinct !DISubprogram(name: "f", scope: !6, file: !6, line: 7)
!6 = !DIFile(filename: "kernel.py", directory: "/a")
!9 = !DILocation(line: 8, column: 15, scope: !5)
!14 = !DILocation(line: 40, column: 12, scope: !15, inlinedAt: !16)
!15 = distinct !DILexicalBlockFile(scope: !5, file: !19, discriminator: 0)
!16 = !DILocation(line: 10, column: 33, scope: !5)
!19 = !DIFile(filename: "helper.py", directory: "/lib")
"""


def test_lines_of_llvm_ir():
    lines = locations.of_llvm(LLVM)
    assert found_in(lines, LLVM, "%1 =") == [("/a/kernel.py", 8)]
    assert found_in(lines, LLVM, "%2 =") == [("/lib/helper.py", 40), ("/a/kernel.py", 10)]
    assert found_in(lines, LLVM, "ret void") == []
    assert found_in(lines, LLVM, "define") == []


PTX = """
.visible .entry f(
)
{
\t.reg .b32 \t%r<3>;
\t.loc\t1 8 15                          // kernel.py:8:15
\tmov.u32 \t%r1, %tid.x;
$L_1:
\t.loc\t2 40 12, function_name $L_f, inlined_at 1 10 3
\t@%p1 add.s32 \t%r2, %r1, 1;
\t.loc\t2 41 12                         // helper.py:41:12 @[ kernel.py:11:45 ]
\tadd.s32 \t%r2, %r2, 1;
\t.loc\t1 0 0
\tret;
}
\t.file\t1 "/a/kernel.py"
\t.file\t2 "/lib" "helper.py"
"""


def test_lines_of_assembly():
    lines = locations.of_assembly(PTX)
    assert found_in(lines, PTX, "mov.u32") == [("/a/kernel.py", 8)]
    assert found_in(lines, PTX, "%r2, %r1") == [("/lib/helper.py", 40), ("/a/kernel.py", 10)]
    assert found_in(lines, PTX, "%r2, %r2") == [("/lib/helper.py", 41), ("/a/kernel.py", 11)]
    assert found_in(lines, PTX, "ret;") == found_in(lines, PTX, "$L_1:") == []
    assert list(opcodes(PTX)) == ["mov.u32", "add.s32", "add.s32", "ret"]


def test_helpers_count_for_their_callers():
    """Against a count that is made the other way round: for each line, what comes from it."""
    rng = random.Random(38)
    places = [[("f", n) for n in rng.sample(range(5), rng.randrange(4))] for _ in range(40)]
    counted = {i: (rng.randrange(9), rng.randrange(9), rng.randrange(9)) for i in range(1, 44)}
    found = with_helpers(counted, places)
    for n in range(5):
        mine = [counted[i] for i in range(1, 41) if ("f", n) in places[i - 1]]
        sums = tuple(map(sum, zip(*mine, strict=True))) if mine else None
        assert (tuple(found[("f", n)].values()) if ("f", n) in found else None) == sums
    own = {"file": "f", "line": 9, "warp_instructions": 3, "sectors": 1, "bank_conflicts": 0}
    rows = {row["line"]: row for row in add_helpers([own], found)}
    assert rows[9]["with_helpers"]["warp_instructions"] == 3
    assert rows[0]["warp_instructions"] == 0 and rows[0]["with_helpers"] == found[("f", 0)]


def dump(*steps: tuple[str, str]) -> str:
    head = "// -----// IR Dump After Pass ({}) //----- //\n{}\n\n"
    return "".join(head.format(name, ir) for name, ir in steps)


def test_what_passes_changed():
    run = PipelineRun(
        "tile-toy-ttir{a=b}",
        "%0 = f\n%1 = g",
        dump(("nothing", "%0 = f\n%1 = g"), ("renumbers", "%5 = f\n%7 = g"),
             ("adds", "%5 = f\n%6 = h\n%7 = g"), ("removes", "%7 = g"), ("silent", "%7 = g")),
    )  # fmt: skip
    said = Remark("silent", "kind", "why", [])
    found = passes.changes([run], [said, Remark("backend", "kind", "too", [])])
    # Numbers alone are no change; whoever says something is listed.
    assert [(c.stage, c.name, c.added, c.removed) for c in found] == [
        ("ttir", "adds", 1, 0), ("ttir", "removes", 0, 2), ("ttir", "silent", 0, 0),
        ("", "backend", 0, 0),
    ]  # fmt: skip
    assert ("+", "%6 = h") in found[0].lines and (" ", "%5 = f") in found[0].lines
    assert found[2].remarks == [said]


def test_differences_give_one_text_from_the_other():
    """Random edits: what a difference keeps and adds is the new text, what it keeps and removes the
    old one."""
    rng = random.Random(38)
    for _ in range(50):
        old = [
            f"op{rng.randrange(6)}" for _ in range(rng.randrange(1, 3))
        ]  # No more than is kept around.
        new = [line for line in old if rng.random() < 0.7]
        new.insert(rng.randrange(len(new) + 1), "new")
        change = passes.ChangedBy("", "")
        passes._difference("\n".join(old), "\n".join(new), change)
        assert [line for sign, line in change.lines if sign in " +"] == new
        assert [line for sign, line in change.lines if sign in " -"] == old
        assert change.added - change.removed == len(new) - len(old)


SHARED = """module attributes {ttg.shared = 96 : i32} {
    %a = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !ttg.memdesc<4x8xf16, #s, #m>
    %b = ttg.local_alloc %v {allocation.offset = 64 : i32} : (t) -> !ttg.memdesc<2x2xi64, #s, #m>
    %c = ttg.local_load %b : !ttg.memdesc<2x2xi64, #s, #m> -> t
    cf.br ^bb1(%0 : i32)
  ^bb1(%i: i32):
    %d = ttg.memdesc_index %a[%i] : !ttg.memdesc<4x8xf16> -> !ttg.memdesc<8xf16>
    %e = ttg.local_load %d : !ttg.memdesc<8xf16> -> t
    %f = ttg.convert_layout %e {allocation.offset = 64 : i32} : t -> u
    cf.cond_br %p, ^bb1(%j : i32), ^bb2
  ^bb2:
    tt.return
"""


def test_shared_memory_over_time():
    found = memory_map(SHARED)
    assert (found.size, found.loops) == (96, [(5, 9)])
    a, b, scratch = found.buffers
    # `a` is read through a view in a loop, so it lives until the loop's end.
    assert (a.offset, a.size, a.first, a.last) == (0, 64, 1, 9)
    assert (b.offset, b.size, b.first, b.last) == (64, 32, 2, 3)
    assert (scratch.what, scratch.size, scratch.first, scratch.last) == (
        "ttg.convert_layout", None, 8, 8,
    )  # fmt: skip


@pytest.mark.parametrize(
    "type, size",
    [("!ttg.memdesc<3x64x32xf16, #s, #m, mutable>", 12288), ("!ttg.memdesc<1xi64, #s>", 8),
     ("!ttg.memdesc<16x16xf8E4M3FN, #s>", 256), ("!ttg.memdesc<8x8xbf16, #s>", 128),
     ("!ttg.memdesc<16xi1, #s>", 2), ("tensor<4xf32>", None)],
)  # fmt: skip
def test_bytes_of_a_buffer(type, size):
    assert buffer_bytes(type) == size


def test_schedule():
    ir = """
    %9 = arith.addi %1, %2 {loop.cluster = 1 : i32, loop.stage = 0 : i32} : i32
    scf.for %i = %a to %b step %c : i32 {
      %1 = tt.load %p {loop.cluster = 2 : i32, loop.stage = 0 : i32} : t
      %2 = "tt.reduce"(%1) <{axis = 0 : i32}> ({
        tt.reduce.return %x : f32
      }) {loop.cluster = 0 : i32, loop.stage = 1 : i32} : (t) -> f32
    }
    scf.for %i = %a to %b step %c : i32 {
      %3 = tt.load %p : t
    }
"""
    (one,) = schedules(ir)
    assert one.stages == 2
    assert [(op.operation.split()[2], op.stage) for op in one.in_order] == [
        ('"tt.reduce"(%1)', 1), ("tt.load", 0),
    ]  # fmt: skip


def test_the_kernel_lies_on_the_roof():
    """Wherever it lies, the kernel's point is on the line, and inside of the drawing."""
    for work, sectors, memory, issue in itertools.product(
        (10, 10**6), (1, 10**5), (1e-9, 1e-3), (1e-9, 1e-5)
    ):
        counters = {"global_load_sectors": sectors, "global_store_sectors": 0, "async_bytes": 0,
                    "tensor_flops": 0, "lane_instructions": work}  # fmt: skip
        roof = {"memory": memory, "issue": issue, "tensor": 0, "seconds": max(memory, issue)}
        chart = roofline(counters, roof)
        (a, b, c), k = chart.roof, chart.kernel
        assert a.x < b.x < c.x and a.y > b.y == c.y
        on_slope = b.y + (a.y - b.y) * (b.x - k.x) / (b.x - a.x)
        assert k.y == pytest.approx(on_slope if k.x < b.x else b.y, abs=0.01)
    counters["global_load_sectors"] = 0
    assert roofline(counters, roof) is None


def test_timeline_shows_the_first_block():
    def name(pid, tid, text):
        return {"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": text}}

    def span(pid, tid, start, length, text):
        return {"ph": "X", "pid": pid, "tid": tid, "ts": start, "dur": length, "name": text}

    events = [name(0, 0, "warp 0"), name(0, 100, "bulk copies"), name(1, 0, "warp 0"),
              span(0, 0, 0, 5, "kernel.py:3"), span(0, 0, 5, 7, "wait: load"),
              span(1, 0, 0, 99, "kernel.py:3")]  # fmt: skip
    found = timeline(events)
    assert [(row.name, len(row.spans)) for row in found.rows] == [("warp 0", 2)]
    assert found.cycles == 12 and [s.waits for s in found.rows[0].spans] == [False, True]
    assert timeline([]).rows == []

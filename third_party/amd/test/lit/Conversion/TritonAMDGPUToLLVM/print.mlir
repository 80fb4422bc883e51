// RUN: tile-opt %s -tile-amd-llir | filecheck %s
// RUN: tile-opt %s -tile-amd-llir -tile-amd-amdgcn -o /dev/null | filecheck %s -check-prefix=CODE

// Records in a buffer, whose place is taken by compare-and-swap; formats in the metadata.
// CHECK: amdg.print_formats = ["1:4:4:4:4:4:pid (%u, %u, %u) idx () x\\72 %i\\n", "2:0:{{.*}}assertion 'positive' failed\\n"]
// CHECK-LABEL: @print
// CHECK: llvm.call_intrinsic "llvm.amdgcn.implicitarg.ptr"
// CHECK: llvm.cmpxchg
// CHECK: llvm.inline_asm has_side_effects asm_dialect = att "s_trap 2"
// CODE: s_trap 2
// CODE: .value_kind: hidden_printf_buffer
// CODE: amdhsa.printf:
// CODE-NEXT: - '1:4:4:4:4:4:pid (%u, %u, %u) idx () x\72 %i\n'
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @print(%x: i32, %good: i1) {
    tt.print " x: " {hex = false, isSigned = array<i32: 1>} : %x : i32
    tt.assert %good, "positive" : i1
    tt.return
  }
}

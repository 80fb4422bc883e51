// RUN: tile-opt %s -tile-nvidia-ptx -o %t.mlir | filecheck %s

// What a loop around compare-and-swap begins with is read while others write.

module attributes {"ttg.num-warps" = 1 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:90"} {
// CHECK: .visible .entry least(
// CHECK-NOT: ld.global
// CHECK: ld.relaxed.gpu.global.b32
// CHECK: atom.relaxed.gpu.global.cas.b32
// CHECK-NOT: ld.global
// CHECK: ret;
llvm.func @least(%p: !llvm.ptr<1>, %x: i16) attributes {nvvm.kernel} {
  %0 = llvm.atomicrmw min %p, %x syncscope("device") monotonic : !llvm.ptr<1>, i16
  llvm.return
}
}

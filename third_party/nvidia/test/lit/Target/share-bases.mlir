// RUN: tile-opt %s -split-input-file -tile-nvidia-ptx -o %t.mlir | filecheck %s

// What is known to be 512 bytes on is there in the loop, too, where the same is
// added to both: one sum of 64 bits.

#once = #llvm.loop_annotation<unroll = <disable = true>>
module attributes {"ttg.num-warps" = 1 : i32, ttg.target = "cuda:80"} {
// CHECK-LABEL: .visible .entry copies(
// CHECK: $L__BB0_1:
// CHECK: add.s64 {{.*}}[[A:%rd[0-9]+]], %rd{{[0-9]+}}, %rd{{[0-9]+}};
// CHECK-NOT: add.s64
// CHECK: cp.async.cg.shared.global [%r{{[0-9]+}}], {{\[}}[[A]]], 16;
// CHECK-NOT: add.s64
// CHECK: cp.async.cg.shared.global [%r{{[0-9]+}}], {{\[}}[[A]]+512], 16;
// CHECK: bra
llvm.func @copies(%p: !llvm.ptr<1>, %shared: !llvm.ptr<3>, %n: i32, %stride: i32) attributes {nvvm.kernel} {
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %seven = llvm.mlir.constant(7 : i32) : i32
  %next = llvm.mlir.constant(4 : i32) : i32
  %lanes = llvm.mlir.constant(3 : i32) : i32
  %shared1 = llvm.getelementptr %shared[16] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  %thread = nvvm.read.ptx.sreg.tid.x : i32
  %row = llvm.and %thread, %lanes : i32
  %row1 = llvm.or disjoint %row, %next : i32
  %offset = llvm.shl %row, %seven : i32
  %offset1 = llvm.shl %row1, %seven : i32
  %a = llvm.getelementptr %p[%offset] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
  %b = llvm.getelementptr %p[%offset1] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
  llvm.br ^loop(%zero : i32)
^loop(%i: i32):
  %moved = llvm.mul %i, %stride : i32
  %a1 = llvm.getelementptr %a[%moved] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
  %b1 = llvm.getelementptr %b[%moved] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
  nvvm.cp.async.shared.global %shared, %a1, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
  nvvm.cp.async.shared.global %shared1, %b1, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
  %i1 = llvm.add %i, %one : i32
  %more = llvm.icmp "slt" %i1, %n : i32
  llvm.cond_br %more, ^loop(%i1 : i32), ^end {loop_annotation = #once}
^end:
  llvm.return
}
}

// -----

// Assembly needs a sum of its own either way.

module attributes {"ttg.num-warps" = 1 : i32, ttg.target = "cuda:80"} {
// CHECK-LABEL: .visible .entry assembly(
// CHECK: add.s64 {{.*}}[[FIRST:%rd[0-9]+]], %rd{{[0-9]+}}, %rd{{[0-9]+}};
// CHECK: st.global.b32 {{\[}}[[FIRST]]]
// CHECK: add.s64 {{.*}}[[SECOND:%rd[0-9]+]], [[FIRST]], 512;
// CHECK: st.global.b32 {{\[}}[[SECOND]]]
llvm.func @assembly(%p: !llvm.ptr<1>, %at: i64, %value: i32) attributes {nvvm.kernel} {
  %near = llvm.getelementptr %p[512] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  %a = llvm.getelementptr %p[%at] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
  %b = llvm.getelementptr %near[%at] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
  llvm.inline_asm has_side_effects "st.global.b32 [$0], $1;", "l,r" %a, %value : (!llvm.ptr<1>, i32) -> ()
  llvm.inline_asm has_side_effects "st.global.b32 [$0], $1;", "l,r" %b, %value : (!llvm.ptr<1>, i32) -> ()
  llvm.return
}
}

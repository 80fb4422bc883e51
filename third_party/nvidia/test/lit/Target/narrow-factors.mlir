// RUN: tile-opt %s -split-input-file -tile-nvidia-ptx -o %t.mlir | filecheck %s

// A stride is extended ahead of the loop. Its product with a page is one
// instruction in the loop.

#once = #llvm.loop_annotation<unroll = <disable = true>>
module attributes {"ttg.num-warps" = 1 : i32, ttg.target = "cuda:90"} {
// CHECK-LABEL: .visible .entry extended_before(
// CHECK: $L__BB0_1:
// CHECK-NOT: mul.lo.s64
// CHECK: mul.wide.s32
// CHECK: bra
llvm.func @extended_before(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %n: i32, %stride: i32) attributes {nvvm.kernel} {
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %wide = llvm.sext %stride : i32 to i64
  llvm.br ^loop(%zero : i32)
^loop(%i: i32):
  %at = llvm.getelementptr %p[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  %page = llvm.load volatile %at : !llvm.ptr<1> -> i32
  %number = llvm.sext %page : i32 to i64
  %offset = llvm.mul %number, %wide : i64
  %to = llvm.getelementptr %q[%offset] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
  llvm.store volatile %i, %to : i32, !llvm.ptr<1>
  %next = llvm.add %i, %one : i32
  %more = llvm.icmp "slt" %next, %n : i32
  llvm.cond_br %more, ^loop(%next : i32), ^end {loop_annotation = #once}
^end:
  llvm.return
}
}

// -----

// So it is with a stride of 64 bits that is known to be small, but not with one
// of which nothing is known.

#once = #llvm.loop_annotation<unroll = <disable = true>>
module attributes {"ttg.num-warps" = 1 : i32, ttg.target = "cuda:90"} {
// CHECK-LABEL: .visible .entry known_range(
// CHECK: $L__BB0_1:
// CHECK-NOT: mul.lo.s64
// CHECK: mul.wide.s32
// CHECK: mul.lo.s64
// CHECK: bra
llvm.func @known_range(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %n: i32, %small: i64 {llvm.range = #llvm.constant_range<i64, 0, 1073741824>}, %any: i64) attributes {nvvm.kernel} {
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  llvm.br ^loop(%zero : i32)
^loop(%i: i32):
  %at = llvm.getelementptr %p[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  %page = llvm.load volatile %at : !llvm.ptr<1> -> i32
  %number = llvm.sext %page : i32 to i64
  %offset = llvm.mul %number, %small : i64
  %to = llvm.getelementptr %q[%offset] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
  llvm.store volatile %i, %to : i32, !llvm.ptr<1>
  %offset1 = llvm.mul %number, %any : i64
  %to1 = llvm.getelementptr %q[%offset1] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
  llvm.store volatile %i, %to1 : i32, !llvm.ptr<1>
  %next = llvm.add %i, %one : i32
  %more = llvm.icmp "slt" %next, %n : i32
  llvm.cond_br %more, ^loop(%next : i32), ^end {loop_annotation = #once}
^end:
  llvm.return
}
}

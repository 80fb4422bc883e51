// RUN: tile-opt %s -tile-nvidia-ptx -o %t.mlir | filecheck %s

#once = #llvm.loop_annotation<unroll = <disable = true>>
module attributes {"ttg.num-warps" = 1 : i32, ttg.target = "cuda:90"} {
// LLVM makes `i < 32704` of the comparison, and the counter went up at the
// beginning. ptxas knows how often a loop runs that counts at its end.
// CHECK-LABEL: .visible .entry sums(
// CHECK: $L__BB0_1:
// CHECK-NOT: 64;
// CHECK: ld.volatile.global.b32
// CHECK: add.s32 [[I:%r[0-9]+]], [[I]], 64;
// CHECK-NEXT: setp.lt.u32 [[P:%p[0-9]+]], [[I]], 32768;
// CHECK: @[[P]] bra
llvm.func @sums(%p: !llvm.ptr<1>, %t: i32, %q: !llvm.ptr<1>) attributes {nvvm.kernel} {
  %0 = llvm.mlir.constant(0 : i32) : i32
  %step = llvm.mlir.constant(64 : i32) : i32
  %end = llvm.mlir.constant(32768 : i32) : i32
  llvm.br ^bb1(%0, %0 : i32, i32)
^bb1(%i: i32, %sum: i32):
  %at = llvm.add %i, %t : i32
  %from = llvm.getelementptr %p[%at] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  %x = llvm.load volatile %from {alignment = 4 : i64} : !llvm.ptr<1> -> i32
  %next = llvm.add %sum, %x : i32
  %j = llvm.add %i, %step overflow<nsw> : i32
  %more = llvm.icmp "slt" %j, %end : i32
  llvm.cond_br %more, ^bb1(%j, %next : i32, i32), ^bb2 {loop_annotation = #once}
^bb2:
  llvm.store volatile %next, %q {alignment = 4 : i64} : i32, !llvm.ptr<1>
  llvm.return
}

// Here the next value may wrap around: 0xfff00000 and two steps do not fit.
// CHECK-LABEL: .visible .entry wraps(
// CHECK: setp.lt.u32 {{%p[0-9]+}}, {{%r[0-9]+}}, -1048576;
llvm.func @wraps(%p: !llvm.ptr<1>, %t: i32, %q: !llvm.ptr<1>) attributes {nvvm.kernel} {
  %0 = llvm.mlir.constant(0 : i32) : i32
  %step = llvm.mlir.constant(1000000 : i32) : i32
  %end = llvm.mlir.constant(-1048576 : i32) : i32
  llvm.br ^bb1(%0, %0 : i32, i32)
^bb1(%i: i32, %sum: i32):
  %at = llvm.add %i, %t : i32
  %from = llvm.getelementptr %p[%at] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  %x = llvm.load volatile %from {alignment = 4 : i64} : !llvm.ptr<1> -> i32
  %next = llvm.add %sum, %x : i32
  %j = llvm.add %i, %step : i32
  %more = llvm.icmp "ult" %i, %end : i32
  llvm.cond_br %more, ^bb1(%j, %next : i32, i32), ^bb2 {loop_annotation = #once}
^bb2:
  llvm.store volatile %next, %q {alignment = 4 : i64} : i32, !llvm.ptr<1>
  llvm.return
}
}

// RUN: tile-opt %s -split-input-file -tile-nvidia-ptx -o %t.mlir | filecheck %s

// ptxas computes `end - start` as a number with a sign: it may overflow here.

module attributes {"ttg.num-warps" = 1 : i32, ttg.target = "cuda:90"} {
// CHECK-LABEL: .visible .entry any_start(
// CHECK: $L__BB0_
// CHECK: .pragma "nounroll";
// CHECK: st.volatile.global
llvm.func @any_start(%p: !llvm.ptr<1>, %start: i32, %end: i32) attributes {nvvm.kernel} {
  %step = llvm.mlir.constant(64 : i32) : i32
  %some = llvm.icmp "slt" %start, %end : i32
  llvm.cond_br %some, ^loop(%start : i32), ^end
^loop(%i: i32):
  llvm.store volatile %i, %p : i32, !llvm.ptr<1>
  %next = llvm.add %i, %step : i32
  %again = llvm.icmp "slt" %next, %end : i32
  llvm.cond_br %again, ^loop(%next : i32), ^end
^end:
  llvm.return
}
}

// -----

// A loop that begins at zero cannot go further than the type does.

module attributes {"ttg.num-warps" = 1 : i32, ttg.target = "cuda:90"} {
// CHECK-LABEL: .visible .entry from_zero(
// CHECK-NOT: .pragma "nounroll";
// CHECK: st.volatile.global
llvm.func @from_zero(%p: !llvm.ptr<1>, %end: i32) attributes {nvvm.kernel} {
  %zero = llvm.mlir.constant(0 : i32) : i32
  %step = llvm.mlir.constant(64 : i32) : i32
  %some = llvm.icmp "slt" %zero, %end : i32
  llvm.cond_br %some, ^loop(%zero : i32), ^end
^loop(%i: i32):
  llvm.store volatile %i, %p : i32, !llvm.ptr<1>
  %next = llvm.add %i, %step : i32
  %again = llvm.icmp "slt" %next, %end : i32
  llvm.cond_br %again, ^loop(%next : i32), ^end
^end:
  llvm.return
}
}

// RUN: tile-opt %s -split-input-file -tile-nvidia-ptx -o %t.mlir | filecheck %s

// The input is computed tensor by tensor, and what was loaded stays alive for
// the stores. Each element goes to the sum before the next one is computed. No
// access to memory passes another.

module attributes {"ttg.num-warps" = 1 : i32, ttg.target = "cuda:90"} {
// CHECK-LABEL: .visible .entry sums(
// CHECK-COUNT-16: ld.volatile.global.b64
// CHECK-NEXT: xor.b64 [[A:%rd[0-9]+]], {{.*}}, 77;
// CHECK-NEXT: xor.b64 [[B:%rd[0-9]+]], {{.*}}, 77;
// CHECK-NEXT: add.s64 [[AB:%rd[0-9]+]], [[A]], [[B]];
// CHECK-NEXT: xor.b64 [[C:%rd[0-9]+]], {{.*}}, 77;
// CHECK-NEXT: add.s64 [[ABC:%rd[0-9]+]], [[AB]], [[C]];
// CHECK-NEXT: xor.b64 [[D:%rd[0-9]+]], {{.*}}, 77;
// CHECK-NEXT: add.s64 {{%rd[0-9]+}}, [[ABC]], [[D]];
// CHECK-COUNT-17: st.volatile.global.b64
llvm.func @sums(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %r: !llvm.ptr<1>) attributes {nvvm.kernel} {
  %key = llvm.mlir.constant(77 : i64) : i64
  %from0 = llvm.getelementptr %p[0] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
  %x0 = llvm.load volatile %from0 {alignment = 8 : i64} : !llvm.ptr<1> -> i64
  %from1 = llvm.getelementptr %p[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
  %x1 = llvm.load volatile %from1 {alignment = 8 : i64} : !llvm.ptr<1> -> i64
  %from2 = llvm.getelementptr %p[2] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
  %x2 = llvm.load volatile %from2 {alignment = 8 : i64} : !llvm.ptr<1> -> i64
  %from3 = llvm.getelementptr %p[3] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
  %x3 = llvm.load volatile %from3 {alignment = 8 : i64} : !llvm.ptr<1> -> i64
  %from4 = llvm.getelementptr %p[4] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
  %x4 = llvm.load volatile %from4 {alignment = 8 : i64} : !llvm.ptr<1> -> i64
  %from5 = llvm.getelementptr %p[5] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
  %x5 = llvm.load volatile %from5 {alignment = 8 : i64} : !llvm.ptr<1> -> i64
  %from6 = llvm.getelementptr %p[6] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
  %x6 = llvm.load volatile %from6 {alignment = 8 : i64} : !llvm.ptr<1> -> i64
  %from7 = llvm.getelementptr %p[7] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
  %x7 = llvm.load volatile %from7 {alignment = 8 : i64} : !llvm.ptr<1> -> i64
  %from8 = llvm.getelementptr %p[8] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
  %x8 = llvm.load volatile %from8 {alignment = 8 : i64} : !llvm.ptr<1> -> i64
  %from9 = llvm.getelementptr %p[9] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
  %x9 = llvm.load volatile %from9 {alignment = 8 : i64} : !llvm.ptr<1> -> i64
  %from10 = llvm.getelementptr %p[10] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
  %x10 = llvm.load volatile %from10 {alignment = 8 : i64} : !llvm.ptr<1> -> i64
  %from11 = llvm.getelementptr %p[11] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
  %x11 = llvm.load volatile %from11 {alignment = 8 : i64} : !llvm.ptr<1> -> i64
  %from12 = llvm.getelementptr %p[12] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
  %x12 = llvm.load volatile %from12 {alignment = 8 : i64} : !llvm.ptr<1> -> i64
  %from13 = llvm.getelementptr %p[13] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
  %x13 = llvm.load volatile %from13 {alignment = 8 : i64} : !llvm.ptr<1> -> i64
  %from14 = llvm.getelementptr %p[14] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
  %x14 = llvm.load volatile %from14 {alignment = 8 : i64} : !llvm.ptr<1> -> i64
  %from15 = llvm.getelementptr %p[15] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
  %x15 = llvm.load volatile %from15 {alignment = 8 : i64} : !llvm.ptr<1> -> i64
  %t0 = llvm.xor %x0, %key : i64
  %t1 = llvm.xor %x1, %key : i64
  %t2 = llvm.xor %x2, %key : i64
  %t3 = llvm.xor %x3, %key : i64
  %t4 = llvm.xor %x4, %key : i64
  %t5 = llvm.xor %x5, %key : i64
  %t6 = llvm.xor %x6, %key : i64
  %t7 = llvm.xor %x7, %key : i64
  %t8 = llvm.xor %x8, %key : i64
  %t9 = llvm.xor %x9, %key : i64
  %t10 = llvm.xor %x10, %key : i64
  %t11 = llvm.xor %x11, %key : i64
  %t12 = llvm.xor %x12, %key : i64
  %t13 = llvm.xor %x13, %key : i64
  %t14 = llvm.xor %x14, %key : i64
  %t15 = llvm.xor %x15, %key : i64
  %s1 = llvm.add %t0, %t1 : i64
  %s2 = llvm.add %s1, %t2 : i64
  %s3 = llvm.add %s2, %t3 : i64
  %s4 = llvm.add %s3, %t4 : i64
  %s5 = llvm.add %s4, %t5 : i64
  %s6 = llvm.add %s5, %t6 : i64
  %s7 = llvm.add %s6, %t7 : i64
  %s8 = llvm.add %s7, %t8 : i64
  %s9 = llvm.add %s8, %t9 : i64
  %s10 = llvm.add %s9, %t10 : i64
  %s11 = llvm.add %s10, %t11 : i64
  %s12 = llvm.add %s11, %t12 : i64
  %s13 = llvm.add %s12, %t13 : i64
  %s14 = llvm.add %s13, %t14 : i64
  %s15 = llvm.add %s14, %t15 : i64
  llvm.store volatile %s15, %r {alignment = 8 : i64} : i64, !llvm.ptr<1>
  %to0 = llvm.getelementptr %q[0] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
  llvm.store volatile %x0, %to0 {alignment = 8 : i64} : i64, !llvm.ptr<1>
  %to1 = llvm.getelementptr %q[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
  llvm.store volatile %x1, %to1 {alignment = 8 : i64} : i64, !llvm.ptr<1>
  %to2 = llvm.getelementptr %q[2] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
  llvm.store volatile %x2, %to2 {alignment = 8 : i64} : i64, !llvm.ptr<1>
  %to3 = llvm.getelementptr %q[3] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
  llvm.store volatile %x3, %to3 {alignment = 8 : i64} : i64, !llvm.ptr<1>
  %to4 = llvm.getelementptr %q[4] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
  llvm.store volatile %x4, %to4 {alignment = 8 : i64} : i64, !llvm.ptr<1>
  %to5 = llvm.getelementptr %q[5] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
  llvm.store volatile %x5, %to5 {alignment = 8 : i64} : i64, !llvm.ptr<1>
  %to6 = llvm.getelementptr %q[6] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
  llvm.store volatile %x6, %to6 {alignment = 8 : i64} : i64, !llvm.ptr<1>
  %to7 = llvm.getelementptr %q[7] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
  llvm.store volatile %x7, %to7 {alignment = 8 : i64} : i64, !llvm.ptr<1>
  %to8 = llvm.getelementptr %q[8] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
  llvm.store volatile %x8, %to8 {alignment = 8 : i64} : i64, !llvm.ptr<1>
  %to9 = llvm.getelementptr %q[9] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
  llvm.store volatile %x9, %to9 {alignment = 8 : i64} : i64, !llvm.ptr<1>
  %to10 = llvm.getelementptr %q[10] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
  llvm.store volatile %x10, %to10 {alignment = 8 : i64} : i64, !llvm.ptr<1>
  %to11 = llvm.getelementptr %q[11] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
  llvm.store volatile %x11, %to11 {alignment = 8 : i64} : i64, !llvm.ptr<1>
  %to12 = llvm.getelementptr %q[12] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
  llvm.store volatile %x12, %to12 {alignment = 8 : i64} : i64, !llvm.ptr<1>
  %to13 = llvm.getelementptr %q[13] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
  llvm.store volatile %x13, %to13 {alignment = 8 : i64} : i64, !llvm.ptr<1>
  %to14 = llvm.getelementptr %q[14] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
  llvm.store volatile %x14, %to14 {alignment = 8 : i64} : i64, !llvm.ptr<1>
  %to15 = llvm.getelementptr %q[15] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
  llvm.store volatile %x15, %to15 {alignment = 8 : i64} : i64, !llvm.ptr<1>
  llvm.return
}
}

// -----

// So few registers cost no block: the order stays.

module attributes {"ttg.num-warps" = 1 : i32, ttg.target = "cuda:90"} {
// CHECK-LABEL: .visible .entry few(
// CHECK-COUNT-3: ld.volatile.global.b64
// CHECK-COUNT-3: xor.b64
// CHECK-NEXT: add.s64
// CHECK-NEXT: add.s64
llvm.func @few(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %r: !llvm.ptr<1>) attributes {nvvm.kernel} {
  %key = llvm.mlir.constant(77 : i64) : i64
  %from0 = llvm.getelementptr %p[0] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
  %x0 = llvm.load volatile %from0 {alignment = 8 : i64} : !llvm.ptr<1> -> i64
  %from1 = llvm.getelementptr %p[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
  %x1 = llvm.load volatile %from1 {alignment = 8 : i64} : !llvm.ptr<1> -> i64
  %from2 = llvm.getelementptr %p[2] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
  %x2 = llvm.load volatile %from2 {alignment = 8 : i64} : !llvm.ptr<1> -> i64
  %t0 = llvm.xor %x0, %key : i64
  %t1 = llvm.xor %x1, %key : i64
  %t2 = llvm.xor %x2, %key : i64
  %s1 = llvm.add %t0, %t1 : i64
  %s2 = llvm.add %s1, %t2 : i64
  llvm.store volatile %s2, %r {alignment = 8 : i64} : i64, !llvm.ptr<1>
  %to0 = llvm.getelementptr %q[0] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
  llvm.store volatile %x0, %to0 {alignment = 8 : i64} : i64, !llvm.ptr<1>
  %to1 = llvm.getelementptr %q[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
  llvm.store volatile %x1, %to1 {alignment = 8 : i64} : i64, !llvm.ptr<1>
  %to2 = llvm.getelementptr %q[2] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
  llvm.store volatile %x2, %to2 {alignment = 8 : i64} : i64, !llvm.ptr<1>
  llvm.return
}
}

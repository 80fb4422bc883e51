// RUN: tile-opt %s -split-input-file -tile-nvidia-ptx -o %t.mlir | filecheck %s

// Two addresses that go on by the same distance: a base each, one offset.

#once = #llvm.loop_annotation<unroll = <disable = true>>
module attributes {"ttg.num-warps" = 1 : i32, ttg.target = "cuda:90"} {
// CHECK-LABEL: .visible .entry together(
// CHECK: $L__BB0_1:
// CHECK: add.s64 {{.*}}[[A:%rd[0-9]+]], %rd{{[0-9]+}}, [[OFFSET:%rd[0-9]+]];
// CHECK: cp.async.cg.shared.global [%r{{[0-9]+}}], {{\[}}[[A]]], 16;
// CHECK: add.s64 {{.*}}[[B:%rd[0-9]+]], %rd{{[0-9]+}}, [[OFFSET]];
// CHECK: cp.async.cg.shared.global [%r{{[0-9]+}}], {{\[}}[[B]]], 16;
// CHECK: cp.async.cg.shared.global [%r{{[0-9]+}}], {{\[}}[[B]]+64], 16;
// CHECK: add.s64 {{.*}}[[OFFSET]], [[OFFSET]], %rd{{[0-9]+}};
// CHECK-NOT: add.s64
// CHECK: bra
llvm.func @together(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %shared: !llvm.ptr<3>, %step: i64, %n: i32) attributes {nvvm.kernel} {
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %shared1 = llvm.getelementptr %shared[16] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  %shared2 = llvm.getelementptr %shared[32] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  llvm.br ^loop(%zero, %p, %q : i32, !llvm.ptr<1>, !llvm.ptr<1>)
^loop(%i: i32, %a: !llvm.ptr<1>, %b: !llvm.ptr<1>):
  nvvm.cp.async.shared.global %shared, %a, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
  nvvm.cp.async.shared.global %shared1, %b, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
  %near = llvm.getelementptr %b[64] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  nvvm.cp.async.shared.global %shared2, %near, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
  %a1 = llvm.getelementptr %a[%step] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
  %b1 = llvm.getelementptr %b[%step] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
  %i1 = llvm.add %i, %one : i32
  %more = llvm.icmp "slt" %i1, %n : i32
  llvm.cond_br %more, ^loop(%i1, %a1, %b1 : i32, !llvm.ptr<1>, !llvm.ptr<1>), ^end {loop_annotation = #once}
^end:
  llvm.return
}
}

// -----

// One that reads where it will be in the next iteration: that base is further on.

#once = #llvm.loop_annotation<unroll = <disable = true>>
module attributes {"ttg.num-warps" = 1 : i32, ttg.target = "cuda:90"} {
// CHECK-LABEL: .visible .entry ahead(
// CHECK: add.s64 {{.*}}%rd{{[0-9]+}}, %rd{{[0-9]+}}, 128;
// CHECK: $L__BB0_1:
// CHECK-COUNT-2: cp.async.cg.shared.global
// CHECK: add.s64 {{.*}}[[OFFSET:%rd[0-9]+]], [[OFFSET]], 128;
// CHECK-NOT: add.s64
// CHECK: bra
llvm.func @ahead(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %shared: !llvm.ptr<3>, %n: i32) attributes {nvvm.kernel} {
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  llvm.br ^loop(%zero, %p, %q : i32, !llvm.ptr<1>, !llvm.ptr<1>)
^loop(%i: i32, %a: !llvm.ptr<1>, %b: !llvm.ptr<1>):
  %a1 = llvm.getelementptr %a[128] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  %b1 = llvm.getelementptr %b[128] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  nvvm.cp.async.shared.global %shared, %a1, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
  nvvm.cp.async.shared.global %shared, %b, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
  %i1 = llvm.add %i, %one : i32
  %more = llvm.icmp "slt" %i1, %n : i32
  llvm.cond_br %more, ^loop(%i1, %a1, %b1 : i32, !llvm.ptr<1>, !llvm.ptr<1>), ^end {loop_annotation = #once}
^end:
  llvm.return
}
}

// -----

// Other distances, and no neighbour: pointers of their own.

#once = #llvm.loop_annotation<unroll = <disable = true>>
module attributes {"ttg.num-warps" = 1 : i32, ttg.target = "cuda:90"} {
// CHECK-LABEL: .visible .entry apart(
// CHECK: $L__BB0_1:
// CHECK: cp.async.cg.shared.global [%r{{[0-9]+}}], {{\[}}[[A:%rd[0-9]+]]], 16;
// CHECK: cp.async.cg.shared.global [%r{{[0-9]+}}], {{\[}}[[B:%rd[0-9]+]]], 16;
// CHECK-DAG: add.s64 {{.*}}[[A]], [[A]], 128;
// CHECK-DAG: add.s64 {{.*}}[[B]], [[B]], 256;
// CHECK-NOT: add.s64
// CHECK: bra
llvm.func @apart(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %shared: !llvm.ptr<3>, %n: i32) attributes {nvvm.kernel} {
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  llvm.br ^loop(%zero, %p, %q : i32, !llvm.ptr<1>, !llvm.ptr<1>)
^loop(%i: i32, %a: !llvm.ptr<1>, %b: !llvm.ptr<1>):
  nvvm.cp.async.shared.global %shared, %a, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
  nvvm.cp.async.shared.global %shared, %b, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
  %a1 = llvm.getelementptr %a[128] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  %b1 = llvm.getelementptr %b[256] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  %i1 = llvm.add %i, %one : i32
  %more = llvm.icmp "slt" %i1, %n : i32
  llvm.cond_br %more, ^loop(%i1, %a1, %b1 : i32, !llvm.ptr<1>, !llvm.ptr<1>), ^end {loop_annotation = #once}
^end:
  llvm.return
}
}

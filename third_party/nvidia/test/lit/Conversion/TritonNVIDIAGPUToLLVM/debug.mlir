// RUN: tile-opt %s -allocate-shared-memory-nv -insert-memory-barriers -convert-triton-gpu-to-llvm | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>

module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:80"} {
// CHECK: llvm.func @__assertfail(!llvm.ptr, !llvm.ptr, i32, !llvm.ptr, i64)
// CHECK: llvm.mlir.global internal constant @tile_string_{{.*}}("pid (%u, %u, %u) idx (%{{[0-9]}}u) x: %i\0A\00")
// CHECK: llvm.func @vprintf(!llvm.ptr, !llvm.ptr) -> i32

// CHECK-LABEL: llvm.func @print
tt.func @print(%x: tensor<128xi32, #blocked>) {
  // CHECK: llvm.alloca
  // CHECK: llvm.call @vprintf
  tt.print " x: " {hex = false, isSigned = array<i32: 1>} : %x : tensor<128xi32, #blocked>
  tt.return
}

// A text alone: the first thread prints it.
// CHECK-LABEL: llvm.func @text
tt.func @text() {
  // CHECK: %[[FIRST:.*]] = llvm.icmp "eq"
  // CHECK: llvm.cond_br %[[FIRST]]
  // CHECK: llvm.call @vprintf
  tt.print " 50% done" {hex = false, isSigned = array<i32>}
  tt.return
}

// Every thread checks a scalar, and reports.
// CHECK-LABEL: llvm.func @check_scalar
// CHECK-NOT: tid.x
// CHECK: llvm.cond_br
// CHECK: llvm.call @__assertfail
tt.func @check_scalar(%c: i1) {
  tt.assert %c, "out of range" : i1
  tt.return
}

// CHECK-LABEL: llvm.func @check(
tt.func @check(%c: tensor<128xi1, #blocked>) {
  // CHECK: llvm.cond_br %{{.*}}, ^[[FAIL:.*]], ^[[NEXT:.*]]
  // CHECK: ^[[FAIL]]:
  // CHECK: llvm.mlir.constant(21 : i32)
  // CHECK: llvm.call @__assertfail
  // CHECK: llvm.br ^[[NEXT]]
  tt.assert %c, "out of range" : tensor<128xi1, #blocked> loc("kernel.py":21:4)
  tt.return
}
}

// RUN: tile-opt %s -allocate-shared-memory-nv -insert-memory-barriers -convert-triton-gpu-to-llvm | filecheck %s

// A call passes the address of its share of shared memory, even of none: the
// symbol must be there although nothing is allocated.
module attributes {"ttg.num-warps" = 2 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:80"} {
// CHECK: llvm.mlir.global external @global_smem
// CHECK: llvm.mlir.addressof @global_smem
// CHECK: llvm.call @device
tt.func public @kernel(%p: !tt.ptr<i32>, %n: i32) {
  %0 = tt.call @device(%n) : (i32) -> i32
  tt.store %p, %0 : !tt.ptr<i32>
  tt.return
}
tt.func private @device(%n: i32) -> i32 attributes {noinline = true} {
  %0 = arith.addi %n, %n : i32
  tt.return %0 : i32
}
}

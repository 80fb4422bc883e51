// RUN: tile-opt %s -convert-scf-to-cf -allocate-shared-memory-nv -insert-memory-barriers -convert-triton-gpu-to-llvm | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>

module attributes {"ttg.num-warps" = 1 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:80"} {

// Two elements go through one copy of the region.
// CHECK-LABEL: llvm.func @pack
tt.func @pack(%x: tensor<64xi32, #blocked>) -> tensor<64xi32, #blocked> {
  // CHECK: %[[SUM:.*]] = llvm.add
  // CHECK: llvm.sub %[[SUM]]
  // CHECK-NOT: llvm.sub
  // CHECK: llvm.return
  %r = "tt.map_elementwise"(%x) <{pack = 2 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %s = arith.addi %a, %b : i32
    %d = arith.subi %s, %a : i32
    tt.map_elementwise.return %s, %d : i32, i32
  }) : (tensor<64xi32, #blocked>) -> tensor<64xi32, #blocked>
  tt.return %r : tensor<64xi32, #blocked>
}

// Blocks of a region become blocks of the function, once for each element.
// CHECK-LABEL: llvm.func @control_flow
tt.func @control_flow(%x: tensor<64xi32, #blocked>) -> tensor<64xi32, #blocked> {
  // CHECK: llvm.cond_br
  // CHECK: llvm.mul
  // CHECK: llvm.cond_br
  // CHECK: llvm.mul
  // CHECK-NOT: llvm.cond_br
  // CHECK: llvm.return
  %r = "tt.map_elementwise"(%x) <{pack = 1 : i32}> ({
  ^bb0(%a: i32):
    %zero = arith.constant 0 : i32
    %c = arith.cmpi slt, %a, %zero : i32
    cf.cond_br %c, ^bb1, ^bb2(%a : i32)
  ^bb1:
    %sq = arith.muli %a, %a : i32
    cf.br ^bb2(%sq : i32)
  ^bb2(%v: i32):
    tt.map_elementwise.return %v : i32
  }) : (tensor<64xi32, #blocked>) -> tensor<64xi32, #blocked>
  tt.return %r : tensor<64xi32, #blocked>
}

// CHECK-LABEL: llvm.func @reduce
tt.func @reduce(%x: tensor<64xi32, #blocked>) -> i32 {
  // CHECK: llvm.cond_br
  // CHECK: nvvm.shfl.sync bfly
  // CHECK: llvm.cond_br
  // CHECK: nvvm.shfl.sync bfly
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %c = arith.cmpi slt, %a, %b : i32
    %v = scf.if %c -> i32 {
      scf.yield %b : i32
    } else {
      %d = arith.divsi %a, %b : i32
      scf.yield %d : i32
    }
    tt.reduce.return %v : i32
  }) : (tensor<64xi32, #blocked>) -> i32
  tt.return %r : i32
}

// Types that the LLVM dialect has no name for.
// CHECK-LABEL: llvm.func @pointers
tt.func @pointers(%x: tensor<64x!tt.ptr<f32>, #blocked>) -> tensor<64x!tt.ptr<f32>, #blocked> {
  // CHECK: llvm.getelementptr
  // CHECK-NOT: unrealized_conversion_cast
  // CHECK: llvm.return
  %r = "tt.map_elementwise"(%x) <{pack = 1 : i32}> ({
  ^bb0(%a: !tt.ptr<f32>):
    %one = arith.constant 1 : i32
    %p = tt.addptr %a, %one : !tt.ptr<f32>, i32
    tt.map_elementwise.return %p : !tt.ptr<f32>
  }) : (tensor<64x!tt.ptr<f32>, #blocked>) -> tensor<64x!tt.ptr<f32>, #blocked>
  tt.return %r : tensor<64x!tt.ptr<f32>, #blocked>
}
}

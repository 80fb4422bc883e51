// RUN: tile-opt %s -tritonamdgpu-fold-true-cmpi | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // CHECK-LABEL: @ranges
  // CHECK: %[[YES:.*]] = arith.constant dense<true>
  // CHECK: %[[NO:.*]] = arith.constant dense<false>
  // CHECK: %[[MAY:.*]] = arith.cmpi slt
  // CHECK: tt.return %[[YES]], %[[NO]], %[[MAY]]
  tt.func public @ranges() -> (tensor<1024xi1, #blocked>, tensor<1024xi1, #blocked>, tensor<1024xi1, #blocked>) {
    %range = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #blocked>
    %all = arith.constant dense<1024> : tensor<1024xi32, #blocked>
    %some = arith.constant dense<1023> : tensor<1024xi32, #blocked>
    %yes = arith.cmpi slt, %range, %all : tensor<1024xi32, #blocked>
    %no = arith.cmpi sge, %range, %all : tensor<1024xi32, #blocked>
    %may = arith.cmpi slt, %range, %some : tensor<1024xi32, #blocked>
    tt.return %yes, %no, %may : tensor<1024xi1, #blocked>, tensor<1024xi1, #blocked>, tensor<1024xi1, #blocked>
  }

  // A promise holds; a product may have wrapped around.
  // CHECK-LABEL: @programs
  // CHECK: %[[PROMISE:.*]] = arith.cmpi sgt, %arg0
  // CHECK: llvm.intr.assume %[[PROMISE]]
  // CHECK: %[[YES:.*]] = arith.constant true
  // CHECK: %[[MAY:.*]] = arith.cmpi sge
  // CHECK: tt.return %[[YES]], %[[MAY]]
  tt.func public @programs(%n: i32) -> (i1, i1) {
    %zero = arith.constant 0 : i32
    %ten = arith.constant 10 : i32
    %size = arith.constant 1024 : i32
    %positive = arith.cmpi sgt, %n, %ten : i32
    llvm.intr.assume %positive : i1
    %yes = arith.cmpi sge, %n, %ten : i32
    %pid = tt.get_program_id x : i32
    %start = arith.muli %pid, %size : i32
    %may = arith.cmpi sge, %start, %zero : i32
    tt.return %yes, %may : i1, i1
  }
}

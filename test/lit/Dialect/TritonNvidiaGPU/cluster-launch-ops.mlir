// RUN: tile-opt %s | tile-opt | filecheck %s
// RUN: tile-opt %s --mlir-print-op-generic | tile-opt | filecheck %s

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @take_over
  // CHECK-SAME: (%[[BUF:[^:]*]]: {{.*}}, %[[BAR:[^:]*]]: !ttg.memdesc<1xi64
  tt.func @take_over(%buf: !ttg.memdesc<2xi64, #shared, #smem, mutable>, %bar: !ttg.memdesc<1xi64, #shared, #smem, mutable>) -> (i1, i32, i32, i32) {
    // CHECK: ttnvgpu.clc_try_cancel %[[BUF]], %[[BAR]] : !ttg.memdesc<2xi64, #shared, #smem, mutable>, !ttg.memdesc<1xi64, #shared, #smem, mutable>
    ttnvgpu.clc_try_cancel %buf, %bar : !ttg.memdesc<2xi64, #shared, #smem, mutable>, !ttg.memdesc<1xi64, #shared, #smem, mutable>
    // CHECK: ttnvgpu.clc_try_cancel %[[BUF]], %[[BAR]] {multicast} :
    ttng.clc_try_cancel %buf, %bar {multicast} : !ttg.memdesc<2xi64, #shared, #smem, mutable>, !ttg.memdesc<1xi64, #shared, #smem, mutable>
    // CHECK: ttnvgpu.clc_try_cancel_sync : tensor<2xi64>
    %sync = ttnvgpu.clc_try_cancel_sync : tensor<2xi64>
    // CHECK: %[[ANSWER:.*]] = ttnvgpu.clc_load_result %[[BUF]] : !ttg.memdesc<2xi64, #shared, #smem, mutable> -> i128
    %answer = ttnvgpu.clc_load_result %buf : !ttg.memdesc<2xi64, #shared, #smem, mutable> -> i128
    // CHECK: ttnvgpu.clc_is_canceled %[[ANSWER]] : i128 -> i1
    %taken = ttnvgpu.clc_is_canceled %answer : i128 -> i1
    // CHECK: ttnvgpu.clc_get_program_id %[[ANSWER]], x : i128 -> i32
    %x = ttnvgpu.clc_get_program_id %answer, x : i128 -> i32
    // CHECK: ttnvgpu.clc_get_program_id %[[ANSWER]], y : i128 -> i32
    %y = ttnvgpu.clc_get_program_id %answer, y : i128 -> i32
    // CHECK: ttnvgpu.clc_get_program_id %[[ANSWER]], z : i128 -> i32
    %z = ttnvgpu.clc_get_program_id %answer, z : i128 -> i32
    tt.return %taken, %x, %y, %z : i1, i32, i32, i32
  }

  // CHECK-LABEL: @in_a_loop
  // CHECK-SAME: (%[[I:.*]]: i32)
  tt.func @in_a_loop(%i: i32) -> i32 {
    // CHECK: ttnvgpu.clc_program_id %[[I]], y : i32
    %y = ttnvgpu.clc_program_id %i, y : i32
    tt.return %y : i32
  }
}

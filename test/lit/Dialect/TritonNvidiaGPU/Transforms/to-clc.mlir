// RUN: tile-opt %s -split-input-file -triton-nvidia-gpu-to-clc | filecheck %s

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @two_axes
  tt.func public @two_axes(%out: !tt.ptr<i32>, %c: i1) {
    // CHECK: [[X0:%.*]] = tt.get_program_id x
    // CHECK: [[Y0:%.*]] = tt.get_program_id y
    // CHECK: scf.while (%{{.*}} = [[X0]], %{{.*}} = [[Y0]], [[W:%.*]] = %{{.*}}) : (i32, i32, i1) -> (i32, i32, i1)
    // CHECK-NEXT: scf.condition([[W]])
    // CHECK: ^bb0([[X:%.*]]: i32, [[Y:%.*]]: i32, %{{.*}}: i1):
    // CHECK-NEXT: [[ASKED:%.*]] = ttnvgpu.clc_try_cancel_sync : tensor<2xi64, #blocked>
    // CHECK-NEXT: [[BUF:%.*]] = ttg.local_alloc [[ASKED]] {alignment = 16 : i32}
    // CHECK-NEXT: tt.store %arg0, [[X]]
    %x = tt.get_program_id x : i32
    tt.store %out, %x : !tt.ptr<i32>
    // CHECK: scf.if %arg1
    // CHECK-NEXT: arith.addi [[X]], [[Y]]
    scf.if %c {
      %again = tt.get_program_id x : i32
      %y = tt.get_program_id y : i32
      %sum = arith.addi %again, %y : i32
      tt.store %out, %sum : !tt.ptr<i32>
    }
    // CHECK: [[ANSWER:%.*]] = ttnvgpu.clc_load_result [[BUF]]
    // CHECK-NEXT: [[MORE:%.*]] = ttnvgpu.clc_is_canceled [[ANSWER]]
    // CHECK-NEXT: [[X1:%.*]] = scf.if [[MORE]]
    // CHECK-NEXT: ttnvgpu.clc_get_program_id [[ANSWER]], x
    // CHECK: scf.yield [[X]]
    // CHECK: [[Y1:%.*]] = scf.if [[MORE]]
    // CHECK: scf.yield [[X1]], [[Y1]], [[MORE]] : i32, i32, i1
    // CHECK: tt.return
    tt.return
  }
}

// -----

// Each block of a cluster has the answer.
// CHECK: #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], {{.*}}}>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @no_number
  tt.func public @no_number(%out: !tt.ptr<i32>) {
    %one = arith.constant 1 : i32
    // CHECK: scf.while (%{{.*}} = %{{.*}}) : (i1) -> i1
    // CHECK-NOT: scf.if
    // CHECK: tt.return
    tt.store %out, %one : !tt.ptr<i32>
    tt.return
  }
}

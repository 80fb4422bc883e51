// RUN: tile-opt %s -triton-nvidia-inline-program-loop | filecheck %s
// RUN: tile-opt %s -triton-nvidia-inline-program-loop --remarks-filter=".*" 2>&1 | filecheck %s -check-prefix REMARK

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @together
  // CHECK-NOT: scf.for
  // CHECK: [[X:%.*]] = tt.get_program_id x
  // CHECK-NEXT: [[SUM:%.*]] = arith.addi [[X]], %c5_i32
  // CHECK-NEXT: tt.store %arg0, [[SUM]]
  // CHECK-NEXT: tt.store %arg0, %c0_i32
  // CHECK-NEXT: tt.store %arg0, [[SUM]]
  // REMARK: {{.*}}Category:triton-nvidia-inline-program-loop | Remark="the next program begins when this one has ended, as warps are not divided for both"
  // REMARK-NOT: Category:triton-nvidia-inline-program-loop
  tt.func public @together(%out: !tt.ptr<i32>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c5 = arith.constant 5 : i32
    %end = arith.constant 2147483647 : i32
    %r = scf.for %i = %c0 to %end step %c1 iter_args(%carried = %c5) -> (i32) : i32 {
      %x = ttnvgpu.clc_program_id %i, x : i32
      %sum = arith.addi %x, %carried : i32
      tt.store %out, %sum : !tt.ptr<i32>
      tt.store %out, %i : !tt.ptr<i32>
      scf.yield %sum : i32
    } {ttnvgpu.over_programs}
    tt.store %out, %r : !tt.ptr<i32>
    tt.return
  }

  // CHECK-LABEL: @divided
  // CHECK: scf.for
  // CHECK: ttnvgpu.clc_program_id
  // CHECK: } {tt.num_stages = 1 : i32, ttnvgpu.over_programs}
  tt.func public @divided(%out: !tt.ptr<i32>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %end = arith.constant 2147483647 : i32
    ttg.warp_specialize(%out)
    default {
      scf.for %i = %c0 to %end step %c1 : i32 {
        %x = ttnvgpu.clc_program_id %i, x : i32
        tt.store %out, %x : !tt.ptr<i32>
      } {ttnvgpu.over_programs}
      ttg.warp_yield
    }
    partition0(%mine: !tt.ptr<i32>) num_warps(1) {
      ttg.warp_return
    } : (!tt.ptr<i32>) -> ()
    tt.return
  }
}

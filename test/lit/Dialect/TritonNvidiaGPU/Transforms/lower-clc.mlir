// RUN: tile-opt %s -allow-unregistered-dialect -triton-nvidia-gpu-lower-clc | filecheck %s

#regs = #ttg.linear<{register = [[1]], lane = [[0], [0], [0], [0], [0]], warp = [[0], [0]], block = []}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!buf = !ttg.memdesc<2xi64, #shared, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100"} {
  // CHECK-LABEL: @persistent
  tt.func @persistent(%first: i32, %work: i1) -> i32 {
    // CHECK: [[BUF:%.*]] = ttg.local_alloc {alignment = 16 : i32} : () -> !ttg.memdesc<2xi64, #shared, #smem, mutable>
    // CHECK: [[BAR:%.*]] = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #shared, #smem, mutable>
    // CHECK: ttnvgpu.init_barrier [[BAR]], 1
    // CHECK: [[ZERO:%.*]] = arith.constant 0 : i32
    // CHECK: [[LOOP:%.*]]:2 = scf.while (%{{.*}} = %arg0, %{{.*}} = %arg1, [[P:%.*]] = [[ZERO]])
    %r = scf.while (%pid = %first, %w = %work) : (i32, i1) -> i32 {
      // CHECK: scf.condition(%{{.*}}) %{{.*}}, [[P]] : i32, i32
      scf.condition(%w) %pid : i32
    } do {
    // CHECK: ^bb0(%{{.*}}: i32, [[PHASE:%.*]]: i32):
    ^bb0(%pid: i32):
      // CHECK: ttnvgpu.barrier_expect [[BAR]], 16 {fromCTA = 0 : i32}
      // CHECK-NEXT: ttnvgpu.clc_try_cancel [[BUF]], [[BAR]]
      %response = ttnvgpu.clc_try_cancel_sync : tensor<2xi64, #regs>
      %buf = ttg.local_alloc %response {alignment = 16 : i32} : (tensor<2xi64, #regs>) -> !buf
      // CHECK: "work"
      "work"(%pid) : (i32) -> ()
      // CHECK: ttnvgpu.wait_barrier [[BAR]], [[PHASE]]
      // CHECK-NEXT: ttnvgpu.clc_load_result [[BUF]]
      %answer = ttnvgpu.clc_load_result %buf : !buf -> i128
      %more = ttnvgpu.clc_is_canceled %answer : i128 -> i1
      %next = ttnvgpu.clc_get_program_id %answer, x : i128 -> i32
      // CHECK: [[NEXT:%.*]] = arith.xori [[PHASE]]
      // CHECK-NEXT: scf.yield %{{.*}}, %{{.*}}, [[NEXT]] : i32, i1, i32
      scf.yield %next, %more : i32, i1
    }
    // CHECK: ttnvgpu.inval_barrier [[BAR]]
    // CHECK-NEXT: ttg.local_dealloc [[BAR]]
    // CHECK-NEXT: ttg.local_dealloc [[BUF]]
    // CHECK-NEXT: tt.return [[LOOP]]#0
    tt.return %r : i32
  }
}

// RUN: tile-opt %s -allow-unregistered-dialect -split-input-file -triton-nvidia-gpu-lower-clc -verify-diagnostics

#regs = #ttg.linear<{register = [[1]], lane = [[0], [0], [0], [0], [0]], warp = [[0], [0]], block = []}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100"} {
  tt.func @no_loop() {
    // expected-error @+1 {{expected to be in the body of an scf.while}}
    %response = ttnvgpu.clc_try_cancel_sync : tensor<2xi64, #regs>
    tt.return
  }
}

// -----

#regs = #ttg.linear<{register = [[1]], lane = [[0], [0], [0], [0], [0]], warp = [[0], [0]], block = []}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100"} {
  tt.func @no_buffer(%run: i1) {
    scf.while (%w = %run) : (i1) -> i1 {
      scf.condition(%w) %w : i1
    } do {
    ^bb0(%w: i1):
      // expected-error @+1 {{expected response to have exactly one ttg.local_alloc user}}
      %response = ttnvgpu.clc_try_cancel_sync : tensor<2xi64, #regs>
      scf.yield %w : i1
    }
    tt.return
  }
}

// -----

#regs = #ttg.linear<{register = [[1]], lane = [[0], [0], [0], [0], [0]], warp = [[0], [0]], block = []}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!buf = !ttg.memdesc<2xi64, #shared, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100"} {
  tt.func @other_reader(%run: i1) {
    scf.while (%w = %run) : (i1) -> i1 {
      scf.condition(%w) %w : i1
    } do {
    ^bb0(%w: i1):
      %response = ttnvgpu.clc_try_cancel_sync : tensor<2xi64, #regs>
      %buf = ttg.local_alloc %response : (tensor<2xi64, #regs>) -> !buf
      // expected-error @+1 {{expected to read the answer with ttnvgpu.clc_load_result, in the block that asks for it}}
      %x = ttg.local_load %buf : !buf -> tensor<2xi64, #regs>
      scf.yield %w : i1
    }
    tt.return
  }
}

// -----

#regs = #ttg.linear<{register = [[1]], lane = [[0], [0], [0], [0], [0]], warp = [[0], [0]], block = []}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!buf = !ttg.memdesc<2xi64, #shared, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100"} {
  tt.func @never_read(%run: i1) {
    scf.while (%w = %run) : (i1) -> i1 {
      scf.condition(%w) %w : i1
    } do {
    ^bb0(%w: i1):
      // expected-error @+1 {{expected a ttnvgpu.clc_load_result that reads the answer}}
      %response = ttnvgpu.clc_try_cancel_sync : tensor<2xi64, #regs>
      %buf = ttg.local_alloc %response : (tensor<2xi64, #regs>) -> !buf
      scf.yield %w : i1
    }
    tt.return
  }
}

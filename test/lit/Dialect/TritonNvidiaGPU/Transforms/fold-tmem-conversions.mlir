// RUN: tile-opt %s -triton-nvidia-fold-tmem-conversions | filecheck %s

// Eight warps: rows whose columns two of them share, and whole rows, of which a
// lane has half. Others have no instruction.
#parts = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0], [0, 32]], block = []}>
#whole = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 32]], warp = [[32, 0], [64, 0], [16, 0]], block = []}>
#other = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [8, 1], order = [1, 0]}>
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
!sum = !ttg.memdesc<128x64xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
!weights = !ttg.memdesc<128x64xf16, #tmem, #ttnvgpu.tensor_memory>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @stores
  // CHECK-SAME: %[[X:.*]]: tensor<128x64xf16, #linear>, %[[Y:.*]]: tensor<128x64xf32, #linear>
  // CHECK-NOT: ttg.convert_layout
  // CHECK: ttnvgpu.tmem_alloc %[[X]]
  // CHECK: ttnvgpu.tmem_store %[[Y]]
  tt.func @stores(%x: tensor<128x64xf16, #whole>, %y: tensor<128x64xf32, #whole>, %d: !sum) -> !weights {
    %true = arith.constant true
    %0 = ttg.convert_layout %x : tensor<128x64xf16, #whole> -> tensor<128x64xf16, #parts>
    %w = ttnvgpu.tmem_alloc %0 : (tensor<128x64xf16, #parts>) -> !weights
    %1 = ttg.convert_layout %y : tensor<128x64xf32, #whole> -> tensor<128x64xf32, #parts>
    ttnvgpu.tmem_store %1, %d, %true : tensor<128x64xf32, #parts> -> !sum
    tt.return %w : !weights
  }

  // CHECK-LABEL: @load
  // CHECK: %[[R:.*]] = ttnvgpu.tmem_load
  // CHECK: tt.return %[[R]]
  tt.func @load(%d: !sum) -> tensor<128x64xf32, #whole> {
    %0 = ttnvgpu.tmem_load %d : !sum -> tensor<128x64xf32, #parts>
    %1 = ttg.convert_layout %0 : tensor<128x64xf32, #parts> -> tensor<128x64xf32, #whole>
    tt.return %1 : tensor<128x64xf32, #whole>
  }

  // What is used in both layouts is loaded once.
  // CHECK-LABEL: @both
  // CHECK: ttg.convert_layout
  tt.func @both(%d: !sum) -> (tensor<128x64xf32, #parts>, tensor<128x64xf32, #whole>) {
    %0 = ttnvgpu.tmem_load %d : !sum -> tensor<128x64xf32, #parts>
    %1 = ttg.convert_layout %0 : tensor<128x64xf32, #parts> -> tensor<128x64xf32, #whole>
    tt.return %0, %1 : tensor<128x64xf32, #parts>, tensor<128x64xf32, #whole>
  }

  // CHECK-LABEL: @no_instruction
  // CHECK: ttg.convert_layout
  // CHECK: ttnvgpu.tmem_store
  tt.func @no_instruction(%x: tensor<128x64xf32, #other>, %d: !sum) {
    %true = arith.constant true
    %0 = ttg.convert_layout %x : tensor<128x64xf32, #other> -> tensor<128x64xf32, #parts>
    ttnvgpu.tmem_store %0, %d, %true : tensor<128x64xf32, #parts> -> !sum
    tt.return
  }
}

// RUN: tile-opt %s -tritongpu-accelerate-matmul | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 4], order = [0, 1]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // Shared memory has the bits under the name that they were loaded with.
  // CHECK-LABEL: @bits
  tt.func @bits(%x: tensor<128x64xi8, #blocked>, %y: tensor<64x64xi8, #columns>, %c: tensor<128x64xf32, #blocked>) -> tensor<128x64xf32, #blocked> {
    // CHECK: [[XI:%.*]] = ttg.local_alloc %arg0 : (tensor<128x64xi8, #blocked>)
    // CHECK-NEXT: [[X:%.*]] = ttg.memdesc_reinterpret [[XI]] : !ttg.memdesc<128x64xi8, {{.*}}> -> !ttg.memdesc<128x64xf8E4M3FN,
    // CHECK: [[YI:%.*]] = ttg.local_alloc %arg1 : (tensor<64x64xi8, #blocked1>)
    // CHECK-NEXT: [[Y:%.*]] = ttg.memdesc_reinterpret [[YI]] : !ttg.memdesc<64x64xi8, {{.*}}> -> !ttg.memdesc<64x64xf8E5M2,
    // CHECK: ttnvgpu.tc_gen5_mma [[X]], [[Y]]
    %xf = tt.bitcast %x : tensor<128x64xi8, #blocked> -> tensor<128x64xf8E4M3FN, #blocked>
    %yf = tt.bitcast %y : tensor<64x64xi8, #columns> -> tensor<64x64xf8E5M2, #columns>
    %a = ttg.convert_layout %xf : tensor<128x64xf8E4M3FN, #blocked> -> tensor<128x64xf8E4M3FN, #a>
    %b = ttg.convert_layout %yf : tensor<64x64xf8E5M2, #columns> -> tensor<64x64xf8E5M2, #b>
    %d = tt.dot %a, %b, %c : tensor<128x64xf8E4M3FN, #a> * tensor<64x64xf8E5M2, #b> -> tensor<128x64xf32, #blocked>
    tt.return %d : tensor<128x64xf32, #blocked>
  }
}

// RUN: tile-opt %s -split-input-file -plan-block-pairs-nv | filecheck %s
// RUN: tile-opt %s -split-input-file -plan-block-pairs-nv -tritongpu-accelerate-matmul | filecheck %s -check-prefix MULTIPLIED
// RUN: tile-opt %s -split-input-file -plan-block-pairs-nv --remarks-filter=".*" 2>&1 | filecheck %s -check-prefix REMARK

#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0], CTAsPerCGA = [2, 1], CTASplitNum = [2, 1], CTAOrder = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0], CTAsPerCGA = [1, 2], CTASplitNum = [1, 2], CTAOrder = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #rows}>
#b = #ttg.dot_op<{opIdx = 1, parent = #rows}>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK: [[COLUMNS:#.*]] = #ttg.blocked<{{.*}}CGALayout = {{\[}}[0, 1]]
  // CHECK: module attributes {{{.*}}"ttng.two-ctas" = true
  // CHECK-LABEL: @pair
  // CHECK: [[HALF:%.*]] = ttg.convert_layout %{{.*}} {ttg.divides_operand} : {{.*}} -> tensor<64x128xf16, [[COLUMNS]]>
  // CHECK: [[Y:%.*]] = ttg.convert_layout [[HALF]] : {{.*}} -> tensor<64x128xf16, #ttg.dot_op<{opIdx = 1
  // CHECK: tt.dot %{{.*}}, [[Y]]
  // MULTIPLIED-DAG: [[MEMORY:#.*]] = #ttg.nvmma_shared<{{.*}}CGALayout = {{\[}}[0, 1]]
  // MULTIPLIED-DAG: #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1, CTASplitM = 2, twoCTAs = true>
  // MULTIPLIED-LABEL: @pair
  // MULTIPLIED: ttg.local_alloc {{.*}} -> !ttg.memdesc<64x128xf16, [[MEMORY]]
  // MULTIPLIED: ttnvgpu.tc_gen5_mma {{.*}} {two_ctas}
  tt.func @pair(%x: tensor<256x64xf16, #rows>, %y: tensor<64x128xf16, #columns>, %c: tensor<256x128xf32, #rows>) -> tensor<256x128xf32, #rows> {
    %a = ttg.convert_layout %x : tensor<256x64xf16, #rows> -> tensor<256x64xf16, #a>
    %b = ttg.convert_layout %y : tensor<64x128xf16, #columns> -> tensor<64x128xf16, #b>
    %d = tt.dot %a, %b, %c : tensor<256x64xf16, #a> * tensor<64x128xf16, #b> -> tensor<256x128xf32, #rows>
    tt.return %d : tensor<256x128xf32, #rows>
  }
}

// -----

#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0], CTAsPerCGA = [2, 1], CTASplitNum = [2, 1], CTAOrder = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #rows}>
#b = #ttg.dot_op<{opIdx = 1, parent = #rows}>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // The blocks would wait for each other longer than they multiply. All dots
  // of a kernel do without then.
  // CHECK-NOT: two-ctas
  // CHECK-LABEL: @short
  // CHECK-NOT: ttg.divides_operand
  // REMARK: the two blocks of its cluster multiply one by one, and not together: a pair would take 256 cycles for it, and one block alone 128
  tt.func @short(%a: tensor<256x64xf16, #a>, %y: tensor<64x128xf16, #rows>, %e: tensor<256x16xf16, #a>, %z: tensor<16x128xf16, #rows>, %c: tensor<256x128xf32, #rows>) -> tensor<256x128xf32, #rows> {
    %b = ttg.convert_layout %y : tensor<64x128xf16, #rows> -> tensor<64x128xf16, #b>
    %f = ttg.convert_layout %z : tensor<16x128xf16, #rows> -> tensor<16x128xf16, #b>
    %d = tt.dot %a, %b, %c : tensor<256x64xf16, #a> * tensor<64x128xf16, #b> -> tensor<256x128xf32, #rows>
    %g = tt.dot %e, %f, %d : tensor<256x16xf16, #a> * tensor<16x128xf16, #b> -> tensor<256x128xf32, #rows>
    tt.return %g : tensor<256x128xf32, #rows>
  }
}

// -----

#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0], CTAsPerCGA = [2, 1], CTASplitNum = [2, 1], CTAOrder = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #rows}>
#b = #ttg.dot_op<{opIdx = 1, parent = #rows}>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // Warps that copy need no barrier of the cluster in front of the dot.
  // CHECK: module attributes {{{.*}}"ttng.two-ctas" = true
  // CHECK-LABEL: @fed_by_other_warps
  tt.func @fed_by_other_warps(%x: !tt.tensordesc<tensor<256x32xf16>>, %y: !tt.tensordesc<tensor<32x128xf16>>, %c: tensor<256x128xf32, #rows>, %n: i32) -> tensor<256x128xf32, #rows> {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %r = scf.for %k = %c0 to %n step %c32 iter_args(%acc = %c) -> (tensor<256x128xf32, #rows>) : i32 {
      %x0 = tt.descriptor_load %x[%c0, %k] : !tt.tensordesc<tensor<256x32xf16>> -> tensor<256x32xf16, #rows>
      %y0 = tt.descriptor_load %y[%k, %c0] : !tt.tensordesc<tensor<32x128xf16>> -> tensor<32x128xf16, #rows>
      %a = ttg.convert_layout %x0 : tensor<256x32xf16, #rows> -> tensor<256x32xf16, #a>
      %b = ttg.convert_layout %y0 : tensor<32x128xf16, #rows> -> tensor<32x128xf16, #b>
      // CHECK: ttg.convert_layout %{{.*}} {ttg.divides_operand}
      %d = tt.dot %a, %b, %acc : tensor<256x32xf16, #a> * tensor<32x128xf16, #b> -> tensor<256x128xf32, #rows>
      scf.yield %d : tensor<256x128xf32, #rows>
    } {tt.warp_specialize}
    tt.return %r : tensor<256x128xf32, #rows>
  }
}

// -----

#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0], CTAsPerCGA = [2, 1], CTASplitNum = [2, 1], CTAOrder = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #rows}>
#b = #ttg.dot_op<{opIdx = 1, parent = #rows}>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // One group of warps needs it.
  // CHECK-NOT: two-ctas
  // CHECK-LABEL: @fed_by_its_own_warps
  // REMARK: a pair would take 256 cycles for it, and one block alone 256
  tt.func @fed_by_its_own_warps(%x: tensor<256x32xf16, #a>, %y: tensor<32x128xf16, #b>, %c: tensor<256x128xf32, #rows>) -> tensor<256x128xf32, #rows> {
    %d = tt.dot %x, %y, %c : tensor<256x32xf16, #a> * tensor<32x128xf16, #b> -> tensor<256x128xf32, #rows>
    tt.return %d : tensor<256x128xf32, #rows>
  }
}

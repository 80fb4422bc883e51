// RUN: tile-opt %s -split-input-file -tritongpu-accelerate-matmul | filecheck %s
// RUN: tile-opt %s -split-input-file -tritongpu-accelerate-matmul --remarks-filter=".*" 2>&1 | filecheck %s -check-prefix REMARK
// RUN: tile-opt %s -split-input-file -accelerate-matmul-in-registers-nv | filecheck %s -check-prefix REGISTERS

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // A thread has one row of the sum.
  // CHECK: #linear = #ttg.linear<{register = {{\[}}[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], lane = {{\[}}[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = {{\[}}[32, 0], [64, 0]], block = []}>
  // CHECK: #tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
  // CHECK-LABEL: @sum
  // REGISTERS-LABEL: @sum
  // REGISTERS: tt.dot
  tt.func @sum(%x: tensor<128x32xf16, #blocked>, %y: tensor<32x128xf16, #blocked>, %c: tensor<128x128xf32, #blocked>) -> tensor<128x128xf32, #blocked> {
    %a = ttg.convert_layout %x : tensor<128x32xf16, #blocked> -> tensor<128x32xf16, #a>
    %b = ttg.convert_layout %y : tensor<32x128xf16, #blocked> -> tensor<32x128xf16, #b>
    // CHECK-DAG: [[A:%.*]] = ttg.local_alloc %{{.*}} : (tensor<128x32xf16, #blocked>)
    // CHECK-DAG: [[B:%.*]] = ttg.local_alloc %{{.*}} : (tensor<32x128xf16, #blocked>)
    // CHECK: [[C:%.*]] = ttg.convert_layout %{{.*}} -> tensor<128x128xf32, #linear>
    // CHECK: [[D:%.*]] = ttnvgpu.tmem_alloc [[C]]
    // CHECK: [[TRUE:%.*]] = arith.constant true
    // CHECK: ttnvgpu.tc_gen5_mma [[A]], [[B]], [[D]], [[TRUE]], [[TRUE]]
    // CHECK: [[R:%.*]] = ttnvgpu.tmem_load [[D]]
    // CHECK: ttg.convert_layout [[R]] : tensor<128x128xf32, #linear> -> tensor<128x128xf32, #blocked>
    %d = tt.dot %a, %b, %c : tensor<128x32xf16, #a> * tensor<32x128xf16, #b> -> tensor<128x128xf32, #blocked>
    tt.return %d : tensor<128x128xf32, #blocked>
  }

  // Zero is not stored.
  // CHECK-LABEL: @from_zero
  tt.func @from_zero(%a: tensor<128x32xf16, #a>, %b: tensor<32x128xf16, #b>) -> tensor<128x128xf32, #blocked> {
    %zero = arith.constant dense<0.0> : tensor<128x128xf32, #blocked>
    // CHECK: [[D:%.*]] = ttnvgpu.tmem_alloc : ()
    // CHECK: [[FALSE:%.*]] = arith.constant false
    // CHECK: ttnvgpu.tc_gen5_mma %{{.*}}, %{{.*}}, [[D]], [[FALSE]], %true
    %d = tt.dot %a, %b, %zero : tensor<128x32xf16, #a> * tensor<32x128xf16, #b> -> tensor<128x128xf32, #blocked>
    tt.return %d : tensor<128x128xf32, #blocked>
  }

  // CHECK-LABEL: @few_rows
  // CHECK: tt.dot
  // REMARK: it takes mma.sync and not the unit that adds in tensor memory: it has fewer than 64 rows
  tt.func @few_rows(%a: tensor<32x32xf16, #a>, %b: tensor<32x128xf16, #b>, %c: tensor<32x128xf32, #blocked>) -> tensor<32x128xf32, #blocked> {
    %d = tt.dot %a, %b, %c : tensor<32x32xf16, #a> * tensor<32x128xf16, #b> -> tensor<32x128xf32, #blocked>
    tt.return %d : tensor<32x128xf32, #blocked>
  }

  // CHECK-LABEL: @few_columns
  // CHECK: tt.dot
  // REMARK: memory: it has fewer than 16 columns
  tt.func @few_columns(%a: tensor<128x32xf16, #a>, %b: tensor<32x8xf16, #b>, %c: tensor<128x8xf32, #blocked>) -> tensor<128x8xf32, #blocked> {
    %d = tt.dot %a, %b, %c : tensor<128x32xf16, #a> * tensor<32x8xf16, #b> -> tensor<128x8xf32, #blocked>
    tt.return %d : tensor<128x8xf32, #blocked>
  }

  // Callers may use tensor memory themselves.
  // CHECK-LABEL: @called
  // CHECK: tt.dot
  // REMARK: memory: it is in a function that is called
  tt.func private @called(%a: tensor<128x32xf16, #a>, %b: tensor<32x128xf16, #b>, %c: tensor<128x128xf32, #blocked>) -> tensor<128x128xf32, #blocked> {
    %d = tt.dot %a, %b, %c : tensor<128x32xf16, #a> * tensor<32x128xf16, #b> -> tensor<128x128xf32, #blocked>
    tt.return %d : tensor<128x128xf32, #blocked>
  }

  // Sums of 16 bits are added up in registers.
  // CHECK-LABEL: @half_sums
  // CHECK: tt.dot
  tt.func @half_sums(%a: tensor<128x32xf16, #a>, %b: tensor<32x128xf16, #b>, %c: tensor<128x128xf16, #blocked>) -> tensor<128x128xf16, #blocked> {
    %d = tt.dot %a, %b, %c : tensor<128x32xf16, #a> * tensor<32x128xf16, #b> -> tensor<128x128xf16, #blocked>
    tt.return %d : tensor<128x128xf16, #blocked>
  }

  // A word has its neighbours along K, in memory of both operands.
  // CHECK-LABEL: @words
  tt.func @words(%x: tensor<128x32xf32, #blocked>, %y: tensor<32x128xf32, #blocked>, %c: tensor<128x128xf32, #blocked>) -> tensor<128x128xf32, #blocked> {
    %a = ttg.convert_layout %x : tensor<128x32xf32, #blocked> -> tensor<128x32xf32, #a>
    %b = ttg.convert_layout %y : tensor<32x128xf32, #blocked> -> tensor<32x128xf32, #b>
    // CHECK: ttg.local_alloc %{{.*}} : (tensor<32x128xf32, #blocked>) -> !ttg.memdesc<32x128xf32, [[TURNED:#.*]], #smem>
    // CHECK: ttnvgpu.tc_gen5_mma
    %d = tt.dot %a, %b, %c, inputPrecision = tf32 : tensor<128x32xf32, #a> * tensor<32x128xf32, #b> -> tensor<128x128xf32, #blocked>
    tt.return %d : tensor<128x128xf32, #blocked>
  }

  // Products in fp32 are no products of tf32.
  // CHECK-LABEL: @exact
  // CHECK: tt.dot
  tt.func @exact(%a: tensor<128x32xf32, #a>, %b: tensor<32x128xf32, #b>, %c: tensor<128x128xf32, #blocked>) -> tensor<128x128xf32, #blocked> {
    %d = tt.dot %a, %b, %c, inputPrecision = ieee : tensor<128x32xf32, #a> * tensor<32x128xf32, #b> -> tensor<128x128xf32, #blocked>
    tt.return %d : tensor<128x128xf32, #blocked>
  }

  // One loop goes on with the sum of another one. So the sums of the first are
  // done with when those of the second begin.
  // CHECK-LABEL: @sums_in_turn
  // CHECK-COUNT-4: ttnvgpu.tc_gen5_mma
  // CHECK-NOT: tt.dot
  tt.func @sums_in_turn(%a: tensor<128x32xf16, #a>, %b: tensor<32x256xf16, #b>, %c: tensor<128x256xf32, #blocked>, %n: i32) -> tensor<128x256xf32, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %0 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %c) -> tensor<128x256xf32, #blocked> : i32 {
      %s = tt.dot %a, %b, %c : tensor<128x32xf16, #a> * tensor<32x256xf16, #b> -> tensor<128x256xf32, #blocked>
      %t = arith.addf %s, %sum : tensor<128x256xf32, #blocked>
      %d = tt.dot %a, %b, %t : tensor<128x32xf16, #a> * tensor<32x256xf16, #b> -> tensor<128x256xf32, #blocked>
      scf.yield %d : tensor<128x256xf32, #blocked>
    }
    %1 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %0) -> tensor<128x256xf32, #blocked> : i32 {
      %s = tt.dot %a, %b, %c : tensor<128x32xf16, #a> * tensor<32x256xf16, #b> -> tensor<128x256xf32, #blocked>
      %t = arith.addf %s, %sum : tensor<128x256xf32, #blocked>
      %d = tt.dot %a, %b, %t : tensor<128x32xf16, #a> * tensor<32x256xf16, #b> -> tensor<128x256xf32, #blocked>
      scf.yield %d : tensor<128x256xf32, #blocked>
    }
    tt.return %1 : tensor<128x256xf32, #blocked>
  }

  // The first sum is needed behind the second loop, too.
  // CHECK-LABEL: @sums_together
  // CHECK-COUNT-2: ttnvgpu.tc_gen5_mma
  // CHECK: tt.dot
  tt.func @sums_together(%a: tensor<128x32xf16, #a>, %b: tensor<32x256xf16, #b>, %c: tensor<128x256xf32, #blocked>, %n: i32) -> (tensor<128x256xf32, #blocked>, tensor<128x256xf32, #blocked>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %0:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %c, %y = %c) -> (tensor<128x256xf32, #blocked>, tensor<128x256xf32, #blocked>) : i32 {
      %d = tt.dot %a, %b, %x : tensor<128x32xf16, #a> * tensor<32x256xf16, #b> -> tensor<128x256xf32, #blocked>
      %e = tt.dot %a, %b, %y : tensor<128x32xf16, #a> * tensor<32x256xf16, #b> -> tensor<128x256xf32, #blocked>
      scf.yield %d, %e : tensor<128x256xf32, #blocked>, tensor<128x256xf32, #blocked>
    }
    %1 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %0#0) -> tensor<128x256xf32, #blocked> : i32 {
      %d = tt.dot %a, %b, %x : tensor<128x32xf16, #a> * tensor<32x256xf16, #b> -> tensor<128x256xf32, #blocked>
      scf.yield %d : tensor<128x256xf32, #blocked>
    }
    tt.return %0#1, %1 : tensor<128x256xf32, #blocked>, tensor<128x256xf32, #blocked>
  }

  // There is room for two of these sums.
  // CHECK-LABEL: @three_sums
  // CHECK-COUNT-2: ttnvgpu.tc_gen5_mma
  // CHECK: tt.dot
  // REMARK: the sums of the kernel would take more than 512 columns of tensor memory
  tt.func @three_sums(%a: tensor<128x32xf16, #a>, %b: tensor<32x256xf16, #b>, %c: tensor<128x256xf32, #blocked>) -> (tensor<128x256xf32, #blocked>, tensor<128x256xf32, #blocked>, tensor<128x256xf32, #blocked>) {
    %0 = tt.dot %a, %b, %c : tensor<128x32xf16, #a> * tensor<32x256xf16, #b> -> tensor<128x256xf32, #blocked>
    %1 = tt.dot %a, %b, %c : tensor<128x32xf16, #a> * tensor<32x256xf16, #b> -> tensor<128x256xf32, #blocked>
    %2 = tt.dot %a, %b, %c : tensor<128x32xf16, #a> * tensor<32x256xf16, #b> -> tensor<128x256xf32, #blocked>
    tt.return %0, %1, %2 : tensor<128x256xf32, #blocked>, tensor<128x256xf32, #blocked>, tensor<128x256xf32, #blocked>
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:103", "ttg.threads-per-warp" = 32 : i32} {
  // This one has no integers.
  // CHECK-LABEL: @integers
  // CHECK: tt.dot
  tt.func @integers(%a: tensor<128x32xi8, #a>, %b: tensor<32x128xi8, #b>, %c: tensor<128x128xi32, #blocked>) -> tensor<128x128xi32, #blocked> {
    %d = tt.dot %a, %b, %c : tensor<128x32xi8, #a> * tensor<32x128xi8, #b> -> tensor<128x128xi32, #blocked>
    tt.return %d : tensor<128x128xi32, #blocked>
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [8, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:110", "ttg.threads-per-warp" = 32 : i32} {
  // Eight warps share the columns; the integer sum is of 32 bits.
  // CHECK: #linear = #ttg.linear<{register = {{\[}}[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], lane = {{.*}}, warp = {{\[}}[32, 0], [64, 0], [0, 64]], block = []}>
  // CHECK-LABEL: @eight_warps
  tt.func @eight_warps(%a: tensor<128x32xi8, #a>, %b: tensor<32x128xi8, #b>, %c: tensor<128x128xi32, #blocked>) -> tensor<128x128xi32, #blocked> {
    // CHECK: ttnvgpu.tmem_load %{{.*}} -> tensor<128x128xi32, #linear>
    %d = tt.dot %a, %b, %c : tensor<128x32xi8, #a> * tensor<32x128xi8, #b> -> tensor<128x128xi32, #blocked>
    tt.return %d : tensor<128x128xi32, #blocked>
  }
}

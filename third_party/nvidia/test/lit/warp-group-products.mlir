// RUN: tile-opt %s -split-input-file -tritongpu-accelerate-matmul | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 4], order = [0, 1]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // What is loaded goes to shared memory, in the order it has in global memory.
  // CHECK: #mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>
  // CHECK: #shared = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
  // CHECK: #shared1 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
  // CHECK-LABEL: @loaded
  tt.func @loaded(%pa: tensor<128x32x!tt.ptr<f16>, #blocked>, %pb: tensor<32x128x!tt.ptr<f16>, #blocked>, %c: tensor<128x128xf32, #blocked>) -> tensor<128x128xf32, #blocked> {
    %x = tt.load %pa : tensor<128x32x!tt.ptr<f16>, #blocked>
    %y = tt.load %pb : tensor<32x128x!tt.ptr<f16>, #blocked>
    %a = ttg.convert_layout %x : tensor<128x32xf16, #blocked> -> tensor<128x32xf16, #a>
    %b = ttg.convert_layout %y : tensor<32x128xf16, #blocked> -> tensor<32x128xf16, #b>
    // CHECK: [[A:%.*]] = ttg.local_alloc %{{.*}} : (tensor<128x32xf16, #blocked>) -> !ttg.memdesc<128x32xf16, #shared, #smem>
    // CHECK: [[B:%.*]] = ttg.local_alloc %{{.*}} : (tensor<32x128xf16, #blocked>) -> !ttg.memdesc<32x128xf16, #shared1, #smem>
    // CHECK: [[C:%.*]] = ttg.convert_layout %{{.*}} -> tensor<128x128xf32, #mma>
    // CHECK: [[D:%.*]] = ttnvgpu.warp_group_dot [[A]], [[B]], [[C]]
    // CHECK: ttg.convert_layout [[D]] : tensor<128x128xf32, #mma> -> tensor<128x128xf32, #blocked>
    %d = tt.dot %a, %b, %c : tensor<128x32xf16, #a> * tensor<32x128xf16, #b> -> tensor<128x128xf32, #blocked>
    tt.return %d : tensor<128x128xf32, #blocked>
  }

  // A transposition is a view.
  // CHECK-LABEL: @transposed
  tt.func @transposed(%a: tensor<64x32xf16, #a>, %pb: tensor<64x32x!tt.ptr<f16>, #blocked>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %x = tt.load %pb : tensor<64x32x!tt.ptr<f16>, #blocked>
    %y = tt.trans %x {order = array<i32: 1, 0>} : tensor<64x32xf16, #blocked> -> tensor<32x64xf16, #columns>
    %b = ttg.convert_layout %y : tensor<32x64xf16, #columns> -> tensor<32x64xf16, #b>
    // CHECK: ttg.local_alloc %{{.*}} : (tensor<64x32xf16
    // CHECK: [[X:%.*]] = ttg.local_alloc %{{.*}} -> !ttg.memdesc<64x32xf16, #shared, #smem>
    // CHECK: [[B:%.*]] = ttg.memdesc_trans [[X]] {order = array<i32: 1, 0>} : {{.*}} -> !ttg.memdesc<32x64xf16, #shared2, #smem>
    // CHECK: ttnvgpu.warp_group_dot %{{.*}}, [[B]], %{{.*}}
    %d = tt.dot %a, %b, %c : tensor<64x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<64x64xf32, #blocked>
    tt.return %d : tensor<64x64xf32, #blocked>
  }

  // What was computed stays in registers.
  // CHECK-LABEL: @chain
  tt.func @chain(%a: tensor<64x32xf16, #a>, %b: tensor<32x64xf16, #b>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    // CHECK: ttnvgpu.warp_group_dot
    %d = tt.dot %a, %b, %c : tensor<64x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<64x64xf32, #blocked>
    %p = arith.truncf %d : tensor<64x64xf32, #blocked> to tensor<64x64xf16, #blocked>
    %p0 = ttg.convert_layout %p : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
    %q = arith.constant dense<1.0> : tensor<64x64xf16, #b>
    // CHECK: [[P:%.*]] = ttg.convert_layout %{{.*}} -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma1, kWidth = 2}>>
    // CHECK: ttnvgpu.warp_group_dot [[P]],
    %e = tt.dot %p0, %q, %c : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #blocked>
    tt.return %e : tensor<64x64xf32, #blocked>
  }

  // An operand that no iteration changes is put there once.
  // CHECK-LABEL: @invariant
  tt.func @invariant(%pa: tensor<64x32x!tt.ptr<f16>, #blocked>, %b: tensor<32x128xf16, #b>, %c: tensor<64x128xf32, #blocked>, %n: i32) -> tensor<64x128xf32, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %x = tt.load %pa : tensor<64x32x!tt.ptr<f16>, #blocked>
    // CHECK: ttg.local_alloc
    // CHECK: scf.for
    // CHECK-NOT: ttg.local_alloc
    // CHECK: ttnvgpu.warp_group_dot
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %c) -> (tensor<64x128xf32, #blocked>) : i32 {
      %a = ttg.convert_layout %x : tensor<64x32xf16, #blocked> -> tensor<64x32xf16, #a>
      %d = tt.dot %a, %b, %acc : tensor<64x32xf16, #a> * tensor<32x128xf16, #b> -> tensor<64x128xf32, #blocked>
      scf.yield %d : tensor<64x128xf32, #blocked>
    }
    tt.return %r : tensor<64x128xf32, #blocked>
  }

  // With few columns, reading it from there would take as long as multiplying:
  // one that is small stays in registers, where all iterations find it.
  // CHECK-LABEL: @few_columns
  tt.func @few_columns(%pa: tensor<64x64x!tt.ptr<f16>, #blocked>, %b: tensor<64x64xf16, #b>, %c: tensor<64x64xf32, #blocked>, %n: i32) -> tensor<64x64xf32, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %x = tt.load %pa : tensor<64x64x!tt.ptr<f16>, #blocked>
    // CHECK: [[A:%.*]] = ttg.convert_layout %{{.*}} -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma{{[0-9]*}}, kWidth = 2}>>
    // CHECK: scf.for
    // CHECK: ttnvgpu.warp_group_dot [[A]],
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %c) -> (tensor<64x64xf32, #blocked>) : i32 {
      %a = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
      %d = tt.dot %a, %b, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #blocked>
      scf.yield %d : tensor<64x64xf32, #blocked>
    }
    tt.return %r : tensor<64x64xf32, #blocked>
  }

  // Not two of them.
  // CHECK-LABEL: @two_invariants
  tt.func @two_invariants(%x: tensor<64x64xf16, #a>, %y: tensor<64x64xf16, #a>, %b: tensor<64x64xf16, #b>, %c: tensor<64x64xf32, #blocked>, %n: i32) -> tensor<64x64xf32, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    // CHECK-COUNT-2: ttg.local_alloc %{{.*}} : (tensor<64x64xf16, #ttg.dot_op<{opIdx = 0
    // CHECK: scf.for
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %c) -> (tensor<64x64xf32, #blocked>) : i32 {
      %d = tt.dot %x, %b, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #blocked>
      %e = tt.dot %y, %b, %d : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #blocked>
      scf.yield %e : tensor<64x64xf32, #blocked>
    }
    tt.return %r : tensor<64x64xf32, #blocked>
  }

  // What was computed and is transposed goes through shared memory anyway, where
  // the product reads it the other way round.
  // CHECK-LABEL: @computed_and_transposed
  tt.func @computed_and_transposed(%a: tensor<64x32xf16, #a>, %b: tensor<32x64xf16, #b>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %d = tt.dot %a, %b, %c : tensor<64x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<64x64xf32, #blocked>
    %p = arith.truncf %d : tensor<64x64xf32, #blocked> to tensor<64x64xf16, #blocked>
    %t = tt.trans %p {order = array<i32: 1, 0>} : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #columns>
    %t0 = ttg.convert_layout %t : tensor<64x64xf16, #columns> -> tensor<64x64xf16, #a>
    %q = arith.constant dense<1.0> : tensor<64x64xf16, #b>
    // CHECK: [[P:%.*]] = ttg.local_alloc %{{.*}} : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16
    // CHECK: [[T:%.*]] = ttg.memdesc_trans [[P]] {order = array<i32: 1, 0>}
    // CHECK: ttnvgpu.warp_group_dot [[T]],
    %e = tt.dot %t0, %q, %c : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #blocked>
    tt.return %e : tensor<64x64xf32, #blocked>
  }

  // Products share what they read, on whichever side it is.
  // CHECK-LABEL: @shared_by_products
  tt.func @shared_by_products(%pa: tensor<64x64x!tt.ptr<f16>, #blocked>, %c: tensor<64x64xf32, #blocked>, %n: i32) -> tensor<64x64xf32, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %x = tt.load %pa : tensor<64x64x!tt.ptr<f16>, #blocked>
    // CHECK: [[X:%.*]] = ttg.local_alloc
    // CHECK-NOT: ttg.local_alloc
    // CHECK: ttnvgpu.warp_group_dot [[X]], [[X]],
    // CHECK-NOT: ttg.local_alloc
    // CHECK: ttnvgpu.warp_group_dot [[X]], [[X]],
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %c) -> (tensor<64x64xf32, #blocked>) : i32 {
      %a = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
      %b = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #b>
      %d = tt.dot %a, %b, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #blocked>
      %e = tt.dot %a, %b, %d : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #blocked>
      scf.yield %e : tensor<64x64xf32, #blocked>
    }
    tt.return %r : tensor<64x64xf32, #blocked>
  }

  // Too few rows for a warp group; too short for one instruction.
  // CHECK-LABEL: @small
  tt.func @small(%a: tensor<32x32xf16, #a>, %b: tensor<32x64xf16, #b>, %c: tensor<32x64xf32, #blocked>, %a8: tensor<64x16xi8, #a>, %b8: tensor<16x64xi8, #b>, %c8: tensor<64x64xi32, #blocked>) -> (tensor<32x64xf32, #blocked>, tensor<64x64xi32, #blocked>) {
    // CHECK-NOT: warp_group_dot
    %d = tt.dot %a, %b, %c : tensor<32x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<32x64xf32, #blocked>
    %e = tt.dot %a8, %b8, %c8 : tensor<64x16xi8, #a> * tensor<16x64xi8, #b> -> tensor<64x64xi32, #blocked>
    tt.return %d, %e : tensor<32x64xf32, #blocked>, tensor<64x64xi32, #blocked>
  }

  // Bytes may lie either way round: where the right operand's lie across K, it
  // becomes the left one of the transposed product, its rows in the order in
  // which whole warps read them.
  // CHECK-LABEL: @bytes
  tt.func @bytes(%pa: tensor<64x32x!tt.ptr<i8>, #blocked>, %pb: tensor<32x64x!tt.ptr<i8>, #columns>, %pr: tensor<32x64x!tt.ptr<i8>, #blocked>, %c: tensor<64x64xi32, #blocked>) -> tensor<64x64xi32, #blocked> {
    %x = tt.load %pa : tensor<64x32x!tt.ptr<i8>, #blocked>
    %y = tt.load %pb : tensor<32x64x!tt.ptr<i8>, #columns>
    %z = tt.load %pr : tensor<32x64x!tt.ptr<i8>, #blocked>
    %a = ttg.convert_layout %x : tensor<64x32xi8, #blocked> -> tensor<64x32xi8, #a>
    %b = ttg.convert_layout %y : tensor<32x64xi8, #columns> -> tensor<32x64xi8, #b>
    %r = ttg.convert_layout %z : tensor<32x64xi8, #blocked> -> tensor<32x64xi8, #b>
    // CHECK: [[Y:%.*]] = ttg.local_alloc %{{.*}} : (tensor<32x64xi8, #blocked1>) -> !ttg.memdesc<32x64xi8, [[ALONG_K:#shared[0-9]*]], #smem>
    // CHECK: ttnvgpu.warp_group_dot %{{.*}}, [[Y]],
    %d = tt.dot %a, %b, %c : tensor<64x32xi8, #a> * tensor<32x64xi8, #b> -> tensor<64x64xi32, #blocked>
    // CHECK: [[Z:%.*]] = ttg.local_alloc %{{.*}} : (tensor<32x64xi8, #blocked>) -> !ttg.memdesc<32x64xi8, #shared{{[0-9]*}}, #smem>
    // CHECK: [[T:%.*]] = ttg.memdesc_trans [[Z]] {order = array<i32: 1, 0>}
    // CHECK: [[V:%.*]] = ttg.memdesc_reshape [[T]] : {{.*}} -> !ttg.memdesc<4x8x2x32xi8
    // CHECK: [[W:%.*]] = ttg.memdesc_trans [[V]] {order = array<i32: 0, 2, 1, 3>}
    // CHECK: [[R:%.*]] = ttg.memdesc_reshape [[W]]
    // CHECK: [[L:%.*]] = ttg.local_load [[R]] : {{.*}} -> tensor<64x32xi8, #ttg.dot_op<{opIdx = 0, parent = [[MMA:#mma[0-9]*]], kWidth = 4}>>
    // CHECK: tt.trans %{{.*}} {order = array<i32: 1, 0>}
    // CHECK: tt.reshape %{{.*}} -> tensor<4x8x2x64xi32
    // CHECK: tt.trans %{{.*}} {order = array<i32: 0, 2, 1, 3>}
    // CHECK: ttnvgpu.warp_group_dot [[L]], %{{.*}} * !ttg.memdesc<32x64xi8, [[ALONG_K]], #smem>
    // CHECK: tt.reshape %{{.*}} -> tensor<4x2x8x64xi32
    // CHECK: tt.trans %{{.*}} {order = array<i32: 0, 2, 1, 3>}
    // CHECK: tt.trans %{{.*}} {order = array<i32: 1, 0>}
    %e = tt.dot %a, %r, %d : tensor<64x32xi8, #a> * tensor<32x64xi8, #b> -> tensor<64x64xi32, #blocked>
    tt.return %e : tensor<64x64xi32, #blocked>
  }

  // Where both operands' lie across K, the left one comes from registers as it
  // is, and the right one is turned. So it is where the columns are too few for
  // the rows of a product.
  // CHECK-LABEL: @bytes_across
  tt.func @bytes_across(%pl: tensor<64x32x!tt.ptr<i8>, #columns>, %pa: tensor<64x32x!tt.ptr<i8>, #blocked>, %pr: tensor<32x64x!tt.ptr<i8>, #blocked>, %pn: tensor<32x32x!tt.ptr<i8>, #blocked>, %c: tensor<64x64xi32, #blocked>, %cn: tensor<64x32xi32, #blocked>) -> (tensor<64x64xi32, #blocked>, tensor<64x32xi32, #blocked>) {
    %w = tt.load %pl : tensor<64x32x!tt.ptr<i8>, #columns>
    %x = tt.load %pa : tensor<64x32x!tt.ptr<i8>, #blocked>
    %y = tt.load %pr : tensor<32x64x!tt.ptr<i8>, #blocked>
    %z = tt.load %pn : tensor<32x32x!tt.ptr<i8>, #blocked>
    %l = ttg.convert_layout %w : tensor<64x32xi8, #columns> -> tensor<64x32xi8, #a>
    %a = ttg.convert_layout %x : tensor<64x32xi8, #blocked> -> tensor<64x32xi8, #a>
    %r = ttg.convert_layout %y : tensor<32x64xi8, #blocked> -> tensor<32x64xi8, #b>
    %n = ttg.convert_layout %z : tensor<32x32xi8, #blocked> -> tensor<32x32xi8, #b>
    // CHECK: [[V:%.*]] = ttg.memdesc_reshape %{{.*}} : {{.*}} -> !ttg.memdesc<4x8x2x32xi8
    // CHECK: [[L:%.*]] = ttg.local_load
    // CHECK: [[R:%.*]] = ttg.local_alloc %{{.*}} : (tensor<32x64xi8, #blocked>) -> !ttg.memdesc<32x64xi8, [[ALONG_K]], #smem>
    // CHECK: tt.reshape %{{.*}} -> tensor<4x8x2x64xi32
    // CHECK: ttnvgpu.warp_group_dot [[L]], [[R]],
    %d = tt.dot %l, %r, %c : tensor<64x32xi8, #a> * tensor<32x64xi8, #b> -> tensor<64x64xi32, #blocked>
    // CHECK: [[X:%.*]] = ttg.local_alloc %{{.*}} : (tensor<64x32xi8, #blocked>)
    // CHECK: [[N:%.*]] = ttg.local_alloc %{{.*}} : (tensor<32x32xi8, #blocked>)
    // CHECK-NOT: tt.reshape
    // CHECK: ttnvgpu.warp_group_dot [[X]], [[N]],
    %e = tt.dot %a, %n, %cn : tensor<64x32xi8, #a> * tensor<32x32xi8, #b> -> tensor<64x32xi32, #blocked>
    tt.return %d, %e : tensor<64x64xi32, #blocked>, tensor<64x32xi32, #blocked>
  }

  // Words are multiplied only where they are contiguous along K.
  // CHECK-LABEL: @words
  tt.func @words(%a: tensor<64x32xf32, #a>, %pa: tensor<64x32x!tt.ptr<f32>, #columns>, %pb: tensor<32x64x!tt.ptr<f32>, #columns>, %pr: tensor<32x64x!tt.ptr<f32>, #blocked>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %x = tt.load %pa : tensor<64x32x!tt.ptr<f32>, #columns>
    %y = tt.load %pb : tensor<32x64x!tt.ptr<f32>, #columns>
    %z = tt.load %pr : tensor<32x64x!tt.ptr<f32>, #blocked>
    %l = ttg.convert_layout %x : tensor<64x32xf32, #columns> -> tensor<64x32xf32, #a>
    %b = ttg.convert_layout %y : tensor<32x64xf32, #columns> -> tensor<32x64xf32, #b>
    %r = ttg.convert_layout %z : tensor<32x64xf32, #blocked> -> tensor<32x64xf32, #b>
    // CHECK: ttnvgpu.warp_group_dot
    %d = tt.dot %a, %b, %c, inputPrecision = tf32 : tensor<64x32xf32, #a> * tensor<32x64xf32, #b> -> tensor<64x64xf32, #blocked>
    // CHECK: tt.dot
    %e = tt.dot %l, %r, %d, inputPrecision = tf32 : tensor<64x32xf32, #a> * tensor<32x64xf32, #b> -> tensor<64x64xf32, #blocked>
    tt.return %e : tensor<64x64xf32, #blocked>
  }

  // Where the right ones alone are not, the operands are exchanged: a loop
  // carries the transposed sum.
  // CHECK-LABEL: @exchanged
  tt.func @exchanged(%a: tensor<64x32xf32, #a>, %pr: tensor<32x128x!tt.ptr<f32>, #blocked>, %c: tensor<64x128xf32, #blocked>, %n: i32) -> tensor<64x128xf32, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    // CHECK: [[R:%.*]] = ttg.memdesc_trans %{{.*}} -> !ttg.memdesc<32x64xf32,
    // CHECK: [[C:%.*]] = tt.trans %{{.*}} : tensor<64x128xf32, #blocked> -> tensor<128x64xf32, #blocked1>
    // CHECK: [[SUM:%.*]]:2 = scf.for {{.*}}, [[ACC:%.*]] = [[C]])
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %c) -> (tensor<64x128xf32, #blocked>) : i32 {
      // CHECK: [[Z:%.*]] = tt.load
      // CHECK: [[T:%.*]] = tt.trans [[Z]]
      // CHECK: [[L:%.*]] = ttg.convert_layout [[T]] {{.*}} -> tensor<128x32xf32, #ttg.dot_op<{opIdx = 0, parent = [[MMA:#mma[0-9]*]], kWidth = 1}>>
      // CHECK: [[S:%.*]] = ttg.convert_layout [[ACC]] : {{.*}} -> tensor<128x64xf32, [[MMA]]>
      // CHECK: [[D:%.*]] = ttnvgpu.warp_group_dot [[L]], [[R]], [[S]]
      // CHECK: [[NEXT:%.*]] = ttg.convert_layout [[D]]
      // CHECK-NEXT: scf.yield %{{.*}}, [[NEXT]]
      %z = tt.load %pr : tensor<32x128x!tt.ptr<f32>, #blocked>
      %r = ttg.convert_layout %z : tensor<32x128xf32, #blocked> -> tensor<32x128xf32, #b>
      %e = tt.dot %a, %r, %acc, inputPrecision = tf32 : tensor<64x32xf32, #a> * tensor<32x128xf32, #b> -> tensor<64x128xf32, #blocked>
      scf.yield %e : tensor<64x128xf32, #blocked>
    }
    // CHECK: tt.trans [[SUM]]#1 {{.*}} -> tensor<64x128xf32, #blocked>
    tt.return %sum : tensor<64x128xf32, #blocked>
  }

  // A sum that the loop looks at is turned where it does.
  // CHECK-LABEL: @looked_at
  tt.func @looked_at(%a: tensor<64x32xf32, #a>, %r: tensor<32x64xf32, #b>, %c: tensor<64x64xf32, #blocked>, %n: i32) -> tensor<64x64xf32, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    // CHECK: scf.for {{.*}} iter_args([[ACC:%.*]] = %{{.*}}) -> (tensor<64x64xf32, #blocked>)
    // CHECK: arith.addf [[ACC]]
    // CHECK: ttnvgpu.warp_group_dot
    // CHECK: tt.trans
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %c) -> (tensor<64x64xf32, #blocked>) : i32 {
      %twice = arith.addf %acc, %acc : tensor<64x64xf32, #blocked>
      %e = tt.dot %a, %r, %twice, inputPrecision = tf32 : tensor<64x32xf32, #a> * tensor<32x64xf32, #b> -> tensor<64x64xf32, #blocked>
      scf.yield %e : tensor<64x64xf32, #blocked>
    }
    tt.return %sum : tensor<64x64xf32, #blocked>
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [8, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Two groups share the rows or, where there are only 64, the columns.
  // CHECK-DAG: #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 256, 16]}>
  // CHECK-DAG: #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 2], instrShape = [16, 32, 16]}>
  // CHECK-LABEL: @groups
  tt.func @groups(%a: tensor<128x32xf16, #a>, %b: tensor<32x256xf16, #b>, %c: tensor<128x256xf32, #blocked>, %a1: tensor<64x32xf16, #a>, %b1: tensor<32x64xf16, #b>, %c1: tensor<64x64xf32, #blocked>) -> (tensor<128x256xf32, #blocked>, tensor<64x64xf32, #blocked>) {
    %d = tt.dot %a, %b, %c : tensor<128x32xf16, #a> * tensor<32x256xf16, #b> -> tensor<128x256xf32, #blocked>
    %e = tt.dot %a1, %b1, %c1 : tensor<64x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<64x64xf32, #blocked>
    tt.return %d, %e : tensor<128x256xf32, #blocked>, tensor<64x64xf32, #blocked>
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Accumulators that a thread can hold, and twice as many, of narrower instructions.
  // CHECK-DAG: #[[WIDE:.*]] = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 256, 16]}>
  // CHECK-DAG: #[[NARROW:.*]] = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>
  // CHECK-LABEL: @many_accumulators
  tt.func @many_accumulators(%a: tensor<64x32xf16, #a>, %a2: tensor<128x32xf16, #a>, %b: tensor<32x256xf16, #b>, %c: tensor<64x256xf32, #blocked>, %c2: tensor<128x256xf32, #blocked>) -> (tensor<64x256xf32, #blocked>, tensor<128x256xf32, #blocked>) {
    // CHECK: ttnvgpu.warp_group_dot {{.*}} -> tensor<64x256xf32, #[[WIDE]]>
    %d = tt.dot %a, %b, %c : tensor<64x32xf16, #a> * tensor<32x256xf16, #b> -> tensor<64x256xf32, #blocked>
    // CHECK: ttnvgpu.warp_group_dot {{.*}} -> tensor<128x256xf32, #[[NARROW]]>
    %e = tt.dot %a2, %b, %c2 : tensor<128x32xf16, #a> * tensor<32x256xf16, #b> -> tensor<128x256xf32, #blocked>
    tt.return %d, %e : tensor<64x256xf32, #blocked>, tensor<128x256xf32, #blocked>
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [8, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Two groups of warps share the rows: each would have a copy in registers.
  // CHECK-LABEL: @shared_rows
  tt.func @shared_rows(%pa: tensor<64x64x!tt.ptr<f16>, #blocked>, %b: tensor<64x64xf16, #b>, %c: tensor<64x64xf32, #blocked>, %n: i32) -> tensor<64x64xf32, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %x = tt.load %pa : tensor<64x64x!tt.ptr<f16>, #blocked>
    // CHECK: [[A:%.*]] = ttg.local_alloc {{.*}} : (tensor<64x64xf16, #blocked>)
    // CHECK: scf.for
    // CHECK: ttnvgpu.warp_group_dot [[A]],
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %c) -> (tensor<64x64xf32, #blocked>) : i32 {
      %a = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
      %d = tt.dot %a, %b, %acc : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #blocked>
      scf.yield %d : tensor<64x64xf32, #blocked>
    }
    tt.return %r : tensor<64x64xf32, #blocked>
  }
}

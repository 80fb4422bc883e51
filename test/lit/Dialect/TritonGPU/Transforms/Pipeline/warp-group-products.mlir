// RUN: tile-opt %s -tritongpu-assign-latencies=num-stages=3 -tritongpu-schedule-loops -tritongpu-pipeline -canonicalize | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#other = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#dot = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#whole = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 256, 16]}>
#dotOfWhole = #ttg.dot_op<{opIdx = 0, parent = #whole, kWidth = 2}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#wide = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#turned = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // The product reads what was copied, and goes on into the next iteration:
  // three buffers for two stages of distance.
  // CHECK-LABEL: @accumulate
  // CHECK: [[RING:%.*]] = ttg.local_alloc : () -> !ttg.memdesc<3x64x32xf16, #shared, #smem, mutable>
  // CHECK: [[SUM:%.*]]:{{.*}} = scf.for
  // CHECK:   ttg.async_wait
  // CHECK:   [[A:%.*]] = ttg.memdesc_index
  // CHECK:   [[B:%.*]] = ttg.memdesc_trans
  // CHECK:   [[D:%.*]] = ttnvgpu.warp_group_dot [[A]], [[B]], %{{.*}} {inputPrecision = 0 : i32, isAsync = true}
  // CHECK:   [[W:%.*]]:3 = ttnvgpu.warp_group_dot_wait [[D]], [[A]], [[B]] {pendings = 1 : i32}
  // CHECK:   ttg.async_copy_global_to_local
  // CHECK:   scf.yield [[W]]#0
  // CHECK: ttnvgpu.warp_group_dot_wait [[SUM]]#0 {pendings = 0 : i32}
  // CHECK: ttg.async_wait {num = 0 : i32}
  // CHECK: ttg.local_dealloc
  tt.func @accumulate(%p: tensor<64x32x!tt.ptr<f16>, #blocked>, %o: tensor<64x32xi32, #blocked>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %q = tt.addptr %p, %o {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<[16, 16]> : tensor<2xi32>} : tensor<64x32x!tt.ptr<f16>, #blocked>, tensor<64x32xi32, #blocked>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %x = tt.load %q : tensor<64x32x!tt.ptr<f16>, #blocked>
      %a = ttg.local_alloc %x : (tensor<64x32xf16, #blocked>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
      %b = ttg.memdesc_trans %a {order = array<i32: 1, 0>} : !ttg.memdesc<64x32xf16, #shared, #smem> -> !ttg.memdesc<32x64xf16, #turned, #smem>
      %d = ttnvgpu.warp_group_dot %a, %b, %acc {inputPrecision = 0 : i32} : !ttg.memdesc<64x32xf16, #shared, #smem> * !ttg.memdesc<32x64xf16, #turned, #smem> -> tensor<64x64xf32, #mma>
      scf.yield %d : tensor<64x64xf32, #mma>
    }
    tt.return %r : tensor<64x64xf32, #mma>
  }

  // Where the accumulator is used besides, the product is waited for before the
  // sum is used. Copies go to another buffer than the one that it reads.
  // CHECK-LABEL: @used
  // CHECK: scf.for
  // CHECK:   [[D:%.*]] = ttnvgpu.warp_group_dot {{.*}}isAsync = true
  // CHECK:   ttg.async_copy_global_to_local
  // CHECK:   [[W:%.*]]:3 = ttnvgpu.warp_group_dot_wait [[D]], {{.*}} {pendings = 0 : i32}
  // CHECK:   scf.yield [[W]]#0
  // CHECK-NOT: ttnvgpu.warp_group_dot_wait
  tt.func @used(%p: tensor<64x32x!tt.ptr<f16>, #blocked>, %o: tensor<64x32xi32, #blocked>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %q = tt.addptr %p, %o {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<[16, 16]> : tensor<2xi32>} : tensor<64x32x!tt.ptr<f16>, #blocked>, tensor<64x32xi32, #blocked>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %x = tt.load %q : tensor<64x32x!tt.ptr<f16>, #blocked>
      %a = ttg.local_alloc %x : (tensor<64x32xf16, #blocked>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
      %b = ttg.memdesc_trans %a {order = array<i32: 1, 0>} : !ttg.memdesc<64x32xf16, #shared, #smem> -> !ttg.memdesc<32x64xf16, #turned, #smem>
      %h = arith.mulf %acc, %acc : tensor<64x64xf32, #mma>
      %d = ttnvgpu.warp_group_dot %a, %b, %h {inputPrecision = 0 : i32} : !ttg.memdesc<64x32xf16, #shared, #smem> * !ttg.memdesc<32x64xf16, #turned, #smem> -> tensor<64x64xf32, #mma>
      scf.yield %d : tensor<64x64xf32, #mma>
    }
    tt.return %r : tensor<64x64xf32, #mma>
  }

  // A product whose sum the next iteration uses behind another product goes on
  // until then, and so does its factor in registers: the values of attention. No
  // other values of its sum meet those of the loop before the last wait.
  // CHECK-LABEL: @carried
  // CHECK: [[NONE:%.*]] = arith.constant dense<0.000000e+00> : tensor<64x64xf16, #ttg.dot_op<{opIdx = 0
  // CHECK: scf.if %{{.*}} -> (tensor<64x64xf32
  // CHECK: [[LOOP:%.*]]:{{.*}} = scf.for {{.*}} iter_args([[SUM:%[^ ]*]] = {{.*}}[[P:%[^ ]*]] = [[NONE]])
  // CHECK:   [[S:%.*]] = ttnvgpu.warp_group_dot
  // CHECK:   [[W:%.*]]:2 = ttnvgpu.warp_group_dot_wait [[SUM]], [[P]] {pendings = 0 : i32}
  // CHECK:   [[H:%.*]] = arith.mulf [[W]]#0, [[S]]
  // CHECK:   [[Q:%.*]] = ttg.convert_layout
  // CHECK:   [[D:%.*]] = ttnvgpu.warp_group_dot [[Q]], %{{.*}}, [[H]] {inputPrecision = 0 : i32, isAsync = true}
  // CHECK-NOT: ttnvgpu.warp_group_dot_wait
  // CHECK:   ttg.async_copy_global_to_local
  // CHECK:   scf.yield [[D]], {{.*}}[[Q]] :
  // CHECK: [[END:%.*]] = ttnvgpu.warp_group_dot_wait [[LOOP]]#0 {pendings = 0 : i32}
  // CHECK: scf.yield [[END]]
  // CHECK: else
  tt.func @carried(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %o: tensor<64x64xi32, #blocked>, %qs: !ttg.memdesc<64x64xf16, #wide, #smem>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %q = tt.addptr %p, %o {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<[16, 16]> : tensor<2xi32>} : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xi32, #blocked>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %x = tt.load %q : tensor<64x64x!tt.ptr<f16>, #blocked>
      %a = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #wide, #smem>
      %s = ttnvgpu.warp_group_dot %a, %a, %zero {inputPrecision = 0 : i32} : !ttg.memdesc<64x64xf16, #wide, #smem> * !ttg.memdesc<64x64xf16, #wide, #smem> -> tensor<64x64xf32, #mma>
      %h = arith.mulf %acc, %s : tensor<64x64xf32, #mma>
      %t = arith.truncf %s : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
      %b = ttg.convert_layout %t : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #dot>
      %d = ttnvgpu.warp_group_dot %b, %a, %h {inputPrecision = 0 : i32} : tensor<64x64xf16, #dot> * !ttg.memdesc<64x64xf16, #wide, #smem> -> tensor<64x64xf32, #mma>
      scf.yield %d : tensor<64x64xf32, #mma>
    }
    tt.return %r : tensor<64x64xf32, #mma>
  }

  // The sum goes on in the place of another one, whose registers are in use
  // still: the product is waited for in its iteration.
  // CHECK-LABEL: @in_another_place
  // CHECK: scf.for
  // CHECK:   [[D:%.*]] = ttnvgpu.warp_group_dot %{{.*}}, %{{.*}}, %{{.*}} {inputPrecision = 0 : i32, isAsync = true} : tensor
  // CHECK:   [[W:%.*]]:{{.*}} = ttnvgpu.warp_group_dot_wait [[D]], {{.*}} {pendings = 0 : i32}
  // CHECK:   scf.yield %{{.*}}, [[W]]#0
  // CHECK-NOT: ttnvgpu.warp_group_dot_wait
  // CHECK: tt.return
  tt.func @in_another_place(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %o: tensor<64x64xi32, #blocked>, %n: i32) -> (tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %q = tt.addptr %p, %o {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<[16, 16]> : tensor<2xi32>} : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xi32, #blocked>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%u = %zero, %v = %zero) -> (tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>) : i32 {
      %x = tt.load %q : tensor<64x64x!tt.ptr<f16>, #blocked>
      %a = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #wide, #smem>
      %s = ttnvgpu.warp_group_dot %a, %a, %zero {inputPrecision = 0 : i32} : !ttg.memdesc<64x64xf16, #wide, #smem> * !ttg.memdesc<64x64xf16, #wide, #smem> -> tensor<64x64xf32, #mma>
      %h = arith.mulf %v, %s : tensor<64x64xf32, #mma>
      %t = arith.truncf %s : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
      %b = ttg.convert_layout %t : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #dot>
      %d = ttnvgpu.warp_group_dot %b, %a, %u {inputPrecision = 0 : i32} : tensor<64x64xf16, #dot> * !ttg.memdesc<64x64xf16, #wide, #smem> -> tensor<64x64xf32, #mma>
      %e = arith.addf %s, %h : tensor<64x64xf32, #mma>
      scf.yield %e, %d : tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>
    }
    tt.return %r#0, %r#1 : tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>
  }

  // What products read in place is also needed in registers, in two layouts:
  // reads follow the buffer, whichever of its users were there before.
  // CHECK-LABEL: @in_registers_too
  // CHECK: scf.for
  // CHECK:   ttg.async_wait
  // CHECK:   [[A:%.*]] = ttg.memdesc_index
  // CHECK: ttg.local_load [[A]] {{.*}} -> tensor<64x32xf16, #blocked1>
  // CHECK: ttg.local_load [[A]] {{.*}} -> tensor<64x32xf16, #blocked>
  // CHECK: [[B:%.*]] = ttg.memdesc_trans [[A]]
  // CHECK:   ttnvgpu.warp_group_dot [[A]], [[B]]
  // CHECK-NOT: ttg.local_alloc
  // CHECK: tt.return
  tt.func @in_registers_too(%p: tensor<64x32x!tt.ptr<f16>, #blocked>, %o: tensor<64x32xi32, #blocked>, %n: i32) -> (tensor<64x64xf32, #mma>, tensor<64x32xf16, #blocked>, tensor<64x32xf16, #other>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %none = arith.constant dense<0.0> : tensor<64x32xf16, #blocked>
    %nought = arith.constant dense<0.0> : tensor<64x32xf16, #other>
    %q = tt.addptr %p, %o {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<[16, 16]> : tensor<2xi32>} : tensor<64x32x!tt.ptr<f16>, #blocked>, tensor<64x32xi32, #blocked>
    %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %s = %none, %u = %nought) -> (tensor<64x64xf32, #mma>, tensor<64x32xf16, #blocked>, tensor<64x32xf16, #other>) : i32 {
      %x = tt.load %q : tensor<64x32x!tt.ptr<f16>, #blocked>
      %a = ttg.local_alloc %x : (tensor<64x32xf16, #blocked>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
      %a2 = ttg.local_alloc %x : (tensor<64x32xf16, #blocked>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
      %y = ttg.convert_layout %x : tensor<64x32xf16, #blocked> -> tensor<64x32xf16, #other>
      %v = arith.addf %u, %y : tensor<64x32xf16, #other>
      %t = arith.addf %s, %x : tensor<64x32xf16, #blocked>
      %b = ttg.memdesc_trans %a2 {order = array<i32: 1, 0>} : !ttg.memdesc<64x32xf16, #shared, #smem> -> !ttg.memdesc<32x64xf16, #turned, #smem>
      %d = ttnvgpu.warp_group_dot %a, %b, %acc {inputPrecision = 0 : i32} : !ttg.memdesc<64x32xf16, #shared, #smem> * !ttg.memdesc<32x64xf16, #turned, #smem> -> tensor<64x64xf32, #mma>
      scf.yield %d, %t, %v : tensor<64x64xf32, #mma>, tensor<64x32xf16, #blocked>, tensor<64x32xf16, #other>
    }
    tt.return %r#0, %r#1, %r#2 : tensor<64x64xf32, #mma>, tensor<64x32xf16, #blocked>, tensor<64x32xf16, #other>
  }

  // Where only a branch uses the sum, it is waited for there; else it goes on.
  // The copies for the next tile come before.
  // CHECK-LABEL: @occasionally
  // CHECK: [[RING:%.*]] = ttg.local_alloc : () -> !ttg.memdesc<3x64x32xf16, #shared, #smem, mutable>
  // CHECK: scf.for
  // CHECK:   [[D:%.*]] = ttnvgpu.warp_group_dot {{.*}}isAsync = true
  // CHECK:   [[W:%.*]]:3 = ttnvgpu.warp_group_dot_wait [[D]], {{.*}} {pendings = 1 : i32}
  // CHECK:   ttg.async_copy_global_to_local
  // CHECK:   [[NEXT:%.*]] = arith.select [[LAST:%.*]], %{{.*}}, [[W]]#0
  // CHECK:   scf.if [[LAST]]
  // CHECK:     [[DONE:%.*]] = ttnvgpu.warp_group_dot_wait [[W]]#0 {pendings = 0 : i32}
  // CHECK:     tt.store %{{.*}}, [[DONE]]
  // CHECK:   scf.yield [[NEXT]]
  // CHECK: ttnvgpu.warp_group_dot_wait [[RING]] {pendings = 0 : i32}
  // CHECK: ttg.local_dealloc [[RING]]
  tt.func @occasionally(%ptr: !tt.ptr<f16>, %o: tensor<64x32xi32, #blocked>, %outPtr: !tt.ptr<f32>, %period: i32, %n: i32) {
    %p = tt.splat %ptr : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>, #blocked>
    %out = tt.splat %outPtr : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %q = tt.addptr %p, %o {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<[16, 16]> : tensor<2xi32>} : tensor<64x32x!tt.ptr<f16>, #blocked>, tensor<64x32xi32, #blocked>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %x = tt.load %q : tensor<64x32x!tt.ptr<f16>, #blocked>
      %a = ttg.local_alloc %x : (tensor<64x32xf16, #blocked>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
      %b = ttg.memdesc_trans %a {order = array<i32: 1, 0>} : !ttg.memdesc<64x32xf16, #shared, #smem> -> !ttg.memdesc<32x64xf16, #turned, #smem>
      %d = ttnvgpu.warp_group_dot %a, %b, %acc {inputPrecision = 0 : i32} : !ttg.memdesc<64x32xf16, #shared, #smem> * !ttg.memdesc<32x64xf16, #turned, #smem> -> tensor<64x64xf32, #mma>
      %phase = arith.remsi %i, %period : i32
      %last = arith.cmpi eq, %phase, %c1 : i32
      %next = scf.if %last -> (tensor<64x64xf32, #mma>) {
        tt.store %out, %d : tensor<64x64x!tt.ptr<f32>, #mma>
        scf.yield %zero : tensor<64x64xf32, #mma>
      } else {
        scf.yield %d : tensor<64x64xf32, #mma>
      }
      scf.yield %next : tensor<64x64xf32, #mma>
    }
    tt.return
  }

  // Not where another product follows.
  // CHECK-LABEL: @before_another
  // CHECK: scf.for
  // CHECK:   [[D:%.*]] = ttnvgpu.warp_group_dot
  // CHECK-NOT: pendings = 2
  // CHECK:   scf.if
  // CHECK:   ttnvgpu.warp_group_dot
  tt.func @before_another(%p: tensor<64x32x!tt.ptr<f16>, #blocked>, %o: tensor<64x32xi32, #blocked>, %period: i32, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %q = tt.addptr %p, %o {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<[16, 16]> : tensor<2xi32>} : tensor<64x32x!tt.ptr<f16>, #blocked>, tensor<64x32xi32, #blocked>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %sum = %zero) -> (tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>) : i32 {
      %x = tt.load %q : tensor<64x32x!tt.ptr<f16>, #blocked>
      %a = ttg.local_alloc %x : (tensor<64x32xf16, #blocked>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
      %b = ttg.memdesc_trans %a {order = array<i32: 1, 0>} : !ttg.memdesc<64x32xf16, #shared, #smem> -> !ttg.memdesc<32x64xf16, #turned, #smem>
      %d = ttnvgpu.warp_group_dot %a, %b, %acc {inputPrecision = 0 : i32} : !ttg.memdesc<64x32xf16, #shared, #smem> * !ttg.memdesc<32x64xf16, #turned, #smem> -> tensor<64x64xf32, #mma>
      %phase = arith.remsi %i, %period : i32
      %last = arith.cmpi eq, %phase, %c1 : i32
      %next = scf.if %last -> (tensor<64x64xf32, #mma>) {
        %twice = arith.addf %d, %d : tensor<64x64xf32, #mma>
        scf.yield %twice : tensor<64x64xf32, #mma>
      } else {
        scf.yield %d : tensor<64x64xf32, #mma>
      }
      %e = ttnvgpu.warp_group_dot %a, %b, %sum {inputPrecision = 0 : i32} : !ttg.memdesc<64x32xf16, #shared, #smem> * !ttg.memdesc<32x64xf16, #turned, #smem> -> tensor<64x64xf32, #mma>
      scf.yield %next, %e : tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>
    }
    %s = arith.addf %r#0, %r#1 : tensor<64x64xf32, #mma>
    tt.return %s : tensor<64x64xf32, #mma>
  }

  // The gradients of attention: two sums that leave no registers for products
  // that run on. Both are waited for at the end, and the first wait is for both;
  // a second one that allowed one product to be unfinished, where none is, had
  // ptxas do all of them one by one.
  // CHECK-LABEL: @sums_of_registers
  // CHECK: scf.for
  // CHECK:   [[D:%.*]] = ttnvgpu.warp_group_dot {{.*}} {inputPrecision = 0 : i32, isAsync = true}
  // CHECK:   [[E:%.*]] = ttnvgpu.warp_group_dot {{.*}} {inputPrecision = 0 : i32, isAsync = true}
  // CHECK:   ttg.async_copy_global_to_local
  // CHECK:   ttnvgpu.warp_group_dot_wait [[E]], {{.*}} {pendings = 0 : i32}
  // CHECK:   ttnvgpu.warp_group_dot_wait [[D]], {{.*}} {pendings = 0 : i32}
  tt.func @sums_of_registers(%p: tensor<64x256x!tt.ptr<f16>, #blocked>, %o: tensor<64x256xi32, #blocked>, %f: tensor<64x64xf16, #dotOfWhole>, %n: i32) -> tensor<64x256xf32, #whole> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x256xf32, #whole>
    %q = tt.addptr %p, %o {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<[16, 16]> : tensor<2xi32>} : tensor<64x256x!tt.ptr<f16>, #blocked>, tensor<64x256xi32, #blocked>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %sum = %zero) -> (tensor<64x256xf32, #whole>, tensor<64x256xf32, #whole>) : i32 {
      %x = tt.load %q : tensor<64x256x!tt.ptr<f16>, #blocked>
      %a = ttg.local_alloc %x : (tensor<64x256xf16, #blocked>) -> !ttg.memdesc<64x256xf16, #wide, #smem>
      %d = ttnvgpu.warp_group_dot %f, %a, %acc {inputPrecision = 0 : i32} : tensor<64x64xf16, #dotOfWhole> * !ttg.memdesc<64x256xf16, #wide, #smem> -> tensor<64x256xf32, #whole>
      %g = arith.negf %f : tensor<64x64xf16, #dotOfWhole>
      %e = ttnvgpu.warp_group_dot %g, %a, %sum {inputPrecision = 0 : i32} : tensor<64x64xf16, #dotOfWhole> * !ttg.memdesc<64x256xf16, #wide, #smem> -> tensor<64x256xf32, #whole>
      scf.yield %d, %e : tensor<64x256xf32, #whole>, tensor<64x256xf32, #whole>
    }
    %s = arith.addf %r#0, %r#1 : tensor<64x256xf32, #whole>
    tt.return %s : tensor<64x256xf32, #whole>
  }

  // No product runs on into the next iteration, so that the buffer which the
  // last one has read is free when this one begins: copies to it follow the first
  // product at once. The statistics of rows have a buffer to spare for that, too.
  // CHECK-LABEL: @copies_start_early
  // CHECK: ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #shared{{[0-9]*}}, #smem, mutable>
  // CHECK: ttg.local_alloc : () -> !ttg.memdesc<3x64xf32, #shared{{[0-9]*}}, #smem, mutable>
  // CHECK: scf.for
  // CHECK:   ttg.async_wait
  // CHECK:   [[S:%.*]] = ttnvgpu.warp_group_dot {{.*}} {inputPrecision = 0 : i32, isAsync = true}
  // CHECK:   ttg.async_copy_global_to_local
  // CHECK:   ttg.async_copy_global_to_local
  // CHECK:   [[W:%.*]]:{{.*}} = ttnvgpu.warp_group_dot_wait [[S]], {{.*}} {pendings = 0 : i32}
  // CHECK:   arith.mulf [[W]]#0
  // CHECK-NOT: ttg.async_copy_global_to_local
  // CHECK:   scf.yield
  tt.func @copies_start_early(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %o: tensor<64x64xi32, #blocked>, %rows: tensor<64x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #mma}>>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %q = tt.addptr %p, %o {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<[16, 16]> : tensor<2xi32>} : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xi32, #blocked>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %x = tt.load %q : tensor<64x64x!tt.ptr<f16>, #blocked>
      %a = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #wide, #smem>
      %s = ttnvgpu.warp_group_dot %a, %a, %zero {inputPrecision = 0 : i32} : !ttg.memdesc<64x64xf16, #wide, #smem> * !ttg.memdesc<64x64xf16, #wide, #smem> -> tensor<64x64xf32, #mma>
      %l = tt.load %rows : tensor<64x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #mma}>>
      %e = tt.expand_dims %l {axis = 1 : i32} : tensor<64xf32, #ttg.slice<{dim = 1, parent = #mma}>> -> tensor<64x1xf32, #mma>
      %b = tt.broadcast %e : tensor<64x1xf32, #mma> -> tensor<64x64xf32, #mma>
      %h = arith.mulf %s, %b : tensor<64x64xf32, #mma>
      %narrow = arith.truncf %h : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
      %f = ttg.convert_layout %narrow : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #dot>
      %d = ttnvgpu.warp_group_dot %f, %a, %zero {inputPrecision = 0 : i32} : tensor<64x64xf16, #dot> * !ttg.memdesc<64x64xf16, #wide, #smem> -> tensor<64x64xf32, #mma>
      %t = arith.addf %acc, %d : tensor<64x64xf32, #mma>
      scf.yield %t : tensor<64x64xf32, #mma>
    }
    tt.return %r : tensor<64x64xf32, #mma>
  }

  // Copies of threads are waited for where the first copies are needed, though
  // those arrive at an mbarrier: the barrier that comes with the wait frees the
  // buffers that bulk copies for later iterations go to.
  // CHECK-LABEL: @waits_together
  // CHECK: scf.for
  // CHECK:   ttnvgpu.wait_barrier
  // CHECK-NEXT: ttg.async_wait
  // CHECK:   [[S:%.*]] = ttnvgpu.warp_group_dot
  // CHECK:   ttnvgpu.async_tma_copy_global_to_local
  // CHECK:   ttnvgpu.warp_group_dot_wait [[S]]
  // CHECK-NOT: ttg.async_wait
  // CHECK:   scf.yield
  tt.func @waits_together(%desc: !tt.tensordesc<tensor<64x64xf16, #wide>>, %rows: tensor<64x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #mma}>>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %x = tt.descriptor_load %desc[%i, %c0] : !tt.tensordesc<tensor<64x64xf16, #wide>> -> tensor<64x64xf16, #blocked>
      %a = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #wide, #smem>
      %s = ttnvgpu.warp_group_dot %a, %a, %zero {inputPrecision = 0 : i32} : !ttg.memdesc<64x64xf16, #wide, #smem> * !ttg.memdesc<64x64xf16, #wide, #smem> -> tensor<64x64xf32, #mma>
      %l = tt.load %rows : tensor<64x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #mma}>>
      %e = tt.expand_dims %l {axis = 1 : i32} : tensor<64xf32, #ttg.slice<{dim = 1, parent = #mma}>> -> tensor<64x1xf32, #mma>
      %b = tt.broadcast %e : tensor<64x1xf32, #mma> -> tensor<64x64xf32, #mma>
      %h = arith.mulf %s, %b : tensor<64x64xf32, #mma>
      %narrow = arith.truncf %h : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
      %f = ttg.convert_layout %narrow : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #dot>
      %d = ttnvgpu.warp_group_dot %f, %a, %zero {inputPrecision = 0 : i32} : tensor<64x64xf16, #dot> * !ttg.memdesc<64x64xf16, #wide, #smem> -> tensor<64x64xf32, #mma>
      %t = arith.addf %acc, %d : tensor<64x64xf32, #mma>
      scf.yield %t : tensor<64x64xf32, #mma>
    }
    tt.return %r : tensor<64x64xf32, #mma>
  }
}

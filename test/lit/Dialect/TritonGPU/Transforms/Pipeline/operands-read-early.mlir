// RUN: tile-opt %s -tritongpu-assign-latencies=num-stages=3 -tritongpu-schedule-loops -tritongpu-pipeline -canonicalize | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [8, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 256, 16]}>
#half = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 128, 16]}>
#dot = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#half_dot = #ttg.dot_op<{opIdx = 0, parent = #half, kWidth = 2}>
#wide = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#wide32 = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // An operand in registers is read from its buffer while the product before
  // is under way; its copies start an iteration earlier. The product is waited
  // for at the end: no copy overwrites what it reads.
  // CHECK-LABEL: @read_early
  // CHECK: [[A:%.*]] = ttg.local_alloc : () -> !ttg.memdesc<2x128x32xf16, {{.*}}, #smem, mutable>
  // CHECK: [[B:%.*]] = ttg.local_alloc : () -> !ttg.memdesc<3x32x256xf16, {{.*}}, #smem, mutable>
  // CHECK: ttg.async_wait
  // CHECK: [[FIRST:%.*]] = ttg.local_load
  // CHECK: scf.for {{.*}} = [[FIRST]]
  // CHECK:   [[D:%.*]] = ttnvgpu.warp_group_dot {{.*}}isAsync = true
  // CHECK:   ttg.async_wait
  // CHECK:   [[NEXT:%.*]] = ttg.local_load
  // CHECK:   ttg.async_copy_global_to_local
  // CHECK:   ttg.async_copy_global_to_local
  // CHECK:   ttnvgpu.warp_group_dot_wait [[D]], {{.*}} {pendings = 0 : i32}
  // CHECK:   scf.yield {{.*}}[[NEXT]]
  tt.func @read_early(%p: tensor<128x32x!tt.ptr<f16>, #blocked>, %o: tensor<128x32xi32, #blocked>, %pb: tensor<32x256x!tt.ptr<f16>, #blocked>, %ob: tensor<32x256xi32, #blocked>, %n: i32) -> tensor<128x256xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128x256xf32, #mma>
    %q = tt.addptr %p, %o {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<[16, 16]> : tensor<2xi32>} : tensor<128x32x!tt.ptr<f16>, #blocked>, tensor<128x32xi32, #blocked>
    %qb = tt.addptr %pb, %ob {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<[16, 16]> : tensor<2xi32>} : tensor<32x256x!tt.ptr<f16>, #blocked>, tensor<32x256xi32, #blocked>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x256xf32, #mma>) : i32 {
      %x = tt.load %q : tensor<128x32x!tt.ptr<f16>, #blocked>
      %y = tt.load %qb : tensor<32x256x!tt.ptr<f16>, #blocked>
      %a = ttg.convert_layout %x : tensor<128x32xf16, #blocked> -> tensor<128x32xf16, #dot>
      %b = ttg.local_alloc %y : (tensor<32x256xf16, #blocked>) -> !ttg.memdesc<32x256xf16, #wide, #smem>
      %d = ttnvgpu.warp_group_dot %a, %b, %acc {inputPrecision = 0 : i32} : tensor<128x32xf16, #dot> * !ttg.memdesc<32x256xf16, #wide, #smem> -> tensor<128x256xf32, #mma>
      scf.yield %d : tensor<128x256xf32, #mma>
    }
    tt.return %r : tensor<128x256xf32, #mma>
  }

  // A descriptor's copy writes nothing in an iteration that does not exist: the
  // slot of the iteration before is read in its stead, and none before the first.
  // CHECK-LABEL: @read_early_of_descriptor
  // CHECK: [[ANY:%.*]] = arith.cmpi sgt, %{{.*}}, %c0_i32
  // CHECK: ttnvgpu.wait_barrier {{.*}}, [[ANY]]
  // CHECK: scf.if [[ANY]]
  // CHECK-NEXT: ttg.local_load
  // CHECK: scf.for
  // CHECK:   ttnvgpu.wait_barrier {{.*}}, %{{.*}}, [[MORE:%[0-9a-z_]+]] deps
  // CHECK:   [[AT:%.*]] = arith.select [[MORE]], %{{.*}}, %{{.*}} : i32
  // CHECK:   [[SLOT:%.*]] = ttg.memdesc_index %{{.*}}{{\[}}[[AT]]]
  // CHECK-NEXT: ttg.local_load [[SLOT]]
  // CHECK-NOT: scf.if
  // CHECK: tt.return
  tt.func @read_early_of_descriptor(%p: !tt.tensordesc<tensor<128x32xf16, #wide32>>, %pb: !tt.tensordesc<tensor<32x256xf16, #wide>>, %n: i32) -> tensor<128x256xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128x256xf32, #mma>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x256xf32, #mma>) : i32 {
      %x = tt.descriptor_load %p[%c0, %i] : !tt.tensordesc<tensor<128x32xf16, #wide32>> -> tensor<128x32xf16, #blocked>
      %y = tt.descriptor_load %pb[%i, %c0] : !tt.tensordesc<tensor<32x256xf16, #wide>> -> tensor<32x256xf16, #blocked>
      %a = ttg.convert_layout %x : tensor<128x32xf16, #blocked> -> tensor<128x32xf16, #dot>
      %b = ttg.local_alloc %y : (tensor<32x256xf16, #blocked>) -> !ttg.memdesc<32x256xf16, #wide, #smem>
      %d = ttnvgpu.warp_group_dot %a, %b, %acc {inputPrecision = 0 : i32} : tensor<128x32xf16, #dot> * !ttg.memdesc<32x256xf16, #wide, #smem> -> tensor<128x256xf32, #mma>
      scf.yield %d : tensor<128x256xf32, #mma>
    }
    tt.return %r : tensor<128x256xf32, #mma>
  }

  // Two blocks of half the size share a multiprocessor: each reads what it needs
  // when it needs it.
  // CHECK-LABEL: @shared_multiprocessor
  // CHECK: scf.for
  // CHECK:   ttg.local_load
  // CHECK:   ttnvgpu.warp_group_dot {{.*}}isAsync = true
  // CHECK-NOT: ttg.local_load
  // CHECK:   ttnvgpu.warp_group_dot_wait
  // CHECK-NOT: ttg.local_load
  // CHECK:   scf.yield
  tt.func @shared_multiprocessor(%p: tensor<128x32x!tt.ptr<f16>, #blocked>, %o: tensor<128x32xi32, #blocked>, %pb: tensor<32x128x!tt.ptr<f16>, #blocked>, %ob: tensor<32x128xi32, #blocked>, %n: i32) -> tensor<128x128xf32, #half> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128x128xf32, #half>
    %q = tt.addptr %p, %o {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<[16, 16]> : tensor<2xi32>} : tensor<128x32x!tt.ptr<f16>, #blocked>, tensor<128x32xi32, #blocked>
    %qb = tt.addptr %pb, %ob {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<[16, 16]> : tensor<2xi32>} : tensor<32x128x!tt.ptr<f16>, #blocked>, tensor<32x128xi32, #blocked>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32, #half>) : i32 {
      %x = tt.load %q : tensor<128x32x!tt.ptr<f16>, #blocked>
      %y = tt.load %qb : tensor<32x128x!tt.ptr<f16>, #blocked>
      %a = ttg.convert_layout %x : tensor<128x32xf16, #blocked> -> tensor<128x32xf16, #half_dot>
      %b = ttg.local_alloc %y : (tensor<32x128xf16, #blocked>) -> !ttg.memdesc<32x128xf16, #wide, #smem>
      %d = ttnvgpu.warp_group_dot %a, %b, %acc {inputPrecision = 0 : i32} : tensor<128x32xf16, #half_dot> * !ttg.memdesc<32x128xf16, #wide, #smem> -> tensor<128x128xf32, #half>
      scf.yield %d : tensor<128x128xf32, #half>
    }
    tt.return %r : tensor<128x128xf32, #half>
  }
}

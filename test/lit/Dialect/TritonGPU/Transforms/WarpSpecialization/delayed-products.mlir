// RUN: tile-opt %s -split-input-file -tritongpu-partition-loops -canonicalize -cse | filecheck %s

// The product with %v adds to a sum what the other one leads to: it runs an
// iteration late. What it multiplies goes from iteration to iteration.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#dot = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: tt.func @late
  // CHECK: default {
  // CHECK: %[[ANY:.*]] = arith.cmpi sgt, %{{.*}}, %c0_i32
  // CHECK: scf.if %[[ANY]]
  // The first scores.
  // CHECK: ttnvgpu.wait_barrier %{{.*}}, %{{.*}} deps %[[K:[^ ]*]] :
  // CHECK: ttnvgpu.warp_group_dot %{{.*}} -> tensor<64x64xf32
  // CHECK: ttnvgpu.arrive_barrier
  // CHECK: %[[FIRST:.*]] = arith.truncf
  // CHECK: ttnvgpu.wait_barrier %{{.*}}, %{{.*}}, %{{.*}} deps %[[K]] :
  // CHECK: %[[L:.*]]:6 = scf.for %[[COUNTER:.*]] = %c64_i32 to %[[HIGH:.*]] step {{.*}} iter_args(%[[SUM:[^ ]*]] = %{{.*}} %[[W:[^ ]*]] = %[[FIRST]],
  // CHECK: %[[S:.*]] = ttnvgpu.warp_group_dot {{.*}}isAsync = true
  // CHECK: %[[SCALED:.*]] = arith.addf %[[SUM]]
  // CHECK: %[[OPERAND:.*]] = ttg.convert_layout %[[W]]
  // CHECK: ttnvgpu.wait_barrier %{{.*}} deps %[[V:[^ ]*]] :
  // CHECK: %[[P:.*]] = ttnvgpu.warp_group_dot %[[OPERAND]], %{{.*}}, %[[SCALED]] {{.*}}isAsync = true
  // CHECK: %[[SW:.*]]:3 = ttnvgpu.warp_group_dot_wait %[[S]], {{.*}}pendings = 1
  // CHECK: ttnvgpu.arrive_barrier
  // CHECK: %[[E:.*]] = math.exp2 %[[SW]]#0
  // CHECK: %[[NEXT:.*]] = arith.truncf %[[E]]
  // Of the next iteration, if there is one.
  // CHECK: %[[MORE:.*]] = arith.cmpi slt, %[[COUNTER]], %{{.*}}
  // CHECK: ttnvgpu.wait_barrier %{{.*}}, %{{.*}}, %[[MORE]] deps %[[K]] :
  // CHECK: %[[PW:.*]]:3 = ttnvgpu.warp_group_dot_wait %[[P]], %[[OPERAND]], {{.*}}pendings = 0
  // CHECK: ttnvgpu.arrive_barrier
  // CHECK: scf.yield %[[PW]]#0, {{.*}}%[[NEXT]],
  // The last product.
  // CHECK: %[[LAST:.*]] = arith.addf %[[L]]#0
  // CHECK: ttnvgpu.warp_group_dot %{{.*}}, %{{.*}}, %[[LAST]]
  // CHECK: ttnvgpu.arrive_barrier
  // CHECK: scf.yield
  tt.func @late(%q: !ttg.memdesc<64x64xf16, #shared, #smem>, %kd: !tt.tensordesc<tensor<64x64xf16, #shared>>, %vd: !tt.tensordesc<tensor<64x64xf16, #shared>>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %r = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %k = tt.descriptor_load %kd[%c0, %i] {ttg.partition = 0 : i32} : !tt.tensordesc<tensor<64x64xf16, #shared>> -> tensor<64x64xf16, #blocked>
      %v = tt.descriptor_load %vd[%i, %c0] {ttg.partition = 0 : i32} : !tt.tensordesc<tensor<64x64xf16, #shared>> -> tensor<64x64xf16, #blocked>
      %km = ttg.local_alloc %k : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %s = ttnvgpu.warp_group_dot %q, %km, %zero {inputPrecision = 0 : i32} : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
      %e = math.exp2 %s : tensor<64x64xf32, #mma>
      %w = arith.truncf %e : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
      %a = arith.addf %acc, %acc : tensor<64x64xf32, #mma>
      %wd = ttg.convert_layout %w : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #dot>
      %vm = ttg.local_alloc %v : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %d = ttnvgpu.warp_group_dot %wd, %vm, %a {inputPrecision = 0 : i32} : tensor<64x64xf16, #dot> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
      scf.yield %d : tensor<64x64xf32, #mma>
    } {tt.num_stages = 3 : i32, tt.warp_specialize}
    tt.return %r : tensor<64x64xf32, #mma>
  }
}

// -----

// The sum is looked at in its iteration: nothing runs late.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#dot = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: tt.func @looked_at
  // CHECK: default {
  // CHECK-NOT: pendings = 1
  // CHECK: ttg.warp_yield
  tt.func @looked_at(%q: !ttg.memdesc<64x64xf16, #shared, #smem>, %kd: !tt.tensordesc<tensor<64x64xf16, #shared>>, %n: i32) -> (tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>) {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %r:2 = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zero, %most = %zero) -> (tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>) : i32 {
      %k = tt.descriptor_load %kd[%c0, %i] {ttg.partition = 0 : i32} : !tt.tensordesc<tensor<64x64xf16, #shared>> -> tensor<64x64xf16, #blocked>
      %km = ttg.local_alloc %k : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %s = ttnvgpu.warp_group_dot %q, %km, %zero {inputPrecision = 0 : i32} : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
      %w = arith.truncf %s : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
      %wd = ttg.convert_layout %w : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #dot>
      %d = ttnvgpu.warp_group_dot %wd, %km, %acc {inputPrecision = 0 : i32} : tensor<64x64xf16, #dot> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
      %m = arith.maxnumf %most, %acc : tensor<64x64xf32, #mma>
      scf.yield %d, %m : tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>
    } {tt.num_stages = 3 : i32, tt.warp_specialize}
    tt.return %r#0, %r#1 : tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>
  }
}

// -----

// The second sum is computed from the first, which a late product would still
// be adding to.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#dot = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: tt.func @in_its_iteration
  // CHECK: default {
  // CHECK-NOT: pendings = {{[1-9]}}
  // CHECK: ttg.warp_yield
  tt.func @in_its_iteration(%q: !ttg.memdesc<64x64xf16, #shared, #smem>, %kd: !tt.tensordesc<tensor<64x64xf16, #shared>>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %r = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %k = tt.descriptor_load %kd[%c0, %i] {ttg.partition = 0 : i32} : !tt.tensordesc<tensor<64x64xf16, #shared>> -> tensor<64x64xf16, #blocked>
      %km = ttg.local_alloc %k : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %s = ttnvgpu.warp_group_dot %q, %km, %zero {inputPrecision = 0 : i32} : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
      %w = arith.truncf %s : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
      %wd = ttg.convert_layout %w : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #dot>
      %d = ttnvgpu.warp_group_dot %wd, %km, %acc {inputPrecision = 0 : i32} : tensor<64x64xf16, #dot> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
      %half = arith.mulf %d, %d : tensor<64x64xf32, #mma>
      %e = ttnvgpu.warp_group_dot %wd, %km, %half {inputPrecision = 0 : i32} : tensor<64x64xf16, #dot> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
      scf.yield %e : tensor<64x64xf32, #mma>
    } {tt.num_stages = 3 : i32, tt.warp_specialize}
    tt.return %r : tensor<64x64xf32, #mma>
  }
}

// RUN: tile-opt %s -split-input-file -verify-diagnostics

#blocked = #ttg.blocked<{sizePerThread = [2, 4], threadsPerWarp = [64, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
#across = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [16, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func @f(%s: tensor<512x4xf16, #blocked>) {
    // expected-error @+1 {{expected every thread to have its elements}}
    %0 = amdg.in_thread_transpose %s : tensor<512x4xf16, #blocked> -> tensor<512x4xf16, #across>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [2, 4], threadsPerWarp = [64, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func @f(%s: tensor<512x16xf16, #blocked>) {
    // expected-error @+1 {{expected a multiple of 4 below 16 as offset, found 6}}
    %0 = amdg.extract_slice %s [0, 6] : tensor<512x16xf16, #blocked> to tensor<512x4xf16, #blocked>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [2, 4], threadsPerWarp = [64, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func @f(%s: tensor<512x4xf16, #blocked>) {
    // expected-error @+1 {{expected sources that fill}}
    %0 = amdg.concat %s, %s : tensor<512x4xf16, #blocked>, tensor<512x4xf16, #blocked> -> tensor<512x16xf16, #blocked>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [2, 4], threadsPerWarp = [64, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func @f(%x: !tt.ptr<f16>, %o: tensor<512x4xi32, #blocked>, %v: tensor<512x4xf16, #blocked>) {
    // expected-error @+1 {{expected integers with add, found 'f16'}}
    %0 = amdg.buffer_atomic_rmw add, acq_rel, gpu, %v, %x[%o] : tensor<512x4xf16, #blocked>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [2, 4], threadsPerWarp = [64, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func @f(%x: !tt.ptr<f16>, %o: tensor<512x4xi32, #blocked>, %v: tensor<512x4xf16, #blocked>) {
    // expected-error @+1 {{expected elements of 32 or 64 bits, found 'f16'}}
    %0 = amdg.buffer_atomic_cas acq_rel, gpu, %v, %v, %x[%o] : tensor<512x4xf16, #blocked>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [2, 4], threadsPerWarp = [64, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func @f(%x: !tt.ptr<f16>, %o: tensor<512x4xi32, #blocked>, %v: tensor<512x4xf16, #blocked>, %d: !ttg.memdesc<512x4xf16, #shared, #smem>) {
    // expected-error @+1 {{expected a mutable destination in shared memory}}
    %0 = amdg.buffer_load_to_local %x[%o] into %d : <f16>[tensor<512x4xi32, #blocked>] -> <512x4xf16, #shared, #smem>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [2, 4], threadsPerWarp = [64, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func @f(%x: !tt.ptr<f16>, %o: tensor<512x4xi32, #blocked>, %v: tensor<512x4xf16, #blocked>, %d: !ttg.memdesc<256x4xf16, #shared, #smem, mutable>) {
    // expected-error @+1 {{expected i32 offsets of shape [256, 4], like the destination}}
    %0 = amdg.buffer_load_to_local %x[%o] into %d : <f16>[tensor<512x4xi32, #blocked>] -> <256x4xf16, #shared, #smem, mutable>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [2, 4], threadsPerWarp = [64, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func @f(%x: !tt.ptr<f16>, %o: tensor<512x4xi32, #blocked>, %v: tensor<512x4xf16, #blocked>, %d: !ttg.memdesc<512x4xf32, #shared, #smem, mutable>) {
    // expected-error @+1 {{expected a pointer to 'f32', which the destination holds}}
    %0 = amdg.buffer_load_to_local %x[%o] into %d : <f16>[tensor<512x4xi32, #blocked>] -> <512x4xf32, #shared, #smem, mutable>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [2, 4], threadsPerWarp = [64, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func @f(%x: !tt.ptr<f16>, %o: tensor<512x4xi32, #blocked>, %v: tensor<512x4xf16, #blocked>, %d: !ttg.memdesc<512x4xf16, #shared, #smem, mutable>) {
    // expected-error @+1 {{expected a mask beside the value for masked elements}}
    %0 = amdg.buffer_load_to_local %x[%o] other = %v into %d : <f16>[tensor<512x4xi32, #blocked>] tensor<512x4xf16, #blocked> -> <512x4xf16, #shared, #smem, mutable>
    tt.return
  }
}

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

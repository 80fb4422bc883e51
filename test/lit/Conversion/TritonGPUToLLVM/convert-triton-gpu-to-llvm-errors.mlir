// RUN: tile-opt %s -split-input-file -verify-diagnostics -convert-triton-gpu-to-llvm

// expected-error @below {{expected a 'ttg.target' attribute on the module}}
module attributes {"ttg.num-warps" = 4 : i32} {
}

// -----

// expected-error @below {{unknown target "cuda:12": known ones are cuda:75, cuda:80}}
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:12"} {
}

// -----

// expected-error @below {{expected 'ttg.target' of the form "cuda:<compute capability>", found "hip:gfx942"}}
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942"} {
}

// -----

// expected-error @below {{shared memory is not allocated: run -allocate-shared-memory-nv first}}
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:80"} {
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.shared = 0 : i32, ttg.target = "cuda:80"} {
tt.func @lost_result(%p: tensor<64x!tt.ptr<i32>, #blocked>, %v: tensor<64xi32, #blocked>) {
  // expected-error @below {{failed to legalize operation 'tt.atomic_rmw'}}
  // expected-note @below {{the old values are used and the layout repeats them in several threads}}
  %0 = tt.atomic_rmw add, relaxed, gpu, %p, %v : (tensor<64x!tt.ptr<i32>, #blocked>, tensor<64xi32, #blocked>) -> tensor<64xi32, #blocked>
  tt.store %p, %0 : tensor<64x!tt.ptr<i32>, #blocked>
  tt.return
}
}

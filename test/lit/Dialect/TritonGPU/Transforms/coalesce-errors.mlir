// RUN: tile-opt %s -verify-diagnostics -tritongpu-coalesce -o %t

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
tt.func @no_machine(%p: tensor<128x!tt.ptr<f32>, #blocked>) {
  // expected-error@below {{'tt.load' op is in a module without 'ttg.num-warps'; run 'convert-triton-to-tritongpu' first}}
  %0 = tt.load %p : tensor<128x!tt.ptr<f32>, #blocked>
  tt.return
}

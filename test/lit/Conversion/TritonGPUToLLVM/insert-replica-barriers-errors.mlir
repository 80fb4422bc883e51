// RUN: tile-opt %s -verify-diagnostics -insert-replica-barriers

module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32} {
tt.func @no_layout(%p: !tt.ptr<i32>) {
  // expected-error @below {{expected every tensor to have a layout, found 'tensor<32x!tt.ptr<i32>>'}}
  %0 = tt.splat %p : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>>
  %1 = tt.load %0 : tensor<32x!tt.ptr<i32>>
  tt.return
}
}

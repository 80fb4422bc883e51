// RUN: tile-opt %s | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @open
  tt.func @open(%p: !tt.ptr<f32>) {
    // CHECK: tt.make_range {{.*}} : tensor<128xi32, #gluon.auto_encoding>
    %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #gluon.auto_encoding>
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #gluon.auto_encoding>
    %q = tt.addptr %s, %i : tensor<128x!tt.ptr<f32>, #gluon.auto_encoding>, tensor<128xi32, #gluon.auto_encoding>
    %v = tt.load %q : tensor<128x!tt.ptr<f32>, #gluon.auto_encoding>
    // CHECK: gluon.set_auto_layout %{{.*}} : tensor<128xf32, #gluon.auto_encoding> -> tensor<128xf32, #blocked>
    %w = gluon.set_auto_layout %v : tensor<128xf32, #gluon.auto_encoding> -> tensor<128xf32, #blocked>
    // CHECK: tt.expand_dims %{{.*}} {axis = 0 : i32} : tensor<128xi32, #gluon.coalesced_encoding> -> tensor<1x128xi32, #gluon.coalesced_encoding>
    %j = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #gluon.coalesced_encoding>
    %k = tt.expand_dims %j {axis = 0 : i32} : tensor<128xi32, #gluon.coalesced_encoding> -> tensor<1x128xi32, #gluon.coalesced_encoding>
    %b = tt.broadcast %k : tensor<1x128xi32, #gluon.coalesced_encoding> -> tensor<16x128xi32, #gluon.coalesced_encoding>
    tt.return
  }
}

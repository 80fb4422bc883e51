// RUN: tile-opt %s -split-input-file -gluon-resolve-auto-encodings -verify-diagnostics

#one = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#four = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @two_layouts() -> (tensor<512xi32, #one>, tensor<512xi32, #four>) {
    // expected-note@+1 {{the tensor is made here; say its layout, or convert it with convert_layout for one of the uses}}
    %0 = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #gluon.auto_encoding>
    // expected-note@+1 {{and this one wants #ttg.blocked<{sizePerThread = [1]}}
    %1 = gluon.set_auto_layout %0 : tensor<512xi32, #gluon.auto_encoding> -> tensor<512xi32, #one>
    // expected-error@+1 {{the layout of a tensor is left open, and two uses of it want different ones; this one wants #ttg.blocked<{sizePerThread = [4]}}
    %2 = gluon.set_auto_layout %0 : tensor<512xi32, #gluon.auto_encoding> -> tensor<512xi32, #four>
    tt.return %1, %2 : tensor<512xi32, #one>, tensor<512xi32, #four>
  }
}

// -----

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @nothing_decides(%p: !tt.ptr<i32>) {
    // expected-error@+1 {{the layout of this tensor is left open, and nothing decides it: give it one, or use it together with a tensor that has one}}
    %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #gluon.auto_encoding>
    %1 = tt.splat %p : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>, #gluon.auto_encoding>
    %2 = tt.addptr %1, %0 : tensor<64x!tt.ptr<i32>, #gluon.auto_encoding>, tensor<64xi32, #gluon.auto_encoding>
    tt.store %2, %0 : tensor<64x!tt.ptr<i32>, #gluon.auto_encoding>
    tt.return
  }
}

// RUN: tile-opt %s -gluon-infer-coalesced-encodings | filecheck %s

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-DAG: #[[W:.+]] = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
  // CHECK-DAG: #[[N:.+]] = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>

  // The address is a multiple of 16 bytes: four elements for each thread, and so for the store.
  // CHECK-LABEL: tt.func @wide
  // CHECK: tt.make_range {{.*}} : tensor<1024xi32, #[[W]]>
  // CHECK: tt.load %{{.*}} : tensor<1024x!tt.ptr<f32>, #[[W]]>
  // CHECK: tt.store %{{.*}} : tensor<1024x!tt.ptr<f32>, #[[W]]>
  tt.func @wide(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32>) {
    %0 = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #gluon.coalesced_encoding>
    %1 = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #gluon.coalesced_encoding>
    %2 = tt.addptr %1, %0 : tensor<1024x!tt.ptr<f32>, #gluon.coalesced_encoding>, tensor<1024xi32, #gluon.coalesced_encoding>
    %3 = tt.load %2 : tensor<1024x!tt.ptr<f32>, #gluon.coalesced_encoding>
    %4 = tt.splat %q : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #gluon.coalesced_encoding>
    %5 = tt.addptr %4, %0 : tensor<1024x!tt.ptr<f32>, #gluon.coalesced_encoding>, tensor<1024xi32, #gluon.coalesced_encoding>
    tt.store %5, %3 : tensor<1024x!tt.ptr<f32>, #gluon.coalesced_encoding>
    tt.return
  }

  // CHECK-LABEL: tt.func @narrow
  // CHECK: tt.load %{{.*}} : tensor<1024x!tt.ptr<f32>, #[[N]]>
  // CHECK: ttg.convert_layout %{{.*}} : tensor<1024xf32, #[[N]]> -> tensor<1024xf32, #[[W]]>
  tt.func @narrow(%p: !tt.ptr<f32>) -> tensor<1024xf32, #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>> {
    %0 = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #gluon.coalesced_encoding>
    %1 = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #gluon.coalesced_encoding>
    %2 = tt.addptr %1, %0 : tensor<1024x!tt.ptr<f32>, #gluon.coalesced_encoding>, tensor<1024xi32, #gluon.coalesced_encoding>
    %3 = tt.load %2 : tensor<1024x!tt.ptr<f32>, #gluon.coalesced_encoding>
    %4 = ttg.convert_layout %3 : tensor<1024xf32, #gluon.coalesced_encoding> -> tensor<1024xf32, #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>>
    tt.return %4 : tensor<1024xf32, #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>>
  }
}

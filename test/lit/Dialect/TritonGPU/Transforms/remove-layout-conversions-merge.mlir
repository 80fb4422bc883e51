// RUN: tile-opt %s -split-input-file -tritongpu-remove-layout-conversions | filecheck %s

// Slices of two layouts give each thread the same elements: the pages of rows
// of keys are those of columns of their transpose, and are read once.

#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#ofRows = #ttg.slice<{dim = 1, parent = #rows}>
#ofColumns = #ttg.slice<{dim = 0, parent = #columns}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @pages
// CHECK: tt.load {{.*}} : tensor<32x!tt.ptr<i32>
// CHECK-NOT: tensor<32x!tt.ptr<i32>
// CHECK: tt.return
tt.func @pages(%pages: !tt.ptr<i32>, %p: !tt.ptr<f16>, %n: i32) -> (tensor<32x64xf16, #rows>, tensor<64x32xf16, #columns>) {
  %ra = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ofRows>
  %rb = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ofColumns>
  %na = tt.splat %n : i32 -> tensor<32xi32, #ofRows>
  %nb = tt.splat %n : i32 -> tensor<32xi32, #ofColumns>
  %za = arith.constant dense<0> : tensor<32xi32, #ofRows>
  %zb = arith.constant dense<0> : tensor<32xi32, #ofColumns>
  %ma = arith.cmpi slt, %ra, %na : tensor<32xi32, #ofRows>
  %mb = arith.cmpi slt, %rb, %nb : tensor<32xi32, #ofColumns>
  %sa = tt.splat %pages : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>, #ofRows>
  %sb = tt.splat %pages : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>, #ofColumns>
  %pa = tt.addptr %sa, %ra : tensor<32x!tt.ptr<i32>, #ofRows>, tensor<32xi32, #ofRows>
  %pb = tt.addptr %sb, %rb : tensor<32x!tt.ptr<i32>, #ofColumns>, tensor<32xi32, #ofColumns>
  %a = tt.load %pa, %ma, %za : tensor<32x!tt.ptr<i32>, #ofRows>
  %b = tt.load %pb, %mb, %zb : tensor<32x!tt.ptr<i32>, #ofColumns>
  %xa = tt.expand_dims %a {axis = 1 : i32} : tensor<32xi32, #ofRows> -> tensor<32x1xi32, #rows>
  %xb = tt.expand_dims %b {axis = 0 : i32} : tensor<32xi32, #ofColumns> -> tensor<1x32xi32, #columns>
  %ya = tt.broadcast %xa : tensor<32x1xi32, #rows> -> tensor<32x64xi32, #rows>
  %yb = tt.broadcast %xb : tensor<1x32xi32, #columns> -> tensor<64x32xi32, #columns>
  %ka = tt.splat %p : !tt.ptr<f16> -> tensor<32x64x!tt.ptr<f16>, #rows>
  %kb = tt.splat %p : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>, #columns>
  %la = tt.addptr %ka, %ya : tensor<32x64x!tt.ptr<f16>, #rows>, tensor<32x64xi32, #rows>
  %lb = tt.addptr %kb, %yb : tensor<64x32x!tt.ptr<f16>, #columns>, tensor<64x32xi32, #columns>
  %u = tt.load %la : tensor<32x64x!tt.ptr<f16>, #rows>
  %v = tt.load %lb : tensor<64x32x!tt.ptr<f16>, #columns>
  tt.return %u, %v : tensor<32x64xf16, #rows>, tensor<64x32xf16, #columns>
}
}

// -----

// Another default, or a store between the two, and both are read.

#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#ofRows = #ttg.slice<{dim = 1, parent = #rows}>
#ofColumns = #ttg.slice<{dim = 0, parent = #columns}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @defaults
// CHECK-COUNT-2: tt.load
tt.func @defaults(%pages: !tt.ptr<i32>, %mask: i1) -> (tensor<32x1xi32, #rows>, tensor<1x32xi32, #columns>) {
  %za = arith.constant dense<0> : tensor<32xi32, #ofRows>
  %zb = arith.constant dense<1> : tensor<32xi32, #ofColumns>
  %ra = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ofRows>
  %rb = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ofColumns>
  %ma = tt.splat %mask : i1 -> tensor<32xi1, #ofRows>
  %mb = tt.splat %mask : i1 -> tensor<32xi1, #ofColumns>
  %sa = tt.splat %pages : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>, #ofRows>
  %sb = tt.splat %pages : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>, #ofColumns>
  %pa = tt.addptr %sa, %ra : tensor<32x!tt.ptr<i32>, #ofRows>, tensor<32xi32, #ofRows>
  %pb = tt.addptr %sb, %rb : tensor<32x!tt.ptr<i32>, #ofColumns>, tensor<32xi32, #ofColumns>
  %a = tt.load %pa, %ma, %za : tensor<32x!tt.ptr<i32>, #ofRows>
  %b = tt.load %pb, %mb, %zb : tensor<32x!tt.ptr<i32>, #ofColumns>
  %xa = tt.expand_dims %a {axis = 1 : i32} : tensor<32xi32, #ofRows> -> tensor<32x1xi32, #rows>
  %xb = tt.expand_dims %b {axis = 0 : i32} : tensor<32xi32, #ofColumns> -> tensor<1x32xi32, #columns>
  tt.return %xa, %xb : tensor<32x1xi32, #rows>, tensor<1x32xi32, #columns>
}

// CHECK-LABEL: @stored_between
// CHECK-COUNT-2: tt.load
tt.func @stored_between(%pages: !tt.ptr<i32>, %n: i32) -> (tensor<32x1xi32, #rows>, tensor<1x32xi32, #columns>) {
  %ra = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ofRows>
  %rb = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ofColumns>
  %sa = tt.splat %pages : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>, #ofRows>
  %sb = tt.splat %pages : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>, #ofColumns>
  %pa = tt.addptr %sa, %ra : tensor<32x!tt.ptr<i32>, #ofRows>, tensor<32xi32, #ofRows>
  %pb = tt.addptr %sb, %rb : tensor<32x!tt.ptr<i32>, #ofColumns>, tensor<32xi32, #ofColumns>
  %a = tt.load %pa : tensor<32x!tt.ptr<i32>, #ofRows>
  tt.store %pages, %n : !tt.ptr<i32>
  %b = tt.load %pb : tensor<32x!tt.ptr<i32>, #ofColumns>
  %xa = tt.expand_dims %a {axis = 1 : i32} : tensor<32xi32, #ofRows> -> tensor<32x1xi32, #rows>
  %xb = tt.expand_dims %b {axis = 0 : i32} : tensor<32xi32, #ofColumns> -> tensor<1x32xi32, #columns>
  tt.return %xa, %xb : tensor<32x1xi32, #rows>, tensor<1x32xi32, #columns>
}
}

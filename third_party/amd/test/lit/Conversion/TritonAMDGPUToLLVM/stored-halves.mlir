// Halves of two loads that lie side by side in LDS are written from where they are, without copies.
// With 32 banks of LDS, such writes would meet: one of 16 bytes takes copies.
// RUN: tile-opt %s -split-input-file -tile-amd-llir -tile-amd-amdgcn -o /dev/null | filecheck %s
// RUN: sed s/gfx950/gfx942/ %s | tile-opt -split-input-file -tile-amd-llir -tile-amd-amdgcn -o /dev/null | filecheck %s -check-prefix=BANKS32

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
#loaded = #ttg.linear<{register = [[1], [2], [4], [8]], lane = [[16], [32], [64], [128], [256], [512]], warp = [], block = []}>
#split = #ttg.linear<{register = [[0, 0, 0, 1], [0, 0, 0, 2], [0, 0, 1, 0], [0, 1, 0, 0]], lane = [[1, 0, 0, 0], [2, 0, 0, 0], [4, 0, 0, 0], [8, 0, 0, 0], [16, 0, 0, 0], [32, 0, 0, 0]], warp = [], block = []}>
#turned = #ttg.linear<{register = [[0, 0, 0, 1], [0, 0, 0, 2], [0, 1, 0, 0], [0, 0, 1, 0]], lane = [[1, 0, 0, 0], [2, 0, 0, 0], [4, 0, 0, 0], [8, 0, 0, 0], [16, 0, 0, 0], [32, 0, 0, 0]], warp = [], block = []}>
#stored = #ttg.linear<{register = [[1], [2], [8], [4]], lane = [[16], [32], [64], [128], [256], [512]], warp = [], block = []}>
#result = #ttg.blocked<{sizePerThread = [16], threadsPerWarp = [64], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "hip:gfx950", "ttg.threads-per-warp" = 64 : i32} {
  // BANKS32-LABEL: halves:
  // BANKS32: ds_write_b128
  // BANKS32-NOT: ds_write2_b64
  // BANKS32: .amdhsa_kernel halves
  // CHECK-LABEL: halves:
  // CHECK: global_load_dwordx4 v[0:3]
  // CHECK: global_load_dwordx4 v[4:7]
  // CHECK-NOT: v_mov_b32
  // CHECK: ds_write2_b64 v{{[0-9]+}}, v[0:1], v[4:5] offset1:1
  // CHECK-NOT: v_mov_b32
  // CHECK: ds_write2_b64 v{{[0-9]+}}, v[2:3], v[6:7] offset0:2 offset1:3
  // CHECK: .amdhsa_kernel halves
  tt.func public @halves(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
    %range = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #loaded>
    %xs = tt.splat %x : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>, #loaded>
    %px = tt.addptr %xs, %range : tensor<1024x!tt.ptr<f16>, #loaded>, tensor<1024xi32, #loaded>
    %v = tt.load %px : tensor<1024x!tt.ptr<f16>, #loaded>
    %split = tt.reshape %v : tensor<1024xf16, #loaded> -> tensor<64x2x2x4xf16, #split>
    %turned = tt.trans %split {order = array<i32: 0, 2, 1, 3>} : tensor<64x2x2x4xf16, #split> -> tensor<64x2x2x4xf16, #turned>
    %flat = tt.reshape %turned : tensor<64x2x2x4xf16, #turned> -> tensor<1024xf16, #stored>
    %memory = ttg.local_alloc %flat : (tensor<1024xf16, #stored>) -> !ttg.memdesc<1024xf16, #shared, #smem>
    %w = ttg.local_load %memory : !ttg.memdesc<1024xf16, #shared, #smem> -> tensor<1024xf16, #result>
    %out = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #result>
    %ys = tt.splat %y : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>, #result>
    %py = tt.addptr %ys, %out : tensor<1024x!tt.ptr<f16>, #result>, tensor<1024xi32, #result>
    tt.store %py, %w : tensor<1024x!tt.ptr<f16>, #result>
    tt.return
  }
}

// -----

// What a load brought goes as it is.
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
#loaded = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [64], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "hip:gfx950", "ttg.threads-per-warp" = 64 : i32} {
  // CHECK-LABEL: whole:
  // CHECK: ds_write_b128
  // CHECK-NOT: ds_write2_b64
  // CHECK: .amdhsa_kernel whole
  tt.func public @whole(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
    %range = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #loaded>
    %xs = tt.splat %x : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>, #loaded>
    %px = tt.addptr %xs, %range : tensor<1024x!tt.ptr<f16>, #loaded>, tensor<1024xi32, #loaded>
    %v = tt.load %px : tensor<1024x!tt.ptr<f16>, #loaded>
    %memory = ttg.local_alloc %v : (tensor<1024xf16, #loaded>) -> !ttg.memdesc<1024xf16, #shared, #smem>
    %w = ttg.local_load %memory : !ttg.memdesc<1024xf16, #shared, #smem> -> tensor<1024xf16, #loaded>
    tt.store %px, %w : tensor<1024x!tt.ptr<f16>, #loaded>
    tt.return
  }
}

// RUN: tile-opt %s -tile-nvidia-llir -tile-nvidia-ptx -o %t.mlir | filecheck %s

#fours = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>

module attributes {"ttg.num-warps" = 1 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"} {
// A thread cannot hold 512 elements of two tensors. What it loads goes to the
// product at once.
// CHECK-LABEL: .visible .entry many(
// CHECK-COUNT-4: ld.global.v4.b32
// CHECK-NOT: ld.global
// CHECK: mul.f32
// CHECK: ld.global.v4.b32
tt.func public @many(%a0: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %b0: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %r: !tt.ptr<f32>, %n: i32 {tt.divisibility = 16 : i32}) {
  %range = tt.make_range {end = 16384 : i32, start = 0 : i32} : tensor<16384xi32, #fours>
  %a1 = tt.splat %a0 : !tt.ptr<f32> -> tensor<16384x!tt.ptr<f32>, #fours>
  %b1 = tt.splat %b0 : !tt.ptr<f32> -> tensor<16384x!tt.ptr<f32>, #fours>
  %p = tt.addptr %a1, %range : tensor<16384x!tt.ptr<f32>, #fours>, tensor<16384xi32, #fours>
  %q = tt.addptr %b1, %range : tensor<16384x!tt.ptr<f32>, #fours>, tensor<16384xi32, #fours>
  %bound = tt.splat %n : i32 -> tensor<16384xi32, #fours>
  %mask = arith.cmpi slt, %range, %bound : tensor<16384xi32, #fours>
  %x = tt.load %p, %mask : tensor<16384x!tt.ptr<f32>, #fours>
  %y = tt.load %q, %mask : tensor<16384x!tt.ptr<f32>, #fours>
  %z = arith.mulf %x, %y : tensor<16384xf32, #fours>
  %sum = "tt.reduce"(%z) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.reduce.return %s : f32
  }) : (tensor<16384xf32, #fours>) -> f32
  tt.store %r, %sum : !tt.ptr<f32>
  tt.return
}

// 64 elements of each fit. All of one tensor are on their way at once.
// CHECK-LABEL: .visible .entry few(
// CHECK-NOT: mul.f32
// CHECK-COUNT-17: ld.global.v4.b32
// CHECK: mul.f32
tt.func public @few(%a0: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %b0: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %r: !tt.ptr<f32>, %n: i32 {tt.divisibility = 16 : i32}) {
  %range = tt.make_range {end = 2048 : i32, start = 0 : i32} : tensor<2048xi32, #fours>
  %a1 = tt.splat %a0 : !tt.ptr<f32> -> tensor<2048x!tt.ptr<f32>, #fours>
  %b1 = tt.splat %b0 : !tt.ptr<f32> -> tensor<2048x!tt.ptr<f32>, #fours>
  %p = tt.addptr %a1, %range : tensor<2048x!tt.ptr<f32>, #fours>, tensor<2048xi32, #fours>
  %q = tt.addptr %b1, %range : tensor<2048x!tt.ptr<f32>, #fours>, tensor<2048xi32, #fours>
  %bound = tt.splat %n : i32 -> tensor<2048xi32, #fours>
  %mask = arith.cmpi slt, %range, %bound : tensor<2048xi32, #fours>
  %x = tt.load %p, %mask : tensor<2048x!tt.ptr<f32>, #fours>
  %y = tt.load %q, %mask : tensor<2048x!tt.ptr<f32>, #fours>
  %z = arith.mulf %x, %y : tensor<2048xf32, #fours>
  %sum = "tt.reduce"(%z) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.reduce.return %s : f32
  }) : (tensor<2048xf32, #fours>) -> f32
  tt.store %r, %sum : !tt.ptr<f32>
  tt.return
}
}

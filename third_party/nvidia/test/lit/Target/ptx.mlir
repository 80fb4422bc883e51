// RUN: tile-opt %s -tile-nvidia-llir -tile-nvidia-ptx -o %t.mlir | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>

module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:80"} {

// No debug code: ptxas would not optimise it.
// CHECK: .version 7.4
// CHECK-NEXT: .target sm_80
// CHECK-NOT: debug
// CHECK: .visible .entry add(
// CHECK: .param .u64 .ptr .global .align 16 add_param_0
// CHECK: .reqntid 128
// CHECK: @%p{{[0-9]+}} ld.global.v4.b32
// CHECK: add.{{(rn.)?}}f32
// CHECK: @%p{{[0-9]+}} st.global.v4.b32
// CHECK: ret;
tt.func public @add(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}) {
  %i = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #blocked>
  %n1 = tt.splat %n : i32 -> tensor<512xi32, #blocked>
  %mask = arith.cmpi slt, %i, %n1 : tensor<512xi32, #blocked>
  %0 = tt.splat %p : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #blocked>
  %1 = tt.addptr %0, %i : tensor<512x!tt.ptr<f32>, #blocked>, tensor<512xi32, #blocked>
  %2 = tt.load %1, %mask : tensor<512x!tt.ptr<f32>, #blocked>
  %3 = arith.addf %2, %2 : tensor<512xf32, #blocked>
  tt.store %1, %3, %mask : tensor<512x!tt.ptr<f32>, #blocked>
  tt.return
}
}

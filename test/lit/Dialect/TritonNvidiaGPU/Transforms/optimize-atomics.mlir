// RUN: tile-opt %s -triton-nvidia-optimize-atomics | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#column = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [16, 2], warpsPerCTA = [1, 4], order = [0, 1]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#narrow = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8, 16]}>
// Neighbouring threads of a warp change the pairs that they have of every other
// eight columns.
// CHECK-DAG: #[[WIDE:.*]] = #ttg.linear<{register = {{\[\[}}0, 1], [0, 2], [8, 0], [0, 16], [0, 32]], lane = {{\[\[}}0, 8], [0, 4], [1, 0], [2, 0], [4, 0]], warp = {{\[\[}}16, 0], [32, 0]], block = []}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @rows
  // CHECK-SAME: [[SUM:%.*]]: tensor<64x64xf32, #mma>
  // CHECK-DAG: [[P:%.*]] = ttg.convert_layout %{{.*}} -> tensor<64x64x!tt.ptr<f32>, #[[WIDE]]>
  // CHECK-DAG: [[V:%.*]] = ttg.convert_layout [[SUM]] : tensor<64x64xf32, #mma> -> tensor<64x64xf32, #[[WIDE]]>
  // CHECK-DAG: [[M:%.*]] = ttg.convert_layout %{{.*}} -> tensor<64x64xi1, #[[WIDE]]>
  // CHECK: tt.atomic_rmw fadd, relaxed, gpu, [[P]], [[V]], [[M]]
  tt.func @rows(%sum: tensor<64x64xf32, #mma>, %p: tensor<64x64x!tt.ptr<f32>, #blocked>, %m: tensor<64x64xi1, #blocked>) {
    %v = ttg.convert_layout %sum : tensor<64x64xf32, #mma> -> tensor<64x64xf32, #blocked>
    %old = tt.atomic_rmw fadd, relaxed, gpu, %p, %v, %m : (tensor<64x64x!tt.ptr<f32>, #blocked>, tensor<64x64xf32, #blocked>, tensor<64x64xi1, #blocked>) -> tensor<64x64xf32, #blocked>
    tt.return
  }

  // A use of the old values wants their layout; neighbours along columns, and
  // more than there are columns, do not come together by such exchanges.
  // CHECK-LABEL: @others
  // CHECK: tt.atomic_rmw {{.*}} -> tensor<64x64xf32, #blocked>
  // CHECK: tt.atomic_rmw {{.*}} -> tensor<64x64xf32, #blocked1>
  // CHECK: tt.atomic_rmw {{.*}} -> tensor<64x8xf32, #blocked>
  tt.func @others(%sum: tensor<64x64xf32, #mma>, %p: tensor<64x64x!tt.ptr<f32>, #blocked>, %m: tensor<64x64xi1, #blocked>, %q: tensor<64x64x!tt.ptr<f32>, #column>, %n: tensor<64x64xi1, #column>, %few: tensor<64x8xf32, #narrow>, %r: tensor<64x8x!tt.ptr<f32>, #blocked>, %l: tensor<64x8xi1, #blocked>) -> tensor<64x64xf32, #blocked> {
    %v = ttg.convert_layout %sum : tensor<64x64xf32, #mma> -> tensor<64x64xf32, #blocked>
    %old = tt.atomic_rmw fadd, relaxed, gpu, %p, %v, %m : (tensor<64x64x!tt.ptr<f32>, #blocked>, tensor<64x64xf32, #blocked>, tensor<64x64xi1, #blocked>) -> tensor<64x64xf32, #blocked>
    %c = ttg.convert_layout %sum : tensor<64x64xf32, #mma> -> tensor<64x64xf32, #column>
    %0 = tt.atomic_rmw fadd, relaxed, gpu, %q, %c, %n : (tensor<64x64x!tt.ptr<f32>, #column>, tensor<64x64xf32, #column>, tensor<64x64xi1, #column>) -> tensor<64x64xf32, #column>
    %f = ttg.convert_layout %few : tensor<64x8xf32, #narrow> -> tensor<64x8xf32, #blocked>
    %1 = tt.atomic_rmw fadd, relaxed, gpu, %r, %f, %l : (tensor<64x8x!tt.ptr<f32>, #blocked>, tensor<64x8xf32, #blocked>, tensor<64x8xi1, #blocked>) -> tensor<64x8xf32, #blocked>
    tt.return %old : tensor<64x64xf32, #blocked>
  }
}

// RUN: tile-opt %s -triton-undefined-lanes | filecheck %s

// What a debugger shows matters to nobody: only the second load is listed.
// CHECK: tt.undefined_loads = ["9:3
tt.func @shown(%p: tensor<64x!tt.ptr<f32>>, %m: tensor<64xi1>, %out: tensor<64x!tt.ptr<f32>>) {
  %x = tt.load %p, %m : tensor<64x!tt.ptr<f32>> loc("k.py":8:3)
  debug.value "x" "fp32" = %x : tensor<64xf32>
  tt.store %out, %x, %m : tensor<64x!tt.ptr<f32>>
  %y = tt.load %p, %m : tensor<64x!tt.ptr<f32>> loc("k.py":9:3)
  tt.store %out, %y : tensor<64x!tt.ptr<f32>>
  tt.return
}

// Of a loop with loads, a mask, a branch and a store, a product is left.
// RUN: tile-reduce %s -reduce-kernel='test=%S/Inputs/has-dot.sh' -o %t && filecheck %s <%t
// RUN: grep -c . %t | filecheck %s --check-prefix=LINES
// CHECK-NOT: scf.
// CHECK-NOT: tt.load
// CHECK-NOT: tt.store
// CHECK: tt.dot
// CHECK-NOT: tt.store
// LINES: {{^([0-9]|1[0-2])$}}
tt.func @kernel(%p: !tt.ptr<f16>, %out: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %pointers = tt.splat %p : !tt.ptr<f16> -> tensor<16x16x!tt.ptr<f16>>
  %range = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %row = tt.expand_dims %range {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %offsets = tt.broadcast %row : tensor<1x16xi32> -> tensor<16x16xi32>
  %at = tt.addptr %pointers, %offsets : tensor<16x16x!tt.ptr<f16>>, tensor<16x16xi32>
  %limit = tt.splat %n : i32 -> tensor<16x16xi32>
  %mask = arith.cmpi slt, %offsets, %limit : tensor<16x16xi32>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32>) : i32 {
    %a = tt.load %at, %mask : tensor<16x16x!tt.ptr<f16>>
    %b = tt.load %at, %mask : tensor<16x16x!tt.ptr<f16>>
    %d = tt.dot %a, %b, %acc : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
    scf.yield %d : tensor<16x16xf32>
  }
  %cond = arith.cmpi sgt, %n, %c1 : i32
  scf.if %cond {
    %o = tt.splat %out : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
    %oo = tt.addptr %o, %offsets : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
    tt.store %oo, %sum, %mask : tensor<16x16x!tt.ptr<f32>>
  }
  tt.return
}

// RUN: tile-opt %s -split-input-file -triton-undefined-lanes | filecheck %s
// RUN: tile-opt %s -split-input-file -triton-undefined-lanes=fill=true | filecheck %s --check-prefix=FILL

// A sum takes in what the mask switches off. The place is that of the load, not
// of the call that it was inlined from.
// CHECK: module attributes {tt.undefined_loads = ["7:3 sum.py"]}
// FILL-LABEL: @sum
// FILL: %[[NAN:.*]] = arith.constant dense<0x7FC00000>
// FILL: tt.load %{{.*}}, %{{.*}}, %[[NAN]]
tt.func @sum(%p: tensor<64x!tt.ptr<f32>>, %m: tensor<64xi1>) -> f32 {
  %x = tt.load %p, %m : tensor<64x!tt.ptr<f32>> loc(callsite("/home/me/sum.py":7:3 at "main.py":2:1))
  %s = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<64xf32>) -> f32
  tt.return %s : f32
}

// -----

// Element by element to a store under the same mask, or one that is off where
// it is: nothing can come of it.
// CHECK: module {
// FILL-LABEL: @same_mask
// FILL: tt.load %{{[^,]*}}, %{{[^,]*}} :
tt.func @same_mask(%p: tensor<64x!tt.ptr<f32>>, %q: tensor<64x!tt.ptr<f32>>, %m: tensor<64xi1>, %n: tensor<64xi1>) {
  %x = tt.load %p, %m : tensor<64x!tt.ptr<f32>> loc("k.py":1:1)
  %y = arith.mulf %x, %x : tensor<64xf32>
  %both = arith.andi %n, %m : tensor<64xi1>
  tt.store %p, %y, %m : tensor<64x!tt.ptr<f32>>
  tt.store %q, %y, %both : tensor<64x!tt.ptr<f32>>
  tt.return
}

// -----

// CHECK: module attributes {tt.undefined_loads = ["1:1 k.py", "2:1 k.py"]}
tt.func @other_mask(%p: tensor<64x!tt.ptr<i32>>, %m: tensor<64xi1>, %n: tensor<64xi1>) {
  %x = tt.load %p, %m : tensor<64x!tt.ptr<i32>> loc("k.py":1:1)
  tt.store %p, %x, %n : tensor<64x!tt.ptr<i32>>
  // FILL: %[[ONES:.*]] = arith.constant dense<-1> : tensor<64xi32>
  // FILL: tt.load %{{.*}}, %{{.*}}, %[[ONES]]
  %y = tt.load %p, %m : tensor<64x!tt.ptr<i32>> loc("k.py":2:1)
  tt.store %p, %y : tensor<64x!tt.ptr<i32>>
  tt.return
}

// -----

// What is chosen under the mask is defined; what is chosen by it alone is not.
// CHECK: module attributes {tt.undefined_loads = ["2:1 k.py"]}
tt.func @choice(%p: tensor<64x!tt.ptr<f32>>, %m: tensor<64xi1>, %z: tensor<64xf32>) {
  %x = tt.load %p, %m : tensor<64x!tt.ptr<f32>> loc("k.py":1:1)
  %y = arith.select %m, %x, %z : tensor<64xi1>, tensor<64xf32>
  tt.store %p, %y : tensor<64x!tt.ptr<f32>>
  %u = tt.load %p, %m : tensor<64x!tt.ptr<f32>> loc("k.py":2:1)
  %v = arith.select %m, %z, %u : tensor<64xi1>, tensor<64xf32>
  tt.store %p, %v : tensor<64x!tt.ptr<f32>>
  tt.return
}

// -----

// A place that has loads with another value, too, says nothing.
// CHECK: module {
tt.func @twice(%p: tensor<64x!tt.ptr<f32>>, %m: tensor<64xi1>, %z: tensor<64xf32>) {
  %x = tt.load %p, %m : tensor<64x!tt.ptr<f32>> loc("k.py":1:1)
  %y = tt.load %p, %m, %z : tensor<64x!tt.ptr<f32>> loc("k.py":1:1)
  %s = arith.addf %x, %y : tensor<64xf32>
  tt.store %p, %s : tensor<64x!tt.ptr<f32>>
  tt.return
}

// RUN: tile-opt %s -split-input-file -verify-diagnostics

tt.func @f(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{expected an axis from 0 to 1, found 2}}
  %0 = "tt.reduce"(%x) <{axis = 2 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    tt.reduce.return %a : f32
  }) : (tensor<4x4xf32>) -> tensor<4xf32>
  tt.return
}

// -----

tt.func @f(%x: tensor<4x4xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{inferred type(s) 'tensor<4xf32>' are incompatible}}
  %0 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    tt.reduce.return %a : f32
  }) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  tt.return
}

// -----

tt.func @f(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{expected a region with arguments ('f32', 'f32'), found ('f32')}}
  %0 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a: f32):
    tt.reduce.return %a : f32
  }) : (tensor<4x4xf32>) -> tensor<4xf32>
  tt.return
}

// -----

tt.func @f(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{expected a region that returns ('f32'), found ('f32', 'f32')}}
  %0 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    tt.reduce.return %a, %b : f32, f32
  }) : (tensor<4x4xf32>) -> tensor<4xf32>
  tt.return
}

// -----

tt.func @f() {
  // expected-error @+1 {{expected 1 or more operands, but found 0}}
  "tt.reduce"() <{axis = 0 : i32}> ({
    "tt.reduce.return"() : () -> ()
  }) : () -> ()
  tt.return
}

// -----

tt.func @f(%x: tensor<4x4xf32>, %y: tensor<8x8xf32>) {
  // expected-error @+1 {{requires the same shape for all operands}}
  %0:2 = "tt.reduce"(%x, %y) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    tt.reduce.return %a, %b : f32, f32
  }) : (tensor<4x4xf32>, tensor<8x8xf32>) -> (tensor<4xf32>, tensor<8xf32>)
  tt.return
}

// -----

tt.func @f(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{expected an axis from 0 to 1, found -1}}
  %0 = "tt.scan"(%x) <{axis = -1 : i32, reverse = false}> ({
  ^bb0(%a: f32, %b: f32):
    tt.scan.return %a : f32
  }) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  tt.return
}

// -----

tt.func @f(%x: tensor<4x4xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{inferred type(s) 'tensor<4x4xf32>' are incompatible}}
  %0 = "tt.scan"(%x) <{axis = 1 : i32, reverse = false}> ({
  ^bb0(%a: f32, %b: f32):
    tt.scan.return %a : f32
  }) : (tensor<4x4xf32>) -> tensor<4xf32>
  tt.return
}

// -----

tt.func @f(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{expected a region with arguments ('f32', 'f32'), found ('i32', 'i32')}}
  %0 = "tt.scan"(%x) <{axis = 1 : i32, reverse = false}> ({
  ^bb0(%a: i32, %b: i32):
    tt.scan.return %a : i32
  }) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  tt.return
}

// -----

tt.func @f(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{expected pack to be a power of two, found 3}}
  %0 = "tt.map_elementwise"(%x) <{pack = 3 : i32}> ({
  ^bb0(%a: f32, %b: f32, %c: f32):
    tt.map_elementwise.return %a, %b, %c : f32, f32, f32
  }) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  tt.return
}

// -----

tt.func @f(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{expected a region with arguments ('f32', 'f32'), found ('f32')}}
  %0 = "tt.map_elementwise"(%x) <{pack = 2 : i32}> ({
  ^bb0(%a: f32):
    tt.map_elementwise.return %a, %a : f32, f32
  }) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  tt.return
}

// -----

tt.func @f(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{expected a region that returns ('f32', 'f32'), found ('f32')}}
  %0 = "tt.map_elementwise"(%x) <{pack = 2 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    tt.map_elementwise.return %a : f32
  }) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  tt.return
}

// -----

tt.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{expected a multiple of 4 elements}}
  %0 = "tt.map_elementwise"(%x) <{pack = 4 : i32}> ({
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    tt.map_elementwise.return %a, %b, %c, %d : f32, f32, f32, f32
  }) : (tensor<2xf32>) -> tensor<2xf32>
  tt.return
}

// -----

tt.func @f(%x: tensor<4x4xf32>, %i: tensor<4xi32>) {
  // expected-error @+1 {{expected indices of rank 2 like the operand}}
  %0 = tt.gather %x[%i] {axis = 0 : i32} : (tensor<4x4xf32>, tensor<4xi32>) -> tensor<4xf32>
  tt.return
}

// -----

tt.func @f(%x: tensor<4x4xf32>, %i: tensor<4x4xi32>) {
  // expected-error @+1 {{expected an axis from 0 to 1, found 2}}
  %0 = tt.gather %x[%i] {axis = 2 : i32} : (tensor<4x4xf32>, tensor<4x4xi32>) -> tensor<4x4xf32>
  tt.return
}

// -----

tt.func @f(%x: tensor<4x4xf32>, %i: tensor<8x8xi32>) {
  // expected-error @+1 {{expected operand and indices of equal size in dimension #1, found 4 and 8}}
  %0 = tt.gather %x[%i] {axis = 0 : i32} : (tensor<4x4xf32>, tensor<8x8xi32>) -> tensor<8x8xf32>
  tt.return
}

// -----

tt.func @f(%x: tensor<4x4xi32>) {
  // expected-error @+1 {{expected a 1-D operand and result}}
  %0 = tt.histogram %x : tensor<4x4xi32> -> tensor<4xi32>
  tt.return
}

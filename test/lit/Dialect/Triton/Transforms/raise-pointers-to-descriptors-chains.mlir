// RUN: tile-opt %s -split-input-file -triton-raise-pointers-to-descriptors="only-chains=true num-warps=8 registers=16384" -canonicalize -cse | filecheck %s
// RUN: tile-opt %s -split-input-file -triton-raise-pointers-to-descriptors="only-chains=true num-warps=8" -canonicalize -cse | filecheck %s -check-prefix NONE
// RUN: tile-opt %s -split-input-file -triton-raise-pointers-to-descriptors="only-chains=true num-warps=8 registers=65536" --remarks-filter=".*" 2>&1 | filecheck %s -check-prefix REMARK

// What one dot says is an operand of the next one. Results of dots take 8,192
// registers.
// CHECK-LABEL: tt.func public @chain
// CHECK-NOT: scf.if
// CHECK: tt.descriptor_load
// CHECK: } {tt.warp_specialize}
// NONE-NOT: tt.descriptor_load
// REMARK: no descriptors are made for the loads of this loop: results of its dots take 8192 registers of 65536, so another program can take turns
tt.func public @chain(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: tensor<64x64xf16>) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %width = arith.constant dense<64> : tensor<64x1xi32>
  %down = arith.constant dense<4096> : tensor<64x64xi32>
  %n = arith.constant 32 : i32
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %i1 = tt.expand_dims %i {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %j0 = tt.expand_dims %i {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %row = arith.muli %i1, %width : tensor<64x1xi32>
  %rows = tt.broadcast %row : tensor<64x1xi32> -> tensor<64x64xi32>
  %cols = tt.broadcast %j0 : tensor<1x64xi32> -> tensor<64x64xi32>
  %off = arith.addi %rows, %cols : tensor<64x64xi32>
  %s = tt.splat %a : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %p = tt.addptr %s, %off : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %r:2 = scf.for %t = %c0 to %n step %c1 iter_args(%acc = %zero, %q = %p) -> (tensor<64x64xf32>, tensor<64x64x!tt.ptr<f16>>) : i32 {
    %x = tt.load %q : tensor<64x64x!tt.ptr<f16>>
    %scores = tt.dot %b, %x, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    %weights = arith.truncf %scores : tensor<64x64xf32> to tensor<64x64xf16>
    %d = tt.dot %weights, %x, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    %next = tt.addptr %q, %down : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    scf.yield %d, %next : tensor<64x64xf32>, tensor<64x64x!tt.ptr<f16>>
  }
  tt.return %r#0 : tensor<64x64xf32>
}

// -----

// The launch says how many iterations there are.
// CHECK-LABEL: tt.func public @any_number
// CHECK-NOT: scf.if
// CHECK: tt.descriptor_load
// CHECK: } {tt.warp_specialize}
tt.func public @any_number(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: tensor<64x64xf16>, %n: i32 {tt.non_negative = 1 : i32, tt.max = 1000 : i32}) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %width = arith.constant dense<64> : tensor<64x1xi32>
  %down = arith.constant dense<4096> : tensor<64x64xi32>
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %i1 = tt.expand_dims %i {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %j0 = tt.expand_dims %i {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %row = arith.muli %i1, %width : tensor<64x1xi32>
  %rows = tt.broadcast %row : tensor<64x1xi32> -> tensor<64x64xi32>
  %cols = tt.broadcast %j0 : tensor<1x64xi32> -> tensor<64x64xi32>
  %off = arith.addi %rows, %cols : tensor<64x64xi32>
  %s = tt.splat %a : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %p = tt.addptr %s, %off : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %r:2 = scf.for %t = %c0 to %n step %c1 iter_args(%acc = %zero, %q = %p) -> (tensor<64x64xf32>, tensor<64x64x!tt.ptr<f16>>) : i32 {
    %x = tt.load %q : tensor<64x64x!tt.ptr<f16>>
    %scores = tt.dot %b, %x, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    %weights = arith.truncf %scores : tensor<64x64xf32> to tensor<64x64xf16>
    %d = tt.dot %weights, %x, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    %next = tt.addptr %q, %down : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    scf.yield %d, %next : tensor<64x64xf32>, tensor<64x64x!tt.ptr<f16>>
  }
  tt.return %r#0 : tensor<64x64xf32>
}

// -----

// CHECK-LABEL: tt.func public @single
// CHECK-NOT: tt.descriptor_load
tt.func public @single(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: tensor<64x64xf16>) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %width = arith.constant dense<64> : tensor<64x1xi32>
  %down = arith.constant dense<4096> : tensor<64x64xi32>
  %n = arith.constant 64 : i32
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %i1 = tt.expand_dims %i {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %j0 = tt.expand_dims %i {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %row = arith.muli %i1, %width : tensor<64x1xi32>
  %rows = tt.broadcast %row : tensor<64x1xi32> -> tensor<64x64xi32>
  %cols = tt.broadcast %j0 : tensor<1x64xi32> -> tensor<64x64xi32>
  %off = arith.addi %rows, %cols : tensor<64x64xi32>
  %s = tt.splat %a : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %p = tt.addptr %s, %off : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %r:2 = scf.for %t = %c0 to %n step %c1 iter_args(%acc = %zero, %q = %p) -> (tensor<64x64xf32>, tensor<64x64x!tt.ptr<f16>>) : i32 {
    %x = tt.load %q : tensor<64x64x!tt.ptr<f16>>
    %d = tt.dot %b, %x, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    %next = tt.addptr %q, %down : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    scf.yield %d, %next : tensor<64x64xf32>, tensor<64x64x!tt.ptr<f16>>
  }
  tt.return %r#0 : tensor<64x64xf32>
}

// -----

// CHECK-LABEL: tt.func public @wide
// CHECK-NOT: tt.descriptor_load
// REMARK: its dots multiply other than 16 bits
tt.func public @wide(%a: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %width = arith.constant dense<64> : tensor<64x1xi32>
  %down = arith.constant dense<4096> : tensor<64x64xi32>
  %n = arith.constant 64 : i32
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %i1 = tt.expand_dims %i {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %j0 = tt.expand_dims %i {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %row = arith.muli %i1, %width : tensor<64x1xi32>
  %rows = tt.broadcast %row : tensor<64x1xi32> -> tensor<64x64xi32>
  %cols = tt.broadcast %j0 : tensor<1x64xi32> -> tensor<64x64xi32>
  %off = arith.addi %rows, %cols : tensor<64x64xi32>
  %s = tt.splat %a : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %p = tt.addptr %s, %off : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  %r:2 = scf.for %t = %c0 to %n step %c1 iter_args(%acc = %zero, %q = %p) -> (tensor<64x64xf32>, tensor<64x64x!tt.ptr<f32>>) : i32 {
    %x = tt.load %q : tensor<64x64x!tt.ptr<f32>>
    %scores = tt.dot %b, %x, %zero : tensor<64x64xf32> * tensor<64x64xf32> -> tensor<64x64xf32>
    %d = tt.dot %scores, %x, %acc : tensor<64x64xf32> * tensor<64x64xf32> -> tensor<64x64xf32>
    %next = tt.addptr %q, %down : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    scf.yield %d, %next : tensor<64x64xf32>, tensor<64x64x!tt.ptr<f32>>
  }
  tt.return %r#0 : tensor<64x64xf32>
}

// -----

// CHECK-LABEL: tt.func public @three
// CHECK-NOT: tt.descriptor_load
// REMARK: it has other than two dots
tt.func public @three(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: tensor<64x64xf16>) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %width = arith.constant dense<64> : tensor<64x1xi32>
  %down = arith.constant dense<4096> : tensor<64x64xi32>
  %n = arith.constant 64 : i32
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %i1 = tt.expand_dims %i {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %j0 = tt.expand_dims %i {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %row = arith.muli %i1, %width : tensor<64x1xi32>
  %rows = tt.broadcast %row : tensor<64x1xi32> -> tensor<64x64xi32>
  %cols = tt.broadcast %j0 : tensor<1x64xi32> -> tensor<64x64xi32>
  %off = arith.addi %rows, %cols : tensor<64x64xi32>
  %s = tt.splat %a : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %p = tt.addptr %s, %off : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %r:2 = scf.for %t = %c0 to %n step %c1 iter_args(%acc = %zero, %q = %p) -> (tensor<64x64xf32>, tensor<64x64x!tt.ptr<f16>>) : i32 {
    %x = tt.load %q : tensor<64x64x!tt.ptr<f16>>
    %scores = tt.dot %b, %x, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    %weights = arith.truncf %scores : tensor<64x64xf32> to tensor<64x64xf16>
    %first = tt.dot %weights, %x, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    %d = tt.dot %weights, %b, %first : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    %next = tt.addptr %q, %down : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    scf.yield %d, %next : tensor<64x64xf32>, tensor<64x64x!tt.ptr<f16>>
  }
  tt.return %r#0 : tensor<64x64xf32>
}

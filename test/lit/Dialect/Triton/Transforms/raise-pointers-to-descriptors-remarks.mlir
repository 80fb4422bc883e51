// RUN: tile-opt %s -split-input-file -triton-raise-pointers-to-descriptors --remarks-filter=".*" 2>&1 | filecheck %s

// CHECK: no descriptor is made for this load: where it begins is not known to be a multiple of 16 bytes
tt.func public @base(%a: !tt.ptr<f16>, %b: tensor<32x64xf16>, %n: i32 {tt.max = 1000 : i32}) -> tensor<16x64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<16x64xf32>
  %width = arith.constant dense<64> : tensor<16x1xi32>
  %i = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %j = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %i1 = tt.expand_dims %i {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %j0 = tt.expand_dims %j {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %row = arith.muli %i1, %width : tensor<16x1xi32>
  %rows = tt.broadcast %row : tensor<16x1xi32> -> tensor<16x32xi32>
  %cols = tt.broadcast %j0 : tensor<1x32xi32> -> tensor<16x32xi32>
  %off = arith.addi %rows, %cols : tensor<16x32xi32>
  %s = tt.splat %a : !tt.ptr<f16> -> tensor<16x32x!tt.ptr<f16>>
  %p = tt.addptr %s, %off : tensor<16x32x!tt.ptr<f16>>, tensor<16x32xi32>
  %r = scf.for %t = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x64xf32>) : i32 {
    %x = tt.load %p : tensor<16x32x!tt.ptr<f16>>
    %d = tt.dot %x, %b, %acc : tensor<16x32xf16> * tensor<32x64xf16> -> tensor<16x64xf32>
    scf.yield %d : tensor<16x64xf32>
  }
  tt.return %r : tensor<16x64xf32>
}

// -----

// CHECK: no descriptor is made for this load: the kernel may have written what it reads
tt.func public @written(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: tensor<32x64xf16>, %n: i32 {tt.max = 1000 : i32}) -> tensor<16x64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<16x64xf32>
  %one = arith.constant dense<1.0> : tensor<16x32xf16>
  %width = arith.constant dense<64> : tensor<16x1xi32>
  %i = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %j = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %i1 = tt.expand_dims %i {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %j0 = tt.expand_dims %j {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %row = arith.muli %i1, %width : tensor<16x1xi32>
  %rows = tt.broadcast %row : tensor<16x1xi32> -> tensor<16x32xi32>
  %cols = tt.broadcast %j0 : tensor<1x32xi32> -> tensor<16x32xi32>
  %off = arith.addi %rows, %cols : tensor<16x32xi32>
  %s = tt.splat %a : !tt.ptr<f16> -> tensor<16x32x!tt.ptr<f16>>
  %p = tt.addptr %s, %off : tensor<16x32x!tt.ptr<f16>>, tensor<16x32xi32>
  tt.store %p, %one : tensor<16x32x!tt.ptr<f16>>
  %r = scf.for %t = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x64xf32>) : i32 {
    %x = tt.load %p : tensor<16x32x!tt.ptr<f16>>
    %d = tt.dot %x, %b, %acc : tensor<16x32xf16> * tensor<32x64xf16> -> tensor<16x64xf32>
    scf.yield %d : tensor<16x64xf32>
  }
  tt.return %r : tensor<16x64xf32>
}

// -----

// Tiles that go upwards end in front of where they began.
// CHECK: no descriptor is made for this load: its addresses go backwards
tt.func public @backwards(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: tensor<32x64xf16>, %n: i32 {tt.max = 1000 : i32}) -> tensor<16x64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<16x64xf32>
  %width = arith.constant dense<64> : tensor<16x1xi32>
  %back = arith.constant dense<-1024> : tensor<16x32xi32>
  %i = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %j = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %i1 = tt.expand_dims %i {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %j0 = tt.expand_dims %j {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %row = arith.muli %i1, %width : tensor<16x1xi32>
  %rows = tt.broadcast %row : tensor<16x1xi32> -> tensor<16x32xi32>
  %cols = tt.broadcast %j0 : tensor<1x32xi32> -> tensor<16x32xi32>
  %off = arith.addi %rows, %cols : tensor<16x32xi32>
  %s = tt.splat %a : !tt.ptr<f16> -> tensor<16x32x!tt.ptr<f16>>
  %p = tt.addptr %s, %off : tensor<16x32x!tt.ptr<f16>>, tensor<16x32xi32>
  %r:2 = scf.for %t = %c0 to %n step %c1 iter_args(%acc = %zero, %q = %p) -> (tensor<16x64xf32>, tensor<16x32x!tt.ptr<f16>>) : i32 {
    %x = tt.load %q : tensor<16x32x!tt.ptr<f16>>
    %d = tt.dot %x, %b, %acc : tensor<16x32xf16> * tensor<32x64xf16> -> tensor<16x64xf32>
    %next = tt.addptr %q, %back : tensor<16x32x!tt.ptr<f16>>, tensor<16x32xi32>
    scf.yield %d, %next : tensor<16x64xf32>, tensor<16x32x!tt.ptr<f16>>
  }
  tt.return %r#0 : tensor<16x64xf32>
}

// -----

// Nobody says by how much the loop goes on.
// CHECK: no descriptor is made for this load: its addresses are no sum of a base, rows and columns
tt.func public @step(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: tensor<32x64xf16>, %n: i64, %c1: i64) -> tensor<16x64xf32> {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant dense<0.0> : tensor<16x64xf32>
  %width = arith.constant dense<64> : tensor<16x1xi32>
  %on = arith.constant dense<1024> : tensor<16x32xi32>
  %i = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %j = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %i1 = tt.expand_dims %i {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %j0 = tt.expand_dims %j {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %row = arith.muli %i1, %width : tensor<16x1xi32>
  %rows = tt.broadcast %row : tensor<16x1xi32> -> tensor<16x32xi32>
  %cols = tt.broadcast %j0 : tensor<1x32xi32> -> tensor<16x32xi32>
  %off = arith.addi %rows, %cols : tensor<16x32xi32>
  %s = tt.splat %a : !tt.ptr<f16> -> tensor<16x32x!tt.ptr<f16>>
  %p = tt.addptr %s, %off : tensor<16x32x!tt.ptr<f16>>, tensor<16x32xi32>
  %r:2 = scf.for %t = %c0 to %n step %c1 iter_args(%acc = %zero, %q = %p) -> (tensor<16x64xf32>, tensor<16x32x!tt.ptr<f16>>) : i64 {
    %x = tt.load %q : tensor<16x32x!tt.ptr<f16>>
    %d = tt.dot %x, %b, %acc : tensor<16x32xf16> * tensor<32x64xf16> -> tensor<16x64xf32>
    %next = tt.addptr %q, %on : tensor<16x32x!tt.ptr<f16>>, tensor<16x32xi32>
    scf.yield %d, %next : tensor<16x64xf32>, tensor<16x32x!tt.ptr<f16>>
  }
  tt.return %r#0 : tensor<16x64xf32>
}

// RUN: tile-opt %s -split-input-file -choose-row-groups-nv | filecheck %s
// RUN: tile-opt %s -split-input-file -choose-row-groups-nv --remarks-filter=".*" 2>&1 | filecheck %s -check-prefix REMARK
// RUN: tile-opt %s -split-input-file -choose-row-groups-nv="where-possible=true" | filecheck %s -check-prefix POSSIBLE

// CHECK: module attributes {tt.group_warps = 4 : i32, tt.longest_extent = 128 : i32}
// CHECK-LABEL: @chain
module {
  tt.func @chain(%q: tensor<256x128xf16>, %k: !tt.tensordesc<tensor<64x128xf16>>, %n: i32) -> tensor<256x128xf32> {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %zero = arith.constant dense<0.0> : tensor<256x128xf32>
    %none = arith.constant dense<0.0> : tensor<256x64xf32>
    %r = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zero) -> tensor<256x128xf32> : i32 {
      %b = tt.descriptor_load %k[%i, %c0] : !tt.tensordesc<tensor<64x128xf16>> -> tensor<64x128xf16>
      %t = tt.trans %b {order = array<i32: 1, 0>} : tensor<64x128xf16> -> tensor<128x64xf16>
      %s = tt.dot %q, %t, %none : tensor<256x128xf16> * tensor<128x64xf16> -> tensor<256x64xf32>
      %e = math.exp2 %s : tensor<256x64xf32>
      %w = arith.truncf %e : tensor<256x64xf32> to tensor<256x64xf16>
      %next = tt.dot %w, %b, %acc : tensor<256x64xf16> * tensor<64x128xf16> -> tensor<256x128xf32>
      scf.yield %next : tensor<256x128xf32>
    } {tt.warp_specialize}
    tt.return %r : tensor<256x128xf32>
  }
}

// -----

// Groups would hear of each other longer than they compute.
// CHECK: module
// CHECK-LABEL: @short
// REMARK: rows of its dots are not divided among two groups of warps: an iteration would take 736 cycles, and takes 608 in one group
// POSSIBLE: tt.longest_extent
// POSSIBLE-LABEL: @short
module {
  tt.func @short(%q: tensor<256x64xf16>, %k: !tt.tensordesc<tensor<32x64xf16>>, %n: i32) -> tensor<256x64xf32> {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %zero = arith.constant dense<0.0> : tensor<256x64xf32>
    %none = arith.constant dense<0.0> : tensor<256x32xf32>
    %r = scf.for %i = %c0 to %n step %c32 iter_args(%acc = %zero) -> tensor<256x64xf32> : i32 {
      %b = tt.descriptor_load %k[%i, %c0] : !tt.tensordesc<tensor<32x64xf16>> -> tensor<32x64xf16>
      %t = tt.trans %b {order = array<i32: 1, 0>} : tensor<32x64xf16> -> tensor<64x32xf16>
      %s = tt.dot %q, %t, %none : tensor<256x64xf16> * tensor<64x32xf16> -> tensor<256x32xf32>
      %w = arith.truncf %s : tensor<256x32xf32> to tensor<256x32xf16>
      %next = tt.dot %w, %b, %acc : tensor<256x32xf16> * tensor<32x64xf16> -> tensor<256x64xf32>
      scf.yield %next : tensor<256x64xf32>
    } {tt.warp_specialize}
    tt.return %r : tensor<256x64xf32>
  }
}

// -----

// Weights take the columns of their scores.
// CHECK: tt.longest_extent
// CHECK-LABEL: @full
module {
  tt.func @full(%q: tensor<256x128xf16>, %k: !tt.tensordesc<tensor<128x128xf16>>, %n: i32) -> tensor<256x128xf32> {
    %c0 = arith.constant 0 : i32
    %c128 = arith.constant 128 : i32
    %zero = arith.constant dense<0.0> : tensor<256x128xf32>
    %r = scf.for %i = %c0 to %n step %c128 iter_args(%acc = %zero) -> tensor<256x128xf32> : i32 {
      %b = tt.descriptor_load %k[%i, %c0] : !tt.tensordesc<tensor<128x128xf16>> -> tensor<128x128xf16>
      %s = tt.dot %q, %b, %zero : tensor<256x128xf16> * tensor<128x128xf16> -> tensor<256x128xf32>
      %w = arith.truncf %s : tensor<256x128xf32> to tensor<256x128xf16>
      %next = tt.dot %w, %b, %acc : tensor<256x128xf16> * tensor<128x128xf16> -> tensor<256x128xf32>
      scf.yield %next : tensor<256x128xf32>
    } {tt.warp_specialize}
    tt.return %r : tensor<256x128xf32>
  }
}

// -----

// More keys would be divided as well.
// CHECK: module
// CHECK-LABEL: @wide
// REMARK: the kernel has tensors that are long in another dimension than that of its rows
// POSSIBLE: module
// POSSIBLE-LABEL: @wide
module {
  tt.func @wide(%q: tensor<256x128xf16>, %k: !tt.tensordesc<tensor<128x256xf16>>, %n: i32) -> tensor<256x128xf32> {
    %c0 = arith.constant 0 : i32
    %c256 = arith.constant 256 : i32
    %zero = arith.constant dense<0.0> : tensor<256x128xf32>
    %none = arith.constant dense<0.0> : tensor<256x256xf32>
    %r = scf.for %i = %c0 to %n step %c256 iter_args(%acc = %zero) -> tensor<256x128xf32> : i32 {
      %b = tt.descriptor_load %k[%c0, %i] : !tt.tensordesc<tensor<128x256xf16>> -> tensor<128x256xf16>
      %t = tt.trans %b {order = array<i32: 1, 0>} : tensor<128x256xf16> -> tensor<256x128xf16>
      %s = tt.dot %q, %b, %none : tensor<256x128xf16> * tensor<128x256xf16> -> tensor<256x256xf32>
      %w = arith.truncf %s : tensor<256x256xf32> to tensor<256x256xf16>
      %next = tt.dot %w, %t, %acc : tensor<256x256xf16> * tensor<256x128xf16> -> tensor<256x128xf32>
      scf.yield %next : tensor<256x128xf32>
    } {tt.warp_specialize}
    tt.return %r : tensor<256x128xf32>
  }
}

// -----

// A sum over rows needs both halves. It is not for this pass.
// CHECK: module
// CHECK-LABEL: @reshaped
// REMARK: rows of this operation of the kernel cannot be divided
module {
  tt.func @reshaped(%q: tensor<256x64xf16>, %k: !tt.tensordesc<tensor<64x64xf16>>, %n: i32) -> tensor<16x16x64xf32> {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %zero = arith.constant dense<0.0> : tensor<256x64xf32>
    %r = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zero) -> tensor<256x64xf32> : i32 {
      %b = tt.descriptor_load %k[%i, %c0] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
      %s = tt.dot %q, %b, %zero : tensor<256x64xf16> * tensor<64x64xf16> -> tensor<256x64xf32>
      %w = arith.truncf %s : tensor<256x64xf32> to tensor<256x64xf16>
      %next = tt.dot %w, %b, %acc : tensor<256x64xf16> * tensor<64x64xf16> -> tensor<256x64xf32>
      scf.yield %next : tensor<256x64xf32>
    } {tt.warp_specialize}
    %shaped = tt.reshape %r : tensor<256x64xf32> -> tensor<16x16x64xf32>
    tt.return %shaped : tensor<16x16x64xf32>
  }
}

// -----

// One dot of a loop feeds no other one: nobody computes between them.
// CHECK: module
// CHECK-LABEL: @product
// POSSIBLE: module
// POSSIBLE-LABEL: @product
module {
  tt.func @product(%q: tensor<256x64xf16>, %k: !tt.tensordesc<tensor<64x64xf16>>, %n: i32) -> tensor<256x64xf32> {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %zero = arith.constant dense<0.0> : tensor<256x64xf32>
    %r = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zero) -> tensor<256x64xf32> : i32 {
      %b = tt.descriptor_load %k[%i, %c0] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
      %next = tt.dot %q, %b, %acc : tensor<256x64xf16> * tensor<64x64xf16> -> tensor<256x64xf32>
      scf.yield %next : tensor<256x64xf32>
    } {tt.warp_specialize}
    tt.return %r : tensor<256x64xf32>
  }
}

// RUN: tile-opt %s -split-input-file -tile-nvidia-ptx -o %t.mlir | filecheck %s

// Two bytes become two numbers of 16 bits. They are packed first: then there is
// one operation for both.

module attributes {"ttg.num-warps" = 1 : i32, ttg.target = "cuda:90"} {
// CHECK-LABEL: .visible .entry nibbles(
// CHECK: ld.global.b16
// CHECK: prmt.b32
// CHECK-NEXT: and.b32 {{.*}}, 983055;
// CHECK-NEXT: or.b32 {{.*}}, 1677747200;
// CHECK-NEXT: st.global.b32
llvm.func @nibbles(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {nvvm.kernel} {
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %nibble = llvm.mlir.constant(15 : i16) : i16
  %exponent = llvm.mlir.constant(0x6400 : i16) : i16
  %none = llvm.mlir.poison : vector<2xi16>
  %bytes = llvm.load %p {alignment = 2 : i64} : !llvm.ptr<1> -> vector<2xi8>
  %a = llvm.extractelement %bytes[%zero : i32] : vector<2xi8>
  %b = llvm.extractelement %bytes[%one : i32] : vector<2xi8>
  %wide_a = llvm.zext %a : i8 to i16
  %wide_b = llvm.zext %b : i8 to i16
  %low_a = llvm.and %wide_a, %nibble : i16
  %low_b = llvm.and %wide_b, %nibble : i16
  %bits_a = llvm.or %low_a, %exponent : i16
  %bits_b = llvm.or %low_b, %exponent : i16
  %first = llvm.insertelement %bits_a, %none[%zero : i32] : vector<2xi16>
  %both = llvm.insertelement %bits_b, %first[%one : i32] : vector<2xi16>
  llvm.store %both, %q {alignment = 4 : i64} : vector<2xi16>, !llvm.ptr<1>
  llvm.return
}
}

// -----

// What is shifted out of one element must not be in the next one.

module attributes {"ttg.num-warps" = 1 : i32, ttg.target = "cuda:90"} {
// CHECK-LABEL: .visible .entry shifts(
// CHECK: ld.global.b32
// CHECK: shr.u32 {{.*}}, 3;
// CHECK: and.b32 {{.*}}, 522133279;
// CHECK: st.global.b32
llvm.func @shifts(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {nvvm.kernel} {
  %0 = llvm.mlir.constant(0 : i32) : i32
  %1 = llvm.mlir.constant(1 : i32) : i32
  %2 = llvm.mlir.constant(2 : i32) : i32
  %3 = llvm.mlir.constant(3 : i32) : i32
  %by = llvm.mlir.constant(3 : i8) : i8
  %mask = llvm.mlir.constant(0x55 : i8) : i8
  %none = llvm.mlir.poison : vector<4xi8>
  %bytes = llvm.load %p {alignment = 4 : i64} : !llvm.ptr<1> -> vector<4xi8>
  %a = llvm.extractelement %bytes[%0 : i32] : vector<4xi8>
  %b = llvm.extractelement %bytes[%1 : i32] : vector<4xi8>
  %c = llvm.extractelement %bytes[%2 : i32] : vector<4xi8>
  %d = llvm.extractelement %bytes[%3 : i32] : vector<4xi8>
  %sa = llvm.lshr %a, %by : i8
  %sb = llvm.lshr %b, %by : i8
  %sc = llvm.lshr %c, %by : i8
  %sd = llvm.lshr %d, %by : i8
  %xa = llvm.xor %sa, %mask : i8
  %xb = llvm.xor %sb, %mask : i8
  %xc = llvm.xor %sc, %mask : i8
  %xd = llvm.xor %sd, %mask : i8
  %va = llvm.insertelement %xa, %none[%0 : i32] : vector<4xi8>
  %vb = llvm.insertelement %xb, %va[%1 : i32] : vector<4xi8>
  %vc = llvm.insertelement %xc, %vb[%2 : i32] : vector<4xi8>
  %vd = llvm.insertelement %xd, %vc[%3 : i32] : vector<4xi8>
  llvm.store %vd, %q {alignment = 4 : i64} : vector<4xi8>, !llvm.ptr<1>
  llvm.return
}
}

// -----

// An element that something else needs is computed alone anyway. Packed, there
// would be one operation more.

module attributes {"ttg.num-warps" = 1 : i32, ttg.target = "cuda:90"} {
// CHECK-LABEL: .visible .entry needed_elsewhere(
// CHECK-COUNT-2: or.b16
// CHECK-NOT: or.b32
llvm.func @needed_elsewhere(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %x: i16, %y: i16) attributes {nvvm.kernel} {
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %exponent = llvm.mlir.constant(0x6400 : i16) : i16
  %none = llvm.mlir.poison : vector<2xi16>
  %a = llvm.or %x, %exponent : i16
  %b = llvm.or %y, %exponent : i16
  llvm.store volatile %a, %p : i16, !llvm.ptr<1>
  %first = llvm.insertelement %a, %none[%zero : i32] : vector<2xi16>
  %both = llvm.insertelement %b, %first[%one : i32] : vector<2xi16>
  llvm.store %both, %q {alignment = 4 : i64} : vector<2xi16>, !llvm.ptr<1>
  llvm.return
}
}

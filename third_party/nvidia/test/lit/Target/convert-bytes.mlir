// RUN: tile-opt %s -split-input-file -tile-nvidia-ptx -o %t.mlir | filecheck %s

// Two bytes become numbers of 16 bits: packed, they take one exclusive or and
// one addition.

module attributes {"ttg.num-warps" = 1 : i32, ttg.target = "cuda:90"} {
// CHECK-LABEL: .visible .entry to_f16(
// CHECK: ld.global.b16
// CHECK: prmt.b32
// CHECK-NEXT: xor.b32 {{.*}}, 1686135936;
// CHECK: {{(add|sub).*}}f16x2
// CHECK-NOT: cvt
llvm.func @to_f16(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {nvvm.kernel} {
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %none = llvm.mlir.poison : vector<2xf16>
  %bytes = llvm.load %p {alignment = 2 : i64} : !llvm.ptr<1> -> vector<2xi8>
  %a = llvm.extractelement %bytes[%zero : i32] : vector<2xi8>
  %b = llvm.extractelement %bytes[%one : i32] : vector<2xi8>
  %number_a = llvm.sitofp %a : i8 to f16
  %number_b = llvm.sitofp %b : i8 to f16
  %first = llvm.insertelement %number_a, %none[%zero : i32] : vector<2xf16>
  %both = llvm.insertelement %number_b, %first[%one : i32] : vector<2xf16>
  llvm.store %both, %q {alignment = 4 : i64} : vector<2xf16>, !llvm.ptr<1>
  llvm.return
}
}

// -----

// A machine without arithmetic on bf16 converts by way of f32.

module attributes {"ttg.num-warps" = 1 : i32, ttg.target = "cuda:80"} {
// CHECK-LABEL: .visible .entry to_bf16(
// CHECK: cvt.rn.f32.u32
// CHECK: cvt.rn.bf16.f32
llvm.func @to_bf16(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {nvvm.kernel} {
  %byte = llvm.load %p : !llvm.ptr<1> -> i8
  %number = llvm.uitofp %byte : i8 to bf16
  llvm.store %number, %q : bf16, !llvm.ptr<1>
  llvm.return
}
}

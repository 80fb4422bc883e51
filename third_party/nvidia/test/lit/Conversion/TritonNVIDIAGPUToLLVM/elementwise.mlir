// RUN: tile-opt %s -allocate-shared-memory-nv -insert-memory-barriers -convert-triton-gpu-to-llvm | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>

module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:80"} {

// One operation for each of the thread's elements.
// CHECK-LABEL: llvm.func @add
tt.func @add(%a: tensor<256xf32, #blocked>, %b: tensor<256xf32, #blocked>, %p: !tt.ptr<f32>) {
  // CHECK: llvm.fadd
  // CHECK: llvm.fadd
  // CHECK-NOT: llvm.fadd
  // CHECK: llvm.return
  %0 = arith.addf %a, %b : tensor<256xf32, #blocked>
  tt.return
}

// Registers that repeat others are computed once.
// CHECK-LABEL: llvm.func @repeated
tt.func @repeated(%a: tensor<1xi32, #blocked>) {
  // CHECK: llvm.mul
  // CHECK-NOT: llvm.mul
  // CHECK: llvm.return
  %0 = arith.muli %a, %a : tensor<1xi32, #blocked>
  tt.return
}

// CHECK-LABEL: llvm.func @scalars
tt.func @scalars(%a: i32, %b: i32, %c: i1) -> i32 {
  // CHECK: llvm.sdiv
  // CHECK: llvm.icmp "slt"
  // CHECK: llvm.select
  %0 = arith.divsi %a, %b : i32
  %1 = arith.cmpi slt, %0, %b : i32
  %2 = arith.select %1, %a, %b : i32
  tt.return %2 : i32
}

// CHECK-LABEL: llvm.func @flags
tt.func @flags(%a: i32, %x: f32) {
  // CHECK: llvm.add %{{.*}}, %{{.*}} overflow<nsw>
  // CHECK: llvm.fmul %{{.*}}, %{{.*}} {fastmathFlags = #llvm.fastmath<contract>}
  %0 = arith.addi %a, %a overflow<nsw> : i32
  %1 = arith.mulf %x, %x fastmath<contract> : f32
  tt.return
}

// CHECK-LABEL: llvm.func @constants
tt.func @constants() -> f32 {
  // CHECK: llvm.mlir.constant(1.000000e+00 : f32)
  // CHECK: llvm.mlir.constant(56 : i8)
  %0 = arith.constant 1.0 : f32
  %1 = arith.constant dense<1.0> : tensor<256xf8E4M3FN, #blocked>
  tt.return %0 : f32
}

// CHECK-LABEL: llvm.func @pointers
tt.func @pointers(%p: !tt.ptr<i1>, %q: !tt.ptr<f64>, %i: i32) {
  // CHECK: llvm.getelementptr %{{.*}}[%{{.*}}] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
  // CHECK: llvm.getelementptr %{{.*}}[%{{.*}}] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f64
  // CHECK: llvm.ptrtoint
  // CHECK: llvm.inttoptr
  %0 = tt.addptr %p, %i : !tt.ptr<i1>, i32
  %1 = tt.addptr %q, %i : !tt.ptr<f64>, i32
  %2 = tt.ptr_to_int %1 : !tt.ptr<f64> -> i64
  %3 = tt.int_to_ptr %2 : i64 -> !tt.ptr<f64>
  tt.return
}

// The machine's exponential, and a function of libdevice.
// CHECK-LABEL: llvm.func @math
tt.func @math(%x: f32, %h: f16) {
  // CHECK: llvm.fmul
  // CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.ex2.approx"
  // CHECK: llvm.call_intrinsic "llvm.nvvm.div.full"
  // CHECK: llvm.fdiv
  // CHECK: llvm.call @__nv_sinf
  // CHECK: llvm.fpext
  // CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.sqrt.approx.f"
  // CHECK-NEXT: llvm.fptrunc
  %0 = math.exp %x : f32
  %1 = arith.divf %x, %x : f32
  %2 = tt.precise_divf %x, %x : f32
  %3 = math.sin %x : f32
  %4 = math.sqrt %h : f16
  tt.return
}

// A denormal exponential is nothing beside one, but something beside a number
// that may be as small.
// CHECK-LABEL: llvm.func @sigmoid
tt.func @sigmoid(%x: tensor<256xf32, #blocked>, %y: f32) {
  // CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz"
  %one = arith.constant dense<1.0> : tensor<256xf32, #blocked>
  %0 = math.exp %x : tensor<256xf32, #blocked>
  %1 = arith.addf %one, %0 : tensor<256xf32, #blocked>
  // CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx"(
  %small = arith.constant 1.0e-38 : f32
  %2 = math.exp %y : f32
  %3 = arith.addf %2, %small : f32
  tt.return
}

// Two elements of 16 bits share the assembly's register.
// CHECK-LABEL: llvm.func @inline_asm
tt.func @inline_asm(%x: tensor<256xf16, #blocked>) {
  // CHECK: llvm.inline_asm asm_dialect = att "neg.f16x2 $0, $1;", "=r,r" %{{.*}} : (i32) -> i32
  // CHECK-NOT: llvm.inline_asm
  // CHECK: llvm.return
  %0 = tt.elementwise_inline_asm "neg.f16x2 $0, $1;" {constraints = "=r,r", packed_element = 2 : i32, pure = true} %x : tensor<256xf16, #blocked> -> tensor<256xf16, #blocked>
  tt.return
}
}

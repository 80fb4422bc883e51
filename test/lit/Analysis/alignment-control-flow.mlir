// RUN: tile-opt %s -test-print-alignment -split-input-file -verify-diagnostics -o %t

// Pointers advance by what keeps them aligned.
tt.func @loop(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32) {
  %c0 = arith.constant 0 : i32 // expected-remark {{constant_value = 0}}
  %c32 = arith.constant 32 : i32 // expected-remark {{constant_value = 32}}
  // expected-remark@below {{contiguity = [1], divisibility = [32], constancy = [64], constant_value = 32}}
  %step = arith.constant dense<32> : tensor<64xi32>
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32> // expected-remark {{contiguity = [64]}}
  %base = tt.splat %p : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>> // expected-remark {{divisibility = [16]}}
  // expected-remark@below {{contiguity = [64], divisibility = [16], constancy = [1], constant_value = <none>}}
  %ptrs = tt.addptr %base, %range : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
  // expected-remark@below {{contiguity = [64], divisibility = [16], constancy = [1], constant_value = <none>}}
  %end = scf.for %i = %c0 to %n step %c32 iter_args(%cur = %ptrs) -> (tensor<64x!tt.ptr<f16>>) : i32 {
    // The induction variable is a multiple of the step.
    // expected-remark@below {{contiguity = [1], divisibility = [32], constancy = [1], constant_value = <none>}}
    %j = arith.addi %i, %c0 : i32
    // expected-remark@below {{contiguity = [64], divisibility = [16], constancy = [1], constant_value = <none>}}
    %next = tt.addptr %cur, %step : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
    scf.yield %next : tensor<64x!tt.ptr<f16>>
  }
  tt.return
}

// -----

// A loop that carries nothing has an induction variable, too.
tt.func @bare_loop(%n: i32) {
  %c0 = arith.constant 0 : i32 // expected-remark {{constant_value = 0}}
  %c32 = arith.constant 32 : i32 // expected-remark {{constant_value = 32}}
  scf.for %i = %c0 to %n step %c32 : i32 {
    // expected-remark@below {{contiguity = [1], divisibility = [32], constancy = [1], constant_value = <none>}}
    %j = arith.addi %i, %c32 : i32
  }
  tt.return
}

// -----

// A step that breaks the alignment is seen at the start of the loop, too.
tt.func @odd_step(%n: i32) {
  %c0 = arith.constant 0 : i32 // expected-remark {{constant_value = 0}}
  %c1 = arith.constant 1 : i32 // expected-remark {{constant_value = 1}}
  %six = arith.constant dense<6> : tensor<64xi32> // expected-remark {{constant_value = 6}}
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32> // expected-remark {{contiguity = [64], divisibility = [1073741824]}}
  // expected-remark@below {{contiguity = [64], divisibility = [2], constancy = [1], constant_value = <none>}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%cur = %range) -> (tensor<64xi32>) : i32 {
    // expected-remark@below {{contiguity = [64], divisibility = [2], constancy = [1], constant_value = <none>}}
    %next = arith.addi %cur, %six : tensor<64xi32>
    scf.yield %next : tensor<64xi32>
  }
  tt.return
}

// -----

tt.func @branch(%c: i1) {
  // expected-remark@below {{contiguity = [64], divisibility = [8], constancy = [1], constant_value = <none>}}
  %r = scf.if %c -> tensor<64xi32> {
    %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32> // expected-remark {{contiguity = [64]}}
    scf.yield %0 : tensor<64xi32>
  } else {
    %1 = tt.make_range {end = 72 : i32, start = 8 : i32} : tensor<64xi32> // expected-remark {{divisibility = [8]}}
    scf.yield %1 : tensor<64xi32>
  }
  tt.return
}

// -----

tt.func @while(%n: i32) {
  %c4 = arith.constant 4 : i32 // expected-remark {{constant_value = 4}}
  %c64 = arith.constant 64 : i32 // expected-remark {{constant_value = 64}}
  // expected-remark@below {{contiguity = [1], divisibility = [4], constancy = [1], constant_value = <none>}}
  %r = scf.while (%i = %c64) : (i32) -> i32 {
    %0 = arith.cmpi slt, %i, %n : i32 // expected-remark {{contiguity}}
    scf.condition(%0) %i : i32
  } do {
  ^bb0(%i: i32):
    // expected-remark@below {{contiguity = [1], divisibility = [4], constancy = [1], constant_value = <none>}}
    %1 = arith.addi %i, %c4 : i32
    scf.yield %1 : i32
  }
  tt.return
}

// -----

tt.func @blocks(%c: i1) {
  %c16 = arith.constant 16 : i32 // expected-remark {{constant_value = 16}}
  %c24 = arith.constant 24 : i32 // expected-remark {{constant_value = 24}}
  cf.cond_br %c, ^bb1(%c16 : i32), ^bb1(%c24 : i32)
^bb1(%x: i32):
  // expected-remark@below {{contiguity = [1], divisibility = [8], constancy = [1], constant_value = <none>}}
  %y = arith.addi %x, %c16 : i32
  tt.return
}

// -----

// What all callers pass is known in a private function, and what it returns is
// known to them.
tt.func public @caller(%a: i32 {tt.divisibility = 32 : i32}) {
  %c8 = arith.constant 8 : i32 // expected-remark {{constant_value = 8}}
  // expected-remark@below {{contiguity = [1], divisibility = [16], constancy = [1], constant_value = <none>}}
  %0 = tt.call @callee(%a) : (i32) -> i32
  // expected-remark@below {{contiguity = [1], divisibility = [16], constancy = [1], constant_value = <none>}}
  %1 = tt.call @callee(%c8) : (i32) -> i32
  tt.return
}
tt.func private @callee(%x: i32) -> i32 {
  %c2 = arith.constant 2 : i32 // expected-remark {{constant_value = 2}}
  // expected-remark@below {{contiguity = [1], divisibility = [16], constancy = [1], constant_value = <none>}}
  %0 = arith.muli %x, %c2 : i32
  tt.return %0 : i32
}

// -----

// What a product makes is something even where it overwrites poison: the zeros of
// another way do not decide about the sum.
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
tt.func @product(%a: !ttg.memdesc<64x64xf16, #shared, #smem>, %b: !ttg.memdesc<64x64xf16, #shared, #smem>, %n: i32) {
  %c0 = arith.constant 0 : i32 // expected-remark {{constant_value = 0}}
  %c1 = arith.constant 1 : i32 // expected-remark {{constant_value = 1}}
  %no = arith.constant false // expected-remark {{constant_value = 0}}
  %yes = arith.constant true // expected-remark {{constant_value}}
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma> // expected-remark {{constancy = [64, 64]}}
  %any = ub.poison : tensor<64x64xf32, #mma>
  // expected-remark@below {{contiguity = [1, 1], divisibility = [1, 1], constancy = [1, 1], constant_value = <none>}}
  // expected-remark@below {{contiguity = [1], divisibility = [1], constancy = [1], constant_value = <none>}}
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %any, %use = %no) -> (tensor<64x64xf32, #mma>, i1) : i32 {
    // expected-remark@below {{contiguity = [1, 1], divisibility = [1, 1], constancy = [1, 1], constant_value = <none>}}
    %d = ttnvgpu.warp_group_dot %a, %b, %acc, %use {inputPrecision = 0 : i32} : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
    scf.yield %d, %yes : tensor<64x64xf32, #mma>, i1
  }
  %ran = arith.cmpi slt, %c0, %n : i32 // expected-remark {{constant_value = <none>}}
  // expected-remark@below {{contiguity = [1, 1], divisibility = [1, 1], constancy = [1, 1], constant_value = <none>}}
  %sum = scf.if %ran -> (tensor<64x64xf32, #mma>) {
    scf.yield %r#0 : tensor<64x64xf32, #mma>
  } else {
    scf.yield %zero : tensor<64x64xf32, #mma>
  }
  tt.return
}
}

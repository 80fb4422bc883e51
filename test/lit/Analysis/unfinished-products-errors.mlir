// RUN: tile-opt %s -split-input-file -test-unfinished-products -verify-diagnostics

// What reads the sum of a product that may still run is refused.

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
!buf = !ttg.memdesc<64x64xf16, #shared, #smem>
!sum = tensor<64x64xf32, #mma>
!ptrs = tensor<64x64x!tt.ptr<f32>, #mma>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
tt.func @at_once(%a: !buf, %b: !buf, %z: !sum, %p: !ptrs, %flag: i1, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // expected-note @+1 {{this is the product}}
  %d = ttnvgpu.warp_group_dot %a, %b, %z {isAsync = true, inputPrecision = 0 : i32} : !buf * !ttg.memdesc<64x64xf16, #shared, #smem> -> !sum
  // expected-error @+1 {{reads operand #1, the sum of a product that may still run; expected the result of a wait for it}}
  tt.store %p, %d : !ptrs
  tt.return
}
}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
!buf = !ttg.memdesc<64x64xf16, #shared, #smem>
!sum = tensor<64x64xf32, #mma>
!ptrs = tensor<64x64x!tt.ptr<f32>, #mma>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// The wait gives the sum; what LLVM moves before the wait must not have it.
tt.func @behind_the_wait(%a: !buf, %b: !buf, %z: !sum, %p: !ptrs, %flag: i1, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // expected-note @+1 {{this is the product}}
  %d = ttnvgpu.warp_group_dot %a, %b, %z {isAsync = true, inputPrecision = 0 : i32} : !buf * !ttg.memdesc<64x64xf16, #shared, #smem> -> !sum
  %w = ttnvgpu.warp_group_dot_wait %d {pendings = 0 : i32} : !sum
  // expected-error @+1 {{reads operand #1, the sum of a product that may still run; expected the result of a wait for it}}
  tt.store %p, %d : !ptrs
  tt.return
}
}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
!buf = !ttg.memdesc<64x64xf16, #shared, #smem>
!sum = tensor<64x64xf32, #mma>
!ptrs = tensor<64x64x!tt.ptr<f32>, #mma>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// The wait leaves the last product unfinished.
tt.func @too_few(%a: !buf, %b: !buf, %z: !sum, %p: !ptrs, %flag: i1, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c = ttnvgpu.warp_group_dot %a, %b, %z {isAsync = true, inputPrecision = 0 : i32} : !buf * !ttg.memdesc<64x64xf16, #shared, #smem> -> !sum
  // expected-note @+1 {{this is the product}}
  %d = ttnvgpu.warp_group_dot %a, %b, %z {isAsync = true, inputPrecision = 0 : i32} : !buf * !ttg.memdesc<64x64xf16, #shared, #smem> -> !sum
  %w = ttnvgpu.warp_group_dot_wait %d {pendings = 1 : i32} : !sum
  // expected-error @+1 {{reads operand #1, the sum of a product that may still run; expected the result of a wait for it}}
  tt.store %p, %w : !ptrs
  tt.return
}
}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
!buf = !ttg.memdesc<64x64xf16, #shared, #smem>
!sum = tensor<64x64xf32, #mma>
!ptrs = tensor<64x64x!tt.ptr<f32>, #mma>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
tt.func @as_operand(%a: !buf, %b: !buf, %z: !sum, %p: !ptrs, %flag: i1, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // expected-note @+1 {{this is the product}}
  %d = ttnvgpu.warp_group_dot %a, %b, %z {isAsync = true, inputPrecision = 0 : i32} : !buf * !ttg.memdesc<64x64xf16, #shared, #smem> -> !sum
  // expected-error @+1 {{reads operand #0, the sum of a product that may still run; expected the result of a wait for it}}
  %e = arith.addf %d, %z : !sum
  tt.return
}
}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
!buf = !ttg.memdesc<64x64xf16, #shared, #smem>
!sum = tensor<64x64xf32, #mma>
!ptrs = tensor<64x64x!tt.ptr<f32>, #mma>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// A choice in front of the wait.
tt.func @behind_the_loop(%a: !buf, %b: !buf, %z: !sum, %p: !ptrs, %flag: i1, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %z) -> (!sum) : i32 {
    // expected-note @+1 {{this is the product}}
    %d = ttnvgpu.warp_group_dot %a, %b, %acc {isAsync = true, inputPrecision = 0 : i32} : !buf * !ttg.memdesc<64x64xf16, #shared, #smem> -> !sum
    %h = ttnvgpu.warp_group_dot_wait %d {pendings = 1 : i32} : !sum
    scf.yield %h : !sum
  }
  // expected-error @+1 {{reads operand #1, the sum of a product that may still run; expected the result of a wait for it}}
  %s = arith.select %flag, %r, %z : !sum
  %w = ttnvgpu.warp_group_dot_wait %r {pendings = 0 : i32} : !sum
  tt.return
}
}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
!buf = !ttg.memdesc<64x64xf16, #shared, #smem>
!sum = tensor<64x64xf32, #mma>
!ptrs = tensor<64x64x!tt.ptr<f32>, #mma>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
tt.func @next_iteration(%a: !buf, %b: !buf, %z: !sum, %p: !ptrs, %flag: i1, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %z) -> (!sum) : i32 {
    // expected-error @+1 {{reads operand #1, the sum of a product that may still run; expected the result of a wait for it}}
    tt.store %p, %acc : !ptrs
    // expected-note @+1 {{this is the product}}
    %d = ttnvgpu.warp_group_dot %a, %b, %acc {isAsync = true, inputPrecision = 0 : i32} : !buf * !ttg.memdesc<64x64xf16, #shared, #smem> -> !sum
    scf.yield %d : !sum
  }
  %w = ttnvgpu.warp_group_dot_wait %r {pendings = 0 : i32} : !sum
  tt.return
}
}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
!buf = !ttg.memdesc<64x64xf16, #shared, #smem>
!sum = tensor<64x64xf32, #mma>
!ptrs = tensor<64x64x!tt.ptr<f32>, #mma>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
tt.func @one_branch(%a: !buf, %b: !buf, %z: !sum, %p: !ptrs, %flag: i1, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // expected-note @+1 {{this is the product}}
  %d = ttnvgpu.warp_group_dot %a, %b, %z {isAsync = true, inputPrecision = 0 : i32} : !buf * !ttg.memdesc<64x64xf16, #shared, #smem> -> !sum
  %r = scf.if %flag -> (!sum) {
    %w = ttnvgpu.warp_group_dot_wait %d {pendings = 0 : i32} : !sum
    scf.yield %w : !sum
  } else {
    scf.yield %d : !sum
  }
  // expected-error @+1 {{reads operand #1, the sum of a product that may still run; expected the result of a wait for it}}
  tt.store %p, %r : !ptrs
  tt.return
}
}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
!buf = !ttg.memdesc<64x64xf16, #shared, #smem>
!sum = tensor<64x64xf32, #mma>
!ptrs = tensor<64x64x!tt.ptr<f32>, #mma>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// It comes back in another place.
tt.func @moved(%a: !buf, %b: !buf, %z: !sum, %p: !ptrs, %flag: i1, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %z, %y = %z) -> (!sum, !sum) : i32 {
    // expected-error @+1 {{reads operand #0, the sum of a product that may still run; expected the result of a wait for it}}
    %h = arith.negf %y : !sum
    // expected-note @+1 {{this is the product}}
    %d = ttnvgpu.warp_group_dot %a, %b, %x {isAsync = true, inputPrecision = 0 : i32} : !buf * !ttg.memdesc<64x64xf16, #shared, #smem> -> !sum
    scf.yield %h, %d : !sum, !sum
  }
  %w = ttnvgpu.warp_group_dot_wait %r#1 {pendings = 0 : i32} : !sum
  tt.return
}
}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
!buf = !ttg.memdesc<64x64xf16, #shared, #smem>
!sum = tensor<64x64xf32, #mma>
!ptrs = tensor<64x64x!tt.ptr<f32>, #mma>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
tt.func @while(%a: !buf, %b: !buf, %z: !sum, %p: !ptrs, %flag: i1, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.while (%x = %z) : (!sum) -> !sum {
    scf.condition(%flag) %x : !sum
  } do {
  ^bb0(%x: !sum):
    // expected-error @+1 {{reads operand #0, the sum of a product that may still run; expected the result of a wait for it}}
    %h = arith.negf %x : !sum
    // expected-note @+1 {{this is the product}}
    %d = ttnvgpu.warp_group_dot %a, %b, %h {isAsync = true, inputPrecision = 0 : i32} : !buf * !ttg.memdesc<64x64xf16, #shared, #smem> -> !sum
    scf.yield %d : !sum
  }
  %w = ttnvgpu.warp_group_dot_wait %r {pendings = 0 : i32} : !sum
  tt.return
}
}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
!buf = !ttg.memdesc<64x64xf16, #shared, #smem>
!sum = tensor<64x64xf32, #mma>
!ptrs = tensor<64x64x!tt.ptr<f32>, #mma>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
tt.func @blocks(%a: !buf, %b: !buf, %z: !sum, %p: !ptrs, %flag: i1, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // expected-note @+1 {{this is the product}}
  %d = ttnvgpu.warp_group_dot %a, %b, %z {isAsync = true, inputPrecision = 0 : i32} : !buf * !ttg.memdesc<64x64xf16, #shared, #smem> -> !sum
  cf.cond_br %flag, ^bb1(%d : !sum), ^bb1(%z : !sum)
  ^bb1(%x: !sum):
  // expected-error @+1 {{reads operand #1, the sum of a product that may still run; expected the result of a wait for it}}
  tt.store %p, %x : !ptrs
  tt.return
}
}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
!buf = !ttg.memdesc<64x64xf16, #shared, #smem>
!sum = tensor<64x64xf32, #mma>
!ptrs = tensor<64x64x!tt.ptr<f32>, #mma>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
tt.func @returned(%a: !buf, %b: !buf, %z: !sum) -> !sum {
  // expected-note @+1 {{this is the product}}
  %d = ttnvgpu.warp_group_dot %a, %b, %z {isAsync = true, inputPrecision = 0 : i32} : !buf * !ttg.memdesc<64x64xf16, #shared, #smem> -> !sum
  // expected-error @+1 {{reads operand #0, the sum of a product that may still run; expected the result of a wait for it}}
  tt.return %d : !sum
}
}

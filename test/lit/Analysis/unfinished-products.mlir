// RUN: tile-opt %s -test-unfinished-products -o /dev/null

// What waits, products that add to the sum, and control flow may have the sum of
// a product that still runs.

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
!buf = !ttg.memdesc<64x64xf16, #shared, #smem>
!sum = tensor<64x64xf32, #mma>
!ptrs = tensor<64x64x!tt.ptr<f32>, #mma>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
tt.func @waits(%a: !buf, %b: !buf, %z: !sum, %p: !ptrs, %flag: i1, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %d = ttnvgpu.warp_group_dot %a, %b, %z {isAsync = true, inputPrecision = 0 : i32} : !buf * !ttg.memdesc<64x64xf16, #shared, #smem> -> !sum
  %w = ttnvgpu.warp_group_dot_wait %d {pendings = 0 : i32} : !sum
  tt.store %p, %w : !ptrs
  tt.return
}

// The first of two products.
tt.func @counted(%a: !buf, %b: !buf, %z: !sum, %p: !ptrs, %flag: i1, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c = ttnvgpu.warp_group_dot %a, %b, %z {isAsync = true, inputPrecision = 0 : i32} : !buf * !ttg.memdesc<64x64xf16, #shared, #smem> -> !sum
  %d = ttnvgpu.warp_group_dot %a, %b, %z {isAsync = true, inputPrecision = 0 : i32} : !buf * !ttg.memdesc<64x64xf16, #shared, #smem> -> !sum
  %w = ttnvgpu.warp_group_dot_wait %c {pendings = 1 : i32} : !sum
  tt.store %p, %w : !ptrs
  %v = ttnvgpu.warp_group_dot_wait %d {pendings = 0 : i32} : !sum
  tt.store %p, %v : !ptrs
  tt.return
}

// Products add to the sums of others in their order; one that is waited for is
// behind them all.
tt.func @added_to(%a: !buf, %b: !buf, %z: !sum, %p: !ptrs, %flag: i1, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c = ttnvgpu.warp_group_dot %a, %b, %z {isAsync = true, inputPrecision = 0 : i32} : !buf * !ttg.memdesc<64x64xf16, #shared, #smem> -> !sum
  %d = ttnvgpu.warp_group_dot %a, %b, %c {isAsync = true, inputPrecision = 0 : i32} : !buf * !ttg.memdesc<64x64xf16, #shared, #smem> -> !sum
  %e = ttnvgpu.warp_group_dot %a, %b, %d {inputPrecision = 0 : i32} : !buf * !ttg.memdesc<64x64xf16, #shared, #smem> -> !sum
  tt.store %p, %e : !ptrs
  tt.return
}

tt.func @late(%a: !buf, %b: !buf, %z: !sum, %p: !ptrs, %flag: i1, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %z) -> (!sum) : i32 {
    %w = ttnvgpu.warp_group_dot_wait %acc {pendings = 0 : i32} : !sum
    tt.store %p, %w : !ptrs
    %d = ttnvgpu.warp_group_dot %a, %b, %w {isAsync = true, inputPrecision = 0 : i32} : !buf * !ttg.memdesc<64x64xf16, #shared, #smem> -> !sum
    scf.yield %d : !sum
  }
  %w = ttnvgpu.warp_group_dot_wait %r {pendings = 0 : i32} : !sum
  tt.store %p, %w : !ptrs
  tt.return
}

// Handed on by a branch.
tt.func @occasional(%a: !buf, %b: !buf, %z: !sum, %p: !ptrs, %flag: i1, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %z) -> (!sum) : i32 {
    %d = ttnvgpu.warp_group_dot %a, %b, %acc {isAsync = true, inputPrecision = 0 : i32} : !buf * !ttg.memdesc<64x64xf16, #shared, #smem> -> !sum
    %h = ttnvgpu.warp_group_dot_wait %d {pendings = 1 : i32} : !sum
    %s = scf.if %flag -> (!sum) {
      %w = ttnvgpu.warp_group_dot_wait %h {pendings = 0 : i32} : !sum
      tt.store %p, %w : !ptrs
      scf.yield %z : !sum
    } else {
      scf.yield %h : !sum
    }
    scf.yield %s : !sum
  }
  %w = ttnvgpu.warp_group_dot_wait %r {pendings = 0 : i32} : !sum
  tt.store %p, %w : !ptrs
  tt.return
}

// One is done in its iteration, the other is not.
tt.func @two(%a: !buf, %b: !buf, %z: !sum, %p: !ptrs, %flag: i1, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %z, %y = %z) -> (!sum, !sum) : i32 {
    %c = ttnvgpu.warp_group_dot %a, %b, %x {isAsync = true, inputPrecision = 0 : i32} : !buf * !ttg.memdesc<64x64xf16, #shared, #smem> -> !sum
    %d = ttnvgpu.warp_group_dot %a, %b, %y {isAsync = true, inputPrecision = 0 : i32} : !buf * !ttg.memdesc<64x64xf16, #shared, #smem> -> !sum
    %w = ttnvgpu.warp_group_dot_wait %c {pendings = 1 : i32} : !sum
    tt.store %p, %w : !ptrs
    scf.yield %w, %d : !sum, !sum
  }
  %w = ttnvgpu.warp_group_dot_wait %r#1 {pendings = 0 : i32} : !sum
  tt.store %p, %w : !ptrs
  tt.store %p, %r#0 : !ptrs
  tt.return
}

tt.func @blocks(%a: !buf, %b: !buf, %z: !sum, %p: !ptrs, %flag: i1, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %d = ttnvgpu.warp_group_dot %a, %b, %z {isAsync = true, inputPrecision = 0 : i32} : !buf * !ttg.memdesc<64x64xf16, #shared, #smem> -> !sum
  cf.br ^bb1(%d : !sum)
  ^bb1(%x: !sum):
  %w = ttnvgpu.warp_group_dot_wait %x {pendings = 0 : i32} : !sum
  tt.store %p, %w : !ptrs
  %e = ttnvgpu.warp_group_dot %a, %b, %w {isAsync = true, inputPrecision = 0 : i32} : !buf * !ttg.memdesc<64x64xf16, #shared, #smem> -> !sum
  cf.cond_br %flag, ^bb1(%e : !sum), ^bb2
  ^bb2:
  tt.return
}
}

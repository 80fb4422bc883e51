// RUN: tile-opt %s -split-input-file -tritongpu-optimize-accumulator-init | filecheck %s

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Zero before the loop, and again where a new tile starts.
  // CHECK-LABEL: @reset_by_select
  // CHECK-SAME: %[[NEW:[^:]*]]: i1
  tt.func @reset_by_select(%a: !ttg.memdesc<64x64xf16, #shared, #smem>, %b: !ttg.memdesc<64x64xf16, #shared, #smem>, %new: i1, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #mma>
    // CHECK: %[[FALSE:.*]] = arith.constant false
    // CHECK: scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}, %[[USE:.*]] = %[[FALSE]])
    scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      // CHECK: %[[D:.*]] = ttnvgpu.warp_group_dot %{{.*}}, %{{.*}}, %[[ACC]], %[[USE]]
      // CHECK: %[[TRUE:.*]] = arith.constant true
      // CHECK: %[[KEEP:.*]] = arith.xori %[[NEW]], %[[TRUE]]
      // CHECK: scf.yield %[[D]], %[[KEEP]]
      %d = ttnvgpu.warp_group_dot %a, %b, %acc {inputPrecision = 0 : i32} : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
      %r = arith.select %new, %zero, %d : tensor<64x64xf32, #mma>
      scf.yield %r : tensor<64x64xf32, #mma>
    }
    tt.return
  }

  // Where the branch that sets back has waited for the sum, it hands that on: no
  // second copy of the sum lives on beside it.
  // CHECK-LABEL: @reset_behind_wait
  // CHECK-SAME: %[[NEW:[^:]*]]: i1
  tt.func @reset_behind_wait(%a: !ttg.memdesc<64x64xf16, #shared, #smem>, %b: !ttg.memdesc<64x64xf16, #shared, #smem>, %p: tensor<64x64x!tt.ptr<f32>, #mma>, %new: i1, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #mma>
    scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %d = ttnvgpu.warp_group_dot %a, %b, %acc {inputPrecision = 0 : i32, isAsync = true} : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
      // CHECK: %[[D:.*]] = ttnvgpu.warp_group_dot %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {
      // CHECK: %[[NEXT:.*]] = scf.if %[[NEW]]
      // CHECK: %[[DONE:.*]] = ttnvgpu.warp_group_dot_wait %[[D]]
      // CHECK: tt.store
      // CHECK: scf.yield %[[DONE]]
      // CHECK: } else {
      // CHECK: scf.yield %[[D]]
      // CHECK: scf.yield %[[NEXT]], %
      %r = scf.if %new -> (tensor<64x64xf32, #mma>) {
        %done = ttnvgpu.warp_group_dot_wait %d {pendings = 0 : i32} : tensor<64x64xf32, #mma>
        tt.store %p, %done : tensor<64x64x!tt.ptr<f32>, #mma>
        scf.yield %zero : tensor<64x64xf32, #mma>
      } else {
        scf.yield %d : tensor<64x64xf32, #mma>
      }
      scf.yield %r : tensor<64x64xf32, #mma>
    }
    tt.return
  }

  // Zero before the loop only, whose products are waited for behind it: the zeros
  // are those of a loop that does not run.
  // CHECK-LABEL: @zero_behind_wait
  tt.func @zero_behind_wait(%a: !ttg.memdesc<64x64xf16, #shared, #smem>, %b: !ttg.memdesc<64x64xf16, #shared, #smem>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    // CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00>
    %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #mma>
    // CHECK: %[[ANY:.*]] = ub.poison : tensor<64x64xf32, #mma>
    // CHECK: %[[R:.*]]:2 = scf.for %{{.*}} = %[[LB:.*]] to %[[UB:.*]] step %{{.*}} iter_args(%{{.*}} = %[[ANY]], %{{.*}} = %{{.*}})
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %d = ttnvgpu.warp_group_dot %a, %b, %acc {inputPrecision = 0 : i32, isAsync = true} : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
      %w = ttnvgpu.warp_group_dot_wait %d {pendings = 1 : i32} : tensor<64x64xf32, #mma>
      scf.yield %w : tensor<64x64xf32, #mma>
    }
    // CHECK: %[[SUM:.*]] = ttnvgpu.warp_group_dot_wait %[[R]]#0 {pendings = 0
    // CHECK: %[[RAN:.*]] = arith.cmpi slt, %[[LB]], %[[UB]]
    // CHECK: %[[IF:.*]] = scf.if %[[RAN]]
    // CHECK: scf.yield %[[SUM]]
    // CHECK: scf.yield %[[ZERO]]
    // CHECK: tt.return %[[IF]]
    %s = ttnvgpu.warp_group_dot_wait %r {pendings = 0 : i32} : tensor<64x64xf32, #mma>
    tt.return %s : tensor<64x64xf32, #mma>
  }

  // Zero before the loop only; and the result is used after it.
  // CHECK-LABEL: @zero_before
  tt.func @zero_before(%a: !ttg.memdesc<64x64xf16, #shared, #smem>, %b: !ttg.memdesc<64x64xf16, #shared, #smem>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #mma>
    // CHECK: %[[R:.*]]:2 = scf.for
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      // CHECK: %[[D:.*]] = ttnvgpu.warp_group_dot
      // CHECK: %[[TRUE:.*]] = arith.constant true
      // CHECK: scf.yield %[[D]], %[[TRUE]]
      %d = ttnvgpu.warp_group_dot %a, %b, %acc {inputPrecision = 0 : i32} : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
      scf.yield %d : tensor<64x64xf32, #mma>
    }
    // CHECK: tt.return %[[R]]#0
    tt.return %r : tensor<64x64xf32, #mma>
  }

  // The branch that resets stays for what else it does; after the loop the
  // result is zero where the last iteration made it so.
  // CHECK-LABEL: @reset_by_branch
  tt.func @reset_by_branch(%a: !ttg.memdesc<64x64xf16, #shared, #smem>, %b: !ttg.memdesc<64x64xf16, #shared, #smem>, %new: i1, %n: i32, %start: tensor<64x64xf32, #mma>, %p: tensor<64x64x!tt.ptr<f32>, #mma>) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #mma>
    // CHECK: %[[YES:.*]] = arith.constant true
    // CHECK: %[[R:.*]]:2 = scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}, %[[USE:.*]] = %[[YES]])
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %start) -> (tensor<64x64xf32, #mma>) : i32 {
      // CHECK: %[[D:.*]] = ttnvgpu.warp_group_dot %{{.*}}, %{{.*}}, %[[ACC]], %[[USE]]
      %d = ttnvgpu.warp_group_dot %a, %b, %acc {inputPrecision = 0 : i32} : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
      // CHECK: tt.store
      %s = scf.if %new -> (tensor<64x64xf32, #mma>) {
        tt.store %p, %d : tensor<64x64x!tt.ptr<f32>, #mma>
        scf.yield %zero : tensor<64x64xf32, #mma>
      } else {
        scf.yield %d : tensor<64x64xf32, #mma>
      }
      // CHECK: scf.yield %[[D]], %{{.*}} : tensor<64x64xf32, #mma>, i1
      scf.yield %s : tensor<64x64xf32, #mma>
    }
    // CHECK: %[[END:.*]] = arith.select %[[R]]#1, %[[R]]#0, %{{.*}}
    // CHECK: tt.return %[[END]]
    tt.return %r : tensor<64x64xf32, #mma>
  }

  // What the loop hands on in place of zero is another of its arguments, and so
  // is the condition: both are those of the loop with the flag.
  // CHECK-LABEL: @taken_over
  tt.func @taken_over(%a: !ttg.memdesc<64x64xf16, #shared, #smem>, %b: !ttg.memdesc<64x64xf16, #shared, #smem>, %new: i1, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #mma>
    // CHECK: scf.for {{.*}} iter_args(%[[P:[^ ]*]] = %{{.*}}, %[[Q:[^ ]*]] = %{{.*}}, %[[KEEP:[^ ]*]] = %{{.*}}, %[[USE:[^ ]*]] = %{{.*}})
    %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %zero, %q = %zero, %keep = %new) -> (tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>, i1) : i32 {
      // CHECK: %[[D:.*]] = ttnvgpu.warp_group_dot %{{.*}}, %{{.*}}, %[[Q]], %[[USE]]
      %d = ttnvgpu.warp_group_dot %a, %b, %q {inputPrecision = 0 : i32} : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
      %s = arith.select %keep, %p, %zero : tensor<64x64xf32, #mma>
      %other = arith.cmpi slt, %i, %c1 : i32
      // CHECK: scf.yield %[[D]], %[[P]], %{{.*}}, %[[KEEP]]
      scf.yield %d, %s, %other : tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>, i1
    }
    tt.return %r#0 : tensor<64x64xf32, #mma>
  }

  // Behind the loop the product may still run: the zero comes after the wait for
  // it.
  // CHECK-LABEL: @reset_and_running
  tt.func @reset_and_running(%a: !ttg.memdesc<64x64xf16, #shared, #smem>, %b: !ttg.memdesc<64x64xf16, #shared, #smem>, %p: tensor<64x64x!tt.ptr<f32>, #mma>, %new: i1, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #mma>
    // CHECK: %[[R:.*]]:2 = scf.for
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %d = ttnvgpu.warp_group_dot %a, %b, %acc {inputPrecision = 0 : i32, isAsync = true} : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
      %h = ttnvgpu.warp_group_dot_wait %d {pendings = 1 : i32} : tensor<64x64xf32, #mma>
      %s = scf.if %new -> (tensor<64x64xf32, #mma>) {
        %done = ttnvgpu.warp_group_dot_wait %h {pendings = 0 : i32} : tensor<64x64xf32, #mma>
        tt.store %p, %done : tensor<64x64x!tt.ptr<f32>, #mma>
        scf.yield %zero : tensor<64x64xf32, #mma>
      } else {
        scf.yield %h : tensor<64x64xf32, #mma>
      }
      scf.yield %s : tensor<64x64xf32, #mma>
    }
    // CHECK: %[[SUM:.*]] = ttnvgpu.warp_group_dot_wait %[[R]]#0 {pendings = 0
    // CHECK: %[[END:.*]] = arith.select %[[R]]#1, %[[SUM]], %{{.*}}
    // CHECK: tt.return %[[END]]
    %w = ttnvgpu.warp_group_dot_wait %r {pendings = 0 : i32} : tensor<64x64xf32, #mma>
    tt.return %w : tensor<64x64xf32, #mma>
  }

  // In front of the product; and an accumulator that is always zero.
  // CHECK-LABEL: @in_front
  // CHECK-SAME: %[[FIRST:[^:]*]]: i1, %[[ACC:[^:]*]]: tensor
  tt.func @in_front(%first: i1, %acc: tensor<64x64xf32, #mma>, %a: !ttg.memdesc<64x64xf16, #shared, #smem>, %b: !ttg.memdesc<64x64xf16, #shared, #smem>) -> (tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>) {
    %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #mma>
    %c = arith.select %first, %acc, %zero : tensor<64x64xf32, #mma>
    // CHECK: ttnvgpu.warp_group_dot %{{.*}}, %{{.*}}, %[[ACC]], %[[FIRST]]
    %d = ttnvgpu.warp_group_dot %a, %b, %c {inputPrecision = 0 : i32} : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
    // CHECK: %[[NO:.*]] = arith.constant false
    // CHECK: ttnvgpu.warp_group_dot %{{.*}}, %{{.*}}, %{{.*}}, %[[NO]]
    %e = ttnvgpu.warp_group_dot %a, %b, %zero {inputPrecision = 0 : i32} : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
    tt.return %d, %e : tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>
  }

  // Somebody else looks at the accumulator: it has to be zero.
  // CHECK-LABEL: @seen
  tt.func @seen(%a: !ttg.memdesc<64x64xf16, #shared, #smem>, %b: !ttg.memdesc<64x64xf16, #shared, #smem>, %p: tensor<64x64x!tt.ptr<f32>, #mma>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #mma>
    // CHECK: scf.for {{.*}} iter_args(%[[ACC:[^,]*]] = %{{[^,]*}}) ->
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      tt.store %p, %acc : tensor<64x64x!tt.ptr<f32>, #mma>
      // CHECK: ttnvgpu.warp_group_dot %{{.*}}, %{{.*}}, %[[ACC]] {
      %d = ttnvgpu.warp_group_dot %a, %b, %acc {inputPrecision = 0 : i32} : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
      scf.yield %d : tensor<64x64xf32, #mma>
    }
    tt.return
  }
}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // mma.sync always adds: what costs nothing is a branch not taken.
  // CHECK-LABEL: @branches
  tt.func @branches(%a: tensor<64x32xf16, #a>, %b: tensor<32x64xf16, #b>, %first: i1, %last: i1, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    // CHECK: %[[ZERO:.*]] = arith.constant dense<0.0
    %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #mma>
    scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      // CHECK: %[[C:.*]] = scf.if
      // CHECK-NEXT: scf.yield %[[ZERO]]
      %c = arith.select %first, %zero, %acc : tensor<64x64xf32, #mma>
      // CHECK: %[[D:.*]] = tt.dot %{{.*}}, %{{.*}}, %[[C]]
      %d = tt.dot %a, %b, %c : tensor<64x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<64x64xf32, #mma>
      // CHECK: %[[R:.*]] = scf.if
      // CHECK-NEXT: scf.yield %[[ZERO]]
      // CHECK: scf.yield %[[D]]
      // CHECK: scf.yield %[[R]]
      %r = arith.select %last, %zero, %d : tensor<64x64xf32, #mma>
      scf.yield %r : tensor<64x64xf32, #mma>
    }
    tt.return
  }

  // A choice between two real values stays.
  // CHECK-LABEL: @stays
  tt.func @stays(%a: tensor<64x32xf16, #a>, %b: tensor<32x64xf16, #b>, %first: i1, %start: tensor<64x64xf32, #mma>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 iter_args(%acc = %start) -> (tensor<64x64xf32, #mma>) : i32 {
      // CHECK: arith.select
      %c = arith.select %first, %start, %acc : tensor<64x64xf32, #mma>
      %d = tt.dot %a, %b, %c : tensor<64x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<64x64xf32, #mma>
      scf.yield %d : tensor<64x64xf32, #mma>
    }
    tt.return
  }
}

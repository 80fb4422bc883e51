// RUN: tile-opt %s -verify-diagnostics -test-print-alias

#A = #ttg.swizzled_shared<{vec = 2, perPhase = 2, maxPhase = 4, order = [1, 0]}>
#smem = #ttg.shared_memory
!buffer = !ttg.memdesc<32x32xf16, #A, #smem, mutable>

module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32} {
tt.func @aliases(%cond: i1, %lb: index, %ub: index, %st: index) {
  // expected-remark @below {{%0 -> %0}}
  %a = ttg.local_alloc : () -> !buffer
  // expected-remark @below {{%1 -> %1}}
  %b = ttg.local_alloc : () -> !buffer
  // expected-remark @below {{%2 -> %0}}
  %t = ttg.memdesc_trans %a {order = array<i32: 1, 0>} : !buffer -> !ttg.memdesc<32x32xf16, #ttg.swizzled_shared<{vec = 2, perPhase = 2, maxPhase = 4, order = [0, 1]}>, #smem, mutable>
  // expected-remark @below {{%3 -> %0,%1}}
  %s = arith.select %cond, %a, %b : !buffer
  // expected-remark @below {{%4 -> %0,%1}}
  // expected-remark @below {{%arg5 -> %0,%1}}
  %l = scf.for %i = %lb to %ub step %st iter_args(%x = %a) -> (!buffer) {
    scf.yield %b : !buffer
  }
  // expected-remark @below {{%5 -> %0,%1}}
  %f = scf.if %cond -> (!buffer) {
    scf.yield %l : !buffer
  } else {
    scf.yield %b : !buffer
  }
  tt.return
}
}

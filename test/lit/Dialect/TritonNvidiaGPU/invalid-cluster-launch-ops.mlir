// RUN: tile-opt %s -split-input-file -verify-diagnostics

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @small(%buf: !ttg.memdesc<1xi64, #shared, #smem, mutable>, %bar: !ttg.memdesc<1xi64, #shared, #smem, mutable>) {
  // expected-error @+1 {{expected a buffer of integers of 128 bits in all, found '!ttg.memdesc<1xi64,}}
  ttnvgpu.clc_try_cancel %buf, %bar : !ttg.memdesc<1xi64, #shared, #smem, mutable>, !ttg.memdesc<1xi64, #shared, #smem, mutable>
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @barrier(%buf: !ttg.memdesc<2xi64, #shared, #smem, mutable>) {
  // expected-error @+1 {{expected barrier to be a 1xi64 buffer in shared memory, found '!ttg.memdesc<2xi64,}}
  ttnvgpu.clc_try_cancel %buf, %buf : !ttg.memdesc<2xi64, #shared, #smem, mutable>, !ttg.memdesc<2xi64, #shared, #smem, mutable>
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @floats(%buf: !ttg.memdesc<4xf32, #shared, #smem>) {
  // expected-error @+1 {{expected a buffer of integers of 128 bits in all, found '!ttg.memdesc<4xf32,}}
  %0 = ttnvgpu.clc_load_result %buf : !ttg.memdesc<4xf32, #shared, #smem> -> i128
  tt.return
}

// -----

tt.func @shape() {
  // expected-error @+1 {{expected the answer to be two i64, found 'tensor<4xi64>'}}
  %0 = ttnvgpu.clc_try_cancel_sync : tensor<4xi64>
  tt.return
}

// -----

tt.func @element() {
  // expected-error @+1 {{expected the answer to be two i64, found 'tensor<2xf32>'}}
  %0 = ttnvgpu.clc_try_cancel_sync : tensor<2xf32>
  tt.return
}

// -----

// Each block would have half of the answer.
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[1]]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32} {
tt.func @half(%buf: !ttg.memdesc<2xi64, #shared, #smem, mutable>) {
  // expected-error @+1 {{expected each block of the cluster to have room for the whole answer, found '!ttg.memdesc<2xi64,}}
  ttnvgpu.clc_try_cancel %buf, %buf : !ttg.memdesc<2xi64, #shared, #smem, mutable>, !ttg.memdesc<2xi64, #shared, #smem, mutable>
  tt.return
}
}

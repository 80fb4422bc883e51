// RUN: tile-opt %s -split-input-file -verify-diagnostics

// Attributes by which passes talk are verified by the dialects they belong to: values, and places.

// expected-error @below {{'builtin.module' op expected 'tt.num_stages' on a loop}}
module attributes {tt.num_stages = 2 : i32} {}

// -----

tt.func @f(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // expected-error @below {{'scf.for' op expected 'tt.num_stages' not to be negative, found -1 : i32}}
  scf.for %i = %c0 to %n step %c1 : i32 {
  } {tt.num_stages = -1 : i32}
  tt.return
}

// -----

tt.func @f(%p: !tt.ptr<f32>) {
  // expected-error @below {{'tt.load' op expected 'tt.latency' to be an i32, found 2 : i64}}
  %x = tt.load %p {tt.latency = 2 : i64} : !tt.ptr<f32>
  tt.return
}

// -----

// `loop` is a dialect of attributes only.
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func @f(%p: !tt.ptr<f32>) {
    // expected-error @below {{'tt.load' op expected 'loop.stage' to be an integer, found "1"}}
    %x = tt.load %p {loop.stage = "1"} : !tt.ptr<f32>
    tt.return
  }
}

// -----

// expected-error @below {{'tt.func' op argument #0: expected 'tt.num_stages' on something else than an argument, found 2 : i32}}
tt.func @f(%p: !tt.ptr<f32> {tt.num_stages = 2 : i32}) {
  tt.return
}

// -----

// expected-error @below {{'tt.func' op argument #0: expected 'ttnvgpu.tensor_map_base' not to be negative, found -1 : i32}}
tt.func @f(%p: !tt.ptr<f32> {ttnvgpu.tensor_map_base = -1 : i32}) {
  tt.return
}

// -----

// expected-error @below {{'tt.func' op argument #0: expected 'ttg.num-warps' on something else than an argument, found 4 : i32}}
tt.func @f(%p: !tt.ptr<f32> {"ttg.num-warps" = 4 : i32}) {
  tt.return
}

// -----

// expected-error @below {{'tt.func' op result #1: expected 'ttg.partition' on something else than a result, found 0 : i32}}
tt.func @f(%x: i32) -> (i32, i32 {ttg.partition = 0 : i32}) {
  tt.return %x, %x : i32, i32
}

// -----

// Facts may be about results. They are checked there, too.
// expected-error @below {{'tt.func' op result #0: expected 'tt.divisibility' to be positive integers, found 0 : i32}}
tt.func @f(%x: i32) -> (i32 {tt.divisibility = 0 : i32}) {
  tt.return %x : i32
}

// RUN: tile-opt %s -split-input-file -verify-diagnostics

tt.func @f() -> i32 {
  // expected-error @+1 {{expected 1 returned values, found 0}}
  tt.return
}

// -----

tt.func @f(%x: i64) -> i32 {
  // expected-error @+1 {{expected type 'i32' for returned value #0, found 'i64'}}
  tt.return %x : i64
}

// -----

tt.func @f() {
  // expected-error @+1 {{expected the name of a tt.func, found @nowhere}}
  tt.call @nowhere() : () -> ()
  tt.return
}

// -----

tt.func private @callee(i32) -> i32
tt.func @f(%x: i64) {
  // expected-error @+1 {{expected type 'i32' for argument #0, found 'i64'}}
  %0 = tt.call @callee(%x) : (i64) -> i32
  tt.return
}

// -----

tt.func private @callee(i32) -> i32
tt.func @f(%x: i32) {
  // expected-error @+1 {{expected 1 results, found 0}}
  tt.call @callee(%x) : (i32) -> ()
  tt.return
}

// -----

// expected-error @+1 {{argument #1: expected a positive integer as 'tt.divisibility', found 0 : i32}}
tt.func @f(%x: i32, %y: i32 {tt.divisibility = 0 : i32}) {
  tt.return
}

// -----

// expected-error @+1 {{argument #0: expected a positive integer as 'tt.pointer_range', found "far"}}
tt.func @f(%x: !tt.ptr<f32> {tt.pointer_range = "far"}) {
  tt.return
}

// -----

// expected-error @+1 {{argument #0: expected a positive integer or one for each of 2 dimensions as 'tt.contiguity', found dense<4> : tensor<1xi32>}}
tt.func @f(%x: tensor<8x8xi32> {tt.contiguity = dense<4> : tensor<1xi32>}) {
  tt.return
}

// -----

// expected-error @+1 {{argument #0: expected a positive integer as 'tt.divisibility', found dense<16> : tensor<1xi32>}}
tt.func @f(%x: i32 {tt.divisibility = dense<16> : tensor<1xi32>}) {
  tt.return
}

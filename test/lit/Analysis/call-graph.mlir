// RUN: tile-opt %s -split-input-file -verify-diagnostics -test-print-call-graph -o /dev/null

// Callees come first, each once.
// expected-remark @below {{order = 2, calls = [left, right], root}}
tt.func public @kernel(%x: i32) {
  %0 = tt.call @left(%x) : (i32) -> i32
  %1 = tt.call @right(%0) : (i32) -> i32
  %2 = tt.call @left(%1) : (i32) -> i32
  tt.return
}
// expected-remark @below {{order = 0, calls = []}}
tt.func private @left(%x: i32) -> i32 {
  tt.return %x : i32
}
// expected-remark @below {{order = 1, calls = [left]}}
tt.func private @right(%x: i32) -> i32 {
  %0 = tt.call @left(%x) : (i32) -> i32
  tt.return %0 : i32
}
// A declaration has nothing to analyse.
tt.func private @elsewhere(%x: i32)

// -----

// Calls in nested regions count.
// expected-remark @below {{order = 1, calls = [f], root}}
tt.func public @nested(%c: i1) {
  scf.if %c {
    tt.call @f() : () -> ()
  }
  tt.return
}
// expected-remark @below {{order = 0, calls = []}}
tt.func private @f() {
  tt.return
}

// -----

// expected-remark @below {{order = 3, calls = [a], root}}
tt.func public @cycles() {
  tt.call @a() : () -> ()
  tt.return
}
// expected-remark @below {{order = 2, calls = [b, c], recursive}}
tt.func private @a() {
  tt.call @b() : () -> ()
  tt.call @c() : () -> ()
  tt.return
}
// expected-remark @below {{order = 0, calls = [a], recursive}}
tt.func private @b() {
  tt.call @a() : () -> ()
  tt.return
}
// expected-remark @below {{order = 1, calls = [b], recursive}}
tt.func private @c() {
  tt.call @b() : () -> ()
  tt.return
}

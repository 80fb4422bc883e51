// RUN: tile-opt %s -tritongpu-global-scratch-memory-allocation -split-input-file -verify-diagnostics

// expected-error @+1 {{'f' calls itself, so its scratch memory has no limit}}
tt.func private @f() attributes {noinline = true} {
  %0 = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 100 : i32} : !tt.ptr<i8>
  tt.call @f() : () -> ()
  tt.return
}

// -----

// Recursion without scratch memory is none of this pass's business.

tt.func private @f() attributes {noinline = true} {
  tt.call @f() : () -> ()
  tt.return
}

// -----

tt.func public @f() {
  %0 = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 2000000000 : i32} : !tt.ptr<i8>
  // expected-error @+1 {{the scratch memory of one block would take 4000000000 bytes, more than fits an i32}}
  %1 = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 2000000000 : i32} : !tt.ptr<i8>
  tt.return
}

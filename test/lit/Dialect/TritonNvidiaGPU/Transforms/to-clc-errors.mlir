// RUN: tile-opt %s -split-input-file -triton-nvidia-gpu-to-clc -verify-diagnostics

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100"} {
  tt.func private @called() -> i32 {
    // expected-error @+1 {{expected to be in a kernel}}
    %x = tt.get_program_id x : i32
    tt.return %x : i32
  }
}

// -----

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100"} {
  // expected-error @+1 {{expected a kernel of one block, as a loop is to run it again}}
  tt.func public @blocks(%c: i1) {
    cf.cond_br %c, ^a, ^b
  ^a:
    tt.return
  ^b:
    tt.return
  }
}

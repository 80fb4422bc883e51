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

// -----

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @one_group_ends(%out: !tt.ptr<i32>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %end = arith.constant 2147483647 : i32
    // expected-error @+1 {{expected a loop over programs in each of its regions, as one of them has one}}
    ttg.warp_specialize(%out)
    default {
      scf.for %i = %c0 to %end step %c1 : i32 {
        %x = ttnvgpu.clc_program_id %i, x : i32
        tt.store %out, %x : !tt.ptr<i32>
      } {ttnvgpu.over_programs}
      ttg.warp_yield
    }
    partition0(%mine: !tt.ptr<i32>) num_warps(1) {
      ttg.warp_return
    } : (!tt.ptr<i32>) -> ()
    tt.return
  }
}

// -----

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @asks_early(%out: !tt.ptr<i32>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %end = arith.constant 2147483647 : i32
    ttg.warp_specialize()
    default {
      scf.for %i = %c0 to %end step %c1 : i32 {
        %next = arith.addi %i, %c1 : i32
        // expected-error @+1 {{expected the number of an iteration of the loop over programs that it is in}}
        %x = ttnvgpu.clc_program_id %next, x : i32
        tt.store %out, %x : !tt.ptr<i32>
      } {ttnvgpu.over_programs}
      ttg.warp_yield
    } : () -> ()
    tt.return
  }
}

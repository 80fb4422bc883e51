// RUN: tile-opt %s -test-print-alignment -verify-diagnostics -o %t

// A partition knows of a captured value what is known outside.
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @captures(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 8 : i32}, %m: i32) {
    ttg.warp_specialize(%p, %n, %m)
    default {
      ttg.warp_yield
    }
    partition0(%q: !tt.ptr<f16>, %k: i32, %l: i32) num_warps(4) {
      // expected-remark@below {{contiguity = [1], divisibility = [16], constancy = [1]}}
      %a = tt.addptr %q, %k : !tt.ptr<f16>, i32
      // expected-remark@below {{contiguity = [1], divisibility = [8], constancy = [1]}}
      %b = arith.addi %k, %k : i32
      // expected-remark@below {{contiguity = [1], divisibility = [1], constancy = [1]}}
      %c = arith.addi %k, %l : i32
      ttg.warp_return
    } : (!tt.ptr<f16>, i32, i32) -> ()
    tt.return
  }
}

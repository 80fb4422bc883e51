// RUN: tile-opt %s -allow-unregistered-dialect -nvws-lower-warp-group -verify-diagnostics

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @results() -> i32 {
    // expected-error @+1 {{expected results from a first partition with as many warps as run what is around, found 8 warps, not 4}}
    %r = nvws.warp_group
    partition0 num_warps(8) {
      %a = "a"() : () -> i32
      nvws.warp_group.yield %a : i32
    } -> (i32)
    tt.return %r : i32
  }
}

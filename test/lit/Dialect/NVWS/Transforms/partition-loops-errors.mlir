// RUN: tile-opt %s -allow-unregistered-dialect -nvws-partition-loops -split-input-file -verify-diagnostics

module attributes {"ttg.num-warps" = 4 : i32} {
tt.func @value_of_another(%x: i32, %n: i32) {
  scf.for %i = %x to %n step %x : i32 {
    // expected-note @+1 {{other partitions make it here}}
    %0 = "a"() {ttg.partition = array<i32: 0>} : () -> i32
    // expected-error @+1 {{expected partition 1 to have what it uses there}}
    "b"(%0) {ttg.partition = array<i32: 1>} : (i32) -> ()
  } {ttg.partition = array<i32: 0, 1>, ttg.warp_specialize.tag = 0 : i32}
  tt.return
}
}

// -----

module attributes {"ttg.num-warps" = 4 : i32} {
tt.func @result_of_another(%x: i32, %n: i32, %p: !tt.ptr<i32>) -> !tt.ptr<i32> {
  // expected-error @+1 {{expected the first partition to have result 0, which others use}}
  %r = scf.for %i = %x to %n step %x iter_args(%a = %p) -> (!tt.ptr<i32>) : i32 {
    %0 = "b"(%a) {ttg.partition = array<i32: 1>} : (!tt.ptr<i32>) -> !tt.ptr<i32>
    scf.yield {ttg.partition = array<i32: 1>} %0 : !tt.ptr<i32>
  } {ttg.partition = array<i32: 0, 1>, ttg.partition.outputs = [array<i32: 1>], ttg.warp_specialize.tag = 0 : i32}
  tt.return %r : !tt.ptr<i32>
}
}

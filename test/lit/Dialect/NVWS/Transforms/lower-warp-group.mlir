// RUN: tile-opt %s -allow-unregistered-dialect -nvws-lower-warp-group | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // The first one is for as many warps as there are.
  // CHECK-LABEL: @default
  tt.func @default(%x: i32, %y: tensor<128xf32, #blocked>) -> i32 {
    %c = arith.constant 7 : i32
    // CHECK: [[BUF:%.*]] = ttg.local_alloc %arg1
    // CHECK: [[R:%.*]] = ttg.warp_specialize(%arg0, [[BUF]])
    // CHECK-NEXT: default {
    // CHECK-NEXT: [[A:%.*]] = "a"
    // CHECK-NEXT: ttg.warp_yield [[A]] : i32
    // CHECK: partition0([[X:%.*]]: i32, [[Y:%.*]]: !ttg.memdesc<128xf32, {{.*}}>) num_warps(4) {
    // CHECK-NEXT: [[C:%.*]] = arith.constant 7 : i32
    // CHECK-NEXT: [[V:%.*]] = ttg.local_load [[Y]]
    // CHECK-NEXT: "b"([[X]], [[C]], [[V]])
    // CHECK-NEXT: ttg.warp_return
    %r = nvws.warp_group
    partition0 num_warps(4) {
      %a = "a"(%c) : (i32) -> i32
      nvws.warp_group.yield %a : i32
    }
    partition1 num_warps(4) {
      "b"(%x, %c, %y) : (i32, i32, tensor<128xf32, #blocked>) -> ()
      nvws.warp_group.return
    } -> (i32)
    // CHECK: tt.return [[R]]
    tt.return %r : i32
  }

  // Other warps run all of them.
  // CHECK-LABEL: @no_default
  tt.func @no_default(%x: i32) {
    // CHECK: ttg.warp_specialize(%arg0)
    // CHECK-NEXT: default {
    // CHECK-NEXT: ttg.warp_yield
    // CHECK: partition0([[X:%.*]]: i32) num_warps(8) {
    // CHECK-NEXT: "a"([[X]])
    // CHECK: partition1(%{{.*}}: i32) num_warps(1) {
    // CHECK-NEXT: "b"()
    nvws.warp_group
    partition0 num_warps(8) {
      "a"(%x) : (i32) -> ()
      nvws.warp_group.return
    }
    partition1 num_warps(1) {
      "b"() : () -> ()
      nvws.warp_group.return
    }
    tt.return
  }
}

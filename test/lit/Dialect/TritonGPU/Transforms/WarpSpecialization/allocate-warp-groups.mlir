// RUN: tile-opt %s -split-input-file -allow-unregistered-dialect -tritongpu-allocate-warp-groups | filecheck %s

// Whole warp groups come first, wherever they were written.
// CHECK: "ttg.total-num-warps" = 15 : i32
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"} {
  // CHECK-LABEL: @order
  tt.func public @order() {
    // CHECK: ttg.warp_specialize() attributes {warpGroupStartIds = array<i32: 14, 4, 12, 8>}
    ttg.warp_specialize()
    default { ttg.warp_yield }
    partition0() num_warps(1) { ttg.warp_return }
    partition1() num_warps(4) { ttg.warp_return }
    partition2() num_warps(2) { ttg.warp_return }
    partition3() num_warps(4) { ttg.warp_return } : () -> ()
    tt.return
  }
}

// -----

// A warp group starts at a multiple of four warps.
// CHECK: "ttg.total-num-warps" = 8 : i32
module attributes {"ttg.num-warps" = 2 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"} {
  tt.func public @aligned() {
    // CHECK: warpGroupStartIds = array<i32: 4>
    ttg.warp_specialize()
    default { ttg.warp_yield }
    partition0() num_warps(4) { ttg.warp_return } : () -> ()
    tt.return
  }
}

// -----

// Small partitions share a warp group and the registers of the one that needs
// most; the default group takes what they leave.
// CHECK: "ttg.total-num-warps" = 12 : i32
module attributes {"ttg.num-warps" = 8 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"} {
  tt.func public @registers() {
    // CHECK: actualRegisters = array<i32: 232, 40, 40>
    // CHECK-SAME: warpGroupStartIds = array<i32: 8, 9>
    ttg.warp_specialize() attributes {requestedRegisters = array<i32: 24, 33>}
    default { ttg.warp_yield }
    partition0() num_warps(1) { ttg.warp_return }
    partition1() num_warps(1) { ttg.warp_return } : () -> ()
    tt.return
  }
}

// -----

// Registers move once, for all operations.
module attributes {"ttg.num-warps" = 8 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"} {
  // CHECK-LABEL: @several
  tt.func public @several(%n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      // CHECK: ttg.warp_specialize() attributes {actualRegisters = array<i32: 232, 40>
      ttg.warp_specialize() attributes {requestedRegisters = array<i32: 24>}
      default { ttg.warp_yield }
      partition0() num_warps(4) { ttg.warp_return } : () -> ()
    }
    // CHECK: ttg.warp_specialize() attributes {actualRegisters = array<i32: 232, 40>
    ttg.warp_specialize() attributes {requestedRegisters = array<i32: 40>}
    default { ttg.warp_yield }
    partition0() num_warps(1) { ttg.warp_return } : () -> ()
    tt.return
  }
}

// -----

// A partition of two warp groups has one code: where another operation needs
// more of one group, the other one gets as much.
// CHECK: "ttg.total-num-warps" = 16 : i32
module attributes {"ttg.num-warps" = 8 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"} {
  tt.func public @wide_and_narrow() {
    // CHECK: actualRegisters = array<i32: 200, 56>
    ttg.warp_specialize() attributes {requestedRegisters = array<i32: 40>}
    default { ttg.warp_yield }
    partition0() num_warps(8) { ttg.warp_return } : () -> ()
    // CHECK: actualRegisters = array<i32: 200, 56>
    ttg.warp_specialize() attributes {requestedRegisters = array<i32: 56>}
    default { ttg.warp_yield }
    partition0() num_warps(4) { ttg.warp_return } : () -> ()
    tt.return
  }
}

// -----

// One operation that asks for nothing keeps all as it is.
module attributes {"ttg.num-warps" = 8 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"} {
  // CHECK-LABEL: @some
  // CHECK-NOT: actualRegisters
  tt.func public @some() {
    ttg.warp_specialize() attributes {requestedRegisters = array<i32: 24>}
    default { ttg.warp_yield }
    partition0() num_warps(4) { ttg.warp_return } : () -> ()
    ttg.warp_specialize()
    default { ttg.warp_yield }
    partition0() num_warps(4) { ttg.warp_return } : () -> ()
    tt.return
  }
}

// -----

// A partition may get more than the kernel begins with. The default group has
// what is left.
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"} {
  // CHECK-LABEL: @more_for_a_partition
  tt.func public @more_for_a_partition() {
    // CHECK: ttg.warp_specialize() attributes {actualRegisters = array<i32: 240, 240, 24>
    ttg.warp_specialize() attributes {requestedRegisters = array<i32: 240, 24>}
    default { ttg.warp_yield }
    partition0() num_warps(4) { ttg.warp_return }
    partition1() num_warps(1) { ttg.warp_return } : () -> ()
    tt.return
  }
}

// -----

// More than there are: all keep what they begin with.
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"} {
  // CHECK-LABEL: @too_many
  // CHECK-NOT: actualRegisters
  tt.func public @too_many() {
    ttg.warp_specialize() attributes {requestedRegisters = array<i32: 240, 240, 240>}
    default { ttg.warp_yield }
    partition0() num_warps(4) { ttg.warp_return }
    partition1() num_warps(4) { ttg.warp_return }
    partition2() num_warps(4) { ttg.warp_return } : () -> ()
    tt.return
  }
}

// -----

// The default group may give some away, too.
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"} {
  // CHECK-LABEL: @less_for_the_default_group
  tt.func public @less_for_the_default_group() {
    // CHECK: ttg.warp_specialize() attributes {actualRegisters = array<i32: 72, 216, 216>
    ttg.warp_specialize() attributes {requestedRegisters = array<i32: 216, 216>}
    default { ttg.warp_yield }
    partition0() num_warps(4) { ttg.warp_return }
    partition1() num_warps(4) { ttg.warp_return } : () -> ()
    tt.return
  }
}

// -----

// Each value is captured once, and only where a partition reads it.
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"} {
// CHECK-LABEL: @captures_of_several_partitions
tt.func @captures_of_several_partitions(%a: i32, %b: i64, %c: f32) {
  // CHECK: ttg.warp_specialize(%arg0, %arg1)
  ttg.warp_specialize(%a, %c, %b, %a) attributes {requestedRegisters = array<i32: 24, 24>}
  default {
    ttg.warp_yield
  }
  // CHECK: partition0(%[[A0:.*]]: i32, %[[B0:.*]]: i64)
  partition0(%a0: i32, %c0: f32, %b0: i64, %d0: i32) num_warps(1) {
    // CHECK: "use"(%[[A0]], %[[B0]], %[[A0]])
    "use"(%a0, %b0, %d0) : (i32, i64, i32) -> ()
    ttg.warp_return
  }
  // CHECK: partition1(%[[A1:.*]]: i32, %{{.*}}: i64)
  partition1(%a1: i32, %c1: f32, %b1: i64, %d1: i32) num_warps(1) {
    // CHECK: "use"(%[[A1]])
    "use"(%d1) : (i32) -> ()
    ttg.warp_return
  } : (i32, f32, i64, i32) -> ()
  tt.return
}
}

// RUN: tile-opt %s -split-input-file -verify-diagnostics

// What the verifiers of warp specialisation and of the operations of the
// pipeliner reject.

tt.func @f() {
  // expected-error @+1 {{expected partition 0 to have a power of two of warps, found 3}}
  ttg.warp_specialize()
  default {
    ttg.warp_yield
  }
  partition0() num_warps(3) {
    ttg.warp_return
  } : () -> ()
  tt.return
}

// -----

tt.func @f() {
  // expected-error @+1 {{expected 'requestedRegisters' to have 1 entries, found 2}}
  ttg.warp_specialize() attributes {requestedRegisters = array<i32: 24, 32>}
  default {
    ttg.warp_yield
  }
  partition0() num_warps(4) {
    ttg.warp_return
  } : () -> ()
  tt.return
}

// -----

tt.func @f() {
  // expected-error @+1 {{expected 'actualRegisters' to have 2 entries, found 1}}
  ttg.warp_specialize() attributes {actualRegisters = array<i32: 24>}
  default {
    ttg.warp_yield
  }
  partition0() num_warps(4) {
    ttg.warp_return
  } : () -> ()
  tt.return
}

// -----

tt.func @f(%a: i32) {
  // expected-error @+1 {{expected partition 0 to have 1 arguments, one for each captured value, found 0}}
  ttg.warp_specialize(%a)
  default {
    ttg.warp_yield
  }
  partition0() num_warps(4) {
    ttg.warp_return
  } : (i32) -> ()
  tt.return
}

// -----

tt.func @f(%a: i32) {
  // expected-error @+1 {{expected argument 0 of partition 0 to have type 'i32', that of the captured value, found 'i64'}}
  ttg.warp_specialize(%a)
  default {
    ttg.warp_yield
  }
  partition0(%b: i64) num_warps(4) {
    ttg.warp_return
  } : (i32) -> ()
  tt.return
}

// -----

tt.func @f() {
  // expected-error @+1 {{expected 'partitionNumWarps' to have an entry for each of 1 partitions, found 2}}
  "ttg.warp_specialize"() <{partitionNumWarps = array<i32: 4, 4>}> ({
    ttg.warp_yield
  }, {
    "ttg.warp_specialize.partitions"() ({
      ttg.warp_return
    }) : () -> ()
  }) : () -> ()
  tt.return
}

// -----

tt.func @f() {
  // expected-error @+1 {{expected the second region to hold one 'ttg.warp_specialize.partitions' and nothing else, found}}
  "ttg.warp_specialize"() <{partitionNumWarps = array<i32>}> ({
    ttg.warp_yield
  }, {
    ttg.warp_yield
  }) : () -> ()
  tt.return
}

// -----

tt.func @f() {
  ttg.warp_specialize()
  default {
    ttg.warp_yield
  }
  partition0() num_warps(4) {
    // expected-error @+1 {{expected to stand outside of the partitions of others, found itself in one}}
    ttg.warp_specialize()
    default {
      ttg.warp_yield
    } : () -> ()
    ttg.warp_return
  } : () -> ()
  tt.return
}

// -----

tt.func @f(%a: i32) {
  // expected-note @+1 {{required by region isolation constraints}}
  ttg.warp_specialize()
  default {
    ttg.warp_yield
  }
  partition0() num_warps(4) {
    // expected-error @+1 {{using value defined outside the region}}
    %0 = arith.addi %a, %a : i32
    ttg.warp_return
  } : () -> ()
  tt.return
}

// -----

tt.func @f(%a: i32) {
  %0 = ttg.warp_specialize()
  default {
    // expected-error @+1 {{expected values of types ('i64'), those of the results, found ('i32')}}
    ttg.warp_yield %a : i32
  } : () -> i64
  tt.return
}

// -----

tt.func @f(%a: i32) {
  // expected-error @+1 {{expected 'stage' to be 0 to 2, found 3}}
  %0 = ttg.predicate_stage %a, %a, %a maxStage 2 stage 3 : i32 -> i1
  tt.return
}

// -----

tt.func @f(%p: i1, %a: i32) {
  // expected-error @+1 {{expected results of types ('i32'), which 'ttg.mask.return' gives, found ('i64')}}
  %0 = ttg.mask %p {
    ttg.mask.return %a : i32
  } : i64
  tt.return
}

// -----

tt.func @f(%p: i1) {
  // expected-error @+1 {{expects parent op 'ttg.mask'}}
  ttg.mask.return
}

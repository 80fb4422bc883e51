// RUN: tile-opt %s -split-input-file -verify-diagnostics

// What the verifiers of warp specialisation and of the operations of the
// pipeliner reject.

tt.func @f() {
  // expected-error @+1 {{partition 0 has 3 warps, expected a power of two}}
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
  // expected-error @+1 {{'requestedRegisters' has 2 entries, expected 1}}
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
  // expected-error @+1 {{'actualRegisters' has 1 entries, expected 2}}
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
  // expected-error @+1 {{partition 0 has 0 arguments, but 1 values are captured}}
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
  // expected-error @+1 {{argument 0 of partition 0 has type 'i64', but the captured value has type 'i32'}}
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
  // expected-error @+1 {{has 1 partitions, but 'partitionNumWarps' has 2 entries}}
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
  // expected-error @+1 {{the second region holds one 'ttg.warp_specialize.partitions' and nothing else}}
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
    // expected-error @+1 {{cannot stand inside a partition of another one}}
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
    // expected-error @+1 {{yields ('i32'), but the results are ('i64')}}
    ttg.warp_yield %a : i32
  } : () -> i64
  tt.return
}

// -----

tt.func @f(%a: i32) {
  // expected-error @+1 {{'stage' is 3, expected 0 to 2}}
  %0 = ttg.predicate_stage %a, %a, %a maxStage 2 stage 3 : i32 -> i1
  tt.return
}

// -----

tt.func @f(%p: i1, %a: i32) {
  // expected-error @+1 {{has results of types ('i64'), but 'ttg.mask.return' gives ('i32')}}
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

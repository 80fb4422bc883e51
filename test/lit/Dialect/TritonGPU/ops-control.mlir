// RUN: tile-opt %s | filecheck %s
// RUN: tile-opt %s -mlir-print-op-generic | tile-opt | filecheck %s

// Round trips of warp specialisation and of the operations of the pipeliner.

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#small = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>

module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @specialize
  tt.func @specialize(%i: i32, %p: i1) -> i32 {
    // CHECK: %[[R:.*]] = ttg.warp_specialize(%arg0, %arg1) attributes {requestedRegisters = array<i32: 24, 32>}
    // CHECK-NEXT: default {
    // CHECK-NEXT: tt.make_range {{.*}} : tensor<128xi32, #blocked>
    // CHECK-NEXT: ttg.warp_yield %arg0 : i32
    // CHECK-NEXT: }
    // CHECK-NEXT: partition0(%{{.*}}: i32, %{{.*}}: i1) num_warps(4) {
    // CHECK-NEXT: ttg.warp_return
    // CHECK-NEXT: }
    // CHECK-NEXT: partition1(%{{.*}}: i32, %{{.*}}: i1) num_warps(1) {
    // CHECK-NEXT: ttg.warp_id
    // CHECK-NEXT: tt.make_range {{.*}} : tensor<128xi32, #blocked1>
    // CHECK-NEXT: ttg.warp_return
    // CHECK-NEXT: } : (i32, i1) -> i32
    %0 = ttg.warp_specialize(%i, %p) attributes {requestedRegisters = array<i32: 24, 32>}
    default {
      %1 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #blocked>
      ttg.warp_yield %i : i32
    }
    partition0(%x: i32, %y: i1) num_warps(4) {
      ttg.warp_return
    }
    // Encodings in a partition are for the warps of that partition.
    partition1(%x: i32, %y: i1) num_warps(1) {
      %1 = ttg.warp_id
      %2 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #small>
      ttg.warp_return
    } : (i32, i1) -> i32
    // CHECK: return %[[R]]
    tt.return %0 : i32
  }

  // CHECK-LABEL: @specialize_bare
  tt.func @specialize_bare(%i: i32) {
    // CHECK: ttg.warp_specialize()
    // CHECK-NEXT: default {
    // CHECK-NEXT: ttg.warp_yield
    // CHECK-NEXT: } : () -> ()
    ttg.warp_specialize()
    default {
      ttg.warp_yield
    } : () -> ()
    // CHECK: ttg.warp_specialize(%arg0) attributes {actualRegisters = array<i32: 208, 24>, warpGroupStartIds = array<i32: 4>}
    ttg.warp_specialize(%i) attributes {actualRegisters = array<i32: 208, 24>, warpGroupStartIds = array<i32: 4>}
    default {
      ttg.warp_yield
    }
    partition0(%x: i32) num_warps(4) {
      ttg.warp_return
    } : (i32) -> ()
    tt.return
  }

  // CHECK-LABEL: @pipeline
  tt.func @pipeline(%iv: i32, %ub: i32, %step: i32) {
    // CHECK: %[[P:.*]] = ttg.predicate_stage %arg0, %arg1, %arg2 maxStage 2 stage 1 : i32 -> i1
    %0 = ttg.predicate_stage %iv, %ub, %step maxStage 2 stage 1 : i32 -> i1
    // CHECK: ttg.mask %[[P]] {
    // CHECK: ttg.mask.return %{{.*}}, %arg0 : i64, i32
    // CHECK: } : i64, i32
    %1:2 = ttg.mask %0 {
      %2 = arith.constant 1 : i64
      ttg.mask.return %2, %iv : i64, i32
    } : i64, i32
    // CHECK: ttg.mask %[[P]] attributes {ttg.x} {
    // CHECK-NEXT: ttg.barrier local
    // CHECK-NEXT: ttg.mask.return
    // CHECK-NEXT: }
    ttg.mask %0 attributes {ttg.x} {
      ttg.barrier local
      ttg.mask.return
    }
    tt.return
  }
}

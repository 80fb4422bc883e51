// RUN: tile-opt %s -tritongpu-global-scratch-memory-allocation -split-input-file | filecheck %s

// Buffers lie one after the other, each aligned as it asks; calls take the part
// of the callee.

// CHECK: module attributes {ttg.global_scratch_memory_alignment = 128 : i32, ttg.global_scratch_memory_size = 384 : i32}
module {
  // CHECK-LABEL: tt.func private @callee
  // CHECK-SAME: ttg.global_scratch_memory_alignment = 128 : i32, ttg.global_scratch_memory_size = 128 : i32
  tt.func private @callee() attributes {noinline = true} {
    // CHECK: nbytes = 100 : i32, ttg.global_scratch_memory_offset = 0 : i32
    %0 = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 100 : i32} : !tt.ptr<i8>
    // CHECK: nbytes = 8 : i32, ttg.global_scratch_memory_offset = 104 : i32
    %1 = ttg.global_scratch_alloc {alignment = 8 : i32, nbytes = 8 : i32} : !tt.ptr<i8>
    tt.return
  }
  // CHECK-LABEL: tt.func public @kernel
  // CHECK-SAME: ttg.global_scratch_memory_alignment = 128 : i32, ttg.global_scratch_memory_size = 384 : i32
  tt.func public @kernel(%n: i32) {
    // CHECK: nbytes = 4 : i32, ttg.global_scratch_memory_offset = 0 : i32
    %0 = ttg.global_scratch_alloc {alignment = 16 : i32, nbytes = 4 : i32} : !tt.ptr<i8>
    // CHECK: tt.call @callee() {ttg.global_scratch_memory_offset = 128 : i32}
    tt.call @callee() : () -> ()
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      // CHECK: nbytes = 128 : i32, ttg.global_scratch_memory_offset = 256 : i32
      %1 = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 128 : i32} : !tt.ptr<i8>
    }
    // A call of a function that needs nothing gets nothing.
    // CHECK: tt.call @idle() : () -> ()
    tt.call @idle() : () -> ()
    tt.return
  }
  // CHECK-LABEL: tt.func private @idle() {
  tt.func private @idle() {
    tt.return
  }
}

// -----

// CHECK: module attributes {ttg.global_scratch_memory_alignment = 1 : i32, ttg.global_scratch_memory_size = 0 : i32}
module {
  tt.func public @kernel() {
    tt.return
  }
}

// -----

// A partition gets the pointer to its buffer from outside, the others of the
// operation as well.
module attributes {"ttg.num-warps" = 4 : i32} {
  // CHECK-LABEL: tt.func public @partitions
  tt.func public @partitions() {
    // CHECK-NEXT: %[[P:.*]] = ttg.global_scratch_alloc {{.*}}ttg.global_scratch_memory_offset = 0 : i32
    // CHECK-NEXT: ttg.warp_specialize(%[[P]])
    ttg.warp_specialize()
    default {
      // CHECK: ttg.global_scratch_alloc {{.*}}ttg.global_scratch_memory_offset = 16 : i32
      %0 = ttg.global_scratch_alloc {alignment = 16 : i32, nbytes = 4 : i32} : !tt.ptr<i8>
      ttg.warp_yield
    }
    // CHECK: partition0(%{{.*}}: !tt.ptr<i8>)
    partition0() num_warps(1) {
      ttg.warp_return
    }
    // CHECK: partition1(%[[MINE:.*]]: !tt.ptr<i8>)
    // CHECK-NEXT: tt.bitcast %[[MINE]]
    partition1() num_warps(1) {
      %0 = ttg.global_scratch_alloc {alignment = 16 : i32, nbytes = 16 : i32} : !tt.ptr<i8>
      %1 = tt.bitcast %0 : !tt.ptr<i8> -> !tt.ptr<i32>
      ttg.warp_return
    } : () -> ()
    tt.return
  }
}

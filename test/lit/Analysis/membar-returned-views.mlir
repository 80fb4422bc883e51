// RUN: tile-opt %s -allocate-shared-memory -insert-memory-barriers | filecheck %s

// What a function returns is a part of a buffer that it was given.
#A = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [2, 2], order = [1, 0]}>
#smem = #ttg.shared_memory
!whole = !ttg.memdesc<2x32x32xf16, #A, #smem, mutable>
!part = !ttg.memdesc<32x32xf16, #A, #smem, mutable>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: tt.func private @part
tt.func private @part(%a: !whole, %i: i32) -> !part attributes {noinline = true} {
  %p = ttg.memdesc_index %a[%i] : !whole -> !part
  tt.return %p : !part
}

// The buffer of the caller lives until its part was read, and the other one has
// another place.
// CHECK-LABEL: tt.func @read
tt.func @read(%x: tensor<32x32xf16, #blocked>, %i: i32) -> tensor<32x32xf16, #blocked> {
  // CHECK: ttg.local_alloc {allocation.offset = 0 : i32}
  %a = ttg.local_alloc : () -> !whole
  %p = tt.call @part(%a, %i) : (!whole, i32) -> !part
  ttg.local_store %x, %p : tensor<32x32xf16, #blocked> -> !part
  // CHECK: ttg.local_alloc %{{.*}} {allocation.offset = 4096 : i32}
  %b = ttg.local_alloc %x : (tensor<32x32xf16, #blocked>) -> !part
  // CHECK: ttg.barrier local
  // CHECK-NEXT: ttg.local_load
  %y = ttg.local_load %p : !part -> tensor<32x32xf16, #blocked>
  // CHECK-NEXT: ttg.local_load
  %z = ttg.local_load %b : !part -> tensor<32x32xf16, #blocked>
  %s = arith.addf %y, %z : tensor<32x32xf16, #blocked>
  tt.return %s : tensor<32x32xf16, #blocked>
}
}

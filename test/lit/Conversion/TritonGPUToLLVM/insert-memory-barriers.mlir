// RUN: tile-opt %s -insert-memory-barriers | filecheck %s

// Where buffers are is what their operations say, be it wise or not.

#A = #ttg.swizzled_shared<{vec = 2, perPhase = 2, maxPhase = 4, order = [1, 0]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [2, 2], order = [1, 0]}>
#smem = #ttg.shared_memory
!buffer = !ttg.memdesc<32x32xf16, #A, #smem, mutable>
!tensor = tensor<32x32xf16, #blocked>

// CHECK: module attributes {
// CHECK-SAME: ttg.barriers-inserted
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, ttg.shared = 4096 : i32} {

// CHECK-LABEL: @apart
tt.func @apart(%x: !tensor) -> !tensor {
  // CHECK: ttg.local_alloc
  // CHECK-NEXT: ttg.local_alloc
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: tt.return
  %a = ttg.local_alloc %x {allocation.offset = 0 : i32} : (!tensor) -> !buffer
  %b = ttg.local_alloc %x {allocation.offset = 2048 : i32} : (!tensor) -> !buffer
  %0 = ttg.local_load %b : !buffer -> !tensor
  tt.return %0 : !tensor
}

// CHECK-LABEL: @together
tt.func @together(%x: !tensor) -> !tensor {
  // CHECK: ttg.local_alloc
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: ttg.local_alloc
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: tt.return
  %a = ttg.local_alloc %x {allocation.offset = 0 : i32} : (!tensor) -> !buffer
  %b = ttg.local_alloc %x {allocation.offset = 2046 : i32} : (!tensor) -> !buffer
  %0 = ttg.local_load %b : !buffer -> !tensor
  tt.return %0 : !tensor
}
}

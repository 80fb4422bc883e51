// RUN: tile-opt %s -allocate-shared-memory-nv -insert-memory-barriers -convert-triton-gpu-to-llvm | filecheck %s

// What others may write meanwhile is read once for each element.

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// CHECK: module attributes {{.*}}ttg.shared = 16
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: llvm.func @scalar
tt.func @scalar(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>) {
  // CHECK: llvm.inline_asm has_side_effects {{.*}}@$3 ld.volatile.global.b32
  // CHECK: llvm.inline_asm has_side_effects {{.*}}st.shared
  // CHECK: nvvm.barrier
  // CHECK: llvm.load {{.*}}!llvm.ptr<3> -> i32
  %x = tt.load %p {isVolatile = true} : !tt.ptr<i32>
  tt.store %q, %x : !tt.ptr<i32>
  tt.return
}

// CHECK-LABEL: llvm.func @not_cached
tt.func @not_cached(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>) {
  // CHECK: @$3 ld.global.cv.b32
  // CHECK: nvvm.barrier
  %x = tt.load %p cacheModifier = cv : !tt.ptr<i32>
  tt.store %q, %x : !tt.ptr<i32>
  tt.return
}

// Four elements, each held by many threads.
// CHECK-LABEL: llvm.func @small
tt.func @small(%p: tensor<4x!tt.ptr<i32>, #blocked>, %q: tensor<4x!tt.ptr<i32>, #blocked>) {
  // CHECK: @$3 ld.volatile.global.b32
  // CHECK: nvvm.barrier
  %x = tt.load %p {isVolatile = true} : tensor<4x!tt.ptr<i32>, #blocked>
  tt.store %q, %x : tensor<4x!tt.ptr<i32>, #blocked>
  tt.return
}

// Nobody else holds these, and nobody asks for those.
// CHECK-LABEL: llvm.func @no_copies
tt.func @no_copies(%p: tensor<128x!tt.ptr<i32>, #blocked>, %q: tensor<128x!tt.ptr<i32>, #blocked>, %r: !tt.ptr<i32>) {
  // CHECK-NOT: nvvm.barrier
  // CHECK: llvm.return
  %x = tt.load %p {isVolatile = true} : tensor<128x!tt.ptr<i32>, #blocked>
  tt.store %q, %x : tensor<128x!tt.ptr<i32>, #blocked>
  %y = tt.load %r {isVolatile = true} : !tt.ptr<i32>
  tt.return
}
}

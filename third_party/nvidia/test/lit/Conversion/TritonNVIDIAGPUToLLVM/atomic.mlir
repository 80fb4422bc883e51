// RUN: tile-opt %s -allocate-shared-memory-nv -insert-memory-barriers -convert-triton-gpu-to-llvm | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>

module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:80"} {

// Unused old values, relaxed: a reduction; otherwise an atomic.
// CHECK-LABEL: llvm.func @tensor
tt.func @tensor(%p: tensor<256x!tt.ptr<f32>, #blocked>, %v: tensor<256xf32, #blocked>, %m: tensor<256xi1, #blocked>) {
  // CHECK: "@$2 red.relaxed.gpu.global.add.f32 [$0], $1;", "l,r,b,~{memory}"
  // CHECK: "@$2 red.relaxed.gpu.global.add.f32 [$0], $1;", "l,r,b,~{memory}"
  // CHECK: "@$4 atom.acq_rel.sys.global.add.f32 $0, [$1], $2;", "=r,l,r,0,b,~{memory}"
  %0 = tt.atomic_rmw fadd, relaxed, gpu, %p, %v, %m : (tensor<256x!tt.ptr<f32>, #blocked>, tensor<256xf32, #blocked>, tensor<256xi1, #blocked>) -> tensor<256xf32, #blocked>
  %1 = tt.atomic_rmw fadd, acq_rel, sys, %p, %v, %m : (tensor<256x!tt.ptr<f32>, #blocked>, tensor<256xf32, #blocked>, tensor<256xi1, #blocked>) -> tensor<256xf32, #blocked>
  tt.return
}

// One thread acts on a scalar and tells the others; what all did before it
// releases comes first.
// CHECK-LABEL: llvm.func @scalar
tt.func @scalar(%p: !tt.ptr<i32>, %c: i32, %v: i32) -> i32 {
  // CHECK: %[[FIRST:.*]] = llvm.icmp "eq"
  // CHECK: nvvm.barrier0
  // CHECK: "@$5 atom.acq_rel.gpu.global.cas.b32 $0, [$1], $2, $3;"
  // CHECK: "@$2 st.shared.b32 [$0], $1;", "r,r,b,~{memory}" %{{.*}}, %{{.*}}, %[[FIRST]]
  // CHECK: nvvm.barrier0
  // CHECK: llvm.load %{{.*}} : !llvm.ptr<3> -> i32
  %0 = tt.atomic_cas acq_rel, gpu, %p, %c, %v : (!tt.ptr<i32>, i32, i32) -> i32
  tt.return %0 : i32
}

// What PTX lacks (bf16 before sm_90), LLVM expands to a loop.
// CHECK-LABEL: llvm.func @expanded
tt.func @expanded(%p: tensor<256x!tt.ptr<bf16>, #blocked>, %v: tensor<256xbf16, #blocked>) {
  // CHECK: llvm.atomicrmw fadd %{{.*}}, %{{.*}} syncscope("device") monotonic
  %0 = tt.atomic_rmw fadd, relaxed, gpu, %p, %v : (tensor<256x!tt.ptr<bf16>, #blocked>, tensor<256xbf16, #blocked>) -> tensor<256xbf16, #blocked>
  tt.return
}

// A bitwise operation on half of a word is one on the word, with its order.
// CHECK-LABEL: llvm.func @half_of_a_word
tt.func @half_of_a_word(%p: tensor<256x!tt.ptr<i16>, #blocked>, %v: tensor<256xi16, #blocked>) {
  // CHECK-NOT: llvm.atomicrmw
  // CHECK: atom.acquire.sys.global.and.b32
  // CHECK: red.release.cta.global.or.b32
  // CHECK-NOT: llvm.atomicrmw
  // CHECK: llvm.return
  %0 = tt.atomic_rmw and, acquire, sys, %p, %v : (tensor<256x!tt.ptr<i16>, #blocked>, tensor<256xi16, #blocked>) -> tensor<256xi16, #blocked>
  tt.store %p, %0 : tensor<256x!tt.ptr<i16>, #blocked>
  %1 = tt.atomic_rmw or, release, cta, %p, %v : (tensor<256x!tt.ptr<i16>, #blocked>, tensor<256xi16, #blocked>) -> tensor<256xi16, #blocked>
  tt.return
}

// What leaves memory as it is is a load, unless it releases.
// CHECK-LABEL: llvm.func @idempotent
tt.func @idempotent(%p: !tt.ptr<i32>) -> (i32, i32, i32, i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ones = arith.constant -1 : i32
  // CHECK: llvm.load %{{.*}} atomic syncscope("device") acquire {alignment = 4 : i64} : !llvm.ptr<1> -> i32
  %0 = tt.atomic_rmw add, acquire, gpu, %p, %c0 : (!tt.ptr<i32>, i32) -> i32
  // CHECK: llvm.load %{{.*}} atomic syncscope("block") monotonic {alignment = 4 : i64} : !llvm.ptr<1> -> i32
  %1 = tt.atomic_rmw and, relaxed, cta, %p, %ones : (!tt.ptr<i32>, i32) -> i32
  // CHECK: atom.acq_rel.gpu.global.add.u32
  %2 = tt.atomic_rmw add, acq_rel, gpu, %p, %c0 : (!tt.ptr<i32>, i32) -> i32
  // CHECK: atom.acquire.gpu.global.add.u32
  %3 = tt.atomic_rmw add, acquire, gpu, %p, %c1 : (!tt.ptr<i32>, i32) -> i32
  tt.return %0, %1, %2, %3 : i32, i32, i32, i32
}

// Two warps hold each element: its owner hands the old value on.
// CHECK-LABEL: llvm.func @repeated
tt.func @repeated(%p: tensor<128x!tt.ptr<i32>, #blocked>, %v: tensor<128xi32, #blocked>) {
  // CHECK: "@$4 atom.relaxed.gpu.global.add.u32 $0, [$1], $2;"
  // CHECK: st.shared
  // CHECK: nvvm.barrier0
  // CHECK: llvm.load %{{.*}} : !llvm.ptr<3>
  // CHECK: st.global
  %0 = tt.atomic_rmw add, relaxed, gpu, %p, %v : (tensor<128x!tt.ptr<i32>, #blocked>, tensor<128xi32, #blocked>) -> tensor<128xi32, #blocked>
  tt.store %p, %0 : tensor<128x!tt.ptr<i32>, #blocked>
  tt.return
}

// An eviction policy is for the L2 cache. The hint stands in front of the type.
// CHECK-LABEL: llvm.func @evicted
tt.func @evicted(%p: tensor<256x!tt.ptr<f32>, #blocked>, %v: tensor<256xf32, #blocked>, %q: !tt.ptr<i32>, %c: i32) {
  // CHECK: createpolicy.fractional.L2::evict_first.b64 $0, 1.0;
  // CHECK: "red.relaxed.gpu.global.add.L2::cache_hint.f32 [$0], $1, $2;", "l,r,l,~{memory}"
  %0 = tt.atomic_rmw fadd, relaxed, gpu, %p, %v {tt.eviction = 2 : i32} : (tensor<256x!tt.ptr<f32>, #blocked>, tensor<256xf32, #blocked>) -> tensor<256xf32, #blocked>
  // PTX has no hint on a compare-and-swap.
  // CHECK: atom.acq_rel.gpu.global.cas.b32 $0, [$1], $2, $3;
  %1 = tt.atomic_cas acq_rel, gpu, %q, %c, %c {tt.eviction = 3 : i32} : (!tt.ptr<i32>, i32, i32) -> i32
  tt.return
}
}

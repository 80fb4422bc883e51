// RUN: tile-opt %s -allocate-shared-memory-nv -insert-memory-barriers -convert-triton-gpu-to-llvm | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#blocked8 = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>

module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:80"} {

// CHECK-LABEL: llvm.func @vectors
tt.func @vectors(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  // CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
  // CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
  // CHECK-NOT: llvm.load
  // CHECK: llvm.return
  %i = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #blocked>
  %0 = tt.splat %p : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #blocked>
  %1 = tt.addptr %0, %i : tensor<512x!tt.ptr<f32>, #blocked>, tensor<512xi32, #blocked>
  %2 = tt.load %1 : tensor<512x!tt.ptr<f32>, #blocked>
  %3 = tt.splat %q : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #blocked>
  %4 = tt.addptr %3, %i : tensor<512x!tt.ptr<f32>, #blocked>, tensor<512xi32, #blocked>
  tt.store %4, %2 : tensor<512x!tt.ptr<f32>, #blocked>
  tt.return
}

// Nothing is known of the bound. It may cut a vector, whose elements are then
// accessed one by one, behind a branch.
// CHECK-LABEL: llvm.func @cut
tt.func @cut(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  // CHECK: llvm.inline_asm {{.*}} "@$9 ld.global.v4.b32
  // CHECK: llvm.cond_br %{{.*}}, ^[[CUT:.*]], ^[[JOIN:[a-z0-9]*]](
  // CHECK: ^[[CUT]]:
  // CHECK-COUNT-4: llvm.inline_asm {{.*}} "@$3 ld.global.b32
  // CHECK: llvm.br ^[[JOIN]](
  // CHECK: ^[[JOIN]](
  // CHECK: llvm.inline_asm {{.*}} "@$5 st.global.v4.b32
  // CHECK: llvm.cond_br
  // CHECK-COUNT-4: llvm.inline_asm {{.*}} "@$2 st.global.b32
  // CHECK: llvm.return
  %i = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #blocked>
  %n1 = tt.splat %n : i32 -> tensor<512xi32, #blocked>
  %mask = arith.cmpi slt, %i, %n1 : tensor<512xi32, #blocked>
  %0 = tt.splat %p : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #blocked>
  %1 = tt.addptr %0, %i : tensor<512x!tt.ptr<f32>, #blocked>, tensor<512xi32, #blocked>
  %2 = tt.load %1, %mask : tensor<512x!tt.ptr<f32>, #blocked>
  tt.store %1, %2, %mask : tensor<512x!tt.ptr<f32>, #blocked>
  tt.return
}

// A mask becomes a predicate; what it hides reads as the other value, which the
// registers hold before.
// CHECK-LABEL: llvm.func @masked
tt.func @masked(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}) {
  // CHECK: llvm.inline_asm has_side_effects asm_dialect = att "@$9 ld.global.v4.b32 {$0, $1, $2, $3}, [$4];", "=r,=r,=r,=r,l,0,1,2,3,b"
  // CHECK: llvm.inline_asm has_side_effects asm_dialect = att "@$5 st.global.v4.b32 [$0], {$1, $2, $3, $4};", "l,r,r,r,r,b,~{memory}"
  %other = arith.constant dense<1.0> : tensor<1024xf16, #blocked8>
  %i = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #blocked8>
  %n1 = tt.splat %n : i32 -> tensor<1024xi32, #blocked8>
  %mask = arith.cmpi slt, %i, %n1 : tensor<1024xi32, #blocked8>
  %0 = tt.splat %p : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>, #blocked8>
  %1 = tt.addptr %0, %i : tensor<1024x!tt.ptr<f16>, #blocked8>, tensor<1024xi32, #blocked8>
  %2 = tt.load %1, %mask, %other : tensor<1024x!tt.ptr<f16>, #blocked8>
  tt.store %1, %2, %mask : tensor<1024x!tt.ptr<f16>, #blocked8>
  tt.return
}

// CHECK-LABEL: llvm.func @cache_hints
tt.func @cache_hints(%p: !tt.ptr<f32>) {
  // CHECK: "ld.global.cg.b32 $0, [$1];"
  // CHECK: %[[POLICY:.*]] = llvm.inline_asm asm_dialect = att "createpolicy.fractional.L2::evict_first.b64 $0, 1.0;", "=l"  : () -> i64
  // CHECK: "ld.global.L1::evict_first.L2::cache_hint.b32 $0, [$1], $2;", "=r,l,l" %{{.*}}, %[[POLICY]]
  // CHECK: "@$3 ld.volatile.global.b32 $0, [$1];"
  // CHECK: "@$2 st.global.cs.b32 [$0], $1;"
  // CHECK: "createpolicy.fractional.L2::evict_last.b64 $0, 1.0;"
  // CHECK: "@$2 st.global.L1::evict_last.L2::cache_hint.b32 [$0], $1, $3;"
  %0 = tt.load %p cacheModifier = cg : !tt.ptr<f32>
  %1 = tt.load %p evictionPolicy = evict_first : !tt.ptr<f32>
  %2 = tt.load %p {isVolatile = true} : !tt.ptr<f32>
  tt.store %p, %0 cacheModifier = cs : !tt.ptr<f32>
  tt.store %p, %1 evictionPolicy = evict_last : !tt.ptr<f32>
  tt.return
}

// An element that several threads hold is stored by one of them.
// CHECK-LABEL: llvm.func @owner
tt.func @owner(%p: tensor<64x!tt.ptr<f32>, #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>>, %v: tensor<64xf32, #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>>) {
  // CHECK: %[[C:.*]] = llvm.mlir.constant(64 : i32)
  // CHECK: %[[BIT:.*]] = llvm.and %{{.*}}, %[[C]]
  // CHECK: %[[PRED:.*]] = llvm.icmp "eq" %[[BIT]]
  // CHECK: "@$2 st.global.b32 [$0], $1;", "l,r,b,~{memory}" %{{.*}}, %{{.*}}, %[[PRED]]
  tt.store %p, %v : tensor<64x!tt.ptr<f32>, #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>>
  tt.return
}

// Truth values are bytes in memory.
// CHECK-LABEL: llvm.func @booleans
tt.func @booleans(%p: !tt.ptr<i1>) -> i1 {
  // CHECK: %[[B:.*]] = llvm.load %{{.*}} {alignment = 1 : i64} : !llvm.ptr<1> -> i8
  // CHECK: llvm.trunc %[[B]] : i8 to i1
  %0 = tt.load %p : !tt.ptr<i1>
  tt.return %0 : i1
}

// Waiting for another thread's store: read again each time, from an address that
// stays the same. Other loads are LLVM's to move.
// CHECK-LABEL: llvm.func @spin
tt.func @spin(%flag: !tt.ptr<i32>, %p: !tt.ptr<f32>, %n: i32) -> f32 {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %init = arith.constant 0.0 : f32
  cf.br ^wait
^wait:
  // CHECK: "ld.global.b32 $0, [$1];"
  %f = tt.load %flag : !tt.ptr<i32>
  %again = arith.cmpi eq, %f, %zero : i32
  cf.cond_br %again, ^wait, ^sum(%zero, %init : i32, f32)
^sum(%i: i32, %s: f32):
  // CHECK: llvm.load %{{.*}} : !llvm.ptr<1> -> f32
  %at = tt.addptr %p, %i : !tt.ptr<f32>, i32
  %x = tt.load %at : !tt.ptr<f32>
  %t = arith.addf %s, %x : f32
  %j = arith.addi %i, %one : i32
  %more = arith.cmpi slt, %j, %n : i32
  cf.cond_br %more, ^sum(%j, %t : i32, f32), ^done
^done:
  tt.return %t : f32
}
}

// RUN: tile-opt %s -split-input-file -tile-amd-llir | filecheck %s

// Lanes write side by side: an instruction for each 16 bytes of a lane, at an address of the wave;
// what is masked off lies behind the end of the buffer.
// CHECK-LABEL: @straight
// CHECK: %[[FIRST:.*]] = llvm.call_intrinsic "llvm.amdgcn.readfirstlane"
// CHECK: llvm.select
// CHECK: llvm.call_intrinsic "llvm.amdgcn.raw.ptr.buffer.load.lds"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (!llvm.ptr<8>, !llvm.ptr<3>, i32, i32, i32, i32, i32) -> ()
// CHECK-NOT: llvm.store
// CHECK: llvm.call_intrinsic "llvm.amdgcn.s.waitcnt"

// Values for what is masked off, and lanes that do not write side by side, take registers.
// CHECK-LABEL: @others
// CHECK-NOT: load.lds
// CHECK: llvm.store
// CHECK-LABEL: @swizzled
// CHECK-NOT: load.lds
// CHECK: llvm.store

// Pointers without a mask.
// CHECK-LABEL: @pointers
// CHECK: llvm.call_intrinsic "llvm.amdgcn.global.load.lds"
#blocked = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [64], warpsPerCTA = [2], order = [0]}>
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [2, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#phases = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 2 : i32, ttg.target = "hip:gfx950", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @straight(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %yes: i1) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<1024xf16, #shared, #smem, mutable>
    %i = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #blocked>
    %mask = tt.splat %yes : i1 -> tensor<1024xi1, #blocked>
    %t = amdg.buffer_load_to_local %x[%i] mask = %mask into %m : <f16>[tensor<1024xi32, #blocked>] -> <1024xf16, #shared, #smem, mutable>
    %g = ttg.async_commit_group tokens %t
    %w = amdg.async_wait %g {num_inst = 0 : i32}
    tt.return
  }
  tt.func public @others(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %mask: tensor<1024xi1, #blocked>) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<1024xf16, #shared, #smem, mutable>
    %i = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #blocked>
    %ones = arith.constant dense<1.0> : tensor<1024xf16, #blocked>
    %t = amdg.buffer_load_to_local %x[%i] mask = %mask other = %ones into %m : <f16>[tensor<1024xi32, #blocked>] tensor<1024xf16, #blocked> -> <1024xf16, #shared, #smem, mutable>
    tt.return
  }
  tt.func public @swizzled(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %at: tensor<64x64xi32, #rows>) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #phases, #smem, mutable>
    %t = amdg.buffer_load_to_local %x[%at] into %m {contiguity = 8 : i32} : <f16>[tensor<64x64xi32, #rows>] -> <64x64xf16, #phases, #smem, mutable>
    tt.return
  }
  tt.func public @pointers(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<1024xf16, #shared, #smem, mutable>
    %i = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #blocked>
    %s = tt.splat %x : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>, #blocked>
    %p = tt.addptr %s, %i : tensor<1024x!tt.ptr<f16>, #blocked>, tensor<1024xi32, #blocked>
    %t = ttg.async_copy_global_to_local %p, %m : tensor<1024x!tt.ptr<f16>, #blocked> -> <1024xf16, #shared, #smem, mutable>
    tt.return
  }
}

// RUN: tile-opt %s -tile-nvidia-gluon | filecheck %s
// RUN: tile-opt %s -tile-nvidia-gluon -tile-nvidia-llir | filecheck %s --check-prefix=LLIR
// RUN: tile-opt %s -tile-nvidia-gluon=disable=triton-nvidia-gpu-fence-insertion | filecheck %s --check-prefix=WITHOUT
// RUN: tile-opt %s -pass-pipeline='builtin.module(tile-nvidia-gluon{insert=loops-start:print-ir{label=b},copies-start:print-ir{label=c},copies-end:print-ir{label=d}})' -dump-pass-pipeline 2>&1 | filecheck %s --check-prefix=POINTS

// Explicit programs enter the middle at `copies`; extension points before it are passed over.
// POINTS: gluon-resolve-auto-encodings
// POINTS-NEXT: triton-nvidia-gpu-cluster-barrier-after-init
// POINTS-NEXT: triton-nvidia-gpu-cluster-shared-memory
// POINTS-NEXT: triton-nvidia-gpu-cluster-barrier-at-end
// POINTS-NEXT: print-ir{label=c}
// POINTS-NEXT: triton-nvidia-optimize-descriptor-encoding
// POINTS: triton-nvidia-gpu-fence-insertion
// POINTS-NEXT: print-ir{label=d}
// POINTS-NEXT: )

// An explicit program: open layouts are decided, the descriptor of the host becomes parameters, what
// the program leaves out (a fence) is there, and what it says stays.

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#other = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK: tt.func public @kernel(%{{.*}}: !tt.ptr<f16> {ttnvgpu.tensor_map_base = 0 : i32}
  // CHECK-SAME: ttnvgpu.tensor_map = {
  // LLIR: llvm.func @kernel
  // LLIR-NOT: ttg.
  tt.func public @kernel(%desc: !tt.tensordesc<tensor<64x64xf16, #shared>>, %p: !tt.ptr<f16>) {
    // CHECK-NOT: tt.call
    // CHECK: ttnvgpu.wait_barrier
    // CHECK-NEXT: %[[X:.+]] = ttg.local_load %[[B:.+]] : {{.*}} -> tensor<64x64xf16, #blocked>
    // CHECK-NEXT: ttg.convert_layout %[[X]]
    // CHECK: ttg.local_store %{{.*}}, %[[B]]
    // CHECK-NEXT: ttnvgpu.fence_async_shared
    // CHECK-NEXT: ttnvgpu.async_tma_copy_local_to_global
    // CHECK: tt.store %{{.*}} : tensor<64x!tt.ptr<f16>, #ttg.slice<{dim = 1, parent = #blocked1}>>
    // WITHOUT-NOT: ttnvgpu.fence_async_shared
    %c0 = arith.constant 0 : i32
    %true = arith.constant true
    %buffer = tt.call @load(%desc) : (!tt.tensordesc<tensor<64x64xf16, #shared>>) -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %x = ttg.local_load %buffer : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #blocked>
    %y = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #other>
    %z = arith.addf %y, %y : tensor<64x64xf16, #other>
    ttg.local_store %z, %buffer : tensor<64x64xf16, #other> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttng.async_tma_copy_local_to_global %desc[%c0, %c0] %buffer : !tt.tensordesc<tensor<64x64xf16, #shared>>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttng.async_tma_store_wait {pendings = 0 : i32}
    %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #gluon.auto_encoding>
    %s = tt.splat %p : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>, #gluon.auto_encoding>
    %q = tt.addptr %s, %i : tensor<64x!tt.ptr<f16>, #gluon.auto_encoding>, tensor<64xi32, #gluon.auto_encoding>
    %r = gluon.set_auto_layout %q : tensor<64x!tt.ptr<f16>, #gluon.auto_encoding> -> tensor<64x!tt.ptr<f16>, #ttg.slice<{dim = 1, parent = #other}>>
    %sum = "tt.reduce"(%z) <{axis = 1 : i32}> ({
    ^bb0(%a: f16, %b: f16):
      %t = arith.addf %a, %b : f16
      tt.reduce.return %t : f16
    }) : (tensor<64x64xf16, #other>) -> tensor<64xf16, #ttg.slice<{dim = 1, parent = #other}>>
    tt.store %r, %sum : tensor<64x!tt.ptr<f16>, #ttg.slice<{dim = 1, parent = #other}>>
    tt.return
  }

  tt.func private @load(%desc: !tt.tensordesc<tensor<64x64xf16, #shared>>) -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable> attributes {noinline = false} {
    %c0 = arith.constant 0 : i32
    %true = arith.constant true
    %buffer = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %bar = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.init_barrier %bar, 1 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.barrier_expect %bar, 8192, %true : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.async_tma_copy_global_to_local %desc[%c0, %c0] %buffer, %bar, %true : !tt.tensordesc<tensor<64x64xf16, #shared>>, !ttg.memdesc<1xi64, #bar, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttng.wait_barrier %bar, %c0 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    tt.return %buffer : !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  }
}

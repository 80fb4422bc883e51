// What is neutral lowers whole kernels for machines of test/lib/Target, on
// warps of 64 and of 32 lanes.

// DEFINE: %{file} =
// DEFINE: %{target} =
// DEFINE: %{compile} = tile-opt %S/../../Corpus/%{file}.ttir -convert-triton-to-tritongpu='target=%{target}' \
// DEFINE:     -tritongpu-coalesce -tritongpu-f32-dot-tc -tritongpu-remove-layout-conversions \
// DEFINE:     -tritongpu-optimize-thread-locality -tritongpu-accelerate-matmul \
// DEFINE:     -tritongpu-remove-layout-conversions -tritongpu-optimize-dot-operands -canonicalize \
// DEFINE:     -triton-loop-aware-cse -triton-licm -tritongpu-reduce-data-duplication \
// DEFINE:     -tritongpu-reorder-instructions -cse -canonicalize -tritongpu-optimize-accumulator-init \
// DEFINE:     -tritongpu-legalize-collectives -convert-scf-to-cf -tritongpu-global-scratch-memory-allocation \
// DEFINE:     -allocate-shared-memory -insert-memory-barriers -test-convert-to-llvm

// REDEFINE: %{target} = test:wave64
// REDEFINE: %{file} = gemm
// RUN: %{compile} | filecheck %s -check-prefixes=CHECK,GEMM64
// REDEFINE: %{file} = softmax
// RUN: %{compile} | filecheck %s -check-prefixes=CHECK,SOFTMAX64
// REDEFINE: %{file} = transpose
// RUN: %{compile} | filecheck %s
// REDEFINE: %{file} = argmax
// RUN: %{compile} | filecheck %s
// REDEFINE: %{file} = scan_hist
// RUN: %{compile} | filecheck %s
// REDEFINE: %{file} = gather_join
// RUN: %{compile} | filecheck %s
// REDEFINE: %{file} = atomics
// RUN: %{compile} | filecheck %s
// REDEFINE: %{file} = sort_rand
// RUN: %{compile} | filecheck %s

// REDEFINE: %{target} = test:wave32
// REDEFINE: %{file} = gemm
// RUN: %{compile} | filecheck %s -check-prefixes=CHECK,GEMM32
// REDEFINE: %{file} = softmax
// RUN: %{compile} | filecheck %s -check-prefixes=CHECK,SOFTMAX32
// REDEFINE: %{file} = transpose
// RUN: %{compile} | filecheck %s
// REDEFINE: %{file} = argmax
// RUN: %{compile} | filecheck %s
// REDEFINE: %{file} = scan_hist
// RUN: %{compile} | filecheck %s
// REDEFINE: %{file} = gather_join
// RUN: %{compile} | filecheck %s
// REDEFINE: %{file} = atomics
// RUN: %{compile} | filecheck %s
// REDEFINE: %{file} = sort_rand
// RUN: %{compile} | filecheck %s

// Nothing is left of what the passes worked on, and nothing of a vendor came in.
// CHECK-NOT: {{(^ +|= )(tt|ttg|ttnvgpu|arith|math|scf|cf|nvvm|rocdl)\.}}
// GEMM64: llvm.func @"test.wave !llvm.func<vector<16xf32> (vector<4xf16>, vector<4xf16>, vector<16xf32>)>"
// CHECK: llvm.func @{{.*}}test.threads = {{128|256}} : i32
// CHECK-NOT: {{(^ +|= )(tt|ttg|ttnvgpu|arith|math|scf|cf|nvvm|rocdl)\.}}
// GEMM64: llvm.call @"test.wave
// GEMM32: llvm.intr.fma
// The lanes of a warp are combined in one step more where there are 64. The last one takes the value of a lane of each half.
// SOFTMAX32-NOT: llvm.mlir.constant(32 : i32)
// SOFTMAX64: llvm.mlir.constant(16 : i32)
// SOFTMAX64-NEXT: llvm.call @"test.shuffle.xor
// SOFTMAX64: [[FAR:%.*]] = llvm.mlir.constant(32 : i32)
// SOFTMAX64-NEXT: llvm.call @"test.shuffle.masked {{.*}}(%{{.*}}, %{{.*}}, [[FAR]])
// SOFTMAX32: [[FAR:%.*]] = llvm.mlir.constant(16 : i32)
// SOFTMAX32: llvm.call @"test.shuffle.masked {{.*}}(%{{.*}}, %{{.*}}, [[FAR]])
// CHECK-NOT: {{(^ +|= )(tt|ttg|ttnvgpu|arith|math|scf|cf|nvvm|rocdl)\.}}

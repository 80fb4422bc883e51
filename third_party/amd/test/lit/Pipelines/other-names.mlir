// Names that existing command lines have for passes that are called otherwise here, with their options.

// RUN: tile-opt %s -dump-pass-pipeline -pass-pipeline='builtin.module(tritonamdgpu-optimize-dot-operands{arch-generation-name=gfx942},tritonamdgpu-schedule-loops{num_stages=4},tritonamdgpu-pipeline{use_async_copy=true use_pingpong=false},tritonamdgpu-reorder-instructions,tt.func(tritonamdgpu-optimize-buffer-op-ptr),tritonamdgpu-range-analysis,optimize-amd-lds-usage{lds-limit=0 target-arch=gfx942},convert-warp-pipeline{gfx-arch=gfx942},tritonamdgpu-convert-tensor-ops,tritonamdgpu-optimize-descriptor-encoding,allocate-amdgpu-shared-memory{arch=gfx942},triton-amdgpu-membar{gfx-arch=gfx942},triton-amdgpu-convert-warp-specialize-to-llvm{gfx-arch=gfx942},convert-builtin-func-to-llvm{ftz=true gfx-arch=gfx942})' 2>&1 | filecheck %s
// CHECK: builtin.module(
// CHECK-NEXT: tritongpu-optimize-dot-operands{{.*}},
// CHECK-NEXT: tritongpu-assign-latencies{{.*}}num-stages=2
// CHECK-NEXT: tritongpu-schedule-loops,
// CHECK-NEXT: tritonamdgpu-stream-pipeline{num_stages=2 use_async_copy=true},
// CHECK-NEXT: tritongpu-pipeline
// CHECK-NEXT: tritongpu-reorder-instructions,
// CHECK-NEXT: tt.func(
// CHECK: ),
// Names of passes that have nothing to do here stay, and say so.
// CHECK-NEXT: tritonamdgpu-range-analysis,
// CHECK-NEXT: optimize-amd-lds-usage,
// CHECK-NEXT: convert-warp-pipeline,
// CHECK-NEXT: tritonamdgpu-convert-tensor-ops,
// CHECK-NEXT: tritonamdgpu-optimize-descriptor-encoding,
// CHECK-NEXT: insert-replica-barriers,
// CHECK-NEXT: allocate-shared-memory,
// CHECK-NEXT: insert-memory-barriers,
// CHECK-NEXT: insert-memory-barriers,
// CHECK-NEXT: triton-amdgpu-convert-warp-specialize-to-llvm,
// CHECK-NEXT: convert-builtin-func-to-llvm
// CHECK-NEXT: )

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {}

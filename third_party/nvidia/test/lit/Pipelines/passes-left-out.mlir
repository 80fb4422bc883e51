// RUN: tile-opt %s -tile-nvidia-ttgir='target=cuda:80 prefetch=true' -dump-pass-pipeline 2>&1 | filecheck %s
// RUN: tile-opt %s -tile-nvidia-ttgir='target=cuda:80 prefetch=true disable=tritongpu-pipeline,tritongpu-prefetch,canonicalize' -dump-pass-pipeline 2>&1 | filecheck %s --check-prefix=WITHOUT
// RUN: tile-opt %s -tile-nvidia-ttir='disable=triton-licm' -dump-pass-pipeline 2>&1 | filecheck %s --check-prefix=TTIR
// RUN: tile-opt %s -tile-nvidia-ttgir='target=cuda:80' -dump-pass-pipeline 2>&1 | filecheck %s --check-prefix=DEFAULT

// CHECK: tritongpu-coalesce
// CHECK: tritongpu-f32-dot-tc
// CHECK: tritongpu-remove-layout-conversions
// CHECK: tritongpu-accelerate-matmul
// CHECK: tritongpu-optimize-thread-locality
// CHECK: tritongpu-optimize-dot-operands
// CHECK: tritongpu-fuse-nested-loops
// CHECK: tritongpu-assign-latencies
// CHECK: tritongpu-schedule-loops
// CHECK: tritongpu-pipeline
// CHECK: tritongpu-prefetch
// CHECK: tritongpu-coalesce-async-copy
// CHECK: tritongpu-reduce-data-duplication
// CHECK: tritongpu-reorder-instructions
// CHECK: tritongpu-combine-tensor-select-and-if
// CHECK: tritongpu-optimize-accumulator-init

// WITHOUT-NOT: tritongpu-pipeline
// WITHOUT-NOT: tritongpu-prefetch
// WITHOUT-NOT: canonicalize
// WITHOUT: tritongpu-schedule-loops

// TTIR-NOT: triton-licm
// TTIR: triton-loop-unroll

// Prefetching is asked for, as it takes registers.
// DEFAULT-NOT: tritongpu-prefetch
// DEFAULT: tritongpu-coalesce-async-copy
tt.func public @nothing() {
  tt.return
}

// Names of passes that tile does not have are refused with what to use instead.

// RUN: not tile-opt %s -relayout-tritongpu 2>&1 | filecheck %s -check-prefix LAYOUTS
// LAYOUTS: 'relayout-tritongpu' is not available: use 'convert-triton-to-tritongpu'
// RUN: not tile-opt %s -tritonamdgpu-warp-pipeline 2>&1 | filecheck %s -check-prefix AMD
// AMD: 'tritonamdgpu-warp-pipeline' is not available: tile has no stages of warps that kernels mark

// Those with nothing to do have any options, and say so.
// RUN: tile-opt %s -dump-pass-pipeline -pass-pipeline='builtin.module(tritongpu-optimize-partition-warps{num-warps=4},cse,convert-nv-gpu-to-llvm,nvgpu-warp-specialization{num-stages=3})' 2>&1 | filecheck %s -check-prefix NOTHING
// NOTHING: builtin.module(
// NOTHING-NEXT: tritongpu-optimize-partition-warps,
// NOTHING-NEXT: cse,
// NOTHING-NEXT: convert-nv-gpu-to-llvm,
// NOTHING-NEXT: nvgpu-warp-specialization
// NOTHING-NEXT: )
// NOTHING: '-tritongpu-optimize-partition-warps' does nothing: tritongpu-partition-loops gives every partition the warps it needs

module {}

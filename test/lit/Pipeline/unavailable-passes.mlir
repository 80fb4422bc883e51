// Names of passes that tile does not have are refused with what to use instead.

// RUN: not tile-opt %s -convert-nv-gpu-to-llvm 2>&1 | filecheck %s -check-prefix LOWERING
// LOWERING: 'convert-nv-gpu-to-llvm' is not available: use 'convert-triton-gpu-to-llvm'
// RUN: not tile-opt %s -pass-pipeline='builtin.module(tritongpu-optimize-partition-warps{num-warps=4})' 2>&1 | filecheck %s -check-prefix WS
// WS: 'tritongpu-optimize-partition-warps' is not available: 'tritongpu-partition-loops' gives every partition the warps it needs
// RUN: not tile-opt %s -tritonamdgpu-warp-pipeline 2>&1 | filecheck %s -check-prefix AMD
// AMD: 'tritonamdgpu-warp-pipeline' is not available: tile has no stages of warps that kernels mark

module {}

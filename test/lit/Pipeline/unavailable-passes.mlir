// Names of passes that tile does not have are refused with what to use instead.

// RUN: not tile-opt %s -convert-nv-gpu-to-llvm 2>&1 | filecheck %s -check-prefix LOWERING
// LOWERING: 'convert-nv-gpu-to-llvm' is not available: use 'convert-triton-gpu-to-llvm'
// RUN: not tile-opt %s -pass-pipeline='builtin.module(tritongpu-automatic-warp-specialization{num-stages=3})' 2>&1 | filecheck %s -check-prefix WS
// WS: 'tritongpu-automatic-warp-specialization' is not available: tile does not divide loops
// RUN: not tile-opt %s -convert-triton-amdgpu-to-llvm=arch=gfx942 2>&1 | filecheck %s -check-prefix AMD
// AMD: 'convert-triton-amdgpu-to-llvm' is not available: tile has no AMD backend

module {}

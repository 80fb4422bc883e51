//===-- Passes.h - From tt to ttg -------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_CONVERSION_TRITONTOTRITONGPU_PASSES_H
#define TILE_CONVERSION_TRITONTOTRITONGPU_PASSES_H

#include "mlir/Pass/Pass.h"
#include "tile/Support/PassStatistic.h"

namespace mlir::triton {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "tile/Conversion/TritonToTritonGPU/Passes.h.inc"

} // namespace mlir::triton

#endif // TILE_CONVERSION_TRITONTOTRITONGPU_PASSES_H

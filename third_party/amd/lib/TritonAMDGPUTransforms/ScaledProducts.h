//===-- ScaledProducts.h - Products with scales -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef AMD_TRITONAMDGPUTRANSFORMS_SCALEDPRODUCTS_H
#define AMD_TRITONAMDGPUTRANSFORMS_SCALEDPRODUCTS_H

#include "amd/TargetModel.h"

namespace mlir::triton::amd {

/// Gives the scaled products of `module` that the target's matrix instructions
/// compute the layouts of these, and returns how many there are.
unsigned accelerateScaledProducts(ModuleOp module, const TargetModel &model);

} // namespace mlir::triton::amd

#endif // AMD_TRITONAMDGPUTRANSFORMS_SCALEDPRODUCTS_H

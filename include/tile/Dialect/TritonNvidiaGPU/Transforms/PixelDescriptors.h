//===-- PixelDescriptors.h - Descriptors of pixels --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_PIXELDESCRIPTORS_H
#define TILE_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_PIXELDESCRIPTORS_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::triton::nvidia_gpu {

/// Makes descriptors of which pixels are copied descriptors like others. Copies
/// of pixels have offsets.
void forgetPixelDescriptors(ModuleOp module);

} // namespace mlir::triton::nvidia_gpu

#endif // TILE_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_PIXELDESCRIPTORS_H

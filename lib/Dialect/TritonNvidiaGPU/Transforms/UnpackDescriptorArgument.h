//===-- UnpackDescriptorArgument.h - Descriptors from the host --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_LIB_TRITONNVIDIAGPU_UNPACKDESCRIPTORARGUMENT_H
#define TILE_LIB_TRITONNVIDIAGPU_UNPACKDESCRIPTORARGUMENT_H

#include "mlir/IR/Value.h"

namespace mlir::triton::nvidia_gpu {

/// Replaces a kernel's argument, a descriptor, with the parts that the host
/// passes for it, of which the kernel then makes it.
void unpackDescriptorArgument(BlockArgument argument);

} // namespace mlir::triton::nvidia_gpu

#endif // TILE_LIB_TRITONNVIDIAGPU_UNPACKDESCRIPTORARGUMENT_H

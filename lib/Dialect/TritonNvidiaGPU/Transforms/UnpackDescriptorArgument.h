//===-- UnpackDescriptorArgument.h - Descriptors from the host --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_LIB_TRITONNVIDIAGPU_UNPACKDESCRIPTORARGUMENT_H
#define TILE_LIB_TRITONNVIDIAGPU_UNPACKDESCRIPTORARGUMENT_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::triton::nvidia_gpu {

/// Replaces an argument of a kernel, a descriptor, with the parts that the host
/// passes for it. As a last argument it adds the tensor map that the host makes
/// of them: map number `index` of the kernel. Returns failure where no map
/// describes such blocks.
LogicalResult unpackDescriptorArgument(BlockArgument argument, int index);

/// Makes the types of functions say what descriptors they take and return.
void updateDescriptorsOfFunctions(ModuleOp module);

} // namespace mlir::triton::nvidia_gpu

#endif // TILE_LIB_TRITONNVIDIAGPU_UNPACKDESCRIPTORARGUMENT_H

//===-- UnpackDescriptorArgument.h - Descriptors from the host --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_LIB_TRITONNVIDIAGPU_UNPACKDESCRIPTORARGUMENT_H
#define TILE_LIB_TRITONNVIDIAGPU_UNPACKDESCRIPTORARGUMENT_H

#include "tile/Dialect/Triton/IR/Dialect.h"

#include "mlir/IR/BuiltinOps.h"

namespace mlir::triton::nvidia_gpu {

/// Replaces an argument of a kernel, a descriptor, with the parts that the host
/// passes for it. As a last argument it adds the tensor map that the host makes
/// of them: map number `index` of the kernel. Returns failure where no map
/// describes such blocks.
LogicalResult unpackDescriptorArgument(BlockArgument argument, int index);

/// Whether a launch can make this descriptor: it is of arguments of the kernel
/// alone.
bool canMoveToLaunch(MakeTensorDescOp make);

/// Has the launch make a descriptor that is of arguments of the kernel alone.
/// The kernel gets its tensor map as a last argument: map number `index`.
/// Returns failure where no launch can make it.
LogicalResult moveDescriptorToLaunch(MakeTensorDescOp make, int index);

/// Makes the types of functions say what descriptors they take and return.
void updateDescriptorsOfFunctions(ModuleOp module);

} // namespace mlir::triton::nvidia_gpu

#endif // TILE_LIB_TRITONNVIDIAGPU_UNPACKDESCRIPTORARGUMENT_H

//===-- DescriptorClasses.h - Which descriptors may be the same -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_LIB_TRITONNVIDIAGPU_TRANSFORMS_DESCRIPTORCLASSES_H
#define TILE_LIB_TRITONNVIDIAGPU_TRANSFORMS_DESCRIPTORCLASSES_H

#include "tile/Dialect/Triton/IR/Dialect.h"

#include "mlir/IR/BuiltinOps.h"

namespace mlir::triton::nvidia_gpu {

/// Descriptor values that may be the same at run time, and what uses them. Both
/// are in program order.
struct DescriptorClass {
  SmallVector<Value> members;
  SmallVector<Operation *> users;
};

/// All classes of a module, in program order of their first members.
SmallVector<DescriptorClass> getDescriptorClasses(ModuleOp module);

} // namespace mlir::triton::nvidia_gpu

#endif // TILE_LIB_TRITONNVIDIAGPU_TRANSFORMS_DESCRIPTORCLASSES_H

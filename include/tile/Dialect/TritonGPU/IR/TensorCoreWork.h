//===-- TensorCoreWork.h - Work that tensor cores do alone ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_DIALECT_TRITONGPU_IR_TENSORCOREWORK_H
#define TILE_DIALECT_TRITONGPU_IR_TENSORCOREWORK_H

#include "mlir/IR/OpDefinition.h"

namespace mlir::triton::gpu {

/// A thread arrives at a barrier in shared memory when the dots and copies are
/// done that tensor cores do for it. These are those that it started before.
template <typename ConcreteT>
class ArrivesAfterTensorCores
    : public mlir::OpTrait::TraitBase<ConcreteT, ArrivesAfterTensorCores> {};

} // namespace mlir::triton::gpu

#endif // TILE_DIALECT_TRITONGPU_IR_TENSORCOREWORK_H

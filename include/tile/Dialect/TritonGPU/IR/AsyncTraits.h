//===-- AsyncTraits.h - Copies and waits of backends ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What backends have beside `ttg.async_copy_global_to_local` and
// `ttg.async_wait`, for passes that know of no backend.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DIALECT_TRITONGPU_IR_ASYNCTRAITS_H
#define TILE_DIALECT_TRITONGPU_IR_ASYNCTRAITS_H

#include "mlir/IR/OpDefinition.h"

namespace mlir::triton::gpu {

/// Starts to copy to shared memory; the result is the token of the copy.
template <typename ConcreteT>
class StartsCopy : public mlir::OpTrait::TraitBase<ConcreteT, StartsCopy> {};

/// Each thread waits for copies that it has started.
template <typename ConcreteT>
class WaitsForCopies
    : public mlir::OpTrait::TraitBase<ConcreteT, WaitsForCopies> {};

} // namespace mlir::triton::gpu

#endif // TILE_DIALECT_TRITONGPU_IR_ASYNCTRAITS_H

//===-- OffsetSigns.h - Which offsets may be negative -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether an offset may be negative by its own construction: as a negative
// constant, a difference, something loaded, or an argument of the kernel, taken
// as they are. Products, quotients and remainders, by which kernels number
// tiles and find where one starts, are taken for what they nearly always are.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_OFFSETSIGNS_H
#define TILE_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_OFFSETSIGNS_H

#include "mlir/Analysis/DataFlowFramework.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"

#include <memory>

namespace mlir::triton::nvidia_gpu {

class OffsetSigns {
public:
  explicit OffsetSigns(ModuleOp module) : module(module) {}
  bool mayBeNegative(Value offset);

private:
  bool isConstructedNegative(Value offset);
  bool isConstructedNegative(BlockArgument argument);
  /// By its range, which `tl.assume` may state.
  bool isKnownNonNegative(Value value);

  ModuleOp module;
  std::unique_ptr<DataFlowSolver> solver; ///< made when it is first asked
  llvm::DenseSet<Value> underWay; ///< values of loops come back to these
};

} // namespace mlir::triton::nvidia_gpu

#endif // TILE_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_OFFSETSIGNS_H

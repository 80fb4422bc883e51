//===-- RegisterPressure.h - Registers that tensors take --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// All counts are of a thread's registers of 32 bits. What a pass may use of
// them, `TargetModel::getBudget` says.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_ANALYSIS_REGISTERPRESSURE_H
#define TILE_ANALYSIS_REGISTERPRESSURE_H

#include "mlir/Analysis/Liveness.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::triton {

/// Bits that a thread's part of a tensor with a layout has.
int64_t countRegisterBits(RankedTensorType type);

/// Registers for that, the last of which may not be full.
int64_t countRegisters(RankedTensorType type);

/// Whether a tensor is a constant or the same number everywhere.
bool isConstantOrSplat(Value value);

/// Registers for a value if it is a tensor of data. Indices, masks and pointers
/// are few numbers and constants, and so is what is splat.
int64_t countDataRegisters(Value value);

/// Whether each element of the results is made of one of each operand, that the
/// thread has.
bool isMadeByElements(Operation *op);

/// The most registers that are alive at one time in a function without
/// structured control flow, where a value takes `count` of them.
int64_t countLiveRegisters(FunctionOpInterface function,
                           function_ref<int64_t(Value)> count);

/// Registers that each thread has at least: for the data that a loop carries,
/// or for the elements of a conversion, and some numbers beside it.
int64_t countLeastRegisters(FunctionOpInterface function);

/// Registers that tensors take while they wait for their users. An elementwise
/// operation whose only user is elementwise, too, needs no registers for a
/// whole tensor: its elements are made one by one for the user. Until then its
/// operands take registers, or its result does if that takes fewer.
class WaitingRegisters {
public:
  WaitingRegisters(FunctionOpInterface function,
                   function_ref<int64_t(Value)> count)
      : liveness(function), count(count) {}

  int64_t operator()(Value value);

private:
  Liveness liveness;
  function_ref<int64_t(Value)> count;
  llvm::DenseMap<Value, int64_t> registers;
};

} // namespace mlir::triton

#endif // TILE_ANALYSIS_REGISTERPRESSURE_H

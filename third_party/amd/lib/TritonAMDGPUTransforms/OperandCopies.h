//===-- OperandCopies.h - Operands straight into LDS ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef AMD_LIB_TRITONAMDGPUTRANSFORMS_OPERANDCOPIES_H
#define AMD_LIB_TRITONAMDGPUTRANSFORMS_OPERANDCOPIES_H

#include "amd/TargetModel.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/Transforms/LoopSchedule.h"

namespace mlir::triton::amd {

/// A load of which matrix products are all that uses it.
struct OperandLoad {
  LoadOp load;
  SmallVector<gpu::ConvertLayoutOp> reads;
  /// The first stage that reads.
  int useStage = 0;

  RankedTensorType getType() { return cast<RankedTensorType>(load.getType()); }
  int64_t getBytes() {
    return getType().getNumElements() * getType().getElementTypeBitWidth() / 8;
  }
  RankedTensorType getOperandType() { return reads.front().getType(); }
};

/// Bytes that a lane copies at once.
constexpr int64_t kCopiedBytes = 16;

/// Loads all operands of `loop`, whose schedule is `schedule`, straight into
/// LDS, `distance` iterations ahead: each has one buffer more than that.
/// Returns the new schedule.
gpu::LoopSchedule copyOperands(scf::ForOp loop,
                               const gpu::LoopSchedule &schedule,
                               MutableArrayRef<OperandLoad> operands,
                               int distance, const TargetModel &model);

} // namespace mlir::triton::amd

#endif // AMD_LIB_TRITONAMDGPUTRANSFORMS_OPERANDCOPIES_H

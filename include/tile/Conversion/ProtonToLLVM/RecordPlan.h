//===-- RecordPlan.h - Who records, and where -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Warps record in units. All warps of a unit run the same code, and the first
// warp records for them. Each unit has memory of its own, so that no warp waits
// for another one. The memory of a launch is global. A unit has a header there,
// and then its records. The units of a block follow each other.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CONVERSION_PROTONTOLLVM_RECORDPLAN_H
#define TILE_CONVERSION_PROTONTOLLVM_RECORDPLAN_H

#include "tile/Dialect/TritonGPU/IR/TargetModel.h"

#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace mlir::triton::proton {

/// What the mode of the profiler says, in its words.
struct RecordOptions {
  std::string granularity, samplingStrategy;
  SmallVector<unsigned> samplingOptions;
  std::string bufferStrategy, bufferType;
  int64_t bufferSize = 0;
  SmallVector<std::string> optimizations;
};

struct RecordPlan {
  static constexpr int64_t kHeaderBytes = 64;

  /// Lanes of a warp; lane i writes records i, i + lanes, ... of its warp, so
  /// that no lane reads what another one wrote.
  unsigned lanes = 32;
  unsigned totalWarps = 4;
  /// The warps that record, a bit for each.
  uint32_t warps = 0;
  /// Records that a unit has room for in shared memory; 0 for none.
  int64_t ring = 0;
  /// And in global memory.
  int64_t capacity = 0;
  /// The first records are kept, not the last.
  bool keepsFirst = false;
  /// Records have the lower half of the clock.
  bool clock32 = false;
  /// What a record costs is measured.
  bool timeShift = false;
  /// Records are stored at the end of their blocks.
  bool schedStores = false;
  /// Nothing is moved across records.
  bool schedBarriers = false;
  /// Where the rings are in shared memory.
  int64_t sharedOffset = 0;

  unsigned getNumUnits() const { return llvm::popcount(warps); }
  unsigned getRecordBytes() const { return clock32 ? 8 : 16; }
  int64_t getUnitBytes() const {
    return kHeaderBytes + capacity * getRecordBytes();
  }
  int64_t getBlockBytes() const { return getNumUnits() * getUnitBytes(); }
  int64_t getSharedBytes() const {
    return getNumUnits() * ring * getRecordBytes();
  }
};

/// Decides for a module, the records of which begin with that at `first`; emits
/// an error there where that cannot be done.
FailureOr<RecordPlan> planRecords(ModuleOp module, Operation *first,
                                  const gpu::TargetModel &model,
                                  const RecordOptions &options);

} // namespace mlir::triton::proton

#endif // TILE_CONVERSION_PROTONTOLLVM_RECORDPLAN_H

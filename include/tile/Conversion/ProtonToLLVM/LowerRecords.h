//===-- LowerRecords.h - Records as instructions ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_CONVERSION_PROTONTOLLVM_LOWERRECORDS_H
#define TILE_CONVERSION_PROTONTOLLVM_LOWERRECORDS_H

#include "tile/Conversion/ProtonToLLVM/RecordPlan.h"
#include "tile/Conversion/TritonGPUToLLVM/TargetInfo.h"

namespace mlir::triton::proton {

/// What a target gives records beyond what all lowerings use.
class RecordTarget {
public:
  explicit RecordTarget(const TargetInfo &target) : target(target) {}
  virtual ~RecordTarget() = default;

  const TargetInfo &getInfo() const { return target; }
  /// The clock that counts cycles, as i64.
  virtual Value readCycles(const LLVMBuilder &b) const = 0;
  /// A clock of a constant rate, as i64.
  virtual Value readTime(const LLVMBuilder &b) const = 0;
  /// Nanoseconds between two counts of that clock.
  virtual int64_t getNanoseconds() const = 0;
  /// The number of the multiprocessor, as i32; 0 where that is not known.
  virtual Value readProcessor(const LLVMBuilder &b) const { return b.i32(0); }
  /// Lets no instruction be scheduled across.
  virtual void keepInOrder(const LLVMBuilder &b) const = 0;
  /// Where variables of a thread are.
  virtual unsigned getLocalAddressSpace() const = 0;

private:
  const TargetInfo &target;
};

/// Lowers the records of a module in the LLVM dialect. Its kernel takes the
/// memory of the launch's records as a last argument. The attribute
/// `proton.records` of the module says how to read that memory. A module
/// without records stays as it is.
LogicalResult lowerRecords(ModuleOp module, const RecordTarget &target,
                           const RecordOptions &options);

} // namespace mlir::triton::proton

#endif // TILE_CONVERSION_PROTONTOLLVM_LOWERRECORDS_H

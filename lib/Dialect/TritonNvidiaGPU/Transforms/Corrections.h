//===-- Corrections.h - Sums that loops correct -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_CORRECTIONS_H
#define TILE_LIB_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_CORRECTIONS_H

#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::triton::nvidia_gpu {

/// A sum that the body of a loop multiplies by factors, and then adds to.
struct Correction {
  Region *region = nullptr;
  scf::ForOp loop;
  TMEMLoadOp load;
  TMEMStoreOp store;
  TCGen5MMAOp mma;
  /// A factor for each row.
  Value factors;
  /// Which one it is in its region.
  unsigned number = 0;
  /// The sum, as it is called around the operation.
  Value sum;

  /// What is handed over, and its barriers, around the operation.
  Value handed, sent, corrected, added;

  gpu::MemDescType getType() const {
    return cast<gpu::MemDescType>(sum.getType());
  }
};

/// The first operation of the body of a loop that writes to the left operand of
/// a dot, or to the buffer that this is a view of. Null if there may be others
/// behind the dot, or outside of the body.
Operation *findFirstWrite(TCGen5MMAOp mma, scf::ForOp loop);

/// What the body of a loop corrects, if it does nothing else with the sum than
/// that, and one dot.
std::optional<Correction> findCorrection(TMEMStoreOp store);

/// What the body of a partition calls so, as it is called around the operation.
/// Null if it is made there.
Value getOuter(Value value, gpu::WarpSpecializeOp specialize, Region *region);

/// Whether other warps can compute a bound of a loop of `region`: from what is
/// around the operation, and from counters of loops around this one.
bool canRepeat(Value value, gpu::WarpSpecializeOp specialize, Region *region);

/// The loops around a correction in its region, the innermost first. Empty if
/// there is anything else around it.
SmallVector<scf::ForOp> getNest(const Correction &correction);

/// Whether two groups compute the same number, each in its region.
bool isSameIn(Value a, Region *inA, Value b, Region *inB,
              gpu::WarpSpecializeOp specialize);

/// Has the body of a loop compute `value` as early as it can, if it takes no
/// effects for that, and no more than a number for each row.
void computeEarly(Value value, Block *body);

} // namespace mlir::triton::nvidia_gpu

#endif // TILE_LIB_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_CORRECTIONS_H

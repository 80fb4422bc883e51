//===-- CopyStrategy.h - How a load becomes asynchronous --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The pipeliner keeps loaded tensors in rings of buffers. How they get there,
// and how it is known that they have arrived, differs from load to load.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_TRITONGPU_PIPELINE_COPYSTRATEGY_H
#define TILE_LIB_TRITONGPU_PIPELINE_COPYSTRATEGY_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"

namespace mlir::triton::gpu {

/// The buffer that nobody writes, where the loaded value is put into one: a
/// matrix product reads it there, or threads read operands from it; null if it
/// is not.
LocalAllocOp getProductBuffer(Operation *user);

/// Whether matrix products read the buffer themselves.
bool isReadByProducts(LocalAllocOp buffer);

class CopyStrategy {
public:
  virtual ~CopyStrategy() = default;

  /// The strategy for an operation of the body of `loop`; null where it is no
  /// load, or one whose result has to stay in registers.
  static const CopyStrategy *find(Operation *op, scf::ForOp loop);

  /// A tensor's layout in the buffers.
  virtual Attribute chooseEncoding(Operation *load) const = 0;
  /// True if a copy leaves in shared memory what the load returns.
  virtual bool isComplete(Operation *load) const = 0;
  /// Whether copies arrive at mbarriers. If not, threads wait for their own
  /// copies, which hand on tokens.
  virtual bool usesBarriers() const = 0;
  /// Starts the copy to `slot`, which (where there are barriers) `barrier` has
  /// been told of, and returns the new operations; the last one yields the
  /// token, if there are any. `contiguity` is that of the addresses.
  virtual SmallVector<Operation *> start(OpBuilder &builder, Operation *load,
                                         Value slot, Value barrier,
                                         unsigned contiguity) const = 0;
};

/// Whether a load of `loop`, once it is asynchronous, is copied right into what
/// `buffer` is: nothing is left of the allocation.
bool isCopiedTo(LocalAllocOp buffer, scf::ForOp loop);

} // namespace mlir::triton::gpu

#endif // TILE_LIB_TRITONGPU_PIPELINE_COPYSTRATEGY_H

//===-- TMEMAccesses.h - Accesses of a buffer and their tokens -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_LIB_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_TMEMACCESSES_H
#define TILE_LIB_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_TMEMACCESSES_H

#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::triton::nvidia_gpu {

/// Whether `op` reads or writes the buffer itself, without a view: then it is
/// known what it does. Its token is there if `hasToken`.
bool isAccess(Operation *op, Value buffer);
bool isPlainAccess(Operation *op, Value buffer, bool hasToken = false);

/// The token that an access makes; null if it has none.
Value getToken(Operation *access);

/// Whether nobody but accesses of the buffer waits for the token.
bool isForAccesses(Value token, Value buffer);

/// Has an access come behind another one.
void setDependency(Operation *access, Value token);

/// What accesses of a buffer do in the body of a loop.
struct BodyAccesses {
  /// The last that may write, or the branch of the body that it is in.
  Operation *lastWrite;
  /// Whether all are in the body, or in branches of it.
  bool areKnown = true;
};
BodyAccesses findAccesses(TMEMAllocOp alloc, Block *body);

/// The load behind the last write that reads `value`; null if it is none.
TMEMLoadOp getFinalLoad(Value value, TMEMAllocOp alloc,
                        const BodyAccesses &accesses);

/// A load of all of the buffer, and a store. They have tokens if the buffer
/// has one, and come behind its birth for now.
TMEMLoadOp createLoad(OpBuilder &builder, Location loc, Type type,
                      TMEMAllocOp alloc);
void createStore(OpBuilder &builder, Location loc, Value value, Value pred,
                 TMEMAllocOp alloc);

/// Erases a load that nobody reads.
void eraseLoad(TMEMLoadOp load);

/// Makes a branch without one of its results.
scf::IfOp dropResult(scf::IfOp branch, unsigned number);
/// Makes a branch with one more result. Both ends still have to yield it.
scf::IfOp addResult(scf::IfOp branch, Type type);

//===----------------------------------------------------------------------===//
// Sums that something changes at the end of an iteration
// (SumsInBranches.cpp)
//===----------------------------------------------------------------------===//

/// A branch may add to a sum, and have it as it was at its other end. Has the
/// buffer of the sum outside of the branch. Returns false if it is otherwise.
bool moveOutOfBranch(TMEMAllocOp alloc);

/// Whether `alloc` is in such a branch of the body of `loop`, and the loop
/// hands the sum on.
bool addsInBranchOf(scf::ForOp loop, TMEMAllocOp alloc);

/// The loop may hand on something else than what the buffer has. Has that
/// stored at the end of the iteration, and loads it.
void storeWhatIsHandedOn(TMEMAllocOp alloc, scf::ForOp loop);

/// Moves loads into the branch that alone reads what they load.
void sinkLoads(TMEMAllocOp alloc);

} // namespace mlir::triton::nvidia_gpu

#endif // TILE_LIB_DIALECT_TRITONNVIDIAGPU_TRANSFORMS_TMEMACCESSES_H

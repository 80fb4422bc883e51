//===-- TargetInfo.h - What a backend tells the common lowering -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The one interface between the target-neutral lowering of ttg and a backend.
// Everything here is a primitive that every GPU has in some form; instructions
// that only one vendor has (mma, ldmatrix, TMA) are patterns of that backend.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CONVERSION_TRITONGPUTOLLVM_TARGETINFO_H
#define TILE_CONVERSION_TRITONGPUTOLLVM_TARGETINFO_H

#include "tile/Conversion/TritonGPUToLLVM/Barrier.h"
#include "tile/Conversion/TritonGPUToLLVM/LLVMBuilder.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/TargetModel.h"
#include <optional>
#include <set>
#include <string>

namespace mlir::triton {

struct SharedAccess;
struct ThreadIndex;

/// Why patterns declined operations. (MLIR keeps such reasons in debug builds
/// only, and users want to know.)
class DeclineReasons {
public:
  void add(Location loc, const Twine &reason) {
    reasons[loc].insert(reason.str());
  }
  /// Attaches what is known to an error about an operation.
  void attachTo(Diagnostic &error) const;

private:
  llvm::DenseMap<Location, std::set<std::string>> reasons;
};

class TargetInfo {
public:
  /// How an access to global memory is to be cached.
  struct CacheHints {
    CacheModifier modifier = CacheModifier::NONE;
    EvictionPolicy eviction = EvictionPolicy::NORMAL;
    bool isVolatile = false;
    /// Not to be moved: what else would be read only once is read each time.
    bool staysInPlace = false;
  };

  virtual ~TargetInfo();

  /// Shared by the patterns of one conversion.
  DeclineReasons &getDeclineReasons() const { return declineReasons; }

  //===--------------------------------------------------------------------===//
  // Facts
  //===--------------------------------------------------------------------===//

  /// The machine, as the passes before saw it.
  virtual const gpu::TargetModel &getModel() const = 0;
  virtual unsigned getSharedAddressSpace() const = 0;

  /// Makes `function` something the host can launch.
  virtual void markKernel(LLVM::LLVMFuncOp function, int threads, int numCTAs,
                          std::optional<int> maxRegisters) const = 0;

  //===--------------------------------------------------------------------===//
  // Position
  //===--------------------------------------------------------------------===//

  /// The thread's flat index in its block, as i32.
  virtual Value getThreadId(const LLVMBuilder &b) const = 0;
  /// A program is executed by `numCTAs` blocks, which are a cluster.
  virtual Value getProgramId(const LLVMBuilder &b, int axis,
                             int numCTAs) const = 0;
  virtual Value getNumPrograms(const LLVMBuilder &b, int axis,
                               int numCTAs) const = 0;
  /// The block's index in its cluster.
  virtual Value getBlockInCluster(const LLVMBuilder &b) const = 0;

  //===--------------------------------------------------------------------===//
  // Synchronisation
  //===--------------------------------------------------------------------===//

  virtual void barrier(const LLVMBuilder &b,
                       const BarrierParticipants &who) const = 0;

  //===--------------------------------------------------------------------===//
  // Memory. A null predicate means "always".
  //===--------------------------------------------------------------------===//

  virtual void storeShared(const LLVMBuilder &b, Value ptr,
                           ArrayRef<Value> values, Value pred) const = 0;
  virtual SmallVector<Value> loadShared(const LLVMBuilder &b, Value ptr,
                                        Type element, unsigned count,
                                        Value pred) const = 0;
  /// The address in `block` of the cluster that corresponds to `ptr` in this
  /// block.
  virtual Value mapToBlock(const LLVMBuilder &b, Value ptr,
                           Value block) const = 0;
  /// An access by instructions of a whole warp that exchange elements between
  /// lanes, such as ldmatrix. Returns nullopt (or false), and emits nothing,
  /// where the hardware has none for this access or where they are slower.
  virtual std::optional<SmallVector<Value>>
  loadMatrices(const LLVMBuilder &b, const SharedAccess &access,
               const ThreadIndex &index) const {
    return std::nullopt;
  }
  virtual bool storeMatrices(const LLVMBuilder &b, const SharedAccess &access,
                             const ThreadIndex &index,
                             ArrayRef<Value> values) const {
    return false;
  }
  /// `others`, if not empty, is what a false predicate yields, one per element;
  /// without it, zero.
  virtual SmallVector<Value> loadGlobal(const LLVMBuilder &b, Value ptr,
                                        Type element, unsigned count,
                                        Value pred, ArrayRef<Value> others,
                                        const CacheHints &hints) const = 0;
  virtual void storeGlobal(const LLVMBuilder &b, Value ptr,
                           ArrayRef<Value> values, Value pred,
                           const CacheHints &hints) const = 0;

  /// What LLVM calls the threads that `scope` orders memory for.
  virtual StringRef getSyncScope(const LLVMBuilder &b,
                                 MemSyncScope scope) const = 0;
  /// The most neighbouring elements one atomic may update at once.
  virtual unsigned getMaxAtomicVector(RMWOp op, Type element) const = 0;
  /// Returns the old values; empty where `needResult` is false. Fails where the
  /// target has no such atomic.
  virtual FailureOr<SmallVector<Value>>
  atomicRMW(const LLVMBuilder &b, RMWOp op, Value ptr, ArrayRef<Value> values,
            Value pred, MemSemantic semantic, MemSyncScope scope,
            EvictionPolicy eviction, bool needResult) const = 0;
  virtual FailureOr<Value> atomicCAS(const LLVMBuilder &b, Value ptr,
                                     Value compare, Value value, Value pred,
                                     MemSemantic semantic,
                                     MemSyncScope scope) const = 0;
  /// Adds to a word of shared memory, without returning it.
  virtual void atomicAddShared(const LLVMBuilder &b, Value ptr, Value value,
                               Value pred) const = 0;

  //===--------------------------------------------------------------------===//
  // Exchange inside a warp. Values are 32-bit words.
  //===--------------------------------------------------------------------===//

  virtual Value shuffleXor(const LLVMBuilder &b, Value word,
                           int laneMask) const = 0;
  /// Of the lane `delta` above, below where that is negative; some lane's
  /// where there is none.
  virtual Value shuffleBy(const LLVMBuilder &b, Value word,
                          int delta) const = 0;
  /// Of the lane whose number has this one's bits in `keep`, those of `set`,
  /// and no others.
  virtual Value shuffleMasked(const LLVMBuilder &b, Value word, uint32_t keep,
                              uint32_t set) const = 0;
  virtual Value shuffleIdx(const LLVMBuilder &b, Value word,
                           Value lane) const = 0;
  /// Reduces over all lanes of the warp in hardware, if `combine` (a region of
  /// one operation, given by that operation) allows; null if not.
  virtual Value warpReduce(const LLVMBuilder &b, Operation *combine,
                           Value value) const = 0;

  /// True if the machine gives the same bits for the operands of `combine`, a
  /// commutative operation on floats, in either order, NaN included.
  virtual bool isSymmetric(Operation *combine) const { return false; }
  /// x + y of which no dot or multiplication becomes a part; of types whose
  /// sums are symmetric.
  virtual Value addUnfused(const LLVMBuilder &b, Value x, Value y) const {
    return b.fadd(x, y);
  }

  //===--------------------------------------------------------------------===//
  // Debugging
  //===--------------------------------------------------------------------===//

  /// printf with a C format; every argument is already promoted as C does.
  virtual void printf(const LLVMBuilder &b, StringRef format,
                      ValueRange args) const = 0;
  /// Reports a failed assertion and stops the launch.
  virtual void assertFail(const LLVMBuilder &b, StringRef message,
                          StringRef file, StringRef function,
                          int line) const = 0;

private:
  mutable DeclineReasons declineReasons;
};

} // namespace mlir::triton

#endif // TILE_CONVERSION_TRITONGPUTOLLVM_TARGETINFO_H

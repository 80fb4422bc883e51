//===-- Allocation.h - Places in shared memory ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Every buffer of a function gets an offset such that buffers that live at the
// same time do not overlap. Buffers are those of ttg.local_alloc, the scratch
// memory that an operation's lowering needs while it runs, and the frame of a
// called function.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_ANALYSIS_ALLOCATION_H
#define TILE_ANALYSIS_ALLOCATION_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "tile/Analysis/Alias.h"
#include "tile/Support/AttributeNames.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::triton {

/// Bytes of scratch memory that the lowering of an operation needs.
int64_t getScratchSize(Operation *op);

/// Whether several threads of a block hold the same elements of a tensor.
bool repeatsAcrossThreads(RankedTensorType type);

/// Bits of the number of a block. Blocks that differ in these alone hold the
/// same elements of what an atomic operation, or a load, gives. One of them
/// acts: the one where the bits are zero.
uint32_t getSharingBlockBits(Operation *op);

/// Bytes of shared memory that a ttg.local_alloc takes.
int64_t getBufferSize(Value memdesc);

class Allocation {
public:
  enum class Kind { Explicit, Scratch, Call };
  struct Buffer {
    Kind kind;
    Operation *owner;
    int64_t size;
    int64_t alignment;
    int64_t offset = 0;
    /// Numbers of the first and the last operation in the buffer's life.
    int64_t begin = 0, end = 0;
    /// The partition that alone uses the buffer, if there is one, and the
    /// buffer's life there.
    Region *partition = nullptr;
    int64_t beginInside = 0, endInside = 0;

    /// Whether some thread may need both at once.
    bool livesWith(const Buffer &other) const {
      if (partition && partition == other.partition)
        return beginInside <= other.endInside && other.beginInside <= endInside;
      return begin <= other.end && other.begin <= end;
    }
    bool overlaps(const Buffer &other) const {
      return offset < other.offset + other.size && other.offset < offset + size;
    }
  };

  /// The frame size of a called function.
  using CalleeSizeFn = function_ref<int64_t(CallOpInterface)>;

  /// Gives each buffer of the function a place.
  Allocation(FunctionOpInterface function, CalleeSizeFn calleeSize);
  /// The places that the operations' `allocation.offset` tells. Fails with a
  /// diagnostic where one has none.
  static FailureOr<std::unique_ptr<Allocation>>
  read(FunctionOpInterface function, CalleeSizeFn calleeSize);

  ArrayRef<Buffer> getBuffers() const { return buffers; }
  int64_t getSharedMemorySize() const { return size; }

  /// The index of the buffer that `op` owns; -1 if it owns none.
  int getBufferOf(Operation *op) const;
  /// The buffers that a memdesc may view. (A memdesc argument of a function
  /// views memory of the caller, which is no buffer here.)
  SmallVector<int> getBuffersOf(Value memdesc) const;
  /// The arguments of the function that a memdesc may be, or be a view of.
  SmallVector<BlockArgument> getArgumentsOf(Value memdesc) const;
  const SharedMemoryAliasAnalysis &getAliases() const { return aliases; }

private:
  explicit Allocation(FunctionOpInterface function);
  void collect(FunctionOpInterface function, CalleeSizeFn calleeSize);
  void computeLifetimes(FunctionOpInterface function);
  void place();

  Operation *function;
  SharedMemoryAliasAnalysis aliases;
  SmallVector<Buffer> buffers;
  llvm::DenseMap<Operation *, int> bufferOf;
  int64_t size = 0;
};

/// Allocations of all functions of a module, callees before callers.
class ModuleAllocation {
public:
  /// Gives each buffer a place. Fails with a diagnostic where functions call
  /// themselves, or return buffers.
  static FailureOr<ModuleAllocation> compute(ModuleOp module);
  /// The places that were attached to the operations.
  static FailureOr<ModuleAllocation> read(ModuleOp module);

  const Allocation &get(FunctionOpInterface function) const {
    return *allocations.find(function)->second;
  }
  ArrayRef<std::pair<Operation *, std::unique_ptr<Allocation>>>
  getFunctions() const {
    return allocations.getArrayRef();
  }
  /// What a launch must provide: the largest of the kernels.
  int64_t getSharedMemorySize() const;

private:
  using MakeFrameFn = function_ref<FailureOr<std::unique_ptr<Allocation>>(
      FunctionOpInterface, Allocation::CalleeSizeFn)>;
  static FailureOr<ModuleAllocation> forEachFunction(ModuleOp module,
                                                     MakeFrameFn makeFrame);

  llvm::MapVector<Operation *, std::unique_ptr<Allocation>> allocations;
};

/// Writes `allocation.offset` on the operations and `ttg.shared` on the module.
void attachAllocation(ModuleOp module, const ModuleAllocation &allocation);

} // namespace mlir::triton

#endif // TILE_ANALYSIS_ALLOCATION_H

//===-- BarrierWaits.cpp - Who waits for an arrival -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BarrierWaits.h"

#include "tile/Analysis/AsyncWork.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/SharedPlaces.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::triton;

/// What `op` takes in shared memory, but for the target of a copy and what
/// tensor cores read.
static SmallVector<Value> getBarriers(Operation *op) {
  if (auto product = dyn_cast<MatrixProductOpInterface>(op))
    return llvm::to_vector(product.getCompletionBarriers());
  auto copy = dyn_cast<gpu::AsyncCopyOpInterface>(op);
  SmallVector<Value> read;
  if (getAsyncWork(op) == AsyncWork::TensorCore)
    read = getBuffersOfAsyncWork(op);
  auto isBarrier = [&](Value operand) {
    auto type = dyn_cast<gpu::MemDescType>(operand.getType());
    return type && isa<gpu::SharedMemorySpaceAttr>(type.getMemorySpace()) &&
           !(copy && operand == copy.getCopyTarget()) &&
           !llvm::is_contained(read, operand);
  };
  SmallVector<Value> found =
      llvm::to_vector(llvm::make_filter_range(op->getOperands(), isBarrier));
  // Beside barriers of 64 bits there may be buffers that are in use until then.
  auto isNumber = [](Value barrier) {
    auto type = cast<gpu::MemDescType>(barrier.getType());
    return type.getElementType().isInteger(64);
  };
  if (llvm::any_of(found, isNumber))
    llvm::erase_if(found, [&](Value barrier) { return !isNumber(barrier); });
  return found;
}

/// What a partition of warps captures as `value`; the value itself if it is no
/// capture.
static Value getCaptured(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || !argument.getOwner()->isEntryBlock())
    return value;
  Operation *parent = argument.getOwner()->getParentOp();
  if (!isa<gpu::WarpSpecializePartitionsOp>(parent))
    return value;
  auto specialize = parent->getParentOfType<gpu::WarpSpecializeOp>();
  return specialize.getExplicitCaptures()[argument.getArgNumber()];
}

/// The number of a barrier among those of its buffer, where it is the same each
/// time that the code is executed.
static std::optional<int64_t> getNumber(Value barrier) {
  barrier = getCaptured(barrier);
  if (auto index = barrier.getDefiningOp<gpu::MemDescIndexOp>()) {
    APInt number;
    if (getCaptured(index.getSrc()).getDefiningOp<gpu::LocalAllocOp>() &&
        matchPattern(index.getIndex(), m_ConstantInt(&number)))
      return number.getSExtValue();
    return std::nullopt;
  }
  if (barrier.getDefiningOp<gpu::LocalAllocOp>())
    return 0;
  return std::nullopt;
}

/// Whether a wait at `there` is one at `barrier`.
static Waits compare(Value there, Value barrier,
                     const SharedMemoryAliasAnalysis &aliases) {
  const auto &some = aliases.getRoots(barrier);
  if (llvm::none_of(aliases.getRoots(there),
                    [&](Value root) { return some.contains(root); }))
    return Waits::No;
  std::optional<int64_t> number = getNumber(barrier), other = getNumber(there);
  if (!number || !other)
    return Waits::Perhaps;
  return *number == *other ? Waits::Surely : Waits::No;
}

static Waits waitsHere(Operation *op, Operation *arrival,
                       const SharedMemoryAliasAnalysis &aliases) {
  auto user = dyn_cast<gpu::BarrierUserOpInterface>(op);
  if (!user || user.getBarrierUse() != gpu::BarrierUse::Wait)
    return Waits::No;
  Waits result = Waits::No;
  for (Value there : getBarriers(op))
    for (Value barrier : getBarriers(arrival))
      result = std::max(result, compare(there, barrier, aliases));
  auto predicated = dyn_cast<gpu::PredicatedOpInterface>(op);
  bool isCertain = !predicated || predicated.getPredMutable().empty();
  return isCertain ? result : std::min(result, Waits::Perhaps);
}

Waits triton::waitsFor(Operation *op, Operation *arrival,
                       const SharedMemoryAliasAnalysis &aliases) {
  auto specialize = dyn_cast<gpu::WarpSpecializeOp>(op);
  if (!specialize)
    return waitsHere(op, arrival, aliases);
  // Other warps may wait, meanwhile.
  for (Region &partition : specialize.getPartitionRegions())
    if (partition
            .walk([&](Operation *inner) {
              return waitsHere(inner, arrival, aliases) == Waits::No
                         ? WalkResult::advance()
                         : WalkResult::interrupt();
            })
            .wasInterrupted())
      return Waits::Perhaps;
  return Waits::No;
}

bool triton::waitsForOtherBlocks(Operation *op) {
  auto user = dyn_cast<gpu::BarrierUserOpInterface>(op);
  return user && user.getBarrierUse() == gpu::BarrierUse::Wait &&
         llvm::any_of(getBarriers(op), [](Value barrier) {
           return gpu::getCopyBits(cast<gpu::MemDescType>(barrier.getType())) !=
                  0;
         });
}

bool triton::isOrderingBlockBarrier(Operation *op) {
  auto relaxed = op->getAttrOfType<BoolAttr>("relaxed");
  return op->hasTrait<gpu::BlockBarrier>() && !(relaxed && relaxed.getValue());
}

bool triton::endsBarriersOf(Operation *op, Operation *arrival,
                            const SharedMemoryAliasAnalysis &aliases) {
  Value memory;
  if (auto alloc = dyn_cast<gpu::LocalAllocOp>(op))
    memory = alloc;
  else if (auto dealloc = dyn_cast<gpu::LocalDeallocOp>(op))
    memory = dealloc.getSrc();
  else
    return false;
  SmallVector<Value> barriers = getBarriers(arrival);
  return !barriers.empty() && llvm::all_of(barriers, [&](Value barrier) {
    const auto &roots = aliases.getRoots(barrier);
    return roots.size() == 1 && roots.contains(memory);
  });
}

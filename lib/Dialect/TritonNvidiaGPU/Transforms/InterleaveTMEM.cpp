//===-- InterleaveTMEM.cpp - Loads of tensor memory go down ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Each move is within a block. A load takes along what becomes of its result
// before others see it, as that is in registers as well.
//
// The first user may need something beside that is made element by element from
// less, such as a row of shared memory. In front of a load, all of it would
// wait in registers. So it comes behind the load. What takes fewer registers
// when it is made stays in front: a mask takes a bit for each element.
//
//===----------------------------------------------------------------------===//

#include "tile/Analysis/Alias.h"
#include "tile/Analysis/RegisterPressure.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "triton-nvidia-interleave-tmem"

namespace mlir::triton::nvidia_gpu {
#define GEN_PASS_DEF_TRITONNVIDIAINTERLEAVETMEM
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::nvidia_gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

namespace {

/// What is known of the place of a view: the buffers that it may be of, and
/// which columns it has of one and the same value.
class Places {
public:
  explicit Places(FunctionOpInterface function) : aliases(function) {}

  bool mayOverlap(Value a, Value b) const {
    Columns x = getColumns(a), y = getColumns(b);
    if (x.whole == y.whole)
      return x.begin < y.end && y.begin < x.end;
    const auto &ofA = aliases.getRoots(a), &ofB = aliases.getRoots(b);
    return llvm::any_of(ofA, [&](Value root) {
      return llvm::any_of(ofB,
                          [&](Value other) { return mayBeSame(root, other); });
    });
  }

private:
  struct Columns {
    Value whole;
    int64_t begin, end;
  };

  static Columns getColumns(Value view) {
    auto type = cast<gpu::MemDescType>(view.getType());
    Columns columns{view, 0, type.getShape().back()};
    for (auto part = columns.whole.getDefiningOp<TMEMSubsliceOp>();
         part && part.getDim() == 1;
         part = columns.whole.getDefiningOp<TMEMSubsliceOp>()) {
      columns.begin += part.getOffset();
      columns.end += part.getOffset();
      columns.whole = part.getSrc();
    }
    return columns;
  }

  /// Two arguments of a function may be one buffer.
  static bool mayBeSame(Value a, Value b) {
    return a == b || (!a.getDefiningOp() && !b.getDefiningOp());
  }

  SharedMemoryAliasAnalysis aliases;
};

/// A load, and what happens to what it loads before others see it: conversions,
/// and whatever else there is on the way to a store to tensor memory.
SmallVector<Operation *> getChain(TMEMLoadOp load) {
  SmallVector<Operation *> chain{load};
  size_t conversions = 1;
  Value value = load.getResult();
  while (value.hasOneUse()) {
    Operation *user = *value.user_begin();
    if (user->getBlock() != load->getBlock())
      break;
    if (isa<TMEMStoreOp>(user))
      return chain;
    if (user->getNumResults() != 1 || !isMemoryEffectFree(user))
      break;
    bool isConversion = isa<gpu::ConvertLayoutOp>(user);
    if (isConversion && conversions == chain.size())
      ++conversions;
    chain.push_back(user);
    value = user->getResult(0);
  }
  chain.truncate(conversions);
  return chain;
}

/// The first operation of `block` that uses a result of one of `ops`, and is
/// none of them.
Operation *findFirstUser(ArrayRef<Operation *> ops) {
  Block *block = ops.front()->getBlock();
  Operation *first = nullptr;
  for (Operation *op : ops)
    for (Operation *user : op->getUsers()) {
      Operation *inBlock = block->findAncestorOpInBlock(*user);
      if (!llvm::is_contained(ops, inBlock) &&
          (!first || inBlock->isBeforeInBlock(first)))
        first = inBlock;
    }
  return first;
}

/// Whether the order of a load of `buffer` and of `op` makes no difference.
bool commutes(Value buffer, Operation *op, const Places &places) {
  if (isMemoryEffectFree(op))
    return true;
  // Others may store what has been loaded, once they hear of it.
  auto barrierUser = dyn_cast<gpu::BarrierUserOpInterface>(op);
  if (op->getNumRegions() || (barrierUser && !isa<MMAv5OpInterface>(op)))
    return false;
  std::optional<SmallVector<MemoryEffects::EffectInstance>> effects =
      getEffectsRecursively(op);
  if (!effects)
    return false;
  return llvm::all_of(*effects, [&](const auto &effect) {
    if (!isa<TensorMemory>(effect.getResource()) ||
        !isa<MemoryEffects::Write>(effect.getEffect()))
      return true;
    Value other = effect.getValue();
    return other && !places.mayOverlap(buffer, other);
  });
}

class InterleaveTMEMPass
    : public nvidia_gpu::impl::TritonNvidiaInterleaveTMEMBase<
          InterleaveTMEMPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<FunctionOpInterface>()) {
      Places places(function);
      SmallVector<TMEMLoadOp> loads;
      SmallVector<Operation *> buffers;
      function->walk([&](Operation *op) {
        if (auto load = dyn_cast<TMEMLoadOp>(op))
          loads.push_back(load);
        else if (isBuffer(op))
          buffers.push_back(op);
      });
      // The last one first, so that those before find the others in their
      // places.
      for (Operation *buffer : llvm::reverse(buffers))
        if (Operation *user = findFirstUser(buffer))
          buffer->moveBefore(user);
      for (TMEMLoadOp load : llvm::reverse(loads)) {
        Operation *before = load->getPrevNode();
        if (!sink(load, places))
          continue;
        ++numLoads;
        bringAlong(load, before);
      }
    }
  }

private:
  /// An allocation without contents, or a view of one in the same block.
  static bool isBuffer(Operation *op) {
    if (auto alloc = dyn_cast<TMEMAllocOp>(op))
      return !alloc.getSrc() && !alloc.getToken();
    auto view = dyn_cast<ViewLikeOpInterface>(op);
    if (!view || !isPure(op))
      return false;
    Operation *source = view.getViewSource().getDefiningOp();
    return source && source->getBlock() == op->getBlock() && isBuffer(source);
  }

  static bool sink(TMEMLoadOp load, const Places &places) {
    SmallVector<Operation *> chain = getChain(load);
    Operation *end = findFirstUser(chain);
    Operation *place = load->getNextNode();
    auto isInChain = [&](Operation *op) {
      return llvm::is_contained(chain, op);
    };
    while (place && place != end &&
           !place->hasTrait<mlir::OpTrait::IsTerminator>() &&
           (isInChain(place) || commutes(load.getSrc(), place, places)))
      place = place->getNextNode();
    // What is further down stays there: it may need what is made on the way.
    if (place)
      llvm::erase_if(chain,
                     [&](Operation *op) { return place->isBeforeInBlock(op); });
    if (isContiguousBefore(chain, place))
      return false;
    LDBG() << "goes down: " << *load;
    for (Operation *op : chain)
      op->moveBefore(place);
    return true;
  }

  /// Registers of a value that waits. Elements that are the same value take one
  /// together.
  static int64_t countWaiting(Value value) {
    if (auto broadcast = value.getDefiningOp<BroadcastOp>())
      return countWaiting(broadcast.getSrc());
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && !value.getDefiningOp<SplatOp>() ? countRegisters(type) : 0;
  }

  /// Whether the elements of what `op` makes can be made one by one.
  /// `mayRead` if nothing from there to the load writes.
  static bool canBeMadeLate(Operation *op, bool mayRead) {
    if (!llvm::all_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>))
      return false;
    return (isa<gpu::LocalLoadOp>(op) && mayRead) ||
           (isPure(op) && op->getNumRegions() == 0 &&
            (isMadeByElements(op) || isa<SplatOp>(op)));
  }

  /// Moves what the user of a load needs beside it, and is made of less, behind
  /// the load. The load was behind `begin`, and came down over it.
  static void bringAlong(TMEMLoadOp load, Operation *begin) {
    SmallVector<Operation *> chain = getChain(load);
    Operation *user = findFirstUser(chain);
    if (!user || user->getBlock() != load->getBlock() ||
        user->getNumRegions() || !isMadeByElements(user))
      return;
    // Users come first, so that it is known whether all of them are late.
    llvm::SetVector<Operation *> late;
    auto isLate = [&](Operation *op) {
      return op == user || late.contains(op);
    };
    bool mayRead = true;
    for (Operation *op = load->getPrevNode(); op != begin;
         op = op->getPrevNode()) {
      if (canBeMadeLate(op, mayRead) && !op->use_empty() &&
          llvm::all_of(op->getUsers(), isLate))
        late.insert(op);
      mayRead &= isMemoryEffectFree(op) || isa<gpu::LocalLoadOp>(op);
    }
    int64_t before = 0, after = 0;
    llvm::SmallDenseSet<Value> seen;
    for (Operation *op : llvm::concat<Operation *const>(
             late.getArrayRef(), ArrayRef<Operation *>(user)))
      for (Value value : op->getOperands()) {
        Operation *def = value.getDefiningOp();
        if (!def || def->getBlock() != load->getBlock() ||
            !seen.insert(value).second)
          continue;
        if (late.contains(def))
          before += op == user ? countWaiting(value) : 0;
        else if (def->isBeforeInBlock(load) &&
                 llvm::all_of(value.getUsers(), isLate))
          after += op == user ? 0 : countWaiting(value);
      }
    if (after >= before)
      return;
    // The load may have stopped in front of something that the user is behind.
    Operation *end = load;
    while (llvm::is_contained(chain, end->getNextNode()))
      end = end->getNextNode();
    for (Operation *op : llvm::reverse(late)) {
      op->moveAfter(end);
      end = op;
    }
  }

  static bool isContiguousBefore(ArrayRef<Operation *> chain,
                                 Operation *place) {
    for (Operation *op : llvm::reverse(chain)) {
      if (op->getNextNode() != place)
        return false;
      place = op;
    }
    return true;
  }
};

} // namespace

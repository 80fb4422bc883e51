//===-- InsertReplicaBarriers.cpp - Order what one and all threads do -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Conversion/TritonGPUToLLVM/Passes.h"

#include "tile/Analysis/Allocation.h"
#include "tile/Analysis/Decisions.h"
#include "tile/Analysis/MemoryModel.h"
#include "tile/Dialect/Triton/IR/SplitAttributes.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/LayoutChecks.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "insert-replica-barriers"

namespace mlir::triton {
#define GEN_PASS_DEF_INSERTREPLICABARRIERS
#include "tile/Conversion/TritonGPUToLLVM/Passes.h.inc"
} // namespace mlir::triton

using namespace mlir;
using namespace mlir::triton;

namespace ttg = mlir::triton::gpu;

namespace {
/// Which threads access memory: for a scalar, all of them read and one writes;
/// of a block, each thread accesses elements of its own.
enum Access : unsigned {
  ReadByAll = 1,
  ReadByOne = 2,
  WriteByOne = 4,
  ReadByOwners = 8,
  WriteByOwners = 16,
  Anything = 31
};

/// The pointer that an access goes through, null for somewhere. The type of a
/// block whose elements the same threads have, null for none. Which piece of a
/// larger block this one is, null for none.
using AccessedBlock = std::tuple<Value, Type, Attribute>;
using Accesses = llvm::SmallMapVector<AccessedBlock, unsigned, 4>;
/// The operations that a barrier has to stand before.
using Needed = llvm::SmallPtrSet<Operation *, 4>;
} // namespace

/// True if several threads load the same elements, each for itself. The lanes
/// of a warp need not come to an instruction together.
static bool isReplicated(Type loaded) {
  auto type = dyn_cast<RankedTensorType>(loaded);
  if (!type)
    return true;
  LinearLayout layout = ttg::toLinearLayout(type);
  return layout.getFreeVariableMask(kWarp) != 0 ||
         layout.getFreeVariableMask(kLane) != 0 ||
         layout.getFreeVariableMask(kBlock) != 0;
}

/// True if the same threads have the elements of two blocks: each then accesses
/// an element's place in the order of the program.
static bool haveSameOwners(const AccessedBlock &a, const AccessedBlock &b) {
  auto first = dyn_cast_if_present<RankedTensorType>(std::get<Type>(a));
  auto second = dyn_cast_if_present<RankedTensorType>(std::get<Type>(b));
  if (!first || !second || first.getShape() != second.getShape())
    return false;
  return first.getEncoding() == second.getEncoding() ||
         ttg::toLinearLayout(first) == ttg::toLinearLayout(second);
}

/// True if these are two pieces of one block, or of blocks of one shape. Only
/// accesses to equal blocks of pointers are ordered for the program.
static bool areDifferentPieces(const AccessedBlock &a, const AccessedBlock &b) {
  auto first = dyn_cast_if_present<DenseI32ArrayAttr>(std::get<Attribute>(a));
  auto second = dyn_cast_if_present<DenseI32ArrayAttr>(std::get<Attribute>(b));
  return first && second &&
         first.asArrayRef().drop_front() == second.asArrayRef().drop_front() &&
         first[0] != second[0];
}

/// The accesses of different threads that must not overtake these. Where other
/// threads have the elements of a block is for the compiler to know.
static unsigned getConflicts(unsigned accesses, bool sameOwners) {
  unsigned conflicts = 0;
  if (accesses & ReadByAll)
    conflicts |= WriteByOne | WriteByOwners;
  if (accesses & ReadByOne)
    conflicts |= WriteByOwners;
  if (accesses & WriteByOne)
    conflicts |= ReadByAll | ReadByOwners | WriteByOwners;
  if (accesses & ReadByOwners)
    conflicts |= WriteByOne;
  if (accesses & WriteByOwners)
    conflicts |= ReadByAll | ReadByOne | WriteByOne;
  if (!sameOwners && (accesses & ReadByOwners))
    conflicts |= WriteByOwners;
  if (!sameOwners && (accesses & WriteByOwners))
    conflicts |= ReadByOwners | WriteByOwners;
  return conflicts;
}

static void add(Accesses &accesses, const Accesses &others) {
  for (auto [place, how] : others)
    accesses[place] |= how;
}

/// What `op` itself does with global memory.
static Accesses getAccesses(Operation *op) {
  Accesses accesses;
  Attribute piece = op->getAttr(kPieceAttrName);
  if (auto load = dyn_cast<LoadOp>(op)) {
    bool isScalar = !isa<RankedTensorType>(load.getType());
    AccessedBlock place = {load.getPtr(), load.getType(), piece};
    // One thread reads, and the others wait for it.
    if (isLoadedOnce(load))
      accesses[place] = isScalar ? ReadByOne : ReadByOwners;
    else
      accesses[place] = isReplicated(load.getType()) ? ReadByAll : ReadByOwners;
    return accesses;
  }
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  if (!interface)
    return accesses;
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects(effects);
  for (const MemoryEffects::EffectInstance &effect : effects) {
    Value address = effect.getValue();
    if (!address || !isa<PointerType>(getElementTypeOrSelf(address.getType())))
      continue;
    // A block may also be accessed through one pointer and offsets. All
    // operands are then in the layout of the block.
    auto types = op->getOperandTypes();
    auto block = llvm::find_if(types, llvm::IsaPred<RankedTensorType>);
    bool isScalar = block == types.end();
    AccessedBlock place = {address, isScalar ? Type() : *block, piece};
    bool isLoad = !isScalar && op->getNumResults() == 1 && effects.size() == 1;
    if (isa<MemoryEffects::Write>(effect.getEffect()))
      accesses[place] |= isScalar ? WriteByOne : WriteByOwners;
    else if (isLoad && isReplicated(op->getResult(0).getType()))
      accesses[place] |= ReadByAll;
    else if (isa<MemoryEffects::Read>(effect.getEffect()))
      accesses[place] |= isScalar ? ReadByOne : ReadByOwners;
  }
  return accesses;
}

/// True if all threads of the program have to come to a barrier in `op`. It is
/// one of its own, or one between what they write to scratch memory and read
/// from it.
static bool isBarrier(Operation *op) {
  return isa<ttg::BarrierOp, mlir::gpu::BarrierOp>(op) ||
         (isa<ttg::ConvertLayoutOp, ReduceOp, ScanOp>(op) &&
          ttg::lookupNumCTAs(op) == 1 && getScratchSize(op) > 0);
}

namespace {
struct InsertReplicaBarriers
    : triton::impl::InsertReplicaBarriersBase<InsertReplicaBarriers> {
  void runOnOperation() override {
    if (failed(ttg::checkTensorsHaveLayouts(getOperation())))
      return signalPassFailure();
    getOperation().walk([&](FunctionOpInterface function) {
      if (function.isExternal())
        return;
      // What callers have done they order before the call.
      Accesses pending;
      MemoryModel plain(function, MemoryModel::Arguments::MayOverlap),
          disjoint(function, MemoryModel::Arguments::AssumedDisjoint);
      once = &plain;
      inLoops = &disjoint;
      visit(function.getFunctionBody(), pending);
      noteDisjointArguments(function, disjoint.getAssumptions());
    });
  }

private:
  /// `pending` is what happened since the last barrier, on some path. Where
  /// barriers are only looked for, `needed` gets what they would stand before.
  void visit(Region &region, Accesses &pending, Needed *needed = nullptr) {
    for (Block &block : region)
      for (Operation &op : llvm::make_early_inc_range(block))
        visit(&op, pending, needed);
  }

  void visit(Operation *op, Accesses &pending, Needed *needed) {
    if (isBarrier(op))
      return pending.clear();
    // Groups of warps start and end together.
    if (auto specialize = dyn_cast<ttg::WarpSpecializeOp>(op)) {
      pending.clear();
      visit(specialize.getDefaultRegion(), pending, needed);
      for (Region &partition : specialize.getPartitionRegions()) {
        pending.clear();
        visit(partition, pending, needed);
      }
      return pending.clear();
    }
    if (isa<RegionBranchOpInterface>(op)) {
      if (!needed && !pending.empty() && isa<LoopLikeOpInterface>(op) &&
          needsMoreBarriers(op, pending))
        insertBarrier(op, pending);
      return visitRegions(op, pending, needed);
    }
    Accesses accesses;
    // What a function does its callers do not know.
    if (isa<CallOpInterface>(op))
      accesses[AccessedBlock()] = Anything;
    else
      accesses = getAccesses(op);
    // A barrier that happens once is cheaper than for launches to look whether
    // arguments overlap; not so one for each iteration of a loop.
    bool isInLoop = op->getParentOfType<LoopLikeOpInterface>() != nullptr;
    if (conflict(pending, accesses, isInLoop ? *inLoops : *once)) {
      if (needed) {
        needed->insert(op);
        pending.clear();
      } else {
        insertBarrier(op, pending);
      }
    }
    add(pending, accesses);
  }

  void visitRegions(Operation *op, Accesses &pending, Needed *needed) {
    // Each region may run or not; a loop runs again with what it left, and
    // then finds the barriers that it needed the first time.
    Accesses after = pending;
    bool isLoop = isa<LoopLikeOpInterface>(op);
    for (int turn = 0; turn < (isLoop ? 2 : 1); ++turn) {
      Accesses before = isLoop ? after : pending;
      for (Region &region : op->getRegions()) {
        Accesses inside = before;
        visit(region, inside, needed);
        add(after, inside);
      }
    }
    pending = std::move(after);
  }

  /// True if a loop needs barriers only for what is pending when it starts. One
  /// in front of it is cheaper than those in each iteration.
  bool needsMoreBarriers(Operation *loop, const Accesses &pending) {
    Needed first, own;
    Accesses before = pending, nothing;
    visitRegions(loop, before, &first);
    visitRegions(loop, nothing, &own);
    return llvm::any_of(first,
                        [&](Operation *op) { return !own.contains(op); });
  }

  /// A barrier in front of `op`, behind which nothing is pending.
  void insertBarrier(Operation *op, Accesses &pending) {
    LDBG() << "barrier before " << *op;
    OpBuilder builder(op);
    ttg::BarrierOp::create(builder, op->getLoc(),
                           ttg::AddrSpace::GlobalRead |
                               ttg::AddrSpace::GlobalWrite);
    ++numBarriers;
    pending.clear();
  }

  /// True if something among `accesses` must not overtake what is pending.
  static bool conflict(const Accesses &pending, const Accesses &accesses,
                       MemoryModel &memory) {
    return llvm::any_of(accesses, [&](const auto &access) {
      return llvm::any_of(pending, [&](const auto &before) {
        bool sameOwners = haveSameOwners(before.first, access.first);
        Value one = std::get<Value>(before.first);
        Value other = std::get<Value>(access.first);
        return (before.second & getConflicts(access.second, sameOwners)) &&
               !areDifferentPieces(before.first, access.first) &&
               (!one || !other || memory.mayAlias(one, other));
      });
    });
  }

  /// Of the function at hand: what is in a loop takes different arguments of
  /// a kernel not to overlap, unless the compile is one for those that do.
  MemoryModel *once = nullptr, *inLoops = nullptr;
};
} // namespace

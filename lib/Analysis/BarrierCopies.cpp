//===-- BarrierCopies.cpp - How long copies are under way -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Analysis/BarrierCopies.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton;

namespace {
/// Code that is executed without a branch, from `first` to the end of its
/// block, or until a wait that is certain, or until the barrier ends.
struct Piece {
  Operation *first;
  Operation *last = nullptr;
  /// The last one that may wait for the copy.
  Operation *wait = nullptr;
  SmallVector<int> next = {};
  bool leadsToWait = false;
};

enum class Waits { No, Perhaps, Surely };

class Walk {
public:
  Walk(gpu::AsyncCopyOpInterface copy, const SharedMemoryAliasAnalysis &aliases)
      : copy(copy), aliases(aliases), barriers(getBarriers(copy)) {}

  void run(llvm::function_ref<void(Operation *)> visit);

private:
  SmallVector<Value> getBarriers(Operation *op) const;
  Waits waitsHere(Operation *op) const;
  Waits waitsInside(Operation *op) const;
  bool endsBarrier(Operation *op) const;
  int getPiece(Operation *first);
  void scan(int index);
  void findWaysToWaits();

  gpu::AsyncCopyOpInterface copy;
  const SharedMemoryAliasAnalysis &aliases;
  SmallVector<Value> barriers;
  SmallVector<Piece> pieces;
  llvm::DenseMap<Operation *, int> pieceAt;
};
} // namespace

/// What `op` takes in shared memory, but for the target of a copy.
SmallVector<Value> Walk::getBarriers(Operation *op) const {
  auto other = dyn_cast<gpu::AsyncCopyOpInterface>(op);
  return llvm::to_vector(
      llvm::make_filter_range(op->getOperands(), [&](Value operand) {
        return isa<gpu::MemDescType>(operand.getType()) &&
               !(other && operand == other.getCopyTarget());
      }));
}

/// The number of a barrier among those of its buffer, where it is the same each
/// time that the code is executed.
static std::optional<int64_t> getNumber(Value barrier) {
  if (auto index = barrier.getDefiningOp<gpu::MemDescIndexOp>()) {
    APInt number;
    if (index.getSrc().getDefiningOp<gpu::LocalAllocOp>() &&
        matchPattern(index.getIndex(), m_ConstantInt(&number)))
      return number.getSExtValue();
    return std::nullopt;
  }
  if (barrier.getDefiningOp<gpu::LocalAllocOp>())
    return 0;
  return std::nullopt;
}

/// Whether `op` itself waits at the barrier of the copy.
Waits Walk::waitsHere(Operation *op) const {
  auto user = dyn_cast<gpu::BarrierUserOpInterface>(op);
  if (!user || user.getBarrierUse() != gpu::BarrierUse::Wait)
    return Waits::No;
  Waits result = Waits::No;
  for (Value there : getBarriers(op))
    for (Value barrier : barriers) {
      const auto &some = aliases.getRoots(barrier);
      const auto &others = aliases.getRoots(there);
      if (llvm::none_of(others, [&](Value v) { return some.contains(v); }))
        continue;
      std::optional<int64_t> number = getNumber(barrier);
      if (number && getNumber(there)) {
        if (*number != *getNumber(there))
          continue;
        auto predicated = dyn_cast<gpu::PredicatedOpInterface>(op);
        if (!predicated || predicated.getPredMutable().empty())
          return Waits::Surely;
      }
      result = Waits::Perhaps;
    }
  return result;
}

Waits Walk::waitsInside(Operation *op) const {
  if (op->getNumRegions() == 0)
    return waitsHere(op);
  WalkResult found = op->walk([&](Operation *inner) {
    return waitsHere(inner) == Waits::No ? WalkResult::advance()
                                         : WalkResult::interrupt();
  });
  return found.wasInterrupted() ? Waits::Perhaps : Waits::No;
}

/// Whether the memory of the copy's barrier is given back by `op`, or given to
/// a new barrier. A wait behind that, as in the next iteration of a loop around
/// both, is for another copy.
bool Walk::endsBarrier(Operation *op) const {
  auto isOnlyRoot = [&](Value memory) {
    return !barriers.empty() && llvm::all_of(barriers, [&](Value barrier) {
      const auto &roots = aliases.getRoots(barrier);
      return roots.size() == 1 && roots.contains(memory);
    });
  };
  if (auto alloc = dyn_cast<gpu::LocalAllocOp>(op))
    return isOnlyRoot(alloc);
  if (auto dealloc = dyn_cast<gpu::LocalDeallocOp>(op))
    return isOnlyRoot(dealloc.getSrc());
  return false;
}

int Walk::getPiece(Operation *first) {
  auto [it, isNew] = pieceAt.insert({first, pieces.size()});
  if (isNew)
    pieces.push_back({first});
  return it->second;
}

void Walk::scan(int index) {
  Operation *op = pieces[index].first;
  for (;; op = op->getNextNode()) {
    pieces[index].last = op;
    Waits waits = waitsInside(op);
    if (waits != Waits::No)
      pieces[index].wait = op;
    if (waits == Waits::Surely || endsBarrier(op))
      return;
    if (!op->getNextNode())
      break;
  }
  SmallVector<int> next;
  for (Block *successor : op->getSuccessors())
    next.push_back(getPiece(&successor->front()));
  // A region ends: what is around it goes on.
  Operation *parent = op->getParentOp();
  if (next.empty()) {
    while (!isa<FunctionOpInterface>(parent) && !parent->getNextNode())
      parent = parent->getParentOp();
    if (!isa<FunctionOpInterface>(parent))
      next.push_back(getPiece(parent->getNextNode()));
  }
  pieces[index].next = next;
}

void Walk::findWaysToWaits() {
  bool changed = true;
  while (changed) {
    changed = false;
    for (Piece &piece : llvm::reverse(pieces)) {
      bool leads = llvm::any_of(piece.next, [&](int next) {
        return pieces[next].wait || pieces[next].leadsToWait;
      });
      changed |= leads != piece.leadsToWait;
      piece.leadsToWait = leads;
    }
  }
}

void Walk::run(llvm::function_ref<void(Operation *)> visit) {
  if (!copy->getNextNode())
    return;
  getPiece(copy->getNextNode());
  for (int index = 0; index < static_cast<int>(pieces.size()); ++index)
    scan(index);
  findWaysToWaits();
  for (const Piece &piece : pieces) {
    if (!piece.wait && !piece.leadsToWait)
      continue;
    visit(piece.first);
    visit(piece.leadsToWait ? piece.last : piece.wait);
  }
}

void triton::forEachBeforeArrival(gpu::AsyncCopyOpInterface copy,
                                  const SharedMemoryAliasAnalysis &aliases,
                                  llvm::function_ref<void(Operation *)> visit) {
  Walk(copy, aliases).run(visit);
}

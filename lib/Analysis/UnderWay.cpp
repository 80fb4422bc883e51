//===-- UnderWay.cpp - What runs on behind operations ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Analysis/UnderWay.h"
#include "BarrierWaits.h"

#include "tile/Dialect/TritonGPU/IR/Dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include <map>
#include <set>

using namespace mlir;
using namespace mlir::triton;

namespace ttg = mlir::triton::gpu;

namespace {

/// What is known of the work where an operation is about to be executed.
struct Point {
  Operation *at;
  /// The values that are tokens of it.
  std::set<const void *> tokens = {};
  /// The operations behind which a wait at a barrier says that it is done.
  std::set<Operation *> arrivals = {};
  /// How many of its kind have been started since.
  unsigned numBehind = 0;
  /// Whether it can be waited for: its group has been closed.
  bool isClosed = true;
  /// It is the copy engine's or another thread's: neither counts nor tokens say
  /// when it is done.
  bool isForeign = false;
  /// A block has waited for the work, for itself and for others that have not.
  bool isDoneElsewhere = false;
  /// Tensor cores use the memory. When they are done, the work is, too.
  bool isUsedByTensorCores = false;

  /// Whether the work is under way only if somebody waits for it at a barrier:
  /// nothing else says anything of it.
  bool needsWait() const { return isForeign && !arrivals.empty(); }

  bool holds(Value value) const {
    return tokens.count(value.getAsOpaquePointer());
  }
  void add(Value value) { tokens.insert(value.getAsOpaquePointer()); }
  void remove(Value value) { tokens.erase(value.getAsOpaquePointer()); }

  bool operator<(const Point &other) const {
    auto getAll = [](const Point &point) {
      return std::tie(point.at, point.tokens, point.arrivals, point.numBehind,
                      point.isClosed, point.isForeign, point.isDoneElsewhere,
                      point.isUsedByTensorCores);
    };
    return getAll(*this) < getAll(other);
  }
};

/// Code that is executed without a branch.
struct Piece {
  Point begin;
  Operation *last = nullptr;
  /// The last operation that may wait at a barrier for the work.
  Operation *wait = nullptr;
  SmallVector<int> next = {};
  /// Whether code that may come next waits there.
  bool leadsToWait = false;

  bool needsWait() const { return begin.needsWait(); }
};

class Follower {
public:
  Follower(Operation *start, const SharedMemoryAliasAnalysis &aliases,
           const UnderWayVisitor &visitor)
      : start(start), work(*getAsyncWork(start)), aliases(aliases),
        visitor(visitor) {}

  void run() {
    Point begin{start->getNextNode()};
    begin.isClosed = work != AsyncWork::Copy;
    if (work == AsyncWork::BarrierCopy) {
      begin.arrivals.insert(start);
      begin.isForeign = true;
    }
    if (work == AsyncWork::TensorCore) {
      begin.isForeign = begin.isUsedByTensorCores = true;
      noteArrival(begin, start);
    }
    for (Value result : start->getResults())
      if (isAsyncToken(result))
        begin.add(result);
    for (int piece = getPiece(begin); piece < static_cast<int>(pieces.size());
         ++piece)
      scan(piece);
    visitBeforeWaits();
  }

private:
  int getPiece(const Point &begin) {
    auto [it, isNew] = pieceAt.insert({begin, pieces.size()});
    if (isNew)
      pieces.push_back({begin});
    return it->second;
  }

  void scan(int piece) {
    current = piece;
    bool visits = visitor.visit && !pieces[current].needsWait();
    Point point = pieces[current].begin;
    for (; point.at; point.at = point.at->getNextNode()) {
      pieces[current].last = point.at;
      if (visits)
        visitor.visit(point.at);
      bool needsWait = point.needsWait();
      if (isEnd(point) || isEndByBarrier(point))
        return;
      execute(point);
      if (needsWait != point.needsWait()) {
        // Only waits tell what counts from here on.
        point.at = point.at->getNextNode();
        return goOn(point);
      }
      if (jump(point))
        return;
    }
  }

  void goOn(const Point &point) {
    if (!point.at)
      return;
    int next = getPiece(point);
    pieces[current].next.push_back(next);
  }

  /// Visits the pieces that need a wait.
  void visitBeforeWaits() {
    if (!visitor.visit)
      return;
    for (bool changed = true; changed;) {
      changed = false;
      for (Piece &piece : llvm::reverse(pieces)) {
        bool leads = llvm::any_of(piece.next, [&](int next) {
          return pieces[next].wait || pieces[next].leadsToWait;
        });
        changed |= leads != piece.leadsToWait;
        piece.leadsToWait = leads;
      }
    }
    for (const Piece &piece : pieces) {
      Operation *last = piece.leadsToWait ? piece.last : piece.wait;
      if (!piece.needsWait() || !last)
        continue;
      for (Operation *op = piece.begin.at; op != last; op = op->getNextNode())
        visitor.visit(op);
      visitor.visit(last);
    }
  }

  bool isEnd(const Point &point) {
    Operation *op = point.at;
    if (auto product = dyn_cast<MatrixProductOpInterface>(op))
      return work == AsyncWork::Product && !point.isForeign &&
             product.isWaitedInOrder() && !product.isAsync();
    if (point.isForeign || !mayWaitFor(op, work))
      return false;
    // A token cannot say more than the number that the machine waits for.
    std::optional<unsigned> count = getCount(op, work);
    bool isCounted = count && point.isClosed && point.numBehind >= *count;
    // The copies of a group are not waited for before it is closed.
    bool canWait = point.isClosed || !isa<ttg::AsyncWaitOp>(op);
    if (!canWait || llvm::none_of(op->getOperands(), [&](Value operand) {
          return point.holds(operand);
        }))
      return isCounted;
    if (visitor.visitTokenWait)
      visitor.visitTokenWait(op, point.numBehind);
    return !count || point.numBehind >= *count;
  }

  /// Whether a wait at a barrier says here that the work is done, or none can
  /// any more.
  bool isEndByBarrier(Point &point) {
    if (point.isDoneElsewhere && isOrderingBlockBarrier(point.at))
      return true;
    if (point.arrivals.empty())
      return false;
    Waits waits = Waits::No;
    for (Operation *arrival : point.arrivals)
      waits = std::max(waits, waitsFor(point.at, arrival, aliases));
    if (waits != Waits::No)
      pieces[current].wait = point.at;
    if (waits != Waits::No && waitsForOtherBlocks(point.at)) {
      point.isDoneElsewhere = true;
      point.arrivals.clear();
      return false;
    }
    if (waits == Waits::Surely)
      return true;
    std::erase_if(point.arrivals, [&](Operation *arrival) {
      return endsBarriersOf(point.at, arrival, aliases);
    });
    return pieces[current].needsWait() && point.arrivals.empty();
  }

  /// `op` may arrive behind what tensor cores do.
  static void noteArrival(Point &point, Operation *op) {
    if (point.isUsedByTensorCores && arrivesAfterTensorCores(op))
      point.arrivals.insert(op);
  }

  /// Whether tensor cores use in `op` what the work writes to.
  bool startsUse(Operation *op) const {
    if (getAsyncWork(op) != AsyncWork::TensorCore)
      return false;
    return llvm::any_of(getBuffersOfAsyncWork(op), [&](Value used) {
      const auto &roots = aliases.getRoots(used);
      return llvm::any_of(getBuffersOfAsyncWork(start), [&](Value buffer) {
        return llvm::any_of(aliases.getRoots(buffer),
                            [&](Value root) { return roots.contains(root); });
      });
    });
  }

  void execute(Point &point) {
    // It starts behind the wait of the block that starts it.
    if (point.isDoneElsewhere && startsUse(point.at))
      point.isUsedByTensorCores = true;
    noteArrival(point, point.at);
    if (point.isForeign)
      return;
    Operation *op = point.at;
    auto select = dyn_cast<arith::SelectOp>(op);
    bool isChosen = select && point.holds(select.getTrueValue()) &&
                    point.holds(select.getFalseValue());
    // Where an operation comes again, its results are new values.
    for (Value result : op->getResults())
      point.remove(result);
    if (isChosen)
      point.add(select.getResult());

    if (work == AsyncWork::Copy && op->hasTrait<ttg::ArrivesAfterCopies>())
      point.arrivals.insert(op);

    auto commit = dyn_cast<ttg::AsyncCommitGroupOp>(op);
    if (commit && work == AsyncWork::Copy && !point.isClosed) {
      point.isClosed = true;
      point.add(commit.getAsyncToken());
      return;
    }
    bool isBehind = work == AsyncWork::Copy ? static_cast<bool>(commit)
                                            : getAsyncWork(op) == work;
    if (isBehind)
      point.numBehind = std::min(point.numBehind + 1, kMostUnderWay);
  }

  /// Goes on at the start of a block, or behind an operation, where `to` are
  /// what `from` were.
  void pass(const Point &point, Operation *at, ValueRange from, ValueRange to) {
    Point next = point;
    next.at = at;
    for (Value value : to)
      next.remove(value);
    for (auto [f, t] : llvm::zip(from, to))
      if (point.holds(f))
        next.add(t);
    goOn(next);
  }

  void passTo(const Point &point, RegionBranchOpInterface op,
              RegionSuccessor successor, ValueRange from) {
    Region *region = successor.getSuccessor();
    pass(point, region ? &region->front().front() : op->getNextNode(), from,
         successor.getSuccessorInputs());
  }

  /// Whether something else than the next operation follows; goes on there.
  bool jump(const Point &point) {
    Operation *op = point.at;
    if (auto branch = dyn_cast<BranchOpInterface>(op)) {
      for (unsigned i = 0, e = op->getNumSuccessors(); i < e; ++i) {
        SuccessorOperands operands = branch.getSuccessorOperands(i);
        Block *next = op->getSuccessor(i);
        pass(point, &next->front(), operands.getForwardedOperands(),
             next->getArguments().drop_front(
                 operands.getProducedOperandCount()));
      }
      return true;
    }
    SmallVector<RegionSuccessor> successors;
    if (auto regions = dyn_cast<RegionBranchOpInterface>(op)) {
      regions.getSuccessorRegions(RegionBranchPoint::parent(), successors);
      for (RegionSuccessor successor : successors)
        passTo(point, regions, successor,
               regions.getEntrySuccessorOperands(successor));
      return true;
    }
    Operation *parent = op->getParentOp();
    auto regions = dyn_cast_or_null<RegionBranchOpInterface>(parent);
    if (auto terminator = dyn_cast<RegionBranchTerminatorOpInterface>(op);
        terminator && regions) {
      regions.getSuccessorRegions(terminator, successors);
      for (RegionSuccessor successor : successors)
        passTo(point, regions, successor,
               terminator.getSuccessorOperands(successor));
      return true;
    }
    if (isa<ttg::WarpSpecializePartitionsOp>(parent) && !op->getNextNode()) {
      Point next = point;
      next.at = parent->getParentOp()->getNextNode();
      next.isForeign = true;
      goOn(next);
      return true;
    }
    return false;
  }

  Operation *start;
  AsyncWork work;
  const SharedMemoryAliasAnalysis &aliases;
  const UnderWayVisitor &visitor;
  std::vector<Piece> pieces;
  std::map<Point, int> pieceAt;
  /// The piece that is scanned.
  int current = 0;
};

} // namespace

void triton::followUnderWay(Operation *start,
                            const SharedMemoryAliasAnalysis &aliases,
                            const UnderWayVisitor &visitor) {
  Follower(start, aliases, visitor).run();
}

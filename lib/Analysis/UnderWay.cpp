//===-- UnderWay.cpp - What runs on behind operations ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Analysis/UnderWay.h"
#include "tile/Analysis/ForwardedValues.h"

#include "tile/Dialect/TritonGPU/IR/Dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include <limits>
#include <set>

using namespace mlir;
using namespace mlir::triton;

namespace ttg = mlir::triton::gpu;

//===----------------------------------------------------------------------===//
// What operations start and wait for
//===----------------------------------------------------------------------===//

static bool isToken(Value value) {
  return isa<ttg::AsyncTokenType>(value.getType());
}

/// The buffer that `op` copies to global memory while the thread goes on; null
/// for other operations. Whatever stores threads' own values takes none.
static Value getSourceOfAsyncStore(Operation *op) {
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  if (!effects)
    return Value();
  SmallVector<MemoryEffects::EffectInstance> found;
  effects.getEffects(found);
  bool writesGlobal = llvm::any_of(found, [](const auto &effect) {
    return isa<MemoryEffects::Write>(effect.getEffect()) &&
           isa<GlobalMemory>(effect.getResource());
  });
  if (!writesGlobal)
    return Value();
  for (const MemoryEffects::EffectInstance &effect : found)
    if (Value value = effect.getValue();
        value && isa<MemoryEffects::Read>(effect.getEffect()) &&
        isa<ttg::MemDescType>(value.getType()))
      return value;
  return Value();
}

std::optional<AsyncWork> triton::getAsyncWork(Operation *op) {
  if (auto copy = dyn_cast<ttg::AsyncCopyOpInterface>(op))
    return copy.arrivesAtBarrier() ? std::nullopt
                                   : std::optional(AsyncWork::Copy);
  if (auto product = dyn_cast<MatrixProductOpInterface>(op))
    return product.isAsync() && product.isWaitedInOrder()
               ? std::optional(AsyncWork::Product)
               : std::nullopt;
  if (getSourceOfAsyncStore(op))
    return AsyncWork::Store;
  return std::nullopt;
}

SmallVector<Value> triton::getBuffersOfAsyncWork(Operation *op) {
  if (auto copy = dyn_cast<ttg::AsyncCopyOpInterface>(op))
    return {copy.getCopyTarget()};
  if (auto product = dyn_cast<MatrixProductOpInterface>(op)) {
    SmallVector<Value> buffers;
    for (Value factor : product.getFactors())
      if (isa<ttg::MemDescType>(factor.getType()))
        buffers.push_back(factor);
    return buffers;
  }
  if (Value source = getSourceOfAsyncStore(op))
    return {source};
  return {};
}

static bool isAsyncWait(Operation *op) {
  return op->hasTrait<ttg::WaitsForCopies>() ||
         isa<MatrixProductWaitOpInterface>(op);
}

/// Waits for copies to shared memory give a token, waits for stores of NVIDIA's
/// copy engine give none.
static bool givesToken(Operation *wait) {
  return wait->getNumResults() == 1 && isToken(wait->getResult(0));
}

/// The number that a wait has beside its tokens.
static std::optional<unsigned> getNumber(Operation *wait) {
  if (auto products = dyn_cast<MatrixProductWaitOpInterface>(wait))
    return products.getMaxPendings();
  std::optional<unsigned> number;
  for (NamedAttribute attribute : wait->getAttrs())
    if (auto value = dyn_cast<IntegerAttr>(attribute.getValue()))
      number = std::max<unsigned>(number.value_or(0), value.getInt());
  return number;
}

/// Whether `wait` is about such work. Waits that give a token are about copies
/// to shared memory, if they are ours. Others may be about both directions.
static bool isOfKind(Operation *wait, AsyncWork work) {
  if (isa<MatrixProductWaitOpInterface>(wait))
    return work == AsyncWork::Product;
  if (!wait->hasTrait<ttg::WaitsForCopies>() || work == AsyncWork::Product)
    return false;
  if (!givesToken(wait))
    return work == AsyncWork::Store;
  return work == AsyncWork::Copy || !isa<ttg::AsyncWaitOp>(wait);
}

/// Whether `wait` may say that such work is done. Waits of others may count
/// what we do not (instructions, say). Of these, only such tell that leave
/// nothing.
static bool mayWaitFor(Operation *wait, AsyncWork work) {
  if (!isOfKind(wait, work))
    return false;
  return !givesToken(wait) || isa<ttg::AsyncWaitOp>(wait) ||
         getNumber(wait).value_or(0) == 0;
}

/// How much of such work `wait`, which is about it, leaves under way, whatever
/// its tokens are. Nothing if these alone say what it waits for.
static std::optional<unsigned> getCount(Operation *wait, AsyncWork work) {
  std::optional<unsigned> number = getNumber(wait);
  if (!number && llvm::any_of(wait->getOperands(), isToken))
    return std::nullopt;
  // Of copies to global memory, another's wait may mean none.
  if (work == AsyncWork::Store && givesToken(wait))
    return std::nullopt;
  return number.value_or(0);
}

//===----------------------------------------------------------------------===//
// Along all paths
//===----------------------------------------------------------------------===//

namespace {

/// What is known of the work where an operation is about to be executed.
struct Point {
  Operation *at;
  /// The values that are tokens of it.
  std::set<const void *> tokens;
  /// How many of its kind have been started since; more than any wait leaves
  /// count as the same.
  unsigned numBehind = 0;
  /// Whether it can be waited for: its group has been closed.
  bool isClosed = true;
  /// It is another thread's, so that nothing ends it.
  bool isForeign = false;
  /// Its thread has arrived at an mbarrier since. Whoever waits there says how
  /// long the buffer lives.
  bool isAnnounced = false;

  bool holds(Value value) const {
    return tokens.count(value.getAsOpaquePointer());
  }
  void add(Value value) { tokens.insert(value.getAsOpaquePointer()); }
  void remove(Value value) { tokens.erase(value.getAsOpaquePointer()); }

  bool operator<(const Point &other) const {
    return std::tie(at, tokens, numBehind, isClosed, isForeign, isAnnounced) <
           std::tie(other.at, other.tokens, other.numBehind, other.isClosed,
                    other.isForeign, other.isAnnounced);
  }
};

constexpr unsigned kMostBehind = 64;

class Follower {
public:
  Follower(Operation *start, const UnderWayVisitor &visitor)
      : start(start), work(*getAsyncWork(start)), visitor(visitor) {}

  void run() {
    Point begin{start->getNextNode()};
    begin.isClosed = work != AsyncWork::Copy;
    for (Value result : start->getResults())
      if (isToken(result))
        begin.add(result);
    push(begin);
    while (!worklist.empty()) {
      Point point = worklist.pop_back_val();
      while (point.at) {
        if (visitor.visit)
          visitor.visit(point.at);
        if (isEnd(point))
          break;
        execute(point);
        if (jump(point))
          break;
        point.at = point.at->getNextNode();
      }
    }
  }

private:
  void push(const Point &point) {
    if (point.at && seen.insert(point).second)
      worklist.push_back(point);
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

  void execute(Point &point) {
    Operation *op = point.at;
    auto select = dyn_cast<arith::SelectOp>(op);
    bool isChosen = select && point.holds(select.getTrueValue()) &&
                    point.holds(select.getFalseValue());
    // Where an operation comes again, its results are new values.
    for (Value result : op->getResults())
      point.remove(result);
    if (isChosen)
      point.add(select.getResult());

    auto barrier = dyn_cast<ttg::BarrierUserOpInterface>(op);
    if (work == AsyncWork::Copy && barrier &&
        barrier.getBarrierUse() == ttg::BarrierUse::Arrive)
      point.isAnnounced = true;

    auto commit = dyn_cast<ttg::AsyncCommitGroupOp>(op);
    if (commit && work == AsyncWork::Copy && !point.isClosed) {
      point.isClosed = true;
      point.add(commit.getAsyncToken());
      return;
    }
    bool isBehind = work == AsyncWork::Copy ? static_cast<bool>(commit)
                                            : getAsyncWork(op) == work;
    if (isBehind)
      point.numBehind = std::min(point.numBehind + 1, kMostBehind);
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
    push(next);
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
    // Partitions wait for what they have started themselves.
    if (isa<ttg::WarpSpecializeOp>(op))
      return false;
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
      if (point.isAnnounced)
        return true;
      Point next = point;
      next.at = parent->getParentOp()->getNextNode();
      next.isForeign = true;
      push(next);
      return true;
    }
    return false;
  }

  Operation *start;
  AsyncWork work;
  const UnderWayVisitor &visitor;
  SmallVector<Point> worklist;
  std::set<Point> seen;
};

} // namespace

void triton::followUnderWay(Operation *start, const UnderWayVisitor &visitor) {
  Follower(start, visitor).run();
}

//===----------------------------------------------------------------------===//
// Origins of tokens
//===----------------------------------------------------------------------===//

TokenOrigins::TokenOrigins(Operation *function) {
  llvm::DenseMap<Value, SmallVector<Value>> users;
  SmallVector<Value> worklist;
  llvm::DenseSet<Value> isForwarded;
  auto pass = [&](ValueRange from, ValueRange to) {
    for (auto [f, t] : llvm::zip(from, to))
      if (isToken(t)) {
        users[f].push_back(t);
        isForwarded.insert(t);
      }
  };
  auto start = [&](Value token, Operation *op) {
    Origins &origins = originsOf[token];
    if (op && getAsyncWork(op))
      origins.starts.insert(op);
    else
      origins.isUnknown = true;
    origins.isCounted = op && isAsyncWait(op);
    worklist.push_back(token);
  };
  function->walk([&](Operation *op) {
    forEachForwarded(op, pass);
    if (!isAsyncWait(op) && !isa<ttg::AsyncCommitGroupOp>(op))
      return;
    // A group has the copies whose tokens it takes.
    for (Value result : op->getResults())
      for (Value operand : op->getOperands())
        if (isToken(operand))
          pass(operand, result);
  });
  function->walk([&](Operation *op) {
    for (Value result : op->getResults())
      if (isToken(result) && !isForwarded.contains(result))
        start(result, op);
    for (Region &region : op->getRegions())
      for (Value argument : region.getArguments())
        if (isToken(argument) && !isForwarded.contains(argument))
          start(argument, nullptr);
  });
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    Origins from = originsOf[value];
    for (Value user : users[value]) {
      Origins &into = originsOf[user];
      auto measure = [&] {
        return into.starts.size() + into.isUnknown + into.isCounted;
      };
      size_t before = measure();
      into.starts.insert(from.starts.begin(), from.starts.end());
      into.isUnknown |= from.isUnknown;
      into.isCounted |= from.isCounted;
      if (measure() != before)
        worklist.push_back(user);
    }
  }
}

const TokenOrigins::Origins &TokenOrigins::get(Value token) const {
  auto it = originsOf.find(token);
  return it == originsOf.end() ? unknown : it->second;
}

std::optional<unsigned> triton::getMaxPendings(Operation *wait,
                                               const TokenOrigins &origins) {
  std::optional<unsigned> most;
  for (Value token : wait->getOperands()) {
    if (!isToken(token))
      continue;
    const TokenOrigins::Origins &found = origins.get(token);
    if (found.isUnknown)
      return 0;
    if (!most)
      most = kMostBehind;
    for (Operation *start : found.starts)
      followUnderWay(start,
                     {.visitTokenWait = [&](Operation *at, unsigned numBehind) {
                       if (at == wait)
                         most = std::min(*most, numBehind);
                     }});
  }
  return most;
}

LogicalResult triton::verifyTokensOfWaits(Operation *function,
                                          const TokenOrigins &origins) {
  LogicalResult result = success();
  function->walk([&](Operation *op) {
    if (!isAsyncWait(op))
      return;
    for (Value token : op->getOperands()) {
      if (!isToken(token))
        continue;
      for (Operation *start : origins.get(token).starts) {
        if (isOfKind(op, *getAsyncWork(start)))
          continue;
        InFlightDiagnostic error =
            op->emitOpError("waits for other work than its token is of");
        error.attachNote(start->getLoc()) << "the token is of this";
        result = error;
        break;
      }
    }
  });
  return result;
}

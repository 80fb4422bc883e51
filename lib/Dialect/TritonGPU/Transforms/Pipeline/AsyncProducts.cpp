//===-- AsyncProducts.cpp - Matrix products across iterations -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A dot of one iteration is issued while that of the iteration before is
// under way, so that the tensor core has always something to do:
//
//   wait for copies; dot i; wait until dot i - 1 is done;
//   copies to the buffers that dot i - 1 has read
//
// Dots whose results are used in the loop are waited for right before that.
// Where that is in the next iteration, after another dot, they run on until
// then: the dot of attention with the values while that of the next scores
// is started. Where some iterations only use them, as the last ones of the
// tiles of a loop over many tiles do, they are waited for there:
//
//   wait for copies; dot i; wait until dot i - 1 is done;
//   copies to the buffers that dot i - 1 has read;
//   if it is the last of its tile { wait until dot i is done; store it }
//
// While a dot runs, nothing may read or write its registers, and LLVM does
// not know that. It copies values between registers where an iteration ends and
// where branches meet. So a dot only runs on there if its sum can stay in one
// set of registers on the way. The sum goes on in the iteration argument that
// the dot adds to, and nothing else needs those registers meanwhile.
//
//===----------------------------------------------------------------------===//

#include "AsyncProducts.h"
#include "Buffers.h"

#include "tile/Analysis/RegisterPressure.h"
#include "tile/Analysis/TripCount.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/TargetModel.h"

#include "mlir/IR/Matchers.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tritongpu-pipeline"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {

/// True if nothing writes what an operand reads before the dot is done: it
/// is in a ring of this loop, or in a buffer that never changes.
bool isKept(Value operand, scf::ForOp loop, ArrayRef<Value> rings) {
  Value memory = getBuffers(operand);
  if (llvm::is_contained(rings, memory))
    return true;
  auto alloc = memory.getDefiningOp<LocalAllocOp>();
  return alloc && alloc.getSrc() && !alloc.getType().getMutableMemory() &&
         !loop->isAncestor(alloc);
}

/// A branch that uses a dot in some iterations; in all others it hands the
/// dot on.
struct OccasionalUse {
  scf::IfOp ifOp;
  /// The block of those that use it.
  Block *block;
  /// What goes on to the next iteration.
  OpResult next;
};

/// Whether the registers of a dot that one side of a branch hands on are free
/// for `other`, which the `busy` side hands on. Then `other` is made there,
/// behind the wait, or it stays in registers of its own.
bool canFollow(Value other, Block *busy, scf::ForOp loop) {
  Operation *def = other.getDefiningOp();
  if (def && (def->hasTrait<mlir::OpTrait::ConstantLike>() ||
              busy->findAncestorOpInBlock(*def)))
    return true;
  return !loop->isAncestor(other.getParentBlock()->getParentOp());
}

/// The branch that all uses of `product` are in, one of whose sides only hands
/// it on.
std::optional<OccasionalUse> getOccasionalUse(Value product, scf::ForOp loop) {
  scf::IfOp ifOp;
  for (Operation *user : product.getUsers()) {
    Operation *inBody = loop.getBody()->findAncestorOpInBlock(*user);
    if (inBody == user || (ifOp && inBody != ifOp))
      return std::nullopt;
    ifOp = dyn_cast<scf::IfOp>(inBody);
    if (!ifOp)
      return std::nullopt;
  }
  if (!ifOp || !ifOp.elseBlock())
    return std::nullopt;
  // The wait for the dot of the iteration before comes first, and behind
  // the last dot.
  for (Operation *op = ifOp->getNextNode(); op; op = op->getNextNode())
    if (isa<MatrixProductOpInterface>(op))
      return std::nullopt;
  for (Block *idle : {ifOp.elseBlock(), ifOp.thenBlock()}) {
    OpOperand *onlyUse = nullptr;
    bool isAlone = true;
    for (OpOperand &use : product.getUses())
      if (use.getOwner()->getParentRegion()->getParentOp() == ifOp &&
          use.getOwner()->getBlock() == idle) {
        isAlone = !onlyUse;
        onlyUse = &use;
      } else if (idle->findAncestorOpInBlock(*use.getOwner())) {
        isAlone = false;
      }
    if (!onlyUse || !isAlone || onlyUse->getOwner() != idle->getTerminator())
      continue;
    Block *busy =
        idle == ifOp.elseBlock() ? ifOp.thenBlock() : ifOp.elseBlock();
    OpResult next = ifOp->getResult(onlyUse->getOperandNumber());
    Value other = busy->getTerminator()->getOperand(next.getResultNumber());
    if (!canFollow(other, busy, loop))
      continue;
    return OccasionalUse{ifOp, busy, next};
  }
  return std::nullopt;
}

/// The iteration argument that `dot` adds to, if it alone has to do with it but
/// for an occasional use.
BlockArgument getOwnAccumulator(MatrixProductOpInterface dot, scf::ForOp loop) {
  auto c = dyn_cast<BlockArgument>(dot.getAccumulator());
  if (!c || c.getOwner() != loop.getBody() || !c.hasOneUse())
    return {};
  Value next = dot.getProduct();
  if (auto occasional = getOccasionalUse(next, loop))
    next = occasional->next;
  if (!next.hasOneUse())
    return {};
  OpOperand &use = *next.use_begin();
  if (use.getOwner() != loop.getBody()->getTerminator() ||
      loop.getRegionIterArg(use.getOperandNumber()) != c)
    return {};
  return c;
}

/// Whether nobody has decided yet when the dot is waited for.
bool isUndecided(MatrixProductOpInterface dot) {
  return dot.canWaitInOrder() && !dot.isAsync();
}

bool canRunOn(MatrixProductOpInterface dot, scf::ForOp loop,
              ArrayRef<Value> rings) {
  auto decline = [&](StringRef why) {
    LDBG() << "a product is waited for, because " << why << ": "
           << dot.getLoc();
    return false;
  };
  if (!isUndecided(dot))
    return decline("its sum cannot be left to the tensor core");
  if (llvm::any_of(dot.getFactors(), [](Value factor) {
        return isa<TensorType>(factor.getType());
      }))
    return decline("an operand is in registers");
  if (!getOwnAccumulator(dot, loop))
    return decline("others use its accumulator");
  if (!llvm::all_of(dot.getFactors(),
                    [&](Value factor) { return isKept(factor, loop, rings); }))
    return decline("its operands are overwritten");
  return true;
}

/// A dot whose result the next iteration uses first, after it has started
/// another one.
struct CarriedProduct {
  MatrixProductOpInterface dot;
  /// The place of the result among the iteration arguments.
  unsigned result;
  /// Before this in the body it has to be done.
  Operation *firstUser;
  /// The places of its factors in registers among the iteration arguments.
  SmallVector<unsigned> factors = {};
};

/// The registers of a thread that hold its part of a tensor; none before it has
/// a layout.
int64_t countRegistersOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getEncoding() ? triton::countRegisters(type) : 0;
}

/// Whether the result is in registers of the operands, under other indices.
bool onlyRenamesRegisters(Operation *op) {
  return isa<ConvertLayoutOp, TransOp, ReshapeOp, ExpandDimsOp, BroadcastOp,
             JoinOp, SplitOp, CatOp, BitcastOp, arith::BitcastOp>(op);
}

/// The first operation of `body` that makes registers of a tensor, in whichever
/// layout; null if some come from elsewhere.
Operation *getMaker(Value tensor, Block *body) {
  Operation *def = tensor.getDefiningOp();
  if (!def || def->getBlock() != body)
    return nullptr;
  if (!onlyRenamesRegisters(def))
    return def;
  Operation *first = nullptr;
  for (Value operand : def->getOperands()) {
    Operation *maker = getMaker(operand, body);
    if (!maker)
      return nullptr;
    if (!first || maker->isBeforeInBlock(first))
      first = maker;
  }
  return first;
}

/// Whether an operation on elements makes each register of its result of the
/// same registers of its operands.
bool isElementwise(Operation *op) {
  return op->hasTrait<mlir::OpTrait::Elementwise>() && isMemoryEffectFree(op) &&
         op->getNumResults() == 1;
}

/// Whether `dot` may write the registers of `before`, the sum of the iteration
/// before. It adds to that sum as it is, or to what operations on its elements
/// make of it alone. Or it adds to zero, and nobody uses the sum any more. Any
/// other accumulator would be copied to these registers at the end of the
/// iteration, while the dot runs.
bool takesRegistersOf(Value before, MatrixProductOpInterface dot) {
  Block *body = dot->getBlock();
  if (matchPattern(dot.getAccumulator(), m_Zero()) ||
      matchPattern(dot.getAccumulator(), m_AnyZeroFloat()))
    return llvm::all_of(before.getUsers(), [&](Operation *user) {
      return body->findAncestorOpInBlock(*user)->isBeforeInBlock(dot);
    });
  Value sum = before;
  while (sum.hasOneUse()) {
    OpOperand &use = *sum.use_begin();
    if (&use == &dot.getAccumulatorMutable())
      return true;
    Operation *user = use.getOwner();
    if (user->getBlock() != body || !isElementwise(user) ||
        user->getResult(0).getType() != before.getType())
      return false;
    sum = user->getResult(0);
  }
  return false;
}

std::optional<CarriedProduct> getCarried(MatrixProductOpInterface dot,
                                         scf::ForOp loop,
                                         ArrayRef<Value> rings) {
  Block *body = loop.getBody();
  if (!isUndecided(dot) || dot->getBlock() != body ||
      !dot.getProduct().hasOneUse())
    return std::nullopt;
  OpOperand &use = *dot.getProduct().use_begin();
  if (use.getOwner() != body->getTerminator())
    return std::nullopt;
  unsigned result = use.getOperandNumber();
  CarriedProduct carried{dot, result,
                         findFirstUser(loop.getRegionIterArg(result), body)};
  if (!carried.firstUser || carried.firstUser == body->getTerminator() ||
      !takesRegistersOf(loop.getRegionIterArg(result), dot))
    return std::nullopt;
  // Factors in registers of one iteration and of the next are in the same ones
  // only if those before are done with when others are made.
  for (Value factor : dot.getFactors()) {
    if (!isa<TensorType>(factor.getType()))
      continue;
    Operation *maker = getMaker(factor, body);
    if (!maker)
      return std::nullopt;
    if (maker->isBeforeInBlock(carried.firstUser))
      carried.firstUser = maker;
  }
  // What it reads is overwritten by the copies of the next iteration.
  auto before =
      llvm::make_range(body->begin(), carried.firstUser->getIterator());
  bool hasOther = llvm::any_of(before, [&](Operation &op) {
    return &op != dot && isa<MatrixProductOpInterface>(op);
  });
  bool isOverwritten =
      llvm::any_of(before, llvm::IsaPred<AsyncCopyOpInterface>);
  for (Value factor : dot.getFactors())
    isOverwritten |=
        !isa<TensorType>(factor.getType()) && !isKept(factor, loop, rings);
  if (!hasOther || isOverwritten ||
      !haveRegisters(loop, dot.getFactors(), RegisterPurpose::KeptFactors))
    return std::nullopt;
  return carried;
}

/// How many dots are under way at `end` that were started in [begin, end),
/// or before it where `underWay` were. To leave more than that unfinished is
/// what ptxas does not understand: it then does all dots one by one.
unsigned countUnderWay(Block::iterator begin, Block::iterator end,
                       unsigned underWay = 0) {
  for (Operation &op : llvm::make_range(begin, end)) {
    if (auto wait = dyn_cast<MatrixProductWaitOpInterface>(op))
      underWay = std::min(underWay, wait.getMaxPendings());
    auto other = dyn_cast<MatrixProductOpInterface>(op);
    if (other && other.isWaitedInOrder())
      underWay = other.isAsync() ? underWay + 1 : 0;
  }
  return underWay;
}

/// Starts the dot; the wait comes later. Factors in registers stay there
/// until then, as iteration arguments.
void startCarried(CarriedProduct &carried, scf::ForOp &loop) {
  carried.dot.setAsync(true);
  SmallVector<Value> inRegisters, inits;
  IRRewriter rewriter(loop);
  for (Value factor : carried.dot.getFactors())
    if (auto type = dyn_cast<RankedTensorType>(factor.getType())) {
      inRegisters.push_back(factor);
      inits.push_back(arith::ConstantOp::create(
          rewriter, carried.dot.getLoc(),
          cast<TypedAttr>(rewriter.getZeroAttr(type))));
    }
  if (inits.empty())
    return;
  llvm::append_range(
      carried.factors,
      llvm::seq<unsigned>(loop.getNumRegionIterArgs(),
                          loop.getNumRegionIterArgs() + inits.size()));
  auto yieldFactors = [&](OpBuilder &, Location, ArrayRef<BlockArgument>) {
    return inRegisters;
  };
  loop = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      rewriter, inits, /*replaceInitOperandUsesInLoop=*/false, yieldFactors));
}

/// Waits for the dot of the iteration before.
void waitForCarried(CarriedProduct carried, scf::ForOp loop) {
  Value before = loop.getRegionIterArg(carried.result);
  SmallVector<Value> waited{before};
  for (unsigned factor : carried.factors)
    waited.push_back(loop.getRegionIterArg(factor));
  Block *body = loop.getBody();
  unsigned underWay =
      countUnderWay(std::next(carried.dot->getIterator()), body->end());
  underWay =
      countUnderWay(body->begin(), carried.firstUser->getIterator(), underWay);
  OpBuilder builder(carried.firstUser);
  Operation *wait =
      carried.dot.createWait(builder, carried.dot.getLoc(), waited, underWay);
  before.replaceAllUsesExcept(wait->getResult(0), wait);

  builder.setInsertionPointAfter(loop);
  Value after = loop.getResult(carried.result);
  Operation *last = carried.dot.createWait(builder, carried.dot.getLoc(), after,
                                           /*pendings=*/0);
  after.replaceAllUsesExcept(last->getResult(0), last);
}

/// Has `loop` and the waits behind it run only if there is an iteration. Where
/// a path around the loop met it before the waits, it would define registers
/// that dots are still writing: ptxas then does all dots one by one.
void skipIfEmpty(scf::ForOp loop) {
  SmallVector<Operation *> inside{loop};
  while (isa_and_nonnull<MatrixProductWaitOpInterface>(
      inside.back()->getNextNode()))
    inside.push_back(inside.back()->getNextNode());
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  Value any = hasIterations(builder, loc, loop);
  auto whole = scf::IfOp::create(builder, loc, loop.getResultTypes(), any,
                                 /*withElseRegion=*/true);
  auto isOutside = [&](OpOperand &use) {
    return !llvm::is_contained(inside, use.getOwner());
  };
  SmallVector<Value> results(loop.getResults());
  for (auto [result, replacement] : llvm::zip(results, whole.getResults())) {
    result.replaceUsesWithIf(replacement, isOutside);
    for (Operation *wait : llvm::drop_begin(inside))
      for (OpOperand &operand : wait->getOpOperands())
        if (operand.get() == result) {
          result = wait->getResult(operand.getOperandNumber());
          result.replaceUsesWithIf(replacement, isOutside);
        }
  }
  OpBuilder then = whole.getThenBodyBuilder(),
            otherwise = whole.getElseBodyBuilder();
  for (Operation *op : inside)
    op->moveBefore(then.getInsertionBlock(), then.getInsertionBlock()->end());
  then.setInsertionPointToEnd(then.getInsertionBlock());
  scf::YieldOp::create(then, loc, results);
  scf::YieldOp::create(otherwise, loc, loop.getInitArgs());
}

/// The operation before which the result of `dot` has to be there: its first
/// user, or the end of the iteration. Copies of the same iteration go to other
/// buffers than those that it reads.
Operation *getDeadline(MatrixProductOpInterface dot, scf::ForOp loop) {
  Operation *user = findFirstUser(dot.getProduct(), loop.getBody());
  return user ? user : loop.getBody()->getTerminator();
}

/// Starts a dot and waits for it where its result is needed, if there is
/// anything to do until then.
bool waitLate(MatrixProductOpInterface dot, scf::ForOp loop) {
  if (!isUndecided(dot))
    return false;
  Operation *deadline = getDeadline(dot, loop);
  auto between =
      llvm::make_range(std::next(dot->getIterator()), deadline->getIterator());
  bool hasWork = llvm::any_of(between, [](Operation &op) {
    return op.getNumResults() &&
           isa<RankedTensorType>(op.getResult(0).getType());
  });
  if (!hasWork)
    return false;
  dot.setAsync(true);
  unsigned underWay = countUnderWay(between.begin(), between.end());
  // Operands are in use until the wait, those in registers as well.
  OpBuilder builder(deadline);
  SmallVector<Value> waited{dot.getProduct()};
  llvm::append_range(waited, dot.getFactors());
  Operation *wait = dot.createWait(builder, dot.getLoc(), waited, underWay);
  dot.getProduct().replaceAllUsesExcept(wait->getResult(0), wait);
  return true;
}

/// Waits for `dot`, which is under way as `running`, in the block that uses it.
void waitOccasionally(MatrixProductOpInterface dot, Value running,
                      Block *block) {
  OpBuilder builder = OpBuilder::atBlockBegin(block);
  Operation *wait =
      dot.createWait(builder, dot.getLoc(), running, /*pendings=*/0);
  Region *region = block->getParent();
  running.replaceUsesWithIf(wait->getResult(0), [&](OpOperand &use) {
    return use.getOwner() != wait &&
           region->isAncestor(use.getOwner()->getParentRegion());
  });
}

} // namespace

bool mlir::triton::gpu::haveRegisters(scf::ForOp loop, ArrayRef<Value> values,
                                      RegisterPurpose purpose,
                                      unsigned numBlocks) {
  int64_t used = 0;
  for (Value value : values)
    used += countRegistersOf(value);
  for (auto product : loop.getBody()->getOps<MatrixProductOpInterface>())
    if (Value result = product.getProduct())
      used += countRegistersOf(result);
  unsigned threads = lookupNumWarps(loop) * lookupThreadsPerWarp(loop);
  return used <= getTargetModel(loop).getBudget(purpose, numBlocks * threads);
}

bool mlir::triton::gpu::anyProductCanRunOn(scf::ForOp loop,
                                           ArrayRef<Value> rings) {
  return llvm::any_of(loop.getBody()->getOps<MatrixProductOpInterface>(),
                      [&](MatrixProductOpInterface dot) {
                        return canRunOn(dot, loop, rings) ||
                               getCarried(dot, loop, rings);
                      });
}

unsigned mlir::triton::gpu::makeProductsAsync(scf::ForOp &loop,
                                              ArrayRef<Value> rings) {
  SmallVector<MatrixProductOpInterface> all(
      loop.getBody()->getOps<MatrixProductOpInterface>());
  SmallVector<MatrixProductOpInterface> dots;
  for (MatrixProductOpInterface dot : all)
    if (canRunOn(dot, loop, rings))
      dots.push_back(dot);
  // Backwards: how many dots are started after one decides how many its
  // wait may leave unfinished.
  unsigned numLate = 0;
  SmallVector<CarriedProduct> carried;
  for (MatrixProductOpInterface dot : llvm::reverse(all)) {
    if (llvm::is_contained(dots, dot))
      continue;
    if (auto product = getCarried(dot, loop, rings)) {
      startCarried(*product, loop);
      carried.push_back(std::move(*product));
      ++numLate;
    } else {
      numLate += waitLate(dot, loop);
    }
  }
  for (CarriedProduct &product : carried)
    waitForCarried(product, loop);
  if (!carried.empty())
    skipIfEmpty(loop);
  if (dots.empty())
    return numLate;

  // One wait after the last of them: those of this iteration go on.
  SmallVector<Value> waited;
  SmallVector<unsigned> results;
  SmallVector<std::optional<OccasionalUse>> occasional;
  for (MatrixProductOpInterface dot : dots) {
    dot.setAsync(true);
    results.push_back(getOwnAccumulator(dot, loop).getArgNumber() -
                      loop.getNumInductionVars());
    occasional.push_back(getOccasionalUse(dot.getProduct(), loop));
    waited.push_back(dot.getProduct());
  }
  for (MatrixProductOpInterface dot : dots)
    llvm::append_range(waited, dot.getFactors());
  OpBuilder builder(loop);
  builder.setInsertionPointAfter(dots.back());
  MatrixProductOpInterface lastDot = dots.back();
  Operation *wait = lastDot.createWait(builder, lastDot.getLoc(), waited,
                                       /*pendings=*/dots.size());
  for (auto [i, dot, use] : llvm::enumerate(dots, occasional)) {
    Value handedOn = wait->getResult(i);
    dot.getProduct().replaceAllUsesExcept(handedOn, wait);
    if (use)
      waitOccasionally(dot, handedOn, use->block);
  }

  builder.setInsertionPointAfter(loop);
  SmallVector<Value> sums;
  for (unsigned result : results)
    if (!loop.getResult(result).use_empty())
      sums.push_back(loop.getResult(result));
  // Where nothing uses them after the loop, what they read is released still.
  if (sums.empty() && !rings.empty())
    llvm::append_range(sums, rings);
  else if (sums.empty())
    sums.push_back(loop.getResult(results.front()));
  Operation *last =
      lastDot.createWait(builder, loop.getLoc(), sums, /*pendings=*/0);
  for (auto [sum, done] : llvm::zip(sums, last->getResults()))
    if (isa<RankedTensorType>(sum.getType()))
      sum.replaceAllUsesExcept(done, last);
  return dots.size() + numLate;
}

//===-- ProductPartition.cpp - A warp that starts dots --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ProductPartition.h"

#include "Producer.h"
#include "Rings.h"

#include "tile/Analysis/TripCount.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/RegisterBudget.h"
#include "tile/Dialect/TritonGPU/Transforms/Buffers.h"
#include "tile/Dialect/TritonGPU/Transforms/Partitions.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tritongpu-partition-loops"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

//===----------------------------------------------------------------------===//
// What can be divided
//===----------------------------------------------------------------------===//

bool ProductPartition::isInProductLoop(Operation *op) const {
  return llvm::any_of(productLoops, [&](scf::ForOp loop) {
    return loop->isProperAncestor(op);
  });
}

/// Whether the body of a loop only starts dots, and does at barriers what
/// belongs to that.
bool ProductPartition::isStartedByOneThread(scf::ForOp loop) const {
  return !loop->walk([&](Operation *op) {
                bool isKnown = isMemoryEffectFree(op) || ringOps.contains(op) ||
                               arrivals.contains(op) ||
                               isa<MatrixProductOpInterface>(op) ||
                               op == loop.getOperation();
                return isKnown ? WalkResult::advance()
                               : WalkResult::interrupt();
              })
              .wasInterrupted();
}

/// Whether nothing but the loops that multiply needs what one of them gives:
/// its place in a ring.
bool ProductPartition::isUsedByProductsOnly(OpResult result) {
  return llvm::all_of(result.getUses(), [&](OpOperand &use) {
    if (llvm::is_contained(productLoops, use.getOwner()))
      return true;
    if (use.getOwner() != tiles.getBody()->getTerminator())
      return false;
    BlockArgument argument = tiles.getRegionIterArg(use.getOperandNumber());
    return tiles.getResult(use.getOperandNumber()).use_empty() &&
           llvm::all_of(argument.getUsers(), [&](Operation *user) {
             return llvm::is_contained(productLoops, user) ||
                    isInProductLoop(user);
           });
  });
}

/// Finds the loops that multiply, in the body of that over tiles.
bool ProductPartition::findLoops() {
  bool areInLoops = true;
  tiles.walk([&](MatrixProductOpInterface product) {
    Operation *inBody = tiles.getBody()->findAncestorOpInBlock(*product);
    auto loop = dyn_cast<scf::ForOp>(inBody);
    areInLoops &= barriers.arrivesByItself(product) && loop &&
                  product->getParentOp() == loop && !product.isAsync();
    if (loop && !llvm::is_contained(productLoops, loop))
      productLoops.push_back(loop);
  });
  return areInLoops && !productLoops.empty();
}

/// Whether `product`, in the body of `loop`, overwrites its sum in the first
/// iteration.
static bool overwritesFirst(MatrixProductOpInterface product, scf::ForOp loop) {
  Value adds = product.getUseAccumulator();
  if (auto argument = dyn_cast_or_null<BlockArgument>(adds);
      argument && argument.getOwner() == loop.getBody() &&
      argument != loop.getInductionVar())
    adds = loop.getTiedLoopInit(argument)->get();
  return adds && matchPattern(adds, m_Zero());
}

/// Whether `use` writes to a buffer without reading it.
static bool onlyWrites(OpOperand &use) {
  auto effects = dyn_cast<MemoryEffectOpInterface>(use.getOwner());
  if (!effects)
    return false;
  SmallVector<MemoryEffects::EffectInstance> found;
  effects.getEffectsOnValue(use.get(), found);
  return !found.empty() &&
         llvm::all_of(found, [](const MemoryEffects::EffectInstance &effect) {
           return isa<MemoryEffects::Write>(effect.getEffect());
         });
}

/// Whether the tiles have nothing to do with what a sum was before. The first
/// dot of a tile overwrites it; a tile without one, threads do.
bool ProductPartition::startsAnew(Operation *sum, ArrayRef<OpOperand *> uses) {
  for (scf::ForOp loop : productLoops)
    for (auto product : loop.getBody()->getOps<MatrixProductOpInterface>()) {
      if (product.getAccumulator().getDefiningOp() != sum)
        continue;
      if (!overwritesFirst(product, loop))
        return false;
      std::optional<APInt> count = TripCount(loop).getKnown();
      if (count && !count->isZero())
        return true;
      OpOperand *first = nullptr;
      Operation *inBody = nullptr;
      for (OpOperand *use : uses) {
        Operation *user =
            tiles.getBody()->findAncestorOpInBlock(*use->getOwner());
        if (inBody && !user->isBeforeInBlock(inBody))
          continue;
        first = use;
        inBody = user;
      }
      return !first || (inBody == first->getOwner() && onlyWrites(*first));
    }
  return false;
}

/// Whether `op` of the body comes behind all loops that add to a sum.
bool ProductPartition::isBehindProducts(Operation *sum, Operation *op) {
  return llvm::none_of(sum->getUsers(), [&](Operation *user) {
    return isInProductLoop(user) &&
           op->isBeforeInBlock(tiles.getBody()->findAncestorOpInBlock(*user));
  });
}

/// Whether threads may use a sum, in `op` of the body, behind all loops that
/// multiply: nobody before them needs to know what it is.
bool ProductPartition::canBeUsedLater(Operation *op) {
  Operation *last = productLoops.back();
  if (last->isBeforeInBlock(op))
    return true;
  return op->getNumRegions() == 0 &&
         llvm::all_of(op->getUsers(), [&](Operation *user) {
           Operation *inBody = tiles.getBody()->findAncestorOpInBlock(*user);
           return inBody && last->isBeforeInBlock(inBody);
         });
}

/// Finds the sums. Threads use them behind the loops that multiply.
bool ProductPartition::findSums() {
  for (scf::ForOp loop : productLoops)
    for (auto product : loop.getBody()->getOps<MatrixProductOpInterface>()) {
      Operation *alloc = product.getAccumulator().getDefiningOp();
      if (!alloc || alloc->getNumOperands() || alloc->getNumResults() != 1 ||
          tiles->isAncestor(alloc) || specialize->isAncestor(alloc))
        return false;
      sums[alloc];
    }
  for (auto &[alloc, uses] : sums)
    for (OpOperand &use : alloc->getUses()) {
      Operation *user = use.getOwner();
      if (auto product = dyn_cast<MatrixProductOpInterface>(user);
          product && isInProductLoop(user)) {
        if (llvm::is_contained(product.getFactors(), alloc->getResult(0)))
          return false;
        continue;
      }
      Operation *inBody = tiles.getBody()->findAncestorOpInBlock(*user);
      if (!inBody || !isBehindProducts(alloc, inBody) ||
          !canBeUsedLater(inBody))
        return false;
      uses.push_back(&use);
    }
  return llvm::all_of(
      sums, [&](auto &sum) { return startsAnew(sum.first, sum.second); });
}

/// Whether the partition can compute by itself what it needs for `effects`.
bool ProductPartition::canRepeatElsewhere() const {
  ProducerSlice slice(tiles, effects);
  for (Operation *op : slice.getOperations())
    if (!llvm::is_contained(effects, op) && !isa<scf::ForOp, scf::IfOp>(op) &&
        !isMemoryEffectFree(op) && !repeated.contains(op))
      return false;
  return llvm::none_of(slice.getValues(), [](Value value) {
    return isa<RankedTensorType>(value.getType());
  });
}

/// Why dots stay with the default group; empty if they need not.
StringRef ProductPartition::findObstacle() {
  if (!findLoops())
    return "not all dots are in loops of their own within it";
  for (scf::ForOp loop : productLoops) {
    if (!isStartedByOneThread(loop))
      return "a loop in it does more than multiply";
    if (!llvm::all_of(loop.getResults(), [&](OpResult result) {
          return isUsedByProductsOnly(result);
        }))
      return "threads need what a loop of dots gives";
    loop.walk([&](Operation *op) {
      if (ringOps.contains(op) || isa<MatrixProductOpInterface>(op))
        effects.push_back(op);
    });
  }
  auto isInside = [&](Operation *op) { return isInProductLoop(op); };
  if (!llvm::all_of(ringOps, isInside) || !llvm::all_of(arrivals, isInside))
    return "it takes buffers outside of the loops of its dots";
  if (!findSums())
    return "a sum goes on from tile to tile, or is used before it is complete";
  if (!canRepeatElsewhere())
    return "its dots depend on what other warps cannot repeat";
  return "";
}

//===----------------------------------------------------------------------===//
// The division
//===----------------------------------------------------------------------===//

static Value constant(OpBuilder &b, Location loc, int value) {
  return arith::ConstantIntOp::create(b, loc, value, 32);
}

/// Makes arrays of the sums, of which an iteration uses one.
void ProductPartition::makeSums() {
  auto allocs = llvm::to_vector(llvm::make_first_range(sums));
  // While one is stored, the next tile is multiplied.
  constexpr int kWanted = 2;
  numSums = barriers.countSums(allocs, kWanted);
  auto places = carryPosition(tiles, {productLoops.front()}, numSums);
  place = places.lookup(productLoops.front());
  OpBuilder begin = OpBuilder::atBlockBegin(tiles.getBody());
  for (Operation *alloc : allocs) {
    auto type = cast<MemDescType>(alloc->getResult(0).getType());
    SmallVector<int64_t> shape{numSums};
    llvm::append_range(shape, type.getShape());
    OpBuilder builder(alloc);
    Operation *several = builder.clone(*alloc);
    several->getResult(0).setType(
        MemDescType::get(shape, type.getElementType(), type.getEncoding(),
                         type.getMemorySpace(), type.getMutableMemory()));
    Value one = getBuffer(begin, loc, several->getResult(0),
                          getPosition(tiles, place).stage);
    alloc->getResult(0).replaceAllUsesWith(one);
    alloc->erase();
  }
  OpBuilder before(specialize);
  full = barriers.allocate(before, loc, numSums);
  stored = barriers.allocate(before, loc, numSums);
  ofAllBlocks = llvm::any_of(effects, [&](Operation *effect) {
    auto product = dyn_cast<MatrixProductOpInterface>(effect);
    return product && barriers.isOfAllBlocks(product);
  });
  if (ofAllBlocks)
    barriers.holdForAllBlocks(stored);
  barriers.initialize(before, loc, full, /*arrivals=*/1);
  barriers.initialize(before, loc, stored, lookupNumWarps(specialize));
}

/// What comes before and behind the dots of a tile.
void ProductPartition::startAndFinishTiles() {
  Position at = getPosition(tiles, place);
  OpBuilder b(productLoops.front());
  Value before = arith::XOrIOp::create(b, loc, at.phase, constant(b, loc, 1));
  Value free = getBuffer(b, loc, stored, at.stage);
  effects.push_back(barriers.wait(b, loc, free, before, /*buffers=*/{}));
  b.setInsertionPointAfter(productLoops.back());
  Value done = getBuffer(b, loc, full, at.stage);
  effects.push_back(barriers.arriveAfterProducts(b, loc, done));
  // Nobody waits in the loops of the dots.
  for (Operation *effect : effects)
    if (auto product = dyn_cast<MatrixProductOpInterface>(effect))
      product.setAsync(true);
}

/// Repeats the dots in a partition of a new operation, which replaces the old
/// one.
void ProductPartition::makePartition() {
  // One thread starts all dots.
  specialize = addPartition(specialize, /*numWarps=*/1,
                            getRegisterNeed(RegisterNeed::Copies));
  ProducerSlice slice(tiles, effects);
  ProducerBuilder partition(slice, specialize,
                            specialize.getPartitionRegions().back());
  partition.build();
}

/// The threads wait for the sums of a tile, and hand them back when they have
/// loaded them.
void ProductPartition::takeSums() {
  Position at = getPosition(tiles, place);
  Block *body = tiles.getBody();
  Operation *behind = effects.back();
  OpBuilder b(behind);
  Value done = getBuffer(b, loc, full, at.stage);
  Operation *last = barriers.wait(b, loc, done, at.phase, /*buffers=*/{});
  // What came between the loops of dots, in its order.
  llvm::SetVector<Operation *> users;
  for (auto &[alloc, uses] : sums)
    for (OpOperand *use : uses)
      users.insert(body->findAncestorOpInBlock(*use->getOwner()));
  SmallVector<Operation *> early;
  for (Operation &op : *body)
    if (users.contains(&op) && op.isBeforeInBlock(last))
      early.push_back(&op);
  for (Operation *op : early)
    op->moveBefore(behind);
  for (Operation *user : users)
    if (last->isBeforeInBlock(user))
      last = user;
  b.setInsertionPointAfter(last);
  Value free = getBuffer(b, loc, stored, at.stage);
  barriers.arrive(b, loc, free, lookupNumWarps(specialize),
                  /*predicate=*/Value(), /*isShared=*/false);
  for (Operation *effect : llvm::reverse(effects))
    if (effect->getBlock() == body)
      effect->erase();
  for (scf::ForOp loop : llvm::reverse(productLoops)) {
    loop.replaceAllUsesWith(loop.getInitArgs());
    loop.erase();
  }
}

LogicalResult ProductPartition::split(WarpSpecializeOp &result) {
  StringRef why = findObstacle();
  if (!why.empty()) {
    LDBG() << "dots stay with the default group, because " << why << ": "
           << loc;
    return failure();
  }
  makeSums();
  startAndFinishTiles();
  makePartition();
  takeSums();
  result = specialize;
  return success();
}

void ProductPartition::freeBarriers(OpBuilder &builder) {
  barriers.free(builder, loc, full);
  barriers.free(builder, loc, stored);
}

//===-- Rings.cpp - Buffers between the warps of a loop -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Rings.h"
#include "Producer.h"

#include "tile/Analysis/LoopSchedule.h"
#include "tile/Dialect/Triton/IR/Dialect.h"

#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

bool Ring::hasBulkCopies() const {
  return llvm::any_of(loads, [](const RingLoad &load) {
    return load.strategy->usesBarriers();
  });
}

bool Ring::hasThreadCopies() const {
  return llvm::any_of(loads, [](const RingLoad &load) {
    return !load.strategy->usesBarriers();
  });
}

int64_t Ring::countBulkBytes() const {
  int64_t bytes = 0;
  for (const RingLoad &load : loads)
    if (load.strategy->usesBarriers())
      bytes += llvm::product_of(getShapePerCTA(load.getType())) *
               load.getType().getElementTypeBitWidth() / 8;
  return bytes;
}

bool Ring::isShared(const RingBarriers &barriers) const {
  return llvm::any_of(buffers, [&](Value buffer) {
    return barriers.isShared(cast<MemDescType>(buffer.getType()));
  });
}

/// The first product of the body that a value leads to.
static Operation *findProduct(Operation *load, Block *body) {
  llvm::SetVector<Operation *> work;
  work.insert(load);
  Operation *first = nullptr;
  for (size_t i = 0; i < work.size(); ++i)
    for (Operation *user : work[i]->getUsers()) {
      Operation *inBody = body->findAncestorOpInBlock(*user);
      if (!inBody || inBody == body->getTerminator())
        continue;
      if (!isa<MatrixProductOpInterface>(inBody))
        work.insert(inBody);
      else if (!first || inBody->isBeforeInBlock(first))
        first = inBody;
    }
  return first;
}

RingLoop::RingLoop(scf::ForOp loop, const RingBarriers &barriers,
                   const ModuleAxisInfoAnalysis &axisInfo)
    : numStages(*LoopPlan(loop).getNumStages()) {
  hasProductsBeside = loop.walk([&](MatrixProductOpInterface product) {
                            return barriers.arrivesByItself(product)
                                       ? WalkResult::interrupt()
                                       : WalkResult::advance();
                          })
                          .wasInterrupted();
  llvm::MapVector<Operation *, Ring> ofProduct;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (!PlannedOp(op).isInPartition())
      continue;
    RingLoad load{&op, CopyStrategy::find(&op, loop)};
    if (auto pointers = dyn_cast<LoadOp>(op))
      load.contiguity = getCopyContiguity(axisInfo, pointers);
    Operation *product = findProduct(&op, loop.getBody());
    ofProduct[product ? product : &op].loads.push_back(load);
  }
  for (auto &[product, ring] : ofProduct)
    rings.push_back(std::move(ring));
}

SmallVector<Operation *> RingLoop::getLoads() const {
  SmallVector<Operation *> loads;
  for (const Ring &ring : rings)
    for (const RingLoad &load : ring.loads)
      loads.push_back(load.load);
  return loads;
}

bool RingLoop::canShareWith(const RingLoop &other) const {
  auto haveSameSizes = [](const Ring &ring, const Ring &otherRing) {
    return ring.loads.size() == otherRing.loads.size();
  };
  if (numStages != other.numStages || rings.size() != other.rings.size() ||
      hasProductsBeside != other.hasProductsBeside ||
      !llvm::all_of_zip(rings, other.rings, haveSameSizes))
    return false;
  SmallVector<Operation *> mine = getLoads(), others = other.getLoads();
  return getBufferTypes(mine, getLoop()) ==
             getBufferTypes(others, other.getLoop()) &&
         llvm::equal(llvm::map_range(mine, std::mem_fn(&Operation::getName)),
                     llvm::map_range(others, std::mem_fn(&Operation::getName)));
}

SmallVector<std::pair<Type, Attribute>>
mlir::triton::gpu::getBufferTypes(ArrayRef<Operation *> loads,
                                  scf::ForOp loop) {
  SmallVector<std::pair<Type, Attribute>> types;
  for (Operation *load : loads)
    types.push_back({load->getResult(0).getType(),
                     CopyStrategy::find(load, loop)->chooseEncoding(load)});
  return types;
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

static Value constant(OpBuilder &builder, Location loc, int value) {
  return arith::ConstantIntOp::create(builder, loc, value, 32);
}

Position mlir::triton::gpu::getPosition(scf::ForOp loop, unsigned first) {
  return {loop.getRegionIterArg(first), loop.getRegionIterArg(first + 1)};
}

Position mlir::triton::gpu::getPositionAfter(OpBuilder &builder, Location loc,
                                             Position at, int32_t numStages) {
  Value zero = constant(builder, loc, 0), one = constant(builder, loc, 1),
        end = constant(builder, loc, numStages);
  Value next = arith::AddIOp::create(builder, loc, at.stage, one);
  Value wraps =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, next, end);
  Value other = arith::XOrIOp::create(builder, loc, at.phase, one);
  return {arith::SelectOp::create(builder, loc, wraps, zero, next),
          arith::SelectOp::create(builder, loc, wraps, other, at.phase)};
}

Value mlir::triton::gpu::getStageBefore(OpBuilder &builder, Location loc,
                                        Value stage, int32_t numStages) {
  Value zero = constant(builder, loc, 0), one = constant(builder, loc, 1);
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        stage, zero);
  Value before = arith::SubIOp::create(builder, loc, stage, one);
  return arith::SelectOp::create(builder, loc, isFirst,
                                 constant(builder, loc, numStages - 1), before);
}

namespace {

class PositionCarrier {
public:
  PositionCarrier(scf::ForOp root, ArrayRef<Operation *> loads,
                  int32_t numStages)
      : root(root), loc(root.getLoc()), loads(loads), numStages(numStages) {}

  scf::ForOp run() {
    OpBuilder outside(root);
    Value zero = constant(outside, loc, 0);
    return carry(root, {zero, zero});
  }
  const llvm::DenseMap<Operation *, unsigned> &getPlaces() const {
    return places;
  }

private:
  /// Makes `loop` carry a position from `init` on; returns what replaces it.
  scf::ForOp carry(scf::ForOp loop, Position init) {
    bool loadsItself = llvm::any_of(loads, [&](Operation *load) {
      return load->getBlock() == loop.getBody();
    });
    auto move = [&](OpBuilder &b, Location, ArrayRef<BlockArgument> args) {
      Position at{args[0], args[1]};
      if (loadsItself)
        at = getPositionAfter(b, loc, at, numStages);
      return SmallVector<Value>{at.stage, at.phase};
    };
    IRRewriter rewriter(loop);
    loop = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
        rewriter, {init.stage, init.phase},
        /*replaceInitOperandUsesInLoop=*/false, move));
    unsigned first = loop.getNumRegionIterArgs() - 2;
    if (loadsItself) {
      for (Operation *load : loads)
        if (load->getBlock() == loop.getBody())
          places[load] = first;
      return loop;
    }
    Position at = getPosition(loop, first);
    for (auto inner : llvm::to_vector(loop.getBody()->getOps<scf::ForOp>())) {
      if (llvm::none_of(loads,
                        [&](Operation *op) { return inner->isAncestor(op); }))
        continue;
      scf::ForOp carrying = carry(inner, at);
      at = {*std::prev(carrying->result_end(), 2),
            *std::prev(carrying->result_end())};
    }
    Operation *yield = loop.getBody()->getTerminator();
    yield->setOperand(first, at.stage);
    yield->setOperand(first + 1, at.phase);
    return loop;
  }

  scf::ForOp root;
  Location loc;
  ArrayRef<Operation *> loads;
  int32_t numStages;
  llvm::DenseMap<Operation *, unsigned> places;
};

} // namespace

llvm::DenseMap<Operation *, unsigned>
mlir::triton::gpu::carryPosition(scf::ForOp &root, ArrayRef<Operation *> loads,
                                 int32_t numStages) {
  PositionCarrier carrier(root, loads, numStages);
  root = carrier.run();
  return carrier.getPlaces();
}

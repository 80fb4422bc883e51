//===-- HoistTMEMStore.cpp - Sums that begin in front of loops ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Each tile stores the first value of its sum, and its first dot overwrites
// that. The store matters in tiles without a dot alone. So the value becomes
// the source of the allocation. The partition that multiplies has the buffer to
// itself then.
//
// The buffer even moves in front of all loops if nobody sees the difference:
// each tile has a dot, or no tile has one.
//
//===----------------------------------------------------------------------===//

#include "PartitionUses.h"

#include "tile/Analysis/OpPartitions.h"
#include "tile/Analysis/TripCount.h"
#include "tile/Dialect/NVWS/IR/Dialect.h"
#include "tile/Dialect/NVWS/Transforms/Passes.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/PartitionAttributes.h"
#include "tile/Dialect/TritonGPU/Transforms/CarriedValues.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

namespace mlir::triton::nvws {
#define GEN_PASS_DEF_NVWSHOISTTMEMSTORE
#include "tile/Dialect/NVWS/Transforms/Passes.h.inc"
} // namespace mlir::triton::nvws

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvws;
using nvidia_gpu::MMAv5OpInterface;
using nvidia_gpu::TMEMAllocOp;
using nvidia_gpu::TMEMLoadOp;
using nvidia_gpu::TMEMStoreOp;

namespace {

/// A sum of a tile: its buffer, what writes its first value (null where the
/// allocation does), and the loop whose dot adds to it.
struct Sum {
  TMEMAllocOp alloc;
  TMEMStoreOp store;
  MMAv5OpInterface product;
  scf::ForOp steps;
  /// The loops around the buffer, from the outermost one.
  SmallVector<Operation *> loops;

  Value getFirstValue() { return store ? store.getSrc() : alloc.getSrc(); }
};

/// Whether the first iteration of `loop` overwrites the sum.
bool overwritesFirst(MMAv5OpInterface product, scf::ForOp loop) {
  Value adds = product.getUseAccumulator();
  auto argument = dyn_cast<BlockArgument>(adds);
  if (argument && argument.getOwner() == loop.getBody() &&
      argument != loop.getInductionVar())
    adds = loop.getTiedLoopInit(argument)->get();
  return matchPattern(adds, m_Zero()) &&
         matchPattern(product.getPredicate(), m_One());
}

/// The loops around `op` up to its function; nothing where it is in something
/// else.
std::optional<SmallVector<Operation *>> getLoops(Operation *op) {
  SmallVector<Operation *> loops;
  for (op = op->getParentOp(); !isa<FuncOp>(op); op = op->getParentOp()) {
    if (!isa<scf::ForOp, scf::WhileOp>(op))
      return std::nullopt;
    loops.insert(loops.begin(), op);
  }
  return loops;
}

/// The sum in a buffer, if all accesses are known.
std::optional<Sum> findSum(TMEMAllocOp alloc) {
  Sum sum{alloc, {}, {}, {}, {}};
  Block *block = alloc->getBlock();
  for (OpOperand &use : alloc.getResult().getUses()) {
    Operation *user = use.getOwner();
    if (auto store = dyn_cast<TMEMStoreOp>(user); store && !sum.store)
      sum.store = store;
    else if (auto product = dyn_cast<MMAv5OpInterface>(user);
             product && !sum.product &&
             &use == &product.getAccumulatorMutable())
      sum.product = product;
    else if (!isa<TMEMLoadOp>(user))
      return std::nullopt;
  }
  if (!sum.product || bool(sum.store) == bool(alloc.getSrc()))
    return std::nullopt;
  sum.steps = dyn_cast<scf::ForOp>(sum.product->getParentOp());
  auto loops = getLoops(alloc);
  if (!loops || loops->empty() || !sum.steps ||
      sum.steps->getBlock() != block ||
      !overwritesFirst(sum.product, sum.steps))
    return std::nullopt;
  sum.loops = *loops;
  // Loads come behind the dots.
  for (Operation *user : alloc.getResult().getUsers()) {
    Operation *inBlock = block->findAncestorOpInBlock(*user);
    if (isa<TMEMLoadOp>(user) &&
        (!inBlock || !sum.steps->isBeforeInBlock(inBlock)))
      return std::nullopt;
  }
  if (sum.store &&
      (sum.store->getBlock() != block ||
       !matchPattern(sum.store.getPred(), m_One()) ||
       !sum.store->isBeforeInBlock(sum.steps) ||
       (sum.store.getDep() && sum.store.getDep() != alloc.getToken())))
    return std::nullopt;
  Operation *outermost = sum.loops.front();
  if (outermost->isAncestor(
          sum.getFirstValue().getParentBlock()->getParentOp()))
    return std::nullopt;
  return sum;
}

/// Whether the program says that a loop has an iteration.
bool isAssumedToRun(scf::ForOp loop) {
  auto isFirst = [&](arith::CmpIOp compare) {
    using P = arith::CmpIPredicate;
    bool isUnsigned = loop.getUnsignedCmp();
    P less = isUnsigned ? P::ult : P::slt, more = isUnsigned ? P::ugt : P::sgt;
    Value lower = loop.getLowerBound(), upper = loop.getUpperBound();
    auto isSame = [](Value a, Value b) {
      APInt x, y;
      return a == b || (matchPattern(a, m_ConstantInt(&x)) &&
                        matchPattern(b, m_ConstantInt(&y)) && x == y);
    };
    return (compare.getPredicate() == less && isSame(compare.getLhs(), lower) &&
            isSame(compare.getRhs(), upper)) ||
           (compare.getPredicate() == more && isSame(compare.getLhs(), upper) &&
            isSame(compare.getRhs(), lower));
  };
  for (Operation *user : loop.getUpperBound().getUsers()) {
    auto compare = dyn_cast<arith::CmpIOp>(user);
    if (!compare || !isFirst(compare))
      continue;
    for (Operation *assume : compare->getUsers()) {
      if (!isa<LLVM::AssumeOp>(assume))
        continue;
      Operation *inBlock = assume->getBlock()->findAncestorOpInBlock(*loop);
      if (inBlock && assume->isBeforeInBlock(inBlock))
        return true;
    }
  }
  return false;
}

/// Whether the loop of the dots has an iteration in each tile, or in none.
bool isSameInEachTile(const Sum &sum) {
  scf::ForOp steps = sum.steps;
  std::optional<APInt> count = TripCount(steps).getKnown();
  if ((count && !count->isZero()) || isAssumedToRun(steps))
    return true;
  Operation *outermost = sum.loops.front();
  return llvm::all_of(
      ValueRange{steps.getLowerBound(), steps.getUpperBound(), steps.getStep()},
      [&](Value bound) {
        return !outermost->isAncestor(bound.getParentBlock()->getParentOp());
      });
}

/// The last token in the block of the buffer; nothing if the order of accesses
/// is not that of one chain.
std::optional<Value> getLastToken(const Sum &sum, Value token) {
  Block *block = token.getParentBlock();
  while (!token.use_empty()) {
    if (!token.hasOneUse())
      return std::nullopt;
    OpOperand &use = *token.use_begin();
    Operation *user = use.getOwner();
    if (user->getBlock() != block)
      return std::nullopt;
    if (auto loop = dyn_cast<scf::ForOp>(user)) {
      token = loop.getTiedLoopResult(&use);
    } else if (auto load = dyn_cast<TMEMLoadOp>(user)) {
      if (!load.getToken())
        return std::nullopt;
      token = load.getToken();
    } else {
      return std::nullopt;
    }
  }
  return token;
}

/// The value of the allocation is the first one of the sum.
void foldStore(Sum &sum) {
  TMEMAllocOp alloc = sum.alloc;
  if (TMEMStoreOp store = sum.store) {
    alloc.getSrcMutable().assign(store.getSrc());
    if (store.getToken())
      store.getToken().replaceAllUsesWith(alloc.getToken());
    store.erase();
    sum.store = {};
  }
  // Who accesses it now.
  llvm::SmallSetVector<int32_t, 4> all;
  for (Operation *user : alloc.getResult().getUsers())
    if (auto some =
            dyn_cast_or_null<DenseI32ArrayAttr>(getPartitionsAround(user)))
      all.insert(some.asArrayRef().begin(), some.asArrayRef().end());
  SmallVector<int32_t> sorted(all.begin(), all.end());
  llvm::sort(sorted);
  if (!sorted.empty())
    setPartitions(alloc, DenseI32ArrayAttr::get(alloc.getContext(), sorted));
}

/// Notes who has the last result of a loop.
void addOutput(Operation *loop, Attribute partitions) {
  if (!partitions)
    return;
  SmallVector<Attribute> outputs;
  if (auto old = loop->getAttrOfType<ArrayAttr>(gpu::kPartitionOutputsAttr))
    llvm::append_range(outputs, old);
  outputs.push_back(partitions);
  if (outputs.size() == loop->getNumResults())
    loop->setAttr(gpu::kPartitionOutputsAttr,
                  ArrayAttr::get(loop->getContext(), outputs));
}

/// The buffer moves in front of all loops. These hand on its token.
void hoist(Sum &sum, Value last) {
  TMEMAllocOp alloc = sum.alloc;
  Attribute partitions = getPartitionsAround(sum.product);
  Value token = alloc.getToken();
  bool isUsed = token && !token.use_empty();
  alloc->moveBefore(sum.loops.front());
  erasePartitions(alloc);
  if (!isUsed)
    return;
  // In the innermost loop, the token of its argument stands for this one.
  OpBuilder builder(alloc);
  auto stand = UnrealizedConversionCastOp::create(
      builder, alloc.getLoc(), token.getType(), ValueRange());
  token.replaceAllUsesWith(stand.getResult(0));
  SmallVector<std::pair<Operation *, unsigned>> yields;
  SmallVector<Value> yielded;
  for (Operation *&loop : sum.loops) {
    auto carried = gpu::addCarriedValue(loop, token);
    loop = carried.loop;
    token = carried.argument;
    addOutput(loop, partitions);
    yields.push_back({carried.yield, carried.yield->getNumOperands() - 1});
    yielded.push_back(loop->getResults().back());
  }
  stand.getResult(0).replaceAllUsesWith(token);
  stand.erase();
  yielded.push_back(last);
  for (auto [yield, value] : llvm::zip(yields, llvm::drop_begin(yielded)))
    yield.first->setOperand(yield.second, value);
}

struct HoistTMEMStorePass
    : nvws::impl::NVWSHoistTMEMStoreBase<HoistTMEMStorePass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<TMEMAllocOp> allocs;
    getOperation().walk([&](TMEMAllocOp alloc) { allocs.push_back(alloc); });
    for (TMEMAllocOp alloc : allocs) {
      std::optional<Sum> sum = findSum(alloc);
      if (!sum)
        continue;
      numStores += bool(sum->store);
      foldStore(*sum);
      Value token = alloc.getToken();
      std::optional<Value> last = token ? getLastToken(*sum, token) : Value();
      if (!last || !isSameInEachTile(*sum))
        continue;
      hoist(*sum, *last);
      ++numHoisted;
    }
  }
};

} // namespace

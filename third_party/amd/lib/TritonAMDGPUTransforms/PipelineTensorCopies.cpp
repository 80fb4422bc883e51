//===-- PipelineTensorCopies.cpp - Blocks an iteration ahead --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each block has two buffers: one that an iteration reads, and one that is
// filled for the next iteration meanwhile. The predicates of the copies keep
// what the loop does not do from being loaded.
//
//===----------------------------------------------------------------------===//

#include "TensorLoads.h"

#include "amd/IR/Dialect.h"
#include "amd/TargetModel.h"
#include "amd/TritonAMDGPUTransforms/Passes.h"

#include "tile/Analysis/MemoryModel.h"
#include "tile/Analysis/TripCount.h"
#include "tile/Dialect/TritonGPU/Transforms/Buffers.h"
#include "tile/Dialect/TritonGPU/Transforms/LoopSchedule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::triton::amd {
#define GEN_PASS_DEF_TRITONAMDGPUPIPELINETENSORCOPIES
#include "amd/TritonAMDGPUTransforms/Passes.h.inc"
} // namespace mlir::triton::amd

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {
/// Values of a loop as they are in another iteration.
class OtherIterations {
public:
  explicit OtherIterations(scf::ForOp loop) : loop(loop) {}

  /// Whether `value` can be computed before the iteration begins: all that it
  /// comes from, also in earlier iterations.
  bool canCompute(Value value) {
    llvm::SmallSetVector<Value, 8> sources;
    sources.insert(value);
    for (size_t i = 0; i < sources.size(); ++i)
      if (!addSources(sources[i], sources))
        return false;
    return true;
  }

  /// In the first one, before the loop.
  Value getFirst(OpBuilder &b, Value value) {
    if (first.contains(value) || loop.isDefinedOutsideOfLoop(value))
      return first.lookupOrDefault(value);
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      OpOperand *init = loop.getTiedLoopInit(argument);
      return init ? init->get() : TripCount(loop).getCounter(b, 0u);
    }
    return cloneFor(b, value, first,
                    [&](Value operand) { return getFirst(b, operand); });
  }

  /// In the next one, at the beginning of the body.
  Value getNext(OpBuilder &b, Value value) {
    if (next.contains(value) || loop.isDefinedOutsideOfLoop(value))
      return next.lookupOrDefault(value);
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      Value result;
      if (OpOperand *yielded = loop.getTiedLoopYieldedValue(argument))
        result = getCurrent(b, yielded->get());
      else
        result = TripCount(loop).getLater(b, value, /*ahead=*/1);
      next.map(value, result);
      return result;
    }
    return cloneFor(b, value, next,
                    [&](Value operand) { return getNext(b, operand); });
  }

private:
  bool addSources(Value value, llvm::SmallSetVector<Value, 8> &sources) {
    if (loop.isDefinedOutsideOfLoop(value))
      return true;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getOwner() != loop.getBody())
        return false;
      if (OpOperand *yielded = loop.getTiedLoopYieldedValue(argument))
        sources.insert(yielded->get());
      return true;
    }
    Operation *op = value.getDefiningOp();
    sources.insert_range(op->getOperands());
    return op->getBlock() == loop.getBody() && op->getNumRegions() == 0 &&
           isPure(op);
  }

  /// In this one, at the beginning of the body.
  Value getCurrent(OpBuilder &b, Value value) {
    if (current.contains(value) || loop.isDefinedOutsideOfLoop(value) ||
        isa<BlockArgument>(value))
      return current.lookupOrDefault(value);
    return cloneFor(b, value, current,
                    [&](Value operand) { return getCurrent(b, operand); });
  }

  Value cloneFor(OpBuilder &b, Value value, IRMapping &values,
                 function_ref<Value(Value)> compute) {
    Operation *op = value.getDefiningOp();
    IRMapping operands;
    for (Value operand : op->getOperands())
      operands.map(operand, compute(operand));
    Operation *clone = b.clone(*op, operands);
    for (auto [old, made] : llvm::zip(op->getResults(), clone->getResults()))
      values.map(old, made);
    return values.lookup(value);
  }

  scf::ForOp loop;
  IRMapping first, next, current;
};

struct PipelineTensorCopies
    : amd::impl::TritonAMDGPUPipelineTensorCopiesBase<PipelineTensorCopies> {
  using Base::Base;

  void runOnOperation() override {
    auto machine = amd::TargetModel::get(getOperation());
    if (failed(machine))
      return signalPassFailure();
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) {
      if (getI32Attr(loop, kNumStagesAttr).value_or(numStages) >= 2)
        loops.push_back(loop);
    });
    // The other half is for what is converted, or copied at once.
    left = (*machine)->getMaxSharedMemory() / 2;
    getOperation().walk(
        [&](LocalAllocOp alloc) { left -= getBytes(alloc.getType()); });
    for (scf::ForOp loop : loops)
      pipeline(loop);
  }

private:
  static int64_t getBytes(ShapedType type) {
    return type.getNumElements() * type.getElementTypeBitWidth() / 8;
  }

  /// Loads of the body that can start an iteration ahead, as far as LDS reaches
  /// for twice as many buffers.
  SmallVector<DescriptorLoadOp> findLoads(scf::ForOp loop) {
    OtherIterations iterations(loop);
    MemoryModel memory(loop);
    SmallVector<DescriptorLoadOp> loads;
    for (auto load : loop.getBody()->getOps<DescriptorLoadOp>()) {
      if (!loop.isDefinedOutsideOfLoop(load.getDesc()) ||
          !llvm::all_of(
              load.getIndices(),
              [&](Value index) { return iterations.canCompute(index); }) ||
          !memory.mayReadInEarlierIteration(load, loop))
        continue;
      // Twice, and with gaps, of up to an eighth.
      int64_t bytes = 2 * getBytes(load.getType()) * 9 / 8;
      if (bytes > left)
        continue;
      left -= bytes;
      loads.push_back(load);
    }
    return loads;
  }

  void pipeline(scf::ForOp loop) {
    SmallVector<DescriptorLoadOp> loads = findLoads(loop);
    if (loads.empty())
      return;
    Location loc = loop.getLoc();
    IRRewriter rewriter(loop);
    Value firstSlot = arith::ConstantIntOp::create(rewriter, loc, 0, 32);
    // Which of its buffers an iteration reads.
    loop = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
        rewriter, firstSlot, /*replaceInitOperandUsesInLoop=*/false,
        [](OpBuilder &b, Location loc, ArrayRef<BlockArgument> slot) {
          Value one = arith::ConstantIntOp::create(b, loc, 1, 32);
          return SmallVector<Value>{
              arith::XOrIOp::create(b, loc, slot.back(), one)};
        }));
    OtherIterations iterations(loop);
    OpBuilder before(loop), body = OpBuilder::atBlockBegin(loop.getBody()),
                            after(loop->getContext());
    after.setInsertionPointAfter(loop);
    Value slot = loop.getRegionIterArgs().back(),
          nextSlot = iterations.getNext(body, slot);
    TripCount trips(loop);
    Value hasFirst = trips.has(before, 0);
    Value hasNext = trips.hasNext(body, loop.getInductionVar());
    // From the barrier behind it on, no wave reads what the iteration before
    // did.
    Value wait = amd::waitForTensorCopies(body, loc, {});
    SmallVector<Value> rings;
    for (DescriptorLoadOp load : loads) {
      Value ring = rings.emplace_back(allocateBuffers(
          before, load.getLoc(), load.getType(),
          amd::getLoadedBufferType(load).getEncoding(), /*count=*/2));
      auto start = [&](OpBuilder &b, Value slot, Value pred,
                       function_ref<Value(Value)> compute) {
        SmallVector<Value> indices =
            llvm::map_to_vector(load.getIndices(), compute);
        amd::startTensorCopy(b, load, indices, getBuffer(b, loc, ring, slot),
                             pred);
      };
      start(before, firstSlot, hasFirst,
            [&](Value index) { return iterations.getFirst(before, index); });
      start(body, nextSlot, hasNext,
            [&](Value index) { return iterations.getNext(body, index); });
      LocalDeallocOp::create(after, loc, ring);
    }
    // The loads may be where the body began.
    for (auto [load, ring] : llvm::zip(loads, rings)) {
      OpBuilder atLoad(load);
      amd::readTensorBuffer(load, getBuffer(atLoad, loc, ring, slot), wait);
      ++numLoads;
    }
  }

  /// Bytes of LDS.
  int64_t left = 0;
};
} // namespace

//===-- ReduceOpToLLVM.cpp - Reductions -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inside the thread as a tree, or products in a few chains, inside the warp by
// exchanges along the lane bits of the axis, across warps through scratch
// memory: each warp writes its part, and after one barrier every thread reads
// and combines what its own results need, from the memory of other blocks of
// the cluster, too, if the axis is split over them. Several operands travel
// together.
//
//===----------------------------------------------------------------------===//

#include "tile/Conversion/TritonGPUToLLVM/InlineRegion.h"
#include "tile/Conversion/TritonGPUToLLVM/Patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "tile/Analysis/CollectivePlan.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::triton;

namespace {
/// One element of every operand.
using Tuple = SmallVector<Value>;

struct ReducePattern : TargetPattern<ReduceOp> {
  using TargetPattern::TargetPattern;

  LogicalResult
  matchAndRewrite(ReduceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ReducePlan plan(op);
    if (!plan.unsupported.empty())
      return this->decline(op, plan.unsupported);
    LLVMBuilder b(op.getLoc(), rewriter);

    SmallVector<SmallVector<Value>> operands;
    for (auto [value, original] : llvm::zip(adaptor.getSrcs(), op.getSrcs()))
      operands.push_back(unpackElements(b, value, original.getType()));
    llvm::MapVector<uint64_t, Tuple> parts =
        reduceInThread(b, op, plan, operands);
    for (auto &[position, tuple] : parts)
      reduceInWarp(b, op, plan, tuple);

    SmallVector<Value> results =
        plan.getNumAxisWarps() * plan.getNumAxisBlocks() > 1
            ? reduceAcrossWarps(b, op, plan, parts)
            : collect(b, op, plan, parts);
    rewriter.replaceOp(op, results);
    return success();
  }

private:
  Tuple combine(const LLVMBuilder &b, ReduceOp op, const Tuple &lhs,
                const Tuple &rhs) const {
    Tuple args(lhs);
    llvm::append_range(args, rhs);
    return inlineRegion(b, getConverter(), op.getCombineOp(), args);
  }

  /// Whether additions can have the products that they add as a part.
  static bool addsProducts(ReduceOp op) {
    return isa_and_present<arith::AddFOp>(op.getSingleCombiner()) &&
           op.getSrcs().front().getDefiningOp<arith::MulFOp>();
  }

  /// Adds a thread's products in a few chains, which have one instruction for a
  /// product and its addition, and are done with an element as soon as they
  /// have it. (What is there anyway, as the weights of attention, takes fewer
  /// registers as a tree.) As many chains as fill the latency of an addition, 4
  /// cycles, together with those of the thread's other results.
  Tuple combineChains(const LLVMBuilder &b, ReduceOp op, ArrayRef<Tuple> tuples,
                      size_t numResults) const {
    constexpr size_t kInFlight = 4;
    size_t numChains =
        std::min(llvm::divideCeil(kInFlight, numResults), tuples.size());
    SmallVector<Tuple> chains(tuples.take_front(numChains));
    for (auto [i, tuple] : llvm::enumerate(tuples.drop_front(numChains))) {
      Tuple &chain = chains[i % numChains];
      chain = combine(b, op, chain, tuple);
    }
    return combineTree(b, op, std::move(chains));
  }

  Tuple combineTree(const LLVMBuilder &b, ReduceOp op,
                    SmallVector<Tuple> tuples) const {
    while (tuples.size() > 1) {
      SmallVector<Tuple> next;
      for (size_t i = 0; i + 1 < tuples.size(); i += 2)
        next.push_back(combine(b, op, tuples[i], tuples[i + 1]));
      if (tuples.size() % 2)
        next.push_back(tuples.back());
      tuples = std::move(next);
    }
    return tuples.front();
  }

  /// Combines what was read at once, and is there at once: the first half with
  /// the second, element by element, as packed instructions have them.
  Tuple combineHalves(const LLVMBuilder &b, ReduceOp op,
                      SmallVector<Tuple> tuples) const {
    while (tuples.size() > 1) {
      size_t half = llvm::divideCeil(tuples.size(), 2);
      for (size_t i = 0; half + i < tuples.size(); ++i)
        tuples[i] = combine(b, op, tuples[i], tuples[half + i]);
      tuples.truncate(half);
    }
    return tuples.front();
  }

  /// The position across the axis that a register contributes.
  static uint64_t positionOf(const LinearLayout &acrossAxis, int32_t r) {
    return acrossAxis.getNumOutDims() ? acrossAxis.applyFlat(r) : 0;
  }
  static LinearLayout registersAcrossAxis(const LinearLayout &layout,
                                          StringRef axisDim) {
    SmallVector<StringRef> dims;
    for (StringRef dim : layout.getOutDimNames())
      if (dim != axisDim)
        dims.push_back(dim);
    return layout.sublayout({kRegister}, dims);
  }

  llvm::MapVector<uint64_t, Tuple>
  reduceInThread(const LLVMBuilder &b, ReduceOp op, const ReducePlan &plan,
                 ArrayRef<SmallVector<Value>> operands) const {
    LinearLayout across = registersAcrossAxis(plan.layout, plan.axisDim);
    LinearLayout registers =
        plan.layout.sublayout({kRegister}, plan.layout.getOutDimNames());
    llvm::MapVector<uint64_t, SmallVector<Tuple>> groups;
    llvm::DenseSet<uint64_t> seen; // repeated elements count once
    for (int32_t r = 0, e = plan.layout.getInDimSize(kRegister); r < e; ++r) {
      if (!seen.insert(registers.applyFlat(r)).second)
        continue;
      Tuple tuple;
      for (const SmallVector<Value> &values : operands)
        tuple.push_back(values[r]);
      groups[positionOf(across, r)].push_back(std::move(tuple));
    }
    llvm::MapVector<uint64_t, Tuple> parts;
    for (auto &[position, tuples] : groups)
      parts[position] = addsProducts(op)
                            ? combineChains(b, op, tuples, groups.size())
                            : combineTree(b, op, std::move(tuples));
    return parts;
  }

  void reduceInWarp(const LLVMBuilder &b, ReduceOp op, const ReducePlan &plan,
                    Tuple &tuple) const {
    uint32_t allLanes = gpu::lookupThreadsPerWarp(op) - 1;
    if (plan.laneBits == allLanes && tuple.size() == 1)
      if (Operation *combiner = op.getSingleCombiner())
        if (Value value = target.warpReduce(b, combiner, tuple[0])) {
          tuple[0] = value;
          return;
        }
    // The farthest lanes first: what the later steps exchange is then the same
    // in all lanes that are done.
    for (int bit = 31; bit >= 0; --bit) {
      if (!(plan.laneBits & (1u << bit)))
        continue;
      Tuple other;
      for (Value value : tuple)
        other.push_back(mapWords(b, value, [&](Value word) {
          return target.shuffleXor(b, word, 1 << bit);
        }));
      tuple = combine(b, op, tuple, other);
    }
  }

  /// Results that each thread has already.
  SmallVector<Value>
  collect(const LLVMBuilder &b, ReduceOp op, const ReducePlan &plan,
          const llvm::MapVector<uint64_t, Tuple> &parts) const {
    SmallVector<Value> results;
    for (auto [i, result] : llvm::enumerate(op.getResults())) {
      auto type = dyn_cast<RankedTensorType>(result.getType());
      if (!type) {
        results.push_back(parts.front().second[i]);
        continue;
      }
      // The result's layout is the operand's without the axis: the same
      // positions, numbered by the remaining dimensions.
      LinearLayout layout = toLinearLayout(type);
      LinearLayout registers =
          layout.sublayout({kRegister}, layout.getOutDimNames());
      SmallVector<Value> elements;
      for (int32_t r = 0, e = layout.getInDimSize(kRegister); r < e; ++r)
        elements.push_back(parts.find(registers.applyFlat(r))->second[i]);
      results.push_back(packElements(b, getConverter(), elements, type));
    }
    return results;
  }

  SmallVector<Value>
  reduceAcrossWarps(const LLVMBuilder &b, ReduceOp op, const ReducePlan &plan,
                    const llvm::MapVector<uint64_t, Tuple> &parts) const {
    ThreadIndex index = getThreadIndex(b, target, op);
    Value scratch = getScratchBase(b, target, op);
    LinearLayout across = registersAcrossAxis(plan.layout, plan.axisDim);
    LinearLayout storeLayout = plan.getStoreLayout();
    unsigned numOperands = op.getSrcs().size();
    SmallVector<Value> bases;
    for (unsigned i = 0; i < numOperands; ++i) {
      bases.push_back(b.gep(scratch, b.intTy(8), plan.operandOffsets[i]));
      SmallVector<Value> values;
      for (int32_t r = 0, e = plan.layout.getInDimSize(kRegister); r < e; ++r)
        values.push_back(parts.find(positionOf(across, r))->second[i]);
      SharedAccess access{target, storeLayout, bases[i], values[0].getType()};
      access.store(b, index, values);
    }
    bool acrossBlocks = plan.getNumAxisBlocks() > 1;
    if (acrossBlocks)
      programBarrier(b, op);
    else
      blockBarrier(b, op);

    Type resultType = op.getResult()[0].getType();
    LinearLayout loadLayout = plan.getLoadLayout(resultType);
    SmallVector<SmallVector<Value>> loaded;
    for (unsigned i = 0; i < numOperands; ++i) {
      SharedAccess access{target, loadLayout, bases[i],
                          parts.front().second[i].getType()};
      loaded.push_back(access.load(b, index));
    }
    // Other blocks must have read before this one goes on or ends.
    if (acrossBlocks)
      programBarrier(b, op);
    unsigned warps = plan.getNumAxisWarps() * plan.getNumAxisBlocks();
    unsigned numResults = loaded[0].size() / warps;
    SmallVector<SmallVector<Value>> elements(numOperands);
    // Repeated registers were loaded once: combine once, too.
    llvm::MapVector<Value, Tuple> done;
    for (unsigned r = 0; r < numResults; ++r) {
      Tuple &total = done[loaded[0][r * warps]];
      if (total.empty()) {
        SmallVector<Tuple> tuples(warps);
        for (unsigned w = 0; w < warps; ++w)
          for (unsigned i = 0; i < numOperands; ++i)
            tuples[w].push_back(loaded[i][r * warps + w]);
        total = combineHalves(b, op, std::move(tuples));
      }
      for (unsigned i = 0; i < numOperands; ++i)
        elements[i].push_back(total[i]);
    }
    SmallVector<Value> results;
    for (auto [i, result] : llvm::enumerate(op.getResults()))
      results.push_back(
          packElements(b, getConverter(), elements[i], result.getType()));
    return results;
  }
};
} // namespace

void triton::populateReducePatterns(const LoweringContext &context) {
  context.add<ReducePattern>();
}

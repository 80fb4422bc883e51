//===-- ReduceOpToLLVM.cpp - Reductions -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A reduction has three parts. The plan says in which order elements combine.
// Several operands travel together.
//
// - Each thread combines its registers as a tree. It adds up products of two
//   elements in a few chains.
// - The lanes of a warp exchange values, along the lane bits of the axis.
// - Warps combine through scratch memory. Each warp writes its part. After one
//   barrier, the lanes that hold a result read a few parts each, and exchange
//   again. If the axis is split over the blocks of a cluster, they read parts
//   from the memory of other blocks, too.
//
// All copies of a result are the same, bit by bit, because they may decide
// branches that all threads must take together. Two lanes may combine the same
// two values in opposite orders. Then they might differ: LLVM may fuse a
// multiplication with the addition in one of them only, or they may keep
// different NaNs. So the last exchange combines in the same order everywhere,
// unless the operation is symmetric.
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

/// Where a partial result of a thread belongs, as far as registers tell: the
/// position across the axis, and the coordinate along it if that still matters.
using PartPosition = std::pair<uint64_t, int32_t>;
using Parts = llvm::MapVector<PartPosition, Tuple>;

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
    Parts parts = reduceInThread(b, op, plan, operands);
    if (plan.spansWarps()) {
      runSteps(b, op, plan, plan.steps, parts, /*sharing=*/0);
      rewriter.replaceOp(op, reduceAcrossWarps(b, op, plan, parts));
    } else {
      runSteps(b, op, plan, plan.steps, parts,
               plan.getSharingLanes(op.getResult()[0].getType()));
      rewriter.replaceOp(op, collect(b, op, plan, parts));
    }
    return success();
  }

private:
  Tuple combine(const LLVMBuilder &b, ReduceOp op, const Tuple &lhs,
                const Tuple &rhs) const {
    Tuple args(lhs);
    llvm::append_range(args, rhs);
    return inlineRegion(b, getConverter(), op.getCombineOp(), args);
  }

  /// Whether additions can have the multiplications before them as a part.
  static bool addsProducts(ReduceOp op) {
    return isa_and_present<arith::AddFOp>(op.getSingleCombiner()) &&
           op.getSrcs().front().getDefiningOp<arith::MulFOp>();
  }

  /// Adds what a thread multiplied in a few chains. They have one instruction
  /// for a multiplication and its addition, and are done with an element as
  /// soon as they have it. (What is there anyway, as the weights of attention,
  /// takes fewer registers as a tree.) As many chains as fill the latency of an
  /// addition, 4 cycles, together with those of the thread's other results.
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

  /// The place of a register whose parts lie in order, or across the axis.
  static PartPosition placeOf(const ReducePlan &plan, int32_t r) {
    LinearLayout across = registersAcrossAxis(plan.layout, plan.axisDim);
    int32_t along = 0;
    if (plan.isInOrder())
      along = plan.layout.sublayout({kRegister}, {plan.axisDim}).applyFlat(r);
    return {positionOf(across, r), along};
  }

  /// Combines registers: all of a position, or, in order, none yet.
  Parts reduceInThread(const LLVMBuilder &b, ReduceOp op,
                       const ReducePlan &plan,
                       ArrayRef<SmallVector<Value>> operands) const {
    LinearLayout registers =
        plan.layout.sublayout({kRegister}, plan.layout.getOutDimNames());
    llvm::MapVector<PartPosition, SmallVector<Tuple>> groups;
    llvm::DenseSet<uint64_t> seen; // repeated elements count once
    for (int32_t r = 0, e = plan.layout.getInDimSize(kRegister); r < e; ++r) {
      if (!seen.insert(registers.applyFlat(r)).second)
        continue;
      Tuple tuple;
      for (const SmallVector<Value> &values : operands)
        tuple.push_back(values[r]);
      groups[placeOf(plan, r)].push_back(std::move(tuple));
    }
    Parts parts;
    for (auto &[place, tuples] : groups)
      parts[place] = addsProducts(op)
                         ? combineChains(b, op, tuples, groups.size())
                         : combineTree(b, op, std::move(tuples));
    return parts;
  }

  /// What the steps combine in a warp. Lanes whose bits of the steps are zero
  /// then have the result, and so have all that differ from them in bits of
  /// `sharing`.
  void runSteps(const LLVMBuilder &b, ReduceOp op, const ReducePlan &plan,
                ArrayRef<ReducePlan::Step> steps, Parts &parts,
                uint32_t sharing) const {
    using Step = ReducePlan::Step;
    uint32_t lanes = 0; // but for those that tell registers apart at the end
    for (const Step &step : steps)
      if (step.kind == Step::Lanes)
        lanes |= 1u << step.laneBit;
    bool isWholeWarp = lanes + 1 == uint32_t(gpu::lookupThreadsPerWarp(op));
    if (isWholeWarp && reduceByInstruction(b, plan, parts))
      return;
    if (sharing && isSymmetric(plan)) {
      // The farthest lanes first: what the later steps exchange is then the
      // same in all lanes that are done.
      for (const Step &step : llvm::reverse(steps))
        for (auto &[place, tuple] : parts)
          tuple = combineSymmetric(b, op, plan, tuple,
                                   exchange(b, tuple, step.laneBit));
      return;
    }
    for (auto [i, step] : llvm::enumerate(steps)) {
      if (step.kind == Step::Registers) {
        combineRegisters(b, op, plan, step, parts);
      } else if (step.kind == Step::Trade) {
        trade(b, op, plan, step, parts);
      } else if (i + 1 == steps.size() && (sharing || isWholeWarp)) {
        // From two lanes to those that have the result.
        uint32_t keep = ~(lanes | sharing), bit = 1u << step.laneBit;
        for (auto &[place, tuple] : parts)
          tuple = combine(b, op, sharing ? take(b, tuple, keep, 0) : tuple,
                          take(b, tuple, keep, bit));
      } else {
        for (auto &[place, tuple] : parts)
          tuple = combine(b, op, tuple, exchange(b, tuple, step.laneBit));
      }
    }
  }

  /// Reduces over all lanes of a warp, if the machine does that by itself.
  bool reduceByInstruction(const LLVMBuilder &b, const ReducePlan &plan,
                           Parts &parts) const {
    if (plan.combiners.size() != 1)
      return false;
    for (auto &[place, tuple] : parts) {
      Value value = target.warpReduce(b, plan.combiners[0], tuple[0]);
      if (!value)
        return false;
      tuple[0] = value;
    }
    return true;
  }

  /// True if operands in opposite orders, and copies of the operation, give the
  /// same bits.
  bool isSymmetric(const ReducePlan &plan) const {
    return !plan.isInOrder() &&
           llvm::all_of(plan.combiners, [&](Operation *combiner) {
             return combiner->getResult(0).getType().isInteger() ||
                    target.isSymmetric(combiner);
           });
  }

  Tuple combineSymmetric(const LLVMBuilder &b, ReduceOp op,
                         const ReducePlan &plan, const Tuple &mine,
                         const Tuple &other) const {
    auto isSum = llvm::IsaPred<arith::AddFOp>;
    Tuple result = llvm::all_of(plan.combiners, isSum)
                       ? mine
                       : combine(b, op, mine, other);
    for (auto [i, combiner] : llvm::enumerate(plan.combiners))
      if (isSum(combiner))
        result[i] = target.addUnfused(b, mine[i], other[i]);
    return result;
  }

  Tuple exchange(const LLVMBuilder &b, const Tuple &tuple,
                 unsigned laneBit) const {
    return llvm::map_to_vector(tuple, [&](Value value) {
      return mapWords(b, value, [&](Value word) {
        return target.shuffleXor(b, word, 1 << laneBit);
      });
    });
  }

  /// Of the lane with this one's bits in `keep`, and those of `set`.
  Tuple take(const LLVMBuilder &b, const Tuple &tuple, uint32_t keep,
             uint32_t set) const {
    return llvm::map_to_vector(tuple, [&](Value value) {
      return mapWords(b, value, [&](Value word) {
        return target.shuffleMasked(b, word, keep, set);
      });
    });
  }

  /// Calls `join` for the parts of each two registers that `step` is about.
  static void
  joinPairs(const ReducePlan &plan, const ReducePlan::Step &step, Parts &parts,
            function_ref<Tuple(const Tuple &first, const Tuple &second)> join) {
    auto [across, along] = placeOf(plan, 1 << step.registerBit);
    Parts joined;
    for (auto &[place, tuple] : parts)
      if (!(place.first & across) && !(place.second & along))
        joined[place] = join(
            tuple,
            parts.find({place.first | across, place.second | along})->second);
    parts = std::move(joined);
  }

  void combineRegisters(const LLVMBuilder &b, ReduceOp op,
                        const ReducePlan &plan, const ReducePlan::Step &step,
                        Parts &parts) const {
    joinPairs(plan, step, parts, [&](const Tuple &first, const Tuple &second) {
      return combine(b, op, first, second);
    });
  }

  void trade(const LLVMBuilder &b, ReduceOp op, const ReducePlan &plan,
             const ReducePlan::Step &step, Parts &parts) const {
    Value lane = getThreadIndex(b, target, op).getLane(b);
    Value isUpper = b.ne(b.and_(lane, b.i32(1 << step.laneBit)), b.i32(0));
    auto select = [&](const Tuple &upper, const Tuple &lower) {
      Tuple result;
      for (auto [u, l] : llvm::zip(upper, lower))
        result.push_back(b.select(isUpper, u, l));
      return result;
    };
    joinPairs(plan, step, parts, [&](const Tuple &first, const Tuple &second) {
      Tuple received = exchange(b, select(first, second), step.laneBit);
      if (!plan.isInOrder())
        return combine(b, op, select(second, first), received);
      return combine(b, op, select(received, first), select(second, received));
    });
  }

  /// Results that each thread has already.
  SmallVector<Value> collect(const LLVMBuilder &b, ReduceOp op,
                             const ReducePlan &plan, const Parts &parts) const {
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
        elements.push_back(parts.find({registers.applyFlat(r), 0})->second[i]);
      results.push_back(packElements(b, getConverter(), elements, type));
    }
    return results;
  }

  SmallVector<Value> reduceAcrossWarps(const LLVMBuilder &b, ReduceOp op,
                                       const ReducePlan &plan,
                                       const Parts &parts) const {
    SmallVector<Value> bases = storeParts(b, op, plan, parts);
    bool acrossBlocks = plan.getNumAxisBlocks() > 1;
    if (acrossBlocks)
      programBarrier(b, op);
    else
      blockBarrier(b, op);

    ThreadIndex index = getThreadIndex(b, target, op);
    ReducePlan::SecondRound round =
        plan.getSecondRound(op.getResult()[0].getType());
    SmallVector<SmallVector<Value>> loaded;
    for (auto [i, base] : llvm::enumerate(bases)) {
      SharedAccess access{target, round.layout, base,
                          parts.front().second[i].getType()};
      loaded.push_back(access.load(b, index));
    }
    // Other blocks must have read before this one goes on or ends.
    if (acrossBlocks)
      programBarrier(b, op);

    // Repeated registers were loaded once: combine once, too.
    unsigned numParts = 1u << round.numRegisterBits;
    unsigned numResults = loaded[0].size() / numParts;
    llvm::MapVector<Value, PartPosition> places;
    Parts totals;
    for (unsigned r = 0; r < numResults; ++r) {
      PartPosition place = {r, 0};
      if (!places.insert({loaded[0][r * numParts], place}).second)
        continue;
      SmallVector<Tuple> tuples(numParts);
      for (unsigned part = 0; part < numParts; ++part)
        for (const SmallVector<Value> &values : loaded)
          tuples[part].push_back(values[r * numParts + part]);
      totals[place] = plan.isInOrder()
                          ? combineTree(b, op, std::move(tuples))
                          : combineHalves(b, op, std::move(tuples));
    }
    runSteps(b, op, plan, round.steps, totals,
             plan.getSharingLanes(op.getResult()[0].getType()));
    SmallVector<Value> results;
    for (auto [i, result] : llvm::enumerate(op.getResults())) {
      SmallVector<Value> elements;
      for (unsigned r = 0; r < numResults; ++r)
        elements.push_back(totals[places.lookup(loaded[0][r * numParts])][i]);
      results.push_back(
          packElements(b, getConverter(), elements, result.getType()));
    }
    return results;
  }

  /// Writes what the steps left to scratch memory; returns where the operands'
  /// regions are.
  SmallVector<Value> storeParts(const LLVMBuilder &b, ReduceOp op,
                                const ReducePlan &plan,
                                const Parts &parts) const {
    ThreadIndex index = getThreadIndex(b, target, op);
    Value scratch = getScratchBase(b, target, op);
    LinearLayout layout = plan.getStoreLayout();
    // Registers that the steps have joined.
    int32_t joined = 0;
    for (const ReducePlan::Step &step : plan.steps)
      if (step.kind != ReducePlan::Step::Lanes)
        joined |= 1 << step.registerBit;
    SmallVector<Value> bases;
    for (unsigned i = 0, e = op.getSrcs().size(); i < e; ++i) {
      bases.push_back(b.gep(scratch, b.intTy(8), plan.operandOffsets[i]));
      SmallVector<Value> values;
      for (int32_t r = 0, end = plan.layout.getInDimSize(kRegister); r < end;
           ++r) {
        values.push_back(parts.find(placeOf(plan, r & ~joined))->second[i]);
      }
      SharedAccess access{target, layout, bases[i], values[0].getType()};
      access.store(b, index, values);
    }
    return bases;
  }
};
} // namespace

void triton::populateReducePatterns(const LoweringContext &context) {
  context.add<ReducePattern>();
}

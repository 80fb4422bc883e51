//===-- ScanOpToLLVM.cpp - Inclusive prefix combinations ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A scan has these steps:
//
// - A thread scans the neighbours that it holds: its run.
// - The lanes of a warp scan the totals of their threads, by exchanges.
// - The warps exchange their totals through scratch memory.
// - If the pattern of threads repeats along the axis, totals carry over.
//
// Everything before a run is combined into one prefix, which is applied at the
// end. The last element of a run is the total of the lanes by then. It only
// needs what comes before the warp. A reverse scan is the same with the
// coordinates along the axis complemented.
//
//===----------------------------------------------------------------------===//

#include "tile/Conversion/TritonGPUToLLVM/InlineRegion.h"
#include "tile/Conversion/TritonGPUToLLVM/Patterns.h"

#include "tile/Analysis/CollectivePlan.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::triton;

namespace {
using Tuple = SmallVector<Value>;

/// A value that may be missing: `valid` is null if it is always there; the
/// tuple is empty if it never is.
struct Prefix {
  Tuple tuple;
  Value valid;
};

struct ScanPattern : TargetPattern<ScanOp> {
  using TargetPattern::TargetPattern;

  LogicalResult
  matchAndRewrite(ScanOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ScanPlan plan(op);
    if (!plan.unsupported.empty())
      return this->decline(op, plan.unsupported);
    LLVMBuilder b(op.getLoc(), rewriter);
    ThreadIndex index = getThreadIndex(b, target, op);
    unsigned numOperands = op.getSrcs().size();
    SmallVector<SmallVector<Value>> values;
    for (auto [value, original] : llvm::zip(adaptor.getSrcs(), op.getSrcs()))
      values.push_back(unpackElements(b, value, original.getType()));

    // A run: registers that are neighbours along the axis, in scan order. Runs
    // with the same position across the axis are repetitions.
    uint32_t low = plan.lowRegisterBits, high = plan.highRegisterBits;
    unsigned numRegisters = values[0].size();
    SmallVector<int32_t> starts;
    for (unsigned r = 0; r < numRegisters; ++r)
      if (!(r & low))
        starts.push_back(r);

    SmallVector<SmallVector<Tuple>> scanned; // per run, per member
    llvm::DenseMap<int32_t, unsigned> runOf;
    SmallVector<Tuple> totals; // of the thread, then of lanes up to it
    SmallVector<Prefix> lanePrefix;
    Value lane = index.getLane(b);
    for (int32_t start : starts) {
      SmallVector<Tuple> run;
      for (int32_t r : membersOf(plan, start, low, op.getReverse())) {
        Tuple tuple;
        for (unsigned i = 0; i < numOperands; ++i)
          tuple.push_back(values[i][r]);
        run.push_back(run.empty() ? tuple : combine(b, op, run.back(), tuple));
      }
      runOf[start] = scanned.size();
      scanLanes(b, op, plan, lane, run.back());
      totals.push_back(run.back());
      lanePrefix.push_back(
          run.size() > 1 ? takeFromLaneBefore(b, op, plan, lane, run.back())
                         : Prefix());
      scanned.push_back(std::move(run));
    }
    SmallVector<Prefix> outer =
        scanOuter(b, op, plan, index, starts, runOf, totals, high);

    for (auto [run, start] : llvm::enumerate(starts)) {
      Prefix prefix = join(b, op, outer[run], lanePrefix[run]);
      unsigned last = scanned[run].size() - 1;
      for (auto [member, r] :
           llvm::enumerate(membersOf(plan, start, low, op.getReverse()))) {
        Tuple tuple = apply(b, op, member == last ? outer[run] : prefix,
                            scanned[run][member]);
        for (unsigned i = 0; i < numOperands; ++i)
          values[i][r] = tuple[i];
      }
    }
    SmallVector<Value> results;
    for (auto [elements, result] : llvm::zip(values, op.getResults()))
      results.push_back(
          packElements(b, getConverter(), elements, result.getType()));
    rewriter.replaceOp(op, results);
    return success();
  }

private:
  /// All registers that differ from `start` in bits of `mask`, in scan order:
  /// that of their places along the axis, which need not be that of their
  /// numbers.
  static SmallVector<int32_t> membersOf(const ScanPlan &plan, int32_t start,
                                        uint32_t mask, bool reverse) {
    SmallVector<std::pair<int32_t, int32_t>> members;
    uint32_t bits = 0;
    do {
      int32_t along = 0;
      for (unsigned i = 0; i < 32; ++i)
        if (bits & (1u << i))
          along |= plan.layout.getBasis(kRegister, i, plan.axisDim);
      members.push_back({along, start | bits});
      bits = (bits - mask) & mask; // the next subset of the mask
    } while (bits);
    llvm::sort(members);
    if (reverse)
      std::reverse(members.begin(), members.end());
    return llvm::map_to_vector(members,
                               [](auto member) { return member.second; });
  }

  /// `earlier` comes before `later` in the scan.
  Tuple combine(const LLVMBuilder &b, ScanOp op, const Tuple &earlier,
                const Tuple &later) const {
    Tuple args(earlier);
    llvm::append_range(args, later);
    return inlineRegion(b, getConverter(), op.getCombineOp(), args);
  }

  Tuple select(const LLVMBuilder &b, Value condition, const Tuple &yes,
               const Tuple &no) const {
    if (!condition)
      return yes;
    Tuple result;
    for (auto [y, n] : llvm::zip(yes, no))
      result.push_back(b.select(condition, y, n));
    return result;
  }

  Tuple apply(const LLVMBuilder &b, ScanOp op, const Prefix &prefix,
              const Tuple &tuple) const {
    if (prefix.tuple.empty())
      return tuple;
    return select(b, prefix.valid, combine(b, op, prefix.tuple, tuple), tuple);
  }

  Prefix join(const LLVMBuilder &b, ScanOp op, const Prefix &earlier,
              const Prefix &later) const {
    if (earlier.tuple.empty())
      return later;
    if (later.tuple.empty())
      return earlier;
    Tuple both = combine(b, op, earlier.tuple, later.tuple);
    // Both; else the one that is there.
    Tuple tuple = select(b, later.valid, both, earlier.tuple);
    if (!earlier.valid)
      return {tuple, Value()};
    tuple = select(b, earlier.valid, tuple, later.tuple);
    Value valid = later.valid ? b.or_(earlier.valid, later.valid) : Value();
    return {tuple, valid};
  }

  Tuple shuffle(const LLVMBuilder &b, const Tuple &tuple,
                llvm::function_ref<Value(Value)> ofWord) const {
    return llvm::map_to_vector(
        tuple, [&](Value value) { return mapWords(b, value, ofWord); });
  }

  /// Of the lane that differs from this one in having `set` of the bits of
  /// `mask`.
  Tuple shuffleMasked(const LLVMBuilder &b, const Tuple &tuple, uint32_t mask,
                      uint32_t set) const {
    return shuffle(b, tuple, [&](Value word) {
      return target.shuffleMasked(b, word, ~mask, set);
    });
  }

  /// Turns `total` into the inclusive scan over the lanes.
  void scanLanes(const LLVMBuilder &b, ScanOp op, const ScanPlan &plan,
                 Value lane, Tuple &total) const {
    uint32_t mask = plan.laneBits;
    bool reverse = op.getReverse();
    uint32_t below = 0;
    for (unsigned bit = 0; bit < 32; ++bit) {
      if (!(mask & (1u << bit)))
        continue;
      // The last lane of the half before ours.
      int32_t self = 1 << bit;
      Tuple other =
          shuffleMasked(b, total, self | below, reverse ? self : below);
      Value bitSet = b.ne(b.and_(lane, b.i32(self)), b.i32(0));
      Value second = reverse ? b.not_(bitSet) : bitSet;
      total = select(b, second, combine(b, op, other, total), total);
      below |= self;
    }
  }

  /// What the lane before this one has in its inclusive scan `total`.
  Prefix takeFromLaneBefore(const LLVMBuilder &b, ScanOp op,
                            const ScanPlan &plan, Value lane,
                            const Tuple &total) const {
    uint32_t mask = plan.laneBits;
    if (!mask)
      return {};
    bool reverse = op.getReverse();
    Value inAxis = b.and_(lane, b.i32(mask));
    Value valid = b.ne(inAxis, b.i32(reverse ? static_cast<int32_t>(mask) : 0));
    if (llvm::isShiftedMask_32(mask)) {
      int32_t step = 1 << llvm::countr_zero(mask);
      Tuple before = shuffle(b, total, [&](Value word) {
        return target.shuffleBy(b, word, reverse ? step : -step);
      });
      return {before, valid};
    }
    // The neighbour before: count down (up) in the bits of the mask.
    int32_t others = static_cast<int32_t>(~mask);
    Value step = reverse ? b.add(b.or_(lane, b.i32(others)), b.i32(1))
                         : b.sub(inAxis, b.i32(1));
    Value neighbour =
        b.or_(b.and_(step, b.i32(mask)), b.and_(lane, b.i32(others)));
    Tuple before = shuffle(b, total, [&](Value word) {
      return target.shuffleIdx(b, word, neighbour);
    });
    return {before, valid};
  }

  /// For every run, what comes before the warp's part of it.
  SmallVector<Prefix> scanOuter(const LLVMBuilder &b, ScanOp op,
                                const ScanPlan &plan, const ThreadIndex &index,
                                ArrayRef<int32_t> starts,
                                const llvm::DenseMap<int32_t, unsigned> &runOf,
                                ArrayRef<Tuple> totals, uint32_t high) const {
    SmallVector<Prefix> prefixes(starts.size());
    unsigned warps = plan.getNumAxisWarps();
    if (warps == 1 && !high)
      return prefixes;
    bool reverse = op.getReverse();
    // Per run: the total over all warps, and the part before this warp. The
    // total of a warp is in its last lane; of one alone, have it everywhere.
    SmallVector<Tuple> runTotals(totals);
    uint32_t mask = plan.laneBits;
    if (warps > 1)
      scanWarps(b, op, plan, index, starts, totals, prefixes, runTotals);
    else if (mask)
      for (Tuple &total : runTotals)
        total = shuffleMasked(b, total, mask, reverse ? 0 : mask);

    // Carry totals from repetition to repetition.
    for (auto [run, start] : llvm::enumerate(starts)) {
      if (start & high)
        continue;
      Prefix carry;
      for (int32_t member : membersOf(plan, start, high, reverse)) {
        unsigned i = runOf.lookup(member);
        prefixes[i] = join(b, op, carry, prefixes[i]);
        carry = {carry.tuple.empty()
                     ? runTotals[i]
                     : combine(b, op, carry.tuple, runTotals[i]),
                 Value()};
      }
    }
    return prefixes;
  }

  void scanWarps(const LLVMBuilder &b, ScanOp op, const ScanPlan &plan,
                 const ThreadIndex &index, ArrayRef<int32_t> starts,
                 ArrayRef<Tuple> totals, SmallVector<Prefix> &prefixes,
                 SmallVector<Tuple> &runTotals) const {
    unsigned numOperands = op.getSrcs().size();
    unsigned warps = plan.getNumAxisWarps();
    Value scratch = getScratchBase(b, target, op);
    LinearLayout storeLayout = plan.getStoreLayout();
    LinearLayout loadLayout = plan.getLoadLayout();
    unsigned numRegisters = storeLayout.getInDimSize(kRegister);
    // The last lane stores, by the number of the first.
    ThreadIndex storing = index;
    if (!op.getReverse())
      storing.thread = b.xor_(index.thread, b.i32(plan.laneBits));
    SmallVector<SmallVector<Value>> loaded;
    SmallVector<Value> bases;
    for (unsigned i = 0; i < numOperands; ++i) {
      bases.push_back(b.gep(scratch, b.intTy(8), plan.operandOffsets[i]));
      SmallVector<Value> values(numRegisters);
      for (unsigned r = 0; r < numRegisters; ++r) {
        int32_t start = r & ~plan.lowRegisterBits;
        values[r] = totals[llvm::find(starts, start) - starts.begin()][i];
      }
      SharedAccess{target, storeLayout, bases[i], values[0].getType()}.store(
          b, storing, values);
    }
    blockBarrier(b, op);
    for (unsigned i = 0; i < numOperands; ++i)
      loaded.push_back(
          SharedAccess{target, loadLayout, bases[i], totals[0][i].getType()}
              .load(b, index));

    // This warp's number along the axis.
    Value warp = index.getWarp(b), axisWarp;
    unsigned rank = 0;
    for (unsigned bit = 0; bit < 32; ++bit) {
      if (!(plan.warpBits & (1u << bit)))
        continue;
      Value at = b.and_(warp, b.i32(1 << bit));
      at = bit >= rank ? b.lshr(at, b.i32(bit - rank)) : at;
      axisWarp = axisWarp ? b.or_(axisWarp, at) : at;
      ++rank;
    }
    bool reverse = op.getReverse();
    Value isFirst = b.eq(axisWarp, b.i32(reverse ? warps - 1 : 0));
    for (auto [run, start] : llvm::enumerate(starts)) {
      Tuple before, total;
      for (unsigned k = 0; k < warps; ++k) {
        unsigned w = reverse ? warps - 1 - k : k;
        Tuple part;
        for (unsigned i = 0; i < numOperands; ++i)
          part.push_back(loaded[i][start * warps + w]);
        if (k == 0) {
          total = part;
          before = part;
          continue;
        }
        if (k > 1)
          before = select(b, b.eq(axisWarp, b.i32(w)), total, before);
        total = combine(b, op, total, part);
      }
      prefixes[run] = {before, b.not_(isFirst)};
      runTotals[run] = total;
    }
  }
};
} // namespace

void triton::populateScanPatterns(const LoweringContext &context) {
  context.add<ScanPattern>();
}

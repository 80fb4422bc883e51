//===-- LoopAwareCSE.cpp - CSE through loop-carried values ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The carried values of a loop are first assumed to be the same wherever they
// start the same. Classes of them are split as long as some iteration computes
// members in different ways, given the current classes; what remains is the
// same in every iteration, by induction.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/CSE.h"
#include "tile/Dialect/Triton/Transforms/Passes.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "triton-loop-aware-cse"

namespace mlir::triton {
#define GEN_PASS_DEF_TRITONLOOPAWARECSE
#include "tile/Dialect/Triton/Transforms/Passes.h.inc"
} // namespace mlir::triton

using namespace mlir;

namespace {

/// Decides whether two values of a loop body are the same, given classes of
/// carried values that are assumed to be.
class ValueEquivalence {
public:
  ValueEquivalence(scf::ForOp loop, ArrayRef<unsigned> classes)
      : loop(loop), classes(classes) {}

  bool areSame(Value lhs, Value rhs) {
    if (lhs == rhs)
      return true;
    if (lhs.getType() != rhs.getType())
      return false;
    auto lhsArg = dyn_cast<BlockArgument>(lhs);
    auto rhsArg = dyn_cast<BlockArgument>(rhs);
    if (lhsArg || rhsArg)
      return lhsArg && rhsArg && areSameArguments(lhsArg, rhsArg);
    auto [known, isNew] = results.try_emplace({lhs, rhs}, false);
    if (!isNew)
      return known->second;
    bool same = areSameResults(cast<OpResult>(lhs), cast<OpResult>(rhs));
    // The map may have grown since.
    results[{lhs, rhs}] = same;
    return same;
  }

private:
  bool areSameArguments(BlockArgument lhs, BlockArgument rhs) {
    if (lhs.getOwner() != loop.getBody() || rhs.getOwner() != loop.getBody() ||
        lhs.getArgNumber() == 0 || rhs.getArgNumber() == 0)
      return false;
    return classes[lhs.getArgNumber() - 1] == classes[rhs.getArgNumber() - 1];
  }

  /// Only operations of this iteration whose results depend on nothing but
  /// their operands. Those with regions are taken for different.
  bool areSameResults(OpResult lhs, OpResult rhs) {
    Operation *lhsOp = lhs.getOwner(), *rhsOp = rhs.getOwner();
    if (lhs.getResultNumber() != rhs.getResultNumber() ||
        lhsOp->getNumRegions() != 0 || lhsOp->getBlock() != loop.getBody() ||
        rhsOp->getBlock() != loop.getBody() || !isMemoryEffectFree(lhsOp) ||
        !isMemoryEffectFree(rhsOp))
      return false;
    return OperationEquivalence::isEquivalentTo(
        lhsOp, rhsOp, [&](Value a, Value b) { return success(areSame(a, b)); },
        /*markEquivalent=*/nullptr,
        OperationEquivalence::Flags::IgnoreLocations);
  }

  scf::ForOp loop;
  ArrayRef<unsigned> classes;
  llvm::DenseMap<std::pair<Value, Value>, bool> results;
};

/// A class for each carried value, called by its first member.
SmallVector<unsigned> partitionCarriedValues(scf::ForOp loop) {
  auto firstLike = [](unsigned i, function_ref<bool(unsigned)> isLike) {
    for (unsigned j = 0; j < i; ++j)
      if (isLike(j))
        return j;
    return i;
  };
  SmallVector<unsigned> classes;
  for (unsigned i = 0, e = loop.getInitArgs().size(); i < e; ++i)
    classes.push_back(firstLike(i, [&](unsigned j) {
      return loop.getInitArgs()[i] == loop.getInitArgs()[j];
    }));

  auto yields = loop.getYieldedValues();
  while (true) {
    ValueEquivalence equivalence(loop, classes);
    SmallVector<unsigned> refined;
    for (unsigned i = 0, e = classes.size(); i < e; ++i)
      refined.push_back(firstLike(i, [&](unsigned j) {
        return classes[i] == classes[j] &&
               equivalence.areSame(yields[i], yields[j]);
      }));
    if (refined == classes)
      return classes;
    classes = std::move(refined);
  }
}

struct TritonLoopAwareCSE
    : public triton::impl::TritonLoopAwareCSEBase<TritonLoopAwareCSE> {
  using Base::Base;

  void runOnOperation() override {
    eliminateCommonSubexpressions();
    bool changed = false;
    // What is merged in a loop may show that values of the loop around it are
    // the same.
    getOperation()->walk([&](scf::ForOp loop) {
      SmallVector<unsigned> classes = partitionCarriedValues(loop);
      for (auto [i, first] : llvm::enumerate(classes)) {
        if (i == first)
          continue;
        LDBG() << "carried value " << i << " is the same as " << first;
        loop.getRegionIterArg(i).replaceAllUsesWith(
            loop.getRegionIterArg(first));
        loop.getResult(i).replaceAllUsesWith(loop.getResult(first));
        ++numMerged;
        changed = true;
      }
    });
    if (changed)
      eliminateCommonSubexpressions();
  }

private:
  void eliminateCommonSubexpressions() {
    IRRewriter rewriter(&getContext());
    DominanceInfo dominance(getOperation());
    mlir::eliminateCommonSubExpressions(rewriter, dominance, getOperation());
  }
};

} // namespace

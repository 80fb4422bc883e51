//===-- CombineTensorSelectAndIf.cpp - Tensors chosen by a branch ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Dominance.h"
#include "tile/Dialect/TritonGPU/Transforms/Passes.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tritongpu-combine-tensor-select-and-if"

namespace mlir::triton::gpu {
#define GEN_PASS_DEF_TRITONGPUCOMBINETENSORSELECTANDIF
#include "tile/Dialect/TritonGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::gpu

using namespace mlir;
using namespace mlir::triton;

namespace {

/// True if the branches of `ifOp` can yield what `select` chooses: the tensors
/// are there before it, and nobody asks for the choice between the two.
bool canCombine(arith::SelectOp select, scf::IfOp ifOp, DominanceInfo &dom) {
  for (Value tensor : {select.getTrueValue(), select.getFalseValue()})
    if (!dom.properlyDominates(tensor, ifOp))
      return false;
  return llvm::all_of(select->getUsers(), [&](Operation *user) {
    return ifOp->isProperAncestor(user) ||
           dom.properlyDominates(ifOp.getOperation(), user,
                                 /*enclosingOpOk=*/false);
  });
}

/// Appends `value` to what a branch yields.
void yieldAlso(Region &branch, Value value) {
  auto yield = cast<scf::YieldOp>(branch.front().getTerminator());
  yield.getResultsMutable().append(value);
}

void combine(arith::SelectOp select, scf::IfOp ifOp) {
  // Inside of a branch the choice is made.
  auto replaceIn = [&](Region &branch, Value value) {
    select.getResult().replaceUsesWithIf(value, [&](OpOperand &use) {
      return branch.isAncestor(use.getOwner()->getParentRegion());
    });
  };
  replaceIn(ifOp.getThenRegion(), select.getTrueValue());
  replaceIn(ifOp.getElseRegion(), select.getFalseValue());

  OpBuilder builder(ifOp);
  SmallVector<Type> types(ifOp.getResultTypes());
  types.push_back(select.getType());
  auto newIf = scf::IfOp::create(builder, ifOp.getLoc(), types,
                                 ifOp.getCondition(), /*withElseRegion=*/true);
  newIf->setDiscardableAttrs(ifOp->getDiscardableAttrDictionary());
  newIf.getThenRegion().takeBody(ifOp.getThenRegion());
  if (!ifOp.getElseRegion().empty()) {
    newIf.getElseRegion().takeBody(ifOp.getElseRegion());
  } else {
    if (newIf.getElseRegion().empty())
      newIf.getElseRegion().emplaceBlock();
    Block &block = newIf.getElseRegion().front();
    if (!block.empty())
      block.clear();
    OpBuilder builder = OpBuilder::atBlockEnd(&block);
    scf::YieldOp::create(builder, ifOp.getLoc());
  }
  yieldAlso(newIf.getThenRegion(), select.getTrueValue());
  yieldAlso(newIf.getElseRegion(), select.getFalseValue());

  ifOp->replaceAllUsesWith(newIf.getResults().drop_back());
  select->replaceAllUsesWith(newIf.getResults().take_back());
  select.erase();
  ifOp.erase();
}

struct TritonGPUCombineTensorSelectAndIf
    : gpu::impl::TritonGPUCombineTensorSelectAndIfBase<
          TritonGPUCombineTensorSelectAndIf> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<arith::SelectOp> selects;
    getOperation()->walk([&](arith::SelectOp select) {
      if (isa<RankedTensorType>(select.getType()) &&
          select.getCondition().getType().isInteger(1))
        selects.push_back(select);
    });
    for (arith::SelectOp select : selects) {
      // An if that was rewritten is another operation, so look them up anew.
      DominanceInfo dom(getOperation());
      scf::IfOp match;
      for (Operation *user : select.getCondition().getUsers()) {
        auto ifOp = dyn_cast<scf::IfOp>(user);
        if (!ifOp || !canCombine(select, ifOp, dom))
          continue;
        // The first one, so that the result does not depend on the use list.
        if (!match ||
            dom.properlyDominates(ifOp.getOperation(), match.getOperation()))
          match = ifOp;
      }
      if (!match) {
        LDBG() << "no branch fits " << select;
        continue;
      }
      combine(select, match);
      ++numCombined;
    }
  }
};

} // namespace

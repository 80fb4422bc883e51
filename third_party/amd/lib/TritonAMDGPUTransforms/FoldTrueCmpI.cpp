//===-- FoldTrueCmpI.cpp - tritonamdgpu-fold-true-cmpi --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "amd/TritonAMDGPUTransforms/Passes.h"

#include "tile/Analysis/ValueRanges.h"

#include "mlir/Analysis/DataFlow/ConstantPropagationAnalysis.h"
#include "mlir/Analysis/DataFlow/DeadCodeAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Interfaces/Utils/InferIntRangeCommon.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tritonamdgpu-fold-true-cmpi"

namespace mlir::triton::amd {
#define GEN_PASS_DEF_TRITONAMDGPUFOLDTRUECMPI
#include "amd/TritonAMDGPUTransforms/Passes.h.inc"
} // namespace mlir::triton::amd

using namespace mlir;
using namespace mlir::triton;
using dataflow::IntegerValueRangeLattice;

/// What the comparison gives for all elements; nullopt if that is not known.
static std::optional<bool> evaluate(arith::CmpIOp op,
                                    const DataFlowSolver &solver) {
  SmallVector<ConstantIntRanges> ranges;
  for (Value operand : op->getOperands()) {
    auto *range = solver.lookupState<IntegerValueRangeLattice>(operand);
    if (!range || range->getValue().isUninitialized())
      return std::nullopt;
    ranges.push_back(range->getValue().getValue());
  }
  auto predicate = static_cast<intrange::CmpPredicate>(op.getPredicate());
  return intrange::evaluatePred(predicate, ranges[0], ranges[1]);
}

/// Whether the condition is what users promise: it would be folded by itself,
/// and forgotten.
static bool isPromise(Value condition) {
  return llvm::any_of(condition.getUsers(), [](Operation *user) {
    return isa<LLVM::AssumeOp>(user) ||
           (isa<arith::AndIOp>(user) && isPromise(user->getResult(0)));
  });
}

namespace {
struct FoldTrueCmpI : amd::impl::TritonAMDGPUFoldTrueCmpIBase<FoldTrueCmpI> {
  void runOnOperation() override {
    DataFlowSolver solver;
    solver.load<dataflow::DeadCodeAnalysis>();
    solver.load<dataflow::SparseConstantPropagation>();
    // Masks may be there to catch what has wrapped around.
    solver.load<ValueRangeAnalysis>(ValueRangeAnalysis::Overflow::Wraps);
    if (failed(solver.initializeAndRun(getOperation())))
      return signalPassFailure();
    SmallVector<std::pair<arith::CmpIOp, bool>> known;
    getOperation().walk([&](arith::CmpIOp op) {
      if (isPromise(op))
        return;
      if (auto value = evaluate(op, solver))
        known.emplace_back(op, *value);
    });
    for (auto [op, value] : known) {
      LDBG() << op << " is " << value;
      OpBuilder builder(op);
      TypedAttr attr = builder.getBoolAttr(value);
      if (auto shaped = dyn_cast<ShapedType>(op.getType()))
        attr = DenseElementsAttr::get(shaped, value);
      Value constant = arith::ConstantOp::create(builder, op.getLoc(), attr);
      op.replaceAllUsesWith(constant);
      op.erase();
      ++numFolded;
    }
  }
};
} // namespace

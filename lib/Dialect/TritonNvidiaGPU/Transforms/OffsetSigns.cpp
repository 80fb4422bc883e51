//===-- OffsetSigns.cpp - Which offsets may be negative -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "OffsetSigns.h"

#include "tile/Analysis/ValueRanges.h"
#include "tile/Dialect/Triton/IR/Dialect.h"

#include "mlir/Analysis/DataFlow/ConstantPropagationAnalysis.h"
#include "mlir/Analysis/DataFlow/DeadCodeAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

bool OffsetSigns::isKnownNonNegative(Value value) {
  if (!solver) {
    solver = std::make_unique<DataFlowSolver>();
    solver->load<dataflow::DeadCodeAnalysis>();
    solver->load<dataflow::SparseConstantPropagation>();
    solver->load<ValueRangeAnalysis>(
        ValueRangeAnalysis::Overflow::NeverHappens);
    if (failed(solver->initializeAndRun(module)))
      return false;
  }
  auto *range = solver->lookupState<dataflow::IntegerValueRangeLattice>(value);
  return range && isNonNegative(range->getValue());
}

bool OffsetSigns::isConstructedNegative(BlockArgument argument) {
  auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
  if (!loop)
    return true;
  if (argument == loop.getInductionVar())
    return mayBeNegative(loop.getLowerBound());
  unsigned index = argument.getArgNumber() - loop.getNumInductionVars();
  return mayBeNegative(loop.getInitArgs()[index]) ||
         mayBeNegative(loop.getYieldedValues()[index]);
}

/// Of a product, such as a number of a tile times its size.
static bool isNegativeFactor(Value factor) {
  APInt constant;
  return matchPattern(factor, m_ConstantInt(&constant)) &&
         constant.isNegative();
}

bool OffsetSigns::isConstructedNegative(Value offset) {
  APInt constant;
  if (matchPattern(offset, m_ConstantInt(&constant)))
    return constant.isNegative();
  if (auto argument = dyn_cast<BlockArgument>(offset))
    return isConstructedNegative(argument);
  auto mayBe = [&](Value value) { return mayBeNegative(value); };
  return llvm::TypeSwitch<Operation *, bool>(offset.getDefiningOp())
      .Case<GetProgramIdOp, GetNumProgramsOp, arith::DivSIOp, arith::DivUIOp,
            arith::CeilDivSIOp, arith::FloorDivSIOp, arith::RemSIOp,
            arith::RemUIOp, arith::ExtUIOp, arith::ShRUIOp>(
          [](Operation *) { return false; })
      .Case([&](arith::MulIOp op) {
        return isNegativeFactor(op.getLhs()) || isNegativeFactor(op.getRhs());
      })
      .Case([&](arith::SelectOp op) {
        return mayBe(op.getTrueValue()) || mayBe(op.getFalseValue());
      })
      .Case([&](arith::ShLIOp op) { return isNegativeFactor(op.getLhs()); })
      .Case<arith::AddIOp, arith::MinSIOp, arith::ExtSIOp, arith::TruncIOp,
            arith::IndexCastOp>(
          [&](Operation *op) { return llvm::any_of(op->getOperands(), mayBe); })
      .Case<arith::MaxSIOp, arith::AndIOp>(
          [&](Operation *op) { return llvm::all_of(op->getOperands(), mayBe); })
      .Default([](Operation *) { return true; });
}

bool OffsetSigns::mayBeNegative(Value offset) {
  if (!underWay.insert(offset).second)
    return false;
  bool negative = isConstructedNegative(offset) && !isKnownNonNegative(offset);
  underWay.erase(offset);
  return negative;
}

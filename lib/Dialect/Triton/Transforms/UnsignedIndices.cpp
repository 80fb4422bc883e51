//===-- UnsignedIndices.cpp - Divide indices without a sign ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mlir/Analysis/DataFlow/ConstantPropagationAnalysis.h"
#include "mlir/Analysis/DataFlow/DeadCodeAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "tile/Analysis/ValueRanges.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/Triton/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "triton-unsigned-indices"

namespace mlir::triton {
#define GEN_PASS_DEF_TRITONUNSIGNEDINDICES
#include "tile/Dialect/Triton/Transforms/Passes.h.inc"
} // namespace mlir::triton

using namespace mlir;
using namespace mlir::triton;

namespace {

/// Values, and those that they are computed from.
class IndexValues {
public:
  /// Those of all offsets and masks.
  explicit IndexValues(Operation *root) {
    root->walk([&](Operation *op) { addSinks(op); });
    addAllSources();
  }

  explicit IndexValues(Value value) {
    add(value);
    addAllSources();
  }

  bool contains(Value value) const { return values.contains(value); }

  /// Whether something in memory, or a reduction, is among the sources.
  bool dependOnData() const { return haveData; }

private:
  void addSinks(Operation *op);
  void addSources(Value value);
  void addAllSources() {
    for (size_t i = 0; i < values.size(); ++i)
      addSources(values[i]);
  }
  /// An index may be made of fractions, as in images that are made larger.
  void add(Value value) {
    if (getElementTypeOrSelf(value.getType()).isIntOrFloat())
      values.insert(value);
  }

  llvm::SetVector<Value> values;
  bool haveData = false;
};

void IndexValues::addSinks(Operation *op) {
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](AddPtrOp addPtr) { add(addPtr.getOffset()); })
      .Case<LoadOp, StoreOp, AtomicRMWOp>([&](auto access) {
        if (Value mask = access.getMask())
          add(mask);
      })
      .Case<DescriptorLoadOp, DescriptorStoreOp, DescriptorReduceOp>(
          [&](auto access) {
            for (Value index : access.getIndices())
              add(index);
          })
      .Case<DescriptorGatherOp, DescriptorScatterOp>([&](auto access) {
        add(access.getXOffsets());
        add(access.getYOffset());
      });
}

void IndexValues::addSources(Value value) {
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    Operation *parent = arg.getOwner()->getParentOp();
    if (!isa<RegionBranchOpInterface>(parent))
      return;
    // A counter is never below its first value. How far it counts may depend
    // on data, as the lengths of sequences do: its sign does not.
    if (auto loop = dyn_cast<scf::ForOp>(parent);
        loop && value == loop.getInductionVar()) {
      add(loop.getLowerBound());
      add(loop.getStep());
      return;
    }
    // Carried values; which of them it is does not matter enough to ask.
    parent->walk([&](Operation *op) {
      if (op->hasTrait<mlir::OpTrait::IsTerminator>() &&
          op->getParentOp() == parent)
        for (Value operand : op->getOperands())
          if (operand.getType() == value.getType())
            add(operand);
    });
    for (Value operand : parent->getOperands())
      if (operand.getType() == value.getType())
        add(operand);
    return;
  }
  Operation *op = value.getDefiningOp();
  if (isa<RegionBranchOpInterface>(op)) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (block.mightHaveTerminator())
          for (Value operand : block.getTerminator()->getOperands())
            if (operand.getType() == value.getType())
              add(operand);
    return;
  }
  // What is read or reduced from data is no index arithmetic.
  if (!isMemoryEffectFree(op) || op->getNumRegions() != 0 ||
      isa<GatherOp, HistogramOp>(op)) {
    haveData = true;
    return;
  }
  // What a mask compares may be data.
  if (isa<arith::CmpFOp>(op))
    return;
  for (Value operand : op->getOperands())
    add(operand);
}

struct TritonUnsignedIndices
    : public triton::impl::TritonUnsignedIndicesBase<TritonUnsignedIndices> {
  using Base::Base;

  void runOnOperation() override;

private:
  FailureOr<SmallVector<Operation *>> findDivisions();
};

/// Whether `value` is a size: not negative, or the least of sizes and of a
/// difference of scalars that are not. An example are the rows that are left
/// for a group of tiles. Other differences are distances, which go both ways.
bool isSize(Value value, function_ref<bool(Value)> isNonNegative,
            bool isBounded = false) {
  if (isNonNegative(value))
    return true;
  Operation *op = value.getDefiningOp();
  if (isa_and_present<arith::SubIOp>(op))
    return isBounded && !isa<RankedTensorType>(value.getType()) &&
           llvm::all_of(op->getOperands(), isNonNegative);
  isBounded |= isa_and_present<arith::MinSIOp>(op);
  return isa_and_present<arith::MinSIOp, arith::MulIOp, arith::AddIOp,
                         arith::ExtSIOp, SplatOp, BroadcastOp, ExpandDimsOp>(
             op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return isSize(operand, isNonNegative, isBounded);
         });
}

void replaceWithUnsigned(Operation *op) {
  LDBG() << "without a sign: " << *op;
  OpBuilder b(op);
  Location loc = op->getLoc();
  Value x = op->getOperand(0), y = op->getOperand(1);
  Value result = isa<arith::DivSIOp>(op)
                     ? Value(arith::DivUIOp::create(b, loc, x, y))
                     : Value(arith::RemUIOp::create(b, loc, x, y));
  result.getDefiningOp()->setDiscardableAttrs(
      op->getDiscardableAttrDictionary());
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
}

/// The signed quotients and remainders that need no sign.
FailureOr<SmallVector<Operation *>> TritonUnsignedIndices::findDivisions() {
  SmallVector<Operation *> divisions;
  getOperation()->walk([&](Operation *op) {
    if (isa<arith::DivSIOp, arith::RemSIOp>(op))
      divisions.push_back(op);
  });
  if (divisions.empty())
    return divisions;

  DataFlowSolver solver;
  solver.load<dataflow::DeadCodeAnalysis>();
  solver.load<dataflow::SparseConstantPropagation>();
  solver.load<ValueRangeAnalysis>(ValueRangeAnalysis::Overflow::NeverHappens);
  if (failed(solver.initializeAndRun(getOperation())))
    return failure();
  auto hasNoSign = [&](Value value) {
    auto *range = solver.lookupState<dataflow::IntegerValueRangeLattice>(value);
    return range && isNonNegative(range->getValue());
  };
  IndexValues indices(getOperation());
  llvm::erase_if(divisions, [&](Operation *op) {
    return !indices.contains(op->getResult(0)) ||
           !hasNoSign(op->getOperand(0)) ||
           !isSize(op->getOperand(1), hasNoSign) ||
           IndexValues(op->getResult(0)).dependOnData();
  });
  return divisions;
}

void TritonUnsignedIndices::runOnOperation() {
  // A quotient without a sign may be what another one is computed from.
  while (true) {
    FailureOr<SmallVector<Operation *>> divisions = findDivisions();
    if (failed(divisions))
      return signalPassFailure();
    if (divisions->empty())
      return;
    llvm::for_each(*divisions, replaceWithUnsigned);
    numDivisions += divisions->size();
  }
}

} // namespace

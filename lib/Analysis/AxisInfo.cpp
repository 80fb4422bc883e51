//===-- AxisInfo.cpp - The lattice of axis info and its solver ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The lattice element itself, the dataflow analysis that moves it through
// control flow, and nothing about single operations (AxisInfoTransfer.cpp).
//
//===----------------------------------------------------------------------===//

#include "tile/Analysis/AxisInfo.h"
#include "tile/Analysis/ValueRanges.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"

#include "mlir/Analysis/DataFlow/ConstantPropagationAnalysis.h"
#include "mlir/Analysis/DataFlow/DeadCodeAnalysis.h"
#include "mlir/Analysis/DataFlow/SparseAnalysis.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/DebugLog.h"
#include <numeric>

#define DEBUG_TYPE "axis-info"

using namespace mlir;
using namespace mlir::triton;

//===----------------------------------------------------------------------===//
// AxisInfo
//===----------------------------------------------------------------------===//

AxisInfo::AxisInfo(DimVector contiguity, DimVector divisibility,
                   DimVector constancy, std::optional<int64_t> constantValue,
                   int64_t unit)
    : contiguity(std::move(contiguity)), divisibility(std::move(divisibility)),
      constancy(std::move(constancy)), constantValue(constantValue),
      unit(unit) {
  assert(this->contiguity.size() == this->divisibility.size() &&
         this->contiguity.size() == this->constancy.size() &&
         "every axis has all three figures");
}

AxisInfo::DimVector AxisInfo::getShape(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    if (tensor.getRank() > 0)
      return DimVector(tensor.getShape());
  return {1};
}

int64_t AxisInfo::getUnit(Type type) {
  auto pointer = dyn_cast<PointerType>(getElementTypeOrSelf(type));
  if (!pointer)
    return 1;
  if (isa<PointerType>(pointer.getPointeeType()))
    return 8;
  if (!pointer.getPointeeType().isIntOrFloat())
    return 1;
  return std::max<int64_t>(pointer.getPointeeType().getIntOrFloatBitWidth() / 8,
                           1);
}

AxisInfo AxisInfo::getPessimistic(Type type) {
  DimVector ones(getShape(type).size(), 1);
  return AxisInfo(ones, ones, ones, std::nullopt, getUnit(type));
}

AxisInfo AxisInfo::getConstant(ArrayRef<int64_t> shape, int64_t value) {
  return AxisInfo(DimVector(shape.size(), 1),
                  DimVector(shape.size(), getDivisor(value)), DimVector(shape),
                  value);
}

int64_t AxisInfo::getDivisor(int64_t value) {
  if (value == 0)
    return kMaxDivisibility;
  return std::min<int64_t>(int64_t(1) << llvm::countr_zero(uint64_t(value)),
                           kMaxDivisibility);
}

int64_t AxisInfo::getDivisibilityAt(unsigned dim, int64_t group) const {
  // Coarser groups start where some of ours start.
  if (group % contiguity[dim] == 0)
    return divisibility[dim];
  return std::gcd(divisibility[dim], std::gcd(group, contiguity[dim]) * unit);
}

int64_t AxisInfo::getDivisibilityOfAll() const {
  // Every axis makes a true statement about every element.
  int64_t result = 1;
  for (unsigned dim = 0; dim < getRank(); ++dim)
    result = std::max(result, getDivisibilityAt(dim, 1));
  return result;
}

AxisInfo AxisInfo::join(const AxisInfo &lhs, const AxisInfo &rhs) {
  if (!lhs.isInitialized())
    return rhs;
  if (!rhs.isInitialized())
    return lhs;
  assert(lhs.getRank() == rhs.getRank() && "values of different ranks");
  DimVector contiguity, divisibility, constancy;
  for (unsigned dim = 0; dim < lhs.getRank(); ++dim) {
    contiguity.push_back(
        std::gcd(lhs.getContiguity(dim), rhs.getContiguity(dim)));
    divisibility.push_back(
        std::gcd(lhs.getDivisibilityAt(dim, contiguity.back()),
                 rhs.getDivisibilityAt(dim, contiguity.back())));
    constancy.push_back(std::gcd(lhs.getConstancy(dim), rhs.getConstancy(dim)));
  }
  std::optional<int64_t> constant;
  if (lhs.constantValue && lhs.constantValue == rhs.constantValue)
    constant = lhs.constantValue;
  return AxisInfo(std::move(contiguity), std::move(divisibility),
                  std::move(constancy), constant, lhs.unit);
}

void AxisInfo::print(raw_ostream &os) const {
  auto list = [&](StringRef name, ArrayRef<int64_t> values) {
    os << name << " = [";
    llvm::interleaveComma(values, os);
    os << "], ";
  };
  list("contiguity", contiguity);
  list("divisibility", divisibility);
  list("constancy", constancy);
  os << "constant_value = ";
  if (constantValue)
    os << *constantValue;
  else
    os << "<none>";
}

//===----------------------------------------------------------------------===//
// Hints
//===----------------------------------------------------------------------===//

/// One figure per axis out of an integer, a dense array or a dense tensor. A
/// tensor of the shape of the value has one figure for all axes.
static SmallVector<int64_t> readHint(Attribute attr, unsigned rank) {
  SmallVector<int64_t> values;
  if (auto integer = dyn_cast_or_null<IntegerAttr>(attr)) {
    values.assign(rank, integer.getInt());
  } else if (auto dense = dyn_cast_or_null<DenseIntElementsAttr>(attr);
             dense && dense.isSplat() &&
             dense.getType().getRank() == int64_t(rank)) {
    values.assign(rank, dense.getSplatValue<APInt>().getSExtValue());
  } else if (dense) {
    for (APInt value : dense.getValues<APInt>())
      values.push_back(value.getSExtValue());
  } else if (auto array = dyn_cast_or_null<DenseI32ArrayAttr>(attr)) {
    values.append(array.asArrayRef().begin(), array.asArrayRef().end());
  } else if (auto array = dyn_cast_or_null<DenseI64ArrayAttr>(attr)) {
    values.append(array.asArrayRef().begin(), array.asArrayRef().end());
  }
  if (values.size() != rank)
    return {};
  for (int64_t &value : values)
    value = value > 0 ? AxisInfo::getDivisor(value) : 1;
  return values;
}

void mlir::triton::applyAxisHints(
    AxisInfo &info, function_ref<Attribute(StringRef name)> lookup) {
  unsigned rank = info.getRank();
  auto merge = [&](StringRef name, ArrayRef<int64_t> known) {
    AxisInfo::DimVector result(known);
    SmallVector<int64_t> hint = readHint(lookup(name), rank);
    for (auto [value, stated] : llvm::zip(result, hint))
      value = std::max(value, stated);
    return result;
  };
  AxisInfo::DimVector contiguity = merge(kContiguityAttr, info.getContiguity());
  // Divisibility is stated of the first element of each group of contiguous
  // neighbours. The hint on contiguity makes these groups longer. So the
  // deduced divisibility is first converted to groups of the new length.
  AxisInfo::DimVector atGroups;
  for (unsigned dim = 0; dim < rank; ++dim)
    atGroups.push_back(info.getDivisibilityAt(dim, contiguity[dim]));
  AxisInfo::DimVector divisibility = merge(kDivisibilityAttr, atGroups);
  info = AxisInfo(std::move(contiguity), std::move(divisibility),
                  merge(kConstancyAttr, info.getConstancy()),
                  info.getConstantValue(), info.getUnit());
}

//===----------------------------------------------------------------------===//
// Dataflow
//===----------------------------------------------------------------------===//

namespace {
using AxisInfoLattice = dataflow::Lattice<AxisInfo>;

class AxisInfoAnalysis
    : public dataflow::SparseForwardDataFlowAnalysis<AxisInfoLattice> {
public:
  using SparseForwardDataFlowAnalysis::SparseForwardDataFlowAnalysis;

  LogicalResult visitOperation(Operation *op,
                               ArrayRef<const AxisInfoLattice *> operands,
                               ArrayRef<AxisInfoLattice *> results) override {
    // Poison can be anything that helps: whatever it is joined with decides.
    if (isa<ub::PoisonOp>(op))
      return success();
    // A dot may overwrite its accumulator: it is something even where that
    // is poison.
    if (isa<MatrixProductOpInterface>(op)) {
      setAllToEntryStates(results);
      return success();
    }
    SmallVector<AxisInfo> operandInfos;
    for (const AxisInfoLattice *operand : operands) {
      // Reached later, when its definition has been visited.
      if (!operand->getValue().isInitialized())
        return success();
      operandInfos.push_back(operand->getValue());
    }
    SmallVector<AxisInfo> resultInfos;
    for (Value result : op->getResults())
      resultInfos.push_back(AxisInfo::getPessimistic(result.getType()));
    llvm::SmallBitVector nonNegative(op->getNumOperands());
    if (dependsOnSigns(op) && !collectSigns(op, nonNegative))
      return success();
    inferAxisInfo(
        op, operandInfos, [&](unsigned i) { return nonNegative[i]; },
        resultInfos);
    for (auto [lattice, info] : llvm::zip(results, resultInfos)) {
      applyAxisHints(info, [&](StringRef name) { return op->getAttr(name); });
      LDBG() << *op << " => " << info;
      propagateIfChanged(lattice, lattice->join(info));
    }
    return success();
  }

  void setToEntryState(AxisInfoLattice *lattice) override {
    AxisInfo info = AxisInfo::getPessimistic(lattice->getAnchor().getType());
    if (auto arg = dyn_cast<BlockArgument>(lattice->getAnchor())) {
      auto func = dyn_cast<FunctionOpInterface>(arg.getOwner()->getParentOp());
      if (func && arg.getOwner()->isEntryBlock())
        applyAxisHints(info, [&](StringRef name) {
          return func.getArgAttr(arg.getArgNumber(), name);
        });
    }
    propagateIfChanged(lattice, lattice->join(info));
  }

  void visitNonControlFlowArguments(Operation *op,
                                    const RegionSuccessor &successor,
                                    ArrayRef<AxisInfoLattice *> argLattices,
                                    unsigned firstIndex) override {
    if (auto partitions = dyn_cast<gpu::WarpSpecializePartitionsOp>(op))
      return visitCaptures(partitions, argLattices);
    auto loop = dyn_cast<scf::ForOp>(op);
    // A loop that carries nothing counts its only argument from zero.
    if (!loop || firstIndex > 1 || argLattices.empty()) {
      SparseForwardDataFlowAnalysis::visitNonControlFlowArguments(
          op, successor, argLattices, firstIndex);
      return;
    }
    ProgramPoint *point = getProgramPointBefore(loop.getBody());
    const AxisInfo &lower =
        getLatticeElementFor(point, loop.getLowerBound())->getValue();
    const AxisInfo &step =
        getLatticeElementFor(point, loop.getStep())->getValue();
    if (!lower.isInitialized() || !step.isInitialized())
      return;
    int64_t divisor =
        std::gcd(lower.getDivisibility(0), step.getDivisibility(0));
    AxisInfo info({1}, {divisor}, {1});
    propagateIfChanged(argLattices[0], argLattices[0]->join(info));
  }

private:
  /// The arguments of a partition are what the operation captures.
  void visitCaptures(gpu::WarpSpecializePartitionsOp partitions,
                     ArrayRef<AxisInfoLattice *> argLattices) {
    if (argLattices.empty())
      return;
    auto argument = cast<BlockArgument>(argLattices.front()->getAnchor());
    ProgramPoint *point = getProgramPointBefore(argument.getOwner());
    auto specialize = cast<gpu::WarpSpecializeOp>(partitions->getParentOp());
    for (auto [lattice, capture] :
         llvm::zip(argLattices, specialize.getExplicitCaptures()))
      join(lattice, *getLatticeElementFor(point, capture));
  }

  /// Marks the operands that are not negative; false if that is yet to come.
  bool collectSigns(Operation *op, llvm::SmallBitVector &nonNegative) {
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      const IntegerValueRange &range =
          getOrCreateFor<dataflow::IntegerValueRangeLattice>(
              getProgramPointAfter(op), operand)
              ->getValue();
      if (range.isUninitialized())
        return false;
      nonNegative[i] = isNonNegative(range);
    }
    return true;
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// ModuleAxisInfoAnalysis
//===----------------------------------------------------------------------===//

ModuleAxisInfoAnalysis::ModuleAxisInfoAnalysis(ModuleOp module)
    : solver(std::make_unique<DataFlowSolver>()) {
  solver->load<dataflow::DeadCodeAnalysis>();
  solver->load<dataflow::SparseConstantPropagation>();
  // Few modules have an operation that ranges matter to, and they cost as much
  // as the rest.
  if (module
          .walk([](Operation *op) {
            return dependsOnSigns(op) ? WalkResult::interrupt()
                                      : WalkResult::advance();
          })
          .wasInterrupted())
    solver->load<ValueRangeAnalysis>();
  solver->load<AxisInfoAnalysis>();
  // Failing is only possible in a transfer function, and ours do not fail; an
  // analysis without results would merely know nothing.
  if (failed(solver->initializeAndRun(module)))
    solver = std::make_unique<DataFlowSolver>();
}

ModuleAxisInfoAnalysis::~ModuleAxisInfoAnalysis() = default;

const AxisInfo *ModuleAxisInfoAnalysis::getAxisInfo(Value value) const {
  const AxisInfoLattice *lattice = solver->lookupState<AxisInfoLattice>(value);
  if (!lattice || !lattice->getValue().isInitialized())
    return nullptr;
  return &lattice->getValue();
}

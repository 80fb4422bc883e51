//===-- Cost.cpp - What conversions and computations cost -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Rough numbers of instructions that a thread issues. They need to rank
// alternatives that are far apart, no more. A conversion through shared memory
// waits for all warps twice. So a handful of integer operations is always
// cheaper, and a chain of transcendental functions is not.
//
//===----------------------------------------------------------------------===//

#include "Internal.h"

#include "tile/Analysis/CollectivePlan.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"
#include "tile/Dialect/TritonGPU/Transforms/LayoutInference.h"
#include "tile/Layout/LinearLayout.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;
using namespace mlir::triton::gpu::layout_conversions;

namespace {
/// How often a loop's body is guessed to run.
constexpr double kTripCount = 8;
/// How often a branch is guessed to be taken.
constexpr double kTaken = 0.5;

/// Two barriers, and what waits for them.
constexpr double kRoundTrip = 100;
/// A store and a load.
constexpr double kThroughShared = 8;
/// With the selections around it.
constexpr double kShuffle = 4;
} // namespace

double layout_conversions::getExecutionWeight(Operation *op) {
  // A branch around a loop is there for the case that the loop has nothing to
  // do, which is rare.
  auto hasLoop = [](Block *block) {
    return llvm::any_of(*block, llvm::IsaPred<LoopLikeOpInterface>);
  };
  double weight = 1;
  for (Block *block = op->getBlock(); block;
       block = block->getParentOp()->getBlock()) {
    Operation *parent = block->getParentOp();
    if (isa<LoopLikeOpInterface>(parent))
      weight *= kTripCount;
    else if (isa<scf::IfOp>(parent) && !hasLoop(block))
      weight *= kTaken;
  }
  return weight;
}

double layout_conversions::getConversionCost(RankedTensorType type,
                                             Attribute to) {
  RankedTensorType target = cloneWithEncoding(type, to);
  LinearLayout src = toLinearLayout(type), dst = toLinearLayout(target);
  auto countRegisters = [](const LinearLayout &layout) {
    return layout.removeZeroBasesAlongDim(kRegister).getInDimSize(kRegister);
  };
  double elements = std::max(countRegisters(src), countRegisters(dst));
  unsigned bits = getElementBitWidth(type);
  if (src.equalUpToDimOrder(dst))
    return 0;
  // Where elements must go, from the position in `dst` to the one in `src`.
  std::optional<LinearLayout> move = dst.tryInvertAndCompose(src);
  auto staysIn = [&](StringRef dim) {
    return move && move->hasInDim(dim) && move->hasOutDim(dim) &&
           move->quotient({dim}).has_value();
  };
  if (staysIn(kBlock) && staysIn(kWarp)) {
    if (staysIn(kLane))
      return 1;
    return kShuffle * elements * std::max(bits / 32, 1u) + 10;
  }
  // Smaller elements are moved as bytes.
  return kRoundTrip +
         kThroughShared * std::max(elements * std::max(bits, 8u) / 32, 1.0);
}

/// Whether a second copy of `op` is right, and no worse than a conversion.
static bool mayRepeat(Operation *op, const RepeatableReads &reads) {
  if (auto load = dyn_cast<LoadOp>(op))
    return isSmallLoad(load) && reads.contains(load);
  if (isLayoutFree(op))
    return true;
  // Right behind the first, a second read finds the same. How operands of dots
  // are read has been chosen together with their layout in memory. A block of a
  // cluster has a part of the buffer only.
  if (auto load = dyn_cast<LocalLoadOp>(op))
    return !isa<DotOperandEncodingAttr>(load.getType().getEncoding()) &&
           lookupNumCTAs(load) == 1;
  // Reductions and the like talk across threads, which costs what a conversion
  // costs.
  return isLayoutFlexible(op) && isMemoryEffectFree(op) &&
         !isa<ReduceOp, ScanOp, GatherOp>(op);
}

std::optional<double>
layout_conversions::getElementCost(Operation *op,
                                   const RepeatableReads &reads) {
  if (!mayRepeat(op, reads))
    return std::nullopt;
  if (isLayoutFree(op) ||
      isa<BroadcastOp, ExpandDimsOp, TransOp, ReshapeOp, JoinOp, SplitOp,
          BitcastOp, arith::BitcastOp, PtrToIntOp, IntToPtrOp>(op))
    return 0;
  // Shifts, or a multiplication and its corrections.
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op) &&
      matchPattern(op->getOperand(1), m_Constant()))
    return 4;
  if (isa<arith::DivFOp, arith::DivSIOp, arith::DivUIOp, arith::RemFOp,
          arith::RemSIOp, arith::RemUIOp, arith::CeilDivSIOp,
          arith::CeilDivUIOp, arith::FloorDivSIOp, PreciseDivFOp, PreciseSqrtOp,
          ExternElementwiseOp, MapElementwiseOp>(op))
    return 16;
  if (isa_and_nonnull<math::MathDialect>(op->getDialect()))
    return isa<math::FmaOp, math::AbsFOp, math::AbsIOp>(op) ? 1 : 8;
  if (isa<FpToFpOp, ElementwiseInlineAsmOp>(op))
    return 4;
  // A read that may meet bank conflicts.
  if (isa<LocalLoadOp>(op))
    return 2;
  // Small, so most likely in the first-level cache by now.
  if (isa<LoadOp>(op))
    return 8;
  return 1;
}

std::optional<double> layout_conversions::getScanCost(ScanOp scan,
                                                      Attribute layout) {
  auto type = cast<RankedTensorType>(scan.getInputTypes().front());
  ScanPlan plan(scan, toLinearLayout(cloneWithEncoding(type, layout)));
  if (!plan.unsupported.empty())
    return std::nullopt;
  double words = 0;
  for (Type element : scan.getElementTypes())
    words += std::max(getElementBitWidth(element) / 32, 1u);
  double registers =
      plan.layout.removeZeroBasesAlongDim(kRegister).getInDimSize(kRegister);
  double runs = registers / (1u << llvm::popcount(plan.lowRegisterBits));
  // Each element meets its neighbour and what comes before its run.
  double combine = scan.getRegion().front().getOperations().size();
  double cost = 2 * registers * combine;
  cost += kShuffle * words * runs * llvm::popcount(plan.laneBits);
  // For each run, threads fold what all warps have of its row.
  if (plan.spansWarps())
    cost += kRoundTrip + kThroughShared * words * runs +
            runs * plan.getNumAxisWarps() * (combine + words);
  return cost;
}

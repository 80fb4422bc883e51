//===-- TMEMLoadReduce.cpp - triton-nvidia-tmem-load-reduce ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "nvidia/TargetTable.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h"

#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"
#include "tile/Dialect/TritonGPU/Transforms/ConvertTo.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#define DEBUG_TYPE "triton-nvidia-tmem-load-reduce"

namespace mlir::triton::nvidia {
#define GEN_PASS_DEF_TRITONNVIDIATMEMLOADREDUCE
#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h.inc"
} // namespace mlir::triton::nvidia

using namespace mlir;
using namespace mlir::triton;
using nvidia_gpu::RedOp;
using nvidia_gpu::TMEMLoadOp;

namespace {

struct Comparison {
  RedOp kind;
  /// A NaN among the elements is the result.
  bool keepsNaN;
};

/// What `op` compares its elements by, if that is all it does.
std::optional<Comparison> getComparison(ReduceOp op) {
  Block &combine = op.getCombineOp().front();
  if (op.getSrcs().size() != 1 || combine.getOperations().size() != 2)
    return std::nullopt;
  // Both arguments are compared, in whatever order.
  Operation &compare = combine.front();
  Operation *end = combine.getTerminator();
  if (compare.getNumOperands() != 2 || end->getNumOperands() != 1 ||
      end->getOperand(0).getDefiningOp() != &compare ||
      !std::is_permutation(compare.operand_begin(), compare.operand_end(),
                           combine.args_begin()))
    return std::nullopt;
  if (isa<arith::MaxNumFOp>(compare))
    return Comparison{RedOp::MAX, false};
  if (isa<arith::MinNumFOp>(compare))
    return Comparison{RedOp::MIN, false};
  if (isa<arith::MaximumFOp>(compare))
    return Comparison{RedOp::MAX, true};
  if (isa<arith::MinimumFOp>(compare))
    return Comparison{RedOp::MIN, true};
  return std::nullopt;
}

/// Whether each warp loads whole rows. Its lanes exchange what they have.
bool loadsWholeRows(RankedTensorType type) {
  LinearLayout layout = triton::gpu::toLinearLayout(type);
  for (StringRef inDim : {kWarp, kBlock})
    for (unsigned bit = 0; bit < layout.getInDimSizeLog2(inDim); ++bit)
      if (layout.getBasis(inDim, bit, kDim(1)))
        return false;
  return true;
}

/// A load whose rows are reduced.
struct Reduced {
  TMEMLoadOp load;
  bool isAbs;
};

std::optional<Reduced> getReduced(ReduceOp op) {
  Value value = op.getSrcs().front();
  bool isAbs = false;
  while (true) {
    if (auto convert = value.getDefiningOp<triton::gpu::ConvertLayoutOp>()) {
      value = convert.getSrc();
    } else if (auto abs = value.getDefiningOp<math::AbsFOp>()) {
      value = abs.getOperand();
      isAbs = true;
    } else {
      break;
    }
  }
  auto load = value.getDefiningOp<TMEMLoadOp>();
  if (!load || load.getRedOp())
    return std::nullopt;
  RankedTensorType type = load.getResult().getType();
  if (type.getRank() != 2 || op.getAxis() != 1 ||
      !type.getElementType().isF32() || !loadsWholeRows(type))
    return std::nullopt;
  return Reduced{load, isAbs};
}

struct TMEMLoadReduce
    : nvidia::impl::TritonNvidiaTMEMLoadReduceBase<TMEMLoadReduce> {
  using Base::Base;

  void runOnOperation() override {
    FailureOr<const NVIDIATarget *> target = getNVIDIATarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    if (!(*target)->hasTensorMemoryReduction)
      return;
    getOperation().walk([&](ReduceOp op) {
      std::optional<Comparison> comparison = getComparison(op);
      if (!comparison)
        return;
      if (std::optional<Reduced> reduced = getReduced(op)) {
        fuse(op, *reduced, *comparison);
        ++numReductions;
      }
    });
  }

private:
  static void fuse(ReduceOp op, Reduced reduced, Comparison comparison) {
    TMEMLoadOp load = reduced.load;
    RankedTensorType type = load.getResult().getType();
    MLIRContext *context = op.getContext();
    auto rows = RankedTensorType::get(
        {type.getShape()[0]}, type.getElementType(),
        triton::gpu::SliceEncodingAttr::get(context, 1, type.getEncoding()));
    OpBuilder builder(load);
    Type token = load.getToken() ? load.getToken().getType() : Type();
    auto fused = TMEMLoadOp::create(
        builder, load.getLoc(), type, token, rows, load.getSrc(), load.getDep(),
        nvidia_gpu::RedOpAttr::get(context, comparison.kind), reduced.isAbs,
        comparison.keepsNaN);
    fused->setDiscardableAttrs(load->getDiscardableAttrDictionary());
    load.getResult().replaceAllUsesWith(fused.getResult());
    if (load.getToken())
      load.getToken().replaceAllUsesWith(fused.getToken());
    load.erase();
    builder.setInsertionPoint(op);
    Value result = op.getResult().front();
    result.replaceAllUsesWith(triton::gpu::convertTo(
        builder, op.getLoc(), fused.getRed(),
        cast<RankedTensorType>(result.getType()).getEncoding()));
    Value value = op.getSrcs().front();
    op.erase();
    // What led from the load to the reduction, and serves nobody else.
    while (Operation *def = value.getDefiningOp()) {
      if (def == fused || !def->use_empty())
        break;
      value = def->getOperand(0);
      def->erase();
    }
  }
};
} // namespace

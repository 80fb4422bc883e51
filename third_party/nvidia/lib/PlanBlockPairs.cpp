//===-- PlanBlockPairs.cpp - plan-block-pairs-nv --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Two blocks of a cluster divide the rows of a dot. Each needs all of B. They
// may multiply one by one, each from a copy of B of its own. Or their tensor
// cores work together: each block has half of the columns of B, and both tensor
// cores read both halves.
//
// Loads have to know this, before their layouts are chosen. All tcgen05
// instructions of a kernel agree on it. So it is decided first, for all dots of
// a module.
//
// The cost counts cycles of the two parts that a dot keeps busy (DotCost.h):
// the tensor core, and shared memory, where copies write what the tensor core
// reads. A cluster barrier comes before each dot. In a loop, it is hidden
// behind the dot before, if that takes long enough. Where other warps copy for
// the dot, there is none: the copies of both blocks arrive at one mbarrier.
//
// Two dots could share a cluster barrier, if the copies of both came first. A
// dot of twice the size along K has the same buffers, and does just that.
//
//===----------------------------------------------------------------------===//

#include "BlockPairs.h"
#include "TensorMemoryProducts.h"

#include "nvidia/TargetModel.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h"

#include "tile/Analysis/LoopSchedule.h"
#include "tile/Dialect/TritonGPU/IR/DivisionAttributes.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/TensorMemoryLayout.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/DotCost.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "plan-block-pairs-nv"

namespace mlir::triton::nvidia {
#define GEN_PASS_DEF_PLANBLOCKPAIRSNV
#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h.inc"
} // namespace mlir::triton::nvidia

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia;
namespace ttg = mlir::triton::gpu;

namespace {

/// What a thread stores to shared memory at once.
constexpr unsigned kStoreBits = 128;

/// What an operand is loaded by, if all that comes in between are other
/// layouts.
Operation *findLoad(Value operand) {
  Operation *def = operand.getDefiningOp();
  while (isa_and_nonnull<ttg::ConvertLayoutOp, TransOp>(def))
    def = def->getOperand(0).getDefiningOp();
  return def;
}

/// Whether other warps are to copy for the dot: the program asks for it, and
/// they can.
bool isFedByOtherWarps(DotOp op) {
  return ttg::LoopPlan(op->getParentOp()).isInWarpSpecialized() &&
         isa_and_nonnull<DescriptorLoadOp>(findLoad(op.getA())) &&
         isa_and_nonnull<DescriptorLoadOp>(findLoad(op.getB()));
}

/// Why two blocks cannot multiply a dot together that each of them could
/// multiply by itself, or should not; empty if they should.
std::string findObstacleOfPair(DotOp op) {
  constexpr int64_t kRows = 128, kLeastColumns = 32, kMostColumns = 256;
  constexpr int64_t kPanelBytes = 128;
  SmallVector<int64_t> shape = ttg::getShapePerCTA(op.getType());
  RankedTensorType a = op.getA().getType();
  int64_t bytes = a.getElementTypeBitWidth() / 8;
  if (shape[0] % kRows)
    return "each block has fewer than 128 rows";
  if (shape[1] < kLeastColumns || shape[1] > kMostColumns)
    return "it has fewer than 32 columns, or more than 256";
  Value loaded = op.getB();
  while (auto convert = loaded.getDefiningOp<ttg::ConvertLayoutOp>())
    loaded = convert.getSrc();
  bool liesAlongK = bool(loaded.getDefiningOp<TransOp>());
  if (!liesAlongK && shape[1] / 2 * bytes % kPanelBytes)
    return "half of a row of its right operand is no multiple of 128 bytes";
  nvidia_gpu::DotTile tile{shape[0], shape[1], a.getShape().back() * bytes};
  int64_t tensor = tile.countTensorCycles();
  int64_t alone = std::max(tensor, tile.countSharedCycles(shape[1])),
          barrier = isFedByOtherWarps(op) ? 0 : nvidia_gpu::kBarrierCycles,
          together =
              std::max({tensor, tile.countSharedCycles(shape[1] / 2), barrier});
  if (together >= alone)
    return ("a pair would take " + Twine(together) +
            " cycles for it, and one block alone " + Twine(alone))
        .str();
  return "";
}

struct PlanBlockPairs : nvidia::impl::PlanBlockPairsNVBase<PlanBlockPairs> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    constexpr unsigned kBlocks = 2;
    if (ttg::lookupNumCTAs(module) != kBlocks)
      return;
    FailureOr<const NVIDIATarget *> target = getNVIDIATarget(module);
    if (failed(target))
      return signalPassFailure();
    if (!(*target)->hasTensorMemory)
      return;
    SmallVector<DotOp> dots;
    std::optional<std::pair<Operation *, std::string>> obstacle;
    module.walk([&](Operation *op) {
      if (isa<DotScaledOp>(op))
        obstacle = {op, "there is a dot with scales"};
      auto dot = dyn_cast<DotOp>(op);
      if (!dot || !canSumInTensorMemory(dot, TargetModel(**target)))
        return;
      dots.push_back(dot);
      if (std::string why = findObstacleOfPair(dot); !why.empty())
        obstacle = {op, why};
    });
    if (dots.empty())
      return;
    if (obstacle) {
      remark::missed(obstacle->first->getLoc(),
                     remark::RemarkOpts::name("blocks-multiply-alone")
                         .category(DEBUG_TYPE))
          << StringRef("the two blocks of its cluster multiply one by one, and "
                       "not together: " +
                       obstacle->second);
      return;
    }
    module->setAttr(nvidia_gpu::kTwoCTAsAttrName,
                    BoolAttr::get(&getContext(), true));
    for (DotOp dot : dots)
      plan(dot);
    numProducts += dots.size();
  }

private:
  /// A conversion in front of the operand says how it is divided. Whoever
  /// chooses the layout of a load behind it reads it there.
  static void plan(DotOp dot) {
    OpBuilder builder(dot);
    Value operand = dot.getB();
    Type type = operand.getType();
    while (auto convert = operand.getDefiningOp<ttg::ConvertLayoutOp>())
      operand = convert.getSrc();
    RankedTensorType divided =
        divideColumns(cast<RankedTensorType>(operand.getType()), dot);
    LDBG() << "blocks of a pair share " << operand << " as " << divided;
    auto half =
        ttg::ConvertLayoutOp::create(builder, dot.getLoc(), divided, operand);
    half->setAttr(ttg::kDividesOperandAttrName, builder.getUnitAttr());
    dot.getBMutable().assign(
        ttg::ConvertLayoutOp::create(builder, dot.getLoc(), type, half));
  }
};

} // namespace

bool nvidia::isPlannedInPairs(Operation *op) {
  auto module = op->getParentOfType<ModuleOp>();
  auto flag = module->getAttrOfType<BoolAttr>(nvidia_gpu::kTwoCTAsAttrName);
  return flag && flag.getValue();
}

ttg::CTALayoutAttr nvidia::getDivisionOfColumns(MLIRContext *context) {
  unsigned blocks[] = {1, 2}, order[] = {1, 0};
  return ttg::CTALayoutAttr::get(context, /*CTAsPerCGA=*/blocks,
                                 /*CTASplitNum=*/blocks, order);
}

RankedTensorType nvidia::divideColumns(RankedTensorType type, Operation *op) {
  return divideAs(type, getDivisionOfColumns(type.getContext()), op);
}

RankedTensorType nvidia::divideAs(RankedTensorType type,
                                  ttg::CTALayoutAttr division, Operation *op) {
  MLIRContext *context = type.getContext();
  if (auto blocked = dyn_cast<ttg::BlockedEncodingAttr>(type.getEncoding()))
    return ttg::cloneWithEncoding(
        type, ttg::BlockedEncodingAttr::get(context, blocked.getSizePerThread(),
                                            blocked.getThreadsPerWarp(),
                                            blocked.getWarpsPerCTA(),
                                            blocked.getOrder(), division));
  SmallVector<unsigned> order = ttg::getOrder(type), size(type.getRank(), 1);
  size[order.front()] = kStoreBits / type.getElementTypeBitWidth();
  return ttg::cloneWithEncoding(
      type, ttg::BlockedEncodingAttr::get(
                context, type.getShape(), size, order, ttg::lookupNumWarps(op),
                ttg::lookupThreadsPerWarp(op), division));
}

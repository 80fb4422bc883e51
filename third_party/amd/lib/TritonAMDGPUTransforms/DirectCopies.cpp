//===-- DirectCopies.cpp - Operands straight into LDS ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OperandEncodings.h"
#include "amd/IR/AttributeNames.h"
#include "amd/TritonAMDGPUTransforms/CopyEngines.h"

#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"

#include "llvm/Support/DebugLog.h"
#include "llvm/Support/MathExtras.h"

#define DEBUG_TYPE "tritonamdgpu-coalesce-async-copy"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

/// Gives out elements in the order of their offsets in the buffer. As many as
/// `bytes` hold go to a lane, then to the other lanes, then to the waves. The
/// rest goes to a lane again.
static std::optional<LinearLayout> getLayout(AsyncCopyGlobalToLocalOp copy,
                                             unsigned bytes) {
  MemDescType type = copy.getResult().getType();
  unsigned bits = type.getElementType().getIntOrFloatBitWidth();
  if (isa<PaddedSharedEncodingAttr>(type.getEncoding()) || bits < 8)
    return std::nullopt;
  LinearLayout memory = toLinearLayout(type);
  unsigned vector = llvm::Log2_32(8 * bytes / bits),
           lanes = llvm::Log2_32(lookupThreadsPerWarp(copy)),
           warps = llvm::Log2_32(lookupNumWarps(copy));
  unsigned all = memory.getInDimSizeLog2(kOffset);
  if (8 * bytes < bits || all < vector + lanes + warps)
    return std::nullopt;
  LinearLayout::DimBases offsets;
  for (const auto &[name, bases] : memory.getBases())
    if (name == kOffset)
      offsets = bases;
  auto take = [&](unsigned from, unsigned count) {
    return LinearLayout::DimBases(offsets.begin() + from,
                                  offsets.begin() + from + count);
  };
  LinearLayout::DimBases registers = take(0, vector);
  llvm::append_range(
      registers, take(vector + lanes + warps, all - vector - lanes - warps));
  LinearLayout::Bases bases;
  bases.emplace_back(kRegister, registers);
  bases.emplace_back(kLane, take(vector, lanes));
  bases.emplace_back(kWarp, take(vector + lanes, warps));
  bases.emplace_back(kBlock, LinearLayout::DimBases());
  return LinearLayout(bases, memory.getOutDims(),
                      /*requireSurjective=*/true);
}

SmallVector<Operation *> amd::layOutCopy(AsyncCopyGlobalToLocalOp copy) {
  const AMDTarget &facts = TargetModel::of(copy).getFacts();
  // Elsewhere each lane says where it writes.
  if (!facts.directLoadBytes || facts.hasAsyncLDSLoads)
    return {};
  std::optional<LinearLayout> layout = getLayout(copy, facts.directLoadBytes);
  if (!layout)
    return {};
  LDBG() << copy << " gets " << layout->toString();
  auto encoding = LinearEncodingAttr::get(copy.getContext(), *layout);
  OpBuilder b(copy);
  SmallVector<Operation *> conversions;
  for (OpOperand &operand : copy->getOpOperands())
    if (auto type = dyn_cast<RankedTensorType>(operand.get().getType());
        type && type.getEncoding() != encoding) {
      auto convert = ConvertLayoutOp::create(
          b, copy.getLoc(), cloneWithEncoding(type, encoding), operand.get());
      operand.set(convert);
      conversions.push_back(convert);
    }
  return conversions;
}

namespace {
class DirectCopies final : public ThreadCopies {
public:
  bool canCopy(Operation *op, scf::ForOp loop) const override {
    return op->hasAttr(amd::kDirectCopyAttrName);
  }

  Attribute chooseEncoding(Operation *load) const override {
    return amd::getOperandSharedEncoding(cast<LoadOp>(load), amd::kDirectBytes);
  }

  bool hasSpareBuffer() const override { return true; }

  SmallVector<Operation *> start(OpBuilder &builder, Operation *load,
                                 Value slot, Value barrier,
                                 unsigned contiguity) const override {
    // What is known of addresses together, lowering finds out.
    Operation *copy =
        ThreadCopies::start(builder, load, slot, barrier, /*contiguity=*/1)
            .back();
    SmallVector<Operation *> ops =
        amd::layOutCopy(cast<AsyncCopyGlobalToLocalOp>(copy));
    ops.push_back(copy);
    return ops;
  }
};
} // namespace

const CopyStrategy &amd::getDirectCopies() {
  static const DirectCopies copies;
  return copies;
}

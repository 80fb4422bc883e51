//===-- InThreadTranspose.cpp - Operands that memory has the other way ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OperandEncodings.h"
#include "amd/TritonAMDGPUTransforms/Passes.h"

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tritonamdgpu-in-thread-transpose"

namespace mlir::triton::amd {
#define GEN_PASS_DEF_TRITONAMDGPUINTHREADTRANSPOSE
#include "amd/TritonAMDGPUTransforms/Passes.h.inc"
} // namespace mlir::triton::amd

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {

/// The load whose elements `convert` makes an operand of, by way of arithmetic
/// on each of them; null if there is none, or it has other uses.
LoadOp findLoad(ConvertLayoutOp convert) {
  Value value = convert.getSrc();
  while (value.hasOneUse()) {
    Operation *def = value.getDefiningOp();
    if (auto load = dyn_cast_if_present<LoadOp>(def))
      return load;
    bool keepsPlaces = def && (isa<ConvertLayoutOp>(def) ||
                               def->hasTrait<mlir::OpTrait::Elementwise>());
    if (!keepsPlaces || !isMemoryEffectFree(def) || def->getNumOperands() != 1)
      return {};
    value = def->getOperand(0);
  }
  return {};
}

/// A layout in which lanes of a load hold neighbours along `k`, two or more;
/// null if the layout is good already, or there are too few elements.
BlockedEncodingAttr getTransposable(LoadOp load, unsigned k, unsigned kWidth) {
  auto type = cast<RankedTensorType>(load.getType());
  auto blocked = dyn_cast<BlockedEncodingAttr>(type.getEncoding());
  if (!blocked || type.getRank() != 2 || blocked.getOrder()[0] == k ||
      !type.getElementType().isIntOrFloat())
    return {};
  constexpr unsigned kWordBits = 32;
  unsigned bits = type.getElementTypeBitWidth();
  if (bits < 8 || bits >= kWordBits || kWidth * bits < kWordBits)
    return {};
  int numWarps = lookupNumWarps(load), lanes = lookupThreadsPerWarp(load);
  SmallVector<int64_t> shape = getShapePerCTA(type);
  int64_t elements = shape[0] * shape[1] / (numWarps * lanes);
  unsigned other = 1 - k;
  int64_t neighbours = blocked.getSizePerThread()[other];
  int64_t alongK = std::max<int64_t>(elements / neighbours, 1);
  alongK = std::min({alongK, int64_t(kWidth), shape[k]});
  // Narrower loads cost less than elements that are read one by one.
  constexpr unsigned kLeastLoadBits = 16, kLeastAlongK = 2;
  while (alongK < kLeastAlongK && neighbours * bits > kLeastLoadBits) {
    neighbours /= 2;
    alongK *= 2;
  }
  if (alongK < kLeastAlongK || alongK > shape[k] ||
      alongK * neighbours > elements)
    return {};
  SmallVector<unsigned> size(2);
  size[k] = alongK;
  size[other] = neighbours;
  return BlockedEncodingAttr::get(load.getContext(), type.getShape(), size,
                                  blocked.getOrder(), numWarps, lanes,
                                  blocked.getCTALayout());
}

struct InThreadTranspose
    : amd::impl::TritonAMDGPUInThreadTransposeBase<InThreadTranspose> {
  void runOnOperation() override {
    auto module = dyn_cast<ModuleOp>(getOperation());
    if (!module)
      module = getOperation()->getParentOfType<ModuleOp>();
    auto machine = amd::TargetModel::get(module);
    if (failed(machine))
      return signalPassFailure();
    SmallVector<ConvertLayoutOp> converts;
    // What selection left behind would be another use of the load.
    getOperation()->walk([&](ConvertLayoutOp convert) {
      if (convert->use_empty())
        convert.erase();
      else
        converts.push_back(convert);
    });
    for (ConvertLayoutOp convert : converts) {
      auto operand =
          dyn_cast<DotOperandEncodingAttr>(convert.getType().getEncoding());
      if (!operand ||
          !isa<AMDMfmaEncodingAttr, AMDWmmaEncodingAttr>(operand.getParent()))
        continue;
      LoadOp load = findLoad(convert);
      // Loads from LDS that transpose do better.
      if (!load || amd::mayTransposeLoads(convert.getType(), **machine))
        continue;
      unsigned k = amd::getInnerDim(operand, convert.getType().getRank());
      BlockedEncodingAttr layout =
          getTransposable(load, k, operand.getKWidth());
      if (!layout)
        continue;
      LDBG() << load << " gets " << layout;
      setLayout(load, layout);
      ++numTransposed;
    }
  }

private:
  static void setLayout(LoadOp load, BlockedEncodingAttr layout) {
    OpBuilder builder(load);
    Location loc = load.getLoc();
    auto withLayout = [&](Value value) {
      return cloneWithEncoding(cast<RankedTensorType>(value.getType()), layout);
    };
    for (OpOperand &operand : load->getOpOperands())
      if (isa<RankedTensorType>(operand.get().getType()))
        operand.set(ConvertLayoutOp::create(
            builder, loc, withLayout(operand.get()), operand.get()));
    Value result = load.getResult();
    Type before = result.getType();
    result.setType(withLayout(result));
    builder.setInsertionPointAfter(load);
    auto back = ConvertLayoutOp::create(builder, loc, before, result);
    result.replaceAllUsesExcept(back, back);
  }
};
} // namespace

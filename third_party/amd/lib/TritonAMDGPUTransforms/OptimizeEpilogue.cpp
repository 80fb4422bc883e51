//===-- OptimizeEpilogue.cpp - Results straight to memory -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "amd/TritonAMDGPUTransforms/Passes.h"

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"

#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tritonamdgpu-optimize-epilogue"

namespace mlir::triton::amd {
#define GEN_PASS_DEF_TRITONAMDGPUOPTIMIZEEPILOGUE
#include "amd/TritonAMDGPUTransforms/Passes.h.inc"
} // namespace mlir::triton::amd

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {

/// Whether lanes write enough neighbours with one instruction, as they hold the
/// elements of `result`, to memory that `pointers` goes through in its order.
bool isWideEnough(RankedTensorType result, RankedTensorType pointers) {
  constexpr unsigned kLeastBits = 64;
  if (!isa<AMDMfmaEncodingAttr, AMDWmmaEncodingAttr>(result.getEncoding()))
    return false;
  unsigned contiguous = getOrder(pointers).front();
  unsigned bits = getElementBitWidth(result);
  return getContigPerThread(result)[contiguous] * bits >= kLeastBits &&
         getContigPerThread(pointers)[contiguous] * bits >= kLeastBits;
}

struct OptimizeEpilogue
    : amd::impl::TritonAMDGPUOptimizeEpilogueBase<OptimizeEpilogue> {
  void runOnOperation() override {
    getOperation().walk([&](StoreOp store) {
      auto convert = store.getValue().getDefiningOp<ConvertLayoutOp>();
      if (!convert ||
          !isWideEnough(convert.getSrc().getType(), convert.getType()))
        return;
      LDBG() << store << " gets the layout of " << convert.getSrc();
      Attribute layout = convert.getSrc().getType().getEncoding();
      OpBuilder builder(store);
      auto toLayout = [&](Value value) -> Value {
        auto type = cast<RankedTensorType>(value.getType());
        return ConvertLayoutOp::create(builder, store.getLoc(),
                                       cloneWithEncoding(type, layout), value);
      };
      store.getPtrMutable().assign(toLayout(store.getPtr()));
      store.getValueMutable().assign(convert.getSrc());
      if (Value mask = store.getMask())
        store.getMaskMutable().assign(toLayout(mask));
      if (convert->use_empty())
        convert.erase();
      ++numStores;
    });
  }
};
} // namespace

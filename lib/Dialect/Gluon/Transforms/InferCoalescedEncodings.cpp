//===-- InferCoalescedEncodings.cpp - Layouts left to memory accesses -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LayoutPropagation.h"

#include "tile/Analysis/AxisInfo.h"
#include "tile/Dialect/Gluon/IR/Dialect.h"
#include "tile/Dialect/Gluon/Transforms/Passes.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/Transforms/CoalescedAccess.h"
#include "tile/Dialect/TritonGPU/Transforms/LayoutInference.h"

#include <numeric>

namespace mlir::triton::gluon {
#define GEN_PASS_DEF_GLUONINFERCOALESCEDENCODINGS
#include "tile/Dialect/Gluon/Transforms/Passes.h.inc"
} // namespace mlir::triton::gluon

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gluon;

static bool isCoalesced(Attribute layout) {
  return isa<CoalescedEncodingAttr>(layout);
}

namespace {
struct InferCoalescedEncodings
    : gluon::impl::GluonInferCoalescedEncodingsBase<InferCoalescedEncodings> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<Operation *> operations;
    module.walk([&](Operation *op) {
      Value pointers = gpu::getAccessedPointers(op);
      Attribute layout = pointers ? gpu::getLayout(pointers) : Attribute();
      if (layout && isCoalesced(layout))
        operations.push_back(op);
    });
    if (operations.empty())
      return;
    separateConstants(module, isCoalesced);

    ModuleAxisInfoAnalysis axisInfo(module);
    SmallVector<gpu::CoalescedAccess> accesses;
    for (Operation *op : operations)
      accesses.push_back(gpu::describeAccess(op, axisInfo));
    // The widest first; in program order among equals.
    SmallVector<size_t> order(accesses.size());
    std::iota(order.begin(), order.end(), 0);
    llvm::sort(order, [&](size_t a, size_t b) {
      return std::pair(-accesses[a].vector, a) <
             std::pair(-accesses[b].vector, b);
    });
    LayoutPropagation layouts(module, isCoalesced);
    for (size_t i : order) {
      const gpu::CoalescedAccess &access = accesses[i];
      Value pointers = gpu::getAccessedPointers(access.op);
      if (layouts.isDecided(pointers))
        continue;
      auto type = cast<RankedTensorType>(pointers.getType());
      auto ctas = gpu::CTALayoutAttr::getSplit(&getContext(),
                                               gpu::lookupNumCTAs(access.op),
                                               type.getShape(), access.order);
      Attribute layout =
          gpu::getCoalescedLayout(access, type.getShape(), access.vector, ctas);
      if (failed(layouts.decide(pointers, layout, access.op)))
        return signalPassFailure();
      ++numAccesses;
    }
    layouts.apply();
  }
};
} // namespace

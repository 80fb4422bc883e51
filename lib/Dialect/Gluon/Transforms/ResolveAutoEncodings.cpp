//===-- ResolveAutoEncodings.cpp - Layouts left to those around -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LayoutPropagation.h"

#include "tile/Dialect/Gluon/IR/Dialect.h"
#include "tile/Dialect/Gluon/Transforms/Passes.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/Transforms/LayoutInference.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/RegionUtils.h"

namespace mlir::triton::gluon {
#define GEN_PASS_DEF_GLUONRESOLVEAUTOENCODINGS
#include "tile/Dialect/Gluon/Transforms/Passes.h.inc"
} // namespace mlir::triton::gluon

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gluon;

static bool isAuto(Attribute layout) { return isa<AutoEncodingAttr>(layout); }

/// The first value whose layout is still open; null if there is none.
static Value findOpen(Operation *root) {
  Value found;
  auto look = [&](ValueRange values) {
    for (Value value : values)
      if (Attribute layout = gpu::getLayout(value); layout && isAuto(layout))
        found = value;
    return found ? WalkResult::interrupt() : WalkResult::advance();
  };
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (look(op->getResults()).wasInterrupted())
      return WalkResult::interrupt();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (look(block.getArguments()).wasInterrupted())
          return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return found;
}

namespace {
struct ResolveAutoEncodings
    : gluon::impl::GluonResolveAutoEncodingsBase<ResolveAutoEncodings> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    // What nothing uses needs no layout.
    IRRewriter rewriter(&getContext());
    (void)runRegionDCE(rewriter, module->getRegions());
    separateConstants(module, isAuto);
    LayoutPropagation layouts(module, isAuto);
    SmallVector<SetAutoLayoutOp> anchors;
    module.walk([&](SetAutoLayoutOp op) { anchors.push_back(op); });
    for (SetAutoLayoutOp op : anchors)
      if (failed(layouts.decide(op.getSrc(), op.getType().getEncoding(), op)))
        return signalPassFailure();
    layouts.apply();
    for (SetAutoLayoutOp op : anchors) {
      op.replaceAllUsesWith(op.getSrc());
      op.erase();
    }
    numResolved += layouts.size();
    if (Value open = findOpen(module)) {
      emitError(open.getLoc())
          << "the layout of this tensor is left open, and nothing decides it: "
             "give it one, or use it together with a tensor that has one";
      signalPassFailure();
    }
  }
};
} // namespace

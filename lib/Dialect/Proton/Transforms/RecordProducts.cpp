//===-- RecordProducts.cpp - Scopes around matrix products ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Dialect/Proton/IR/Dialect.h"
#include "tile/Dialect/Proton/Transforms/Passes.h"
#include "tile/Dialect/Triton/IR/Dialect.h"

namespace mlir::triton::proton {
#define GEN_PASS_DEF_PROTONRECORDPRODUCTS
#include "tile/Dialect/Proton/Transforms/Passes.h.inc"
} // namespace mlir::triton::proton

using namespace mlir;
using namespace mlir::triton;

namespace {
struct ProtonRecordProducts
    : proton::impl::ProtonRecordProductsBase<ProtonRecordProducts> {
  void runOnOperation() override {
    OpBuilder builder(&getContext());
    getOperation()->walk([&](MatrixProductOpInterface product) {
      builder.setInsertionPoint(product);
      record(builder, product.getLoc(), /*isStart=*/true);
      builder.setInsertionPointAfter(product);
      record(builder, product.getLoc(), /*isStart=*/false);
    });
  }

private:
  static void record(OpBuilder &builder, Location loc, bool isStart) {
    proton::RecordOp::create(builder, loc, /*isEvent=*/false, isStart, "mma");
  }
};
} // namespace

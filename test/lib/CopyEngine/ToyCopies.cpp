//===-- ToyCopies.cpp - Strategies of the toy copy engine -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ToyDialect.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {

class ToyCopies : public CopyStrategy {
public:
  explicit ToyCopies(bool withFlags) : withFlags(withFlags) {}

  bool canCopy(Operation *op, scf::ForOp loop) const override {
    auto load = dyn_cast<DescriptorLoadOp>(op);
    return load && loop.isDefinedOutsideOfLoop(load.getDesc());
  }

  Attribute chooseEncoding(Operation *op) const override {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    return SwizzledSharedEncodingAttr::get(type.getContext(), 1, 1, 1,
                                           getOrder(type),
                                           getCTALayout(type.getEncoding()));
  }

  bool isComplete(Operation *load) const override { return true; }

  Arrival getArrival() const override {
    return withFlags ? Arrival::Barrier : Arrival::Token;
  }

  SmallVector<Operation *> start(OpBuilder &builder, Operation *op, Value slot,
                                 Value barrier,
                                 unsigned contiguity) const override {
    auto load = cast<DescriptorLoadOp>(op);
    Value always = arith::ConstantIntOp::create(builder, load.getLoc(), 1, 1);
    auto copy = toy::CopyOp::create(
        builder, load.getLoc(), AsyncTokenType::get(load.getContext()),
        load.getDesc(), load.getIndices(), slot, always, barrier);
    return {always.getDefiningOp(), copy};
  }

  Operation *wait(OpBuilder &builder, Location loc,
                  ValueRange tokens) const override {
    return toy::WaitForCopiesOp::create(
        builder, loc, AsyncTokenType::get(builder.getContext()), tokens);
  }

private:
  bool withFlags;
};

} // namespace

const CopyStrategy &mlir::triton::toy::getCopiesWithTokens() {
  static const ToyCopies copies(/*withFlags=*/false);
  return copies;
}

const CopyStrategy &mlir::triton::toy::getCopiesWithFlags() {
  static const ToyCopies copies(/*withFlags=*/true);
  return copies;
}

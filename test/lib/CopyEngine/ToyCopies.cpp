//===-- ToyCopies.cpp - Strategies of the toy copy engine -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ToyDialect.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {

Attribute getRows(Operation *load) {
  auto type = cast<RankedTensorType>(load->getResult(0).getType());
  return SwizzledSharedEncodingAttr::get(type.getContext(), 1, 1, 1,
                                         getOrder(type),
                                         getCTALayout(type.getEncoding()));
}

class ToyCopies : public CopyStrategy {
public:
  explicit ToyCopies(Arrival arrival, bool isAhead = false)
      : arrival(arrival), isAhead(isAhead) {}

  bool canCopy(Operation *op, scf::ForOp loop) const override {
    auto load = dyn_cast<DescriptorLoadOp>(op);
    return load && loop.isDefinedOutsideOfLoop(load.getDesc());
  }

  Attribute chooseEncoding(Operation *load) const override {
    return getRows(load);
  }

  bool isComplete(Operation *load) const override { return true; }

  Arrival getArrival() const override { return arrival; }

  bool hasSpareBuffer() const override { return isAhead; }

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
  Arrival arrival;
  bool isAhead;
};

/// Threads store what they load.
class ToyStores : public CopyStrategy {
public:
  bool canCopy(Operation *op, scf::ForOp loop) const override {
    return isa<LoadOp>(op);
  }

  Attribute chooseEncoding(Operation *load) const override {
    return getRows(load);
  }

  bool isComplete(Operation *load) const override { return true; }

  Arrival getArrival() const override { return Arrival::Store; }

  SmallVector<Operation *> start(OpBuilder &builder, Operation *op, Value slot,
                                 Value barrier,
                                 unsigned contiguity) const override {
    Operation *load = builder.clone(*op);
    return {load, LocalStoreOp::create(builder, op->getLoc(),
                                       load->getResult(0), slot)};
  }
};

} // namespace

const CopyStrategy &mlir::triton::toy::getCopiesWithTokens() {
  static const ToyCopies copies(Arrival::Token);
  return copies;
}

const CopyStrategy &mlir::triton::toy::getCopiesWithFlags() {
  static const ToyCopies copies(Arrival::Barrier);
  return copies;
}

const CopyStrategy &mlir::triton::toy::getCopiesAhead() {
  static const ToyCopies copies(Arrival::Token, /*isAhead=*/true);
  return copies;
}

const CopyStrategy &mlir::triton::toy::getStores() {
  static const ToyStores stores;
  return stores;
}

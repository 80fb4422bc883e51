//===-- Dialect.cpp - Registration of the tt dialect ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "BlockOffsets.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/InliningUtils.h"
#include "tile/Support/AttributeNames.h"

using namespace mlir;
using namespace mlir::triton;

#include "tile/Dialect/Triton/IR/Dialect.cpp.inc"
#include "tile/Dialect/Triton/IR/OpsEnums.cpp.inc"

#define GET_OP_CLASSES
#include "tile/Dialect/Triton/IR/Ops.cpp.inc"

//===----------------------------------------------------------------------===//
// Inlining
//===----------------------------------------------------------------------===//

namespace {

struct TritonInlinerInterface : public DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *call, Operation *callable,
                       bool wouldBeCloned) const final {
    auto func = dyn_cast<FuncOp>(callable);
    return func && !func.isNoinline();
  }

  /// A body with control flow between blocks only fits where blocks may be
  /// added: not inside structured control flow, nor in a combine region.
  bool isLegalToInline(Region *dest, Region *src, bool wouldBeCloned,
                       IRMapping &mapping) const final {
    return src->hasOneBlock() ||
           !dest->getParentOp()->hasTrait<mlir::OpTrait::SingleBlock>();
  }

  bool isLegalToInline(Operation *op, Region *dest, bool wouldBeCloned,
                       IRMapping &mapping) const final {
    return true;
  }

  void handleTerminator(Operation *op, Block *newDest) const final {
    auto returnOp = dyn_cast<ReturnOp>(op);
    if (!returnOp)
      return;
    OpBuilder builder(op);
    cf::BranchOp::create(builder, op->getLoc(), newDest,
                         returnOp.getOperands());
    op->erase();
  }

  void handleTerminator(Operation *op, ValueRange valuesToReplace) const final {
    auto returnOp = cast<ReturnOp>(op);
    for (auto [toReplace, value] :
         llvm::zip_equal(valuesToReplace, returnOp.getOperands()))
      toReplace.replaceAllUsesWith(value);
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Dialect
//===----------------------------------------------------------------------===//

void TritonDialect::initialize() {
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "tile/Dialect/Triton/IR/Ops.cpp.inc"
      >();
  addInterfaces<TritonInlinerInterface>();
}

Operation *TritonDialect::materializeConstant(OpBuilder &builder,
                                              Attribute value, Type type,
                                              Location loc) {
  if (auto poison = dyn_cast<ub::PoisonAttr>(value))
    return ub::PoisonOp::create(builder, loc, type, poison);
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

const DialectInferLayoutInterface *
triton::getInferLayoutInterface(Attribute encoding,
                                std::optional<Location> loc) {
  const auto *interface =
      dyn_cast<DialectInferLayoutInterface>(&encoding.getDialect());
  if (!interface && loc)
    emitError(*loc) << "expected a tensor encoding of a layout dialect, found "
                    << encoding;
  return interface;
}

bool triton::areEquivalentTypes(Type lhs, Type rhs) {
  if (lhs == rhs)
    return true;
  auto lhsTensor = dyn_cast<RankedTensorType>(lhs);
  auto rhsTensor = dyn_cast<RankedTensorType>(rhs);
  if (!lhsTensor || !rhsTensor ||
      lhsTensor.getShape() != rhsTensor.getShape() ||
      lhsTensor.getElementType() != rhsTensor.getElementType() ||
      !lhsTensor.getEncoding() || !rhsTensor.getEncoding())
    return false;
  const auto *interface =
      getInferLayoutInterface(lhsTensor.getEncoding(), std::nullopt);
  return interface && succeeded(interface->verifyLayoutsAreEquivalent(
                          lhsTensor.getShape(), lhsTensor.getEncoding(),
                          rhsTensor.getEncoding(), std::nullopt));
}

bool triton::areEquivalentTypes(TypeRange lhs, TypeRange rhs) {
  return llvm::equal(lhs, rhs, [](Type one, Type other) {
    return areEquivalentTypes(one, other);
  });
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

TypedAttr triton::getSplatConstant(Value value) {
  Attribute attr;
  if (auto splat = value.getDefiningOp<SplatOp>()) {
    if (!matchPattern(splat.getSrc(), m_Constant(&attr)) ||
        !isa<IntegerAttr, FloatAttr>(attr))
      return {};
    return SplatElementsAttr::get(splat.getType(), attr);
  }
  if (!matchPattern(value, m_Constant(&attr)))
    return {};
  if (isa<IntegerAttr, FloatAttr, SplatElementsAttr>(attr))
    return cast<TypedAttr>(attr);
  return {};
}

static bool isConstant(Value value, int expected) {
  Attribute attr = getSplatConstant(value);
  if (auto splat = dyn_cast_if_present<SplatElementsAttr>(attr))
    attr = splat.getSplatValue<Attribute>();
  if (auto integer = dyn_cast_if_present<IntegerAttr>(attr))
    return integer.getValue() == expected;
  if (auto number = dyn_cast_if_present<FloatAttr>(attr))
    return number.getValue().isExactlyValue(expected);
  return false;
}

bool triton::isConstantOne(Value value) { return isConstant(value, 1); }

// Negative zero is not the neutral element that callers look for.
bool triton::isConstantZero(Value value) { return isConstant(value, 0); }

//===-- Dialect.cpp - Layouts that are still to be inferred ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Dialect/Gluon/IR/Dialect.h"
#include "tile/Dialect/Triton/IR/InlineAnywhere.h"

#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gluon;

#include "tile/Dialect/Gluon/IR/Dialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "tile/Dialect/Gluon/IR/AttrDefs.cpp.inc"
#define GET_OP_CLASSES
#include "tile/Dialect/Gluon/IR/Ops.cpp.inc"

namespace {
/// An open layout stays open, whatever is done to the tensor.
class OpenLayouts : public DialectInferLayoutInterface {
public:
  using DialectInferLayoutInterface::DialectInferLayoutInterface;

  FailureOr<Attribute>
  inferReduceLayout(Attribute src, unsigned,
                    std::optional<Location>) const override {
    return src;
  }
  FailureOr<Attribute>
  inferReduceOperandLayout(Attribute result, unsigned,
                           std::optional<Location>) const override {
    return result;
  }
  FailureOr<Attribute>
  inferExpandDimsLayout(Attribute src, unsigned,
                        std::optional<Location>) const override {
    return src;
  }
  FailureOr<Attribute>
  inferTransLayout(Attribute src, ArrayRef<int64_t>, ArrayRef<int32_t>,
                   std::optional<Location>) const override {
    return src;
  }
  FailureOr<Attribute>
  inferReshapeLayout(Attribute src, ArrayRef<int64_t>, ArrayRef<int64_t>,
                     std::optional<Location>) const override {
    return src;
  }
  FailureOr<Attribute> inferJoinLayout(Attribute src, ArrayRef<int64_t>,
                                       std::optional<Location>) const override {
    return src;
  }
  FailureOr<Attribute>
  inferSplitLayout(Attribute src, ArrayRef<int64_t>,
                   std::optional<Location>) const override {
    return src;
  }
  FailureOr<Attribute> inferCatLayout(Attribute src, ArrayRef<int64_t>,
                                      std::optional<Location>) const override {
    return src;
  }
  LogicalResult verifyDotLayouts(Operation *, Attribute, Attribute,
                                 Attribute) const override {
    return success();
  }
  LogicalResult
  verifyLayoutsAreEquivalent(ArrayRef<int64_t>, Attribute expected,
                             Attribute found,
                             std::optional<Location> loc) const override {
    if (expected == found)
      return success();
    if (loc)
      emitError(*loc) << "expected the layout " << expected << ", found "
                      << found;
    return failure();
  }
};
} // namespace

void GluonDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "tile/Dialect/Gluon/IR/AttrDefs.cpp.inc"
      >();
}

void GluonDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "tile/Dialect/Gluon/IR/Ops.cpp.inc"
      >();
  addInterfaces<InlineAnywhere, OpenLayouts>();
}

LogicalResult SetAutoLayoutOp::verify() {
  Attribute from = getSrc().getType().getEncoding();
  Attribute to = getResult().getType().getEncoding();
  if (!isa_and_nonnull<AutoEncodingAttr>(from))
    return emitOpError("expected a source of encoding #gluon.auto_encoding, "
                       "found ")
           << getSrc().getType();
  if (!to || isa<AutoEncodingAttr>(to))
    return emitOpError("expected a result with a layout of its own, found ")
           << getResult().getType();
  return success();
}

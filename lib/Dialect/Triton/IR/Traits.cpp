//===-- Traits.cpp - Traits of tt operations ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Dialect/Triton/IR/Traits.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;

/// Calls `check` on each operand and result type until one fails; the second
/// argument starts an error that names the operand or result. The arguments and
/// results of a function count as its own.
static LogicalResult forEachType(
    Operation *op,
    function_ref<LogicalResult(Type, function_ref<InFlightDiagnostic()>)>
        check) {
  auto checkAll = [&](TypeRange types, StringRef kind) -> LogicalResult {
    for (auto [i, type] : llvm::enumerate(types)) {
      auto makeErr = [&, i = i] {
        return op->emitOpError(kind) << " #" << i << ": ";
      };
      if (failed(check(type, makeErr)))
        return failure();
    }
    return success();
  };
  if (auto func = dyn_cast<FunctionOpInterface>(op))
    return success(succeeded(checkAll(func.getArgumentTypes(), "argument")) &&
                   succeeded(checkAll(func.getResultTypes(), "result")));
  return success(succeeded(checkAll(op->getOperandTypes(), "operand")) &&
                 succeeded(checkAll(op->getResultTypes(), "result")));
}

/// The tensor that `type` is, points to or describes; null if there is none.
static RankedTensorType getTensorOrBlock(Type type) {
  if (auto desc = dyn_cast<TensorDescType>(type))
    return desc.getBlockType();
  if (isBlockPointer(type))
    type = triton::getPointeeType(type);
  return dyn_cast<RankedTensorType>(type);
}

LogicalResult triton::OpTrait::impl::verifyTensorSize(Operation *op) {
  return forEachType(
      op, [](Type type, function_ref<InFlightDiagnostic()> makeErr) {
        RankedTensorType tensor = getTensorOrBlock(type);
        if (!tensor)
          return success();
        if (!tensor.hasStaticShape()) {
          makeErr() << "expected a static shape, found " << type;
          return failure();
        }
        int64_t numElements = tensor.getNumElements();
        if (numElements > maxTensorNumElements) {
          makeErr() << "expected at most " << maxTensorNumElements
                    << " elements, found " << numElements << " in " << type;
          return failure();
        }
        if (numElements <= 0) {
          makeErr() << "expected elements, found none in " << type;
          return failure();
        }
        // Layouts have powers of two; without one, any extents will do.
        if (tensor.getEncoding() && !llvm::isPowerOf2_64(numElements)) {
          makeErr() << "expected a power of two of elements, found "
                    << numElements << " in " << type;
          return failure();
        }
        return success();
      });
}

LogicalResult triton::OpTrait::impl::verifyTensorLayouts(Operation *op) {
  return forEachType(
      op, [op](Type type, function_ref<InFlightDiagnostic()> makeErr) {
        auto tensor = dyn_cast<RankedTensorType>(type);
        if (!tensor || !tensor.getEncoding())
          return success();
        const auto *interface = dyn_cast<DialectVerifyTensorLayoutInterface>(
            &tensor.getEncoding().getDialect());
        if (!interface)
          return success();
        return interface->verifyTensorLayout(tensor.getEncoding(), tensor, op,
                                             makeErr);
      });
}

//===----------------------------------------------------------------------===//
// Equal encodings and shapes
//===----------------------------------------------------------------------===//

namespace {

/// Compares a property of all the tensors it is shown to the first one.
template <typename Property> class SameAcrossTensors {
public:
  SameAcrossTensors(Operation *op, bool blockPointers, StringRef what,
                    Property property)
      : op(op), blockPointers(blockPointers), what(what), property(property) {}

  LogicalResult check(TypeRange types, StringRef kind) {
    for (auto [i, type] : llvm::enumerate(types)) {
      Type shown = blockPointers && isBlockPointer(type)
                       ? triton::getPointeeType(type)
                       : type;
      auto tensor = dyn_cast<RankedTensorType>(shown);
      if (!tensor)
        continue;
      if (!first) {
        first = tensor;
        continue;
      }
      if (property(tensor) != property(first))
        return op->emitOpError("expected the same ")
               << what << " in all tensors, found " << first << " and, as "
               << kind << " #" << i << ", " << tensor;
    }
    return success();
  }

private:
  Operation *op;
  bool blockPointers;
  StringRef what;
  Property property;
  RankedTensorType first;
};

} // namespace

static LogicalResult verifySameEncoding(Operation *op, bool blockPointers,
                                        bool results) {
  SameAcrossTensors same(op, blockPointers, "encoding",
                         [](RankedTensorType t) { return t.getEncoding(); });
  if (failed(same.check(op->getOperandTypes(), "operand")))
    return failure();
  return results ? same.check(op->getResultTypes(), "result") : success();
}

LogicalResult
triton::OpTrait::impl::verifySameOperandsEncoding(Operation *op,
                                                  bool blockPointers) {
  return verifySameEncoding(op, blockPointers, /*results=*/false);
}

LogicalResult
triton::OpTrait::impl::verifySameOperandsAndResultEncoding(Operation *op,
                                                           bool blockPointers) {
  return verifySameEncoding(op, blockPointers, /*results=*/true);
}

static LogicalResult verifySameLoadStoreShape(Operation *op, bool results) {
  SameAcrossTensors same(op, /*blockPointers=*/true, "shape",
                         [](RankedTensorType t) { return t.getShape(); });
  if (failed(same.check(op->getOperandTypes(), "operand")))
    return failure();
  return results ? same.check(op->getResultTypes(), "result") : success();
}

LogicalResult
triton::OpTrait::impl::verifySameLoadStoreOperandsShape(Operation *op) {
  return verifySameLoadStoreShape(op, /*results=*/false);
}

LogicalResult triton::OpTrait::impl::verifySameLoadStoreOperandsAndResultShape(
    Operation *op) {
  return verifySameLoadStoreShape(op, /*results=*/true);
}

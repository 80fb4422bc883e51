//===-- Interfaces.h - What the tt dialect asks of layout dialects --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITON_IR_INTERFACES_H
#define TILE_DIALECT_TRITON_IR_INTERFACES_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectInterface.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Support/LLVM.h"
#include <optional>

namespace mlir::triton {

/// The tt dialect knows tensor encodings only as opaque attributes. The dialect
/// that owns an encoding implements this interface. It says how each operation
/// that moves elements between positions transforms the encoding of its operand
/// into the one of its result. A method that fails has emitted an error at
/// `loc` if there is a location, and is silent otherwise.
class DialectInferLayoutInterface
    : public DialectInterface::Base<DialectInferLayoutInterface> {
public:
  DialectInferLayoutInterface(Dialect *dialect) : Base(dialect) {}

  /// tt.reduce along `axis`.
  virtual FailureOr<Attribute>
  inferReduceLayout(Attribute src, unsigned axis,
                    std::optional<Location> loc) const = 0;

  /// The other way round: an encoding of the operand of which `result` is the
  /// reduction.
  virtual FailureOr<Attribute>
  inferReduceOperandLayout(Attribute result, unsigned axis,
                           std::optional<Location> loc) const = 0;

  /// tt.expand_dims that inserts a dimension of size one at `axis`.
  virtual FailureOr<Attribute>
  inferExpandDimsLayout(Attribute src, unsigned axis,
                        std::optional<Location> loc) const = 0;

  /// tt.trans: dimension `i` of the result is dimension `order[i]` of the
  /// operand, whose shape is `shape`.
  virtual FailureOr<Attribute>
  inferTransLayout(Attribute src, ArrayRef<int64_t> shape,
                   ArrayRef<int32_t> order,
                   std::optional<Location> loc) const = 0;

  /// tt.reshape that keeps the row-major order of elements and moves none of
  /// them to another thread.
  virtual FailureOr<Attribute>
  inferReshapeLayout(Attribute src, ArrayRef<int64_t> srcShape,
                     ArrayRef<int64_t> dstShape,
                     std::optional<Location> loc) const = 0;

  /// tt.join of two tensors of shape `shape`.
  virtual FailureOr<Attribute>
  inferJoinLayout(Attribute src, ArrayRef<int64_t> shape,
                  std::optional<Location> loc) const = 0;

  /// tt.split of a tensor of shape `shape`, whose last dimension is 2.
  virtual FailureOr<Attribute>
  inferSplitLayout(Attribute src, ArrayRef<int64_t> shape,
                   std::optional<Location> loc) const = 0;

  /// tt.cat of two tensors of shape `shape`: no element leaves its thread.
  virtual FailureOr<Attribute>
  inferCatLayout(Attribute src, ArrayRef<int64_t> shape,
                 std::optional<Location> loc) const = 0;

  /// Whether operands of tt.dot with encodings `a` and `b` can feed a result of
  /// encoding `result`. Emits errors on `op`.
  virtual LogicalResult verifyDotLayouts(Operation *op, Attribute a,
                                         Attribute b,
                                         Attribute result) const = 0;

  /// Whether two encodings place the elements of a tensor of the given shape in
  /// the same way.
  virtual LogicalResult
  verifyLayoutsAreEquivalent(ArrayRef<int64_t> shape, Attribute expected,
                             Attribute found,
                             std::optional<Location> loc) const = 0;
};

/// Implemented by a dialect that owns tensor encodings, to reject encodings
/// that do not fit the tensor or the machine described by the module.
class DialectVerifyTensorLayoutInterface
    : public DialectInterface::Base<DialectVerifyTensorLayoutInterface> {
public:
  DialectVerifyTensorLayoutInterface(Dialect *dialect) : Base(dialect) {}

  /// Checks the encoding of a tensor operand or result of `op`, which belongs
  /// to the implementing dialect. `makeErr` starts an error that already names
  /// the operand or result.
  virtual LogicalResult
  verifyTensorLayout(Attribute layout, RankedTensorType type, Operation *op,
                     function_ref<InFlightDiagnostic()> makeErr) const = 0;
};

/// The interface of the dialect that owns `encoding`; emits an error and
/// returns null if it has none.
const DialectInferLayoutInterface *
getInferLayoutInterface(Attribute encoding, std::optional<Location> loc);

/// What an operation means to the choice of layouts.
enum class LayoutRole {
  /// Works in any layout: that of the operands decides about the results.
  Flexible,
  /// Can make its results in any layout for next to nothing.
  Free,
  /// Has layouts that were chosen on purpose, or by others: they should spread.
  Anchor,
  /// Has no say, though its layouts cannot simply be changed.
  Neutral,
};

/// True if the types are equal, or tensors of equal shape and element type with
/// equivalent encodings.
bool areEquivalentTypes(Type lhs, Type rhs);
bool areEquivalentTypes(TypeRange lhs, TypeRange rhs);

} // namespace mlir::triton

#include "tile/Dialect/Triton/IR/OpInterfaces.h.inc"

#endif // TILE_DIALECT_TRITON_IR_INTERFACES_H

//===-- Traits.h - Traits of tt operations --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITON_IR_TRAITS_H
#define TILE_DIALECT_TRITON_IR_TRAITS_H

#include "mlir/IR/OpDefinition.h"

namespace mlir::triton {

/// No tensor of a kernel may have more elements than this.
inline constexpr int64_t maxTensorNumElements = 1 << 20;

} // namespace mlir::triton

namespace mlir::triton::OpTrait {
namespace impl {
LogicalResult verifyTensorSize(Operation *op);
LogicalResult verifyTensorLayouts(Operation *op);
LogicalResult verifySameOperandsEncoding(Operation *op, bool blockPointers);
LogicalResult verifySameOperandsAndResultEncoding(Operation *op,
                                                  bool blockPointers);
LogicalResult verifySameLoadStoreOperandsShape(Operation *op);
LogicalResult verifySameLoadStoreOperandsAndResultShape(Operation *op);
} // namespace impl

/// Tensors have a power of two of elements, and at most maxTensorNumElements.
template <typename ConcreteType>
class TensorSizeTrait
    : public mlir::OpTrait::TraitBase<ConcreteType, TensorSizeTrait> {
public:
  static LogicalResult verifyTrait(Operation *op) {
    return impl::verifyTensorSize(op);
  }
};

/// The dialects of the tensor encodings accept them.
template <typename ConcreteType>
class VerifyTensorLayoutsTrait
    : public mlir::OpTrait::TraitBase<ConcreteType, VerifyTensorLayoutsTrait> {
public:
  static LogicalResult verifyTrait(Operation *op) {
    return impl::verifyTensorLayouts(op);
  }
};

template <typename ConcreteType>
class SameOperandsEncoding
    : public mlir::OpTrait::TraitBase<ConcreteType, SameOperandsEncoding> {
public:
  static LogicalResult verifyTrait(Operation *op) {
    return impl::verifySameOperandsEncoding(op, /*blockPointers=*/false);
  }
};

template <typename ConcreteType>
class SameOperandsAndResultEncoding
    : public mlir::OpTrait::TraitBase<ConcreteType,
                                      SameOperandsAndResultEncoding> {
public:
  static LogicalResult verifyTrait(Operation *op) {
    return impl::verifySameOperandsAndResultEncoding(op,
                                                     /*blockPointers=*/false);
  }
};

template <typename ConcreteType>
class SameLoadStoreOperandsEncoding
    : public mlir::OpTrait::TraitBase<ConcreteType,
                                      SameLoadStoreOperandsEncoding> {
public:
  static LogicalResult verifyTrait(Operation *op) {
    return impl::verifySameOperandsEncoding(op, /*blockPointers=*/true);
  }
};

template <typename ConcreteType>
class SameLoadStoreOperandsAndResultEncoding
    : public mlir::OpTrait::TraitBase<ConcreteType,
                                      SameLoadStoreOperandsAndResultEncoding> {
public:
  static LogicalResult verifyTrait(Operation *op) {
    return impl::verifySameOperandsAndResultEncoding(op,
                                                     /*blockPointers=*/true);
  }
};

template <typename ConcreteType>
class SameLoadStoreOperandsShape
    : public mlir::OpTrait::TraitBase<ConcreteType,
                                      SameLoadStoreOperandsShape> {
public:
  static LogicalResult verifyTrait(Operation *op) {
    return impl::verifySameLoadStoreOperandsShape(op);
  }
};

template <typename ConcreteType>
class SameLoadStoreOperandsAndResultShape
    : public mlir::OpTrait::TraitBase<ConcreteType,
                                      SameLoadStoreOperandsAndResultShape> {
public:
  static LogicalResult verifyTrait(Operation *op) {
    return impl::verifySameLoadStoreOperandsAndResultShape(op);
  }
};

} // namespace mlir::triton::OpTrait

#endif // TILE_DIALECT_TRITON_IR_TRAITS_H

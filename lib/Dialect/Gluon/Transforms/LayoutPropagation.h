//===-- LayoutPropagation.h - From decided layouts to open ones -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_LIB_DIALECT_GLUON_TRANSFORMS_LAYOUTPROPAGATION_H
#define TILE_LIB_DIALECT_GLUON_TRANSFORMS_LAYOUTPROPAGATION_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::triton::gluon {

/// Spreads layouts over tensors whose encoding is an open one, forwards to what
/// is computed from them and backwards to what they are computed from.
class LayoutPropagation {
public:
  /// `isOpen` tells the encodings that are to be replaced.
  LayoutPropagation(Operation *root,
                    llvm::function_ref<bool(Attribute)> isOpen);

  /// True if `value` is a tensor with an open encoding.
  bool isOpen(Value value) const;
  /// True if a layout of `value` has been found.
  bool isDecided(Value value) const { return decisions.contains(value); }

  /// Gives an open value a layout because of `origin`, and spreads it. Emits an
  /// error where another layout was found before.
  LogicalResult decide(Value value, Attribute layout, Operation *origin);

  /// Changes the types of all values that were given layouts.
  void apply();

  /// How many values were given layouts.
  size_t size() const { return decisions.size(); }

private:
  struct Decision {
    Attribute layout;
    Operation *origin;
  };

  /// Notes which values region branches pass to each other.
  void tie(Operation *root);
  LogicalResult assign(Value value, Attribute layout, Operation *origin);
  /// From a value to the other values of an operation that uses or makes it.
  LogicalResult spread(Operation *op, Value from);

  llvm::function_ref<bool(Attribute)> isOpenEncoding;
  llvm::MapVector<Value, Decision> decisions;
  DenseMap<Value, SmallVector<Value>> ties;
  SmallVector<Value> worklist;
};

/// Gives every use of a constant with an open encoding a constant of its own:
/// they may get different layouts.
void separateConstants(Operation *root,
                       llvm::function_ref<bool(Attribute)> isOpen);

} // namespace mlir::triton::gluon

#endif // TILE_LIB_DIALECT_GLUON_TRANSFORMS_LAYOUTPROPAGATION_H

//===-- DeclaredAttributes.h - Tables of discardable attributes -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_SUPPORT_DECLAREDATTRIBUTES_H
#define TILE_SUPPORT_DECLAREDATTRIBUTES_H

#include "mlir/IR/Operation.h"

namespace mlir::triton {

/// The values that an attribute may have.
enum class AttributeValue {
  Unit,
  /// `unit`, or a bool: texts of other compilers have both.
  Flag,
  /// i32, not negative.
  Count,
  /// i32, from 1 on.
  Positive,
  /// i32.
  PowerOfTwo,
  /// Any integer.
  Integer,
  /// An integer, not negative.
  NotNegative,
  /// One positive integer, or one for each dimension.
  Facts,
  /// i32, or an array of i32: the partitions that an operation is in.
  Partitions,
  /// For each result, the partitions that have it.
  PartitionLists,
  /// i32, not negative, or several of them.
  Offsets,
  Indices,
  String,
  Strings,
  /// An array of integers.
  Integers,
  Dictionary,
};

/// Where an attribute may be. `Any` is an operation, an argument or a result of
/// a function.
enum class AttributeHolder { Any, Operation, Module, Function, Loop, Argument };

/// A row of a dialect's table.
struct DeclaredAttribute {
  StringLiteral name;
  AttributeValue value;
  AttributeHolder holder;
  /// In a sentence, for docs/generated/attributes.md.
  StringLiteral meaning;
};

/// Verifies an attribute of an operation by the tables of its dialect. Names
/// that no table has are left alone: texts of other compilers have more.
LogicalResult verifyDeclaredAttribute(ArrayRef<DeclaredAttribute> table,
                                      Operation *op, NamedAttribute attribute);

/// The same for an attribute of an argument.
LogicalResult verifyDeclaredArgumentAttribute(ArrayRef<DeclaredAttribute> table,
                                              Operation *op, unsigned argument,
                                              NamedAttribute attribute);

/// The same for an attribute of a result of a function.
LogicalResult verifyDeclaredResultAttribute(ArrayRef<DeclaredAttribute> table,
                                            Operation *op, unsigned result,
                                            NamedAttribute attribute);

} // namespace mlir::triton

#endif // TILE_SUPPORT_DECLAREDATTRIBUTES_H

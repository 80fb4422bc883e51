//===-- DeclaredAttributes.cpp - Tables of discardable attributes ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Support/DeclaredAttributes.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;

/// What is wrong with a value, as what was expected; empty if nothing is.
static StringRef getExpected(AttributeValue kind, Attribute value) {
  auto number = dyn_cast<IntegerAttr>(value);
  bool isI32 = number && number.getType().isSignlessInteger(32);
  switch (kind) {
  case AttributeValue::Unit:
    return isa<UnitAttr>(value) ? "" : "to be a unit attribute";
  case AttributeValue::Flag:
    return isa<UnitAttr, BoolAttr>(value) ? ""
                                          : "to be a unit attribute or a bool";
  case AttributeValue::Count:
    if (!isI32)
      return "to be an i32";
    return number.getInt() >= 0 ? "" : "not to be negative";
  case AttributeValue::Positive:
    if (!isI32)
      return "to be an i32";
    return number.getInt() > 0 ? "" : "to be positive";
  case AttributeValue::PowerOfTwo:
    if (!isI32)
      return "to be an i32";
    return llvm::isPowerOf2_64(std::max<int64_t>(0, number.getInt()))
               ? ""
               : "to be a power of two";
  case AttributeValue::Integer:
    return number ? "" : "to be an integer";
  case AttributeValue::NotNegative:
    if (!number)
      return "to be an integer";
    return number.getValue().isNegative() ? "not to be negative" : "";
  case AttributeValue::Facts: {
    auto isPositive = [](const APInt &fact) {
      return fact.isStrictlyPositive();
    };
    bool isRight = false;
    if (number)
      isRight = isPositive(number.getValue());
    else if (auto facts = dyn_cast<DenseIntElementsAttr>(value))
      isRight = llvm::all_of(facts.getValues<APInt>(), isPositive);
    else if (auto facts = dyn_cast<DenseI32ArrayAttr>(value))
      isRight = llvm::all_of(facts.asArrayRef(),
                             [](int32_t fact) { return fact > 0; });
    return isRight ? "" : "to be positive integers";
  }
  case AttributeValue::Partitions:
    return isI32 || isa<DenseI32ArrayAttr>(value)
               ? ""
               : "to be an i32 or an array of i32";
  case AttributeValue::PartitionLists: {
    auto lists = dyn_cast<ArrayAttr>(value);
    return lists && llvm::all_of(lists, llvm::IsaPred<DenseI32ArrayAttr>)
               ? ""
               : "to be a list of arrays of i32";
  }
  case AttributeValue::Offsets: {
    auto isOffset = [](Attribute value) {
      return getExpected(AttributeValue::Count, value).empty();
    };
    auto list = dyn_cast<ArrayAttr>(value);
    if (isOffset(value) || (list && llvm::all_of(list, isOffset)))
      return "";
    return "to be an i32, not negative, or an array of them";
  }
  case AttributeValue::Indices:
    return isa<DenseI32ArrayAttr>(value) ? "" : "to be an array of i32";
  case AttributeValue::String: {
    auto text = dyn_cast<StringAttr>(value);
    return text && !text.empty() ? "" : "to be a string that is not empty";
  }
  case AttributeValue::Strings: {
    auto texts = dyn_cast<ArrayAttr>(value);
    return texts && llvm::all_of(texts, llvm::IsaPred<StringAttr>)
               ? ""
               : "to be an array of strings";
  }
  case AttributeValue::Integers: {
    auto array = dyn_cast<ArrayAttr>(value);
    return array && llvm::all_of(array, llvm::IsaPred<IntegerAttr>)
               ? ""
               : "to be an array of integers";
  }
  case AttributeValue::Dictionary:
    return isa<DictionaryAttr>(value) ? "" : "to be a dictionary";
  }
  llvm_unreachable("all kinds are listed");
}

/// Where an attribute should be instead; empty if it may be on `op`.
static StringRef getExpectedHolder(AttributeHolder holder, Operation *op) {
  switch (holder) {
  case AttributeHolder::Any:
  case AttributeHolder::Operation:
    return "";
  case AttributeHolder::Module:
    return isa<ModuleOp>(op) ? "" : "on a module";
  case AttributeHolder::Function:
    return isa<FunctionOpInterface>(op) ? "" : "on a function";
  case AttributeHolder::Loop:
    return isa<LoopLikeOpInterface>(op) ? "" : "on a loop";
  case AttributeHolder::Argument:
    return "on an argument";
  }
  llvm_unreachable("all holders are listed");
}

static const DeclaredAttribute *find(ArrayRef<DeclaredAttribute> table,
                                     StringRef name) {
  const auto *row = llvm::find_if(
      table, [&](const DeclaredAttribute &row) { return row.name == name; });
  return row == table.end() ? nullptr : row;
}

LogicalResult triton::verifyDeclaredAttribute(ArrayRef<DeclaredAttribute> table,
                                              Operation *op,
                                              NamedAttribute attribute) {
  StringRef name = attribute.getName();
  const DeclaredAttribute *row = find(table, name);
  if (!row)
    return success();
  if (StringRef holder = getExpectedHolder(row->holder, op); !holder.empty())
    return op->emitOpError() << "expected '" << name << "' " << holder;
  StringRef expected = getExpected(row->value, attribute.getValue());
  if (expected.empty())
    return success();
  return op->emitOpError() << "expected '" << name << "' " << expected
                           << ", found " << attribute.getValue();
}

/// Verifies an attribute of `op` that belongs to one of its arguments or
/// results, `what`, where those with such a holder may be.
static LogicalResult verifyOfFunction(ArrayRef<DeclaredAttribute> table,
                                      Operation *op, const Twine &what,
                                      ArrayRef<AttributeHolder> holders,
                                      StringRef otherwise,
                                      NamedAttribute attribute) {
  StringRef name = attribute.getName();
  const DeclaredAttribute *row = find(table, name);
  if (!row)
    return success();
  StringRef expected = llvm::is_contained(holders, row->holder)
                           ? getExpected(row->value, attribute.getValue())
                           : otherwise;
  if (expected.empty())
    return success();
  return op->emitOpError(what) << ": expected '" << name << "' " << expected
                               << ", found " << attribute.getValue();
}

LogicalResult
triton::verifyDeclaredArgumentAttribute(ArrayRef<DeclaredAttribute> table,
                                        Operation *op, unsigned argument,
                                        NamedAttribute attribute) {
  return verifyOfFunction(table, op, "argument #" + Twine(argument),
                          {AttributeHolder::Argument, AttributeHolder::Any},
                          "on something else than an argument", attribute);
}

LogicalResult
triton::verifyDeclaredResultAttribute(ArrayRef<DeclaredAttribute> table,
                                      Operation *op, unsigned result,
                                      NamedAttribute attribute) {
  return verifyOfFunction(table, op, "result #" + Twine(result),
                          AttributeHolder::Any,
                          "on something else than a result", attribute);
}

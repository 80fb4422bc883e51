//===-- DeclaredAttributes.cpp - Discardable attributes of proton ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Support/DeclaredAttributes.h"
#include "tile/Dialect/Proton/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::proton;

using Is = AttributeValue;
using On = AttributeHolder;

static constexpr DeclaredAttribute kTable[] = {
    {kRecordsAttrName, Is::Dictionary, On::Module,
     "How to read the records that a launch leaves in memory."},
};

LogicalResult
ProtonDialect::verifyOperationAttribute(Operation *op,
                                        NamedAttribute attribute) {
  return verifyDeclaredAttribute(kTable, op, attribute);
}

LogicalResult ProtonDialect::verifyRegionArgAttribute(
    Operation *op, unsigned, unsigned argument, NamedAttribute attribute) {
  return verifyDeclaredArgumentAttribute(kTable, op, argument, attribute);
}

LogicalResult ProtonDialect::verifyRegionResultAttribute(
    Operation *op, unsigned, unsigned result, NamedAttribute attribute) {
  return verifyDeclaredResultAttribute(kTable, op, result, attribute);
}

//===-- DeclaredAttributes.cpp - Discardable attributes of tti ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Support/DeclaredAttributes.h"
#include "tile/Dialect/TritonInstrument/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::instrument;

using Is = AttributeValue;
using On = AttributeHolder;

static constexpr DeclaredAttribute kTable[] = {
    {kTakesBoundsAttrName, Is::Unit, On::Module,
     "Kernels take, behind the parameters of the program, the address and the "
     "bytes of the memory of each pointer and each descriptor."},
};

LogicalResult
TritonInstrumentDialect::verifyOperationAttribute(Operation *op,
                                                  NamedAttribute attribute) {
  return verifyDeclaredAttribute(kTable, op, attribute);
}

LogicalResult TritonInstrumentDialect::verifyRegionArgAttribute(
    Operation *op, unsigned, unsigned argument, NamedAttribute attribute) {
  return verifyDeclaredArgumentAttribute(kTable, op, argument, attribute);
}

LogicalResult TritonInstrumentDialect::verifyRegionResultAttribute(
    Operation *op, unsigned, unsigned result, NamedAttribute attribute) {
  return verifyDeclaredResultAttribute(kTable, op, result, attribute);
}

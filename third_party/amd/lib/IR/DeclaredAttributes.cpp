//===-- DeclaredAttributes.cpp - Discardable attributes of amdg -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Support/DeclaredAttributes.h"
#include "amd/IR/AttributeNames.h"
#include "amd/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::amd;
using namespace mlir::triton::amdgpu;

using Is = AttributeValue;
using On = AttributeHolder;

static constexpr DeclaredAttribute kTable[] = {
    {kScalarOffsetAttrName, Is::Unit, On::Operation,
     "The access's base went up from another pointer in its last step, which "
     "may be part of the offsets: all is in the 2^31 bytes behind it."},
    {kDirectCopyAttrName, Is::Unit, On::Operation,
     "A load of a scheduled loop that is to go straight into LDS."},
    {kDirectVectorAttrName, Is::Positive, On::Operation,
     "On copies whose instructions waits count: the elements that each lane "
     "loads straight into LDS at once. What was known of addresses then still "
     "holds when the copy is lowered."},
    {kDivergentBaseAttrName, Is::Unit, On::Operation,
     "The base of the access is not the same in all lanes."},
    {kUniformMaskAttrName, Is::Unit, On::Operation,
     "The mask of the access is the same in all lanes."},
    {kPrintFormatsAttrName, Is::Strings, On::Module,
     "The formats of what kernels print, each as `number:arguments:bytes of "
     "each:text`, for the metadata."},
};

LogicalResult AMDGDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attribute) {
  return verifyDeclaredAttribute(kTable, op, attribute);
}

LogicalResult AMDGDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                    unsigned argument,
                                                    NamedAttribute attribute) {
  return verifyDeclaredArgumentAttribute(kTable, op, argument, attribute);
}

LogicalResult AMDGDialect::verifyRegionResultAttribute(
    Operation *op, unsigned, unsigned result, NamedAttribute attribute) {
  return verifyDeclaredResultAttribute(kTable, op, result, attribute);
}

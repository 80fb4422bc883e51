//===-- Dialect.cpp - The tti dialect -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Dialect/TritonInstrument/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton::instrument;

#include "tile/Dialect/TritonInstrument/IR/Dialect.cpp.inc"

#define GET_OP_CLASSES
#include "tile/Dialect/TritonInstrument/IR/Ops.cpp.inc"

LogicalResult CheckOp::verify() {
  if (getCodes().size() != getMessages().size())
    return emitOpError() << "has " << getCodes().size() << " codes and "
                         << getMessages().size() << " messages";
  return success();
}

void TritonInstrumentDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "tile/Dialect/TritonInstrument/IR/Ops.cpp.inc"
      >();
}

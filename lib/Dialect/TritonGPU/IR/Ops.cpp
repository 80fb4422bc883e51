//===-- Ops.cpp - Generated definitions of ttg operations -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// With the custom directives of their assembly formats. What is written by hand
// about an operation is in the file of its family.
//
//===----------------------------------------------------------------------===//

#include "tile/Dialect/TritonGPU/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

static ParseResult parseOffsets(OpAsmParser &parser,
                                DenseI32ArrayAttr &offsets) {
  SmallVector<int32_t> values;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        return parser.parseInteger(values.emplace_back());
      }))
    return failure();
  offsets = parser.getBuilder().getDenseI32ArrayAttr(values);
  return success();
}

static void printOffsets(OpAsmPrinter &printer, Operation *,
                         DenseI32ArrayAttr offsets) {
  printer << "[" << offsets.asArrayRef() << "]";
}

#define GET_OP_CLASSES
#include "tile/Dialect/TritonGPU/IR/Ops.cpp.inc"

//===-- PackedArithOps.cpp - Arithmetic on pairs --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Dialect/TritonNvidiaGPU/IR/PackedArithOps.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

#include "tile/Dialect/TritonNvidiaGPU/IR/PackedArithKind.cpp.inc"

LogicalResult PackedArithOp::verify() {
  size_t wanted = getKind() == PackedArithKind::FMA ? 3 : 2;
  if (getArgs().size() != wanted)
    return emitOpError() << "expected " << wanted << " operands of "
                         << stringifyPackedArithKind(getKind()) << ", found "
                         << getArgs().size();
  for (Type type : getOperation()->getOperandTypes())
    if (!isa<FloatType>(getElementTypeOrSelf(type)))
      return emitOpError() << "expected operands of floats, found " << type;
  if (!isa<FloatType>(getElementTypeOrSelf(getType())))
    return emitOpError() << "expected a result of floats, found " << getType();
  return success();
}

#define GET_OP_CLASSES
#include "tile/Dialect/TritonNvidiaGPU/IR/PackedArithOps.cpp.inc"

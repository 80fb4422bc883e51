//===-- PackedArithOps.cpp - Arithmetic on pairs --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Dialect/TritonNvidiaGPU/IR/PackedArithOps.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

#include "tile/Dialect/TritonNvidiaGPU/IR/PackedArithKind.cpp.inc"

/// Checks that an instruction has elements of these types together.
static LogicalResult verifyMixture(PackedArithOp op) {
  constexpr unsigned kBitsOfFour = 8;
  Type result = getElementTypeOrSelf(op.getType());
  bool takesFour = result.getIntOrFloatBitWidth() == kBitsOfFour;
  for (Value arg : op.getArgs())
    if (unsigned bits = getElementTypeOrSelf(arg).getIntOrFloatBitWidth();
        (bits == kBitsOfFour) != takesFour)
      return op.emitOpError()
             << "expected operands and a result of 8 bits all, or of 16 and 32 "
                "bits all, found "
             << getElementTypeOrSelf(arg) << " and " << result;
  PackedArithKind kind = op.getKind();
  if (takesFour &&
      (kind == PackedArithKind::MIN || kind == PackedArithKind::MAX))
    return op.emitOpError()
           << "expected elements of 16 or 32 bits of "
           << stringifyPackedArithKind(kind) << ", found " << result;
  // What is added has the type of the sum, or all operands are wider.
  auto getBits = [](Type type) {
    return getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  };
  Type last = getElementTypeOrSelf(op.getArgs().back());
  unsigned bits = getBits(result);
  bool isOther = takesFour
                     ? last != result
                     : getBits(last) > bits &&
                           llvm::any_of(op.getOperandTypes(), [&](Type type) {
                             return getBits(type) <= bits;
                           });
  if (kind != PackedArithKind::MUL && isOther)
    return op.emitOpError()
           << "expected the last operand of " << stringifyPackedArithKind(kind)
           << " to have elements of " << result << " like the result, found "
           << last;
  return success();
}

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
  return verifyMixture(*this);
}

#define GET_OP_CLASSES
#include "tile/Dialect/TritonNvidiaGPU/IR/PackedArithOps.cpp.inc"

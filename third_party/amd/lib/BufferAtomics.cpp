//===-- BufferAtomics.cpp - Atomic operations on buffers ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "amd/BufferAtomics.h"

using namespace mlir;
using namespace mlir::triton;

bool amd::hasBufferAtomic(const AMDTarget &target, RMWOp op, Type element) {
  if (!target.bufferFlags)
    return false;
  if (op == RMWOp::FADD)
    return element.isF32() || (element.isF64() && target.mfmaVersion);
  unsigned bits = getElementBitWidth(element);
  return (bits == 32 || bits == 64) &&
         (element.isInteger() || op == RMWOp::XCHG);
}

bool amd::addsPairsInBuffers(const AMDTarget &target, RMWOp op, Type element) {
  if (!target.bufferFlags || op != RMWOp::FADD)
    return false;
  if (element.isF16())
    return target.hasPackedF16Atomic;
  // MI300 adds pairs of bfloat16 by other instructions only.
  return element.isBF16() && target.hasPackedBF16Atomic &&
         target.mfmaVersion != 3;
}

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

//===-- Speculation.cpp - What may run although nobody asked --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Analysis/Speculation.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

OpOperand *triton::getUnsafeDivisor(Operation *op) {
  if (!isa<arith::DivSIOp, arith::DivUIOp, arith::CeilDivSIOp,
           arith::CeilDivUIOp, arith::FloorDivSIOp, arith::RemSIOp,
           arith::RemUIOp>(op))
    return nullptr;
  OpOperand &divisor = op->getOpOperand(1);
  APInt constant;
  bool isSafe = matchPattern(divisor.get(), m_ConstantInt(&constant)) &&
                !constant.isZero() && !constant.isAllOnes();
  return isSafe ? nullptr : &divisor;
}

bool triton::isSafeToSpeculate(Operation *op) {
  if (!isMemoryEffectFree(op) || !isSpeculatable(op))
    return false;
  return !op->walk([](Operation *nested) {
              return getUnsafeDivisor(nested) ? WalkResult::interrupt()
                                              : WalkResult::advance();
            }).wasInterrupted();
}

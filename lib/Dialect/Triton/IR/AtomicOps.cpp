//===-- AtomicOps.cpp - Atomic read-modify-writes -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mlir/IR/PatternMatch.h"
#include "tile/Dialect/Triton/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton;

using Effects =
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

static void addReadWriteEffects(Effects &effects, OpOperand &ptr) {
  effects.emplace_back(MemoryEffects::Read::get(), &ptr, GlobalMemory::get());
  effects.emplace_back(MemoryEffects::Write::get(), &ptr, GlobalMemory::get());
}

//===----------------------------------------------------------------------===//
// AtomicRMWOp
//===----------------------------------------------------------------------===//

void AtomicRMWOp::getEffects(Effects &effects) {
  addReadWriteEffects(effects, getPtrMutable());
}

LogicalResult AtomicRMWOp::verify() {
  Type element = getElementTypeOrSelf(getVal());
  RMWOp kind = getAtomicRmwOp();
  auto expected = [&](StringRef types) {
    return emitOpError("expected ") << types << " for '" << stringifyRMWOp(kind)
                                    << "', found " << element;
  };
  if (kind == RMWOp::FADD)
    return isa<FloatType>(element) && element.getIntOrFloatBitWidth() >= 16
               ? success()
               : expected("floating-point elements of 16 bits or more");
  if (kind == RMWOp::XCHG)
    return element.isIntOrFloat() && element.getIntOrFloatBitWidth() >= 16
               ? success()
               : expected("elements of 16 bits or more");
  return element.isInteger() && element.getIntOrFloatBitWidth() >= 16
             ? success()
             : expected("integer elements of 16 bits or more");
}

namespace {

/// An atomic operation whose mask is known.
struct AtomicRMWOfConstantMask : public OpRewritePattern<AtomicRMWOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AtomicRMWOp op,
                                PatternRewriter &rewriter) const override {
    Value mask = op.getMask();
    if (!mask || !isConstantZero(mask))
      return rewriter.notifyMatchFailure(op, "mask is not all false");
    if (!op.use_empty())
      return rewriter.notifyMatchFailure(op, "the result is used");
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void AtomicRMWOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  patterns.add<AtomicRMWOfConstantMask>(context);
}

//===----------------------------------------------------------------------===//
// AtomicCASOp
//===----------------------------------------------------------------------===//

void AtomicCASOp::getEffects(Effects &effects) {
  addReadWriteEffects(effects, getPtrMutable());
}

LogicalResult AtomicCASOp::verify() {
  Type element = getElementTypeOrSelf(getVal());
  if (element.isIntOrFloat() && element.getIntOrFloatBitWidth() >= 16)
    return success();
  return emitOpError("expected elements of 16 bits or more, found ") << element;
}

//===-- BlockPointerOps.cpp - Block pointers ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BlockOffsets.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::triton;

static int64_t getBlockRank(Type blockPtr) {
  return cast<RankedTensorType>(triton::getPointeeType(blockPtr)).getRank();
}

//===----------------------------------------------------------------------===//
// MakeTensorPtrOp
//===----------------------------------------------------------------------===//

void MakeTensorPtrOp::build(OpBuilder &builder, OperationState &state,
                            Value base, ValueRange shape, ValueRange strides,
                            ValueRange offsets, ArrayRef<int32_t> blockShape,
                            ArrayRef<int32_t> order) {
  auto basePtr = cast<PointerType>(base.getType());
  auto block = RankedTensorType::get(
      SmallVector<int64_t>(blockShape.begin(), blockShape.end()),
      basePtr.getPointeeType());
  build(builder, state, PointerType::get(block, basePtr.getAddressSpace()),
        base, shape, strides, offsets, order);
}

LogicalResult MakeTensorPtrOp::verify() {
  int64_t rank = getBlockRank(getType());
  if (int64_t(getShape().size()) != rank)
    return emitOpError("expected ")
           << rank << " sizes, strides and offsets, one per dimension of the "
           << "block, found " << getShape().size();
  llvm::SmallBitVector seen(rank);
  for (int32_t dim : getOrder())
    if (dim >= 0 && dim < rank)
      seen.set(dim);
  if (int64_t(getOrder().size()) != rank || !seen.all())
    return emitOpError("expected order to be a permutation of the ")
           << rank << " dimensions, found [" << getOrder() << "]";
  return success();
}

ParseResult mlir::triton::parseBlockOffsets(
    OpAsmParser &parser,
    SmallVectorImpl<OpAsmParser::UnresolvedOperand> &offsets,
    SmallVectorImpl<Type> &types) {
  OpAsmParser::UnresolvedOperand offset;
  OptionalParseResult first = parser.parseOptionalOperand(offset);
  if (!first.has_value())
    return success();
  if (failed(*first))
    return failure();
  do {
    if (!offsets.empty() && failed(parser.parseOperand(offset)))
      return failure();
    Type type = parser.getBuilder().getI32Type();
    if (succeeded(parser.parseOptionalColon()) &&
        failed(parser.parseType(type)))
      return failure();
    offsets.push_back(offset);
    types.push_back(type);
  } while (succeeded(parser.parseOptionalComma()));
  return success();
}

void mlir::triton::printBlockOffsets(OpAsmPrinter &printer, Operation *,
                                     OperandRange offsets, TypeRange) {
  llvm::interleaveComma(offsets, printer, [&](Value offset) {
    printer << offset;
    if (!offset.getType().isInteger(32))
      printer << " : " << offset.getType();
  });
}

//===----------------------------------------------------------------------===//
// AdvanceOp
//===----------------------------------------------------------------------===//

LogicalResult AdvanceOp::verify() {
  int64_t rank = getBlockRank(getType());
  if (int64_t(getOffsets().size()) != rank)
    return emitOpError("expected ")
           << rank << " offsets, one per dimension of the block, found "
           << getOffsets().size();
  return success();
}

OpFoldResult AdvanceOp::fold(FoldAdaptor adaptor) {
  if (llvm::all_of(getOffsets(), isConstantZero))
    return getPtr();
  return {};
}

namespace {

/// The sum of two offsets, which may not fit into 32 bits where they do.
static Value addOffsets(PatternRewriter &rewriter, Location loc, Value a,
                        Value b) {
  APInt first, second;
  if (matchPattern(a, m_ConstantInt(&first)) &&
      matchPattern(b, m_ConstantInt(&second))) {
    int64_t sum = int64_t(uint64_t(first.getSExtValue()) +
                          uint64_t(second.getSExtValue()));
    return arith::ConstantIntOp::create(rewriter, loc, sum,
                                        llvm::isInt<32>(sum) ? 32 : 64);
  }
  Type wide = rewriter.getI64Type();
  auto extend = [&](Value value) -> Value {
    return value.getType() == wide
               ? value
               : rewriter.createOrFold<arith::ExtSIOp>(loc, wide, value);
  };
  return rewriter.createOrFold<arith::AddIOp>(loc, extend(a), extend(b));
}

/// advance(advance(p, a), b) -> advance(p, a + b)
struct AdvanceOfAdvance : public OpRewritePattern<AdvanceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AdvanceOp op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getPtr().getDefiningOp<AdvanceOp>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "operand is not an advance");
    SmallVector<Value> offsets;
    for (auto [a, b] : llvm::zip_equal(inner.getOffsets(), op.getOffsets()))
      offsets.push_back(isConstantZero(a) ? b
                        : isConstantZero(b)
                            ? a
                            : addOffsets(rewriter, op.getLoc(), a, b));
    rewriter.replaceOpWithNewOp<AdvanceOp>(op, op.getType(), inner.getPtr(),
                                           offsets);
    return success();
  }
};

} // namespace

void AdvanceOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *context) {
  patterns.add<AdvanceOfAdvance>(context);
}

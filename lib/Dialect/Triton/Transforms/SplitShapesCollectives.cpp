//===-- SplitShapesCollectives.cpp - Reductions and others of pieces
//-------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SplitShapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "tile/Dialect/Triton/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton;

//===----------------------------------------------------------------------===//
// Combining tuples
//===----------------------------------------------------------------------===//

/// Whether the region is operations that tensors know as well.
static bool hasTensorForm(Region &region) {
  auto isElement = [](Type type) {
    return type.isIntOrFloat() || isa<PointerType>(type);
  };
  return region.hasOneBlock() &&
         llvm::all_of(region.front().without_terminator(), [&](Operation &op) {
           bool known = isa<arith::ConstantOp>(op) ||
                        mlir::OpTrait::hasElementwiseMappableTraits(&op);
           return known && op.getNumRegions() == 0 &&
                  llvm::all_of(op.getOperandTypes(), isElement) &&
                  llvm::all_of(op.getResultTypes(), isElement);
         });
}

/// The operations of a region, on scalars as they are, or on tensors of
/// `shape`.
static SmallVector<Value> inlineRegion(OpBuilder &b, Region &region,
                                       ValueRange arguments,
                                       std::optional<ArrayRef<int64_t>> shape) {
  IRMapping mapping;
  mapping.map(region.front().getArguments(), arguments);
  auto get = [&](Value value) -> Value {
    if (Value mapped = mapping.lookupOrNull(value))
      return mapped;
    if (!shape)
      return value;
    auto type = RankedTensorType::get(*shape, value.getType());
    Value splat = b.createOrFold<SplatOp>(value.getLoc(), type, value);
    mapping.map(value, splat);
    return splat;
  };
  for (Operation &op : region.front().without_terminator()) {
    if (!shape) {
      b.clone(op, mapping);
      continue;
    }
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      auto type = RankedTensorType::get(*shape, constant.getType());
      mapping.map(constant.getResult(),
                  arith::ConstantOp::create(
                      b, op.getLoc(),
                      SplatElementsAttr::get(type, constant.getValue())));
      continue;
    }
    auto operands = llvm::map_to_vector(op.getOperands(), get);
    auto types = llvm::map_to_vector(op.getResultTypes(), [&](Type type) {
      return Type(RankedTensorType::get(*shape, type));
    });
    mapping.map(op.getResults(),
                clonePiece(b, &op, operands, types)->getResults());
  }
  return llvm::map_to_vector(region.front().getTerminator()->getOperands(),
                             get);
}

/// A region that does anything, on each element of tensors.
static SmallVector<Value> mapRegion(OpBuilder &b, Location loc, Region &region,
                                    ValueRange arguments) {
  auto types = arguments.take_front(arguments.size() / 2).getTypes();
  auto map = MapElementwiseOp::create(b, loc, types, arguments, /*pack=*/1);
  IRMapping mapping;
  region.cloneInto(&map.getScalarOp(), mapping);
  for (Block &block : map.getScalarOp()) {
    Operation *end = block.getTerminator();
    if (!isa<ReduceReturnOp, ScanReturnOp>(end))
      continue;
    OpBuilder at(end);
    MapElementwiseReturnOp::create(at, end->getLoc(), end->getOperands());
    end->erase();
  }
  return llvm::to_vector_of<Value>(map.getResults());
}

/// Combines two tuples, of scalars or of tensors, by the region of a reduction
/// or a scan.
static SmallVector<Value> combine(OpBuilder &b, Location loc, Region &region,
                                  ValueRange before, ValueRange next) {
  SmallVector<Value> arguments(before);
  llvm::append_range(arguments, next);
  auto tensor = dyn_cast<RankedTensorType>(before.front().getType());
  if (tensor && hasTensorForm(region))
    return inlineRegion(b, region, arguments, tensor.getShape());
  if (tensor)
    return mapRegion(b, loc, region, arguments);
  if (region.hasOneBlock())
    return inlineRegion(b, region, arguments, std::nullopt);
  for (Value &argument : arguments)
    argument = SplatOp::create(
        b, loc, RankedTensorType::get(1, argument.getType()), argument);
  SmallVector<Value> results = mapRegion(b, loc, region, arguments);
  for (Value &result : results)
    result = UnsplatOp::create(b, loc, result);
  return results;
}

/// A piece of each of several operands.
static SmallVector<Value> getTuple(ArrayRef<ValueRange> operands,
                                   size_t piece) {
  return llvm::map_to_vector(
      operands, [&](ValueRange pieces) -> Value { return pieces[piece]; });
}

static SmallVector<Type> getElementTypes(ValueRange values) {
  return llvm::map_to_vector(
      values.getTypes(), [](Type type) { return getElementTypeOrSelf(type); });
}

/// The shape without a dimension.
static SmallVector<int64_t> dropDim(ArrayRef<int64_t> shape, int64_t axis) {
  SmallVector<int64_t> rest(shape);
  rest.erase(rest.begin() + axis);
  return rest;
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {

/// Pieces along the axis are reduced, and the results combined in order.
struct SplitReduce : public PiecePattern<ReduceOp> {
  using PiecePattern::PiecePattern;

  LogicalResult
  matchAndRewrite(ReduceOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ArrayRef<int64_t> shape = op.getInputTypes().front().getShape();
    int64_t axis = op.getAxis();
    SmallVector<int64_t> rest = dropDim(shape, axis);
    Pieces sources = getPieces(shape),
           pieces = getPieces(ArrayRef<int64_t>(rest));
    SmallVector<SmallVector<Value>> results(op.getNumResults());
    for (size_t piece = 0; piece < pieces.size(); ++piece) {
      SmallVector<Value> all;
      for (size_t i = 0; i < sources.getStretches(axis).size(); ++i) {
        SmallVector<size_t> from = pieces.getStretchesOf(piece);
        from.insert(from.begin() + axis, i);
        SmallVector<Value> one =
            reduce(rewriter, op, pieces.getShape(piece),
                   getTuple(adaptor.getSrcs(), sources.getPiece(from)));
        all = all.empty()
                  ? one
                  : combine(rewriter, op.getLoc(), op.getCombineOp(), all, one);
      }
      for (auto [result, value] : llvm::zip_equal(results, all))
        result.push_back(value);
    }
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }

private:
  static SmallVector<Value> reduce(OpBuilder &b, ReduceOp op,
                                   ArrayRef<int64_t> shape, ValueRange srcs) {
    SmallVector<Type> types = getElementTypes(srcs);
    if (!shape.empty())
      for (Type &type : types)
        type = RankedTensorType::get(shape, type);
    return llvm::to_vector_of<Value>(
        clonePiece(b, op, srcs, types)->getResults());
  }
};

/// Pieces along the axis are scanned. Each goes on from the last element of the
/// one before.
struct SplitScan : public OpConversionPattern<ScanOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(ScanOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ArrayRef<int64_t> shape = op.getInputTypes().front().getShape();
    int64_t axis = op.getAxis();
    Pieces pieces(shape), lines(dropDim(shape, axis));
    SmallVector<SmallVector<Value>> results(op.getNumResults(),
                                            SmallVector<Value>(pieces.size()));
    size_t count = pieces.getStretches(axis).size();
    for (size_t line = 0; line < lines.size(); ++line) {
      SmallVector<Value> scanned;
      for (size_t i = 0; i < count; ++i) {
        SmallVector<size_t> from = lines.getStretchesOf(line);
        from.insert(from.begin() + axis, op.getReverse() ? count - 1 - i : i);
        size_t piece = pieces.getPiece(from);
        SmallVector<Value> srcs = getTuple(adaptor.getSrcs(), piece);
        SmallVector<Value> before;
        if (i)
          before = repeatLast(rewriter, op, scanned, pieces.getShape(piece));
        scanned = llvm::to_vector_of<Value>(
            clonePiece(rewriter, op, srcs, ValueRange(srcs).getTypes())
                ->getResults());
        if (i)
          scanned = combine(rewriter, op.getLoc(), op.getCombineOp(), before,
                            scanned);
        for (auto [result, value] : llvm::zip_equal(results, scanned))
          result[piece] = value;
      }
    }
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }

private:
  /// The elements that the scan reached last, along the axis of `shape`.
  static SmallVector<Value> repeatLast(OpBuilder &b, ScanOp op,
                                       ValueRange scanned,
                                       ArrayRef<int64_t> shape) {
    Location loc = op.getLoc();
    int64_t axis = op.getAxis();
    SmallVector<Value> results;
    for (Value last : takeLast(b, op, scanned)) {
      auto type = RankedTensorType::get(shape, getElementTypeOrSelf(last));
      if (shape.size() == 1) {
        results.push_back(SplatOp::create(b, loc, type, last));
        continue;
      }
      Value line = ExpandDimsOp::create(b, loc, last, axis);
      results.push_back(b.createOrFold<BroadcastOp>(loc, type, line));
    }
    return results;
  }

  /// A reduction that keeps one of two elements.
  static ValueRange takeLast(OpBuilder &b, ScanOp op, ValueRange scanned) {
    Location loc = op.getLoc();
    auto reduce = ReduceOp::create(b, loc, scanned, op.getAxis());
    size_t count = scanned.size();
    SmallVector<Type> types = getElementTypes(scanned);
    llvm::append_range(types, getElementTypes(scanned));
    OpBuilder::InsertionGuard guard(b);
    Block *body = b.createBlock(&reduce.getCombineOp(), {}, types,
                                SmallVector<Location>(types.size(), loc));
    ReduceReturnOp::create(
        b, loc, body->getArguments().slice(op.getReverse() ? 0 : count, count));
    return reduce.getResults();
  }
};

/// Each piece of the operand gives the elements that it has.
struct SplitGather : public OpConversionPattern<GatherOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(GatherOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    int64_t axis = op.getAxis();
    Pieces sources(op.getSrc().getType()), pieces(op.getType());
    SmallVector<Value> results;
    for (size_t piece = 0; piece < pieces.size(); ++piece) {
      Value indices = adaptor.getIndices()[piece], result;
      SmallVector<size_t> from = pieces.getStretchesOf(piece);
      for (auto [i, stretch] : llvm::enumerate(sources.getStretches(axis))) {
        from[axis] = i;
        Value src = adaptor.getSrc()[sources.getPiece(from)];
        result = gather(rewriter, op, src, stretch, indices, result);
      }
      results.push_back(result);
    }
    rewriter.replaceOpWithMultiple(op, {results});
    return success();
  }

private:
  /// The elements of `src` whose indices are in `stretch`, or `otherwise`.
  static Value gather(OpBuilder &b, GatherOp op, Value src, Stretch stretch,
                      Value indices, Value otherwise) {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(indices.getType());
    unsigned bits = type.getElementTypeBitWidth();
    auto fits = [&](int64_t number) {
      return bits > 62 || number < (int64_t(1) << bits);
    };
    if (!fits(stretch.offset))
      return otherwise;
    auto splat = [&](int64_t number) {
      return splatNumber(b, loc, type, number);
    };
    Value local = indices, inside;
    if (stretch.offset)
      local = arith::SubIOp::create(b, loc, indices, splat(stretch.offset));
    bool isWhole =
        cast<RankedTensorType>(src.getType()).getDimSize(op.getAxis()) ==
        op.getSrc().getType().getDimSize(op.getAxis());
    if (!isWhole && fits(stretch.size)) {
      inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, local,
                                     splat(stretch.size));
      local = arith::SelectOp::create(b, loc, inside, local, splat(0));
    }
    Value gathered = GatherOp::create(b, loc, src, local, op.getAxis());
    if (!otherwise || !inside)
      return gathered;
    return arith::SelectOp::create(b, loc, inside, gathered, otherwise);
  }
};

/// Each piece of the bins counts the values from its first bin on. Values
/// without a bin are not counted.
struct SplitHistogram : public OpConversionPattern<HistogramOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(HistogramOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Pieces pieces(op.getType());
    SmallVector<Value> results;
    for (Stretch bins : pieces.getStretches(0)) {
      Value sum;
      for (auto [piece, src] : llvm::enumerate(adaptor.getSrc())) {
        Value mask = op.getMask() ? adaptor.getMask()[piece] : Value();
        Value counts = count(rewriter, op, src, mask, bins);
        sum = sum ? arith::AddIOp::create(rewriter, op.getLoc(), sum, counts)
                  : counts;
      }
      results.push_back(sum);
    }
    rewriter.replaceOpWithMultiple(op, {results});
    return success();
  }

private:
  static Value count(OpBuilder &b, HistogramOp op, Value src, Value mask,
                     Stretch bins) {
    auto type = cast<RankedTensorType>(src.getType());
    auto result = cast<RankedTensorType>(op.getType()).clone({bins.size});
    unsigned bits = type.getElementTypeBitWidth();
    if (bits <= 62 && bins.offset >= (int64_t(1) << bits))
      return splatNumber(b, op.getLoc(), result, 0);
    // A value below the first bin wraps around to one beyond the last.
    if (bins.offset)
      src = arith::SubIOp::create(
          b, op.getLoc(), src, splatNumber(b, op.getLoc(), type, bins.offset));
    return HistogramOp::create(b, op.getLoc(), result, src, mask);
  }
};

} // namespace

void triton::populateSplitCollectivePatterns(const TypeConverter &converter,
                                             RewritePatternSet &patterns) {
  patterns.add<SplitScan, SplitGather, SplitHistogram>(converter,
                                                       patterns.getContext());
}

void triton::populateSplitReducePatterns(const PieceConverter &converter,
                                         RewritePatternSet &patterns) {
  patterns.add<SplitReduce>(converter, patterns.getContext());
}

//===-- SplitShapes.cpp - Tensors as pieces of powers of two --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layouts have powers of two. A tensor with other extents becomes several
// tensors, so that nothing is padded. docs/rationale/shapes.md says why.
//
//===----------------------------------------------------------------------===//

#include "SplitShapes.h"

#include "DecomposeTypes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "tile/Dialect/Debug/IR/Dialect.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/Triton/IR/SplitAttributes.h"
#include "tile/Dialect/Triton/Transforms/Passes.h"
#include "tile/Support/AttributeNames.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#define DEBUG_TYPE "triton-split-shapes"

namespace mlir::triton {
#define GEN_PASS_DEF_TRITONSPLITSHAPES
#include "tile/Dialect/Triton/Transforms/Passes.h.inc"
} // namespace mlir::triton

using namespace mlir;
using namespace mlir::triton;

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

Pieces::Pieces(ArrayRef<int64_t> shape, int64_t longest) {
  for (int64_t extent : shape) {
    SmallVector<Stretch> &stretches = dims.emplace_back();
    for (int64_t offset = 0; offset < extent;) {
      int64_t size = std::min<int64_t>(
          llvm::bit_floor(uint64_t(extent - offset)), longest);
      stretches.push_back({offset, size});
      offset += size;
    }
    count *= stretches.size();
  }
}

SmallVector<size_t> Pieces::getStretchesOf(size_t piece) const {
  SmallVector<size_t> result(dims.size());
  for (size_t dim = dims.size(); dim-- > 0;) {
    result[dim] = piece % dims[dim].size();
    piece /= dims[dim].size();
  }
  return result;
}

size_t Pieces::getPiece(ArrayRef<size_t> stretches) const {
  size_t piece = 0;
  for (auto [dim, stretch] : llvm::zip_equal(dims, stretches))
    piece = piece * dim.size() + stretch;
  return piece;
}

SmallVector<int64_t> Pieces::getShape(size_t piece) const {
  SmallVector<int64_t> shape;
  for (auto [dim, stretch] : llvm::zip_equal(dims, getStretchesOf(piece)))
    shape.push_back(dim[stretch].size);
  return shape;
}

SmallVector<int64_t> Pieces::getOffsets(size_t piece) const {
  SmallVector<int64_t> offsets;
  for (auto [dim, stretch] : llvm::zip_equal(dims, getStretchesOf(piece)))
    offsets.push_back(dim[stretch].offset);
  return offsets;
}

PieceConverter::PieceConverter(int64_t longest) : longest(longest) {
  addConversion([](Type type) { return type; });
  addConversion(
      [longest](RankedTensorType type,
                SmallVectorImpl<Type> &types) -> std::optional<LogicalResult> {
        Pieces pieces(type, longest);
        if (type.getEncoding() || pieces.size() == 1)
          return std::nullopt;
        for (size_t piece = 0; piece < pieces.size(); ++piece)
          types.push_back(type.clone(pieces.getShape(piece)));
        return success();
      });
}

//===----------------------------------------------------------------------===//
// Facts about elements
//===----------------------------------------------------------------------===//

/// The facts that `op` notes of its result, as they are true of a piece. A run
/// of neighbours may be cut.
static void noteFactsOfPiece(Operation *op, ArrayRef<int64_t> shape) {
  auto getFacts = [&](StringRef name) -> SmallVector<int64_t> {
    auto facts = op->getAttrOfType<DenseIntElementsAttr>(name);
    if (!facts || facts.getNumElements() != int64_t(shape.size()))
      return {};
    return llvm::map_to_vector(facts.getValues<APInt>(), [](const APInt &fact) {
      return fact.getSExtValue();
    });
  };
  auto setFacts = [&](StringRef name, ArrayRef<int64_t> facts) {
    auto type = op->getAttrOfType<DenseIntElementsAttr>(name).getType();
    auto values = llvm::map_to_vector(facts, [&](int64_t fact) {
      return APInt(type.getElementTypeBitWidth(), fact);
    });
    op->setAttr(name, DenseIntElementsAttr::get(type, values));
  };
  SmallVector<int64_t> contiguity = getFacts(kContiguityAttr);
  SmallVector<int64_t> divisibility = getFacts(kDivisibilityAttr);
  SmallVector<int64_t> constancy = getFacts(kConstancyAttr);
  for (auto [dim, extent] : llvm::enumerate(shape)) {
    // Pieces start at multiples of their extents, and so within a run.
    auto cut = [&, extent = extent](int64_t &fact) {
      fact = std::min(llvm::bit_floor(uint64_t(fact)), uint64_t(extent));
    };
    if (!divisibility.empty() &&
        (contiguity.empty() || contiguity[dim] > extent ||
         !llvm::isPowerOf2_64(contiguity[dim])))
      cut(divisibility[dim]);
    if (!contiguity.empty())
      cut(contiguity[dim]);
    if (!constancy.empty())
      cut(constancy[dim]);
  }
  if (!divisibility.empty())
    setFacts(kDivisibilityAttr, divisibility);
  if (!contiguity.empty())
    setFacts(kContiguityAttr, contiguity);
  if (!constancy.empty())
    setFacts(kConstancyAttr, constancy);
}

Operation *triton::clonePiece(OpBuilder &builder, Operation *op,
                              ValueRange operands, TypeRange results) {
  Operation *copy = op->clone();
  copy->setOperands(operands);
  for (auto [result, type] : llvm::zip_equal(copy->getResults(), results))
    result.setType(type);
  if (copy->getNumResults() == 1)
    if (auto tensor = dyn_cast<RankedTensorType>(results.front()))
      noteFactsOfPiece(copy, tensor.getShape());
  builder.insert(copy);
  return copy;
}

Value triton::splatNumber(OpBuilder &builder, Location loc,
                          RankedTensorType type, int64_t value) {
  Attribute number = builder.getIntegerAttr(type.getElementType(), value);
  return arith::ConstantOp::create(builder, loc,
                                   SplatElementsAttr::get(type, number));
}

//===----------------------------------------------------------------------===//
// Operations of which each piece of a result needs one piece of each operand
//===----------------------------------------------------------------------===//

bool triton::isPiecewise(Operation *op) {
  return op->hasTrait<mlir::OpTrait::Elementwise>() ||
         isa<AddPtrOp, LoadOp, StoreOp, AtomicRMWOp, AtomicCASOp,
             MapElementwiseOp, ElementwiseInlineAsmOp, ExternElementwiseOp,
             IntToPtrOp, PtrToIntOp, BitcastOp, FpToFpOp, ClampFOp, MulhiUIOp,
             PreciseSqrtOp, PreciseDivFOp, AssertOp, SplatOp, ExpandDimsOp,
             JoinOp, SplitOp, CatOp, DescriptorGatherOp, DescriptorScatterOp>(
             op);
}

/// A map of several elements at a time takes neighbours, which must not be in
/// different pieces.
static LogicalResult checkPack(Operation *op) {
  auto map = dyn_cast<MapElementwiseOp>(op);
  if (!map || map.getPack() == 1)
    return success();
  auto type = cast<RankedTensorType>(map.getSrcs().front().getType());
  int64_t row = type.getRank() ? type.getShape().back() : 1;
  if (row % map.getPack() == 0)
    return success();
  return op->emitOpError("expected a last extent that is a multiple of pack = ")
         << map.getPack() << ", found " << row;
}

/// Pieces of equal blocks of pointers have no address in common, unless the
/// program has one twice.
static void noteAccess(Operation *op, Operation *copy, size_t piece) {
  if (!isa<LoadOp, StoreOp, AtomicRMWOp, AtomicCASOp>(op))
    return;
  auto block = cast<RankedTensorType>(op->getOperand(0).getType());
  SmallVector<int32_t> place = {static_cast<int32_t>(piece)};
  for (int64_t extent : block.getShape())
    place.push_back(static_cast<int32_t>(extent));
  copy->setAttr(kPieceAttrName,
                DenseI32ArrayAttr::get(op->getContext(), place));
}

namespace {

struct SplitPiecewise : public ConversionPattern {
  SplitPiecewise(const TypeConverter &converter, MLIRContext *context)
      : ConversionPattern(converter, MatchAnyOpTypeTag(), /*benefit=*/1,
                          context) {}

  LogicalResult
  matchAndRewrite(Operation *op, ArrayRef<ValueRange> operands,
                  ConversionPatternRewriter &rewriter) const override {
    if (!isPiecewise(op))
      return rewriter.notifyMatchFailure(op, "pieces depend on each other");
    if (failed(checkPack(op)))
      return failure();
    SmallVector<SmallVector<Type>> types(op->getNumResults());
    size_t count = 1;
    for (auto [type, pieces] : llvm::zip_equal(op->getResultTypes(), types)) {
      if (failed(getTypeConverter()->convertType(type, pieces)))
        return rewriter.notifyMatchFailure(op, "result has no conversion");
      count = std::max(count, pieces.size());
    }
    for (ValueRange pieces : operands)
      count = std::max(count, pieces.size());

    SmallVector<SmallVector<Value>> results(op->getNumResults());
    for (size_t piece = 0; piece < count; ++piece) {
      SmallVector<Value> values;
      for (ValueRange pieces : operands)
        values.push_back(pieces.size() == 1 ? pieces.front() : pieces[piece]);
      SmallVector<Type> pieceTypes;
      for (ArrayRef<Type> pieces : types)
        pieceTypes.push_back(pieces[piece]);
      Operation *copy = clonePiece(rewriter, op, values, pieceTypes);
      noteAccess(op, copy, piece);
      for (auto [pieces, value] : llvm::zip_equal(results, copy->getResults()))
        pieces.push_back(value);
    }
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }
};

struct SplitConstant : public PiecePattern<arith::ConstantOp> {
  using PiecePattern::PiecePattern;

  LogicalResult
  matchAndRewrite(arith::ConstantOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
    auto type = dyn_cast<RankedTensorType>(op.getType());
    if (!elements || !type)
      return rewriter.notifyMatchFailure(op, "elements are not known");
    Pieces pieces = getPieces(type);
    SmallVector<Value> results;
    for (size_t piece = 0; piece < pieces.size(); ++piece)
      results.push_back(arith::ConstantOp::create(
          rewriter, op.getLoc(), getPiece(elements, type, pieces, piece)));
    rewriter.replaceOpWithMultiple(op, {results});
    return success();
  }

private:
  static TypedAttr getPiece(DenseElementsAttr elements, RankedTensorType type,
                            const Pieces &pieces, size_t piece) {
    SmallVector<int64_t> shape = pieces.getShape(piece);
    RankedTensorType part = type.clone(shape);
    if (elements.isSplat())
      return elements.resizeSplat(part);
    SmallVector<int64_t> offsets = pieces.getOffsets(piece);
    SmallVector<Attribute> values;
    auto all = elements.getValues<Attribute>();
    for (int64_t i = 0, e = part.getNumElements(); i < e; ++i) {
      int64_t rest = i, place = 0, stride = 1;
      for (int64_t dim = type.getRank(); dim-- > 0;) {
        place += (rest % shape[dim] + offsets[dim]) * stride;
        rest /= shape[dim];
        stride *= type.getDimSize(dim);
      }
      values.push_back(all[place]);
    }
    return DenseElementsAttr::get(part, values);
  }
};

struct SplitRange : public PiecePattern<MakeRangeOp> {
  using PiecePattern::PiecePattern;

  LogicalResult
  matchAndRewrite(MakeRangeOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Pieces pieces = getPieces(op.getType());
    SmallVector<Value> results;
    for (Stretch stretch : pieces.getStretches(0)) {
      auto start = static_cast<int32_t>(op.getStart() + stretch.offset);
      results.push_back(MakeRangeOp::create(
          rewriter, op.getLoc(), op.getType().clone({stretch.size}), start,
          static_cast<int32_t>(start + stretch.size)));
    }
    rewriter.replaceOpWithMultiple(op, {results});
    return success();
  }
};

struct SplitBroadcast : public PiecePattern<BroadcastOp> {
  using PiecePattern::PiecePattern;

  LogicalResult
  matchAndRewrite(BroadcastOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RankedTensorType type = op.getType();
    Pieces sources = getPieces(op.getSrc().getType()), pieces = getPieces(type);
    SmallVector<Value> results;
    for (size_t piece = 0; piece < pieces.size(); ++piece) {
      SmallVector<size_t> stretches = pieces.getStretchesOf(piece);
      for (auto [dim, stretch] : llvm::enumerate(stretches))
        if (op.getSrc().getType().getDimSize(dim) == 1)
          stretch = 0;
      results.push_back(rewriter.createOrFold<BroadcastOp>(
          op.getLoc(), type.clone(pieces.getShape(piece)),
          adaptor.getSrc()[sources.getPiece(stretches)]));
    }
    rewriter.replaceOpWithMultiple(op, {results});
    return success();
  }
};

struct SplitTrans : public PiecePattern<TransOp> {
  using PiecePattern::PiecePattern;

  LogicalResult
  matchAndRewrite(TransOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Pieces sources = getPieces(op.getSrc().getType()),
           pieces = getPieces(op.getType());
    SmallVector<Value> results;
    for (size_t piece = 0; piece < pieces.size(); ++piece) {
      SmallVector<size_t> stretches = pieces.getStretchesOf(piece),
                          from(stretches.size());
      for (auto [stretch, dim] : llvm::zip_equal(stretches, op.getOrder()))
        from[dim] = stretch;
      results.push_back(TransOp::create(
          rewriter, op.getLoc(), adaptor.getSrc()[sources.getPiece(from)],
          op.getOrder()));
    }
    rewriter.replaceOpWithMultiple(op, {results});
    return success();
  }
};

//===----------------------------------------------------------------------===//
// What people look at
//===----------------------------------------------------------------------===//

/// Each piece says where in the tensor it begins.
struct SplitPrint : public PiecePattern<PrintOp> {
  using PiecePattern::PiecePattern;

  LogicalResult
  matchAndRewrite(PrintOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    for (auto [n, values] : llvm::enumerate(adaptor.getArgs())) {
      auto sign = op.getIsSigned().slice(n, n < op.getIsSigned().size());
      std::string prefix = op.getPrefix().str();
      if (op.getArgs().size() > 1)
        prefix += "(operand " + std::to_string(n) + ") ";
      for (auto [piece, value] : llvm::enumerate(values)) {
        auto print = PrintOp::create(rewriter, op.getLoc(), prefix, op.getHex(),
                                     value, sign);
        if (values.size() == 1)
          continue;
        SmallVector<int64_t> offsets =
            getPieces(op.getArgs()[n].getType()).getOffsets(piece);
        print->setDiscardableAttr(kFirstIndexAttrName,
                                  rewriter.getDenseI32ArrayAttr(
                                      llvm::to_vector_of<int32_t>(offsets)));
      }
    }
    rewriter.eraseOp(op);
    return success();
  }
};

/// A variable of the program becomes a variable for each piece: `x[0:64]`.
struct SplitDebugValue : public PiecePattern<debug::ValueOp> {
  using PiecePattern::PiecePattern;

  LogicalResult
  matchAndRewrite(debug::ValueOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Pieces pieces = getPieces(op.getValue().getType());
    for (auto [piece, value] : llvm::enumerate(adaptor.getValue())) {
      std::string name = op.getName().str() + "[";
      for (auto [dim, offset, size] :
           llvm::enumerate(pieces.getOffsets(piece), pieces.getShape(piece)))
        name += (dim ? ", " : "") + std::to_string(offset) + ":" +
                std::to_string(offset + size);
      debug::ValueOp::create(rewriter, op.getLoc(), op.getMask(), name + "]",
                             op.getType(), value);
    }
    if (!op.getMask())
      debug::ConstantOp::create(
          rewriter, op.getLoc(), op.getName(),
          llvm::formatv("{0}, in pieces", op.getValue().getType()).str());
    rewriter.eraseOp(op);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Dots
//===----------------------------------------------------------------------===//

/// The dots of the pieces along the contracted dimension are added up, the
/// first ones first.
template <typename OpT> struct SplitDot : public PiecePattern<OpT> {
  using PiecePattern<OpT>::PiecePattern;
  using OneToNOpAdaptor = typename OpConversionPattern<OpT>::OneToNOpAdaptor;

  LogicalResult
  matchAndRewrite(OpT op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto [inner, outer] =
        std::pair(op.getType().getRank() - 1, op.getType().getRank() - 2);
    Pieces a = this->getPieces(op.getA().getType()),
           d = this->getPieces(op.getType());
    // Packed elements and scales have the same stretches, of other sizes.
    size_t depth = a.getStretches(inner).size();
    SmallVector<Value> results;
    for (size_t piece = 0; piece < d.size(); ++piece) {
      SmallVector<size_t> place = d.getStretchesOf(piece);
      Value sum = adaptor.getC()[piece];
      for (size_t k = 0; k < depth; ++k) {
        SmallVector<size_t> row(place), column(place), scale(place);
        row[inner] = scale[inner] = column[outer] = k;
        scale[outer] = place[inner];
        SmallVector<Value> operands;
        for (auto [operand, pieces] :
             llvm::zip_equal(op->getOperands(), adaptor.getOperands())) {
          if (operands.size() == 2) {
            operands.push_back(sum);
            continue;
          }
          bool isLeft = operands.empty() || isScaleOfA(op, operands.size());
          ArrayRef<size_t> from = isLeft                 ? row
                                  : operands.size() == 1 ? column
                                                         : scale;
          operands.push_back(
              pieces[this->getPieces(operand.getType()).getPiece(from)]);
        }
        sum = clonePiece(rewriter, op, operands, sum.getType())->getResult(0);
      }
      results.push_back(sum);
    }
    rewriter.replaceOpWithMultiple(op, {results});
    return success();
  }

private:
  static bool isScaleOfA(OpT op, size_t operand) {
    if constexpr (std::is_same_v<OpT, DotScaledOp>)
      return operand == 3 && op.getAScale();
    return false;
  }
};

} // namespace

void triton::populateSplitPatterns(const PieceConverter &converter,
                                   RewritePatternSet &patterns) {
  patterns.add<SplitPiecewise, SplitConstant, SplitRange, SplitBroadcast,
               SplitTrans, SplitPrint, SplitDebugValue, SplitDot<DotOp>,
               SplitDot<DotScaledOp>>(converter, patterns.getContext());
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

struct TritonSplitShapes
    : public triton::impl::TritonSplitShapesBase<TritonSplitShapes> {
  using Base::Base;

  void runOnOperation() override {
    if (!hasValueOfType(getOperation(), isSplit))
      return;
    MLIRContext *context = &getContext();
    PieceConverter converter;
    ConversionTarget target(*context);
    RewritePatternSet patterns(context);
    populateDecompositionPatterns(converter, patterns, target);
    populateSplitPatterns(converter, patterns);
    populateSplitReducePatterns(converter, patterns);
    populateSplitCollectivePatterns(converter, patterns);
    populateSplitReshapePatterns(converter, patterns);
    if (failed(applyDecomposition(getOperation(), target, std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace

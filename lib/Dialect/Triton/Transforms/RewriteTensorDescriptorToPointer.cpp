//===-- RewriteTensorDescriptorToPointer.cpp - Blocks by pointers ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensor descriptors to tensors of pointers, for machines without hardware for
// descriptors.
//
//===----------------------------------------------------------------------===//

#include "BlockAccess.h"
#include "DecomposeTypes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "tile/Analysis/AxisInfo.h"
#include "tile/Dialect/Triton/IR/DescriptorArguments.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/Triton/IR/HintAttributes.h"
#include "tile/Dialect/Triton/Transforms/Passes.h"

#define DEBUG_TYPE "triton-rewrite-tensor-descriptor-to-pointer"

namespace mlir::triton {
#define GEN_PASS_DEF_TRITONREWRITETENSORDESCRIPTORTOPOINTER
#include "tile/Dialect/Triton/Transforms/Passes.h.inc"
} // namespace mlir::triton

using namespace mlir;
using namespace mlir::triton;

//===----------------------------------------------------------------------===//
// The parts of a descriptor
//===----------------------------------------------------------------------===//

namespace {

/// A descriptor as values: base, shape (i32), strides (i64), and whether
/// elements out of bounds read as NaN (i1). Where a kernel takes a descriptor
/// whose loads round to tf32, those of f32 also say whether theirs do (i1).
struct Parts : StridedParts {
  Parts(ValueRange values) : StridedParts(values, (values.size() - 2) / 2) {}
  Value getPadWithNan() const { return getRest().front(); }
  Value getRoundsToTF32() const {
    return getRest().size() > 1 ? getRest().back() : Value();
  }
};

} // namespace

/// The addresses of a tensor whose elements lie at `indices`.
static BlockAccess makeAccess(OpBuilder &builder, Location loc, Parts parts,
                              ArrayRef<Value> indices) {
  SmallVector<BlockDim> dims;
  for (auto [index, stride, bound] :
       llvm::zip_equal(indices, parts.getStrides(), parts.getShape()))
    dims.push_back({index, stride, extendToI64(builder, loc, bound)});
  return makeBlockAccess(builder, loc, parts.getBase(), dims);
}

/// The addresses of the block that starts at `offsets`.
static BlockAccess makeBlock(OpBuilder &builder, Location loc, Parts parts,
                             TensorDescType desc, ValueRange offsets) {
  SmallVector<Value> indices;
  for (auto [offset, size] :
       llvm::zip_equal(offsets, desc.getBlockType().getShape()))
    indices.push_back(
        makeIndices(builder, loc, extendToI64(builder, loc, offset), size));
  return makeAccess(builder, loc, parts, indices);
}

/// The addresses of parts of the given rows that start at column `offset`.
static BlockAccess makeRows(OpBuilder &builder, Location loc, Parts parts,
                            TensorDescType desc, Value rows, Value offset) {
  Value columns = makeIndices(builder, loc, extendToI64(builder, loc, offset),
                              desc.getBlockType().getDimSize(1));
  return makeAccess(builder, loc, parts,
                    {extendToI64(builder, loc, rows), columns});
}

/// What elements out of bounds read as.
static Value makePadding(OpBuilder &builder, Location loc, Parts parts,
                         RankedTensorType type) {
  Value zero = makePadding(builder, loc, type, /*nan=*/false);
  APInt nan;
  bool known = matchPattern(parts.getPadWithNan(), m_ConstantInt(&nan));
  if (!isa<FloatType>(type.getElementType()) || (known && nan.isZero()))
    return zero;
  Value nans = makePadding(builder, loc, type, /*nan=*/true);
  if (known)
    return nans;
  return arith::SelectOp::create(builder, loc, parts.getPadWithNan(), nans,
                                 zero);
}

/// Rounds elements of f32 to the nearest of tf32, of two the even one, as copy
/// engines do. What is not finite stays.
static Value roundToTF32(OpBuilder &builder, Location loc, Parts parts,
                         Value loaded) {
  Value rounds = parts.getRoundsToTF32();
  if (!rounds || matchPattern(rounds, m_Zero()))
    return loaded;
  auto type = cast<RankedTensorType>(loaded.getType());
  auto bitsType = type.clone(builder.getI32Type());
  auto splat = [&](int32_t value) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     DenseElementsAttr::get(bitsType, value));
  };
  Value bits = BitcastOp::create(builder, loc, bitsType, loaded);
  // Half of the last place that stays, less one if that place is even.
  Value odd = arith::AndIOp::create(
      builder, loc, arith::ShRUIOp::create(builder, loc, bits, splat(13)),
      splat(1));
  Value half = arith::AddIOp::create(builder, loc, odd, splat(0xfff));
  Value rounded = arith::AndIOp::create(
      builder, loc, arith::AddIOp::create(builder, loc, bits, half),
      splat(~0x1fff));
  Value exponent = splat(0x7f800000);
  Value isFinite = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::ne,
      arith::AndIOp::create(builder, loc, bits, exponent), exponent);
  if (!matchPattern(rounds, m_One())) {
    Value all =
        SplatOp::create(builder, loc, type.clone(builder.getI1Type()), rounds);
    isFinite = arith::AndIOp::create(builder, loc, isFinite, all);
  }
  Value result = arith::SelectOp::create(builder, loc, isFinite, rounded, bits);
  return BitcastOp::create(builder, loc, type, result);
}

/// A tensor in a shape that differs in leading dimensions of size one.
static Value reshapeTo(OpBuilder &builder, Location loc, Value value,
                       ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getShape() == shape)
    return value;
  return ReshapeOp::create(builder, loc, shape, value);
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {

struct RewriteMake : public OpConversionPattern<MakeTensorDescOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(MakeTensorDescOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertType(op.getType(), types)))
      return failure();
    SmallVector<Value> parts = {op.getBase()};
    llvm::append_range(parts, op.getShape());
    llvm::append_range(parts, op.getStrides());
    bool nan = op.getPadding() == PaddingOption::PAD_NAN;
    parts.push_back(arith::ConstantOp::create(rewriter, op.getLoc(),
                                              rewriter.getBoolAttr(nan)));
    // Those of kernels never round.
    if (parts.size() < types.size())
      parts.push_back(arith::ConstantOp::create(rewriter, op.getLoc(),
                                                rewriter.getBoolAttr(false)));
    rewriter.replaceOpWithMultiple(op, {parts});
    return success();
  }
};

/// A pattern for an access, which it counts.
template <typename OpT> struct RewriteAccess : public OpConversionPattern<OpT> {
  using OneToNOpAdaptor = typename OpConversionPattern<OpT>::OneToNOpAdaptor;

  RewriteAccess(const TypeConverter &converter, MLIRContext *context,
                PassStatistic &count)
      : OpConversionPattern<OpT>(converter, context), count(count) {}

  LogicalResult
  matchAndRewrite(OpT op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (failed(rewrite(op, adaptor.getDesc(), rewriter)))
      return failure();
    ++count;
    return success();
  }

  virtual LogicalResult rewrite(OpT op, Parts parts,
                                ConversionPatternRewriter &rewriter) const = 0;

  PassStatistic &count;
};

struct RewriteLoad : public RewriteAccess<DescriptorLoadOp> {
  using RewriteAccess::RewriteAccess;

  LogicalResult rewrite(DescriptorLoadOp op, Parts parts,
                        ConversionPatternRewriter &rewriter) const override {
    if (op.getType().getEncoding())
      return rewriter.notifyMatchFailure(op, "layouts have been chosen");
    TensorDescType desc = op.getDesc().getType();
    BlockAccess access =
        makeBlock(rewriter, op.getLoc(), parts, desc, op.getIndices());
    Value other = ::makePadding(rewriter, op.getLoc(), parts,
                                desc.getUnencodedBlockType());
    Value loaded =
        LoadOp::create(rewriter, op.getLoc(), access.pointers, access.mask,
                       other, op.getCache(), op.getEvict());
    loaded = roundToTF32(rewriter, op.getLoc(), parts, loaded);
    rewriter.replaceOp(
        op, reshapeTo(rewriter, op.getLoc(), loaded, op.getType().getShape()));
    return success();
  }
};

struct RewriteStore : public RewriteAccess<DescriptorStoreOp> {
  using RewriteAccess::RewriteAccess;

  LogicalResult rewrite(DescriptorStoreOp op, Parts parts,
                        ConversionPatternRewriter &rewriter) const override {
    if (op.getSrc().getType().getEncoding())
      return rewriter.notifyMatchFailure(op, "layouts have been chosen");
    TensorDescType desc = op.getDesc().getType();
    BlockAccess access =
        makeBlock(rewriter, op.getLoc(), parts, desc, op.getIndices());
    Value src = reshapeTo(rewriter, op.getLoc(), op.getSrc(),
                          desc.getBlockType().getShape());
    rewriter.replaceOpWithNewOp<StoreOp>(op, access.pointers, src, access.mask,
                                         CacheModifier::NONE, getEviction(op));
    return success();
  }
};

struct RewriteReduce : public RewriteAccess<DescriptorReduceOp> {
  using RewriteAccess::RewriteAccess;

  LogicalResult rewrite(DescriptorReduceOp op, Parts parts,
                        ConversionPatternRewriter &rewriter) const override {
    RankedTensorType type = op.getSrc().getType();
    if (type.getEncoding())
      return rewriter.notifyMatchFailure(op, "layouts have been chosen");
    TensorDescType desc = op.getDesc().getType();
    std::optional<RMWOp> kind =
        getAtomicKind(op.getKind(), desc.getBlockType().getElementType());
    if (!kind)
      return op.emitOpError("expected a reduction that is an atomic operation "
                            "on this target, found '")
             << stringifyDescriptorReduceKind(op.getKind()) << "' of "
             << type.getElementType();
    BlockAccess access =
        makeBlock(rewriter, op.getLoc(), parts, desc, op.getIndices());
    Value src = reshapeTo(rewriter, op.getLoc(), op.getSrc(),
                          desc.getBlockType().getShape());
    if (isa<FloatType>(type.getElementType()) && *kind != RMWOp::FADD)
      reduceAsIntegers(rewriter, op, *kind, access, src);
    else
      createAtomic(rewriter, op, *kind, access.pointers, src, access.mask);
    rewriter.eraseOp(op);
    return success();
  }

private:
  static void createAtomic(OpBuilder &b, DescriptorReduceOp op, RMWOp kind,
                           Value pointers, Value src, Value mask) {
    auto atomic =
        AtomicRMWOp::create(b, op.getLoc(), src.getType(), kind, pointers, src,
                            mask, MemSemantic::RELAXED, MemSyncScope::GPU);
    copyEviction(op, atomic);
  }

  /// The smaller or larger of floats, for which there is no atomic operation.
  /// Those of one sign compare as integers do: without the sign bit in the same
  /// order, with it in the opposite one, unsigned.
  static void reduceAsIntegers(OpBuilder &b, DescriptorReduceOp op, RMWOp kind,
                               const BlockAccess &access, Value src) {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(src.getType());
    auto pointers = cast<RankedTensorType>(access.pointers.getType());
    Type integer = b.getIntegerType(type.getElementTypeBitWidth());
    unsigned space =
        cast<PointerType>(pointers.getElementType()).getAddressSpace();
    Value bits = BitcastOp::create(b, loc, type.clone(integer), src);
    Value places = BitcastOp::create(
        b, loc, pointers.clone(PointerType::get(integer, space)),
        access.pointers);
    Value zero =
        arith::ConstantOp::create(b, loc, b.getZeroAttr(bits.getType()));
    auto masked = [&](arith::CmpIPredicate sign) -> Value {
      Value has = arith::CmpIOp::create(b, loc, sign, bits, zero);
      return access.mask ? arith::AndIOp::create(b, loc, access.mask, has)
                         : has;
    };
    bool isMax = kind == RMWOp::MAX;
    createAtomic(b, op, isMax ? RMWOp::MAX : RMWOp::MIN, places, bits,
                 masked(arith::CmpIPredicate::sge));
    createAtomic(b, op, isMax ? RMWOp::UMIN : RMWOp::UMAX, places, bits,
                 masked(arith::CmpIPredicate::slt));
  }

  /// Integers that do not say what they are count as signed.
  static std::optional<RMWOp> getAtomicKind(DescriptorReduceKind kind,
                                            Type element) {
    if (element.getIntOrFloatBitWidth() < 16)
      return std::nullopt;
    if (isa<FloatType>(element)) {
      if (kind == DescriptorReduceKind::ADD)
        return RMWOp::FADD;
      if (kind == DescriptorReduceKind::MIN)
        return RMWOp::MIN;
      if (kind == DescriptorReduceKind::MAX)
        return RMWOp::MAX;
      return std::nullopt;
    }
    switch (kind) {
    case DescriptorReduceKind::ADD:
      return RMWOp::ADD;
    case DescriptorReduceKind::MIN:
      return element.isUnsignedInteger() ? RMWOp::UMIN : RMWOp::MIN;
    case DescriptorReduceKind::MAX:
      return element.isUnsignedInteger() ? RMWOp::UMAX : RMWOp::MAX;
    case DescriptorReduceKind::AND:
      return RMWOp::AND;
    case DescriptorReduceKind::OR:
      return RMWOp::OR;
    case DescriptorReduceKind::XOR:
      return RMWOp::XOR;
    case DescriptorReduceKind::INC:
    case DescriptorReduceKind::DEC:
      return std::nullopt;
    }
    return std::nullopt;
  }
};

struct RewriteGather : public RewriteAccess<DescriptorGatherOp> {
  using RewriteAccess::RewriteAccess;

  LogicalResult rewrite(DescriptorGatherOp op, Parts parts,
                        ConversionPatternRewriter &rewriter) const override {
    if (op.getType().getEncoding())
      return rewriter.notifyMatchFailure(op, "layouts have been chosen");
    BlockAccess access =
        makeRows(rewriter, op.getLoc(), parts, op.getDesc().getType(),
                 op.getXOffsets(), op.getYOffset());
    Value other = ::makePadding(rewriter, op.getLoc(), parts, op.getType());
    Value loaded = LoadOp::create(rewriter, op.getLoc(), access.pointers,
                                  access.mask, other);
    rewriter.replaceOp(op, roundToTF32(rewriter, op.getLoc(), parts, loaded));
    return success();
  }
};

struct RewriteScatter : public RewriteAccess<DescriptorScatterOp> {
  using RewriteAccess::RewriteAccess;

  LogicalResult rewrite(DescriptorScatterOp op, Parts parts,
                        ConversionPatternRewriter &rewriter) const override {
    if (op.getSrc().getType().getEncoding())
      return rewriter.notifyMatchFailure(op, "layouts have been chosen");
    BlockAccess access =
        makeRows(rewriter, op.getLoc(), parts, op.getDesc().getType(),
                 op.getXOffsets(), op.getYOffset());
    rewriter.replaceOpWithNewOp<StoreOp>(op, access.pointers, op.getSrc(),
                                         access.mask);
    return success();
  }
};

/// A descriptor that a kernel takes.
struct KernelArgument {
  FuncOp func;
  unsigned index; ///< where its parts begin
  TensorDescType type;
  int64_t rowBytes; ///< what its rows are known to be multiples of, or zero
  bool isZeroPadded;
  bool roundsToTF32;
  bool saysRounding; ///< whether a part of it is whether loads round to tf32
};

/// Notes what the host promises of a descriptor. The base and the strides are
/// multiples of 16 bytes, but for the last stride, which is one. If it says so
/// of this one, rows are such multiples, too, and what is out of bounds is
/// zero.
static void noteKernelArgument(const KernelArgument &argument) {
  FuncOp func = argument.func;
  unsigned base = argument.index;
  TensorDescType desc = argument.type;
  Builder builder(func.getContext());
  auto note = [&](unsigned index, int64_t divisibility) {
    func.setArgAttr(index, kDivisibilityAttr,
                    builder.getI32IntegerAttr(divisibility));
  };
  unsigned rank = desc.getBlockType().getRank();
  note(base, 16);
  int64_t bits = desc.getElementType().getIntOrFloatBitWidth();
  if (argument.rowBytes)
    note(base + rank, std::max<int64_t>(1, argument.rowBytes * 8 / bits));
  unsigned strides = base + 1 + rank;
  for (unsigned i = 0; i + 1 < rank; ++i)
    note(strides + i, std::max<int64_t>(1, 128 / bits));
  if (func.isExternal())
    return;
  OpBuilder body = OpBuilder::atBlockBegin(&func.getBody().front());
  auto isAlways = [&](unsigned index, int64_t value) {
    Value part = func.getArgument(index);
    part.replaceAllUsesWith(arith::ConstantIntOp::create(
        body, part.getLoc(), part.getType(), value));
  };
  isAlways(strides + rank - 1, 1);
  if (argument.isZeroPadded)
    isAlways(strides + rank, 0);
  if (argument.saysRounding)
    isAlways(strides + rank + 1, argument.roundsToTF32);
}

/// Erases the part that says whether loads round: the host does not pass it.
static LogicalResult eraseRounding(const KernelArgument &argument) {
  if (!argument.saysRounding)
    return success();
  unsigned rank = argument.type.getBlockType().getRank();
  FuncOp func = argument.func;
  return func.eraseArgument(argument.index + 2 + 2 * rank);
}

struct TritonRewriteTensorDescriptorToPointer
    : public triton::impl::TritonRewriteTensorDescriptorToPointerBase<
          TritonRewriteTensorDescriptorToPointer> {
  using Base::Base;

  void runOnOperation() override {
    if (onlySplit && !hasValueOfType(getOperation(), isSplitDescriptor))
      return;
    MLIRContext *context = &getContext();
    FailureOr<bool> mayRound = hasRoundingArgument();
    if (failed(mayRound))
      return signalPassFailure();
    TypeConverter converter;
    converter.addConversion([](Type type) { return type; });
    converter.addConversion(
        [&](TensorDescType type,
            SmallVectorImpl<Type> &types) -> std::optional<LogicalResult> {
          if (!isRewritten(type))
            return std::nullopt;
          llvm::append_range(types, getPartTypes(type));
          if (*mayRound && type.getElementType().isF32())
            types.push_back(IntegerType::get(context, 1));
          return success();
        });

    ConversionTarget target(*context);
    RewritePatternSet patterns(context);
    populateDecompositionPatterns(converter, patterns, target);
    patterns.add<RewriteMake>(converter, context);
    patterns.add<RewriteLoad, RewriteStore, RewriteReduce, RewriteGather,
                 RewriteScatter>(converter, context, numAccesses);
    SmallVector<KernelArgument> arguments;
    getOperation()->walk([&](FuncOp func) {
      if (!func.isPublic())
        return;
      unsigned index = 0;
      for (auto [i, type] : llvm::enumerate(func.getArgumentTypes())) {
        SmallVector<Type> parts;
        (void)converter.convertType(type, parts);
        auto desc = dyn_cast<TensorDescType>(type);
        if (desc && (isRewritten(desc) || !onlySplit)) {
          auto rows = func.removeArgAttr(i, kDivisibilityAttr);
          bool isZeroPadded(func.removeArgAttr(i, kZeroPaddedAttrName));
          if (isRewritten(desc)) {
            bool rounds(func.removeArgAttr(i, kRoundsToTF32AttrName));
            arguments.push_back({func, index, desc,
                                 rows ? cast<IntegerAttr>(rows).getInt() : 0,
                                 isZeroPadded, rounds,
                                 parts.size() > getPartTypes(desc).size()});
          }
        }
        index += parts.size();
      }
    });
    if (failed(applyDecomposition(getOperation(), target, std::move(patterns))))
      return signalPassFailure();
    llvm::for_each(arguments, noteKernelArgument);
    for (const KernelArgument &argument : llvm::reverse(arguments))
      if (failed(eraseRounding(argument)))
        return signalPassFailure();
  }

private:
  /// Whether there is an argument to rewrite whose loads round.
  FailureOr<bool> hasRoundingArgument() {
    bool found = false;
    for (auto func : getOperation().getOps<FuncOp>())
      for (auto [i, type] : llvm::enumerate(func.getArgumentTypes()))
        if (auto desc = dyn_cast<TensorDescType>(type);
            desc && isRewritten(desc)) {
          FailureOr<bool> rounds = roundsToTF32(func, i, desc.getElementType());
          if (failed(rounds))
            return failure();
          found |= *rounds;
        }
    return found;
  }

  static bool isSplitDescriptor(Type type) {
    auto desc = dyn_cast<TensorDescType>(type);
    return desc && isSplit(desc.getBlockType());
  }

  /// The copy engine serves those whose blocks have a layout.
  bool isRewritten(TensorDescType type) {
    return onlySplit ? isSplitDescriptor(type)
                     : !type.getBlockType().getEncoding();
  }
};

} // namespace

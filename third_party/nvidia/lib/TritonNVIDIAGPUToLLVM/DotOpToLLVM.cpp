//===-- DotOpToLLVM.cpp - mma.sync ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mma.m16n8kK on 32-bit registers: a thread gives, of A, for two rows (eight
// apart) two registers each, neighbours along the inner dimension in the low
// and in the high half of K; of B for one column the same two; and holds, of
// the result, two neighbouring columns of both rows. Which inner coordinates
// the halves are is for the operands to agree on, because the sum runs over all
// of them: the registers of both are taken in the order of their inner
// coordinates.
//
//===----------------------------------------------------------------------===//

#include "nvidia/TritonNVIDIAGPUToLLVM/Patterns.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"

using namespace mlir;
using namespace mlir::triton;
namespace nvt = mlir::triton::nvidia;
namespace ttg = mlir::triton::gpu;

namespace {
struct MmaShape {
  NVVM::MMATypes a, b;
  int64_t k;
  bool operandsAsHalf; ///< NVVM wants f16 pairs as vectors, all else as i32
};

std::optional<MmaShape> getMmaShape(Type a, Type b, Type d,
                                    const NVIDIATarget &facts) {
  using T = NVVM::MMATypes;
  bool toFloat = d.isF32();
  if (a.isF16() && b.isF16() && (toFloat || d.isF16()))
    return MmaShape{T::f16, T::f16, 16, true};
  if (a.isBF16() && b.isBF16() && toFloat)
    return MmaShape{T::bf16, T::bf16, 16, false};
  if (a.isF32() && b.isF32() && toFloat)
    return MmaShape{T::tf32, T::tf32, 8, false};
  if (a.isInteger(8) && b.isInteger(8) && d.isInteger(32))
    return MmaShape{T::s8, T::s8, 32, false};
  auto fp8 = [](Type type) -> std::optional<T> {
    if (isa<Float8E4M3FNType>(type))
      return T::e4m3;
    if (isa<Float8E5M2Type>(type))
      return T::e5m2;
    return std::nullopt;
  };
  if (facts.hasFP8Mma && fp8(a) && fp8(b) && toFloat)
    return MmaShape{*fp8(a), *fp8(b), 32, false};
  return std::nullopt;
}

struct DotMmaPattern : TargetPattern<DotOp> {
  DotMmaPattern(const LoweringContext &context, const nvt::TargetInfo &target)
      : TargetPattern(context.converter, context.target, context.benefit),
        facts(target.getFacts()) {}

  LogicalResult
  matchAndRewrite(DotOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto aType = cast<RankedTensorType>(op.getA().getType());
    auto bType = cast<RankedTensorType>(op.getB().getType());
    auto dType = cast<RankedTensorType>(op.getType());
    auto mma = dyn_cast<ttg::NvidiaMmaEncodingAttr>(dType.getEncoding());
    if (!mma || mma.getVersionMajor() != 2)
      return this->decline(op, "the result is not laid out for "
                               "mma.sync");
    std::optional<MmaShape> shape =
        getMmaShape(aType.getElementType(), bType.getElementType(),
                    dType.getElementType(), facts);
    if (!shape)
      return this->decline(
          op, "the target's mma.sync does not take these element types");

    unsigned rank = dType.getRank(), row = rank - 2, column = rank - 1;
    LinearLayout aLayout = toLinearLayout(aType),
                 bLayout = toLinearLayout(bType);
    // The lanes' shares of the inner dimension must be the same.
    for (unsigned i = 0, e = aLayout.getInDimSizeLog2(kLane); i < e; ++i)
      if (aLayout.getBasis(kLane, i, kDim(column)) !=
          bLayout.getBasis(kLane, i, kDim(row)))
        return this->decline(
            op, "the operands split the inner dimension differently");
    RegisterTable aTable(aLayout), bTable(bLayout),
        dTable(toLinearLayout(dType));
    SmallVector<int32_t> inner = aTable.getContributions(column);
    if (inner != bTable.getContributions(row))
      return this->decline(
          op, "the operands split the inner dimension differently");
    unsigned perRegister = 32 / aType.getElementTypeBitWidth();
    if (inner.size() % (2 * perRegister))
      return this->decline(
          op, "the inner dimension is shorter than that of the instruction");

    LLVMBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> aValues = unpackElements(b, adaptor.getA(), aType);
    SmallVector<Value> bValues = unpackElements(b, adaptor.getB(), bType);
    SmallVector<Value> dValues = unpackElements(b, adaptor.getC(), dType);
    Type dElement = dValues.front().getType();
    auto tiles = [&](unsigned dim, int32_t inTile) {
      SmallVector<int32_t> starts;
      for (int32_t at : dTable.getContributions(dim))
        if (!(at & inTile))
          starts.push_back(at);
      return starts;
    };
    SmallVector<int32_t> batches =
        rank == 3 ? dTable.getContributions(0) : SmallVector<int32_t>{0};
    auto at = [&](int32_t batch, int32_t i, int32_t j) {
      SmallVector<int32_t> coords{i, j};
      if (rank == 3)
        coords.insert(coords.begin(), batch);
      return coords;
    };
    bool complete = true;
    auto element = [&](ArrayRef<Value> values, const RegisterTable &table,
                       ArrayRef<int32_t> coords) {
      int32_t r = table.lookup(coords);
      complete &= r >= 0;
      return r < 0 ? values.front() : values[r];
    };
    // Many instructions share an operand register: pack each once.
    llvm::DenseMap<std::tuple<int32_t, int32_t, unsigned>, Value> aWords,
        bWords;
    auto word = [&](bool ofA, int32_t batch, int32_t outer, unsigned start) {
      Value &packed = (ofA ? aWords : bWords)[{batch, outer, start}];
      if (packed)
        return packed;
      SmallVector<Value> elements;
      for (unsigned i = 0; i < perRegister; ++i) {
        int32_t k = inner[start + i];
        elements.push_back(ofA ? element(aValues, aTable, at(batch, outer, k))
                               : element(bValues, bTable, at(batch, k, outer)));
      }
      packed = b.packVector(elements);
      if (!shape->operandsAsHalf)
        packed = b.bitcast(packed, b.intTy(32));
      return packed;
    };

    bool halfResult = dElement.isF16();
    SmallVector<Type> resultTypes(halfResult ? 2 : 4,
                                  halfResult ? LLVMBuilder::vecTy(dElement, 2)
                                             : dElement);
    Type resultType =
        LLVM::LLVMStructType::getLiteral(op.getContext(), resultTypes);
    std::optional<NVVM::MMAIntOverflow> overflow;
    if (dElement.isInteger(32))
      overflow = NVVM::MMAIntOverflow::wrapped;
    for (int32_t batch : batches)
      for (unsigned k = 0; k < inner.size(); k += 2 * perRegister)
        for (int32_t m : tiles(row, 8))
          for (int32_t n : tiles(column, 1)) {
            SmallVector<int32_t> places;
            for (int32_t dm : {0, 8})
              for (int32_t dn : {0, 1}) {
                int32_t r = dTable.lookup(at(batch, m | dm, n | dn));
                if (r < 0)
                  return this->decline(
                      op, "the result is smaller than the instruction");
                places.push_back(r);
              }
            SmallVector<Value> aArgs = {
                word(true, batch, m, k), word(true, batch, m | 8, k),
                word(true, batch, m, k + perRegister),
                word(true, batch, m | 8, k + perRegister)};
            SmallVector<Value> bArgs = {word(false, batch, n, k),
                                        word(false, batch, n, k + perRegister)};
            if (!complete)
              return this->decline(op,
                                   "a thread lacks elements of its operands");
            SmallVector<Value> cArgs;
            for (int32_t place : places)
              cArgs.push_back(dValues[place]);
            if (halfResult)
              cArgs = {b.packVector({cArgs[0], cArgs[1]}),
                       b.packVector({cArgs[2], cArgs[3]})};
            Value result = b.create<NVVM::MmaOp>(
                resultType, aArgs, bArgs, cArgs,
                ArrayRef<int64_t>{16, 8, shape->k}, std::nullopt, overflow,
                std::array<NVVM::MMATypes, 2>{shape->a, shape->b},
                std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row,
                                               NVVM::MMALayout::col});
            SmallVector<Value> sums;
            for (unsigned i = 0; i < resultTypes.size(); ++i)
              llvm::append_range(sums, b.unpackVector(b.extractVal(result, i)));
            for (auto [place, sum] : llvm::zip(places, sums))
              dValues[place] = sum;
          }
    rewriter.replaceOp(op, packElements(b, getConverter(), dValues, dType));
    return success();
  }

private:
  const NVIDIATarget &facts;
};
} // namespace

void nvt::populateDotPatterns(const LoweringContext &context,
                              const TargetInfo &target) {
  context.patterns.add<DotMmaPattern>(context, target);
}

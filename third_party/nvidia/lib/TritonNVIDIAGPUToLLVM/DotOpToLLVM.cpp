//===-- DotOpToLLVM.cpp - mma.sync ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mma.m16n8kK on 32-bit registers: a thread gives, of A, for two rows (eight
// apart) two registers each, neighbours along the inner dimension in the low
// and in the high half of K; of B for one column the same two; and holds, of
// the result, two neighbouring columns of both rows. Which inner coordinates
// the halves are is for the operands to agree on, because the sum runs over all
// of them: the registers of both are taken in the order of their inner
// coordinates. mma.m8n8k4 on fp64 is the quarter of that with one element in a
// register: a row, a column, and two neighbouring columns of the row.
//
//===----------------------------------------------------------------------===//

#include "nvidia/TritonNVIDIAGPUToLLVM/PTXAsm.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/Patterns.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton;
namespace nvt = mlir::triton::nvidia;
namespace ttg = mlir::triton::gpu;

namespace {
struct MmaShape {
  NVVM::MMATypes a, b;
  int64_t k;
  /// NVVM wants pairs of f16 as vectors and f64 as it is, all else as i32.
  bool operandsAsInt = true;
  int64_t m = 16;
  /// Registers along the inner dimension that one instruction takes of an
  /// operand for one row (column).
  unsigned innerRegisters = 2;

  bool isFP8() const {
    return a == NVVM::MMATypes::e4m3 || a == NVVM::MMATypes::e5m2;
  }
};

/// NVVM knows 8-bit floats only with the block scales of later machines.
SmallVector<Value> emitFP8(const LLVMBuilder &b, const MmaShape &shape,
                           ArrayRef<Value> aArgs, ArrayRef<Value> bArgs,
                           ArrayRef<Value> cArgs) {
  nvt::PTXAsm ptx(b);
  SmallVector<nvt::PTXAsm::Operand> d, a, bs, c;
  for (unsigned i = 0; i < cArgs.size(); ++i)
    d.push_back(ptx.output("f"));
  for (Value arg : aArgs)
    a.push_back(ptx.input(arg, "r"));
  for (Value arg : bArgs)
    bs.push_back(ptx.input(arg, "r"));
  for (auto [arg, result] : llvm::zip(cArgs, d))
    c.push_back(ptx.tied(arg, result));
  ptx << "mma.sync.aligned.m16n8k32.row.col.f32."
      << NVVM::stringifyMMATypes(shape.a) << "."
      << NVVM::stringifyMMATypes(shape.b) << ".f32 " << d << ", " << a << ", "
      << bs << ", " << c << ";";
  // The warp executes it together: not to be moved into a branch.
  SmallVector<Type> types(cArgs.size(), b.getBuilder().getF32Type());
  return ptx.emit(types, nvt::PTXAsm::InOrder);
}

/// How `instruction` multiplies elements of these types.
MmaShape getMmaShape(const ttg::MatrixInstruction &instruction) {
  using T = NVVM::MMATypes;
  auto nameOf = [](Type type) {
    return llvm::TypeSwitch<Type, T>(type)
        .Case([](Float16Type) { return T::f16; })
        .Case([](BFloat16Type) { return T::bf16; })
        .Case([](Float32Type) { return T::tf32; })
        .Case([](Float64Type) { return T::f64; })
        .Case([](Float8E4M3FNType) { return T::e4m3; })
        .Case([](Float8E5M2Type) { return T::e5m2; })
        .Default([](Type) { return T::s8; });
  };
  auto [a, b] = instruction.operandTypes;
  MmaShape shape{nameOf(a), nameOf(b), instruction.k};
  if (a.isF16() || a.isF64())
    shape.operandsAsInt = false;
  // The layouts are those of two rows of four instructions.
  if (a.isF64()) {
    shape.m = 8;
    shape.k = 4;
    shape.innerRegisters = 1;
  }
  return shape;
}

struct DotMmaPattern : TargetPattern<DotOp> {
  DotMmaPattern(const LoweringContext &context, const nvt::TargetInfo &target)
      : TargetPattern(context.converter, context.target, context.benefit),
        model(target.getModel()) {}

  LogicalResult
  matchAndRewrite(DotOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto aType = cast<RankedTensorType>(op.getA().getType());
    auto bType = cast<RankedTensorType>(op.getB().getType());
    auto dType = cast<RankedTensorType>(op.getType());
    auto mma = dyn_cast<ttg::NvidiaMmaEncodingAttr>(dType.getEncoding());
    if (!mma || mma.getVersionMajor() != nvt::kMmaSync)
      return this->decline(op, "the result is not laid out for "
                               "mma.sync");
    std::optional<ttg::MatrixInstruction> instruction =
        model.findMatrixInstruction(
            nvt::kMmaSync, {aType.getElementType(), bType.getElementType(),
                            dType.getElementType(), op.getInputPrecision()});
    if (!instruction)
      return this->decline(
          op, "the target's mma.sync does not take these element types");
    MmaShape shape = getMmaShape(*instruction);

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
    unsigned perRegister = std::max(1u, 32 / aType.getElementTypeBitWidth());
    unsigned perInstruction = shape.innerRegisters * perRegister;
    if (inner.size() % perInstruction)
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
      if (shape.operandsAsInt)
        packed = b.bitcast(packed, b.intTy(32));
      return packed;
    };

    bool halfResult = dElement.isF16();
    SmallVector<int32_t> rowsOfTile = {0};
    if (shape.m == 16)
      rowsOfTile.push_back(8);
    SmallVector<Type> resultTypes(
        halfResult ? 2 : 2 * rowsOfTile.size(),
        halfResult ? Type(LLVMBuilder::vecTy(dElement, 2)) : dElement);
    Type resultType =
        LLVM::LLVMStructType::getLiteral(op.getContext(), resultTypes);
    std::optional<NVVM::MMAIntOverflow> overflow;
    if (dElement.isInteger(32))
      overflow = NVVM::MMAIntOverflow::wrapped;
    for (int32_t batch : batches)
      for (unsigned k = 0; k < inner.size(); k += perInstruction)
        for (int32_t m : tiles(row, shape.m == 16 ? 8 : 0))
          for (int32_t n : tiles(column, 1)) {
            SmallVector<int32_t> places;
            for (int32_t dm : rowsOfTile)
              for (int32_t dn : {0, 1}) {
                int32_t r = dTable.lookup(at(batch, m | dm, n | dn));
                if (r < 0)
                  return this->decline(
                      op, "the result is smaller than the instruction");
                places.push_back(r);
              }
            SmallVector<Value> aArgs, bArgs;
            for (unsigned half = 0; half < shape.innerRegisters; ++half) {
              unsigned start = k + half * perRegister;
              for (int32_t dm : rowsOfTile)
                aArgs.push_back(word(true, batch, m | dm, start));
              bArgs.push_back(word(false, batch, n, start));
            }
            if (!complete)
              return this->decline(op,
                                   "a thread lacks elements of its operands");
            SmallVector<Value> cArgs;
            for (int32_t place : places)
              cArgs.push_back(dValues[place]);
            if (halfResult)
              cArgs = {b.packVector({cArgs[0], cArgs[1]}),
                       b.packVector({cArgs[2], cArgs[3]})};
            SmallVector<Value> sums;
            if (shape.isFP8()) {
              sums = emitFP8(b, shape, aArgs, bArgs, cArgs);
            } else {
              Value result = b.create<NVVM::MmaOp>(
                  resultType, aArgs, bArgs, cArgs,
                  ArrayRef<int64_t>{shape.m, 8, shape.k}, std::nullopt,
                  overflow, std::array<NVVM::MMATypes, 2>{shape.a, shape.b},
                  std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row,
                                                 NVVM::MMALayout::col});
              for (unsigned i = 0; i < resultTypes.size(); ++i)
                llvm::append_range(sums,
                                   b.unpackVector(b.extractVal(result, i)));
            }
            for (auto [place, sum] : llvm::zip(places, sums))
              dValues[place] = sum;
          }
    rewriter.replaceOp(op, packElements(b, getConverter(), dValues, dType));
    return success();
  }

private:
  const nvt::TargetModel &model;
};
} // namespace

void nvt::populateDotPatterns(const LoweringContext &context,
                              const TargetInfo &target) {
  context.patterns.add<DotMmaPattern>(context, target);
}

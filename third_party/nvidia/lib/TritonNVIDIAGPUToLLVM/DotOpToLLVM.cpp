//===-- DotOpToLLVM.cpp - mma.sync ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mma.m16n8kK works on 32-bit registers. A thread gives and holds:
//
// - of A, two rows that are eight apart. Of each, two registers: neighbours
//   along K in the low and in the high half of K;
// - of B, one column, with the same two registers;
// - of the result, two neighbouring columns of both rows.
//
// The sum runs over all of K. So A and B may agree on which coordinates along K
// are in which half: the registers of both are taken in the order of these
// coordinates. mma.m8n8k4 on fp64 is the quarter of that, with one element in a
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

/// The instructions of one dot, and what a thread gives to them.
class Product {
public:
  Product(const MmaShape &shape, RankedTensorType aType, RankedTensorType bType,
          RankedTensorType dType)
      : shape(shape), rank(dType.getRank()), aType(aType), bType(bType),
        dType(dType), aTable(toLinearLayout(aType)),
        bTable(toLinearLayout(bType)), dTable(toLinearLayout(dType)),
        inner(aTable.getContributions(rank - 1)),
        perRegister(std::max(1u, 32 / aType.getElementTypeBitWidth())),
        perInstruction(shape.innerRegisters * perRegister) {
    if (shape.m == 16)
      rowsOfTile.push_back(8);
  }

  /// Why the instructions cannot take the operands so; null if they can.
  const char *findObstacle() const {
    // The lanes' shares of the inner dimension must be the same.
    LinearLayout aLayout = toLinearLayout(aType),
                 bLayout = toLinearLayout(bType);
    for (unsigned i = 0, e = aLayout.getInDimSizeLog2(kLane); i < e; ++i)
      if (aLayout.getBasis(kLane, i, kDim(rank - 1)) !=
          bLayout.getBasis(kLane, i, kDim(rank - 2)))
        return "the operands split the inner dimension differently";
    if (inner != bTable.getContributions(rank - 2))
      return "the operands split the inner dimension differently";
    if (inner.size() % perInstruction)
      return "the inner dimension is shorter than that of the instruction";
    return nullptr;
  }

  /// Emits them. `d` become the elements of the result. Returns why that is not
  /// possible; null if it is.
  const char *emit(const LLVMBuilder &b, ArrayRef<Value> a, ArrayRef<Value> bs,
                   MutableArrayRef<Value> d) {
    aValues = a;
    bValues = bs;
    SmallVector<int32_t> batches =
        rank == 3 ? dTable.getContributions(0) : SmallVector<int32_t>{0};
    for (int32_t batch : batches)
      for (unsigned k = 0; k < inner.size(); k += perInstruction)
        for (int32_t m : getTiles(rank - 2, shape.m == 16 ? 8 : 0))
          for (int32_t n : getTiles(rank - 1, 1))
            if (const char *obstacle = emitTile(b, batch, k, m, n, d))
              return obstacle;
    return nullptr;
  }

private:
  /// Where the tiles of the result begin along `dim`; `inTile` are the bits of
  /// a coordinate in one of them.
  SmallVector<int32_t> getTiles(unsigned dim, int32_t inTile) const {
    SmallVector<int32_t> starts;
    for (int32_t at : dTable.getContributions(dim))
      if (!(at & inTile))
        starts.push_back(at);
    return starts;
  }

  SmallVector<int32_t> at(int32_t batch, int32_t i, int32_t j) const {
    SmallVector<int32_t> coords{i, j};
    if (rank == 3)
      coords.insert(coords.begin(), batch);
    return coords;
  }

  /// A register of an operand. Many instructions share one: each is packed
  /// once. Null where the thread lacks an element.
  Value getWord(const LLVMBuilder &b, bool ofA, int32_t batch, int32_t outer,
                unsigned start) {
    Value &packed = (ofA ? aWords : bWords)[{batch, outer, start}];
    if (packed)
      return packed;
    SmallVector<Value> elements;
    for (unsigned i = 0; i < perRegister; ++i) {
      int32_t k = inner[start + i];
      int32_t r = ofA ? aTable.lookup(at(batch, outer, k))
                      : bTable.lookup(at(batch, k, outer));
      if (r < 0)
        return {};
      elements.push_back((ofA ? aValues : bValues)[r]);
    }
    packed = b.packVector(elements);
    if (shape.operandsAsInt)
      packed = b.bitcast(packed, b.intTy(32));
    return packed;
  }

  /// One instruction, whose result begins at row `m` and column `n`, and which
  /// sums from `k` on.
  const char *emitTile(const LLVMBuilder &b, int32_t batch, unsigned k,
                       int32_t m, int32_t n, MutableArrayRef<Value> d) {
    SmallVector<int32_t> places;
    for (int32_t dm : rowsOfTile)
      for (int32_t dn : {0, 1}) {
        int32_t r = dTable.lookup(at(batch, m | dm, n | dn));
        if (r < 0)
          return "the result is smaller than the instruction";
        places.push_back(r);
      }
    SmallVector<Value> aArgs, bArgs;
    for (unsigned half = 0; half < shape.innerRegisters; ++half) {
      unsigned start = k + half * perRegister;
      for (int32_t dm : rowsOfTile)
        aArgs.push_back(getWord(b, /*ofA=*/true, batch, m | dm, start));
      bArgs.push_back(getWord(b, /*ofA=*/false, batch, n, start));
    }
    if (llvm::is_contained(aArgs, Value()) ||
        llvm::is_contained(bArgs, Value()))
      return "a thread lacks elements of its operands";
    SmallVector<Value> cArgs;
    for (int32_t place : places)
      cArgs.push_back(d[place]);
    if (cArgs.front().getType().isF16())
      cArgs = {b.packVector({cArgs[0], cArgs[1]}),
               b.packVector({cArgs[2], cArgs[3]})};
    SmallVector<Value> sums = shape.isFP8()
                                  ? emitFP8(b, shape, aArgs, bArgs, cArgs)
                                  : emitMma(b, aArgs, bArgs, cArgs);
    for (auto [place, sum] : llvm::zip(places, sums))
      d[place] = sum;
    return nullptr;
  }

  SmallVector<Value> emitMma(const LLVMBuilder &b, ArrayRef<Value> aArgs,
                             ArrayRef<Value> bArgs,
                             ArrayRef<Value> cArgs) const {
    Type resultType = LLVM::LLVMStructType::getLiteral(
        dType.getContext(), llvm::to_vector(ValueRange(cArgs).getTypes()));
    std::optional<NVVM::MMAIntOverflow> overflow;
    if (dType.getElementType().isInteger(32))
      overflow = NVVM::MMAIntOverflow::wrapped;
    Value result = b.create<NVVM::MmaOp>(
        resultType, aArgs, bArgs, cArgs, ArrayRef<int64_t>{shape.m, 8, shape.k},
        std::nullopt, overflow, std::array<NVVM::MMATypes, 2>{shape.a, shape.b},
        std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row,
                                       NVVM::MMALayout::col});
    SmallVector<Value> sums;
    for (unsigned i = 0; i < cArgs.size(); ++i)
      llvm::append_range(sums, b.unpackVector(b.extractVal(result, i)));
    return sums;
  }

  const MmaShape &shape;
  unsigned rank;
  RankedTensorType aType, bType, dType;
  RegisterTable aTable, bTable, dTable;
  /// The thread's coordinates along the inner dimension, in the order in which
  /// instructions take them.
  SmallVector<int32_t> inner;
  unsigned perRegister, perInstruction;
  SmallVector<int32_t> rowsOfTile = {0};
  ArrayRef<Value> aValues, bValues;
  llvm::DenseMap<std::tuple<int32_t, int32_t, unsigned>, Value> aWords, bWords;
};

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
    Product product(shape, aType, bType, dType);
    if (const char *obstacle = product.findObstacle())
      return this->decline(op, obstacle);
    LLVMBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> aValues = unpackElements(b, adaptor.getA(), aType);
    SmallVector<Value> bValues = unpackElements(b, adaptor.getB(), bType);
    SmallVector<Value> dValues = unpackElements(b, adaptor.getC(), dType);
    if (const char *obstacle = product.emit(b, aValues, bValues, dValues))
      return this->decline(op, obstacle);
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

//===-- DotOpToLLVM.cpp - Products by MFMA and WMMA -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A lane gives neighbours along K of one row of A and of one column of B, and
// holds several elements of the result. With a transposed result, the
// instruction computes the transposed dot: its operands change places.
//
// Of narrow dots, of 4 rows or columns, a lane has a whole column or row of
// the larger operand. Of the other one, it has a part along K; so there is an
// instruction for each part, which has all 16 blocks of lanes read that one.
//
//===----------------------------------------------------------------------===//

#include "MatrixPlaces.h"
#include "amd/MatrixInstructions.h"
#include "amd/TritonAMDGPUToLLVM/Patterns.h"

#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"

using namespace mlir;
using namespace mlir::triton;
namespace ttg = mlir::triton::gpu;
using amd::WaveMatrixInstruction;
using Element = WaveMatrixInstruction::Element;

namespace {
/// Of 4x4, in a wave.
constexpr unsigned kBlocks = 16;

/// What the encoding of a result says.
struct ResultLayout {
  unsigned version, m, n, k;
  bool isTransposed;
};

std::optional<ResultLayout> getResultLayout(Attribute encoding) {
  if (auto mfma = dyn_cast<ttg::AMDMfmaEncodingAttr>(encoding)) {
    ArrayRef<unsigned> shape = mfma.getInstrShape();
    return ResultLayout{mfma.getVersion(), shape[0], shape[1], shape[2],
                        mfma.getIsTransposed()};
  }
  if (auto wmma = dyn_cast<ttg::AMDWmmaEncodingAttr>(encoding)) {
    ArrayRef<unsigned> shape = wmma.getInstrShape();
    return ResultLayout{wmma.getVersion(), shape[0], shape[1], shape[2],
                        wmma.getIsTransposed()};
  }
  return std::nullopt;
}

/// The elements that a lane gives, as the intrinsic takes them.
Value packOperand(const LLVMBuilder &b, ArrayRef<Value> elements,
                  const WaveMatrixInstruction &instruction, Element kind) {
  Value packed = b.packVector(elements);
  unsigned count = elements.size();
  switch (kind) {
  case Element::F64:
  case Element::F32:
  case Element::XF32:
  case Element::F16:
    return packed;
  case Element::BF16:
    // Older intrinsics know no bf16.
    if (instruction.firstVersion == (instruction.isMFMA ? 4 : 3))
      return packed;
    return b.bitcast(packed, LLVMBuilder::vecTy(b.intTy(16), count));
  case Element::FP8:
  case Element::BF8:
  case Element::I8:
    if (count == 4)
      return b.bitcast(packed, b.intTy(32));
    if (count == 8 && instruction.isMFMA)
      return b.bitcast(packed, b.intTy(64));
    return b.bitcast(packed, LLVMBuilder::vecTy(b.intTy(32), count / 4));
  }
  llvm_unreachable("unknown element");
}

/// sum + a * b. If `sharedBlock` is given, all blocks read that one's left
/// operand.
Value multiply(const LLVMBuilder &b, const WaveMatrixInstruction &instruction,
               Value left, Value right, Value sum,
               std::optional<unsigned> sharedBlock = {}) {
  SmallVector<Value> args;
  bool isInteger = instruction.a == Element::I8;
  bool isFloat8 =
      instruction.a == Element::FP8 || instruction.a == Element::BF8;
  if (!instruction.isMFMA && instruction.firstVersion == 3) {
    // No signs changed, no operand kept for the next instruction.
    Value no = b.i1(false), none = b.intVal(16, 0);
    if (isFloat8)
      args = {left, right, none, sum, no, no};
    else if (isInteger)
      args = {b.i1(true), left, b.i1(true), right, sum, no, no, /*clamp=*/no};
    else
      args = {no, left, no, right, none, sum, no, no};
  } else if (instruction.isMFMA && isFloat8 && instruction.firstVersion == 4) {
    // Any formats of 8 bits and fewer, and no scales.
    auto format = [](Element kind) { return kind == Element::FP8 ? 0 : 1; };
    Value none = b.i32(0);
    args = {left,
            right,
            sum,
            b.i32(format(instruction.a)),
            b.i32(format(instruction.b)),
            none,
            none,
            none,
            none};
  } else if (instruction.isMFMA) {
    // CBSZ, the logarithm of how many blocks share one, and ABID, which one; no
    // permutations of the right operand's lanes, or signs for fp64.
    Value none = b.i32(0);
    args = {left, right, sum, none, none, none};
    if (sharedBlock) {
      args[3] = b.i32(llvm::Log2_32(kBlocks));
      args[4] = b.i32(*sharedBlock);
    }
  } else if (isInteger) {
    Value isSigned = b.i1(true);
    args = {isSigned, left, isSigned, right, sum, /*clamp=*/b.i1(false)};
  } else {
    args = {left, right, sum};
  }
  return b.intrinsic(sum.getType(), instruction.intrinsic, args);
}

/// What one instruction multiplies: which of a lane's elements along K.
struct Step {
  SmallVector<int32_t> left, right;
  std::optional<unsigned> sharedBlock;
};

/// Those of a narrow dot. A lane has `inner` of the smaller operand, as
/// block 0 counts: `count` neighbours for an instruction, `kWidth` together. Of
/// the larger one, it has everything.
SmallVector<Step> getNarrowSteps(ArrayRef<int32_t> inner, unsigned count,
                                 int32_t kWidth, bool isTransposed) {
  SmallVector<Step> steps;
  for (; !inner.empty(); inner = inner.drop_front(count))
    for (unsigned block = 0; block < kBlocks; ++block) {
      Step step;
      step.sharedBlock = block;
      for (int32_t k : inner.take_front(count)) {
        step.left.push_back(k);
        step.right.push_back(k ^ (kWidth * block));
      }
      if (isTransposed)
        std::swap(step.left, step.right);
      steps.push_back(std::move(step));
    }
  return steps;
}

/// Whether the operand of `dot` is in LDS until then.
bool isReadFromShared(Value operand, DotOp dot) {
  auto load = operand.getDefiningOp<ttg::LocalLoadOp>();
  return load && load->getBlock() == dot->getBlock();
}

struct WaveDotPattern : TargetPattern<DotOp> {
  WaveDotPattern(const LoweringContext &context, const amd::TargetInfo &target)
      : TargetPattern(context.converter, context.target, context.benefit),
        facts(target.getFacts()) {}

  LogicalResult
  matchAndRewrite(DotOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RankedTensorType aType = op.getA().getType(), bType = op.getB().getType(),
                     dType = op.getType();
    auto layout = getResultLayout(dType.getEncoding());
    if (!layout)
      return this->decline(op, "the result is not laid out for MFMA or WMMA");
    const WaveMatrixInstruction *instruction = findInstruction(op, *layout);
    if (!instruction)
      return this->decline(op, "the target has no such matrix instruction");

    unsigned rank = dType.getRank(), rowDim = rank - 2, columnDim = rank - 1;
    RegisterTable aTable(toLinearLayout(aType)), bTable(toLinearLayout(bType)),
        dTable(toLinearLayout(dType));
    SmallVector<int32_t> inner = aTable.getContributions(columnDim),
                         innerOfB = bTable.getContributions(rowDim);
    unsigned kBase = instruction->getOperandElements(layout->version);
    SmallVector<Step> steps;
    if (instruction->isNarrow()) {
      int32_t kWidth =
          cast<ttg::DotOperandEncodingAttr>(aType.getEncoding()).getKWidth();
      if (layout->isTransposed)
        std::swap(inner, innerOfB);
      if (kWidth % kBase || innerOfB.size() != inner.size() * kBlocks)
        return this->decline(op, "the blocks do not share the smaller operand");
      steps = getNarrowSteps(inner, kBase, kWidth, layout->isTransposed);
    } else if (inner != innerOfB || inner.size() % kBase) {
      return this->decline(op, "the operands split the inner dimension "
                               "differently");
    } else {
      for (ArrayRef<int32_t> left = inner; !left.empty();
           left = left.drop_front(kBase)) {
        SmallVector<int32_t> next(left.take_front(kBase));
        steps.push_back({next, next, std::nullopt});
      }
    }
    SmallVector<int32_t> batches = {0};
    if (rank == 3)
      batches = dTable.getContributions(0);

    LLVMBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> aValues = unpackElements(b, adaptor.getA(), aType),
                       bValues = unpackElements(b, adaptor.getB(), bType),
                       dValues = unpackElements(b, adaptor.getC(), dType);
    // What each sequence of instructions sums, and where.
    struct Tile {
      int32_t batch, m, n;
      SmallVector<int32_t> places;
      Value sum;
    };
    SmallVector<Tile> tiles;
    for (int32_t batch : batches)
      for (int32_t m : aTable.getContributions(rowDim))
        for (int32_t n : bTable.getContributions(columnDim)) {
          SmallVector<int32_t> places = amd::getPlaces(
              dTable, dType, layout->isTransposed ? layout->n : layout->m,
              layout->isTransposed, batch, m, n);
          SmallVector<Value> sums;
          for (int32_t place : places)
            sums.push_back(dValues[place]);
          tiles.push_back({batch, m, n, places, b.packVector(sums)});
        }
    auto takeStep = [&](Tile &tile, const Step &step) {
      SmallVector<Value> left, right;
      for (int32_t k : step.left)
        left.push_back(
            aValues[amd::lookup(aTable, rank, tile.batch, tile.m, k)]);
      for (int32_t k : step.right)
        right.push_back(
            bValues[amd::lookup(bTable, rank, tile.batch, k, tile.n)]);
      Value a = packOperand(b, left, *instruction, instruction->a);
      Value bs = packOperand(b, right, *instruction, instruction->b);
      tile.sum =
          layout->isTransposed
              ? multiply(b, amd::getWithSwappedOperands(*instruction), bs, a,
                         tile.sum, step.sharedBlock)
              : multiply(b, *instruction, a, bs, tile.sum, step.sharedBlock);
    };
    // All sums take a step along K before one takes the next: what has been
    // multiplied is not needed again, and LLVM's scheduler keeps operands in
    // LDS until then. Where only B is there, sums of one column follow one
    // another.
    if (isReadFromShared(op.getB(), op) && !isReadFromShared(op.getA(), op))
      llvm::sort(tiles, [](const Tile &one, const Tile &other) {
        return std::tie(one.batch, one.n, one.m) <
               std::tie(other.batch, other.n, other.m);
      });
    for (const Step &step : steps)
      for (Tile &tile : tiles)
        takeStep(tile, step);
    for (const Tile &tile : tiles)
      for (auto [place, value] :
           llvm::zip(tile.places, b.unpackVector(tile.sum)))
        dValues[place] = value;
    rewriter.replaceOp(op, packElements(b, getConverter(), dValues, dType));
    return success();
  }

private:
  const WaveMatrixInstruction *
  findInstruction(DotOp op, const ResultLayout &layout) const {
    if (layout.version != WaveMatrixInstruction::getVersion(facts))
      return nullptr;
    bool relaxed = op.getInputPrecision() == InputPrecision::TF32;
    for (const WaveMatrixInstruction *instruction :
         amd::getWaveMatrixInstructions(facts,
                                        op.getA().getType().getElementType(),
                                        op.getB().getType().getElementType(),
                                        op.getType().getElementType(), relaxed))
      if (instruction->m == layout.m && instruction->n == layout.n &&
          instruction->k == layout.k &&
          (!instruction->isNarrow() ||
           layout.isTransposed == (layout.m > layout.n)))
        return instruction;
    return nullptr;
  }

  const amd::AMDTarget &facts;
};
} // namespace

void amd::populateDotPatterns(const LoweringContext &context,
                              const TargetInfo &target) {
  context.patterns.add<WaveDotPattern>(context, target);
}

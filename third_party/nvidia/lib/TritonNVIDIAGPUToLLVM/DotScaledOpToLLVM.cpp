//===-- DotScaledOpToLLVM.cpp - mma.sync with block scales ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// As in DotOpToLLVM.cpp. But a row has one scale for each group of elements
// along K. So the operands may not choose which elements an instruction takes
// together: it must be those of its groups.
//
//===----------------------------------------------------------------------===//

#include "nvidia/ScaledMma.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/Patterns.h"

#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"

using namespace mlir;
using namespace mlir::triton;
namespace nvt = mlir::triton::nvidia;
namespace ttg = mlir::triton::gpu;
using nvt::ScaledMma;

namespace {
constexpr unsigned kBytesOfWord = 4;

NVVM::MMATypes getMmaType(ScaleDotElemType format) {
  switch (format) {
  case ScaleDotElemType::E4M3:
    return NVVM::MMATypes::e4m3;
  case ScaleDotElemType::E5M2:
    return NVVM::MMATypes::e5m2;
  case ScaleDotElemType::E2M3:
    return NVVM::MMATypes::e2m3;
  case ScaleDotElemType::E3M2:
    return NVVM::MMATypes::e3m2;
  default:
    return NVVM::MMATypes::e2m1;
  }
}

/// A register with scales, the byte where those of an instruction start, and
/// which of the lanes that share a row has them.
struct ScaleOperand {
  Value word, byte, thread;
};

/// One of the two operands and its scales.
class ScaledOperand {
public:
  ScaledOperand(const LLVMBuilder &b, const ScaledMma &mma,
                TypedValue<RankedTensorType> operand, Value values,
                TypedValue<RankedTensorType> scales, Value scaleValues,
                ScaleDotElemType format, unsigned rowDim)
      : b(b), mma(mma), format(format), rowDim(rowDim),
        table(toLinearLayout(operand.getType())),
        values(unpackElements(b, values, operand.getType())),
        layoutIsRight(hasRightLayout(operand.getType())) {
    if (!scales)
      return;
    LinearLayout layout = toLinearLayout(scales.getType());
    scaleTable.emplace(layout);
    this->scales = unpackElements(b, scaleValues, scales.getType());
    layoutIsRight &= hasRightScaleLayout(layout);
  }

  bool hasRightLayouts() const { return layoutIsRight; }
  NVVM::MMATypes getType() const { return getMmaType(format); }

  /// The rows (columns of B) at which a thread's instructions start.
  SmallVector<int32_t> getTiles() const {
    SmallVector<int32_t> starts;
    for (int32_t row : table.getContributions(rowDim))
      if (rowDim == 1 || !(row & 8))
        starts.push_back(row);
    return starts;
  }
  unsigned getSteps() const {
    return table.getContributions(1 - rowDim).size() *
           nvt::elementsOfByte(format) / (2 * mma.perRegister());
  }

  /// What a thread gives for a row: a half of the elements that instruction
  /// number `step` takes along K.
  Value getWord(int32_t row, unsigned step, unsigned half) {
    Value &word = words[{row, 2 * step + half}];
    if (word)
      return word;
    unsigned bytes = mma.perRegister() / nvt::elementsOfByte(format);
    int32_t first = (2 * step + half) * 4 * bytes;
    SmallVector<Value> elements;
    for (unsigned i = 0; i < bytes; ++i) {
      int32_t k = first + i;
      int32_t at =
          rowDim == 0 ? table.lookup({row, k}) : table.lookup({k, row});
      elements.push_back(b.bitcast(values[at], b.intTy(8)));
    }
    return word =
               toBytes(b.bitcast(b.packVector(elements), b.intTy(8 * bytes)));
  }

  ScaleOperand getScales(int32_t row, unsigned step) {
    unsigned group = step * mma.groups, inWord = group % kBytesOfWord;
    Value byte = b.intVal(16, inWord);
    if (!scaleTable)
      return {b.i32(mma.one() * 0x01010101), b.intVal(16, 0), b.intVal(16, 0)};
    for (auto [thread, rowOfThread] : llvm::enumerate(rowsOfThreads))
      if (scaleTable->lookup({row ^ rowOfThread, 0}) >= 0)
        return {getScaleWord(row ^ rowOfThread, group - inWord), byte,
                b.intVal(16, thread)};
    llvm_unreachable("the layout was checked");
  }

private:
  /// Lane 4 g + t must hold row g, and of K the bytes from `bytes` t on. So it
  /// is in the second half of the instruction, and in all instructions.
  bool hasRightLayout(RankedTensorType type) const {
    LinearLayout layout = toLinearLayout(type);
    int32_t bytes = mma.perRegister() / nvt::elementsOfByte(format);
    auto isAt = [&](unsigned bit, int32_t row, int32_t k) {
      return layout.getBasis(kLane, bit, kDim(rowDim)) == row &&
             layout.getBasis(kLane, bit, kDim(1 - rowDim)) == k;
    };
    if (!isAt(0, 0, bytes) || !isAt(1, 0, 2 * bytes) || !isAt(2, 1, 0) ||
        !isAt(3, 2, 0) || !isAt(4, 4, 0))
      return false;
    SmallVector<int32_t> inner = table.getContributions(1 - rowDim);
    for (auto [i, k] : llvm::enumerate(inner))
      if (k != int32_t(i / bytes * 4 * bytes + i % bytes))
        return false;
    if (int64_t(inner.size()) * 4 != type.getShape()[1 - rowDim] ||
        inner.size() % (2 * bytes))
      return false;
    for (int32_t row : table.getContributions(rowDim)) {
      for (int32_t k : inner)
        if ((rowDim == 0 ? table.lookup({row, k}) : table.lookup({k, row})) < 0)
          return false;
      // The second row of an instruction on A.
      if (rowDim == 0 && table.lookup({row ^ 8, 0}) < 0)
        return false;
    }
    return true;
  }

  /// Threads must hold all scales of a row, lane 4 g + t those of row g. Of A,
  /// where t is odd, it holds those of row g + 8. Notes which rows the other
  /// lanes add to this.
  bool hasRightScaleLayout(const LinearLayout &layout) {
    auto rowOf = [&](unsigned bit) {
      return layout.getBasis(kLane, bit, kDim(0));
    };
    for (unsigned bit = 0; bit < 5; ++bit)
      if (layout.getBasis(kLane, bit, kDim(1)) != 0)
        return false;
    if (rowOf(2) != 1 || rowOf(3) != 2 || rowOf(4) != 4 ||
        (rowDim == 0 && rowOf(0) != 8))
      return false;
    rowsOfThreads = {0, rowOf(1)};
    if (rowDim == 1)
      rowsOfThreads = {0, rowOf(0), rowOf(1), rowOf(0) ^ rowOf(1)};
    SmallVector<int32_t> groups = scaleTable->getContributions(1);
    if (groups.size() != getSteps() * mma.groups)
      return false;
    for (auto [i, group] : llvm::enumerate(groups))
      if (group != int32_t(i))
        return false;
    return llvm::all_of(getTiles(), [&](int32_t row) {
      return llvm::any_of(rowsOfThreads, [&](int32_t rowOfThread) {
        return llvm::all_of(groups, [&](int32_t group) {
          return scaleTable->lookup({row ^ rowOfThread, group}) >= 0;
        });
      });
    });
  }

  /// Elements as the instruction has them in a register. Those of six bits
  /// leave two bits of a byte free; those of four are bits 5 to 2 of a byte
  /// unless two share one.
  Value toBytes(Value packed) const {
    if (format == ScaleDotElemType::E2M3 || format == ScaleDotElemType::E3M2)
      return b.and_(packed, b.i32(0x3F3F3F3F));
    if (format != ScaleDotElemType::E2M1 || mma.isPacked())
      return packed;
    Value word = b.zext(b.intTy(32), packed);
    auto spread = [&](int64_t by, int64_t mask) {
      word = b.and_(b.or_(word, b.shl(word, b.i32(by))), b.i32(mask));
    };
    spread(8, 0x00FF00FF);
    spread(4, 0x0F0F0F0F);
    return b.shl(word, b.i32(2));
  }

  /// The scales of four groups of a row, as far as there are so many.
  Value getScaleWord(int32_t row, unsigned group) {
    Value &word = scaleWords[{row, group}];
    if (word)
      return word;
    SmallVector<Value> bytes;
    for (unsigned i = group; i < group + kBytesOfWord; ++i) {
      int32_t at = scaleTable->lookup({row, int32_t(i)});
      bytes.push_back(at < 0 ? b.zero(b.intTy(8))
                             : b.bitcast(scales[at], b.intTy(8)));
    }
    word = b.bitcast(b.packVector(bytes), b.intTy(32));
    // What the instruction makes of a sign is not published.
    if (mma.scale == NVVM::BlockScaleFormat::UE4M3)
      word = b.and_(word, b.i32(0x7F7F7F7F));
    return word;
  }

  const LLVMBuilder &b;
  ScaledMma mma;
  ScaleDotElemType format;
  /// Of the dimensions of the operand, the one that is not K.
  unsigned rowDim;
  RegisterTable table;
  SmallVector<Value> values;
  bool layoutIsRight;
  std::optional<RegisterTable> scaleTable;
  SmallVector<Value> scales;
  /// What is to be added to the row that a lane has, by its number among the
  /// lanes that the instruction can ask.
  SmallVector<int32_t> rowsOfThreads;
  // Many instructions share a register: pack each once.
  llvm::DenseMap<std::pair<int32_t, unsigned>, Value> words, scaleWords;
};

struct DotScaledPattern : TargetPattern<DotScaledOp> {
  DotScaledPattern(const LoweringContext &context,
                   const nvt::TargetInfo &target)
      : TargetPattern(context.converter, context.target, context.benefit),
        facts(target.getFacts()) {}

  LogicalResult
  matchAndRewrite(DotScaledOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RankedTensorType type = op.getType();
    auto layout = dyn_cast<ttg::NvidiaMmaEncodingAttr>(type.getEncoding());
    if (!layout || layout.getVersionMajor() != nvt::kMmaSync)
      return this->decline(op, "the result is not laid out for mma.sync");
    std::optional<ScaledMma> mma = nvt::findScaledMma(op, facts);
    if (!mma)
      return this->decline(op, "the target has no mma.sync with such scales");

    LLVMBuilder b(op.getLoc(), rewriter);
    ScaledOperand left(b, *mma, op.getA(), adaptor.getA(), op.getAScale(),
                       adaptor.getAScale(), op.getAElemType(), 0),
        right(b, *mma, op.getB(), adaptor.getB(), op.getBScale(),
              adaptor.getBScale(), op.getBElemType(), 1);
    if (!left.hasRightLayouts() || !right.hasRightLayouts() ||
        left.getSteps() != right.getSteps())
      return this->decline(op, "operands or scales are not laid out for "
                               "mma.sync with scales");

    RegisterTable table(toLinearLayout(type));
    SmallVector<Value> sums = unpackElements(b, adaptor.getC(), type);
    for (int32_t m : left.getTiles())
      for (int32_t n : right.getTiles()) {
        SmallVector<int32_t> places;
        for (int32_t dm : {0, 8})
          for (int32_t dn : {0, 1})
            places.push_back(table.lookup({m | dm, n | dn}));
        if (llvm::is_contained(places, -1))
          return this->decline(op,
                               "the result is smaller than the instruction");
        SmallVector<Value> sum;
        for (int32_t place : places)
          sum.push_back(sums[place]);
        for (unsigned step = 0; step < left.getSteps(); ++step)
          sum = multiply(b, *mma, left, right, m, n, step, sum);
        for (auto [place, value] : llvm::zip(places, sum))
          sums[place] = value;
      }
    rewriter.replaceOp(op, packElements(b, getConverter(), sums, type));
    return success();
  }

private:
  static SmallVector<Value> multiply(const LLVMBuilder &b, const ScaledMma &mma,
                                     ScaledOperand &left, ScaledOperand &right,
                                     int32_t m, int32_t n, unsigned step,
                                     ArrayRef<Value> sum) {
    SmallVector<Value> a, bs;
    for (unsigned half : {0, 1}) {
      for (int32_t dm : {0, 8})
        a.push_back(left.getWord(m | dm, step, half));
      bs.push_back(right.getWord(n, step, half));
    }
    ScaleOperand aScale = left.getScales(m, step),
                 bScale = right.getScales(n, step);
    Type element = sum.front().getType();
    auto sizes = mma.groups == 1   ? NVVM::ScaleVecSize::X1
                 : mma.groups == 2 ? NVVM::ScaleVecSize::X2
                                   : NVVM::ScaleVecSize::X4;
    Value result = b.create<NVVM::MmaBlockScaleOp>(
        LLVM::LLVMStructType::getLiteral(b.getContext(),
                                         SmallVector<Type>(4, element)),
        a, bs, sum, aScale.word, aScale.byte, aScale.thread, bScale.word,
        bScale.byte, bScale.thread, ArrayRef<int64_t>{mma.m, mma.n, mma.k},
        std::array<NVVM::MMATypes, 2>{left.getType(), right.getType()}, sizes,
        mma.scale, mma.kind);
    SmallVector<Value> sums;
    for (unsigned i = 0; i < 4; ++i)
      sums.push_back(b.extractVal(result, i));
    return sums;
  }

  const NVIDIATarget &facts;
};
} // namespace

void nvt::populateDotScaledPatterns(const LoweringContext &context,
                                    const TargetInfo &target) {
  context.patterns.add<DotScaledPattern>(context, target);
}

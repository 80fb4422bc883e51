//===-- DotScaledOpToLLVM.cpp - Products with scales by MFMA --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// As in DotOpToLLVM.cpp; a lane gives 16 or 32 bytes of a row of A, and of a
// column of B, and a scale for each.
//
//===----------------------------------------------------------------------===//

#include "MatrixPlaces.h"
#include "amd/MatrixInstructions.h"
#include "amd/TritonAMDGPUToLLVM/Patterns.h"

#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"

using namespace mlir;
using namespace mlir::triton;
namespace ttg = mlir::triton::gpu;
using amd::ScaledMatrixInstruction;

namespace {
/// As cbsz and blgp number them.
std::optional<int> getFormat(ScaleDotElemType type) {
  switch (type) {
  case ScaleDotElemType::E4M3:
    return 0;
  case ScaleDotElemType::E5M2:
    return 1;
  case ScaleDotElemType::E2M1:
    return 4;
  default:
    return std::nullopt;
  }
}

/// 2^0.
constexpr int32_t kNoScale = 127;

/// One of the two operands: its elements, which may be two to a byte.
struct ScaledOperand {
  RegisterTable table;
  std::optional<RegisterTable> scaleTable;
  SmallVector<Value> values, scales;
  unsigned rowDim;
  int format;
  SmallVector<int32_t> inner, groups;

  unsigned getBytes(const ScaledMatrixInstruction &instruction) const {
    unsigned elements = instruction.m * instruction.k / 64;
    return format == 4 ? elements / 2 : elements;
  }
  int32_t lookup(const RegisterTable &in, int32_t row, int32_t k) const {
    return rowDim == 0 ? in.lookup({row, k}) : in.lookup({k, row});
  }
  /// What a lane gives to the instruction number `step` along K.
  Value pack(const LLVMBuilder &b, int32_t row, unsigned step,
             unsigned bytes) const {
    SmallVector<Value> elements;
    for (unsigned i = step * bytes; i < (step + 1) * bytes; ++i)
      elements.push_back(
          b.bitcast(values[lookup(table, row, inner[i])], b.intTy(8)));
    return b.bitcast(b.packVector(elements),
                     LLVMBuilder::vecTy(b.intTy(32), bytes / 4));
  }
  Value getScale(const LLVMBuilder &b, int32_t row, unsigned step) const {
    if (!scaleTable)
      return b.i32(kNoScale);
    // Scales are in rows, whichever operand they are of.
    return b.zext(b.intTy(32), scales[scaleTable->lookup({row, groups[step]})]);
  }
};

struct ScaledDotPattern : TargetPattern<DotScaledOp> {
  ScaledDotPattern(const LoweringContext &context,
                   const amd::TargetInfo &target)
      : TargetPattern(context.converter, context.target, context.benefit),
        facts(target.getFacts()) {}

  LogicalResult
  matchAndRewrite(DotScaledOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RankedTensorType type = op.getType();
    auto layout = dyn_cast<ttg::AMDMfmaEncodingAttr>(type.getEncoding());
    if (!layout || type.getRank() != 2)
      return this->decline(op, "the result is not laid out for MFMA");
    const ScaledMatrixInstruction *instruction = findInstruction(layout);
    if (!instruction)
      return this->decline(op, "the target has no such matrix instruction");

    LLVMBuilder b(op.getLoc(), rewriter);
    auto left = read(b, op.getA(), adaptor.getA(), op.getAScale(),
                     adaptor.getAScale(), op.getAElemType(), 0),
         right = read(b, op.getB(), adaptor.getB(), op.getBScale(),
                      adaptor.getBScale(), op.getBElemType(), 1);
    if (!left || !right)
      return this->decline(op, "MFMA has no such format of elements");
    unsigned steps = left->inner.size() / left->getBytes(*instruction);
    if (right->inner.size() != steps * right->getBytes(*instruction) ||
        !steps || (left->scaleTable && left->groups.size() != steps) ||
        (right->scaleTable && right->groups.size() != steps))
      return this->decline(op, "operands and scales split the inner dimension "
                               "differently");

    RegisterTable dTable(toLinearLayout(type));
    SmallVector<Value> values = unpackElements(b, adaptor.getC(), type);
    bool isTransposed = layout.getIsTransposed();
    for (int32_t m : left->table.getContributions(0))
      for (int32_t n : right->table.getContributions(1)) {
        SmallVector<int32_t> places =
            amd::getPlaces(dTable, type, instruction->m, isTransposed, 0, m, n);
        SmallVector<Value> sums;
        for (int32_t place : places)
          sums.push_back(values[place]);
        Value sum = b.packVector(sums);
        for (unsigned step = 0; step < steps; ++step) {
          // A transposed result is the product of the transposed operands.
          const ScaledOperand &first = isTransposed ? *right : *left,
                              &second = isTransposed ? *left : *right;
          int32_t row = isTransposed ? n : m, column = isTransposed ? m : n;
          Value none = b.i32(0);
          sum = b.intrinsic(
              sum.getType(), instruction->intrinsic,
              ValueRange{
                  first.pack(b, row, step, first.getBytes(*instruction)),
                  second.pack(b, column, step, second.getBytes(*instruction)),
                  sum, b.i32(first.format), b.i32(second.format), none,
                  first.getScale(b, row, step), none,
                  second.getScale(b, column, step)});
        }
        for (auto [place, value] : llvm::zip(places, b.unpackVector(sum)))
          values[place] = value;
      }
    rewriter.replaceOp(op, packElements(b, getConverter(), values, type));
    return success();
  }

private:
  const ScaledMatrixInstruction *
  findInstruction(ttg::AMDMfmaEncodingAttr layout) const {
    ArrayRef<unsigned> shape = layout.getInstrShape();
    for (const ScaledMatrixInstruction &instruction :
         amd::getScaledMatrixInstructions(facts))
      if (shape[0] == instruction.m && shape[1] == instruction.m &&
          shape[2] == instruction.k)
        return &instruction;
    return nullptr;
  }

  std::optional<ScaledOperand>
  read(const LLVMBuilder &b, TypedValue<RankedTensorType> operand, Value values,
       TypedValue<RankedTensorType> scales, Value scaleValues,
       ScaleDotElemType format, unsigned index) const {
    std::optional<int> number = getFormat(format);
    if (!number)
      return std::nullopt;
    RegisterTable table(toLinearLayout(operand.getType()));
    ScaledOperand result{table,
                         std::nullopt,
                         unpackElements(b, values, operand.getType()),
                         {},
                         index,
                         *number,
                         table.getContributions(1 - index),
                         {}};
    if (scales) {
      result.scaleTable.emplace(toLinearLayout(scales.getType()));
      result.scales = unpackElements(b, scaleValues, scales.getType());
      result.groups = result.scaleTable->getContributions(1);
    }
    return result;
  }

  const amd::AMDTarget &facts;
};
} // namespace

void amd::populateScaledDotPatterns(const LoweringContext &context,
                                    const TargetInfo &target) {
  context.patterns.add<ScaledDotPattern>(context, target);
}

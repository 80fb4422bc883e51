//===-- TensorMemoryProducts.cpp - Matrix products by tcgen05 -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// tcgen05.mma multiplies 64 or 128 rows by up to 256 columns. One thread starts
// it. It reads both operands from shared memory, and adds to a sum in tensor
// memory. A dot that does not fill 64 rows stays with mma.sync.
//
// Each dot gets a buffer of tensor memory of its own here:
//
//   store the old sum; multiply; load the new sum
//
// Where a loop only adds to a sum, tritongpu-hoist-tmem-alloc takes the store
// and the load out of it.
//
//===----------------------------------------------------------------------===//

#include "TensorMemoryProducts.h"

#include "BlockPairs.h"
#include "OrderOfReads.h"
#include "ProductMemory.h"

#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/Transforms/ConvertTo.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/TensorMemoryLayout.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/PackedScales.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tritongpu-accelerate-matmul"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;
using namespace mlir::triton::nvidia;
using nvidia_gpu::TensorMemoryEncodingAttr;
using nvidia_gpu::TensorMemorySpaceAttr;

namespace {

/// The most columns that one instruction computes.
constexpr int64_t kMaxColumns = 256;

/// The most rows that one instruction computes.
constexpr int64_t kMaxRows = 128;

/// The buffer of a sum. The blocks of a cluster divide its rows.
MemDescType getSumMemory(RankedTensorType type, bool inPairs = false) {
  MLIRContext *context = type.getContext();
  SmallVector<int64_t> shape = getShapePerCTA(type);
  auto encoding = TensorMemoryEncodingAttr::get(
      context, /*blockM=*/std::min(shape[0], kMaxRows),
      /*blockN=*/std::min(shape[1], kMaxColumns), /*colStride=*/1,
      getCTALayout(type.getEncoding()), inPairs, /*fp4Padded=*/false);
  return MemDescType::get(type.getShape(), type.getElementType(), encoding,
                          TensorMemorySpaceAttr::get(context),
                          /*mutableMemory=*/true);
}

/// Whether each block of a cluster has rows of its own.
bool isDividedByRows(RankedTensorType type) {
  CTALayoutAttr blocks = getCTALayout(type.getEncoding());
  return blocks.getCTASplitNum()[0] == blocks.getNumCTAs() &&
         llvm::product_of(blocks.getCTASplitNum()) == blocks.getNumCTAs();
}

bool isZero(Value value) {
  return matchPattern(value, m_Zero()) || matchPattern(value, m_AnyZeroFloat());
}

/// Why the kernel cannot have the sum of a dot in tensor memory; empty if it
/// can.
StringRef findObstacleAround(Operation *op) {
  constexpr int kWindows = 4;
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (type.getRank() != 2)
    return "it is a batch";
  if (!isDividedByRows(type))
    return "the blocks of its cluster do not divide its rows";
  if (lookupNumWarps(op) % kWindows != 0)
    return "the kernel has fewer than four warps";
  // It would have to know what its callers use.
  if (op->getParentOfType<FunctionOpInterface>().isPrivate())
    return "it is in a function that is called";
  return "";
}

/// Why the instruction does not take the dot, wherever its operands are; empty
/// if it does.
StringRef findObstacle(DotOp op, const MatrixInstruction &instruction) {
  if (StringRef why = findObstacleAround(op); !why.empty())
    return why;
  RankedTensorType type = op.getType();
  SmallVector<int64_t> shape = getShapePerCTA(type);
  if (shape[0] < instruction.m)
    return "it has fewer than 64 rows";
  if (shape[1] < instruction.n)
    return "it has fewer than 16 columns";
  if (op.getA().getType().getShape().back() < instruction.k)
    return "its rows are shorter than 32 bytes";
  auto footprint = nvidia_gpu::getTensorMemoryFootprint(getSumMemory(type));
  if (failed(footprint) ||
      footprint->columns + nvidia_gpu::countTensorMemoryColumns(op) >
          nvidia_gpu::kTensorMemoryColumns)
    return "the sums of the kernel would take more than 512 columns of tensor "
           "memory";
  return "";
}

/// The operands of a dot, each divided over the cluster as the instruction
/// reads it.
struct DividedOperands {
  Value a, b;
  bool inPairs;
};

/// Null where the blocks of a pair would have to exchange what they have.
std::optional<DividedOperands> findOperands(DotOp op) {
  DividedOperands operands{skipConversions(op.getA()),
                           skipConversions(op.getB()), isPlannedInPairs(op)};
  if (!operands.inPairs) {
    // Blocks that exchange what they have do so for mma.sync, too.
    auto divide = [&](Value &value, Value operand) {
      if (isDividedAlike(value, operand))
        return;
      auto type = cast<RankedTensorType>(value.getType());
      CTALayoutAttr division =
          getCTALayout(cast<RankedTensorType>(operand.getType()).getEncoding());
      OpBuilder builder(op);
      value = convertTo(builder, op.getLoc(), value,
                        divideAs(type, division, op).getEncoding());
    };
    divide(operands.a, op.getA());
    divide(operands.b, op.getB());
    return operands;
  }
  if (!isDividedAlike(operands.a, op.getA()))
    return std::nullopt;
  auto type = cast<RankedTensorType>(operands.b.getType());
  CTALayoutAttr division = getCTALayout(type.getEncoding());
  if (division == getDivisionOfColumns(op.getContext()))
    return operands;
  // A block that has all of it has its half.
  if (llvm::product_of(division.getCTASplitNum()) > 1)
    return std::nullopt;
  OpBuilder builder(op);
  operands.b = convertTo(builder, op.getLoc(), operands.b,
                         divideColumns(type, op).getEncoding());
  return operands;
}

/// Replaces the result of a dot by a sum in tensor memory. The old sum is
/// stored there. `multiply` adds to it where its flag is true, and the new one
/// is loaded.
void sumInTensorMemory(
    OpBuilder &b, Operation *op, Value c,
    function_ref<void(Value sum, Value adds, Value always)> multiply) {
  Location loc = op->getLoc();
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  MemDescType memory = getSumMemory(type, isPlannedInPairs(op));
  Attribute layout =
      nvidia_gpu::getTensorMemoryRegisters(memory, lookupNumWarps(op));
  LDBG() << *op << " gets tensor memory, and " << layout;
  bool overwrites = isZero(skipConversions(c));
  Value start = overwrites ? Value() : convertTo(b, loc, c, layout);
  Value sum =
      nvidia_gpu::TMEMAllocOp::create(b, loc, memory, /*token=*/Type(), start)
          .getResult();
  Value yes = arith::ConstantIntOp::create(b, loc, 1, 1);
  multiply(sum, overwrites ? arith::ConstantIntOp::create(b, loc, 0, 1) : yes,
           yes);
  Value result = nvidia_gpu::TMEMLoadOp::create(
                     b, loc, cloneWithEncoding(type, layout), sum)
                     .getResult();
  op->getResult(0).replaceAllUsesWith(
      convertTo(b, loc, result, type.getEncoding()));
  op->erase();
}

void remarkOnRegisters(Operation *op, StringRef why) {
  remark::missed(
      op->getLoc(),
      remark::RemarkOpts::name("product-in-registers").category(DEBUG_TYPE))
      << StringRef(("it takes mma.sync and not the unit that adds in tensor "
                    "memory: " +
                    why)
                       .str());
}

/// What a dot with scales gives to the instruction.
struct ScaledOperand {
  Value value, scales;
  ScaleDotElemType format;
  bool isPackedAlongK;
  /// Rows of A, columns of B.
  int64_t rows;

  bool isFP4() const { return format == ScaleDotElemType::E2M1; }
  bool isFP8() const {
    return format == ScaleDotElemType::E4M3 || format == ScaleDotElemType::E5M2;
  }
};

/// A dot with scales.
struct ScaledDot {
  explicit ScaledDot(DotScaledOp op)
      : op(op),
        operands{
            ScaledOperand{op.getA(), op.getAScale(), op.getAElemType(),
                          op.getLhsKPack(), op.getType().getShape().front()},
            ScaledOperand{op.getB(), op.getBScale(), op.getBElemType(),
                          op.getRhsKPack(), op.getType().getShape().back()}} {
    k = op.getA().getType().getShape().back() *
        (operands[0].isFP4() && operands[0].isPackedAlongK ? 2 : 1);
    for (const ScaledOperand &operand : operands)
      if (operand.scales && !getElementTypeOrSelf(operand.scales).isInteger(8))
        scalesAreFloats = true;
  }

  int64_t getGroups() const { return k / (scalesAreFloats ? 16 : 32); }
  Type getScaleType() const {
    MLIRContext *context = op.getContext();
    if (scalesAreFloats)
      return Float8E4M3FNType::get(context);
    return IntegerType::get(context, 8);
  }
  MemDescType getScaleMemory(const ScaledOperand &operand) const {
    MLIRContext *context = op.getContext();
    return MemDescType::get(
        {operand.rows, getGroups()}, getScaleType(),
        nvidia_gpu::TensorMemoryScalesEncodingAttr::get(
            context, CTALayoutAttr::getDefault(context, /*rank=*/2)),
        TensorMemorySpaceAttr::get(context), /*mutableMemory=*/false);
  }

  mutable DotScaledOp op;
  std::array<ScaledOperand, 2> operands;
  int64_t k;
  bool scalesAreFloats = false;
};

/// Why no instruction takes a dot with scales; empty if one does.
StringRef findObstacle(const ScaledDot &dot) {
  // Scales of fewer columns would share theirs with something else.
  constexpr int64_t kLeastColumns = 32;
  RankedTensorType type = dot.op.getType();
  const auto &[a, b] = dot.operands;
  if (StringRef why = findObstacleAround(dot.op); !why.empty())
    return why;
  if (lookupNumCTAs(dot.op) > 1)
    return "several blocks of a cluster compute it";
  if (!type.getElementType().isF32())
    return "its sum is not of fp32";
  bool isFP4 = a.isFP4() && b.isFP4();
  for (const ScaledOperand &operand : dot.operands) {
    if (!operand.isFP4() && !operand.isFP8())
      return "only operands of fp8 and fp4 are multiplied with scales";
    if (operand.isFP4() && !operand.isPackedAlongK)
      return "fp4 elements are not packed along K";
  }
  if (dot.scalesAreFloats && !isFP4)
    return "scales of e4m3 are for fp4 elements";
  if (a.rows < kMaxRows)
    return "it has fewer than 128 rows";
  if (b.rows < kLeastColumns)
    return "it has fewer than 32 columns";
  if (dot.k < (isFP4 ? 64 : 32))
    return "its rows are shorter than 32 bytes";
  for (const ScaledOperand &operand : dot.operands)
    if (operand.scales &&
        (getElementTypeOrSelf(operand.scales) != dot.getScaleType() ||
         cast<RankedTensorType>(operand.scales.getType()).getShape() !=
             ArrayRef<int64_t>{operand.rows, dot.getGroups()}))
      return "its scales are of several kinds";
  unsigned columns = nvidia_gpu::countTensorMemoryColumns(dot.op);
  for (MemDescType memory :
       {getSumMemory(type), dot.getScaleMemory(a), dot.getScaleMemory(b)}) {
    auto footprint = nvidia_gpu::getTensorMemoryFootprint(memory);
    if (failed(footprint))
      return "it is too large for tensor memory";
    columns += footprint->columns;
  }
  if (columns > nvidia_gpu::kTensorMemoryColumns)
    return "the sums of the kernel would take more than 512 columns of tensor "
           "memory";
  return "";
}

/// The elements of an operand; fp8 may come as bits.
Value takeAsFormat(OpBuilder &b, const ScaledOperand &operand) {
  Value value = skipConversions(operand.value);
  auto type = cast<RankedTensorType>(value.getType());
  if (!operand.isFP8() || !type.getElementType().isInteger(8))
    return value;
  MLIRContext *context = type.getContext();
  Type element = operand.format == ScaleDotElemType::E4M3
                     ? Type(Float8E4M3FNType::get(context))
                     : Type(Float8E5M2Type::get(context));
  return BitcastOp::create(b, value.getLoc(), type.clone(element), value);
}

/// Scales that are packed in memory, in a buffer that is copied to tensor
/// memory. Nothing where they are not, or where there might not be columns for
/// the buffers of all steps that a loop copies ahead.
Value putIntoBuffer(OpBuilder &b, const ScaledDot &dot,
                    const ScaledOperand &operand) {
  constexpr unsigned kMostSteps = 4;
  auto packed =
      operand.scales
          ? nvidia_gpu::findPackedScales(skipConversions(operand.scales))
          : std::nullopt;
  // In a loop, the buffer of each step has to be filled anew.
  if (!packed || packed->loaded.getParentBlock() != dot.op->getBlock())
    return {};
  unsigned columns = nvidia_gpu::countTensorMemoryColumns(dot.op);
  SmallVector<MemDescType> memories{getSumMemory(dot.op.getType())};
  for (const ScaledOperand &scaled : dot.operands)
    memories.append(kMostSteps, dot.getScaleMemory(scaled));
  for (MemDescType memory : memories)
    columns += nvidia_gpu::getTensorMemoryFootprint(memory)->columns;
  if (columns > nvidia_gpu::kTensorMemoryColumns)
    return {};
  Value buffer =
      putIntoSharedMemory(b, dot.op, packed->loaded, packed->getBufferType());
  return packed->makeViews(b, buffer);
}

/// The scales of an operand, in tensor memory or on their way there. Where
/// there are none, they are one.
Value putIntoTensorMemory(OpBuilder &b, const ScaledDot &dot,
                          const ScaledOperand &operand) {
  if (Value buffer = putIntoBuffer(b, dot, operand))
    return buffer;
  Location loc = dot.op.getLoc();
  MemDescType memory = dot.getScaleMemory(operand);
  auto type = RankedTensorType::get(
      memory.getShape(), memory.getElementType(),
      nvidia_gpu::getTensorMemoryRegisters(memory, lookupNumWarps(dot.op)));
  Value scales = operand.scales;
  if (scales) {
    scales = convertTo(b, loc, scales, type.getEncoding());
  } else {
    Attribute one =
        dot.scalesAreFloats
            ? Attribute(b.getFloatAttr(type.getElementType(), 1.0))
            : Attribute(b.getIntegerAttr(type.getElementType(), 127));
    scales =
        arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, one));
  }
  return nvidia_gpu::TMEMAllocOp::create(b, loc, memory, /*token=*/Type(),
                                         scales)
      .getResult();
}

} // namespace

bool nvidia::canSumInTensorMemory(DotOp op, const TargetModel &model) {
  auto type = op.getType();
  std::optional<MatrixInstruction> instruction = model.findMatrixInstruction(
      kTensorMemory, {op.getA().getType().getElementType(),
                      op.getB().getType().getElementType(),
                      type.getElementType(), op.getInputPrecision()});
  return instruction && findObstacle(op, *instruction).empty();
}

bool nvidia::multiplyInTensorMemory(DotOp op,
                                    const MatrixInstruction &instruction) {
  if (StringRef why = findObstacle(op, instruction); !why.empty()) {
    remarkOnRegisters(op, why);
    return false;
  }
  std::optional<DividedOperands> operands = findOperands(op);
  if (!operands) {
    remarkOnRegisters(op, "the blocks of its cluster would have to exchange "
                          "operands");
    return false;
  }
  OpBuilder b(op);
  Location loc = op.getLoc();
  // Words have to follow one another along K.
  bool hasChoice = op.getA().getType().getElementTypeBitWidth() <= 16;
  Value left =
      putIntoSharedMemory(b, op, operands->a, /*innerDim=*/1, hasChoice);
  Value right =
      putIntoSharedMemory(b, op, operands->b, /*innerDim=*/0, hasChoice);
  sumInTensorMemory(b, op, op.getC(), [&](Value sum, Value adds, Value always) {
    nvidia_gpu::TCGen5MMAOp::create(b, loc, /*token=*/Type(), left, right, sum,
                                    /*accDep=*/Value(), adds, always,
                                    /*isAsync=*/false, operands->inPairs);
  });
  return true;
}

bool nvidia::multiplyInTensorMemory(DotScaledOp op) {
  ScaledDot dot(op);
  if (StringRef why = findObstacle(dot); !why.empty()) {
    remarkOnRegisters(op, why);
    return false;
  }
  OpBuilder b(op);
  Location loc = op.getLoc();
  const auto &[left, right] = dot.operands;
  bool isMixed = left.isFP4() != right.isFP4();
  // Two elements of a byte are neighbours along K, as bytes have to be then.
  auto put = [&](const ScaledOperand &operand, unsigned innerDim) {
    return putIntoSharedMemory(b, op, takeAsFormat(b, operand), innerDim,
                               /*hasChoice=*/!operand.isFP4(),
                               /*fp4Padded=*/isMixed && operand.isFP4());
  };
  Value a = put(left, /*innerDim=*/1), bOperand = put(right, /*innerDim=*/0);
  Value aScale = putIntoTensorMemory(b, dot, left),
        bScale = putIntoTensorMemory(b, dot, right);
  sumInTensorMemory(b, op, op.getC(), [&](Value sum, Value adds, Value always) {
    nvidia_gpu::TCGen5MMAScaledOp::create(
        b, loc, /*token=*/Type(), a, bOperand, sum, /*accDep=*/Value(), aScale,
        bScale, left.format, right.format, adds, always);
  });
  return true;
}

//===-- WarpGroupProducts.cpp - Matrix products by warp groups ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// wgmma always computes 64 rows by N columns. Operands that are not in shared
// memory yet have to be stored, fenced and waited for. So wgmma is taken where
// its 64 rows are filled. All other dots stay with mma.sync.
//
// Elements of other than 16 bits have to follow one another along K. If those
// of the right operand do not, the operands are exchanged. The left operand of
// the transposed dot may come from registers, whose elements threads can read
// from anywhere. Bytes are read by whole warps, as transposed matrices. That
// takes an eighth of the time of the dot. It gives a thread neighbouring rows,
// where wgmma wants rows 8 apart. So the rows of the left operand and of the
// sum are in another order (OrderOfReads.h).
//
// Both operands may lie across K. Then bytes of the right one are transposed
// through registers. A tile of 128x128 is read and written again in half the
// time in which the tensor core multiplies it by another one. mma.sync would
// take four times that. Words take as long to transpose, and only half as much
// longer in mma.sync. So they stay with mma.sync.
//
//===----------------------------------------------------------------------===//

#include "WarpGroupProducts.h"

#include "OrderOfReads.h"
#include "ProductMemory.h"
#include "nvidia/Occupancy.h"
#include "nvidia/TargetTable.h"

#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/RegisterBudget.h"
#include "tile/Dialect/TritonGPU/Transforms/ConvertTo.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"

#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/MathExtras.h"

#define DEBUG_TYPE "tritongpu-accelerate-matmul"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;
using namespace mlir::triton::nvidia;

namespace {

/// The most columns that one instruction computes, and its rows.
constexpr int64_t kMaxColumns = 256, kRowsOfInstruction = 64;

/// Groups of four warps along M as far as there are rows for them, then along
/// N; nothing where some would have nothing of their own to do.
std::optional<SmallVector<unsigned>>
chooseWarpGrid(ArrayRef<int64_t> shape, int numWarps,
               const MatrixInstruction &instruction) {
  int64_t m = shape[0], n = shape[1];
  unsigned rowsOfWarp = instruction.m / instruction.numWarps;
  if (numWarps % int(instruction.numWarps) != 0 || m < instruction.m)
    return std::nullopt;
  SmallVector<unsigned> grid = {instruction.numWarps, 1};
  while (int(grid[0] * grid[1]) < numWarps)
    (m > rowsOfWarp * grid[0] ? grid[0] : grid[1]) *= 2;
  if (n < instruction.n * grid[1])
    return std::nullopt;
  return grid;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// The tensor whose elements an operand has, perhaps in another order.
Value skipTranspositions(Value operand) {
  operand = skipConversions(operand);
  while (auto trans = operand.getDefiningOp<TransOp>())
    operand = skipConversions(trans.getSrc());
  return operand;
}

/// Whether neighbours along `dim` are neighbours in memory (or the registers of
/// a thread).
bool isContiguousAlong(Value operand, unsigned dim) {
  auto type = cast<RankedTensorType>(operand.getType());
  return getOrder(type).front() == dim;
}

/// Whether `op` is a dot in a loop whose left operand comes from outside.
bool isInvariant(Operation &op) {
  Value left;
  if (auto dot = dyn_cast<DotOp>(op))
    left = dot.getA();
  else if (auto done = dyn_cast<nvidia_gpu::WarpGroupDotOp>(op))
    left = done.getA();
  return left && isa<LoopLikeOpInterface>(op.getParentOp()) &&
         skipConversions(left).getParentBlock() != op.getBlock();
}

/// 32-bit registers that a thread has for a tensor, if it is divided evenly.
int64_t countRegisters(Operation *op, ShapedType type) {
  return type.getNumElements() * type.getElementTypeBitWidth() / 32 /
         (lookupNumWarps(op) * lookupThreadsPerWarp(op));
}

/// The most columns of one instruction. Its accumulators are neighbours in the
/// register file. Where a thread cannot hold the accumulators of all
/// instructions, ptxas has to move some to memory and back. For those of half
/// an instruction it finds places more easily: it spills less, and does not
/// give up.
int64_t getMostColumns(DotOp op, ArrayRef<int64_t> shape) {
  const NVIDIATarget &target =
      **getNVIDIATarget(op->getParentOfType<ModuleOp>());
  RankedTensorType sum = op.getType();
  int64_t accumulators =
      countRegisters(op, RankedTensorType::get(shape, sum.getElementType()));
  return accumulators > target.maxRegistersPerThread ? kMaxColumns / 2
                                                     : kMaxColumns;
}

/// How many blocks of `op`'s kernel fit into the registers of a multiprocessor
/// where a thread needs so many for results and operands of dots. None if it
/// cannot have them.
int64_t countResidentBlocks(Operation *op, int64_t registers) {
  auto module = op->getParentOfType<ModuleOp>();
  const NVIDIATarget &target = **getNVIDIATarget(module);
  auto limit = module->getAttrOfType<IntegerAttr>(kMaxNRegAttrName);
  registers += getRegisterNeed(RegisterNeed::BesideOperands);
  if (registers > (limit ? limit.getInt() : target.maxRegistersPerThread))
    return 0;
  return getBlockLimits(target,
                        {.registers = registers, .warps = lookupNumWarps(op)})
      .registers;
}

/// Whether all iterations of a loop read a left operand from registers. In
/// shared memory, 64 of its rows take as long to read as 64 columns of the
/// right operand. Both together take as long as the tensor core multiplies
/// them. No time would be left for those who write the next operands. Groups of
/// warps that share the rows would each have a copy, so they read shared
/// memory. Operands of several such dots stay there only if as many blocks fit
/// onto a multiprocessor as do without.
bool staysInRegisters(DotOp op, ArrayRef<unsigned> grid, int64_t columns) {
  if (columns > kRowsOfInstruction || grid[1] > 1 ||
      countRegisters(op, op.getA().getType()) >
          getRegisterNeed(RegisterNeed::InvariantLeftOperand) ||
      !isInvariant(*op))
    return false;
  SmallPtrSet<Value, 4> operands;
  int64_t forOperands = 0, forResults = 0;
  for (Operation &other : *op->getBlock()) {
    if (!isa<DotOp, nvidia_gpu::WarpGroupDotOp>(other))
      continue;
    forResults +=
        countRegisters(op, cast<ShapedType>(other.getResult(0).getType()));
    if (isInvariant(other) &&
        operands.insert(skipConversions(other.getOperand(0))).second)
      forOperands +=
          countRegisters(op, cast<ShapedType>(other.getOperand(0).getType()));
  }
  if (llvm::count_if(*op->getBlock(), isInvariant) == 1)
    return true;
  int64_t blocks = countResidentBlocks(op, forResults + forOperands);
  return blocks > 0 && blocks == countResidentBlocks(op, forResults);
}

/// Loaded values go to shared memory by themselves, and what many iterations
/// use is better off there if it is large. What was just computed is at hand in
/// registers, if it is not transposed. That takes it through shared memory,
/// where a dot of 16-bit elements can read it either way round.
bool belongsInRegisters(DotOp op) {
  Value source = skipTranspositions(op.getA());
  Operation *def = source.getDefiningOp();
  bool isTransposed = source != skipConversions(op.getA());
  if (isTransposed && op.getA().getType().getElementTypeBitWidth() == 16)
    return false;
  if (!def || def->getBlock() != op->getBlock())
    return false;
  return !isa<LoadOp, DescriptorLoadOp>(def);
}

bool isInCluster(RankedTensorType type) {
  return getCTALayout(type.getEncoding()).getNumCTAs() > 1;
}

/// Whether the operands are better exchanged: the right one, which would have
/// to be turned, becomes the left one, in registers.
bool isBetterExchanged(Value a, Value b, bool aInRegisters) {
  auto type = cast<RankedTensorType>(b.getType());
  return type.getElementTypeBitWidth() != 16 && !isContiguousAlong(b, 0) &&
         !aInRegisters && isContiguousAlong(a, 1) && !isInCluster(type);
}

/// The right operand as the left one of the transposed dot. What bulk
/// copies bring is read from where they put it.
Value turnIntoLeftOperand(OpBuilder &b, Location loc, Value operand,
                          DotOperandEncodingAttr layout) {
  if (!operand.getDefiningOp<DescriptorLoadOp>())
    return convertTo(b, loc, transpose(b, loc, operand), layout);
  auto type = cast<RankedTensorType>(operand.getType());
  Value buffer = LocalAllocOp::create(
      b, loc, getProductMemory(type, getOrder(type)), operand);
  Value view = MemDescTransOp::create(b, loc, buffer, ArrayRef<int32_t>{1, 0});
  auto turned = RankedTensorType::get({type.getDimSize(1), type.getDimSize(0)},
                                      type.getElementType(), layout);
  return LocalLoadOp::create(b, loc, turned, view);
}

/// Whether an operand that lies the other way round may be turned. Its copies
/// have to be spread over the banks so that rows far apart are read together.
/// Bulk copies are not.
bool canTurn(Value operand) {
  auto type = cast<RankedTensorType>(operand.getType());
  return type.getElementTypeBitWidth() == 8 &&
         !skipTranspositions(operand).getDefiningOp<DescriptorLoadOp>();
}

} // namespace

bool mlir::triton::nvidia::multiplyByWarpGroups(
    DotOp op, const MatrixInstruction &instruction) {
  RankedTensorType before = op.getType();
  auto decline = [&](StringRef why) {
    LDBG() << op << " stays with mma.sync: " << why;
    return false;
  };
  if (before.getRank() != 2)
    return decline("it is a batch");
  // A block computes its part from what it has in its own memory.
  SmallVector<int64_t> shape = getShapePerCTA(before);
  bool inRegisters = belongsInRegisters(op);
  Value a = skipConversions(op.getA()), bOperand = skipConversions(op.getB());
  std::optional<SmallVector<unsigned>> grid;
  SumForm form;
  if (isBetterExchanged(a, bOperand, inRegisters)) {
    grid =
        chooseWarpGrid({shape[1], shape[0]}, lookupNumWarps(op), instruction);
    form.isTransposed = grid.has_value();
  }
  if (form.isTransposed)
    std::swap(shape[0], shape[1]);
  else
    grid = chooseWarpGrid(shape, lookupNumWarps(op), instruction);
  if (!grid)
    return decline("it does not fill 64 rows of every warp group");
  Type element = op.getA().getType().getElementType();
  unsigned bits = element.getIntOrFloatBitWidth();
  if (op.getA().getType().getShape()[1] < instruction.k)
    return decline("its rows are shorter than 32 bytes");
  if (!isDividedAlike(a, op.getA()) || !isDividedAlike(bOperand, op.getB()))
    return decline("blocks of the cluster would have to exchange operands");
  if (bits != 16 && !form.isTransposed && !isContiguousAlong(bOperand, 0) &&
      !canTurn(bOperand))
    return decline("the right operand would have to be turned");
  bool isAcross = form.isTransposed ||
                  (bits != 16 && !inRegisters && !isContiguousAlong(a, 1));
  constexpr OrderOfReads rows{/*dim=*/0};
  bool isReordered = bits == 8 && isAcross && !isInCluster(before);
  if (isReordered)
    form.orders.push_back(rows);
  if (isReordered || (isAcross && !canTurn(a)))
    inRegisters = true;

  int64_t columns = std::min(shape[1] / (*grid)[1], getMostColumns(op, shape));
  bool stays = !inRegisters && staysInRegisters(op, *grid, columns);
  inRegisters |= stays;
  MLIRContext *context = op.getContext();
  auto mma = NvidiaMmaEncodingAttr::get(
      context, instruction.version, /*versionMinor=*/0, *grid,
      getCTALayout(before.getEncoding()),
      {instruction.m / instruction.numWarps, unsigned(columns), instruction.k});
  LDBG() << op << " gets " << mma << " with the "
         << (form.isTransposed ? "right" : "left") << " operand in "
         << (inRegisters ? "registers" : "shared memory")
         << (form.isTransposed ? ", exchanged" : "")
         << (isReordered ? ", its rows in the order of reads" : "");

  // Only 16-bit elements may lie either way round.
  bool hasChoice = bits == 16;
  OpBuilder b(op);
  Location loc = op.getLoc();
  auto inLeft = DotOperandEncodingAttr::get(context, 0, mma, 32 / bits);
  Value left, right;
  if (form.isTransposed) {
    left = isReordered ? readBytes(b, loc, bOperand, /*isTransposed=*/true,
                                   rows, inLeft)
                       : turnIntoLeftOperand(b, loc, bOperand, inLeft);
    right = putIntoSharedMemory(b, op, transpose(b, loc, a), /*innerDim=*/0,
                                hasChoice);
  } else {
    OpBuilder at(op);
    if (stays)
      at.setInsertionPointAfterValue(a);
    if (isReordered)
      left = readBytes(b, loc, a, /*isTransposed=*/false, rows, inLeft);
    else
      left = inRegisters
                 ? convertTo(at, loc, a, inLeft)
                 : putIntoSharedMemory(b, op, a, /*innerDim=*/1, hasChoice);
    right = putIntoSharedMemory(b, op, bOperand, /*innerDim=*/0, hasChoice);
  }
  multiplyInForm(b, op, form, mma, [&](Value sum) -> Value {
    return nvidia_gpu::WarpGroupDotOp::create(
               b, loc, sum.getType(), left, right, sum, /*useC=*/Value(),
               op.getInputPrecision(), op.getMaxNumImpreciseAcc(),
               /*isAsync=*/false)
        .getD();
  });
  return true;
}

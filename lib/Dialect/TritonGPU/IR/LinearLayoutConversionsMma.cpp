//===-- LinearLayoutConversionsMma.cpp - Matrix fragments as layouts ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The fragments are those of the PTX ISA ("Matrix fragments for mma" and
// "Register fragments for wgmma.mma_async.m64nNk*") and of AMD's ISA documents.
//
//===----------------------------------------------------------------------===//
#include "LinearLayoutConversionsDetail.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;
using namespace mlir::triton::gpu::layouts;

/// Appends the bits [from, to) of one coordinate of a 2-D basis.
static void appendBits(OutBases &bases, unsigned axis, int32_t from,
                       int32_t to) {
  for (int32_t bit = from; bit < to; bit *= 2)
    bases.push_back(axis == 0 ? std::vector<int32_t>{bit, 0}
                              : std::vector<int32_t>{0, bit});
}

/// Fastest to slowest: K, the other dim, batch dims from the last.
static SmallVector<unsigned> operandOrder(unsigned rank, unsigned kAxis) {
  SmallVector<unsigned> order = rowMajorOrder(rank);
  if (order.front() != kAxis)
    std::swap(order[0], order[1]);
  return order;
}

static LinearLayout operandBlocks(CTALayoutAttr ctaLayout, unsigned kAxis) {
  // Blocks along the other operand's dim hold the same part of this one.
  return ctaLayout.getLinearLayout().resizeOutDim(kDim(kAxis), 1);
}

//===----------------------------------------------------------------------===//
// NVIDIA
//===----------------------------------------------------------------------===//

/// Warps of mma.sync are counted along N first; wgmma needs the four warps of a
/// warp group to follow one another along M.
static SmallVector<unsigned> warpOrder(NvidiaMmaEncodingAttr encoding,
                                       unsigned rank) {
  SmallVector<unsigned> order = rowMajorOrder(rank);
  if (encoding.isHopper())
    std::swap(order[0], order[1]);
  return order;
}

FailureOr<LinearLayout>
NvidiaMmaEncodingAttr::getAccumulatorLayout(ArrayRef<int64_t> shape,
                                            EmitError emitError) const {
  unsigned rank = shape.size();
  if (rank < 2)
    return fail(emitError, "matrix encodings have at least two dimensions");
  int32_t n;
  if (isAmpere()) {
    n = getInstrShape().back();
  } else if (isHopper() && getInstrShape().size() >= 2) {
    n = getInstrShape()[1];
  } else {
    return fail(emitError, "nvidia_mma version " + Twine(getVersionMajor()) +
                               " has no linear layout");
  }
  if (n < 8 || !llvm::isPowerOf2_32(n))
    return fail(emitError, "the width of a matrix instruction in a layout must "
                           "be a power of two of at least 8, but is " +
                               Twine(n));

  // c[2p + q] of lane 4g + t is element (g + p % 2 * 8, 2t + q + p / 2 * 8).
  OutBases registers = {{0, 1}, {8, 0}};
  appendBits(registers, 1, 8, n);
  OutBases lanes = {{0, 2}, {0, 4}, {1, 0}, {2, 0}, {4, 0}};
  LinearLayout tile =
      matrixTile(rank, registers, lanes) *
      gridLayout(kWarp, getWarpsPerCTA(), warpOrder(*this, rank));
  return combineWithBlocks(tile, shape, getCTALayout().getLinearLayout(),
                           kRegister, rowMajorOrder(rank));
}

/// What all operands of matrix instructions have.
static LogicalResult checkOperand(unsigned kWidth, size_t rank,
                                  EmitError emitError) {
  if (rank < 2)
    return fail(emitError, "dot operands have at least two dimensions");
  if (kWidth < 1 || !llvm::isPowerOf2_32(kWidth))
    return fail(emitError, "kWidth of a matrix operand must be a positive "
                           "power of two, but is " +
                               Twine(kWidth));
  return success();
}

FailureOr<LinearLayout>
NvidiaMmaEncodingAttr::getOperandLayout(ArrayRef<int64_t> shape, unsigned opIdx,
                                        unsigned kWidth,
                                        EmitError emitError) const {
  unsigned rank = shape.size();
  if (failed(checkOperand(kWidth, rank, emitError)))
    return failure();
  if (!isAmpere() && !isHopper())
    return fail(emitError, "operands of nvidia_mma version " +
                               Twine(getVersionMajor()) +
                               " have no linear layout");
  bool isLeft = opIdx == 0;
  if (isHopper() && !isLeft)
    return fail(emitError, "the right operand of wgmma lies in shared memory, "
                           "not in registers");

  // A register holds kWidth neighbours along K; four lanes make 4 kWidth of
  // them; then come (on the left) the rows 8 to 15, and the second half of K.
  OutBases registers, lanes;
  unsigned matrixK = isLeft ? 1 : 0;
  appendBits(registers, matrixK, 1, kWidth);
  if (isLeft)
    registers.push_back({8, 0});
  appendBits(registers, matrixK, 4 * kWidth, 8 * kWidth);
  appendBits(lanes, matrixK, kWidth, 4 * kWidth);
  appendBits(lanes, 1 - matrixK, 1, 8);

  unsigned kAxis = isLeft ? rank - 1 : rank - 2;
  LinearLayout tile =
      matrixTile(rank, registers, lanes) *
      gridLayout(kWarp, getWarpsPerCTA(), warpOrder(*this, rank), kAxis);
  return combineWithBlocks(tile, shape, operandBlocks(getCTALayout(), kAxis),
                           kRegister, operandOrder(rank, kAxis));
}

//===----------------------------------------------------------------------===//
// AMD
//===----------------------------------------------------------------------===//

/// The tile of one warp of several instructions, then all warps of the block.
static LinearLayout addTilesAndWarps(LinearLayout tile,
                                     ArrayRef<unsigned> tilesPerWarp,
                                     ArrayRef<unsigned> warpsPerCTA,
                                     ArrayRef<unsigned> order,
                                     std::optional<unsigned> kAxis) {
  SmallVector<unsigned> tiles(tilesPerWarp);
  if (tiles.empty())
    tiles.assign(warpsPerCTA.size(), 1);
  if (kAxis)
    tiles[*kAxis] = 1;
  return tile * gridLayout(kRegister, tiles, order) *
         gridLayout(kWarp, warpsPerCTA, rowMajorOrder(warpsPerCTA.size()),
                    kAxis);
}

FailureOr<LinearLayout>
AMDMfmaEncodingAttr::getAccumulatorLayout(ArrayRef<int64_t> shape,
                                          EmitError emitError) const {
  unsigned rank = shape.size();
  if (rank < 2 || getInstrShape().size() < 2)
    return fail(emitError, "matrix encodings have at least two dimensions");
  unsigned m = getInstrShape()[0], n = getInstrShape()[1];
  // Of a transposed result, these are the dimensions of the transpose.
  if (getIsTransposed())
    std::swap(m, n);

  // Lanes count along N, then along M; a lane holds groups of four rows.
  OutBases registers, lanes;
  if (getElementBitWidth() == 64) {
    if (m != 16 || n != 16)
      return fail(emitError, "fp64 matrix instructions are 16x16");
    registers = {{4, 0}, {8, 0}};
    appendBits(lanes, 1, 1, 16);
    appendBits(lanes, 0, 1, 4);
  } else if ((m == 32 && n == 32) || (m == 16 && n == 16) ||
             (m == 4 && n == 64) || (m == 64 && n == 4)) {
    registers = {{1, 0}, {2, 0}};
    appendBits(lanes, 1, 1, n);
    unsigned lanesAlongM = 64 / n;
    appendBits(lanes, 0, 4, 4 * lanesAlongM);
    appendBits(registers, 0, 4 * lanesAlongM, m);
  } else {
    return fail(emitError,
                "unknown MFMA instruction shape " + Twine(m) + "x" + Twine(n));
  }
  LinearLayout tile = addTilesAndWarps(
      matrixTile(rank, registers, lanes, getIsTransposed()), getTilesPerWarp(),
      getWarpsPerCTA(), rowMajorOrder(rank), std::nullopt);
  return combineWithBlocks(tile, shape, getCTALayout().getLinearLayout(),
                           kRegister, rowMajorOrder(rank));
}

/// An operand of which an instruction takes what `registers` and `lanes` hold,
/// with bases as (non-K, K).
template <typename ParentT>
static LinearLayout operandOfAMD(ArrayRef<int64_t> shape, ParentT parent,
                                 bool isLeft, const OutBases &registers,
                                 const OutBases &lanes) {
  unsigned rank = shape.size();
  unsigned kAxis = isLeft ? rank - 1 : rank - 2;
  LinearLayout tile =
      addTilesAndWarps(matrixTile(rank, registers, lanes, /*swap=*/!isLeft),
                       parent.getTilesPerWarp(), parent.getWarpsPerCTA(),
                       operandOrder(rank, kAxis), kAxis);
  return combineWithBlocks(tile, shape,
                           operandBlocks(parent.getCTALayout(), kAxis),
                           kRegister, operandOrder(rank, kAxis));
}

FailureOr<LinearLayout>
AMDMfmaEncodingAttr::getOperandLayout(ArrayRef<int64_t> shape, unsigned opIdx,
                                      unsigned kWidth,
                                      EmitError emitError) const {
  size_t rank = std::min(shape.size(), getInstrShape().size());
  if (failed(checkOperand(kWidth, rank, emitError)))
    return failure();
  // Operand bases as (non-K, K): lanes along non-K, then along K.
  bool isLeft = opIdx == 0;
  int32_t nonK = getInstrShape()[isLeft ? 0 : 1];
  if (nonK != 4 && nonK != 16 && nonK != 32 && nonK != 64)
    return fail(emitError, "unknown MFMA operand width " + Twine(nonK));
  OutBases registers, lanes;
  appendBits(registers, 1, 1, kWidth);
  appendBits(lanes, 0, 1, nonK);
  appendBits(lanes, 1, kWidth, kWidth * (64 / nonK));

  return operandOfAMD(shape, *this, isLeft, registers, lanes);
}

FailureOr<LinearLayout>
AMDWmmaEncodingAttr::getAccumulatorLayout(ArrayRef<int64_t> shape,
                                          EmitError emitError) const {
  unsigned rank = shape.size();
  if (rank < 2)
    return fail(emitError, "matrix encodings have at least two dimensions");
  // Version 1 deals the rows out in turn to the two halves of the warp; later
  // ones give eight rows to each.
  OutBases registers, lanes;
  appendBits(lanes, 1, 1, 16);
  if (getVersion() == 1) {
    appendBits(registers, 0, 2, 16);
    lanes.push_back({1, 0});
  } else {
    appendBits(registers, 0, 1, 8);
    lanes.push_back({8, 0});
  }
  LinearLayout tile = addTilesAndWarps(
      matrixTile(rank, registers, lanes, getIsTransposed()), getTilesPerWarp(),
      getWarpsPerCTA(), rowMajorOrder(rank), std::nullopt);
  return combineWithBlocks(tile, shape, getCTALayout().getLinearLayout(),
                           kRegister, rowMajorOrder(rank));
}

FailureOr<LinearLayout>
AMDWmmaEncodingAttr::getOperandLayout(ArrayRef<int64_t> shape, unsigned opIdx,
                                      unsigned kWidth,
                                      EmitError emitError) const {
  if (failed(checkOperand(kWidth, shape.size(), emitError)))
    return failure();
  bool isLeft = opIdx == 0;
  OutBases registers, lanes;
  appendBits(registers, 1, 1, kWidth);
  appendBits(lanes, 0, 1, 16);
  if (getVersion() == 1)
    lanes.push_back({0, 0}); // both halves of the warp hold the same
  else
    appendBits(lanes, 1, kWidth, 2 * kWidth);

  return operandOfAMD(shape, *this, isLeft, registers, lanes);
}

//===-- ChainedDots.cpp - What loops of dots gain by copy engines ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// All figures are attention of fp16 on an H200 (bench/raised_pointers.py).
//
//===----------------------------------------------------------------------===//

#include "ChainedDots.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;

namespace {

/// A dot of fewer rows leaves a warp group of the tensor core empty. Of others
/// nothing was measured.
constexpr int64_t kLeastRows = 64;
constexpr int64_t kWarpsPerGroup = 4;
/// Bits of an operand. Of others nothing was measured.
constexpr unsigned kOperandBits = 16;

/// The multiplications of a loop that pay for making its descriptors: 32
/// iterations of 64x64 at D64, or 4 of 128x128 at D128. Two descriptors take a
/// program 0.8 us where another one is beside it: 8192x8192x512 went from 495
/// to 419 TFLOP/s. At D64, 64 iterations of 64x64 gained 1.4 us of 19 with that
/// in it. Causal, which has 32 in the mean and made four, gained 0.15 of 10.
constexpr int64_t kLeastProducts = int64_t(1) << 24;

} // namespace

static bool findChain(scf::ForOp loop, ArrayRef<DotOp> dots) {
  llvm::SetVector<Operation *> work(dots.begin(), dots.end());
  for (size_t i = 0; i < work.size(); ++i)
    for (OpOperand &use : work[i]->getUses()) {
      Operation *user = use.getOwner();
      if (user->getBlock() != loop.getBody())
        continue;
      if (!isa<DotOp>(user))
        work.insert(user);
      else if (use.getOperandNumber() < 2)
        return true;
    }
  return false;
}

ChainedDots::ChainedDots(scf::ForOp loop, int64_t numWarps)
    : dots(loop.getBody()->getOps<DotOp>()), numWarps(numWarps),
      isChain(findChain(loop, dots)) {}

/// Multiplications in an iteration.
int64_t ChainedDots::countProducts() const {
  int64_t products = 0;
  for (DotOp dot : dots)
    products += cast<RankedTensorType>(dot.getType()).getNumElements() *
                cast<RankedTensorType>(dot.getA().getType()).getShape().back();
  return products;
}

int64_t ChainedDots::getLeastIterations() const {
  return llvm::divideCeil(kLeastProducts,
                          std::max<int64_t>(countProducts(), 1));
}

std::string ChainedDots::findObstacle() const {
  if (numWarps % kWarpsPerGroup != 0)
    return "no warp group can multiply with so few warps";
  // Gradients, which have three to five, were not measured.
  if (dots.size() != 2)
    return "it has other than two dots";
  for (DotOp dot : dots) {
    auto type = cast<RankedTensorType>(dot.getType());
    if (type.getRank() != 2 || type.getDimSize(0) < kLeastRows)
      return "its dots have fewer than 64 rows";
    for (Value factor : {dot.getA(), dot.getB()})
      if (getElementTypeOrSelf(factor).getIntOrFloatBitWidth() != kOperandBits)
        return "its dots multiply other than 16 bits";
  }
  return "";
}

/// What the results of dots take of the registers of a multiprocessor.
int64_t ChainedDots::countResultRegisters() const {
  constexpr unsigned kRegisterBits = 32;
  int64_t registers = 0;
  for (DotOp dot : dots) {
    auto type = cast<RankedTensorType>(dot.getType());
    registers += llvm::divideCeil(
        type.getNumElements() * type.getElementTypeBitWidth(), kRegisterBits);
  }
  return registers;
}

// Where they take half of all registers, no second program is resident that
// could take turns. D128 with 128x128 on 8 warps went from 447 to 619 TFLOP/s,
// causal from 386 to 526. Where they take less, warps of their own lost. D64
// with 128x128 went from 459 to 422, D128 with 128x64 from 472 to 468 causal,
// and D128 with 64x64 on 4 warps from 525 to 405.
std::string ChainedDots::findObstacleOfWarps(int64_t registers) const {
  int64_t needed = countResultRegisters();
  if (needed * 2 < registers)
    return ("results of its dots take " + Twine(needed) + " registers of " +
            Twine(registers) + ", so another program can take turns")
        .str();
  // Of more groups nothing was measured.
  if (numWarps != 2 * kWarpsPerGroup)
    return "it has other than two groups of warps, which could take turns";
  return "";
}

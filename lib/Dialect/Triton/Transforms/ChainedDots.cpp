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
// could take turns. D128 with 128x128 on 8 warps went from 459 to 641 TFLOP/s,
// causal from 398 to 522. D256 with 128x64 went from 594 to 634. Where they
// take less, warps of their own lost. D64 with 128x128 went from 459 to 422,
// and D128 with 64x64 on 4 warps from 525 to 405. Descriptors without such
// warps gained 1 to 8% in 4,096 keys and more. They lost 3 to 30% in 1,024 and
// fewer. They lost up to 19% where only one of the two loops of causal
// attention had them.
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

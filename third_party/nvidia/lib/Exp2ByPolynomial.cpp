//===-- Exp2ByPolynomial.cpp - exp2-by-polynomial-nv ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A multiprocessor has 16 lanes for powers of two, and 128 that multiply and
// add. Groups of warps that compute weights of attention wait for the first. So
// some of the powers are polynomials.
//
// The cost is the longer one of two parts of an iteration, of all groups
// together:
//
// - the unit for powers: the powers that it is left with;
// - the lanes: all instructions, and those of the polynomials.
//
// A polynomial is off by up to 8.6e-5 of the result. So it serves only what is
// rounded to 16 bits or fewer, and sums of that.
//
//===----------------------------------------------------------------------===//

#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h"

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Exponentials.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/DotCost.h"
#include "tile/Rules/Rates.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "exp2-by-polynomial-nv"

namespace mlir::triton::nvidia {
#define GEN_PASS_DEF_EXP2BYPOLYNOMIALNV
#include "nvidia/TritonNVIDIAGPUToLLVM/Passes.h.inc"
} // namespace mlir::triton::nvidia

using namespace mlir;
using namespace mlir::triton;
namespace ttg = mlir::triton::gpu;
namespace ttng = mlir::triton::nvidia_gpu;
namespace rates = tile::rates;

namespace {

/// What a multiprocessor issues in a cycle: four warps, an instruction each.
constexpr int64_t kLanes = 128;
/// Instructions of a pair of polynomials (Exp2ToLLVM.cpp), with those that put
/// it together and take it apart: the simulator counts 22 to 24.
constexpr int64_t kPairInstructions = 22;
/// What comes to the operations that are counted: by the simulator a seventh
/// with heads of 64 and 128.
constexpr int64_t kOtherShare = 7;
/// Which shares are tried: one of so many pairs. The least where the lanes have
/// more to do than the unit for powers.
constexpr int64_t kMostPairs = 16;

int64_t countElements(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.getNumElements() : 0;
}

bool isSum(ReduceOp reduce) {
  Block &combine = reduce.getCombineOp().front();
  return reduce.getSrcs().size() == 1 && combine.getOperations().size() == 2 &&
         isa<arith::AddFOp>(combine.front());
}

/// Whether `exp2` is rounded to few bits, and serves for nothing else than this
/// and sums.
bool isRoundedToFewBits(math::Exp2Op exp2) {
  constexpr unsigned kFewBits = 16;
  auto type = dyn_cast<RankedTensorType>(exp2.getType());
  if (!type || !type.getElementType().isF32())
    return false;
  bool isRounded = false;
  llvm::SetVector<Operation *> work;
  work.insert(exp2);
  for (size_t i = 0; i < work.size(); ++i)
    for (Operation *user : work[i]->getUsers()) {
      if (isa<arith::TruncFOp, FpToFpOp>(user)) {
        if (getElementTypeOrSelf(user->getResult(0)).getIntOrFloatBitWidth() >
            kFewBits)
          return false;
        isRounded = true;
      } else if (isa<arith::SelectOp, ttg::ConvertLayoutOp>(user)) {
        work.insert(user);
      } else if (auto reduce = dyn_cast<ReduceOp>(user);
                 !reduce || !isSum(reduce)) {
        return false;
      }
    }
  return isRounded;
}

/// What an iteration takes in all groups of warps, in elements.
struct LoopCost {
  int64_t special = 0, instructions = 0, powers = 0;

  void add(Operation *op) {
    if (isa<math::Exp2Op, math::ExpOp, math::LogOp, math::Log2Op, math::RsqrtOp,
            math::SqrtOp, arith::DivFOp>(op))
      special += countElements(op->getResult(0).getType());
    if (auto reduce = dyn_cast<ReduceOp>(op))
      instructions += countElements(reduce.getSrcs().front().getType());
    else if (isa<arith::TruncFOp>(op))
      // One instruction for two.
      instructions += countElements(op->getResult(0).getType()) / 2;
    else if (op->getNumResults() == 1 &&
             isa_and_present<arith::ArithDialect, math::MathDialect>(
                 op->getDialect()))
      instructions += countElements(op->getResult(0).getType());
  }

  /// Where one of `pairs` pairs of powers is a polynomial.
  int64_t count(int64_t pairs) const {
    int64_t chosen = powers / pairs;
    int64_t issued = instructions + instructions / kOtherShare;
    return std::max((special - chosen) / rates::specialLanes,
                    (issued - chosen + chosen * kPairInstructions / 2) /
                        kLanes);
  }

  /// The best share.
  int64_t choose() const {
    int64_t best = kMostPairs;
    for (int64_t pairs = kMostPairs; pairs > 1; --pairs)
      if (count(pairs) < count(best))
        best = pairs;
    return best;
  }
};

class Exp2ByPolynomial
    : public nvidia::impl::Exp2ByPolynomialNVBase<Exp2ByPolynomial> {
public:
  using Base::Base;

  void runOnOperation() override {
    getOperation().walk(
        [&](ttg::WarpSpecializeOp specialize) { choose(specialize); });
  }

private:
  void choose(ttg::WarpSpecializeOp specialize) {
    SmallVector<math::Exp2Op> powers;
    LoopCost cost;
    specialize.walk([&](scf::ForOp loop) {
      if (loop->getParentOfType<ttg::WarpSpecializeOp>() != specialize)
        return;
      // Other warps correct sums, on the same lanes.
      bool multiplies =
          !loop.getBody()->getOps<ttng::MMAv5OpInterface>().empty();
      for (Operation &op : loop.getBody()->without_terminator()) {
        cost.add(&op);
        auto exp2 = dyn_cast<math::Exp2Op>(op);
        if (!exp2 || !multiplies || !isRoundedToFewBits(exp2))
          continue;
        powers.push_back(exp2);
        cost.powers += countElements(exp2.getType());
      }
    });
    if (powers.empty())
      return;
    int64_t pairs = cost.choose();
    LDBG() << "an iteration takes " << cost.count(pairs)
           << " cycles of threads with one of " << pairs
           << " pairs by a polynomial: " << specialize.getLoc();
    Builder builder(&getContext());
    for (math::Exp2Op exp2 : powers) {
      exp2->setAttr(ttng::kPolynomialPairsAttrName,
                    builder.getI32IntegerAttr(pairs));
      ++numPowers;
    }
  }
};

} // namespace

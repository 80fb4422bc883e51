//===-- ProducerRegisters.cpp - What threads that copy need ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ProducerRegisters.h"

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/RegisterBudget.h"
#include "tile/Dialect/TritonGPU/IR/TargetModel.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/MathExtras.h"

#define DEBUG_TYPE "tritongpu-partition-loops"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

static bool isConstant(Value value) {
  Operation *def = value.getDefiningOp();
  return def && def->hasTrait<mlir::OpTrait::ConstantLike>();
}

/// Whether all elements of a tensor of addresses are at constant distances from
/// each other: sums of ranges times constants and of what is the same for all.
static bool hasConstantDistances(Value pointers) {
  llvm::SetVector<Value> work;
  work.insert(pointers);
  for (size_t i = 0; i < work.size(); ++i) {
    Value value = work[i];
    if (isConstant(value) || value.getDefiningOp<SplatOp>())
      continue;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
      if (!loop || argument == loop.getInductionVar())
        return false;
      work.insert(loop.getTiedLoopInit(argument)->get());
      work.insert(loop.getTiedLoopYieldedValue(argument)->get());
      continue;
    }
    Operation *def = value.getDefiningOp();
    if (isa<MakeRangeOp>(def))
      continue;
    bool isScaled =
        isa<arith::MulIOp>(def) && llvm::any_of(def->getOperands(), isConstant);
    if (!isScaled &&
        !isa<AddPtrOp, arith::AddIOp, arith::SubIOp, arith::ExtSIOp,
             arith::ExtUIOp, BroadcastOp, ExpandDimsOp, ConvertLayoutOp>(def))
      return false;
    work.insert(def->operand_begin(), def->operand_end());
  }
  return true;
}

int mlir::triton::gpu::countProducerRegisters(const RingLoop &in,
                                              int numThreads) {
  int64_t copies = 0;
  for (const Ring &ring : in.rings)
    for (const RingLoad &load : ring.loads) {
      auto pointers = dyn_cast<LoadOp>(load.load);
      if (!pointers || hasConstantDistances(pointers.getPtr()))
        continue;
      RankedTensorType type = load.getType();
      int64_t elementBits = type.getElementTypeBitWidth();
      int64_t bits =
          std::min<int64_t>(getTargetModel(pointers).getMaxGlobalAccessBits(),
                            load.contiguity * elementBits);
      copies += llvm::divideCeil(type.getNumElements() * elementBits,
                                 bits * numThreads);
    }
  int64_t needed = getRegisterNeed(RegisterNeed::Copies);
  if (copies) {
    int64_t forAddresses = getRegisterNeed(RegisterNeed::CopyLoop) +
                           copies * getRegisterNeed(RegisterNeed::CopyAddress);
    needed =
        std::max<int64_t>(needed, llvm::alignTo(forAddresses, kRegisterUnit));
  }
  LDBG() << copies << " copies of a thread with addresses of their own, "
         << needed << " registers: " << in.getLoop().getLoc();
  return needed;
}

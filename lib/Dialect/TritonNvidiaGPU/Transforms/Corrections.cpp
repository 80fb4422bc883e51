//===-- Corrections.cpp - Sums that loops correct -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Corrections.h"

#include "RowFactors.h"

#include "tile/Dialect/TritonGPU/Transforms/Buffers.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

Operation *nvidia_gpu::findFirstWrite(TCGen5MMAOp mma, scf::ForOp loop) {
  Operation *alloc = gpu::getBuffers(mma.getA()).getDefiningOp();
  if (!alloc || alloc->getParentOp() != loop ||
      !isa<TMEMAllocOp, gpu::LocalAllocOp>(alloc))
    return nullptr;
  Operation *first = alloc->getNumOperands() ? alloc : nullptr;
  SmallVector<Value> views{alloc->getResult(0)};
  while (!views.empty()) {
    Value view = views.pop_back_val();
    for (Operation *user : view.getUsers()) {
      if (user->getParentOp() != loop || mma->isBeforeInBlock(user))
        return nullptr;
      if (isa<ViewLikeOpInterface>(user))
        views.push_back(user->getResult(0));
      else if (!first || user->isBeforeInBlock(first))
        first = user;
    }
  }
  return first;
}

/// Whether nobody writes to what a dot reads before the dot is done, if it is
/// waited for before `findFirstWrite`. A ring from around the loop is handed
/// back by the dots themselves.
static bool areFactorsKept(TCGen5MMAOp mma, scf::ForOp loop) {
  Operation *first = findFirstWrite(mma, loop);
  Value ring = gpu::getBuffers(mma.getB());
  return first && first != mma &&
         !loop->isAncestor(ring.getParentBlock()->getParentOp());
}

std::optional<Correction> nvidia_gpu::findCorrection(TMEMStoreOp store) {
  auto loop = dyn_cast<scf::ForOp>(store->getParentOp());
  RowScaling scaling = getRowScaling(store);
  if (!loop || !scaling || !matchPattern(store.getPred(), m_One()) ||
      scaling.load->getParentOp() != loop)
    return std::nullopt;
  Correction found;
  found.loop = loop;
  found.load = scaling.load;
  found.store = store;
  found.factors = scaling.factors;
  Operation *source = found.factors.getDefiningOp();
  if (!source || source->getParentOp() != loop)
    return std::nullopt;
  for (Operation *user : store.getDst().getUsers()) {
    if (user == store || user == found.load || !loop->isAncestor(user))
      continue;
    auto mma = dyn_cast<TCGen5MMAOp>(user);
    if (!mma || found.mma || mma.getD() != store.getDst() ||
        mma->getParentOp() != loop)
      return std::nullopt;
    found.mma = mma;
  }
  if (!found.mma || found.mma.isAsync() || found.mma.usesTwoCTAs() ||
      !matchPattern(found.mma.getPred(), m_One()) ||
      !store->isBeforeInBlock(found.mma) || !areFactorsKept(found.mma, loop))
    return std::nullopt;
  return found;
}

Value nvidia_gpu::getOuter(Value value, gpu::WarpSpecializeOp specialize,
                           Region *region) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    if (argument.getOwner() == &region->front() &&
        region != &specialize.getDefaultRegion())
      return specialize.getExplicitCaptures()[argument.getArgNumber()];
  bool isConstant = matchPattern(value, m_Constant());
  bool isInside = region->isAncestor(value.getParentRegion());
  return isConstant || !isInside ? value : Value();
}

/// Whether two values are one, or the same number.
static bool isSame(Value a, Value b) {
  APInt x, y;
  return a == b || (matchPattern(a, m_ConstantInt(&x)) &&
                    matchPattern(b, m_ConstantInt(&y)) && x == y);
}

bool nvidia_gpu::canRepeat(Value value, gpu::WarpSpecializeOp specialize,
                           Region *region) {
  if (getOuter(value, specialize, region))
    return true;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop && argument == loop.getInductionVar();
  }
  Operation *op = value.getDefiningOp();
  return op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
         !isa<ShapedType>(value.getType()) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return canRepeat(operand, specialize, region);
         });
}

SmallVector<scf::ForOp> nvidia_gpu::getNest(const Correction &correction) {
  SmallVector<scf::ForOp> nest;
  for (Operation *op = correction.loop; op->getParentRegion();
       op = op->getParentOp()) {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop)
      return {};
    nest.push_back(loop);
    if (loop->getParentRegion() == correction.region)
      return nest;
  }
  return {};
}

bool nvidia_gpu::isSameIn(Value a, Region *inA, Value b, Region *inB,
                          gpu::WarpSpecializeOp specialize) {
  Value outerA = getOuter(a, specialize, inA),
        outerB = getOuter(b, specialize, inB);
  if (outerA || outerB)
    return outerA && outerB && isSame(outerA, outerB);
  auto getDepth = [](Value counter) {
    unsigned depth = 0;
    Operation *op = cast<BlockArgument>(counter).getOwner()->getParentOp();
    for (; isa<scf::ForOp>(op); op = op->getParentOp())
      ++depth;
    return depth;
  };
  Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
  if (!x && !y)
    return getDepth(a) == getDepth(b);
  return x && y && x->getName() == y->getName() &&
         x->getRawDictionaryAttrs() == y->getRawDictionaryAttrs() &&
         x->getPropertiesAsAttribute() == y->getPropertiesAsAttribute() &&
         cast<OpResult>(a).getResultNumber() ==
             cast<OpResult>(b).getResultNumber() &&
         llvm::all_of_zip(x->getOperands(), y->getOperands(),
                          [&](Value v, Value w) {
                            return isSameIn(v, inA, w, inB, specialize);
                          });
}

void nvidia_gpu::computeEarly(Value value, Block *body) {
  Operation *op = value.getDefiningOp();
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!op || op->getBlock() != body || (type && type.getRank() > 1) ||
      op->getNumRegions() || !isMemoryEffectFree(op))
    return;
  Operation *last = nullptr;
  for (Value operand : op->getOperands()) {
    computeEarly(operand, body);
    Operation *def = operand.getDefiningOp();
    if (def && def->getBlock() == body && (!last || last->isBeforeInBlock(def)))
      last = def;
  }
  if (last)
    op->moveAfter(last);
}

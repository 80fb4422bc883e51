//===-- PromoteLHSToTMEM.cpp - Left operands in tensor memory -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An operand that threads compute has columns of its own where there are
// enough. Otherwise it takes those of a sum that it is computed from. Nobody
// needs that sum any more:
//
//   multiply to the sum; load it; compute; store the operand in its columns
//
// The operand is a view of the buffer of the sum then. So all passes behind
// this one see that both are one memory. The dot of the next iteration waits
// until the operand has been read.
//
//===----------------------------------------------------------------------===//

#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/Transforms/Buffers.h"
#include "tile/Dialect/TritonGPU/Transforms/ConvertTo.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/TensorMemoryLayout.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tritongpu-promote-lhs-to-tmem"

namespace mlir::triton::nvidia_gpu {
#define GEN_PASS_DEF_TRITONGPUPROMOTELHSTOTMEM
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::nvidia_gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

namespace {

/// Whether threads have computed `value`, where it is stored. What is loaded is
/// copied to shared memory without them. What a function is given is in
/// registers.
bool isComputed(Value value, Block *block) {
  while (auto convert = value.getDefiningOp<gpu::ConvertLayoutOp>())
    value = convert.getSrc();
  Operation *def = value.getDefiningOp();
  if (!def && value.getParentBlock() == block)
    return isa<FunctionOpInterface>(block->getParentOp());
  return def && def->getBlock() == block &&
         !isa<LoadOp, DescriptorLoadOp, gpu::LocalLoadOp>(def);
}

/// Columns of tensor memory that may be in use while `mma` runs. What a branch
/// or loop has for itself is not, before that begins and when it is over.
unsigned countColumnsBeside(TCGen5MMAOp mma) {
  unsigned columns = 0;
  mma->getParentOfType<FunctionOpInterface>()->walk([&](TMEMAllocOp alloc) {
    bool isAround = alloc->getParentOp()->isAncestor(mma);
    bool isInside = mma->getBlock()->findAncestorOpInBlock(*alloc);
    if (!isAround && !isInside)
      return;
    auto footprint = getTensorMemoryFootprint(alloc.getResult().getType());
    if (succeeded(footprint))
      columns += footprint->columns;
  });
  return columns;
}

/// The buffer of an operand of `type` for a sum in `sum`: its rows lie in the
/// same lanes.
gpu::MemDescType getOperandMemory(RankedTensorType type, gpu::MemDescType sum) {
  auto encoding = cast<TensorMemoryEncodingAttr>(sum.getEncoding());
  MLIRContext *context = type.getContext();
  LinearLayout::DimBases blocks = encoding.getCTALayout().getBases();
  for (std::vector<int32_t> &basis : blocks)
    basis[1] = 0;
  return gpu::MemDescType::get(
      type.getShape(), type.getElementType(),
      TensorMemoryEncodingAttr::get(
          context, encoding.getBlockM(), type.getShape()[1], /*colStride=*/1,
          gpu::CTALayoutAttr::get(context, /*rank=*/2, blocks),
          encoding.getTwoCTAs(),
          /*fp4Padded=*/false),
      TensorMemorySpaceAttr::get(context), /*mutableMemory=*/false);
}

/// Loads of tensor memory in the block of `at` that `value` is computed from.
SmallVector<TMEMLoadOp> findSources(Value value, Operation *at) {
  Region *region = at->getParentRegion();
  llvm::SetVector<Value> values;
  values.insert(value);
  SmallVector<TMEMLoadOp> loads;
  for (size_t i = 0; i < values.size(); ++i) {
    Operation *op = values[i].getDefiningOp();
    if (!op || !region->isAncestor(op->getParentRegion()))
      continue;
    if (auto load = dyn_cast<TMEMLoadOp>(op)) {
      if (load->getBlock() == at->getBlock())
        loads.push_back(load);
      continue;
    }
    // A branch gives several values, each from its own.
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      unsigned number = cast<OpResult>(values[i]).getResultNumber();
      for (Region &end : branch->getRegions())
        values.insert(end.front().getTerminator()->getOperand(number));
      continue;
    }
    values.insert(op->operand_begin(), op->operand_end());
  }
  return loads;
}

/// Whether all accesses of a buffer of an iteration come before `at`, and
/// nothing but program order says when.
bool isDoneBefore(TMEMAllocOp alloc, Operation *at) {
  if (alloc.getSrc() || alloc.getToken() || alloc->getBlock() != at->getBlock())
    return false;
  SmallVector<Value> views{alloc.getResult()};
  while (!views.empty()) {
    Value view = views.pop_back_val();
    for (Operation *user : view.getUsers()) {
      Operation *inBlock = at->getBlock()->findAncestorOpInBlock(*user);
      if (!inBlock || !inBlock->isBeforeInBlock(at) ||
          user->hasTrait<mlir::OpTrait::IsTerminator>())
        return false;
      if (isa<ViewLikeOpInterface>(user))
        views.push_back(user->getResult(0));
      else if (!isa<TMEMLoadOp, TMEMStoreOp, MMAv5OpInterface>(user))
        return false;
    }
  }
  return true;
}

/// Whether the columns of a buffer suffice for another one, from the first on.
bool canShow(gpu::MemDescType from, gpu::MemDescType to) {
  auto source = dyn_cast<TensorMemoryEncodingAttr>(from.getEncoding());
  auto encoding = cast<TensorMemoryEncodingAttr>(to.getEncoding());
  if (!source || !from.getMutableMemory() ||
      from.getShape() != from.getAllocShape() ||
      gpu::getShapePerCTA(from)[0] != gpu::getShapePerCTA(to)[0] ||
      source.getBlockM() != encoding.getBlockM() ||
      source.getTwoCTAs() != encoding.getTwoCTAs())
    return false;
  auto has = getTensorMemoryFootprint(from),
       takes = getTensorMemoryFootprint(to);
  return succeeded(has) && succeeded(takes) && has->lanes == takes->lanes &&
         takes->columns <= has->columns;
}

class PromoteLHSToTMEMPass
    : public nvidia_gpu::impl::TritonGPUPromoteLHSToTMEMBase<
          PromoteLHSToTMEMPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    shared.clear();
    SmallVector<TCGen5MMAOp> products;
    getOperation().walk([&](TCGen5MMAOp mma) { products.push_back(mma); });
    for (TCGen5MMAOp mma : products)
      numPromoted += promote(mma);
  }

private:
  bool promote(TCGen5MMAOp mma) {
    auto alloc = mma.getA().getDefiningOp<gpu::LocalAllocOp>();
    if (!alloc || !alloc.getSrc() || alloc->getBlock() != mma->getBlock() ||
        !alloc->hasOneUse() || !isComputed(alloc.getSrc(), mma->getBlock()))
      return false;
    gpu::MemDescType sum = mma.getD().getType();
    RankedTensorType type = alloc.getSrc().getType();
    // Rows of several blocks of lanes lie behind each other.
    if (gpu::getShapePerCTA(type)[0] !=
        cast<TensorMemoryEncodingAttr>(sum.getEncoding()).getBlockM())
      return false;
    gpu::MemDescType memory = getOperandMemory(type, sum);
    auto footprint = getTensorMemoryFootprint(memory);
    if (failed(footprint))
      return false;
    bool fits =
        footprint->columns + countColumnsBeside(mma) <= kTensorMemoryColumns;
    TMEMAllocOp sumBefore = fits ? TMEMAllocOp() : findShared(alloc, memory);
    if (!fits && !sumBefore)
      return false;
    OpBuilder builder(alloc);
    Location loc = alloc.getLoc();
    Value value = gpu::convertTo(
        builder, loc, alloc.getSrc(),
        getTensorMemoryRegisters(memory, gpu::lookupNumWarps(mma)));
    Value operand = fits ? TMEMAllocOp::create(builder, loc, memory,
                                               /*token=*/Type(), value)
                               .getResult()
                         : storeIn(builder, loc, sumBefore, memory, value);
    LDBG() << "a left operand goes to tensor memory: " << operand;
    alloc.getResult().replaceAllUsesWith(operand);
    alloc.erase();
    numShared += !fits;
    return true;
  }

  /// A sum that the operand in `alloc` is computed from, and whose columns it
  /// can have.
  TMEMAllocOp findShared(gpu::LocalAllocOp alloc, gpu::MemDescType memory) {
    for (TMEMLoadOp load : findSources(alloc.getSrc(), alloc)) {
      auto sum = gpu::getBuffers(load.getSrc()).getDefiningOp<TMEMAllocOp>();
      if (sum && canShow(sum.getResult().getType(), memory) &&
          isDoneBefore(sum, alloc) && shared.insert(sum).second)
        return sum;
    }
    return {};
  }

  /// Stores an operand in the first columns of a sum.
  static Value storeIn(OpBuilder &builder, Location loc, TMEMAllocOp sum,
                       gpu::MemDescType memory, Value value) {
    auto type = gpu::MemDescType::get(
        memory.getShape(), memory.getElementType(), memory.getEncoding(),
        memory.getMemorySpace(), /*mutableMemory=*/true);
    Value view =
        gpu::MemDescReinterpretOp::create(builder, loc, type, sum.getResult());
    Value always = arith::ConstantIntOp::create(builder, loc, 1, 1);
    TMEMStoreOp::create(builder, loc, view, value, always);
    return view;
  }

  /// Sums whose columns an operand has already. Two of them in one sum would
  /// wait for each other.
  llvm::SmallPtrSet<Operation *, 4> shared;
};

} // namespace

//===-- CopyStrategy.cpp - How a load becomes asynchronous ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Dialect/TritonGPU/Transforms/CopyStrategy.h"

#include "LoopMemory.h"
#include "TurnedOperands.h"

#include "tile/Analysis/AxisInfo.h"
#include "tile/Analysis/MaskTrend.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/TargetModel.h"
#include "tile/Dialect/TritonGPU/Transforms/AsyncWaits.h"
#include "tile/Dialect/TritonGPU/Transforms/SharedEncodings.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

LocalAllocOp mlir::triton::gpu::getProductBuffer(Operation *user) {
  auto alloc = dyn_cast<LocalAllocOp>(user);
  if (!alloc || alloc.getType().getMutableMemory() ||
      !isa<NVMMASharedEncodingAttr, SwizzledSharedEncodingAttr>(
          alloc.getType().getEncoding()))
    return {};
  return alloc;
}

bool mlir::triton::gpu::isReadByProducts(LocalAllocOp buffer) {
  return isa<NVMMASharedEncodingAttr>(buffer.getType().getEncoding());
}

bool ThreadCopies::canCopy(Operation *op, scf::ForOp loop) const {
  return isa<LoadOp>(op);
}

/// The layouts that the loaded value is converted to, be it after elementwise
/// operations. These will be done behind the read of the buffer, in that
/// layout. What has another use is read in the layout of the load.
static SmallVector<Attribute> findLayoutsOfUse(LoadOp load) {
  SmallVector<Attribute> layouts;
  bool hasOtherUse = false;
  llvm::SetVector<Operation *> work;
  work.insert(load);
  for (size_t i = 0; i < work.size(); ++i)
    for (Operation *user : work[i]->getUsers()) {
      if (auto convert = dyn_cast<ConvertLayoutOp>(user))
        layouts.push_back(convert.getType().getEncoding());
      else if (user->hasTrait<mlir::OpTrait::Elementwise>() &&
               user->getBlock() == load->getBlock())
        work.insert(user);
      else
        hasOtherUse = true;
    }
  if (hasOtherUse)
    layouts.push_back(cast<RankedTensorType>(load.getType()).getEncoding());
  return layouts;
}

Attribute ThreadCopies::chooseEncoding(Operation *op) const {
  auto load = cast<LoadOp>(op);
  if (isComplete(load))
    for (Operation *user : load->getUsers())
      if (LocalAllocOp alloc = getProductBuffer(user)) {
        Attribute turned = getTurnedBufferEncoding(alloc);
        return turned ? turned : alloc.getType().getEncoding();
      }
  auto type = cast<RankedTensorType>(load.getType());
  SmallVector<Attribute> layouts = findLayoutsOfUse(load);
  for (Attribute layout : layouts)
    if (auto operand = dyn_cast<DotOperandEncodingAttr>(layout))
      return getDotOperandSharedEncoding(type, operand);
  return getRowsSharedEncoding(type, layouts,
                               getTargetModel(load).getSharedMemoryBanks());
}

bool ThreadCopies::isComplete(Operation *load) const {
  Value other = cast<LoadOp>(load).getOther();
  return !other || matchPattern(other, m_Zero()) ||
         matchPattern(other, m_AnyZeroFloat());
}

SmallVector<Operation *> ThreadCopies::start(OpBuilder &builder, Operation *op,
                                             Value slot, Value barrier,
                                             unsigned contiguity) const {
  auto load = cast<LoadOp>(op);
  auto copy = AsyncCopyGlobalToLocalOp::create(
      builder, load.getLoc(), AsyncTokenType::get(load.getContext()),
      load.getPtr(), slot, load.getMask(), /*other=*/Value(), load.getCache(),
      load.getEvict(), load.getIsVolatile(), static_cast<int32_t>(contiguity));
  return {copy};
}

Operation *ThreadCopies::commit(OpBuilder &builder, Operation *copy) const {
  return AsyncCommitGroupOp::create(builder, copy->getLoc(),
                                    copy->getResult(0));
}

void ThreadCopies::countPending(scf::ForOp loop) const {
  updateWaitCounts(loop);
}

unsigned
mlir::triton::gpu::getCopyContiguity(const ModuleAxisInfoAnalysis &axisInfo,
                                     LoadOp load) {
  // Other values than zero come in when the buffer is read.
  return getCopiedNeighbours(axisInfo, axisInfo.getContiguity(load.getPtr()),
                             load.getMask(), /*other=*/Value());
}

Operation *CopyStrategy::wait(OpBuilder &builder, Location loc,
                              ValueRange tokens) const {
  return AsyncWaitOp::create(builder, loc, tokens, /*num=*/0);
}

const CopyStrategy *CopyStrategy::find(Operation *op, scf::ForOp loop) {
  static const ThreadCopies threadCopies;
  // Indices are few and needed in registers: they cross stages there. So does
  // what results of dots are scaled by.
  if (op->getNumResults() != 1 ||
      !isa<RankedTensorType>(op->getResult(0).getType()) ||
      isAddressLoad(loop, op) || isBesideProducts(loop, op))
    return nullptr;
  for (const CopyStrategy *engine : getTargetModel(op).getCopyEngines())
    if (engine->canCopy(op, loop))
      return engine;
  return threadCopies.canCopy(op, loop) ? &threadCopies : nullptr;
}

bool mlir::triton::gpu::isCopiedTo(LocalAllocOp buffer, scf::ForOp loop) {
  Operation *load = buffer.getSrc() ? buffer.getSrc().getDefiningOp() : nullptr;
  if (!getProductBuffer(buffer) || !load || load->getBlock() != loop.getBody())
    return false;
  const CopyStrategy *strategy = CopyStrategy::find(load, loop);
  return strategy && strategy->isComplete(load) &&
         strategy->chooseEncoding(load) == buffer.getType().getEncoding();
}

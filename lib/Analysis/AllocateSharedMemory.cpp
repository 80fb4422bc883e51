//===-- AllocateSharedMemory.cpp - Places in shared memory ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Analysis/AllocateSharedMemory.h"

#include "tile/Analysis/Allocation.h"
#include "tile/Analysis/ConvertLayoutPlan.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/LayoutChecks.h"
#include "tile/Dialect/TritonGPU/IR/TargetModel.h"

using namespace mlir;
using namespace mlir::triton;

/// Emits the error where the largest buffer is made, with notes on the next.
static void reportTooMuch(ModuleOp module, const ModuleAllocation &allocation,
                          int64_t limit) {
  SmallVector<const Allocation::Buffer *> buffers;
  for (auto &[function, frame] : allocation.getFunctions())
    for (const Allocation::Buffer &buffer : frame->getBuffers())
      if (buffer.kind != Allocation::Kind::Call)
        buffers.push_back(&buffer);
  llvm::sort(buffers, [](auto *lhs, auto *rhs) {
    return std::tuple(-lhs->size, lhs->begin, lhs->offset) <
           std::tuple(-rhs->size, rhs->begin, rhs->offset);
  });
  Operation *where = buffers.empty() ? module : buffers.front()->owner;
  auto target = module->getAttrOfType<StringAttr>(gpu::kTargetAttrName);
  InFlightDiagnostic error =
      mlir::emitError(where->getLoc(),
                      "out of shared memory: the kernel needs ")
      << allocation.getSharedMemorySize() << " bytes, a block on "
      << (target ? target.getValue() : "this target") << " has at most "
      << limit << "; smaller tiles or fewer pipeline stages need less";
  constexpr size_t kMostNotes = 4;
  for (const Allocation::Buffer *buffer :
       ArrayRef(buffers).take_front(kMostNotes))
    error.attachNote(buffer->owner->getLoc())
        << buffer->size << " bytes for "
        << (buffer->kind == Allocation::Kind::Scratch ? "the exchange of " : "")
        << "'" << buffer->owner->getName() << "'";
}

/// Has conversions go through shared memory once instead of in several rounds,
/// where other buffers need as much memory anyway. Epilogues are the usual
/// case: the rings of their loops are free by then.
static FailureOr<ModuleAllocation> takeOneTurn(ModuleOp module,
                                               ModuleAllocation allocation) {
  SmallVector<gpu::ConvertLayoutOp> inTurns;
  module.walk([&](gpu::ConvertLayoutOp op) {
    if (ConvertLayoutPlan::of(op).takesTurns())
      inTurns.push_back(op);
  });
  for (gpu::ConvertLayoutOp op : inTurns) {
    op->setAttr(kOneTurnAttrName, UnitAttr::get(op.getContext()));
    auto other = ModuleAllocation::compute(module);
    if (failed(other))
      return failure();
    if (other->getSharedMemorySize() <= allocation.getSharedMemorySize())
      allocation = std::move(*other);
    else
      op->removeAttr(kOneTurnAttrName);
  }
  return allocation;
}

FailureOr<int64_t> triton::allocateSharedMemory(ModuleOp module) {
  if (failed(gpu::checkTensorsHaveLayouts(module)))
    return failure();
  auto allocation = ModuleAllocation::compute(module);
  if (succeeded(allocation))
    allocation = takeOneTurn(module, std::move(*allocation));
  if (failed(allocation))
    return failure();
  attachAllocation(module, *allocation);
  int64_t size = allocation->getSharedMemorySize();
  int64_t limit = gpu::getTargetModel(module).getMaxSharedMemory();
  if (size > limit) {
    reportTooMuch(module, *allocation, limit);
    return failure();
  }
  return size;
}

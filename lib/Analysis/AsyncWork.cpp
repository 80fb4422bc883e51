//===-- AsyncWork.cpp - What operations start and wait for ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Analysis/AsyncWork.h"

#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/TensorCoreWork.h"

using namespace mlir;
using namespace mlir::triton;

namespace ttg = mlir::triton::gpu;

bool triton::isAsyncToken(Value value) {
  return isa<ttg::AsyncTokenType>(value.getType());
}

/// The buffer that `op` copies to global memory while the thread goes on; null
/// for other operations. Whatever stores threads' own values takes none.
static Value getSourceOfAsyncStore(Operation *op) {
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  if (!effects)
    return Value();
  SmallVector<MemoryEffects::EffectInstance> found;
  effects.getEffects(found);
  bool writesGlobal = llvm::any_of(found, [](const auto &effect) {
    return isa<MemoryEffects::Write>(effect.getEffect()) &&
           isa<GlobalMemory>(effect.getResource());
  });
  if (!writesGlobal)
    return Value();
  for (const MemoryEffects::EffectInstance &effect : found)
    if (Value value = effect.getValue();
        value && isa<MemoryEffects::Read>(effect.getEffect()) &&
        isa<ttg::MemDescType>(value.getType()))
      return value;
  return Value();
}

/// The buffer in shared memory that `op` copies to another memory on the chip,
/// which has no addresses that threads could use; null for other operations.
static Value getSourceOfTensorCopy(Operation *op) {
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  if (!effects || isa<MatrixProductOpInterface>(op))
    return Value();
  auto isShared = [](Value value) {
    return isa<ttg::SharedMemorySpaceAttr>(
        cast<ttg::MemDescType>(value.getType()).getMemorySpace());
  };
  SmallVector<MemoryEffects::EffectInstance> found;
  effects.getEffects(found);
  Value source;
  bool writesOther = false;
  for (const MemoryEffects::EffectInstance &effect : found) {
    Value value = effect.getValue();
    if (!value || !isa<ttg::MemDescType>(value.getType()))
      continue;
    if (isa<MemoryEffects::Read>(effect.getEffect()) && isShared(value))
      source = value;
    writesOther |=
        isa<MemoryEffects::Write>(effect.getEffect()) && !isShared(value);
  }
  return writesOther ? source : Value();
}

/// Barriers in shared memory are numbers of 64 bits.
static bool isBarrierType(Type type) {
  auto buffer = dyn_cast<ttg::MemDescType>(type);
  return buffer && buffer.getElementType().isInteger(64);
}

bool triton::arrivesAfterTensorCores(Operation *op) {
  if (op->hasTrait<ttg::ArrivesAfterTensorCores>())
    return true;
  return getAsyncWork(op) == AsyncWork::TensorCore &&
         llvm::any_of(op->getOperandTypes(), isBarrierType);
}

std::optional<AsyncWork> triton::getAsyncWork(Operation *op) {
  if (auto copy = dyn_cast<ttg::AsyncCopyOpInterface>(op))
    return copy.arrivesAtBarrier() ? AsyncWork::BarrierCopy : AsyncWork::Copy;
  if (auto product = dyn_cast<MatrixProductOpInterface>(op)) {
    // A sum that is in no register is not there when the next operation begins.
    if (isa<ttg::MemDescType>(product.getAccumulator().getType()))
      return AsyncWork::TensorCore;
    return product.isAsync() && product.isWaitedInOrder()
               ? std::optional(AsyncWork::Product)
               : std::nullopt;
  }
  if (getSourceOfTensorCopy(op))
    return AsyncWork::TensorCore;
  if (getSourceOfAsyncStore(op))
    return AsyncWork::Store;
  return std::nullopt;
}

SmallVector<Value> triton::getBuffersOfAsyncWork(Operation *op) {
  if (auto copy = dyn_cast<ttg::AsyncCopyOpInterface>(op))
    return {copy.getCopyTarget()};
  if (auto product = dyn_cast<MatrixProductOpInterface>(op)) {
    SmallVector<Value> buffers;
    for (Value factor : product.getFactors())
      if (auto type = dyn_cast<ttg::MemDescType>(factor.getType()))
        if (isa_and_nonnull<ttg::SharedMemorySpaceAttr>(type.getMemorySpace()))
          buffers.push_back(factor);
    return buffers;
  }
  if (Value source = getSourceOfTensorCopy(op))
    return {source};
  if (Value source = getSourceOfAsyncStore(op))
    return {source};
  return {};
}

bool triton::isAsyncWait(Operation *op) {
  return op->hasTrait<ttg::WaitsForCopies>() ||
         isa<MatrixProductWaitOpInterface>(op);
}

/// Waits for copies to shared memory give a token, waits for stores of NVIDIA's
/// copy engine give none.
static bool givesToken(Operation *wait) {
  return wait->getNumResults() == 1 && isAsyncToken(wait->getResult(0));
}

/// The number that a wait has beside its tokens.
static std::optional<unsigned> getNumber(Operation *wait) {
  if (auto products = dyn_cast<MatrixProductWaitOpInterface>(wait))
    return products.getMaxPendings();
  std::optional<unsigned> number;
  for (NamedAttribute attribute : wait->getAttrs())
    if (auto value = dyn_cast<IntegerAttr>(attribute.getValue()))
      number = std::max<unsigned>(number.value_or(0), value.getInt());
  return number;
}

bool triton::isAbout(Operation *wait, AsyncWork work) {
  if (isa<MatrixProductWaitOpInterface>(wait))
    return work == AsyncWork::Product;
  if (!wait->hasTrait<ttg::WaitsForCopies>())
    return false;
  if (work == AsyncWork::Store)
    return !isa<ttg::AsyncWaitOp>(wait);
  return work == AsyncWork::Copy && givesToken(wait);
}

bool triton::mayWaitFor(Operation *wait, AsyncWork work) {
  if (!isAbout(wait, work))
    return false;
  return !givesToken(wait) || isa<ttg::AsyncWaitOp>(wait) ||
         getNumber(wait).value_or(0) == 0;
}

std::optional<unsigned> triton::getCount(Operation *wait, AsyncWork work) {
  std::optional<unsigned> number = getNumber(wait);
  if (!number && llvm::any_of(wait->getOperands(), isAsyncToken))
    return std::nullopt;
  // Of copies to global memory, another's wait may mean none.
  if (work == AsyncWork::Store && givesToken(wait))
    return std::nullopt;
  return number.value_or(0);
}

//===-- TensorCopies.cpp - Copies by TMA ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Descriptors.h"

#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;
using namespace mlir::triton::reference;

//===----------------------------------------------------------------------===//
// To shared memory
//===----------------------------------------------------------------------===//

/// Starts a copy that `barrier` counts the bytes of.
static Step startLoad(Thread &thread, Operation *op, Value barrier,
                      Value destination, Value pred,
                      function_ref<std::optional<Places>()> getPlaces) {
  std::optional<bool> isOn = thread.predicate(pred);
  if (!isOn)
    return thread.fault(op, "an undefined predicate");
  if (!*isOn)
    return Step::Next;
  std::optional<Places> places = getPlaces();
  if (!places)
    return Step::Stop;
  auto copy = makeCopy(thread, op, destination, std::move(*places));
  if (!copy)
    return Step::Stop;
  Machine::Barrier *counter = thread.machine.findBarrier(thread, op, barrier);
  if (!counter)
    return Step::Stop;
  // Each block of a cluster has a barrier for what it gets.
  auto type = cast<gpu::MemDescType>(destination.getType());
  int64_t bytes = ShapedType::getNumElements(gpu::getShapePerCTA(type)) *
                  type.getElementTypeBitWidth() / 8;
  copy->destination->mark(InFlight);
  counter->waiting.push_back({{copy}, bytes, /*arrivals=*/0});
  return Step::Next;
}

static Step startCopy(Thread &thread, Operation *op) {
  auto copy = cast<AsyncTMACopyGlobalToLocalOp>(op);
  return startLoad(
      thread, op, copy.getBarrier(), copy.getResult(), copy.getPred(),
      [&] { return getBlock(thread, op, copy.getDesc(), copy.getCoord()); });
}

static Step startGather(Thread &thread, Operation *op) {
  auto copy = cast<AsyncTMAGatherOp>(op);
  return startLoad(thread, op, copy.getBarrier(), copy.getResult(),
                   copy.getPred(), [&] {
                     return getRows(thread, op, copy.getDesc(),
                                    copy.getXOffsets(), copy.getYOffset());
                   });
}

//===----------------------------------------------------------------------===//
// To global memory
//===----------------------------------------------------------------------===//

void AsyncStore::finishReading() {
  if (hasRead)
    return;
  hasRead = true;
  Tensor again = source->read();
  for (size_t i = 0; i < values.size(); ++i)
    if (source->buffer->isFreed || again.isUndefined(i) ||
        again.bits[i] != values.bits[i])
      values.setUndefined(i);
}

void AsyncStore::finish() {
  finishReading();
  write(values);
}

static Step startStore(Thread &thread, Operation *op, Value source,
                       std::optional<Places> places,
                       std::optional<std::pair<RMWOp, Type>> reduction = {}) {
  if (!places)
    return Step::Stop;
  auto view = thread.object<View>(source);
  if (!view->isInBounds())
    return thread.fault(op, "a copy of a buffer that is not there");
  DeviceMemory &memory = thread.machine.memory;
  // Reductions may meet others there, which come before or after.
  if (!reduction)
    markPlaces(memory, *places);
  AsyncStore store;
  store.source = view;
  store.values = view->read();
  store.write = [places = std::make_shared<Places>(std::move(*places)),
                 memory = &memory, reduction](const Tensor &values) {
    if (reduction)
      reducePlaces(*memory, *places, values, reduction->first,
                   reduction->second);
    else
      writeLate(*memory, *places, values);
  };
  thread.stores.push_back(std::move(store));
  return Step::Next;
}

static Step startCopyBack(Thread &thread, Operation *op) {
  auto copy = cast<AsyncTMACopyLocalToGlobalOp>(op);
  return startStore(thread, op, copy.getSrc(),
                    getBlock(thread, op, copy.getDesc(), copy.getCoord()));
}

static Step startScatter(Thread &thread, Operation *op) {
  auto copy = cast<AsyncTMAScatterOp>(op);
  return startStore(thread, op, copy.getSrc(),
                    getRows(thread, op, copy.getDesc(), copy.getXOffsets(),
                            copy.getYOffset()));
}

static Step startReduction(Thread &thread, Operation *op) {
  auto copy = cast<AsyncTMAReduceOp>(op);
  TensorDescType type = copy.getDesc().getType();
  if (copy.getKind() == DescriptorReduceKind::INC ||
      copy.getKind() == DescriptorReduceKind::DEC)
    return thread.unknown(op, "a reduction that is not known");
  return startStore(
      thread, op, copy.getSrc(),
      getBlock(thread, op, copy.getDesc(), copy.getCoord()),
      std::pair(getAtomicOp(copy.getKind(), type), type.getElementType()));
}

static Step waitForStores(Thread &thread, Operation *op) {
  auto wait = cast<AsyncTMAStoreWaitOp>(op);
  size_t pending = wait.getPendings(), count = thread.stores.size();
  for (size_t i = 0; i + pending < count; ++i)
    thread.stores[i].finishReading();
  if (wait.getComplete())
    while (thread.stores.size() > pending) {
      thread.stores.front().finish();
      thread.stores.pop_front();
    }
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// Tensor maps
//===----------------------------------------------------------------------===//

static Step createMap(Thread &thread, Operation *op) {
  auto create = cast<TensormapCreateOp>(op);
  auto address = thread.scalar(create.getDescPtr()),
       base = thread.scalar(create.getGlobalAddress());
  if (!address || !base)
    return thread.fault(op, "an undefined address");
  Type pointee =
      cast<PointerType>(create.getGlobalAddress().getType()).getPointeeType();
  int64_t bytes = getElementBytes(pointee);
  auto map = std::make_shared<Descriptor>();
  map->base = *base;
  map->padsWithNan = create.getFillMode();
  map->strides.push_back(1);
  for (Value size : create.getGlobalDim()) {
    auto number = thread.integer(size);
    if (!number)
      return thread.fault(op, "an undefined size");
    map->shape.push_back(*number);
  }
  for (Value stride : create.getGlobalStride()) {
    auto number = thread.integer(stride);
    if (!number)
      return thread.fault(op, "an undefined stride");
    map->strides.push_back(*number / bytes);
  }
  // All lists start with the innermost dimension.
  std::reverse(map->shape.begin(), map->shape.end());
  std::reverse(map->strides.begin(), map->strides.end());
  thread.machine.tensorMaps[*address] = map;
  return Step::Next;
}

static Step useMap(Thread &thread, Operation *op) {
  auto address = thread.scalar(op->getOperand(0));
  if (!address)
    return thread.fault(op, "an undefined address");
  auto map = thread.machine.tensorMaps.find(*address);
  if (map == thread.machine.tensorMaps.end())
    return thread.fault(op, "no tensor map is there");
  thread.set(op->getResult(0), map->second);
  return Step::Next;
}

void mlir::triton::reference::registerTensorCopies(Handlers &handlers) {
  handlers["ttnvgpu.async_tma_copy_global_to_local"] = startCopy;
  handlers["ttnvgpu.async_tma_gather"] = startGather;
  handlers["ttnvgpu.async_tma_copy_local_to_global"] = startCopyBack;
  handlers["ttnvgpu.async_tma_scatter"] = startScatter;
  handlers["ttnvgpu.async_tma_reduce"] = startReduction;
  handlers["ttnvgpu.async_tma_store_wait"] = waitForStores;
  handlers["ttnvgpu.tensormap_create"] = createMap;
  handlers["ttnvgpu.reinterpret_tensor_descriptor"] = useMap;
  handlers["ttnvgpu.tensormap_fenceproxy_acquire"] = doNothing;
}

//===-- GlobalAccesses.cpp - Loads, stores, atomics -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "GlobalAccesses.h"
#include "Floats.h"

#include "tile/Dialect/TritonGPU/IR/Dialect.h"

#include <cmath>
#include <cstring>

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::reference;

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

namespace {
/// Finds regions; most places are in that of the one before.
class Finder {
public:
  Finder(DeviceMemory &memory, unsigned bytes) : memory(memory), bytes(bytes) {}

  DeviceMemory::Region *find(uint64_t address) {
    if (!last || address < last->address ||
        address + bytes > last->address + last->bytes.data.size())
      last = memory.find(address, bytes);
    return last;
  }

private:
  DeviceMemory &memory;
  unsigned bytes;
  DeviceMemory::Region *last = nullptr;
};
} // namespace

/// Whether each place that is accessed is in an array.
static bool checkPlaces(Thread &thread, Operation *op, const Places &places) {
  Finder finder(thread.machine.memory, places.bytes);
  for (auto [address, isEnabled] : llvm::zip(places.addresses, places.enabled))
    if (isEnabled && !finder.find(address)) {
      thread.fault(op, "an access outside of all arrays");
      return false;
    }
  return true;
}

std::optional<Places>
mlir::triton::reference::getPlaces(Thread &thread, Operation *op,
                                   const Tensor &pointers, Value mask,
                                   Value other, Type element) {
  Places places;
  places.shape = pointers.shape;
  places.bytes = getElementBytes(element);
  places.mask = maskOf(getElementBits(element));
  const Tensor *conditions = mask ? &thread.tensor(mask) : nullptr;
  for (size_t i = 0; i < pointers.size(); ++i) {
    size_t at = conditions && conditions->size() > 1 ? i : 0;
    if (conditions && conditions->isUndefined(at)) {
      thread.fault(op, "an undefined mask");
      return std::nullopt;
    }
    bool isEnabled = !conditions || (conditions->bits[at] & 1);
    if (isEnabled && pointers.isUndefined(i)) {
      thread.fault(op, "an undefined address");
      return std::nullopt;
    }
    places.add(pointers.bits[i], isEnabled);
  }
  places.other =
      other ? thread.tensor(other) : Tensor::allUndefined(pointers.shape);
  if (!checkPlaces(thread, op, places))
    return std::nullopt;
  return places;
}

Tensor mlir::triton::reference::readPlaces(DeviceMemory &memory,
                                           const Places &places) {
  Tensor result(places.shape);
  Finder finder(memory, places.bytes);
  for (size_t i = 0; i < result.size(); ++i) {
    bool isDefined = true;
    if (places.enabled[i]) {
      uint64_t address = places.addresses[i];
      const DeviceMemory::Region &region = *finder.find(address);
      result.bits[i] =
          region.bytes.read(address - region.address, places.bytes, isDefined) &
          places.mask;
    } else {
      size_t at = places.other.size() > 1 ? i : 0;
      result.bits[i] = places.other.bits[at];
      isDefined = !places.other.isUndefined(at);
    }
    if (!isDefined)
      result.setUndefined(i);
  }
  return result;
}

/// Calls `visit(region, offset, i)` for each place that is accessed.
template <typename F>
static void forEachEnabled(DeviceMemory &memory, const Places &places,
                           F visit) {
  Finder finder(memory, places.bytes);
  for (size_t i = 0; i < places.addresses.size(); ++i) {
    if (!places.enabled[i])
      continue;
    uint64_t address = places.addresses[i];
    DeviceMemory::Region *region = finder.find(address);
    visit(region->bytes, address - region->address, i);
  }
}

void mlir::triton::reference::writePlaces(DeviceMemory &memory,
                                          const Places &places,
                                          const Tensor &values) {
  forEachEnabled(memory, places, [&](Bytes &bytes, size_t at, size_t i) {
    size_t from = values.size() > 1 ? i : 0;
    bytes.write(at, places.bytes, values.bits[from], !values.isUndefined(from));
  });
}

void mlir::triton::reference::markPlaces(DeviceMemory &memory,
                                         const Places &places) {
  forEachEnabled(memory, places, [&](Bytes &bytes, size_t at, size_t) {
    std::memset(&bytes.shadow[at], InFlight, places.bytes);
  });
}

void mlir::triton::reference::writeLate(DeviceMemory &memory,
                                        const Places &places,
                                        const Tensor &values) {
  forEachEnabled(memory, places, [&](Bytes &bytes, size_t at, size_t i) {
    bool isDefined = !values.isUndefined(i), isMine = true;
    for (unsigned b = 0; b < places.bytes; ++b)
      isMine &= bytes.shadow[at + b] == InFlight;
    if (!isMine) {
      bool wasDefined = true;
      uint64_t known = bytes.read(at, places.bytes, wasDefined) & places.mask;
      isDefined &= wasDefined && known == values.bits[i];
    }
    bytes.write(at, places.bytes, values.bits[i], isDefined);
  });
}

//===----------------------------------------------------------------------===//
// Block pointers
//===----------------------------------------------------------------------===//

namespace {
struct BlockPointer : Object {
  uint64_t base;
  SmallVector<int64_t, 4> shape, strides, offsets;
};
} // namespace

static std::optional<SmallVector<int64_t, 4>> getIntegers(Thread &thread,
                                                          ValueRange values) {
  SmallVector<int64_t, 4> result;
  for (Value value : values) {
    std::optional<int64_t> number = thread.integer(value);
    if (!number)
      return std::nullopt;
    result.push_back(*number);
  }
  return result;
}

static Step makeBlockPointer(Thread &thread, Operation *op) {
  auto make = cast<MakeTensorPtrOp>(op);
  auto shape = getIntegers(thread, make.getShape()),
       strides = getIntegers(thread, make.getStrides()),
       offsets = getIntegers(thread, make.getOffsets());
  std::optional<uint64_t> base = thread.scalar(make.getBase());
  if (!shape || !strides || !offsets || !base)
    return thread.fault(op, "an undefined operand");
  auto pointer = std::make_shared<BlockPointer>();
  pointer->base = *base;
  pointer->shape = *shape;
  pointer->strides = *strides;
  pointer->offsets = *offsets;
  thread.set(make.getResult(), pointer);
  return Step::Next;
}

static Step advance(Thread &thread, Operation *op) {
  auto move = cast<AdvanceOp>(op);
  auto offsets = getIntegers(thread, move.getOffsets());
  if (!offsets)
    return thread.fault(op, "an undefined offset");
  auto pointer = std::make_shared<BlockPointer>(
      *thread.object<BlockPointer>(move.getPtr()));
  for (auto [offset, more] : llvm::zip(pointer->offsets, *offsets))
    offset += more;
  thread.set(move.getResult(), pointer);
  return Step::Next;
}

static std::optional<Places> getBlockPlaces(Thread &thread, Operation *op,
                                            Value value,
                                            ArrayRef<int32_t> checked,
                                            std::optional<PaddingOption> pad) {
  auto pointer = thread.object<BlockPointer>(value);
  auto block = cast<RankedTensorType>(
      cast<PointerType>(value.getType()).getPointeeType());
  Type element = block.getElementType();
  Places places;
  places.shape.assign(block.getShape().begin(), block.getShape().end());
  places.bytes = getElementBytes(element);
  places.mask = maskOf(getElementBits(element));
  forEachPosition(block.getShape(), [&](int64_t, ArrayRef<int64_t> at) {
    int64_t element = 0;
    bool isInside = true;
    for (size_t d = 0; d < at.size(); ++d) {
      int64_t i = pointer->offsets[d] + at[d];
      element += i * pointer->strides[d];
      if (llvm::is_contained(checked, int32_t(d)))
        isInside &= i >= 0 && i < pointer->shape[d];
    }
    places.add(pointer->base + uint64_t(element) * places.bytes, isInside);
  });
  if (pad) {
    const FloatFormat *format = FloatFormat::get(element);
    bool isNan = *pad == PaddingOption::PAD_NAN && format;
    places.other = Tensor::scalar(isNan ? format->encode(NAN) : 0);
  } else {
    places.other = Tensor::allUndefined(block.getShape());
  }
  if (!checkPlaces(thread, op, places))
    return std::nullopt;
  return places;
}

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

static bool isBlockPointer(Value value) {
  auto pointer = dyn_cast<PointerType>(value.getType());
  return pointer && isa<RankedTensorType>(pointer.getPointeeType());
}

static Step runLoad(Thread &thread, Operation *op) {
  auto load = cast<LoadOp>(op);
  std::optional<Places> places =
      isBlockPointer(load.getPtr())
          ? getBlockPlaces(thread, op, load.getPtr(), load.getBoundaryCheck(),
                           load.getPadding())
          : getPlaces(thread, op, thread.tensor(load.getPtr()), load.getMask(),
                      load.getOther(), getElementTypeOrSelf(load.getType()));
  if (!places)
    return Step::Stop;
  thread.set(load.getResult(), readPlaces(thread.machine.memory, *places));
  return Step::Next;
}

static Step runStore(Thread &thread, Operation *op) {
  auto store = cast<StoreOp>(op);
  std::optional<Places> places =
      isBlockPointer(store.getPtr())
          ? getBlockPlaces(thread, op, store.getPtr(), store.getBoundaryCheck(),
                           std::nullopt)
          : getPlaces(thread, op, thread.tensor(store.getPtr()),
                      store.getMask(), /*other=*/{},
                      getElementTypeOrSelf(store.getValue().getType()));
  if (!places)
    return Step::Stop;
  writePlaces(thread.machine.memory, *places, thread.tensor(store.getValue()));
  return Step::Next;
}

static Step allocateScratch(Thread &thread, Operation *op) {
  auto alloc = cast<gpu::GlobalScratchAllocOp>(op);
  thread.set(alloc.getResult(), Tensor::scalar(thread.machine.memory.allocate(
                                    alloc.getNbytes(), alloc.getAlignment())));
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

uint64_t mlir::triton::reference::combineAtomically(RMWOp kind, Type element,
                                                    uint64_t old,
                                                    uint64_t value) {
  unsigned width = getElementBits(element);
  const FloatFormat *format = FloatFormat::get(element);
  int64_t a = signExtend(old, width), b = signExtend(value, width);
  switch (kind) {
  case RMWOp::AND:
    return old & value;
  case RMWOp::OR:
    return old | value;
  case RMWOp::XOR:
    return old ^ value;
  case RMWOp::ADD:
    return (old + value) & maskOf(width);
  case RMWOp::FADD:
    return format->encode(format->decode(old) + format->decode(value));
  case RMWOp::MAX:
    if (format)
      return format->encode(
          std::fmax(format->decode(old), format->decode(value)));
    return a < b ? value : old;
  case RMWOp::MIN:
    if (format)
      return format->encode(
          std::fmin(format->decode(old), format->decode(value)));
    return b < a ? value : old;
  case RMWOp::UMAX:
    return std::max(old, value);
  case RMWOp::UMIN:
    return std::min(old, value);
  case RMWOp::XCHG:
    return value;
  }
  llvm_unreachable("all operations are covered");
}

/// Elements one after the other; `f(old, i)` is what is written.
template <typename F>
static Tensor updatePlaces(DeviceMemory &memory, const Places &places,
                           const Tensor &values, F f) {
  Tensor result = Tensor::allUndefined(places.shape);
  forEachEnabled(memory, places, [&](Bytes &bytes, size_t at, size_t i) {
    bool isDefined = true;
    uint64_t old = bytes.read(at, places.bytes, isDefined) & places.mask;
    result.bits[i] = old;
    result.undefined[i] = !isDefined;
    size_t from = values.size() > 1 ? i : 0;
    bytes.write(at, places.bytes, f(old, i),
                isDefined && !values.isUndefined(from));
  });
  return result;
}

static Step update(Thread &thread, Operation *op, const Places &places,
                   RMWOp kind, Value value) {
  Type element = getElementTypeOrSelf(value.getType());
  const Tensor &values = thread.tensor(value);
  thread.set(op->getResult(0),
             updatePlaces(thread.machine.memory, places, values,
                          [&](uint64_t old, size_t i) {
                            return combineAtomically(
                                kind, element, old,
                                values.bits[values.size() > 1 ? i : 0]);
                          }));
  return Step::Next;
}

static Step exchangeIfEqual(Thread &thread, Operation *op, const Places &places,
                            Value compared, Value value) {
  const Tensor &expected = thread.tensor(compared),
               &values = thread.tensor(value);
  thread.set(op->getResult(0),
             updatePlaces(thread.machine.memory, places, values,
                          [&](uint64_t old, size_t i) {
                            return old == expected.bits[i] ? values.bits[i]
                                                           : old;
                          }));
  return Step::Next;
}

static Step runAtomicRMW(Thread &thread, Operation *op) {
  auto atomic = cast<AtomicRMWOp>(op);
  auto places =
      getPlaces(thread, op, thread.tensor(atomic.getPtr()), atomic.getMask(),
                /*other=*/{}, getElementTypeOrSelf(atomic.getVal().getType()));
  if (!places)
    return Step::Stop;
  return update(thread, op, *places, atomic.getAtomicRmwOp(), atomic.getVal());
}

static Step runAtomicCAS(Thread &thread, Operation *op) {
  auto atomic = cast<AtomicCASOp>(op);
  auto places = getPlaces(thread, op, thread.tensor(atomic.getPtr()),
                          /*mask=*/{}, /*other=*/{},
                          getElementTypeOrSelf(atomic.getVal().getType()));
  if (!places)
    return Step::Stop;
  return exchangeIfEqual(thread, op, *places, atomic.getCmp(), atomic.getVal());
}

//===----------------------------------------------------------------------===//
// Buffers of AMD, which this library knows by name only
//===----------------------------------------------------------------------===//

/// The operands of a group of an operation that has groups of any size.
static ValueRange getGroup(Operation *op, unsigned group) {
  auto sizes = op->getAttrOfType<DenseI32ArrayAttr>("operandSegmentSizes");
  if (!sizes)
    return op->getOperands().slice(group, 1);
  unsigned first = 0;
  for (unsigned i = 0; i < group; ++i)
    first += sizes[i];
  return op->getOperands().slice(first, sizes[group]);
}
static Value getOptional(Operation *op, unsigned group) {
  ValueRange values = getGroup(op, group);
  return values.empty() ? Value() : values.front();
}

/// Offsets count elements and have no sign. What lies beyond 2^31 bytes is not
/// there.
static std::optional<Places> getBufferPlaces(Thread &thread, Operation *op,
                                             Value pointer, Value offsets,
                                             Value mask, Value other) {
  auto base = thread.scalar(pointer);
  if (!base) {
    thread.fault(op, "an undefined address");
    return std::nullopt;
  }
  Type element = cast<PointerType>(pointer.getType()).getPointeeType();
  const Tensor &numbers = thread.tensor(offsets);
  Places places;
  places.shape = numbers.shape;
  places.bytes = getElementBytes(element);
  places.mask = maskOf(getElementBits(element));
  const Tensor *conditions = mask ? &thread.tensor(mask) : nullptr;
  for (size_t i = 0; i < numbers.size(); ++i) {
    bool isUndefined = conditions && conditions->isUndefined(i);
    bool isEnabled = !conditions || (conditions->bits[i] & 1);
    if (isUndefined || (isEnabled && numbers.isUndefined(i))) {
      thread.fault(op, "an undefined offset or mask");
      return std::nullopt;
    }
    // The machine computes bytes in 32 bits.
    uint64_t bytes = uint32_t(numbers.bits[i] * places.bytes);
    places.add(*base + bytes, isEnabled && bytes < (uint64_t(1) << 31));
  }
  places.other = other ? thread.tensor(other) : Tensor(numbers.shape);
  if (!checkPlaces(thread, op, places))
    return std::nullopt;
  return places;
}

static Step loadFromBuffer(Thread &thread, Operation *op) {
  // ptr, offsets, stride, mask, other
  auto places =
      getBufferPlaces(thread, op, getOptional(op, 0), getOptional(op, 1),
                      getOptional(op, 3), getOptional(op, 4));
  if (!places)
    return Step::Stop;
  thread.set(op->getResult(0), readPlaces(thread.machine.memory, *places));
  return Step::Next;
}

static Step storeToBuffer(Thread &thread, Operation *op) {
  // value, ptr, offsets, stride, mask
  auto places =
      getBufferPlaces(thread, op, getOptional(op, 1), getOptional(op, 2),
                      getOptional(op, 4), /*other=*/{});
  if (!places)
    return Step::Stop;
  writePlaces(thread.machine.memory, *places,
              thread.tensor(getOptional(op, 0)));
  return Step::Next;
}

static Step updateBuffer(Thread &thread, Operation *op) {
  // ptr, offsets, value, stride, mask
  auto places =
      getBufferPlaces(thread, op, getOptional(op, 0), getOptional(op, 1),
                      getOptional(op, 4), /*other=*/{});
  if (!places)
    return Step::Stop;
  auto kind = op->getAttrOfType<RMWOpAttr>("atomic_rmw_op");
  return update(thread, op, *places, kind.getValue(), getOptional(op, 2));
}

static Step exchangeInBuffer(Thread &thread, Operation *op) {
  // ptr, offsets, cmp, val
  auto places = getBufferPlaces(thread, op, op->getOperand(0),
                                op->getOperand(1), /*mask=*/{}, /*other=*/{});
  if (!places)
    return Step::Stop;
  return exchangeIfEqual(thread, op, *places, op->getOperand(2),
                         op->getOperand(3));
}

std::shared_ptr<AsyncCopy> reference::makeCopy(Thread &thread, Operation *op,
                                               Value destination,
                                               Places places) {
  auto view = thread.object<View>(destination);
  if (!view->isInBounds()) {
    thread.fault(op, "a copy to a buffer that is not there");
    return nullptr;
  }
  auto copy = std::make_shared<AsyncCopy>();
  copy->destination = view;
  copy->values = readPlaces(thread.machine.memory, places);
  copy->readAgain = [places = std::make_shared<Places>(std::move(places)),
                     memory = &thread.machine.memory] {
    return readPlaces(*memory, *places);
  };
  return copy;
}

/// A copy to shared memory that no wait has seen.
static Step startCopy(Thread &thread, Operation *op, Value destination,
                      std::optional<Places> places) {
  if (!places)
    return Step::Stop;
  auto copy = makeCopy(thread, op, destination, std::move(*places));
  if (!copy)
    return Step::Stop;
  copy->destination->mark(InFlight);
  thread.newCopies.push_back(copy);
  return Step::Next;
}

static Step copyFromBuffer(Thread &thread, Operation *op) {
  // dest, ptr, offsets, mask, other, stride
  return startCopy(thread, op, getOptional(op, 0),
                   getBufferPlaces(thread, op, getOptional(op, 1),
                                   getOptional(op, 2), getOptional(op, 3),
                                   getOptional(op, 4)));
}

static Step copyAsynchronously(Thread &thread, Operation *op) {
  auto copy = cast<gpu::AsyncCopyGlobalToLocalOp>(op);
  auto places =
      getPlaces(thread, op, thread.tensor(copy.getSrc()), copy.getMask(),
                copy.getOther(), copy.getResult().getType().getElementType());
  if (places && !copy.getOther())
    places->other = Tensor(places->shape);
  return startCopy(thread, op, copy.getResult(), std::move(places));
}

void mlir::triton::reference::registerGlobalAccesses(Handlers &handlers) {
  handlers["tt.make_tensor_ptr"] = makeBlockPointer;
  handlers["tt.advance"] = advance;
  handlers["tt.load"] = runLoad;
  handlers["tt.store"] = runStore;
  handlers["tt.atomic_rmw"] = runAtomicRMW;
  handlers["tt.atomic_cas"] = runAtomicCAS;
  handlers["ttg.global_scratch_alloc"] = allocateScratch;
  handlers["ttg.async_copy_global_to_local"] = copyAsynchronously;
  handlers["amdg.buffer_load"] = loadFromBuffer;
  handlers["amdg.buffer_store"] = storeToBuffer;
  handlers["amdg.buffer_atomic_rmw"] = updateBuffer;
  handlers["amdg.buffer_atomic_cas"] = exchangeInBuffer;
  handlers["amdg.buffer_load_to_local"] = copyFromBuffer;
}

//===-- Descriptors.cpp - Blocks of tensors in memory ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Descriptors.h"
#include "Floats.h"

#include <cmath>

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::reference;

static Step makeDescriptor(Thread &thread, Operation *op) {
  auto make = cast<MakeTensorDescOp>(op);
  auto descriptor = std::make_shared<Descriptor>();
  std::optional<uint64_t> base = thread.scalar(make.getBase());
  if (!base)
    return thread.fault(op, "an undefined base");
  descriptor->base = *base;
  for (auto [from, to] : {std::pair(make.getShape(), &descriptor->shape),
                          std::pair(make.getStrides(), &descriptor->strides)})
    for (Value value : from) {
      std::optional<int64_t> number = thread.integer(value);
      if (!number)
        return thread.fault(op, "an undefined shape");
      to->push_back(*number);
    }
  descriptor->padsWithNan = make.getPadding() == PaddingOption::PAD_NAN;
  thread.set(make.getResult(), descriptor);
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// For places in a tensor, which `add` fills.
static std::optional<Places> collect(
    Thread &thread, Operation *op, const Descriptor &descriptor,
    TensorDescType type, ArrayRef<int64_t> shape,
    function_ref<void(ArrayRef<int64_t>, MutableArrayRef<int64_t>)> locate) {
  Places places;
  Type element = type.getElementType();
  places.shape.assign(shape.begin(), shape.end());
  places.bytes = getElementBytes(element);
  places.mask = maskOf(getElementBits(element));
  SmallVector<int64_t, 5> place(descriptor.shape.size());
  bool isFault = false;
  forEachPosition(shape, [&](int64_t, ArrayRef<int64_t> at) {
    locate(at, place);
    bool isInside = true;
    int64_t offset = 0;
    for (size_t d = 0; d < place.size(); ++d) {
      isInside &= place[d] >= 0 && place[d] < descriptor.shape[d];
      offset += place[d] * descriptor.strides[d];
    }
    uint64_t address = descriptor.base + uint64_t(offset) * places.bytes;
    isFault |= isInside && !thread.machine.memory.find(address, places.bytes);
    places.add(address, isInside);
  });
  if (isFault) {
    thread.fault(op, "an access outside of all arrays");
    return std::nullopt;
  }
  const FloatFormat *format = FloatFormat::get(element);
  places.other = Tensor::scalar(
      descriptor.padsWithNan && format ? format->encode(NAN) : 0);
  return places;
}

std::optional<Places> mlir::triton::reference::getBlock(Thread &thread,
                                                        Operation *op,
                                                        Value value,
                                                        ValueRange indices) {
  auto type = cast<TensorDescType>(value.getType());
  auto descriptor = thread.object<Descriptor>(value);
  SmallVector<int64_t, 5> start;
  for (Value index : indices) {
    std::optional<int64_t> number = thread.integer(index);
    if (!number) {
      thread.fault(op, "an undefined index");
      return std::nullopt;
    }
    start.push_back(*number);
  }
  return collect(thread, op, *descriptor, type, type.getBlockType().getShape(),
                 [&](ArrayRef<int64_t> at, MutableArrayRef<int64_t> place) {
                   for (size_t d = 0; d < place.size(); ++d)
                     place[d] = start[d] + at[d];
                 });
}

std::optional<Places> mlir::triton::reference::getRows(Thread &thread,
                                                       Operation *op,
                                                       Value value, Value rows,
                                                       Value column) {
  auto type = cast<TensorDescType>(value.getType());
  auto descriptor = thread.object<Descriptor>(value);
  const Tensor &numbers = thread.tensor(rows);
  std::optional<int64_t> first = thread.integer(column);
  if (!first || !numbers.undefined.empty()) {
    thread.fault(op, "an undefined index");
    return std::nullopt;
  }
  SmallVector<int64_t, 2> shape{int64_t(numbers.size()),
                                type.getBlockType().getShape().back()};
  return collect(thread, op, *descriptor, type, shape,
                 [&](ArrayRef<int64_t> at, MutableArrayRef<int64_t> place) {
                   place[0] = signExtend(numbers.bits[at[0]], 32);
                   place[1] = *first + at[1];
                 });
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

/// A block may have dimensions of size one that the tensor leaves out.
static Tensor withShape(Tensor tensor, Type type) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(type).getShape();
  tensor.shape.assign(shape.begin(), shape.end());
  return tensor;
}

static Step load(Thread &thread, Operation *op, std::optional<Places> places) {
  if (!places)
    return Step::Stop;
  thread.set(op->getResult(0),
             withShape(readPlaces(thread.machine.memory, *places),
                       op->getResult(0).getType()));
  return Step::Next;
}

static Step store(Thread &thread, std::optional<Places> places, Value value) {
  if (!places)
    return Step::Stop;
  writePlaces(thread.machine.memory, *places, thread.tensor(value));
  return Step::Next;
}

RMWOp mlir::triton::reference::getAtomicOp(DescriptorReduceKind kind,
                                           TensorDescType type) {
  Type element = type.getBlockType().getElementType();
  bool isFloat = isa<FloatType>(element),
       isUnsigned = element.isUnsignedInteger();
  switch (kind) {
  case DescriptorReduceKind::ADD:
    return isFloat ? RMWOp::FADD : RMWOp::ADD;
  case DescriptorReduceKind::MIN:
    return isUnsigned ? RMWOp::UMIN : RMWOp::MIN;
  case DescriptorReduceKind::MAX:
    return isUnsigned ? RMWOp::UMAX : RMWOp::MAX;
  case DescriptorReduceKind::AND:
    return RMWOp::AND;
  case DescriptorReduceKind::OR:
    return RMWOp::OR;
  default:
    return RMWOp::XOR;
  }
}

void mlir::triton::reference::reducePlaces(DeviceMemory &memory,
                                           const Places &places,
                                           const Tensor &values, RMWOp kind,
                                           Type element) {
  Tensor old = readPlaces(memory, places);
  for (size_t i = 0; i < old.size(); ++i) {
    if (!places.enabled[i])
      continue;
    old.bits[i] = combineAtomically(kind, element, old.bits[i], values.bits[i]);
    if (values.isUndefined(i))
      old.setUndefined(i);
  }
  writePlaces(memory, places, old);
}

static bool isKnown(DescriptorReduceKind kind) {
  return kind != DescriptorReduceKind::INC && kind != DescriptorReduceKind::DEC;
}

static Step reduce(Thread &thread, Operation *op) {
  auto reduction = cast<DescriptorReduceOp>(op);
  if (!isKnown(reduction.getKind()))
    return thread.unknown(op, "a reduction that is not known");
  auto places =
      getBlock(thread, op, reduction.getDesc(), reduction.getIndices());
  if (!places)
    return Step::Stop;
  TensorDescType type = reduction.getDesc().getType();
  reducePlaces(thread.machine.memory, *places,
               thread.tensor(reduction.getSrc()),
               getAtomicOp(reduction.getKind(), type), type.getElementType());
  return Step::Next;
}

void mlir::triton::reference::registerDescriptors(Handlers &handlers) {
  handlers["tt.make_tensor_descriptor"] = makeDescriptor;
  handlers["tt.descriptor_load"] = [](Thread &thread, Operation *op) {
    auto access = cast<DescriptorLoadOp>(op);
    return load(thread, op,
                getBlock(thread, op, access.getDesc(), access.getIndices()));
  };
  handlers["tt.descriptor_gather"] = [](Thread &thread, Operation *op) {
    auto access = cast<DescriptorGatherOp>(op);
    return load(thread, op,
                getRows(thread, op, access.getDesc(), access.getXOffsets(),
                        access.getYOffset()));
  };
  handlers["tt.descriptor_store"] = [](Thread &thread, Operation *op) {
    auto access = cast<DescriptorStoreOp>(op);
    return store(thread,
                 getBlock(thread, op, access.getDesc(), access.getIndices()),
                 access.getSrc());
  };
  handlers["tt.descriptor_scatter"] = [](Thread &thread, Operation *op) {
    auto access = cast<DescriptorScatterOp>(op);
    return store(thread,
                 getRows(thread, op, access.getDesc(), access.getXOffsets(),
                         access.getYOffset()),
                 access.getSrc());
  };
  handlers["tt.descriptor_reduce"] = reduce;
}

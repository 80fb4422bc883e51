//===-- SharedAccess.cpp - Registers to and from shared memory ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Conversion/TritonGPUToLLVM/SharedAccess.h"
#include "tile/Conversion/TritonGPUToLLVM/IndexedMemory.h"

#include "tile/Conversion/TritonGPUToLLVM/Elements.h"
#include "tile/Layout/ColumnAction.h"
#include "tile/Layout/SharedMemory.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;

unsigned triton::getSharedElementBytes(Type llvmElement) {
  if (isa<LLVM::LLVMPointerType>(llvmElement))
    return 8;
  return llvm::divideCeil(llvmElement.getIntOrFloatBitWidth(), 8);
}

Type triton::getSharedElementType(Type llvmElement) {
  MLIRContext *ctx = llvmElement.getContext();
  if (isa<LLVM::LLVMPointerType>(llvmElement))
    return IntegerType::get(ctx, 64);
  if (llvmElement.getIntOrFloatBitWidth() < 8)
    return IntegerType::get(ctx, 8);
  return llvmElement;
}

Value triton::toSharedElement(const LLVMBuilder &b, Value value) {
  Type type = value.getType(), shared = getSharedElementType(type);
  if (type == shared)
    return value;
  if (isa<LLVM::LLVMPointerType>(type))
    return b.ptrToInt(shared, value);
  return b.zext(shared, value);
}

Value triton::fromSharedElement(const LLVMBuilder &b, Value value,
                                Type element) {
  if (value.getType() == element)
    return value;
  if (isa<LLVM::LLVMPointerType>(element))
    return b.intToPtr(element, value);
  return b.trunc(element, value);
}

Value triton::getSharedMemoryAt(const LLVMBuilder &b, const TargetInfo &target,
                                Operation *op, int64_t offset) {
  auto function = op->getParentOfType<FunctionOpInterface>();
  Value base;
  auto llvmFunction = dyn_cast<LLVM::LLVMFuncOp>(function.getOperation());
  if (llvmFunction && function->hasAttr(kSharedMemoryArgumentAttrName))
    base = function.getArgument(function.getNumArguments() - 1);
  else
    base = b.create<LLVM::AddressOfOp>(b.ptrTy(target.getSharedAddressSpace()),
                                       "global_smem");
  return b.gep(base, b.intTy(8), offset);
}

Value triton::getScratchBase(const LLVMBuilder &b, const TargetInfo &target,
                             Operation *op) {
  auto offset = op->getAttrOfType<IntegerAttr>(kAllocationOffsetAttrName);
  assert(offset && "scratch memory was not allocated");
  return getSharedMemoryAt(b, target, op, offset.getInt());
}

MemDesc MemDesc::unpack(const LLVMBuilder &b, Value converted,
                        gpu::MemDescType type) {
  MemDesc desc;
  SmallVector<Value> parts;
  if (auto cast = converted.getDefiningOp<UnrealizedConversionCastOp>();
      cast && cast.getInputs().size() == type.getShape().size() + 1) {
    parts = llvm::to_vector(cast.getInputs());
  } else {
    for (unsigned i = 0; i <= type.getShape().size(); ++i)
      parts.push_back(b.extractVal(converted, i));
  }
  desc.base = parts.front();
  desc.offsets.assign(parts.begin() + 1, parts.end());
  return desc;
}

Value MemDesc::pack(const LLVMBuilder &b) const {
  SmallVector<Value> parts{base};
  llvm::append_range(parts, offsets);
  auto type = LLVM::LLVMStructType::getLiteral(
      b.getContext(), llvm::to_vector(ValueRange(parts).getTypes()));
  return b.create<UnrealizedConversionCastOp>(type, parts).getResult(0);
}

//===----------------------------------------------------------------------===//
// SharedAccess
//===----------------------------------------------------------------------===//

struct SharedAccess::Plan {
  /// Registers that are neighbours in memory, and their least offset as far as
  /// registers tell. Registers that repeat others are in no group.
  SmallVector<SmallVector<int32_t>> groups;
  SmallVector<int32_t> groupOffsets;
  /// And, of another block's memory, the block as far as registers tell.
  SmallVector<int32_t> groupBlocks;
};

SharedAccess::Plan SharedAccess::plan() const {
  LinearLayout layout = toOffset.sublayout(toOffset.getInDimNames(), {kOffset});
  ColumnAction distinct = removeBroadcastedRegisters(toOffset);
  // A vector must not reach across what is xor-ed or inserted.
  int64_t limit = isRemote() ? 1 : maxVector;
  if (offset)
    limit = std::min(limit, int64_t(1) << offsetZeroBits);
  for (auto [interval, padding] : paddings)
    limit =
        std::min<int64_t>(limit, 1u << llvm::countr_zero(interval | padding));
  VectorAccess vectors = getVectorAccess(
      distinct.apply(layout), 8 * getSharedElementBytes(element),
      target.getModel().getMaxSharedAccessBits(), limit);
  ColumnAction registers = distinct.then(vectors.registers);
  LinearLayout offsets =
      registers.apply(layout).sublayout({kRegister}, {kOffset});
  LinearLayout blocks;
  if (isRemote())
    blocks = registers.apply(toOffset).sublayout({kRegister}, {kBlock});
  unsigned size = 1u << vectors.vecLog2;

  Plan plan;
  for (int32_t r = 0, e = offsets.getInDimSize(kRegister); r < e; r += size) {
    SmallVector<int32_t> group;
    for (unsigned v = 0; v < size; ++v)
      group.push_back(registers.sourceIndex(r + v));
    plan.groups.push_back(std::move(group));
    plan.groupOffsets.push_back(offsets.apply({{kRegister, r}})[0].second);
    plan.groupBlocks.push_back(
        isRemote() ? blocks.apply({{kRegister, r}})[0].second : 0);
  }
  return plan;
}

Value triton::insertPaddings(const LLVMBuilder &b, const SharedAccess &access,
                             Value offset) {
  Value padded = offset;
  for (auto [interval, padding] : access.paddings)
    padded = b.add(padded, b.mul(b.lshr(offset, b.i32(llvm::Log2_32(interval))),
                                 b.i32(padding)));
  return padded;
}

SmallVector<SmallVector<int32_t>> SharedAccess::getVectors() const {
  return plan().groups;
}

void SharedAccess::forEachVector(
    const LLVMBuilder &b, const ThreadIndex &index,
    function_ref<void(Value, ArrayRef<int32_t>)> access) const {
  Plan p = plan();
  LinearLayout layout = toOffset.sublayout(toOffset.getInDimNames(), {kOffset});
  ThreadPart part = evaluateThreadPart(b, layout, kOffset, index);
  if (offset) {
    part.value = part.value ? b.xor_(part.value, offset) : offset;
    // Any bit from offsetZeroBits up may be set.
    part.bits |= ~((1 << offsetZeroBits) - 1) & 0x7fffffff;
  }
  Type memElement = getSharedElementType(element);
  Type byte = b.intTy(8);
  unsigned bytes = getSharedElementBytes(element);
  // Offsets split into what must be xor-ed with the thread's part and what can
  // be an immediate; few distinct xors occur.
  llvm::DenseMap<std::pair<int32_t, int32_t>, Value> pointers;
  ThreadPart blockPart;
  if (isRemote())
    blockPart = evaluateThreadPart(b, toOffset, kBlock, index);
  for (auto [group, at, block] :
       llvm::zip(p.groups, p.groupOffsets, p.groupBlocks)) {
    int32_t mixed = at & part.bits, plain = at & ~part.bits;
    if (!paddings.empty()) {
      mixed = at;
      plain = 0;
    }
    Value &ptr = pointers[{mixed, block}];
    if (!ptr) {
      Value element = part.withConstant(b, mixed);
      element = insertPaddings(b, *this, element);
      ptr = part.value || mixed ? b.gep(base, memElement, element) : base;
      if (isRemote()) {
        Value there = blockPart.withConstant(b, block);
        ptr = target.mapToBlock(
            b, ptr, this->block ? b.xor_(there, this->block) : there);
      }
    }
    access(b.gep(ptr, byte, static_cast<int64_t>(plain) * bytes), group);
  }
}

Value SharedAccess::emitOwner(const LLVMBuilder &b,
                              const ThreadIndex &index) const {
  if (isRemote())
    return emitUniqueThreadPredicate(b, toOffset, index);
  // Each block has a memory of its own.
  ThreadIndex inBlock = index;
  inBlock.block = {};
  return emitUniqueThreadPredicate(b, toOffset, inBlock);
}

SharedAccess SharedAccess::spreadOverBanks(const LLVMBuilder &b,
                                           const ThreadIndex &index,
                                           SmallVector<Value> &values) const {
  SharedAccess access = *this;
  unsigned bits = 8 * getSharedElementBytes(element);
  // Smaller elements would be selected one by one, and padding moves banks.
  if (bits < 32 || !paddings.empty())
    return access;
  unsigned vecLog2 = llvm::Log2_32(plan().groups.front().size());
  for (RegisterExchange exchange : chooseRegisterExchanges(
           toOffset, bits, vecLog2, target.getModel().getSharedMemoryBanks())) {
    access.toOffset = exchangeRegisters(access.toOffset, exchange);
    Value bit = b.and_(index.thread, b.i32(1 << exchange.laneBit));
    Value isSet = b.ne(bit, b.i32(0));
    SmallVector<Value> before = values;
    for (auto [r, value] : llvm::enumerate(values))
      value = b.select(isSet, before[r ^ (1u << exchange.registerBit)], value);
  }
  return access;
}

void SharedAccess::store(const LLVMBuilder &b, const ThreadIndex &index,
                         ArrayRef<Value> values, Value pred) const {
  pred = b.andPred(pred, emitOwner(b, index));
  if (!pred && target.storeMatrices(b, *this, index, values))
    return;
  SmallVector<Value> spread(values);
  SharedAccess access =
      pred || isRemote() ? *this : spreadOverBanks(b, index, spread);
  access.forEachVector(b, index, [&](Value ptr, ArrayRef<int32_t> registers) {
    SmallVector<Value> elements;
    for (int32_t r : registers)
      elements.push_back(toSharedElement(b, spread[r]));
    target.storeShared(b, ptr, elements, pred);
  });
}

SmallVector<Value> SharedAccess::load(const LLVMBuilder &b,
                                      const ThreadIndex &index,
                                      Value pred) const {
  if (!pred)
    if (auto values = target.loadMatrices(b, *this, index))
      return std::move(*values);
  Type memElement = getSharedElementType(element);
  SmallVector<Value> values(toOffset.getInDimSize(kRegister));
  forEachVector(b, index, [&](Value ptr, ArrayRef<int32_t> registers) {
    SmallVector<Value> loaded =
        target.loadShared(b, ptr, memElement, registers.size(), pred);
    for (auto [r, value] : llvm::zip(registers, loaded))
      values[r] = fromSharedElement(b, value, element);
  });
  SmallVector<Value> distinct =
      removeBroadcastedRegisters(toOffset).apply(values);
  return broadcastRegisters<Value>(distinct, toOffset);
}

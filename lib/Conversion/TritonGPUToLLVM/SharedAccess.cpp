//===-- SharedAccess.cpp - Registers to and from shared memory ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Conversion/TritonGPUToLLVM/Utility.h"
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
  if (llvmFunction && function->hasAttr("tile.shared_memory_argument"))
    base = function.getArgument(function.getNumArguments() - 1);
  else
    base = b.create<LLVM::AddressOfOp>(b.ptrTy(target.getSharedAddressSpace()),
                                       "global_smem");
  return b.gep(base, b.intTy(8), offset);
}

Value triton::getScratchBase(const LLVMBuilder &b, const TargetInfo &target,
                             Operation *op) {
  auto offset = op->getAttrOfType<IntegerAttr>("allocation.offset");
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
  /// Registers in groups of `vector`, each group neighbours in memory.
  unsigned vector = 1;
  SmallVector<SmallVector<int32_t>> groups;
  /// For each group, the register part of its offset.
  SmallVector<int32_t> groupOffsets;
  /// registerOf[r] holds the same element as r.
  SmallVector<int32_t> registerOf;
};

SharedAccess::Plan SharedAccess::plan() const {
  Plan plan;
  LinearLayout layout = toOffset.sublayout(toOffset.getInDimNames(), {kOffset});
  unsigned numRegBits = layout.getInDimSizeLog2(kRegister);
  SmallVector<int32_t> bases;
  for (unsigned i = 0; i < numRegBits; ++i)
    bases.push_back(layout.getBasis(kRegister, i, kOffset));
  int32_t otherBits = 0;
  for (StringRef dim : layout.getInDimNames())
    if (dim != kRegister)
      for (unsigned i = 0, e = layout.getInDimSizeLog2(dim); i < e; ++i)
        otherBits |= layout.getBasis(dim, i, kOffset);

  // The vector grows while some register bit is the next bit of the offset and
  // nothing else touches that bit.
  unsigned maxBits = target.getMaxSharedAccessBits();
  unsigned limit = std::min<unsigned>(
      maxVector, maxBits / (8 * getSharedElementBytes(element)));
  SmallVector<unsigned> vectorBits;
  while ((2u << vectorBits.size()) <= limit) {
    int32_t bit = 1 << vectorBits.size();
    if ((otherBits & bit) || (offset && vectorBits.size() >= offsetZeroBits))
      break;
    for (auto [interval, padding] : paddings)
      if ((interval | padding) & (2 * bit - 1))
        return plan;
    int found = -1;
    bool shared = false;
    for (unsigned i = 0; i < numRegBits; ++i) {
      if (bases[i] == bit && found < 0)
        found = i;
      else if (bases[i] & bit)
        shared = true;
    }
    if (found < 0 || shared)
      break;
    vectorBits.push_back(found);
  }
  plan.vector = 1u << vectorBits.size();

  // Registers whose bit adds nothing repeat other registers.
  uint32_t freeMask = 0;
  for (auto [dim, mask] : toOffset.getFreeVariableMasks())
    if (dim == kRegister)
      freeMask = mask;
  // A free bit need not have a zero basis; solve for the equivalent register.
  LinearLayout registers = layout.sublayout({kRegister}, {kOffset});
  llvm::DenseMap<int32_t, int32_t> firstAt;
  uint32_t vectorMask = 0;
  for (unsigned bit : vectorBits)
    vectorMask |= 1u << bit;
  for (int32_t r = 0; r < (1 << numRegBits); ++r) {
    int32_t at = 0;
    for (unsigned i = 0; i < numRegBits; ++i)
      if (r & (1 << i))
        at ^= bases[i];
    auto [it, isNew] = firstAt.try_emplace(at, r);
    plan.registerOf.push_back(it->second);
    if (!isNew || (r & vectorMask))
      continue;
    SmallVector<int32_t> group;
    for (unsigned v = 0; v < plan.vector; ++v) {
      int32_t member = r;
      for (auto [k, bit] : llvm::enumerate(vectorBits))
        if (v & (1u << k))
          member |= 1 << bit;
      group.push_back(member);
    }
    plan.groups.push_back(std::move(group));
    plan.groupOffsets.push_back(at);
  }
  return plan;
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
  llvm::DenseMap<int32_t, Value> pointers;
  for (auto [group, at] : llvm::zip(p.groups, p.groupOffsets)) {
    int32_t mixed = at & part.bits, plain = at & ~part.bits;
    if (!paddings.empty()) {
      mixed = at;
      plain = 0;
    }
    Value &ptr = pointers[mixed];
    if (!ptr) {
      Value element = part.withConstant(b, mixed);
      if (!paddings.empty()) {
        Value padded = element;
        for (auto [interval, padding] : paddings)
          padded = b.add(padded,
                         b.mul(b.lshr(element, b.i32(llvm::Log2_32(interval))),
                               b.i32(padding)));
        element = padded;
      }
      ptr = part.value || mixed ? b.gep(base, memElement, element) : base;
    }
    access(b.gep(ptr, byte, static_cast<int64_t>(plain) * bytes), group);
  }
}

void SharedAccess::store(const LLVMBuilder &b, const ThreadIndex &index,
                         ArrayRef<Value> values, Value pred) const {
  pred = b.andPred(pred, emitUniqueThreadPredicate(b, toOffset, index));
  forEachVector(b, index, [&](Value ptr, ArrayRef<int32_t> registers) {
    SmallVector<Value> elements;
    for (int32_t r : registers)
      elements.push_back(toSharedElement(b, values[r]));
    target.storeShared(b, ptr, elements, pred);
  });
}

SmallVector<Value> SharedAccess::load(const LLVMBuilder &b,
                                      const ThreadIndex &index,
                                      Value pred) const {
  Plan p = plan();
  Type memElement = getSharedElementType(element);
  SmallVector<Value> values(p.registerOf.size());
  forEachVector(b, index, [&](Value ptr, ArrayRef<int32_t> registers) {
    SmallVector<Value> loaded =
        target.loadShared(b, ptr, memElement, registers.size(), pred);
    for (auto [r, value] : llvm::zip(registers, loaded))
      values[r] = fromSharedElement(b, value, element);
  });
  for (auto [r, same] : llvm::enumerate(p.registerOf))
    if (!values[r])
      values[r] = values[same];
  return values;
}

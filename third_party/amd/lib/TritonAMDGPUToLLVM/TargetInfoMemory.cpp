//===-- TargetInfoMemory.cpp - Loads and stores ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All accesses are LLVM loads and stores; predicates become branches, which
// LLVM turns into masks of the wave's lanes.
//
//===----------------------------------------------------------------------===//

#include "amd/TritonAMDGPUToLLVM/TargetInfo.h"

#include "tile/Conversion/TritonGPUToLLVM/Predicate.h"
#include "tile/Dialect/Triton/Transforms/UndefinedLanes.h"

using namespace mlir;
using namespace mlir::triton;

namespace {
/// How a run of elements travels: several as one vector of 32-bit words, which
/// LLVM never takes apart, or as one integer if it is smaller than that.
Type getAccessType(const LLVMBuilder &b, Type element, unsigned count) {
  if (count == 1)
    return element;
  unsigned bits = element.getIntOrFloatBitWidth() * count;
  if (bits <= 32)
    return b.intTy(bits);
  return LLVMBuilder::vecTy(b.intTy(32), bits / 32);
}

unsigned getBytes(Type element, unsigned count) {
  return element.getIntOrFloatBitWidth() / 8 * count;
}

SmallVector<Value> unpack(const LLVMBuilder &b, Value loaded, Type element,
                          unsigned count) {
  if (count == 1)
    return {loaded};
  return b.unpackVector(b.bitcast(loaded, LLVMBuilder::vecTy(element, count)));
}

Value pack(const LLVMBuilder &b, ArrayRef<Value> values) {
  Type type = getAccessType(b, values[0].getType(), values.size());
  return b.bitcast(b.packVector(values), type);
}

/// What lanes hold that a load without another value leaves out: zeros, which
/// the simulator is told of where they may matter, by a comment that names the
/// registers.
Value makeUndefined(const LLVMBuilder &b, Type type) {
  auto module = b.getBuilder()
                    .getInsertionBlock()
                    ->getParentOp()
                    ->getParentOfType<ModuleOp>();
  if (!isUndefinedLoad(module, b.getLoc()))
    return b.zero(type);
  unsigned bits =
      LLVM::isCompatibleVectorType(type) ? 0 : type.getIntOrFloatBitWidth();
  Type held = bits && bits < 32 ? b.intTy(32) : type;
  auto zero = b.create<LLVM::InlineAsmOp>(
                   TypeRange(held), ValueRange(b.zero(held)),
                   "; undefined lanes $0", "=v,0", /*has_side_effects=*/false,
                   /*is_align_stack=*/false, LLVM::TailCallKind::None,
                   LLVM::AsmDialectAttr::get(type.getContext(),
                                             LLVM::AsmDialect::AD_ATT),
                   ArrayAttr())
                  ->getResult(0);
  return held == type ? zero : b.bitcast(b.trunc(b.intTy(bits), zero), type);
}

bool isStreamed(const triton::TargetInfo::CacheHints &hints) {
  return hints.modifier == CacheModifier::CS ||
         hints.eviction == EvictionPolicy::EVICT_FIRST;
}
} // namespace

void amd::TargetInfo::storeShared(const LLVMBuilder &b, Value ptr,
                                  ArrayRef<Value> values, Value pred) const {
  Value value = pack(b, values);
  unsigned align = getBytes(values[0].getType(), values.size());
  underPredicate(b, pred, [&] { b.store(value, ptr, align); });
}

SmallVector<Value> amd::TargetInfo::loadShared(const LLVMBuilder &b, Value ptr,
                                               Type element, unsigned count,
                                               Value pred) const {
  Type type = getAccessType(b, element, count);
  unsigned align = getBytes(element, count);
  Value otherwise = pred ? b.zero(type) : Value();
  Value loaded = underPredicate(b, pred, otherwise,
                                [&] { return b.load(type, ptr, align); });
  return unpack(b, loaded, element, count);
}

Value amd::TargetInfo::mapToBlock(const LLVMBuilder &b, Value ptr,
                                  Value) const {
  // There is one block.
  return ptr;
}

SmallVector<Value> amd::TargetInfo::loadGlobal(const LLVMBuilder &b, Value ptr,
                                               Type element, unsigned count,
                                               Value pred,
                                               ArrayRef<Value> others,
                                               const CacheHints &hints) const {
  Type type = getAccessType(b, element, count);
  unsigned align = getBytes(element, count);
  // What other blocks write meanwhile is read each time, and from where they
  // write to. LLVM knows atomic accesses of numbers of the sizes of registers.
  bool isAtomic = hints.staysInPlace && !hints.isVolatile && align <= 8;
  Type loadedType = isAtomic ? b.intTy(8 * align) : type;
  Value otherwise;
  if (pred)
    otherwise = others.empty() ? makeUndefined(b, type) : pack(b, others);
  Value loaded = underPredicate(b, pred, otherwise, [&] {
    Value value = b.create<LLVM::LoadOp>(
        loadedType, ptr, align,
        hints.isVolatile || (hints.staysInPlace && !isAtomic),
        /*isNonTemporal=*/isStreamed(hints), /*isInvariant=*/false,
        /*isInvariantGroup=*/false,
        isAtomic ? LLVM::AtomicOrdering::monotonic
                 : LLVM::AtomicOrdering::not_atomic,
        isAtomic ? StringRef("agent") : StringRef());
    return b.bitcast(value, type);
  });
  return unpack(b, loaded, element, count);
}

void amd::TargetInfo::storeGlobal(const LLVMBuilder &b, Value ptr,
                                  ArrayRef<Value> values, Value pred,
                                  const CacheHints &hints) const {
  Value value = pack(b, values);
  unsigned align = getBytes(values[0].getType(), values.size());
  underPredicate(b, pred, [&] {
    b.create<LLVM::StoreOp>(value, ptr, align, hints.isVolatile,
                            /*isNonTemporal=*/isStreamed(hints));
  });
}

//===-- TargetInfoAtomics.cpp - Atomic operations -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the machine has is PTX, because of predicates, vectors and scopes. LLVM
// 22 prints `atomicrmw` without its order and scope. What the machine lacks
// LLVM turns into loops around compare-and-swap, which have both.
//
//===----------------------------------------------------------------------===//

#include "nvidia/TritonNVIDIAGPUToLLVM/CachePolicy.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/PTXAsm.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/TargetInfo.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/Words.h"

#include "tile/Conversion/TritonGPUToLLVM/LLVMAtomics.h"
#include "tile/Conversion/TritonGPUToLLVM/Predicate.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton;
namespace nvt = mlir::triton::nvidia;
using nvt::CachePolicy;
using nvt::PTXAsm;
using nvt::WordShape;

namespace {
StringRef semanticName(MemSemantic semantic) {
  switch (semantic) {
  case MemSemantic::RELAXED:
    return ".relaxed";
  case MemSemantic::ACQUIRE:
    return ".acquire";
  case MemSemantic::RELEASE:
    return ".release";
  case MemSemantic::ACQUIRE_RELEASE:
    return ".acq_rel";
  }
  llvm_unreachable("unknown memory semantic");
}

/// Whether the threads of a program are those of several blocks.
bool isOnCluster(const LLVMBuilder &b) {
  return triton::gpu::lookupNumCTAs(
             b.getBuilder().getInsertionBlock()->getParentOp()) > 1;
}

StringRef scopeName(const LLVMBuilder &b, MemSyncScope scope) {
  switch (scope) {
  case MemSyncScope::GPU:
    return ".gpu";
  case MemSyncScope::CTA:
    return isOnCluster(b) ? ".cluster" : ".cta";
  case MemSyncScope::SYSTEM:
    return ".sys";
  }
  llvm_unreachable("unknown scope");
}

/// The operation and type of atom/red, as in ".add.f32"; empty if PTX has none.
std::string atomicName(RMWOp op, Type element, unsigned vector,
                       const NVIDIATarget &facts) {
  unsigned bits = element.getIntOrFloatBitWidth();
  std::string width = std::to_string(bits);
  bool wide = bits == 32 || bits == 64;
  switch (op) {
  case RMWOp::AND:
    return wide ? ".and.b" + width : "";
  case RMWOp::OR:
    return wide ? ".or.b" + width : "";
  case RMWOp::XOR:
    return wide ? ".xor.b" + width : "";
  case RMWOp::ADD:
    return wide ? ".add.u" + width : "";
  case RMWOp::FADD:
    if (element.isF32() || element.isF64())
      return ".add" + nvt::getVectorSuffix(vector) + ".f" + width;
    if (!element.isF16() && !(element.isBF16() && facts.hasBF16Arithmetic))
      return "";
    // Pairs count as one.
    return ".add.noftz" + nvt::getVectorSuffix(std::max(1u, vector / 2)) +
           (element.isF16() ? ".f16" : ".bf16") + (vector > 1 ? "x2" : "");
  case RMWOp::MAX:
    return wide ? ".max.s" + width : "";
  case RMWOp::MIN:
    return wide ? ".min.s" + width : "";
  case RMWOp::UMAX:
    return wide ? ".max.u" + width : "";
  case RMWOp::UMIN:
    return wide ? ".min.u" + width : "";
  case RMWOp::XCHG:
    return wide ? ".exch.b" + width : "";
  }
  llvm_unreachable("unknown atomic operation");
}

bool isBitwise(RMWOp op) {
  return op == RMWOp::AND || op == RMWOp::OR || op == RMWOp::XOR;
}

/// A bitwise operation on a part of a word, as one on the word. LLVM would do
/// the same, but its instruction is relaxed, whatever the order.
FailureOr<SmallVector<Value>>
updateWord(const nvt::TargetInfo &target, const LLVMBuilder &b, RMWOp op,
           Value ptr, Value value, Value pred, MemSemantic semantic,
           MemSyncScope scope, EvictionPolicy eviction, bool needResult) {
  Type element = value.getType(), word = b.intTy(32);
  Value place = b.and_(b.ptrToInt(word, ptr), b.i32(3));
  Value shift = b.shl(place, b.i32(3));
  Value operand = b.shl(b.zext(word, value), shift);
  if (op == RMWOp::AND) {
    Value part = b.i32((int64_t(1) << element.getIntOrFloatBitWidth()) - 1);
    operand = b.or_(operand, b.not_(b.shl(part, shift)));
  }
  Value aligned = b.gep(ptr, b.intTy(8), b.sub(b.i32(0), place));
  FailureOr<SmallVector<Value>> old = target.atomicRMW(
      b, op, aligned, operand, pred, semantic, scope, eviction, needResult);
  if (succeeded(old) && !old->empty())
    old->front() = b.trunc(element, b.lshr(old->front(), shift));
  return old;
}

/// The hint stands in front of the size of a vector and the type, which come
/// last.
std::string hintedName(StringRef name, const CachePolicy &policy) {
  size_t type = std::min(name.find(".v"), name.rfind('.'));
  return (name.take_front(type) + policy.getQualifier() + name.drop_front(type))
      .str();
}
} // namespace

StringRef nvt::TargetInfo::getSyncScope(const LLVMBuilder &b,
                                        MemSyncScope scope) const {
  switch (scope) {
  case MemSyncScope::CTA:
    return isOnCluster(b) ? "cluster" : "block";
  case MemSyncScope::GPU:
    return "device";
  case MemSyncScope::SYSTEM:
    return "";
  }
  llvm_unreachable("unknown scope");
}

unsigned nvt::TargetInfo::getMaxAtomicVector(RMWOp op, Type element) const {
  if (op != RMWOp::FADD)
    return 1;
  if (element.isF32())
    return facts.hasVectorAtomics ? 4 : 1;
  if (element.isBF16() && !facts.hasBF16Arithmetic)
    return 1;
  if (element.isF16() || element.isBF16())
    return facts.hasVectorAtomics ? 8 : 2;
  return 1;
}

FailureOr<SmallVector<Value>>
nvt::TargetInfo::atomicRMW(const LLVMBuilder &b, RMWOp op, Value ptr,
                           ArrayRef<Value> values, Value pred,
                           MemSemantic semantic, MemSyncScope scope,
                           EvictionPolicy eviction, bool needResult) const {
  Type element = values.front().getType();
  std::string name = atomicName(op, element, values.size(), facts);
  if (name.empty()) {
    if (values.size() != 1)
      return failure();
    if (isBitwise(op))
      return updateWord(*this, b, op, ptr, values[0], pred, semantic, scope,
                        eviction, needResult);
    // LLVM expands what the machine lacks to a loop around compare-and-swap.
    return SmallVector<Value>{underPredicate(b, pred, b.zero(element), [&] {
      return b
          .create<LLVM::AtomicRMWOp>(getLLVMAtomicOp(op), ptr, values[0],
                                     getLLVMOrdering(semantic),
                                     getSyncScope(b, scope))
          .getRes();
    })};
  }
  // `red` needs no register for the old value, but cannot acquire.
  bool useRed =
      !needResult && op != RMWOp::XCHG &&
      (semantic == MemSemantic::RELAXED || semantic == MemSemantic::RELEASE);
  WordShape shape = nvt::getWordShape(element, values.size());
  CachePolicy policy(b, facts, eviction);
  PTXAsm ptx(b);
  SmallVector<PTXAsm::Operand> old, operand;
  for (unsigned i = 0; i < shape.count && !useRed; ++i)
    old.push_back(ptx.output(shape.registerClass()));
  PTXAsm::Operand address = ptx.input(ptr, nvt::getAddressClass(ptr));
  for (Value word : nvt::packWords(b, values, shape))
    operand.push_back(ptx.input(word, shape.registerClass()));
  if (pred)
    for (PTXAsm::Operand word : old)
      ptx.tied(b.zero(b.intTy(shape.bits)), word);
  if (pred)
    ptx << "@" << ptx.input(pred, "b") << " ";
  ptx << (useRed ? "red" : "atom") << semanticName(semantic)
      << scopeName(b, scope) << nvt::getSpaceName(ptr)
      << hintedName(name, policy) << " ";
  if (!useRed)
    ptx << old << ", ";
  ptx << "[" << address << "], " << operand;
  policy.append(ptx);
  ptx << ";";
  if (useRed) {
    ptx.emit({}, PTXAsm::SideEffects);
    return SmallVector<Value>();
  }
  SmallVector<Type> types(shape.count, b.intTy(shape.bits));
  return nvt::unpackWords(b, ptx.emit(types, PTXAsm::SideEffects), element,
                          values.size(), shape);
}

FailureOr<Value> nvt::TargetInfo::atomicCAS(const LLVMBuilder &b, Value ptr,
                                            Value compare, Value value,
                                            Value pred, MemSemantic semantic,
                                            MemSyncScope scope) const {
  Type element = value.getType();
  unsigned bits = element.getIntOrFloatBitWidth();
  if (bits < 16)
    return failure();
  WordShape shape = nvt::getWordShape(element, 1);
  PTXAsm ptx(b);
  PTXAsm::Operand old = ptx.output(shape.registerClass());
  PTXAsm::Operand address = ptx.input(ptr, nvt::getAddressClass(ptr));
  PTXAsm::Operand cmp =
      ptx.input(nvt::packWords(b, compare, shape)[0], shape.registerClass());
  PTXAsm::Operand val =
      ptx.input(nvt::packWords(b, value, shape)[0], shape.registerClass());
  if (pred) {
    ptx.tied(b.zero(b.intTy(shape.bits)), old);
    ptx << "@" << ptx.input(pred, "b") << " ";
  }
  ptx << "atom" << semanticName(semantic) << scopeName(b, scope)
      << nvt::getSpaceName(ptr) << ".cas.b" << std::to_string(bits) << " "
      << old << ", [" << address << "], " << cmp << ", " << val << ";";
  SmallVector<Value> words =
      ptx.emit({b.intTy(shape.bits)}, PTXAsm::SideEffects);
  return nvt::unpackWords(b, words, element, 1, shape)[0];
}

void nvt::TargetInfo::atomicAddShared(const LLVMBuilder &b, Value ptr,
                                      Value value, Value pred) const {
  PTXAsm ptx(b);
  PTXAsm::Operand address = ptx.input(ptr, nvt::getAddressClass(ptr));
  PTXAsm::Operand operand = ptx.input(value, "r");
  if (pred)
    ptx << "@" << ptx.input(pred, "b") << " ";
  ptx << "red.shared.add.u32 [" << address << "], " << operand << ";";
  ptx.emit({}, PTXAsm::SideEffects);
}

//===-- TargetInfoMemory.cpp - Loads and stores ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accesses that always happen and have no cache hints are LLVM loads and
// stores, which LLVM can schedule and fold addresses into. All others are PTX:
// LLVM would turn a predicate into a branch.
//
//===----------------------------------------------------------------------===//

#include "nvidia/TritonNVIDIAGPUToLLVM/CachePolicy.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/PTXAsm.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/TargetInfo.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/Words.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::triton;
namespace nvt = mlir::triton::nvidia;
using nvt::CachePolicy;
using nvt::PTXAsm;
using nvt::WordShape;

namespace {
std::string loadQualifiers(const TargetInfo::CacheHints &hints, Value ptr) {
  if (hints.isVolatile)
    return (".volatile" + nvt::getSpaceName(ptr)).str();
  std::string text = nvt::getSpaceName(ptr).str();
  switch (hints.modifier) {
  case CacheModifier::CA:
    return text + ".ca";
  case CacheModifier::CG:
    return text + ".cg";
  case CacheModifier::CS:
    return text + ".cs";
  case CacheModifier::CV:
    return text + ".cv";
  default:
    break;
  }
  if (hints.eviction == EvictionPolicy::EVICT_FIRST)
    text += ".L1::evict_first";
  else if (hints.eviction == EvictionPolicy::EVICT_LAST)
    text += ".L1::evict_last";
  return text;
}

std::string storeQualifiers(const TargetInfo::CacheHints &hints, Value ptr) {
  std::string text = nvt::getSpaceName(ptr).str();
  switch (hints.modifier) {
  case CacheModifier::WB:
    return text + ".wb";
  case CacheModifier::CG:
    return text + ".cg";
  case CacheModifier::CS:
    return text + ".cs";
  case CacheModifier::WT:
    return text + ".wt";
  default:
    break;
  }
  if (hints.eviction == EvictionPolicy::EVICT_FIRST)
    text += ".L1::evict_first";
  else if (hints.eviction == EvictionPolicy::EVICT_LAST)
    text += ".L1::evict_last";
  return text;
}

/// Cache operators and eviction priorities exclude each other.
EvictionPolicy getPriority(const TargetInfo::CacheHints &hints) {
  return hints.modifier == CacheModifier::NONE && !hints.isVolatile
             ? hints.eviction
             : EvictionPolicy::NORMAL;
}

bool isPlain(const TargetInfo::CacheHints &hints) {
  return hints.modifier == CacheModifier::NONE &&
         hints.eviction == EvictionPolicy::NORMAL && !hints.isVolatile &&
         !hints.staysInPlace;
}

unsigned maxElements(Type element, const NVIDIATarget &facts) {
  return facts.maxGlobalAccessBits /
         std::max(8u, element.getIntOrFloatBitWidth());
}

void plainStore(const LLVMBuilder &b, Value ptr, ArrayRef<Value> values) {
  Type element = values.front().getType();
  WordShape shape = nvt::getWordShape(element, values.size());
  unsigned bytes = element.getIntOrFloatBitWidth() / 8 * values.size();
  if (values.size() == 1)
    return b.store(values.front(), ptr, bytes);
  SmallVector<Value> words;
  if (shape.memoryBits >= 32)
    words = nvt::packWords(b, values, shape);
  else
    words.assign(values.begin(), values.end());
  b.store(b.packVector(words), ptr, bytes);
}

SmallVector<Value> plainLoad(const LLVMBuilder &b, Value ptr, Type element,
                             unsigned count) {
  unsigned bytes = element.getIntOrFloatBitWidth() / 8 * count;
  if (count == 1)
    return {b.load(element, ptr, bytes)};
  WordShape shape = nvt::getWordShape(element, count);
  if (shape.memoryBits < 32)
    return b.unpackVector(
        b.load(LLVMBuilder::vecTy(element, count), ptr, bytes));
  Type word = b.intTy(shape.bits);
  Type type =
      shape.count == 1 ? word : Type(LLVMBuilder::vecTy(word, shape.count));
  return nvt::unpackWords(b, b.unpackVector(b.load(type, ptr, bytes)), element,
                          count, shape);
}

void asmStore(const LLVMBuilder &b, Value ptr, ArrayRef<Value> values,
              Value pred, StringRef qualifiers, const CachePolicy &policy) {
  WordShape shape = nvt::getWordShape(values.front().getType(), values.size());
  PTXAsm ptx(b);
  PTXAsm::Operand address = ptx.input(ptr, nvt::getAddressClass(ptr));
  SmallVector<PTXAsm::Operand> words;
  for (Value word : nvt::packWords(b, values, shape))
    words.push_back(ptx.input(word, shape.registerClass()));
  if (pred)
    ptx << "@" << ptx.input(pred, "b") << " ";
  ptx << "st" << qualifiers << policy.getQualifier()
      << nvt::getVectorSuffix(shape.count) << ".b"
      << std::to_string(shape.memoryBits) << " [" << address << "], " << words;
  policy.append(ptx);
  ptx << ";";
  ptx.emit({}, PTXAsm::SideEffects);
}

SmallVector<Value> asmLoad(const LLVMBuilder &b, Value ptr, Type element,
                           unsigned count, Value pred, ArrayRef<Value> others,
                           StringRef qualifiers, const CachePolicy &policy) {
  WordShape shape = nvt::getWordShape(element, count);
  Type wordType = b.intTy(shape.bits);
  PTXAsm ptx(b);
  SmallVector<PTXAsm::Operand> words;
  for (unsigned i = 0; i < shape.count; ++i)
    words.push_back(ptx.output(shape.registerClass()));
  PTXAsm::Operand address = ptx.input(ptr, nvt::getAddressClass(ptr));
  if (pred) {
    // What the registers held before is what a false predicate leaves.
    SmallVector<Value> before =
        others.empty() ? SmallVector<Value>(shape.count, b.zero(wordType))
                       : nvt::packWords(b, others, shape);
    for (auto [value, word] : llvm::zip(before, words))
      ptx.tied(value, word);
    ptx << "@" << ptx.input(pred, "b") << " ";
  }
  ptx << "ld" << qualifiers << policy.getQualifier()
      << nvt::getVectorSuffix(shape.count) << ".b"
      << std::to_string(shape.memoryBits) << " " << words << ", [" << address
      << "]";
  policy.append(ptx);
  ptx << ";";
  SmallVector<Type> types(shape.count, wordType);
  return nvt::unpackWords(b, ptx.emit(types, PTXAsm::InOrder), element, count,
                          shape);
}
} // namespace

void nvt::TargetInfo::storeShared(const LLVMBuilder &b, Value ptr,
                                  ArrayRef<Value> values, Value pred) const {
  if (pred)
    return asmStore(b, ptr, values, pred, nvt::getSpaceName(ptr),
                    CachePolicy());
  plainStore(b, ptr, values);
}

SmallVector<Value> nvt::TargetInfo::loadShared(const LLVMBuilder &b, Value ptr,
                                               Type element, unsigned count,
                                               Value pred) const {
  if (pred)
    return asmLoad(b, ptr, element, count, pred, {}, nvt::getSpaceName(ptr),
                   CachePolicy());
  return plainLoad(b, ptr, element, count);
}

Value nvt::TargetInfo::mapToBlock(const LLVMBuilder &b, Value ptr,
                                  Value block) const {
  return b.create<NVVM::MapaOp>(
      b.ptrTy(static_cast<unsigned>(NVVM::NVVMMemorySpace::SharedCluster)), ptr,
      block);
}

SmallVector<Value> nvt::TargetInfo::loadGlobal(const LLVMBuilder &b, Value ptr,
                                               Type element, unsigned count,
                                               Value pred,
                                               ArrayRef<Value> others,
                                               const CacheHints &hints) const {
  assert(count <= maxElements(element, facts) && "wider than an access");
  if (!pred && isPlain(hints))
    return plainLoad(b, ptr, element, count);
  return asmLoad(b, ptr, element, count, pred, others,
                 loadQualifiers(hints, ptr),
                 CachePolicy(b, facts, getPriority(hints)));
}

void nvt::TargetInfo::storeGlobal(const LLVMBuilder &b, Value ptr,
                                  ArrayRef<Value> values, Value pred,
                                  const CacheHints &hints) const {
  assert(values.size() <= maxElements(values[0].getType(), facts));
  if (!pred && isPlain(hints))
    return plainStore(b, ptr, values);
  asmStore(b, ptr, values, pred, storeQualifiers(hints, ptr),
           CachePolicy(b, facts, getPriority(hints)));
}

//===-- TargetInfoMemory.cpp - Loads, stores and atomics ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accesses that always happen and have no cache hints are LLVM loads and
// stores, which LLVM can schedule and fold addresses into. All others are PTX:
// LLVM would turn a predicate into a branch.
//
//===----------------------------------------------------------------------===//

#include "nvidia/TritonNVIDIAGPUToLLVM/PTXAsm.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/TargetInfo.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/Words.h"

using namespace mlir;
using namespace mlir::triton;
namespace nvt = mlir::triton::nvidia;
using nvt::PTXAsm;
using nvt::WordShape;

namespace {
std::string vectorSuffix(unsigned count) {
  return count == 1 ? "" : ".v" + std::to_string(count);
}

StringRef addressClass(Value ptr) {
  unsigned space = cast<LLVM::LLVMPointerType>(ptr.getType()).getAddressSpace();
  return space == 3 ? "r" : "l";
}

StringRef spaceName(Value ptr) {
  switch (cast<LLVM::LLVMPointerType>(ptr.getType()).getAddressSpace()) {
  case 1:
    return ".global";
  case 3:
    return ".shared";
  case 4:
    return ".const";
  default:
    return "";
  }
}

std::string loadQualifiers(const TargetInfo::CacheHints &hints, Value ptr) {
  if (hints.isVolatile)
    return (".volatile" + spaceName(ptr)).str();
  std::string text = spaceName(ptr).str();
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
  // Cache operators and eviction priorities exclude each other.
  if (hints.eviction == EvictionPolicy::EVICT_FIRST)
    text += ".L1::evict_first";
  else if (hints.eviction == EvictionPolicy::EVICT_LAST)
    text += ".L1::evict_last";
  return text;
}

std::string storeQualifiers(const TargetInfo::CacheHints &hints, Value ptr) {
  std::string text = spaceName(ptr).str();
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

bool isPlain(const TargetInfo::CacheHints &hints) {
  return hints.modifier == CacheModifier::NONE &&
         hints.eviction == EvictionPolicy::NORMAL && !hints.isVolatile;
}

/// ld/st take at most four words.
unsigned maxElements(Type element) {
  return 128 / std::max(8u, element.getIntOrFloatBitWidth());
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
              Value pred, StringRef qualifiers) {
  WordShape shape = nvt::getWordShape(values.front().getType(), values.size());
  PTXAsm ptx(b);
  PTXAsm::Operand address = ptx.input(ptr, addressClass(ptr));
  SmallVector<PTXAsm::Operand> words;
  for (Value word : nvt::packWords(b, values, shape))
    words.push_back(ptx.input(word, shape.registerClass()));
  if (pred)
    ptx << "@" << ptx.input(pred, "b") << " ";
  ptx << "st" << qualifiers << vectorSuffix(shape.count) << ".b"
      << std::to_string(shape.memoryBits) << " [" << address << "], " << words
      << ";";
  ptx.emit({}, PTXAsm::SideEffects);
}

SmallVector<Value> asmLoad(const LLVMBuilder &b, Value ptr, Type element,
                           unsigned count, Value pred, ArrayRef<Value> others,
                           StringRef qualifiers) {
  WordShape shape = nvt::getWordShape(element, count);
  Type wordType = b.intTy(shape.bits);
  PTXAsm ptx(b);
  SmallVector<PTXAsm::Operand> words;
  for (unsigned i = 0; i < shape.count; ++i)
    words.push_back(ptx.output(shape.registerClass()));
  PTXAsm::Operand address = ptx.input(ptr, addressClass(ptr));
  if (pred) {
    // What the registers held before is what a false predicate leaves.
    SmallVector<Value> before =
        others.empty() ? SmallVector<Value>(shape.count, b.zero(wordType))
                       : nvt::packWords(b, others, shape);
    for (auto [value, word] : llvm::zip(before, words))
      ptx.tied(value, word);
    ptx << "@" << ptx.input(pred, "b") << " ";
  }
  ptx << "ld" << qualifiers << vectorSuffix(shape.count) << ".b"
      << std::to_string(shape.memoryBits) << " " << words << ", [" << address
      << "];";
  SmallVector<Type> types(shape.count, wordType);
  return nvt::unpackWords(b, ptx.emit(types, PTXAsm::SideEffects), element,
                          count, shape);
}
} // namespace

void nvt::TargetInfo::storeShared(const LLVMBuilder &b, Value ptr,
                                  ArrayRef<Value> values, Value pred) const {
  if (pred)
    return asmStore(b, ptr, values, pred, spaceName(ptr));
  plainStore(b, ptr, values);
}

SmallVector<Value> nvt::TargetInfo::loadShared(const LLVMBuilder &b, Value ptr,
                                               Type element, unsigned count,
                                               Value pred) const {
  if (pred)
    return asmLoad(b, ptr, element, count, pred, {}, spaceName(ptr));
  return plainLoad(b, ptr, element, count);
}

SmallVector<Value> nvt::TargetInfo::loadGlobal(const LLVMBuilder &b, Value ptr,
                                               Type element, unsigned count,
                                               Value pred,
                                               ArrayRef<Value> others,
                                               const CacheHints &hints) const {
  assert(count <= maxElements(element) && "wider than an access");
  if (!pred && isPlain(hints))
    return plainLoad(b, ptr, element, count);
  return asmLoad(b, ptr, element, count, pred, others,
                 loadQualifiers(hints, ptr));
}

void nvt::TargetInfo::storeGlobal(const LLVMBuilder &b, Value ptr,
                                  ArrayRef<Value> values, Value pred,
                                  const CacheHints &hints) const {
  assert(values.size() <= maxElements(values[0].getType()));
  if (!pred && isPlain(hints))
    return plainStore(b, ptr, values);
  asmStore(b, ptr, values, pred, storeQualifiers(hints, ptr));
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

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

StringRef scopeName(MemSyncScope scope) {
  switch (scope) {
  case MemSyncScope::GPU:
    return ".gpu";
  case MemSyncScope::CTA:
    return ".cta";
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
      return ".add.f" + width;
    if (element.isF16())
      return vector == 2 ? ".add.noftz.f16x2" : ".add.noftz.f16";
    if (element.isBF16() && facts.computeCapability >= 90)
      return vector == 2 ? ".add.noftz.bf16x2" : ".add.noftz.bf16";
    return "";
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

std::optional<LLVM::AtomicBinOp> llvmAtomicOp(RMWOp op) {
  switch (op) {
  case RMWOp::AND:
    return LLVM::AtomicBinOp::_and;
  case RMWOp::OR:
    return LLVM::AtomicBinOp::_or;
  case RMWOp::XOR:
    return LLVM::AtomicBinOp::_xor;
  case RMWOp::ADD:
    return LLVM::AtomicBinOp::add;
  case RMWOp::FADD:
    return LLVM::AtomicBinOp::fadd;
  case RMWOp::MAX:
    return LLVM::AtomicBinOp::max;
  case RMWOp::MIN:
    return LLVM::AtomicBinOp::min;
  case RMWOp::UMAX:
    return LLVM::AtomicBinOp::umax;
  case RMWOp::UMIN:
    return LLVM::AtomicBinOp::umin;
  case RMWOp::XCHG:
    return LLVM::AtomicBinOp::xchg;
  }
  llvm_unreachable("unknown atomic operation");
}

/// Runs `body` only where `pred` holds; its result elsewhere is zero.
Value underPredicate(const LLVMBuilder &b, Value pred, Type type,
                     function_ref<Value()> body) {
  if (!pred)
    return body();
  // Every lowering builds through a rewriter, which must hear of the split.
  auto &builder = static_cast<RewriterBase &>(b.getBuilder());
  Block *before = builder.getInsertionBlock();
  Block *after = builder.splitBlock(before, builder.getInsertionPoint());
  BlockArgument result = after->addArgument(type, b.getLoc());
  Block *then = builder.createBlock(after);
  Value value = body();
  b.create<LLVM::BrOp>(ValueRange{value}, after);
  builder.setInsertionPointToEnd(before);
  Value zero = b.zero(type);
  b.create<LLVM::CondBrOp>(pred, then, ValueRange{}, after, ValueRange{zero});
  builder.setInsertionPointToStart(after);
  return result;
}
} // namespace

unsigned nvt::TargetInfo::getMaxAtomicVector(RMWOp op, Type element) const {
  if (op != RMWOp::FADD)
    return 1;
  if (element.isF16())
    return 2;
  return element.isBF16() && facts.computeCapability >= 90 ? 2 : 1;
}

FailureOr<SmallVector<Value>>
nvt::TargetInfo::atomicRMW(const LLVMBuilder &b, RMWOp op, Value ptr,
                           ArrayRef<Value> values, Value pred,
                           MemSemantic semantic, MemSyncScope scope,
                           bool needResult) const {
  Type element = values.front().getType();
  std::string name = atomicName(op, element, values.size(), facts);
  if (name.empty()) {
    // LLVM expands what the machine lacks to a loop around compare-and-swap.
    if (values.size() != 1)
      return failure();
    StringRef syncScope = scope == MemSyncScope::CTA   ? "block"
                          : scope == MemSyncScope::GPU ? "device"
                                                       : "";
    auto ordering =
        semantic == MemSemantic::RELAXED   ? LLVM::AtomicOrdering::monotonic
        : semantic == MemSemantic::ACQUIRE ? LLVM::AtomicOrdering::acquire
        : semantic == MemSemantic::RELEASE ? LLVM::AtomicOrdering::release
                                           : LLVM::AtomicOrdering::acq_rel;
    return SmallVector<Value>{underPredicate(b, pred, element, [&] {
      return b
          .create<LLVM::AtomicRMWOp>(*llvmAtomicOp(op), ptr, values[0],
                                     ordering, syncScope)
          .getRes();
    })};
  }
  // `red` needs no register for the old value, but cannot acquire.
  bool useRed =
      !needResult && op != RMWOp::XCHG &&
      (semantic == MemSemantic::RELAXED || semantic == MemSemantic::RELEASE);
  WordShape shape = nvt::getWordShape(element, values.size());
  PTXAsm ptx(b);
  std::optional<PTXAsm::Operand> old;
  if (!useRed)
    old = ptx.output(shape.registerClass());
  PTXAsm::Operand address = ptx.input(ptr, addressClass(ptr));
  PTXAsm::Operand operand =
      ptx.input(nvt::packWords(b, values, shape)[0], shape.registerClass());
  if (old && pred)
    ptx.tied(b.zero(b.intTy(shape.bits)), *old);
  if (pred)
    ptx << "@" << ptx.input(pred, "b") << " ";
  ptx << (useRed ? "red" : "atom") << semanticName(semantic) << scopeName(scope)
      << spaceName(ptr) << name << " ";
  if (old)
    ptx << *old << ", ";
  ptx << "[" << address << "], " << operand << ";";
  if (useRed) {
    ptx.emit({}, PTXAsm::SideEffects);
    return SmallVector<Value>();
  }
  SmallVector<Value> words =
      ptx.emit({b.intTy(shape.bits)}, PTXAsm::SideEffects);
  return nvt::unpackWords(b, words, element, values.size(), shape);
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
  PTXAsm::Operand address = ptx.input(ptr, addressClass(ptr));
  PTXAsm::Operand cmp =
      ptx.input(nvt::packWords(b, compare, shape)[0], shape.registerClass());
  PTXAsm::Operand val =
      ptx.input(nvt::packWords(b, value, shape)[0], shape.registerClass());
  if (pred) {
    ptx.tied(b.zero(b.intTy(shape.bits)), old);
    ptx << "@" << ptx.input(pred, "b") << " ";
  }
  ptx << "atom" << semanticName(semantic) << scopeName(scope) << spaceName(ptr)
      << ".cas.b" << std::to_string(bits) << " " << old << ", [" << address
      << "], " << cmp << ", " << val << ";";
  SmallVector<Value> words =
      ptx.emit({b.intTy(shape.bits)}, PTXAsm::SideEffects);
  return nvt::unpackWords(b, words, element, 1, shape)[0];
}

void nvt::TargetInfo::atomicAddShared(const LLVMBuilder &b, Value ptr,
                                      Value value, Value pred) const {
  PTXAsm ptx(b);
  PTXAsm::Operand address = ptx.input(ptr, addressClass(ptr));
  PTXAsm::Operand operand = ptx.input(value, "r");
  if (pred)
    ptx << "@" << ptx.input(pred, "b") << " ";
  ptx << "red.shared.add.u32 [" << address << "], " << operand << ";";
  ptx.emit({}, PTXAsm::SideEffects);
}

//===-- TargetInfoAtomics.cpp - Atomic operations -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM has the instructions, the waits and the cache control that each scope
// needs, and makes loops around compare-and-swap of what the machine lacks.
//
//===----------------------------------------------------------------------===//

#include "amd/TritonAMDGPUToLLVM/TargetInfo.h"

#include "tile/Conversion/TritonGPUToLLVM/LLVMAtomics.h"
#include "tile/Conversion/TritonGPUToLLVM/Predicate.h"

#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

using namespace mlir;
using namespace mlir::triton;

StringRef amd::getSyncScope(MemSyncScope scope) {
  switch (scope) {
  case MemSyncScope::CTA:
    return "workgroup";
  case MemSyncScope::GPU:
    return "agent";
  case MemSyncScope::SYSTEM:
    return "";
  }
  llvm_unreachable("unknown scope");
}

unsigned amd::TargetInfo::getMaxAtomicVector(RMWOp op, Type element) const {
  if (op != RMWOp::FADD)
    return 1;
  if (element.isF16())
    return facts.hasPackedF16Atomic ? 2 : 1;
  return element.isBF16() && facts.hasPackedBF16Atomic ? 2 : 1;
}

FailureOr<SmallVector<Value>>
amd::TargetInfo::atomicRMW(const LLVMBuilder &b, RMWOp op, Value ptr,
                           ArrayRef<Value> values, Value pred,
                           MemSemantic semantic, MemSyncScope scope,
                           EvictionPolicy, bool needResult) const {
  Value operand = b.packVector(values);
  auto emit = [&] {
    auto atomic = b.create<LLVM::AtomicRMWOp>(getLLVMAtomicOp(op), ptr, operand,
                                              getLLVMOrdering(semantic),
                                              amd::getSyncScope(scope));
    // Tensors are in the GPU's own memory, where the machine adds floats, and
    // has all instructions for integers. Elsewhere it lacks some of them, so
    // that LLVM would make loops of compare-and-swap.
    bool isFloatSum = op == RMWOp::FADD;
    bool isInteger = isa<IntegerType>(operand.getType());
    if (isFloatSum || (isInteger && scope != MemSyncScope::SYSTEM)) {
      auto *rocdl = b.getContext()->getLoadedDialect<ROCDL::ROCDLDialect>();
      UnitAttr yes = b.getBuilder().getUnitAttr();
      rocdl->getNoFineGrainedMemoryAttrHelper().setAttr(atomic, yes);
      rocdl->getNoRemoteMemoryAttrHelper().setAttr(atomic, yes);
      if (isFloatSum)
        rocdl->getIgnoreDenormalModeAttrHelper().setAttr(atomic, yes);
    }
    return atomic.getRes();
  };
  if (!needResult) {
    underPredicate(b, pred, [&] { emit(); });
    return SmallVector<Value>();
  }
  Value otherwise = pred ? b.zero(operand.getType()) : Value();
  Value old = underPredicate(b, pred, otherwise, [&] { return emit(); });
  return b.unpackVector(old);
}

FailureOr<Value> amd::TargetInfo::atomicCAS(const LLVMBuilder &b, Value ptr,
                                            Value compare, Value value,
                                            Value pred, MemSemantic semantic,
                                            MemSyncScope scope) const {
  Type element = value.getType();
  if (!element.isIntOrFloat())
    return failure();
  Type bits = b.intTy(element.getIntOrFloatBitWidth());
  Value otherwise = pred ? b.zero(bits) : Value();
  Value old = underPredicate(b, pred, otherwise, [&]() -> Value {
    bool acquires = semantic == MemSemantic::ACQUIRE ||
                    semantic == MemSemantic::ACQUIRE_RELEASE;
    auto exchange = b.create<LLVM::AtomicCmpXchgOp>(
        ptr, b.bitcast(compare, bits), b.bitcast(value, bits),
        getLLVMOrdering(semantic),
        acquires ? LLVM::AtomicOrdering::acquire
                 : LLVM::AtomicOrdering::monotonic,
        amd::getSyncScope(scope));
    return b.extractVal(exchange, 0);
  });
  return b.bitcast(old, element);
}

void amd::TargetInfo::atomicAddShared(const LLVMBuilder &b, Value ptr,
                                      Value value, Value pred) const {
  underPredicate(b, pred, [&] {
    b.create<LLVM::AtomicRMWOp>(LLVM::AtomicBinOp::add, ptr, value,
                                LLVM::AtomicOrdering::monotonic, "workgroup");
  });
}

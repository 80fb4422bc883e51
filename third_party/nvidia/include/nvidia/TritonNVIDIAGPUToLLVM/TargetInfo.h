//===-- TargetInfo.h - NVIDIA GPUs to the common lowering -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef NVIDIA_TRITONNVIDIAGPUTOLLVM_TARGETINFO_H
#define NVIDIA_TRITONNVIDIAGPUTOLLVM_TARGETINFO_H

#include "nvidia/TargetModel.h"
#include "tile/Conversion/TritonGPUToLLVM/TargetInfo.h"

namespace mlir::triton::nvidia {

class TargetInfo final : public triton::TargetInfo {
public:
  explicit TargetInfo(const TargetModel &model)
      : model(model), facts(model.getFacts()) {}

  const TargetModel &getModel() const override { return model; }
  const NVIDIATarget &getFacts() const { return facts; }

  unsigned getSharedAddressSpace() const override { return 3; }
  void markKernel(LLVM::LLVMFuncOp function, int threads, int numCTAs,
                  std::optional<int> maxRegisters) const override;

  Value getThreadId(const LLVMBuilder &b) const override;
  Value getProgramId(const LLVMBuilder &b, int axis,
                     int numCTAs) const override;
  Value getNumPrograms(const LLVMBuilder &b, int axis,
                       int numCTAs) const override;
  Value getBlockInCluster(const LLVMBuilder &b) const override;

  void barrier(const LLVMBuilder &b,
               const BarrierParticipants &who) const override;

  void storeShared(const LLVMBuilder &b, Value ptr, ArrayRef<Value> values,
                   Value pred) const override;
  SmallVector<Value> loadShared(const LLVMBuilder &b, Value ptr, Type element,
                                unsigned count, Value pred) const override;
  Value mapToBlock(const LLVMBuilder &b, Value ptr, Value block) const override;
  std::optional<SmallVector<Value>>
  loadMatrices(const LLVMBuilder &b, const SharedAccess &access,
               const ThreadIndex &index) const override;
  bool storeMatrices(const LLVMBuilder &b, const SharedAccess &access,
                     const ThreadIndex &index,
                     ArrayRef<Value> values) const override;
  SmallVector<Value> loadGlobal(const LLVMBuilder &b, Value ptr, Type element,
                                unsigned count, Value pred,
                                ArrayRef<Value> others,
                                const CacheHints &hints) const override;
  void storeGlobal(const LLVMBuilder &b, Value ptr, ArrayRef<Value> values,
                   Value pred, const CacheHints &hints) const override;

  StringRef getSyncScope(const LLVMBuilder &b,
                         MemSyncScope scope) const override;
  unsigned getMaxAtomicVector(RMWOp op, Type element) const override;
  FailureOr<SmallVector<Value>>
  atomicRMW(const LLVMBuilder &b, RMWOp op, Value ptr, ArrayRef<Value> values,
            Value pred, MemSemantic semantic, MemSyncScope scope,
            EvictionPolicy eviction, bool needResult) const override;
  FailureOr<Value> atomicCAS(const LLVMBuilder &b, Value ptr, Value compare,
                             Value value, Value pred, MemSemantic semantic,
                             MemSyncScope scope) const override;
  void atomicAddShared(const LLVMBuilder &b, Value ptr, Value value,
                       Value pred) const override;

  Value shuffleXor(const LLVMBuilder &b, Value word,
                   int laneMask) const override;
  Value shuffleBy(const LLVMBuilder &b, Value word, int delta) const override;
  Value shuffleMasked(const LLVMBuilder &b, Value word, uint32_t keep,
                      uint32_t set) const override;
  Value shuffleIdx(const LLVMBuilder &b, Value word, Value lane) const override;
  Value warpReduce(const LLVMBuilder &b, Operation *combine,
                   Value value) const override;
  bool isSymmetric(Operation *combine) const override;
  Value addUnfused(const LLVMBuilder &b, Value x, Value y) const override;

  void printf(const LLVMBuilder &b, StringRef format,
              ValueRange args) const override;
  void assertFail(const LLVMBuilder &b, StringRef message, StringRef file,
                  StringRef function, int line) const override;

private:
  const TargetModel &model;
  const NVIDIATarget &facts;
};

} // namespace mlir::triton::nvidia

#endif // NVIDIA_TRITONNVIDIAGPUTOLLVM_TARGETINFO_H

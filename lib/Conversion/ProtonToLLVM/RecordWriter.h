//===-- RecordWriter.h - What a warp does to record -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_LIB_CONVERSION_PROTONTOLLVM_RECORDWRITER_H
#define TILE_LIB_CONVERSION_PROTONTOLLVM_RECORDWRITER_H

#include "tile/Conversion/ProtonToLLVM/LowerRecords.h"

#include "mlir/IR/PatternMatch.h"

namespace mlir::triton::proton {

/// Makes the code of a kernel that records. The number of the next record is a
/// variable of each thread; the lanes of a warp agree on it, whichever way
/// their warp goes through the kernel.
class RecordWriter {
public:
  /// Begins: emits what the kernel does before anything else.
  RecordWriter(LLVM::LLVMFuncOp kernel, const RecordPlan &plan,
               const RecordTarget &target, RewriterBase &rewriter);

  /// Writes a record where `b` is.
  void write(const LLVMBuilder &b, unsigned record, Value cycles) const;
  /// Emits what the kernel does before it returns.
  void finish(const LLVMBuilder &b) const;

private:
  /// Finds out who this thread is.
  void findPlace(const LLVMBuilder &b, Value memory);
  void begin(const LLVMBuilder &b) const;
  /// The cycles that a record takes.
  Value measureCost(const LLVMBuilder &b) const;

  SmallVector<Value> getWords(const LLVMBuilder &b, unsigned record,
                              Value cycles) const;
  static void appendHalves(const LLVMBuilder &b, Value value,
                           SmallVectorImpl<Value> &words);
  /// The address of a record of this unit.
  Value getInRing(const LLVMBuilder &b, Value position) const;
  Value getInMemory(const LLVMBuilder &b, Value position) const;
  Value getInHeader(const LLVMBuilder &b, int64_t byte) const;
  Value getNext(const LLVMBuilder &b) const;

  void put(const LLVMBuilder &b, Value next, ArrayRef<Value> words) const;
  void storeGlobal(const LLVMBuilder &b, Value ptr, ArrayRef<Value> words,
                   Value pred) const;
  /// This lane's record of a ring to global memory.
  void copy(const LLVMBuilder &b, Value inRing, Value position,
            Value pred) const;
  /// The records of a full ring of which the first are kept.
  void emptyRing(const LLVMBuilder &b, Value next) const;
  /// The last records of this unit, all lanes side by side.
  void copyRing(const LLVMBuilder &b, Value next) const;

  const RecordPlan &plan;
  const RecordTarget &target;
  RewriterBase &rewriter;
  /// Of this thread.
  Value warp, lane, isRecording, isFirstLane;
  /// Of its unit: memory, the ring, and the variable.
  Value memory, ring, next;
};

} // namespace mlir::triton::proton

#endif // TILE_LIB_CONVERSION_PROTONTOLLVM_RECORDWRITER_H

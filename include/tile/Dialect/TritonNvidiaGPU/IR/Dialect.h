//===-- Dialect.h - All of the ttnvgpu dialect ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITONNVIDIAGPU_IR_DIALECT_H
#define TILE_DIALECT_TRITONNVIDIAGPU_IR_DIALECT_H

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/TensorCoreWork.h"

#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h.inc"

#include "tile/Dialect/TritonNvidiaGPU/IR/Enums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "tile/Dialect/TritonNvidiaGPU/IR/AttrDefs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "tile/Dialect/TritonNvidiaGPU/IR/Types.h.inc"

#include "tile/Dialect/TritonNvidiaGPU/IR/OpInterfaces.h.inc"

namespace mlir::triton::nvidia_gpu {

/// What operations on tensor memory read and write.
struct TensorMemory : public SideEffects::Resource::Base<TensorMemory> {
  StringRef getName() final { return "<TensorMemory>"; }
};

/// The shape of tensor memory: each lane has that many 32-bit columns.
constexpr unsigned kTensorMemoryLanes = 128;
constexpr unsigned kTensorMemoryColumns = 512;

/// The part of tensor memory that a buffer takes.
struct TensorMemoryFootprint {
  /// 128, or 64 where only the lower half of each 32-lane window is used.
  unsigned lanes;
  unsigned columns;
};

/// True for a memory descriptor in tensor memory.
bool isInTensorMemory(gpu::MemDescType type);
/// True for a memory descriptor in shared memory.
bool isInSharedMemory(gpu::MemDescType type);

/// How much tensor memory a block of a cluster needs for a buffer of this type.
/// Where the type does not describe such a buffer, fails and says why through
/// `emitError` (if that is given).
FailureOr<TensorMemoryFootprint>
getTensorMemoryFootprint(gpu::MemDescType type,
                         function_ref<InFlightDiagnostic()> emitError = {});

/// Checks that `type` is a barrier: one i64 in shared memory. That it changes
/// goes without saying, so that it need not be declared mutable. `what` names
/// the operand in the error.
LogicalResult verifyBarrierType(Operation *op, gpu::MemDescType type,
                                StringRef what = "barrier");

} // namespace mlir::triton::nvidia_gpu

#define GET_OP_CLASSES
#include "tile/Dialect/TritonNvidiaGPU/IR/Ops.h.inc"

#endif // TILE_DIALECT_TRITONNVIDIAGPU_IR_DIALECT_H

//===-- Dialect.h - The amdg dialect ----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef AMD_IR_DIALECT_H
#define AMD_IR_DIALECT_H

#include "amd/IR/AttributeNames.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::triton::amdgpu {

/// The offsets of an access to a tensor of this type.
Type getOffsetsType(Type tensor);
/// A pointer to an element of it.
Type getBaseType(Type tensor);

/// Bytes of a buffer. Offsets from here on are outside.
inline constexpr int64_t kBufferBytes = int64_t(1) << 31;

/// For each register of a tensor of `sliceType`, which lies at `offsets` in one
/// of `type`, the register that has this element there. Nullopt where threads
/// would have to exchange some.
std::optional<SmallVector<int32_t>>
getSliceRegisters(RankedTensorType type, RankedTensorType slice,
                  ArrayRef<int64_t> offsets);

} // namespace mlir::triton::amdgpu

#include "amd/IR/Dialect.h.inc"
#include "amd/IR/Enums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "amd/IR/AttrDefs.h.inc"
#define GET_OP_CLASSES
#include "amd/IR/Ops.h.inc"

#endif // AMD_IR_DIALECT_H

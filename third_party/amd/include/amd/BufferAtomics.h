//===-- BufferAtomics.h - Atomic operations on buffers ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef AMD_BUFFERATOMICS_H
#define AMD_BUFFERATOMICS_H

#include "amd/TargetTable.h"
#include "tile/Dialect/Triton/IR/Dialect.h"

namespace mlir::triton::amd {

/// Whether an atomic operation on a buffer is one instruction.
bool hasBufferAtomic(const AMDTarget &target, RMWOp op, Type element);

/// Whether the machine adds two neighbours of 16 bits by one operation on a
/// buffer. It has none for one such element.
bool addsPairsInBuffers(const AMDTarget &target, RMWOp op, Type element);

} // namespace mlir::triton::amd

#endif // AMD_BUFFERATOMICS_H

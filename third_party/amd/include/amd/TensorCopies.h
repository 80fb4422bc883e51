//===-- TensorCopies.h - What the tensor data mover can do ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef AMD_TENSORCOPIES_H
#define AMD_TENSORCOPIES_H

#include "tile/Dialect/TritonGPU/IR/Dialect.h"

#include <optional>

namespace mlir::triton::amd {

/// How the machine sees a buffer for a block: rows one after the other, with
/// `gap` elements left out after every `interval`; no gaps if that is zero.
struct TensorBuffer {
  unsigned interval = 0, gap = 0;
};

/// The most bytes between two gaps.
inline constexpr unsigned kMostInterval = 1024;

/// Whether the block of a descriptor can be copied: up to five dimensions, of
/// elements of 1 to 8 bytes.
bool mayCopyBlocks(RankedTensorType block);

/// A buffer of the given type; nullopt where the machine does not fill such
/// ones.
std::optional<TensorBuffer> getTensorBuffer(gpu::MemDescType memory);

/// The encoding of a buffer for such blocks, with gaps if the machine knows
/// them.
Attribute getTensorBufferEncoding(RankedTensorType block,
                                  TensorBuffer gaps = {});

} // namespace mlir::triton::amd

#endif // AMD_TENSORCOPIES_H
